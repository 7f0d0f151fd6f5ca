# SPDX-License-Identifier: MIT
# Writing records into frames; where areas lie in the monitor segment.
SOURCES := *.c
INCLUDES := .
USES := lib/base
