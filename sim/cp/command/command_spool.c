/* SPDX-License-Identifier: MIT */
/* Operands that all commands about the spool have; LINK, as far as Linux asks who there is. */
#include <stdio.h>
#include <string.h>

#include "command_spool.h"
#include "zvmlab/guests.h"

bool cpcmd_is_queue(const struct cpcmd_args *args, enum spool_queue *queue)
{
	static const struct {
		enum cpcmd_keyword keyword;
		enum spool_queue queue;
	} words[] = {
		{ KEYWORD_READER, SPOOL_RDR }, { KEYWORD_RDR, SPOOL_RDR },
		{ KEYWORD_PUNCH, SPOOL_PUN }, { KEYWORD_PCH, SPOOL_PUN },
		{ KEYWORD_PRINTER, SPOOL_PRT }, { KEYWORD_PRT, SPOOL_PRT },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (cpcmd_is(args->word, words[i].keyword)) {
			*queue = words[i].queue;
			return true;
		}
	}
	return false;
}

bool cpcmd_is_field(const char *word)
{
	const size_t len = strlen(word);

	assert(len > 0);
	for (size_t i = 0; i < len; i++)
		if (word[i] <= ' ' || word[i] >= 0x7f)
			return false;
	return len <= CP_NAME_LEN;
}

int cpcmd_next_field(struct cpcmd_args *args, const char *module, char out[CP_NAME_LEN + 1])
{
	if (!cpcmd_next(args))
		return cpcmd_missing(args, module);
	if (!cpcmd_is_field(args->word))
		return cpcmd_invalid(args, module);
	snprintf(out, CP_NAME_LEN + 1, "%.*s", (int)CP_NAME_LEN, args->word);
	return 0;
}

bool cpcmd_next_as_given(struct cpcmd_args *args, char out[CP_NAME_LEN + 1])
{
	const char *from = cpcmd_rest(args);
	const size_t len = strcspn(from, " ");

	if (!cpcmd_next(args) || len > CP_NAME_LEN)
		return false;
	memcpy(out, from, len);
	out[len] = '\0';
	return cpcmd_is_field(out);
}

int cpcmd_next_user(struct cpcmd_args *args, const char *module, char out[CP_NAME_LEN + 1])
{
	if (!cpcmd_next(args) || !cpcmd_is_field(args->word))
		return cpcmd_message(args->cp, module, CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	snprintf(out, CP_NAME_LEN + 1, "%.*s", CP_NAME_LEN,
		 strcmp(args->word, "*") == 0 ? args->userid : args->word);
	if (!guests_in_directory(args->cp, out))
		return cpcmd_message(args->cp, module, CPCMD_NOT_IN_DIRECTORY, 'E',
				     "%s not in CP directory", out);
	return 0;
}

int cpcmd_next_to(struct cpcmd_args *args, const char *module, char out[CP_NAME_LEN + 1],
		  uint8_t *queue)
{
	struct cpcmd_args ahead;
	enum spool_queue found;
	const int rc = cpcmd_next_user(args, module, out);

	if (rc != 0)
		return rc;
	*queue = SPOOL_RDR;
	ahead = *args;
	if (cpcmd_next(&ahead) && cpcmd_is_queue(&ahead, &found)) {
		*queue = (uint8_t)found;
		args->next = ahead.next;
	}
	return 0;
}

int cpcmd_next_name(struct cpcmd_args *args, const char *module, char name[CP_NAME_LEN + 1],
		    char type[CP_NAME_LEN + 1])
{
	type[0] = '\0';
	if (!cpcmd_next_as_given(args, name))
		return args->word[0] ? cpcmd_invalid(args, module) : cpcmd_missing(args, module);
	if (*cpcmd_rest(args) && !cpcmd_next_as_given(args, type))
		return cpcmd_invalid(args, module);
	return cpcmd_end(args, module);
}

int cpcmd_next_class(struct cpcmd_args *args, const char *module, bool any, char *out)
{
	cpcmd_next(args);
	*out = args->word[0];
	if (strlen(args->word) == 1 && spool_class_valid(*out, any))
		return 0;
	return cpcmd_message(args->cp, module, CPCMD_BAD_CLASS, 'E', "Class missing or invalid");
}
