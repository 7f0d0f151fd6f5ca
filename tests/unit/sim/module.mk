# SPDX-License-Identifier: MIT
# Tests of the simulator as a whole.
SOURCES := test_*.c
MAIN := test_*.c
USES := lib/base lib/monrec sim/cp sim/control sim/fabricate sim/record tests/unit
INSIDE := sim/control
PACKAGES := check
