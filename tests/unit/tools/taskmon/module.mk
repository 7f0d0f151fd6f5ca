# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base tools/common tools/export tools/taskmon tests/unit/main
INSIDE := tests/unit tools/taskmon
PACKAGES := check
# Storage that runs out; the screen of taskmon top is made in storage, too.
WRAP.test_taskmon_storage := malloc calloc realloc reallocarray strdup strndup open_memstream fclose
