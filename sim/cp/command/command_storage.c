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

/* Most that the guest may have: what it had at log-on, whether or not it was all assigned. */
static uint64_t most(const struct cp *cp)
{
	return larger(storage_most(cp), cp->standby.logon_most);
}

static void show_size(struct cp *cp)
{
	const struct cp_standby *has = &cp->standby;
	char size[CPCMD_SIZE_LEN], max[CPCMD_SIZE_LEN], inc[CPCMD_SIZE_LEN];
	char standby[CPCMD_SIZE_LEN], reserved[CPCMD_SIZE_LEN];

	cpcmd_size(storage_size(cp), size);
	if (has->increment == 0) {
		cpcmd_line(cp, "STORAGE = %s", size);
		return;
	}
	cpcmd_line(cp, "STORAGE = %s MAX = %s INC = %s STANDBY = %s RESERVED = %s", size,
		   cpcmd_size(most(cp), max), cpcmd_size(has->increment, inc),
		   cpcmd_size(storage_standby_left(cp) * has->increment, standby),
		   cpcmd_size(has->reserved * has->increment, reserved));
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

/* First of the extents that the emulator has no storage for; the one that is more counts with it. */
static bool beyond_emulator(struct cp *cp, struct cp_extent *beyond)
{
	const struct cp_config *config = &cp->config;

	assert(config->extents > 0 && config->extents <= CP_MAX_EXTENTS);
	for (unsigned int i = 0; i < config->extents; i++) {
		*beyond = config->extent[i];
		beyond->size += config->standby + config->reserved;
		if (!storage_map(cp, CP_ABSOLUTE, beyond->start, beyond->size))
			return true;
	}
	return false;
}

static int invalid(struct cp *cp, const char *why)
{
	return cpcmd_message(cp, MODULE, CPCMD_BAD_STORAGE, 'E',
			     "Storage missing or invalid - %s", why);
}

/* Replace the extents, and what lies behind, by @list; nothing changes unless 0 is returned. */
static int redefine(struct cp *cp, const char *list)
{
	const struct cp_config *config = &cp->config;
	const uint64_t standby = config->standby, reserved = config->reserved;
	const unsigned int extents = config->extents;
	struct cp_extent extent[CP_MAX_EXTENTS], beyond;
	char err[512], text[2 * CPCMD_SIZE_LEN];
	int rc = 0;

	memcpy(extent, config->extent, sizeof(extent));
	if (cp_config_parse_storage(&cp->config, list, err, sizeof(err)) != 0) {
		rc = invalid(cp, err);
	} else if (cp_config_increment(config) && !cp->host.sclp) {
		rc = cpcmd_message(cp, MODULE, CPCMD_CONFLICT, 'E',
				   "Conflicting option - storage can be standby only in QEMU");
	} else if (beyond_emulator(cp, &beyond)) {
		extent_text(&beyond, text);
		rc = cpcmd_message(cp, MODULE, CPCMD_STORAGE_TOO_LARGE, 'E',
				   "Storage exceeds allowable maximum - the emulator has no "
				   "storage for %s", text);
	} else {
		storage_standby_define(cp);
		return 0;
	}
	memcpy(cp->config.extent, extent, sizeof(extent));
	cp->config.extents = extents;
	cp->config.standby = standby;
	cp->config.reserved = reserved;
	return rc;
}

/* Operands of DEFINE STORAGE without CONFIG; words as they were given, or "" where there is none. */
struct sizes {
	char initial[CPCMD_MAX_COMMAND + 1], standby[CPCMD_MAX_COMMAND + 1];
	char reserved[CPCMD_MAX_COMMAND + 1];
};

/* INITIAL [STANDBY size] [RESERVED size], in any order after the first. */
static int take_sizes(struct cpcmd_args *args, struct sizes *sizes)
{
	strcpy(sizes->initial, args->word);
	sizes->standby[0] = sizes->reserved[0] = '\0';
	while (cpcmd_next(args)) {
		char *to = cpcmd_is(args->word, KEYWORD_STANDBY)    ? sizes->standby
			   : cpcmd_is(args->word, KEYWORD_RESERVED) ? sizes->reserved
								    : NULL;

		if (!to || to[0])
			return cpcmd_invalid(args, MODULE);
		if (!cpcmd_next(args))
			return cpcmd_missing(args, MODULE);
		strcpy(to, args->word);
	}
	return 0;
}

/* What INITIAL and REMAINDER stand for; a word that is no size stays, to be named in the error. */
static void fill_in(const struct cp *cp, struct sizes *sizes)
{
	const char *const words[] = { sizes->initial, sizes->standby, sizes->reserved };
	char text[CPCMD_SIZE_LEN];
	uint64_t bytes, left = cp->standby.logon_most;

	if (strcmp(sizes->initial, "INITIAL") == 0)
		strcpy(sizes->initial, cpcmd_size(cp->standby.logon_size, text));
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (cp_config_size(words[i], &bytes))
			left -= smaller(left, bytes);
	cpcmd_size(left, text);
	if (strcmp(sizes->standby, "REMAINDER") == 0)
		strcpy(sizes->standby, text);
	else if (strcmp(sizes->reserved, "REMAINDER") == 0)
		strcpy(sizes->reserved, text);
}

/* Extents, in upper case as every operand. */
static int take_config(struct cpcmd_args *args, char *list, size_t size)
{
	list[0] = '\0';
	while (cpcmd_next(args)) {
		const size_t len = strlen(list);

		if (cpcmd_is(args->word, KEYWORD_STANDBY) || cpcmd_is(args->word, KEYWORD_RESERVED))
			return cpcmd_invalid(args, MODULE);
		snprintf(list + len, size - len, "%s%s", len > 0 ? " " : "", args->word);
	}
	return list[0] == '\0' ? cpcmd_missing(args, MODULE) : 0;
}

/* STANDBY size, while the guest runs: the rest of what it does not have is reserved. */
static int define_standby(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	struct cp_standby *has = &cp->standby;
	char text[CPCMD_SIZE_LEN], err[CPCMD_MAX_COMMAND + 64];
	uint64_t bytes;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (has->increment == 0)
		return cpcmd_message(cp, MODULE, CPCMD_CONFLICT, 'E',
				     "Conflicting option - no storage is standby or reserved");
	if (!cp_config_size(args->word, &bytes) || bytes % has->increment != 0) {
		snprintf(err, sizeof(err), "%s is no multiple of the increment, %s", args->word,
			 cpcmd_size(has->increment, text));
		return invalid(cp, err);
	}
	rc = cpcmd_end(args, MODULE);
	if (rc != 0)
		return rc;
	if (bytes / has->increment > has->count - has->assigned)
		return cpcmd_message(cp, MODULE, CPCMD_STORAGE_TOO_LARGE, 'E',
				     "Storage exceeds allowable maximum - %s is standby or reserved",
				     cpcmd_size((has->count - has->assigned) * has->increment,
						text));
	has->reserved = has->count - has->assigned - (uint32_t)(bytes / has->increment);
	show_size(cp);
	return 0;
}

static int define_all(struct cpcmd_args *args, bool config)
{
	char list[3 * CPCMD_MAX_COMMAND + 32];
	struct sizes sizes;
	int rc;

	if (config) {
		rc = take_config(args, list, sizeof(list));
	} else {
		rc = take_sizes(args, &sizes);
		fill_in(args->cp, &sizes);
		snprintf(list, sizeof(list), "0.%s%s%s%s%s", sizes.initial,
			 sizes.standby[0] ? " STANDBY " : "", sizes.standby,
			 sizes.reserved[0] ? " RESERVED " : "", sizes.reserved);
	}
	return rc != 0 ? rc : redefine(args->cp, list);
}

int cpcmd_define_storage(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	bool config;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (cpcmd_is(args->word, KEYWORD_STANDBY))
		return define_standby(args);
	if (cp->ipled)
		return cpcmd_message(cp, MODULE, CPCMD_CONFLICT, 'E',
				     "Conflicting option - storage can be defined only before "
				     "the guest is IPLed");
	config = cpcmd_is(args->word, KEYWORD_CONFIG);
	rc = define_all(args, config);
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
