# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base tools/common tools/export tools/dmmon tests/unit/main
INSIDE := tests/unit tools/dmmon
PACKAGES := check
# Storage that runs out.
WRAP.test_dms_storage := malloc calloc realloc reallocarray strdup strndup
# Devices without a kernel, and files whose opening is counted.
WRAP.test_dms_list := dm_task_create dm_task_destroy dm_task_set_name dm_task_set_major_minor dm_task_set_message dm_task_set_sector dm_task_run dm_task_get_info dm_task_get_name dm_task_get_uuid dm_task_get_message_response fopen access
