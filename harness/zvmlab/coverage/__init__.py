# SPDX-License-Identifier: MIT
"""Counts of lines that guests kept: merged, and read by gcov and what is made for its results."""
