# SPDX-License-Identifier: MIT
# The agent in the guest; its Makefile builds it.
SOURCES := *.c
LIBRARIES := pthread
