# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base sim/cp sim/control tests/unit
INSIDE := sim/control
PACKAGES := check
