# SPDX-License-Identifier: MIT
# Tools know nothing of CP, nor do their tests.
SOURCES := *.c
MAIN := *.c
USES := lib/base tools/common
INSIDE := tests/unit
PACKAGES := check
