# SPDX-License-Identifier: MIT
"""The zvmlab command."""
