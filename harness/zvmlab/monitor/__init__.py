# SPDX-License-Identifier: MIT
"""The *MONITOR service, driven: data sets delivered, read back and compared."""
