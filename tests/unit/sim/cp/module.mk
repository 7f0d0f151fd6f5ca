# SPDX-License-Identifier: MIT
SOURCES := *.c */*.c
MAIN := *.c */*.c
USES := lib/base sim/cp sim/record tests/unit tests/unit/main
INSIDE := sim/cp
PACKAGES := check
