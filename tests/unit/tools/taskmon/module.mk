# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := tools/common tools/taskmon
INSIDE := tests/unit tools/taskmon
PACKAGES := check
