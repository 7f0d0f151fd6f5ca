# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base lib/monrec sim/cp sim/record tests/unit
PACKAGES := check
