# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base lib/monrec tools/common tools/monread
INSIDE := tests/unit tools/monread
PACKAGES := check
