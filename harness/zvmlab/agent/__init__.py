# SPDX-License-Identifier: MIT
"""The program within a guest, spoken to over IUCV."""
