# SPDX-License-Identifier: MIT
# The control socket, and the trace's file; others see include/ only.
SOURCES := *.c
INCLUDES := include
USES := lib/base sim/cp
PACKAGES := jansson
