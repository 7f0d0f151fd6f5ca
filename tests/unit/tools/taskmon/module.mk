# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base tools/common tools/export tools/taskmon
INSIDE := tests/unit tools/taskmon
PACKAGES := check
