/* SPDX-License-Identifier: MIT */
/* The commands of dmmon, as command.h has them: argc and argv to an exit code. */
#ifndef DMMON_COMMANDS_H
#define DMMON_COMMANDS_H

#include "command_line.h"

/* The device, as the member of that name of the command's arguments @type; and one too many. */
#define DEVICE_WORD(type) { TO_WORD(type, device), .missing = "a device is missing" }
#define ONE_DEVICE "one device at a time, not '%s', too"

int cmd_create(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_print(int argc, char **argv);
int cmd_clear(int argc, char **argv);
int cmd_delete(int argc, char **argv);
int cmd_set_aux(int argc, char **argv);
int cmd_clean(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_histogram(int argc, char **argv);

#endif
