# SPDX-License-Identifier: MIT
# monread: prints and writes what libmonrec reads.
SOURCES := *.c
MAIN := main.c
USES := lib/base lib/monrec tools/common tools/export
PACKAGES := jansson
