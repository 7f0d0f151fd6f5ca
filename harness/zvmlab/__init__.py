# SPDX-License-Identifier: MIT
"""z/VM behaviour for Linux on Z guests without a mainframe: the harness."""

from zvmlab.base.version import __version__ as __version__
