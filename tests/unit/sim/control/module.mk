# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base sim/cp sim/control tests/unit tests/unit/main
INSIDE := sim/control
PACKAGES := check
# Storage that runs out; a file that becomes shorter; lines that are taken in parts.
WRAP.test_control_request := malloc calloc realloc reallocarray strdup strndup
WRAP.test_control_value := fstat
WRAP.test_trace_file := writev
