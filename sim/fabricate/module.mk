# SPDX-License-Identifier: MIT
# The model of a living system; in no emulator.
SOURCES := *.c
INCLUDES := .
USES := lib/base lib/monrec sim/record
