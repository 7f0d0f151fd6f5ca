# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base tools/common tools/export tools/dmmon tests/unit/main
INSIDE := tests/unit tools/dmmon
PACKAGES := check
# Storage that runs out.
WRAP.test_dms_storage := malloc calloc realloc reallocarray strdup strndup
