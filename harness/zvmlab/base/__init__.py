# SPDX-License-Identifier: MIT
"""What everything else stands on: errors, progress, the cache, files of our own."""
