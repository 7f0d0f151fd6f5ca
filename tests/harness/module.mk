# SPDX-License-Identifier: MIT
# What the harness' tests start.
SOURCES := ctl_server.c
MAIN := ctl_server.c
USES := sim/cp sim/control
