# SPDX-License-Identifier: MIT
"""One fault at every point of a scenario."""
