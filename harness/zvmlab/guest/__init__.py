# SPDX-License-Identifier: MIT
"""A guest and the emulator it runs in: start, console, checkpoint, end."""
