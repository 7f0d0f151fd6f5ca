# SPDX-License-Identifier: MIT
# What every port to an emulator does the same way.
SOURCES := *.c
INCLUDES := .
USES := lib/base sim/cp sim/control
