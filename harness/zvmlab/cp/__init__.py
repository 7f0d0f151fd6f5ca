# SPDX-License-Identifier: MIT
"""CP from outside: the control socket, peers, faults, traces."""
