# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base tests/unit/main
INSIDE := tests/unit
PACKAGES := check
