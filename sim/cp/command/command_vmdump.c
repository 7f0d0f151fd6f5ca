/* SPDX-License-Identifier: MIT */
/*
 * VMDUMP [from-to|from:to|from.length] ... [TO userid] [FORMAT type] [*note]: the virtual machine's
 * storage and registers as a file on a reader queue.  Operands as in the VM/370 command reference.
 */
#include <stdio.h>
#include <string.h>

#include "command_private.h"
#include "spool/spool_private.h"
#include "zvmlab/event.h"
#include "zvmlab/storage.h"

#define MODULE "VMD"

struct dump {
	struct spool_range range[SPOOL_RANGES];
	unsigned int ranges;
	char to[CP_NAME_LEN + 1], type[CP_NAME_LEN + 1], note[SPOOL_NOTE_LEN + 1];
};

/* A hexadecimal address; nothing there, and END, stand for what is assumed. */
static bool take_address(const char *text, size_t len, uint64_t assumed, uint64_t *out)
{
	char word[CPCMD_MAX_COMMAND + 1];

	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	*out = assumed;
	return len == 0 || cpcmd_is(word, KEYWORD_END) ||
	       cpcmd_number(word, 16, 0, UINT64_MAX, out);
}

static int bad_address(struct cpcmd_args *args)
{
	return cpcmd_message(args->cp, MODULE, CPCMD_BAD_ADDRESS, 'E', "Invalid hexloc - %s",
			     args->word);
}

/* Whole pages, as CP dumps them. */
static int take_range(struct cpcmd_args *args, struct dump *dump)
{
	const uint64_t end = storage_last(args->cp);
	const char *between = args->word + strcspn(args->word, "-:.");
	struct spool_range *range = &dump->range[dump->ranges];
	uint64_t second;

	if (dump->ranges == SPOOL_RANGES)
		return cpcmd_invalid(args, MODULE);
	if (!take_address(args->word, (size_t)(between - args->word), 0, &range->first) ||
	    (*between &&
	     !take_address(between + 1, strlen(between + 1), end, &second)))
		return bad_address(args);
	if (*between == '\0')
		range->last = range->first;
	else if (*between != '.' || strlen(between + 1) == 0 || strcmp(between + 1, "END") == 0)
		range->last = second;
	else if (second == 0 || second - 1 > UINT64_MAX - range->first)
		return bad_address(args);
	else
		range->last = range->first + second - 1;
	if (range->last > end || range->first > end)
		return cpcmd_message(args->cp, MODULE, CPCMD_BEYOND_STORAGE, 'E',
				     "Hexloc %s exceeds storage", args->word);
	if (range->last < range->first)
		return bad_address(args);
	range->first = range->first / CP_PAGE_SIZE * CP_PAGE_SIZE;
	range->last = range->last / CP_PAGE_SIZE * CP_PAGE_SIZE + CP_PAGE_SIZE - 1;
	dump->ranges++;
	return 0;
}

/* A name behind TO or FORMAT. */
static int take_name(struct cpcmd_args *args, char name[CP_NAME_LEN + 1])
{
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (strlen(args->word) > CP_NAME_LEN)
		return cpcmd_invalid(args, MODULE);
	strcpy(name, args->word);
	return 0;
}

/* The note is all that is left of the command, as it was given. */
static int take_operands(struct cpcmd_args *args, struct dump *dump)
{
	int rc = 0;

	while (rc == 0 && *cpcmd_rest(args) != '*' && cpcmd_next(args)) {
		if (cpcmd_is(args->word, KEYWORD_TO))
			rc = take_name(args, dump->to);
		else if (cpcmd_is(args->word, KEYWORD_FORMAT))
			rc = take_name(args, dump->type);
		else
			rc = take_range(args, dump);
	}
	if (rc != 0)
		return rc;
	if (strlen(cpcmd_rest(args)) > SPOOL_NOTE_LEN) {
		cpcmd_next(args);
		return cpcmd_invalid(args, MODULE);
	}
	strcpy(dump->note, cpcmd_rest(args));
	return 0;
}

/* Whose reader it is for: the guest's own for none, and for an asterisk. */
static int check_user(struct cp *cp, struct dump *dump)
{
	if (dump->to[0] == '\0' || strcmp(dump->to, "*") == 0)
		strcpy(dump->to, cp->config.userid);
	if (parts_logged_on(cp, dump->to))
		return 0;
	return cpcmd_message(cp, MODULE, CPCMD_NOT_IN_DIRECTORY, 'E', "%s not in CP directory",
			     dump->to);
}

static int possible(struct cp *cp)
{
	const char *why = NULL;

	if (!cp->system->spool->page)
		why = "the directory entry has no SPOOL statement, so there is no spool";
	else if (!cp->host.registers)
		why = "only QEMU with a guest that is alone shows the registers that a dump has";
	else if (cp->config.trace_full)
		why = "a trace that is to be replayed (trace-data full) cannot hold a dump";
	if (!why)
		return 0;
	return cpcmd_message(cp, MODULE, CPCMD_CONFLICT, 'E', "Conflicting option - %s", why);
}

int cpcmd_vmdump(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	struct dump dump = { .ranges = 0, .to = "", .type = "FILE", .note = "" };
	struct spool_file *file;
	int rc = possible(cp);

	if (rc == 0)
		rc = take_operands(args, &dump);
	if (rc == 0)
		rc = check_user(cp, &dump);
	if (rc != 0)
		return rc;
	if (dump.ranges == 0)
		dump.range[dump.ranges++] = (struct spool_range){ 0, storage_last(cp) };
	file = spool_dump(cp, dump.to, dump.type, dump.note, dump.range, dump.ranges);
	if (!file)
		return cpcmd_message(cp, MODULE, CPCMD_DUMP_FAILED, 'E',
				     "Dump failed - the spool has no room for it");
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_SPOOL, .name = dump.to,
					  .text = spool_queue_name[SPOOL_RDR], .value = file->id });
	cpcmd_line(cp, "Command complete");
	return 0;
}
