# SPDX-License-Identifier: MIT
"""Old bugs of Linux brought back: does a test see them?"""
