# SPDX-License-Identifier: MIT
"""What pytest needs: fixtures, options, requirements and their report."""
