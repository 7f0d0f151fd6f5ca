# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base sim/cp sim/control sim/port tests/unit tests/unit/main
PACKAGES := check
# Parts of a file that are written and read one by one, and where it has holes; paths of options.
WRAP.test_cp_machine_file := pwrite pread lseek ftruncate fstat close malloc
WRAP.test_cp_port := strdup
