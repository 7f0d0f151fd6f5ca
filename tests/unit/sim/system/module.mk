# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base sim/cp sim/control sim/port sim/system tests/unit tests/unit/main
PACKAGES := check
