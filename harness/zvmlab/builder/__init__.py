# SPDX-License-Identifier: MIT
"""Fetch and build: kernels, emulators, drivers, programs for guests."""
