# SPDX-License-Identifier: MIT
# Tests of the simulator as a whole.
SOURCES := test_*.c
MAIN := test_*.c
USES := lib/base lib/monrec sim/cp sim/control sim/fabricate sim/record tests/unit tests/unit/main
INSIDE := sim/control
PACKAGES := check
# What each call of it lets fail, one after the other.
WRAP.test_failing := malloc calloc realloc strdup mmap open close fread fwrite fclose fstat lstat chmod socket bind listen epoll_create1 epoll_ctl eventfd read write writev recv send
