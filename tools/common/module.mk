# SPDX-License-Identifier: MIT
# What the tools share.
SOURCES := *.c
INCLUDES := .
USES := lib/base
PACKAGES := jansson
LIBRARIES := m
