# SPDX-License-Identifier: MIT
SOURCES := *.c
MAIN := *.c
USES := lib/base tools/common tools/export tests/unit/main
INSIDE := tests/unit tools/export
PACKAGES := check
# Storage that runs out; what the kernel is asked for; sockets and files that fail or take a part; hashes;
# a library that writes down what it is asked for; the parts of an exporter, its clock and its thread.
WRAP.test_export_metrics := malloc calloc realloc reallocarray strdup strndup
WRAP.test_export_address := socket setsockopt bind listen getsockname
WRAP.test_export_lines := malloc calloc realloc reallocarray strdup strndup eventfd send recv pthread_mutex_init pthread_mutex_lock pthread_mutex_unlock pthread_mutex_destroy
WRAP.test_export_files := malloc calloc realloc reallocarray strdup strndup crypt_r explicit_bzero fopen open write close asprintf
WRAP.test_export_http := malloc calloc realloc reallocarray strdup strndup http_library dlopen dlsym dlerror clock_gettime explicit_bzero
WRAP.test_export_life := malloc calloc realloc reallocarray strdup strndup http_open http_close http_fd http_timeout_ms http_run http_answered json_lines_open json_lines_close json_lines_file json_lines_poll json_lines_run json_lines_count textfile_write clock_gettime poll eventfd pthread_create pthread_join
