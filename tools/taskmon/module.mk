# SPDX-License-Identifier: MIT
# taskmon: taskstats.
SOURCES := *.c
MAIN := main.c
USES := lib/base tools/common tools/export
PACKAGES := libnl-genl-3.0 jansson
LIBRARIES := pthread
