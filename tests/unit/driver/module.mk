# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := driver lib/base sim/cp tests/unit tests/unit/main
PACKAGES := check
