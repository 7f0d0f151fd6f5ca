# SPDX-License-Identifier: MIT
# libmonrec: the catalogue of records, the reader, the rules, MONWRITE.
SOURCES := *.c
MAIN := example.c
INCLUDES := .
USES := lib/base
