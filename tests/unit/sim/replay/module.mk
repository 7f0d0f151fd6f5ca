# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base sim/cp sim/control sim/replay tests/unit tests/unit/main
PACKAGES := check
