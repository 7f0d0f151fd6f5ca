# SPDX-License-Identifier: MIT
# What the harness' tests start.
SOURCES := ctl_server.c leaks_at_end.c
MAIN := ctl_server.c leaks_at_end.c
USES := sim/cp sim/control
INSIDE := tests/unit/main
