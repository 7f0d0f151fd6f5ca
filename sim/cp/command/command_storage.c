/* SPDX-License-Identifier: MIT */
/* DEFINE STORAGE and QUERY VIRTUAL STORAGE. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command_private.h"
#include "zvmlab/storage.h"

#define MODULE "DST"

static void extent_text(const struct cp_extent *extent, char out[2 * CPCMD_SIZE_LEN])
{
	char start[CPCMD_SIZE_LEN], size[CPCMD_SIZE_LEN];

	assert(extent->size > 0);
	snprintf(out, 2 * CPCMD_SIZE_LEN, "%s.%s", cpcmd_size(extent->start, start),
		 cpcmd_size(extent->size, size));
}

static void show_size(struct cp *cp)
{
	char size[CPCMD_SIZE_LEN];

	cpcmd_line(cp, "STORAGE = %s", cpcmd_size(storage_size(cp), size));
}

static void show_extents(struct cp *cp)
{
	char list[CP_MAX_EXTENTS * 2 * CPCMD_SIZE_LEN + 1] = "", text[2 * CPCMD_SIZE_LEN];

	assert(cp->config.extents > 0 && cp->config.extents <= CP_MAX_EXTENTS);
	for (unsigned int i = 0; i < cp->config.extents; i++) {
		extent_text(&cp->config.extent[i], text);
		snprintf(list + strlen(list), sizeof(list) - strlen(list), " %s", text);
	}
	cpcmd_line(cp, "Storage Configuration:");
	cpcmd_line(cp, " %s", list);
	cpcmd_line(cp, "Extent Specification               Address Range");
	cpcmd_line(cp, "--------------------               -------------");
	for (unsigned int i = 0; i < cp->config.extents; i++) {
		const struct cp_extent *extent = &cp->config.extent[i];

		extent_text(extent, text);
		cpcmd_line(cp, "%-34s %016" PRIX64 " - %016" PRIX64, text, extent->start,
			   extent->start + extent->size - 1);
	}
}

int cpcmd_query_virtual_storage(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, "CQV");

	if (rc != 0)
		return rc;
	show_size(args->cp);
	if (args->cp->config.extents > 1)
		show_extents(args->cp);
	return 0;
}

/* First extent that the emulator has no storage for, or NULL. */
static const struct cp_extent *beyond_emulator(struct cp *cp)
{
	assert(cp->config.extents > 0 && cp->config.extents <= CP_MAX_EXTENTS);
	for (unsigned int i = 0; i < cp->config.extents; i++) {
		const struct cp_extent *extent = &cp->config.extent[i];

		if (!storage_map(cp, CP_ABSOLUTE, extent->start, extent->size))
			return extent;
	}
	return NULL;
}

/* Replace the extents by those in @list; nothing changes unless 0 is returned. */
static int redefine(struct cp *cp, const char *list)
{
	struct cp_extent extent[CP_MAX_EXTENTS];
	const unsigned int extents = cp->config.extents;
	const struct cp_extent *beyond;
	char err[256], text[2 * CPCMD_SIZE_LEN];
	int rc = 0;

	memcpy(extent, cp->config.extent, sizeof(extent));
	if (cp_config_parse_storage(&cp->config, list, err, sizeof(err)) != 0) {
		rc = cpcmd_message(cp, MODULE, CPCMD_BAD_STORAGE, 'E',
				   "Storage missing or invalid - %s", err);
	} else {
		beyond = beyond_emulator(cp);
		if (!beyond)
			return 0;
		extent_text(beyond, text);
		rc = cpcmd_message(cp, MODULE, CPCMD_STORAGE_TOO_LARGE, 'E',
				   "Storage exceeds allowable maximum - the emulator has no "
				   "storage for %s", text);
	}
	memcpy(cp->config.extent, extent, sizeof(extent));
	cp->config.extents = extents;
	return rc;
}

int cpcmd_define_storage(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	char list[CPCMD_MAX_COMMAND + 8];
	bool config;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (cp->ipled)
		return cpcmd_message(cp, MODULE, CPCMD_CONFLICT, 'E',
				     "Conflicting option - storage can be defined only before "
				     "the guest is IPLed");
	config = strcmp(args->word, "CONFIG") == 0;
	if (config) {
		/* The list is checked in upper case, as every operand. */
		for (list[0] = '\0'; cpcmd_next(args);)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 list[0] ? " " : "", args->word);
		if (list[0] == '\0')
			return cpcmd_missing(args, MODULE);
	} else {
		snprintf(list, sizeof(list), "0.%s", args->word);
		rc = cpcmd_end(args, MODULE);
		if (rc != 0)
			return rc;
	}
	rc = redefine(cp, list);
	if (rc != 0)
		return rc;
	assert(cp->config.extents > 0 && cp->config.extent[0].start == 0);
	show_size(cp);
	if (config)
		show_extents(cp);
	cpcmd_line(cp, "Storage cleared - system reset.");
	cp->host.storage_changed(cp->host.opaque);
	cp_reset(cp);
	return 0;
}

int cpcmd_define(struct cpcmd_args *args)
{
	static const struct cpcmd_word options[] = {
#define CP_DEFINE(name, min, classes, function) { name, min, classes, function },
#include "words.def"
		{ NULL, 0, NULL, NULL },
	};

	return cpcmd_option(args, options, "DEF");
}
