# SPDX-License-Identifier: MIT
# What everything else stands on: bytes, code page, records' header.
SOURCES := *.c
INCLUDES := .
