# SPDX-License-Identifier: MIT
"""From a patch to a verdict: a series of patches on kernels, before and after it."""
