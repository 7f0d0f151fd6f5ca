# SPDX-License-Identifier: MIT
"""Monitor data: records, data sets, files of them."""
