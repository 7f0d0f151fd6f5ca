# SPDX-License-Identifier: MIT
"""The version of zvmlab; wherever else it is written, ci/version.py holds it against this."""

__version__ = "0.2.0"
VERSION_LINE = f"zvmlab {__version__}"
"""Printed by --version."""
