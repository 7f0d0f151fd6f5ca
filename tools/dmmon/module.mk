# SPDX-License-Identifier: MIT
# dmmon: device-mapper statistics.
SOURCES := *.c
MAIN := main.c
USES := lib/base tools/common tools/export
PACKAGES := devmapper jansson
LIBRARIES := m
