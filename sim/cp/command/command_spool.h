/* SPDX-License-Identifier: MIT */
/* Shared by commands about spool files and unit record devices. */
#ifndef COMMAND_SPOOL_H
#define COMMAND_SPOOL_H

#include "command_private.h"
#include "spool/spool_private.h"

/* command_spool.c: operands. */
/** Is args->word RDR, PUN, PRT, or what else CP calls them? */
bool cpcmd_is_queue(const struct cpcmd_args *args, enum spool_queue *queue);
/** Is @word, which is not "", up to 8 printable characters? */
bool cpcmd_is_field(const char *word);
/** Next operand as it was given, 1 to 8 characters, not in upper case; false if it is none. */
bool cpcmd_next_as_given(struct cpcmd_args *args, char out[CP_NAME_LEN + 1]);
/** Next operand in upper case, 1 to 8 characters.  0 or the message's number. */
int cpcmd_next_field(struct cpcmd_args *args, const char *module, char out[CP_NAME_LEN + 1]);
/** The user in the next operand, * for the issuer; it must be known.  0 or the message's number. */
int cpcmd_next_user(struct cpcmd_args *args, const char *module, char out[CP_NAME_LEN + 1]);
/** "TO user [queue]" behind the TO; without one it is the user's reader. */
int cpcmd_next_to(struct cpcmd_args *args, const char *module, char out[CP_NAME_LEN + 1],
		  uint8_t *queue);
/** "NAME name [type]" behind the NAME: the last operands. */
int cpcmd_next_name(struct cpcmd_args *args, const char *module, char name[CP_NAME_LEN + 1],
		    char type[CP_NAME_LEN + 1]);
/** A class in the next operand: A to Z, 0 to 9, with @any also *.  0 or the message's number. */
int cpcmd_next_class(struct cpcmd_args *args, const char *module, bool any, char *out);

#endif
