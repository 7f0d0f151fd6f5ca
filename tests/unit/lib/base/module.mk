# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base
INSIDE := tests/unit
PACKAGES := check
