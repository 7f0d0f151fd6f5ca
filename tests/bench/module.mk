# SPDX-License-Identifier: MIT
SOURCES := bench_*.c
MAIN := bench_*.c
USES := lib/base sim/cp sim/fabricate sim/record
PACKAGES := check
