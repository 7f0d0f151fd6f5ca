# SPDX-License-Identifier: MIT
"""The base of all other packages: errors, progress, the cache, files of our own."""
