# SPDX-License-Identifier: MIT
"""Monitor data of a modelled system."""
