# SPDX-License-Identifier: MIT
# Only of what does not know Hercules: the Makefile names it.
SOURCES := *.c
MAIN := *.c
USES := lib/base sim/cp tests/unit
INSIDE := sim/hercules
PACKAGES := check
