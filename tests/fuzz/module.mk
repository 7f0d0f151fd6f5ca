# SPDX-License-Identifier: MIT
# Fuzz targets; the Makefile says what each is linked with beside what they share.
SOURCES := *.c
MAIN := fuzz_*.c mutate_*.c replay.c
USES := driver lib/base lib/monrec sim/cp sim/control sim/record sim/replay tools/common tools/dmmon tools/taskmon
INSIDE := sim/cp sim/control tools/dmmon tools/taskmon
