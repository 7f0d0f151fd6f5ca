# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base lib/monrec tools/common tools/export tools/monread tests/unit/main
INSIDE := tests/unit tools/monread
PACKAGES := check
# Storage that runs out.
WRAP.test_monread_storage := malloc calloc realloc reallocarray strdup strndup
