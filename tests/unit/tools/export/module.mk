# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base tools/common tools/export
INSIDE := tests/unit tools/export
PACKAGES := check
