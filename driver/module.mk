# SPDX-License-Identifier: MIT
# What of the driver is plain C; Kbuild has all of it.
SOURCES := mon_stream.c
INCLUDES := .
