# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base lib/monrec sim/cp sim/record tests/unit tests/unit/main
PACKAGES := check
# Storage that runs out.
WRAP.test_monrec_stream := malloc calloc realloc reallocarray strdup strndup
