# SPDX-License-Identifier: MIT
# The simulated CP; others see include/ only.
SOURCES := *.c */*.c
INCLUDES := include
USES := lib/base sim/record
