# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base lib/monrec tools/common tools/export tools/monread
INSIDE := tests/unit tools/monread
PACKAGES := check
