# SPDX-License-Identifier: MIT
# The control socket, and the trace's file.
SOURCES := *.c
INCLUDES := .
USES := lib/base sim/cp
PACKAGES := jansson
