# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base tools/common tools/export tools/dmmon
INSIDE := tests/unit tools/dmmon
PACKAGES := check
