# SPDX-License-Identifier: MIT
# Tools know nothing of CP, nor do their tests.
SOURCES := *.c
MAIN := *.c
USES := lib/base tools/common tests/unit/main
INSIDE := tests/unit
PACKAGES := check
# Storage that runs out; timers, signals and what comes of them; a command line that cannot be read;
# where a program is, and so its catalogue.
WRAP.test_tool_text := malloc calloc realloc reallocarray strdup strndup
WRAP.test_tool_writer := malloc calloc realloc reallocarray strdup strndup
WRAP.test_tool_proc := malloc calloc realloc reallocarray strdup strndup
WRAP.test_tool_interval := signal sigprocmask signalfd timerfd_create timerfd_settime poll read
WRAP.test_tool_command_line := argp_parse
WRAP.test_tool_translate := malloc calloc realloc reallocarray strdup strndup readlink
