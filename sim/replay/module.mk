# SPDX-License-Identifier: MIT
# A trace given to the core again.
SOURCES := *.c
MAIN := main.c
INCLUDES := .
USES := lib/base sim/cp sim/control
PACKAGES := jansson
