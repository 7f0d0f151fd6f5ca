# SPDX-License-Identifier: MIT
# What the tools share.
SOURCES := *.c
INCLUDES := .
PACKAGES := jansson
LIBRARIES := m
