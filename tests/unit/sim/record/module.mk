# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base sim/cp sim/record tests/unit tests/unit/main
PACKAGES := check
