/* SPDX-License-Identifier: MIT */
/* QUERY NSS: fixed columns, one row per file, or with MAP one per page range. */
#include <string.h>

#include "clock.h"
#include "command_private.h"
#include "smaller.h"

#define MODULE "QNS"
/* RECS has four digits. */
#define MAX_RECORDS 9999u
/* The user who defined the segments of the configuration. */
#define INSTALLER "MAINT"

/* The selection of a query; missing fields select everything. */
struct selection {
	char name[CP_NAME_LEN + 1];
	uint64_t fileid;
	bool map;
};

static bool selected(const struct selection *selection, const struct dcss *segment)
{
	assert(segment->fileid != 0);
	if (selection->name[0] && strcmp(selection->name, segment->config.name) != 0)
		return false;
	return selection->fileid == 0 || selection->fileid == segment->fileid;
}

/* One record describes the segment; one more holds each page whose content is saved. */
static unsigned int records(const struct dcss *segment)
{
	uint64_t count = 1;

	assert(segment->config.ranges > 0 && segment->config.ranges <= CP_MAX_RANGES);
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];

		if (range->type <= DCSS_ER)
			count += (uint64_t)range->last - range->first + 1;
	}
	return (unsigned int)smaller(count, MAX_RECORDS);
}

static void show_file(struct cp *cp, const struct dcss *segment)
{
	const struct cpcmd_file *file = cpcmd_file(cp, segment->fileid);
	const struct clock_time t = clock_time(file ? file->tod : cp->system->ipl_tod);

	cpcmd_line(cp, "*NSS    %04u NSS  %c  %04u %02u/%02u %02u:%02u:%02u %-8s DCSS     %s",
		   segment->fileid, (char)segment->cls, records(segment), t.month, t.day, t.hour,
		   t.minute, t.second, segment->config.name, file ? file->origin : INSTALLER);
}

static void show_map(struct cp *cp, const struct dcss *segment)
{
	for (unsigned int i = 0; i < segment->config.ranges; i++) {
		const struct cp_segment_range *range = &segment->config.range[i];

		assert(range->first <= range->last && (unsigned int)range->type < CPCMD_TYPES);
		/* CP's own segments, that is SC, have a type of file of their own. */
		cpcmd_line(cp, "%04u %-8s %-8s   N/A    %05X  %05X   %s  %c  %05u    N/A      N/A",
			   segment->fileid, segment->config.name,
			   range->type == DCSS_SC ? "CPDCSS" : "DCSS", range->first, range->last,
			   cpcmd_types[range->type], (char)segment->cls, segment->users);
	}
}

/* [ALL | NAME name | fileid] [MAP]; 0 or the message's number. */
static int parse(struct cpcmd_args *args, struct selection *selection)
{
	bool operand = cpcmd_next(args);

	assert(selection->name[0] == '\0' && selection->fileid == 0);
	if (operand && cpcmd_is(args->word, KEYWORD_NAME)) {
		if (!cpcmd_next(args))
			return cpcmd_missing(args, MODULE);
		if (strlen(args->word) > CP_NAME_LEN)
			return cpcmd_invalid(args, MODULE);
		memcpy(selection->name, args->word, strlen(args->word) + 1);
		operand = cpcmd_next(args);
	} else if (operand && (cpcmd_is(args->word, KEYWORD_ALL) ||
			       cpcmd_number(args->word, 10, 1, MAX_RECORDS, &selection->fileid))) {
		operand = cpcmd_next(args);
	}
	if (!operand)
		return 0;
	if (!cpcmd_is(args->word, KEYWORD_MAP))
		return cpcmd_invalid(args, MODULE);
	selection->map = true;
	return cpcmd_end(args, MODULE);
}

int cpcmd_query_nss(struct cpcmd_args *args)
{
	struct selection selection = { .map = false };
	struct cp *cp = args->cp;
	const struct dcss *segment;
	unsigned int rows = 0;
	const int rc = parse(args, &selection);

	if (rc != 0)
		return rc;
	for (unsigned int i = 0; (segment = dcss_at(cp, i)) != NULL; i++) {
		if (!selected(&selection, segment))
			continue;
		if (rows++ == 0)
			cpcmd_line(cp, "%s", selection.map ?
				   "FILE FILENAME FILETYPE MINSIZE  BEGPAG ENDPAG TYPE CL "
				   "#USERS PARMREGS VMGROUP" :
				   "OWNERID FILE TYPE CL RECS DATE  TIME     FILENAME FILETYPE "
				   "ORIGINID");
		if (selection.map)
			show_map(cp, segment);
		else
			show_file(cp, segment);
	}
	assert(rows <= CP_MAX_SEGMENTS);
	if (rows > 0)
		return 0;
	if (selection.name[0])
		return cpcmd_message(cp, MODULE, CPCMD_NO_SEGMENT, 'E',
				     "Saved segment %s does not exist.", selection.name);
	cpcmd_line(cp, "NO NSS FILES");
	return 0;
}
