/* SPDX-License-Identifier: MIT */
/* The commands of dmmon, as command.h has them: argc and argv to an exit code. */
#ifndef DMMON_COMMANDS_H
#define DMMON_COMMANDS_H

int cmd_create(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_print(int argc, char **argv);
int cmd_clear(int argc, char **argv);
int cmd_delete(int argc, char **argv);
int cmd_set_aux(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_histogram(int argc, char **argv);

#endif
