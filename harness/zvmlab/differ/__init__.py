# SPDX-License-Identifier: MIT
"""Two drivers, or two emulators, held against each other."""
