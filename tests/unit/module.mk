# SPDX-License-Identifier: MIT
# What the tests of the core share; those of other folders take headers only.
SOURCES := fixture.c
INCLUDES := .
USES := lib/base sim/cp sim/control sim/replay tests/unit/main
PACKAGES := check
