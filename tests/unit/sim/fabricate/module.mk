# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base lib/monrec sim/cp sim/fabricate sim/record tests/unit tests/unit/main
PACKAGES := check
