# SPDX-License-Identifier: MIT
"""Kernels are fuzzed: cases with steps of programs and of CP, led by which code of Linux runs."""
