# SPDX-License-Identifier: MIT
"""The version of zvmlab; tools/common/version.h has the same."""

__version__ = "0.1.0"
