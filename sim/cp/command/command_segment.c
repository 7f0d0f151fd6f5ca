/* SPDX-License-Identifier: MIT */
/* DEFSEG, SAVESEG and PURGE NSS: files of saved segments. */
#include <stdio.h>
#include <string.h>

#include "command_private.h"

const char *const cpcmd_types[CPCMD_TYPES] = {
	[DCSS_SW] = "SW", [DCSS_EW] = "EW", [DCSS_SR] = "SR", [DCSS_ER] = "ER",
	[DCSS_SN] = "SN", [DCSS_EN] = "EN", [DCSS_SC] = "SC",
};

/* Highest page of the 64-bit address space: what storage there is, dcss.c knows. */
#define LAST_PAGE UINT32_MAX

static bool file_exists(struct cp *cp, uint16_t fileid)
{
	const struct dcss *segment;

	for (unsigned int i = 0; (segment = dcss_at(cp, i)) != NULL; i++) {
		if (segment->fileid == fileid)
			return true;
	}
	return false;
}

const struct cpcmd_file *cpcmd_file(const struct cp *cp, uint16_t fileid)
{
	assert(fileid != 0);
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		if (cp->system->filed[i].id == fileid)
			return &cp->system->filed[i];
	}
	return NULL;
}

void cpcmd_file_stamp(struct cpcmd_args *args, uint16_t fileid)
{
	struct cpcmd_file *file = args->cp->system->filed, *entry = NULL;

	assert(fileid != 0);
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++)
		if (file[i].id == fileid || (!entry && !file_exists(args->cp, file[i].id)))
			entry = &file[i];
	/* There are no more segments than entries, and this one has none yet. */
	assert(entry);
	entry->id = fileid;
	entry->tod = cp_system_tod(args->cp);
	assert(strlen(args->userid) < sizeof(entry->origin));
	snprintf(entry->origin, sizeof(entry->origin), "%s", args->userid);
}

/* Name of a segment from the next operand; 0 or the message's number. */
static int segment_name(struct cpcmd_args *args, const char *module, char name[CP_NAME_LEN + 1])
{
	if (!cpcmd_next(args))
		return cpcmd_missing(args, module);
	if (strlen(args->word) > CP_NAME_LEN)
		return cpcmd_invalid(args, module);
	snprintf(name, CP_NAME_LEN + 1, "%.*s", (int)CP_NAME_LEN, args->word);
	assert(name[0] != '\0');
	return 0;
}

/* "9000-97FF" or "9000" in args->word. */
static bool parse_pages(struct cpcmd_args *args, struct cp_segment_range *range)
{
	char *dash = strchr(args->word, '-');
	uint64_t first, last;
	bool good;

	if (dash)
		*dash = '\0';
	good = cpcmd_number(args->word, 16, 0, LAST_PAGE, &first);
	last = first;
	if (dash) {
		good = good && cpcmd_number(dash + 1, 16, first, LAST_PAGE, &last);
		*dash = '-';
	}
	if (good) {
		assert(first <= last && last <= LAST_PAGE);
		range->first = (uint32_t)first;
		range->last = (uint32_t)last;
	}
	return good;
}

static bool parse_type(const char *word, enum dcss_type *type)
{
	for (unsigned int i = 0; i < CPCMD_TYPES; i++) {
		if (strcmp(word, cpcmd_types[i]) == 0) {
			*type = (enum dcss_type)i;
			return true;
		}
	}
	return false;
}

/* Ranges with their types, then options; 0 or the message's number. */
static int parse_definition(struct cpcmd_args *args, struct cp_segment_config *config)
{
	while (cpcmd_next(args)) {
		struct cp_segment_range *range = &config->range[config->ranges];

		assert(config->ranges <= CP_MAX_RANGES);
		if (config->ranges > 0) {
			if (cpcmd_is(args->word, KEYWORD_RSTD)) {
				config->restricted = true;
				continue;
			}
			/* What they would change is not simulated. */
			if (cpcmd_is(args->word, KEYWORD_LOADNSHR) ||
			    cpcmd_is(args->word, KEYWORD_SECURE))
				continue;
		}
		if (config->ranges == CP_MAX_RANGES || !parse_pages(args, range))
			return cpcmd_invalid(args, "NSD");
		if (!cpcmd_next(args))
			return cpcmd_missing(args, "NSD");
		if (!parse_type(args->word, &range->type))
			return cpcmd_invalid(args, "NSD");
		config->ranges++;
	}
	return config->ranges > 0 ? 0 : cpcmd_missing(args, "NSD");
}

int cpcmd_defseg(struct cpcmd_args *args)
{
	struct cp_segment_config config = { .ranges = 0 };
	struct cp *cp = args->cp;
	const struct dcss *segment;
	uint16_t fileid = 0;
	char err[256];
	int rc = segment_name(args, "NSD", config.name);

	if (rc == 0)
		rc = parse_definition(args, &config);
	if (rc != 0)
		return rc;
	if (dcss_define(cp, &config, err, sizeof(err)) != 0)
		return cpcmd_message(cp, "NSD", CPCMD_SEGMENT_ERROR, 'E', "%s", err);
	/* Of several files of the name, the skeleton is the new one. */
	for (unsigned int i = 0; (segment = dcss_at(cp, i)) != NULL; i++) {
		if (segment->cls == DCSS_SKELETON && strcmp(segment->config.name, config.name) == 0)
			fileid = segment->fileid;
	}
	cpcmd_file_stamp(args, fileid);
	cpcmd_message(cp, "NSD", CPCMD_SEGMENT_DONE, 'I',
		      "Saved segment %s was successfully defined in fileid %04u.", config.name,
		      fileid);
	return 0;
}

static int no_segment(struct cp *cp, const char *module, const char *name)
{
	return cpcmd_message(cp, module, CPCMD_NO_SEGMENT, 'E', "Saved segment %s does not exist.",
			     name);
}

int cpcmd_saveseg(struct cpcmd_args *args)
{
	char name[CP_NAME_LEN + 1], err[256];
	struct cp *cp = args->cp;
	const struct dcss *segment;
	int rc = segment_name(args, "NSS", name);

	if (rc == 0)
		rc = cpcmd_end(args, "NSS");
	if (rc != 0)
		return rc;
	if (!dcss_find(cp, name))
		return no_segment(cp, "NSS", name);
	if (dcss_save(cp, name, err, sizeof(err)) != 0)
		return cpcmd_message(cp, "NSS", CPCMD_SEGMENT_ERROR, 'E', "%s", err);
	segment = dcss_find(cp, name);
	assert(segment && segment->cls != DCSS_SKELETON);
	cpcmd_file_stamp(args, segment->fileid);
	cpcmd_message(cp, "NSS", CPCMD_SEGMENT_DONE, 'I',
		      "Saved segment %s was successfully saved in fileid %04u.", name,
		      segment->fileid);
	return 0;
}

/* PURGE NSS [NAME] name. */
static int purge_nss(struct cpcmd_args *args)
{
	char name[CP_NAME_LEN + 1], err[256];
	struct cp *cp = args->cp;
	const struct dcss *segment;
	uint16_t fileid;
	int rc = segment_name(args, "PUR", name);

	if (rc == 0 && strcmp(name, "NAME") == 0)
		rc = segment_name(args, "PUR", name);
	if (rc == 0)
		rc = cpcmd_end(args, "PUR");
	if (rc != 0)
		return rc;
	segment = dcss_find(cp, name);
	fileid = segment ? segment->fileid : 0;
	/* It fails only for a segment that does not exist, which is no error here. */
	if (dcss_purge(cp, name, err, sizeof(err)) != 0) {
		cpcmd_line(cp, "NO FILES PURGED");
		return 0;
	}
	cpcmd_line(cp, "0001 FILE %s", file_exists(cp, fileid) ? "PENDING PURGE" : "PURGED");
	return 0;
}

int cpcmd_purge(struct cpcmd_args *args)
{
	static const struct cpcmd_word options[] = {
		{ "NSS", 3, "E", purge_nss },
		{ NULL, 0, NULL, NULL },
	};
	struct cpcmd_args option = *args;

	if (cpcmd_next(&option) && !cpcmd_is(option.word, KEYWORD_NSS) &&
	    strpbrk(args->classes, "DG"))
		return cpcmd_purge_files(args);
	return cpcmd_option(args, options, "PUR");
}
