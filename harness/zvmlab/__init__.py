# SPDX-License-Identifier: MIT
"""z/VM behaviour for Linux on Z guests without a mainframe: the harness."""

__version__ = "0.1.0"
