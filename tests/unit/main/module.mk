# SPDX-License-Identifier: MIT
# main() of every unit test, and the macros with which tests are written.
SOURCES := *.c
INCLUDES := .
PACKAGES := check
