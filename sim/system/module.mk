# SPDX-License-Identifier: MIT
# The process that has CP for a system of virtual machines.
SOURCES := *.c
MAIN := main.c
INCLUDES := .
USES := lib/base sim/cp sim/control sim/port
PACKAGES := jansson
