/* SPDX-License-Identifier: MIT */
/* SPOOL, CLOSE, TAG, and what QUERY VIRTUAL says of unit record devices. */
#include <stdio.h>
#include <string.h>

#include "command_spool.h"
#include "text.h"

/* The units that args->word names; a bit each, 0: none. */
static unsigned int units_of(const struct cpcmd_args *args)
{
	enum spool_queue queue;
	unsigned int units = 0;
	uint64_t number;
	int unit;

	if (cpcmd_is_queue(args, &queue)) {
		for (unsigned int i = 0; i < args->cp->config.units; i++)
			if (spool_unit_queue(args->cp, i) == queue && !args->cp->unit[i].gone)
				units |= 1u << i;
		return units;
	}
	if (!cpcmd_number(args->word, 16, 0, UINT16_MAX, &number))
		return 0;
	unit = spool_unit(args->cp, (uint16_t)number);
	return unit < 0 ? 0 : 1u << unit;
}

/* Is it the console, which is there, but is not spooled? */
static bool is_console(const struct cpcmd_args *args)
{
	uint64_t number;

	return cpcmd_is(args->word, KEYWORD_CONSOLE) ||
	       (cpcmd_number(args->word, 16, 0, UINT16_MAX, &number) &&
		number == args->cp->config.console);
}

/* The device operand; 0, or the message's number. */
static int next_units(struct cpcmd_args *args, const char *module, unsigned int *units)
{
	if (!cpcmd_next(args))
		return cpcmd_missing(args, module);
	*units = units_of(args);
	if (*units)
		return 0;
	if (is_console(args))
		return cpcmd_invalid(args, module);
	return cpcmd_message(args->cp, module, CPCMD_NO_DEVICE, 'E', "Device %s does not exist",
			     args->word);
}

/* Switches of SPOOL: where they are kept, and what they set. */
static bool set_switch(const char *word, struct spool_device *device)
{
	const struct {
		enum cpcmd_keyword keyword;
		bool *to, value;
	} switches[] = {
		{ KEYWORD_CONT, &device->cont, true }, { KEYWORD_NOCONT, &device->cont, false },
		{ KEYWORD_HOLD, &device->hold, true }, { KEYWORD_NOHOLD, &device->hold, false },
		{ KEYWORD_KEEP, &device->keep, true }, { KEYWORD_NOKEEP, &device->keep, false },
		/* A reader that is not CONT ends with each file, and nothing else is kept of it. */
		{ KEYWORD_EOF, NULL, true }, { KEYWORD_NOEOF, NULL, false },
		{ KEYWORD_MSG, NULL, true }, { KEYWORD_NOMSG, NULL, false },
	};

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		if (!cpcmd_is(word, switches[i].keyword))
			continue;
		if (switches[i].to)
			*switches[i].to = switches[i].value;
		return true;
	}
	return false;
}

static int next_copies(struct cpcmd_args *args, struct spool_device *device)
{
	uint64_t copies;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, "CSP");
	if (!cpcmd_number(args->word, 10, 1, UINT8_MAX, &copies))
		return cpcmd_invalid(args, "CSP");
	device->copies = (uint8_t)copies;
	return 0;
}

/* An option of SPOOL that only an output device has. */
static int output_option(struct cpcmd_args *args, struct spool_device *device)
{
	struct spool_label *label = &device->label;

	if (cpcmd_is(args->word, KEYWORD_COPY))
		return next_copies(args, device);
	if (cpcmd_is(args->word, KEYWORD_FORM))
		return cpcmd_next_field(args, "CSP", label->form);
	if (cpcmd_is(args->word, KEYWORD_DEST))
		return cpcmd_next_field(args, "CSP", label->dest);
	if (cpcmd_is(args->word, KEYWORD_DIST)) {
		const int rc = cpcmd_next_field(args, "CSP", label->dist);

		if (rc == 0 && (strcmp(label->dist, "OFF") == 0 || strcmp(label->dist, "*") == 0))
			strcpy(label->dist, args->userid);
		return rc;
	}
	if (cpcmd_is(args->word, KEYWORD_TO))
		return cpcmd_next_to(args, "CSP", device->to, &device->to_queue);
	if (cpcmd_is(args->word, KEYWORD_OFF)) {
		device->to[0] = '\0';
		return 0;
	}
	if (cpcmd_is(args->word, KEYWORD_NONAME)) {
		label->name[0] = label->type[0] = '\0';
		return 0;
	}
	if (cpcmd_is(args->word, KEYWORD_NAME))
		return cpcmd_next_name(args, "CSP", label->name, label->type);
	return cpcmd_invalid(args, "CSP");
}

static int set_options(struct cpcmd_args *args, struct spool_device *device, bool reader)
{
	bool any = false;
	int rc = 0;

	for (; rc == 0 && cpcmd_next(args); any = true) {
		if (set_switch(args->word, device))
			continue;
		if (cpcmd_is(args->word, KEYWORD_CLASS))
			rc = cpcmd_next_class(args, "CSP", reader, &device->spool_class);
		else
			rc = reader ? cpcmd_invalid(args, "CSP") : output_option(args, device);
	}
	return rc != 0 || any ? rc : cpcmd_missing(args, "CSP");
}

int cpcmd_spool(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	struct spool_device changed[CP_MAX_UNITS];
	unsigned int units;
	int rc = next_units(args, "CSP", &units);

	/* All of it, or nothing. */
	for (unsigned int i = 0; rc == 0 && i < cp->config.units; i++) {
		struct cpcmd_args options = *args;

		changed[i] = cp->unit[i];
		if (!(units & 1u << i))
			continue;
		rc = set_options(&options, &changed[i], spool_unit_queue(cp, i) == SPOOL_RDR);
		if (changed[i].to[0] == '\0')
			changed[i].to_queue = (uint8_t)spool_unit_queue(cp, i);
	}
	for (unsigned int i = 0; rc == 0 && i < cp->config.units; i++)
		if (units & 1u << i)
			cp->unit[i] = changed[i];
	return rc;
}

struct close_words {
	char to[CP_NAME_LEN + 1], name[CP_NAME_LEN + 1], type[CP_NAME_LEN + 1];
};

static int close_option(struct cpcmd_args *args, struct spool_close *how,
			struct close_words *words, bool reader)
{
	int rc;

	if (cpcmd_is(args->word, KEYWORD_PURGE))
		how->purge = true;
	else if (cpcmd_is(args->word, KEYWORD_HOLD))
		how->hold = true;
	else if (cpcmd_is(args->word, KEYWORD_NOHOLD))
		how->nohold = true;
	else if (cpcmd_is(args->word, KEYWORD_KEEP))
		how->keep = true;
	else if (cpcmd_is(args->word, KEYWORD_NOKEEP))
		how->nokeep = true;
	else if (cpcmd_is(args->word, KEYWORD_EOF))
		how->even_cont = true;
	else if (!reader && cpcmd_is(args->word, KEYWORD_TO)) {
		how->to = words->to;
		return cpcmd_next_to(args, "CLS", words->to, &how->to_queue);
	} else if (!reader && cpcmd_is(args->word, KEYWORD_NAME)) {
		rc = cpcmd_next_name(args, "CLS", words->name, words->type);
		how->named = rc == 0;
		how->name = words->name;
		how->type = words->type;
		return rc;
	} else
		return cpcmd_invalid(args, "CLS");
	return 0;
}

/* Linux takes the number from offset 9. */
static void show_sent(struct cp *cp, const struct spool_file *file, uint16_t was)
{
	cpcmd_line(cp, "%s FILE %04u SENT TO   %-8s %s AS  %04u RECS %04u CPY  %03u %c %s %s",
		   spool_queue_name[file->device], was, file->owner,
		   spool_queue_name[file->queue], file->id, file->records, file->copies,
		   file->spool_class, file->user_hold ? "HOLD" : "NOHOLD",
		   file->keep ? "KEEP" : "NOKEEP");
}

static int close_unit(struct cpcmd_args *args, unsigned int unit)
{
	struct cp *cp = args->cp;
	const bool reader = spool_unit_queue(cp, unit) == SPOOL_RDR;
	const uint16_t slot = cp->unit[unit].file;
	const uint16_t was = slot ? cp->system->spool->file[slot - 1].id : 0;
	struct spool_close how = { .purge = false };
	struct close_words words = { 0 };
	struct spool_file *file;
	enum spool_closed closed;
	const char *to;
	int rc = 0;

	while (rc == 0 && cpcmd_next(args))
		rc = close_option(args, &how, &words, reader);
	if (rc != 0)
		return rc;
	closed = spool_close(cp, unit, &how, &file);
	if (!reader && (closed == SPOOL_CLOSED || closed == SPOOL_REFUSED))
		show_sent(cp, file, was);
	if (closed != SPOOL_REFUSED)
		return 0;
	to = how.to ? how.to : cp->unit[unit].to;
	return cpcmd_message(cp, "CLS", CPCMD_TOO_MANY_FILES, 'E',
			     "User %s spool fileid limit exceeded", to[0] ? to : args->userid);
}

int cpcmd_close(struct cpcmd_args *args)
{
	unsigned int units;
	int rc = next_units(args, "CLS", &units);

	for (unsigned int i = 0; rc == 0 && i < args->cp->config.units; i++) {
		struct cpcmd_args options = *args;

		if (units & 1u << i)
			rc = close_unit(&options, i);
	}
	return rc;
}

static void show_tag(struct cp *cp, const char *tag)
{
	cpcmd_line(cp, "%s", tag[0] ? tag : "TAG NOT SET");
}

/* TAG QUERY FILE number: of a file in the own reader, as its sender has it. */
static int tag_query_file(struct cpcmd_args *args)
{
	const struct spool_file *file;
	uint64_t id;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, "TAG");
	if (!cpcmd_number(args->word, 10, 0, SPOOL_MAX_ID, &id))
		return cpcmd_invalid(args, "TAG");
	rc = cpcmd_end(args, "TAG");
	if (rc != 0)
		return rc;
	file = spool_find(args->cp, args->userid, SPOOL_RDR, (uint16_t)id);
	if (!file)
		return cpcmd_message(args->cp, "TAG", CPCMD_NO_FILE, 'E',
				     "Spool file %04u does not exist", (unsigned int)id);
	show_tag(args->cp, file->label.tag);
	return 0;
}

static int tag_query(struct cpcmd_args *args)
{
	unsigned int units;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, "TAG");
	if (cpcmd_is(args->word, KEYWORD_FILE))
		return tag_query_file(args);
	if (!cpcmd_is(args->word, KEYWORD_DEV))
		return cpcmd_invalid(args, "TAG");
	rc = next_units(args, "TAG", &units);
	for (unsigned int i = 0; rc == 0 && i < args->cp->config.units; i++) {
		if (units & 1u << i)
			show_tag(args->cp, args->cp->unit[i].label.tag);
	}
	return rc;
}

/* TAG DEV device text, TAG QUERY DEV device, TAG QUERY FILE number. */
int cpcmd_tag(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	unsigned int units;
	const char *text;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, "TAG");
	if (cpcmd_is(args->word, KEYWORD_QUERY))
		return tag_query(args);
	if (!cpcmd_is(args->word, KEYWORD_DEV))
		return cpcmd_invalid(args, "TAG");
	rc = next_units(args, "TAG", &units);
	if (rc != 0)
		return rc;
	text = cpcmd_rest(args);
	if (strlen(text) > SPOOL_TAG_LEN)
		return cpcmd_message(cp, "TAG", CPCMD_BAD_OPERAND, 'E',
				     "Operand missing or invalid - the tag has more than %u "
				     "characters", SPOOL_TAG_LEN);
	for (unsigned int i = 0; i < cp->config.units; i++) {
		if (!(units & 1u << i))
			continue;
		strcpy(cp->unit[i].label.tag, text);
		text_printable(cp->unit[i].label.tag, strlen(text));
	}
	return 0;
}

static void query_unit(struct cp *cp, unsigned int unit)
{
	static const char *const types[] = {
		[SPOOL_RDR] = "2540", [SPOOL_PUN] = "2540", [SPOOL_PRT] = "1403",
	};
	const struct spool_device *d = &cp->unit[unit];
	const unsigned int number = cp->config.unit[unit].device;
	const enum spool_queue queue = spool_unit_queue(cp, unit);
	const char *cont = d->cont ? "  CONT" : "NOCONT", *hold = d->hold ? "  HOLD" : "NOHOLD";
	const char *open = d->file ? "OPEN  " : "CLOSED";

	/* vmur of s390-tools takes the class from offset 13, CONT from 15. */
	if (queue == SPOOL_RDR) {
		cpcmd_line(cp, "RDR  %04X CL %c %s %s   EOF       READY", number, d->spool_class,
			   cont, hold);
		cpcmd_line(cp, "     %04X 2540     %s   %s NORESCAN   SUBCHANNEL = %04X", number,
			   open, d->keep ? "  KEEP" : "NOKEEP", unit);
		return;
	}
	cpcmd_line(cp, "%s  %04X CL %c %s %s COPY %03u    READY FORM %s", spool_queue_name[queue],
		   number, d->spool_class, cont, hold, d->copies, d->label.form);
	cpcmd_line(cp, "     %04X TO %-8s %s DIST %-8s FLASHC 000 DEST %s", number,
		   d->to[0] ? d->to : cp->config.userid, spool_queue_name[d->to_queue],
		   d->label.dist, d->label.dest);
	cpcmd_line(cp, "     %04X FLASH      CHAR      MDFY      0 FCB      LPP OFF", number);
	cpcmd_line(cp, "     %04X %s NOEOF %s %s NOMSG %s%s%s", number, types[queue], open,
		   d->keep ? "  KEEP" : "NOKEEP", d->label.name[0] ? d->label.name : "NONAME",
		   d->label.type[0] ? " " : "", d->label.type);
	cpcmd_line(cp, "     %04X SUBCHANNEL = %04X", number, unit);
}

/* QUERY VIRTUAL: those that args->word names; UR: all.  False if it names none. */
bool cpcmd_query_units(struct cpcmd_args *args, int *rc)
{
	const bool all = cpcmd_is(args->word, KEYWORD_UR);
	unsigned int units = all ? 0 : units_of(args);

	for (unsigned int i = 0; all && i < args->cp->config.units; i++)
		units |= args->cp->unit[i].gone ? 0 : 1u << i;
	if (units == 0)
		return false;
	*rc = cpcmd_end(args, "QVD");
	for (unsigned int i = 0; *rc == 0 && i < args->cp->config.units; i++)
		if (units & 1u << i)
			query_unit(args->cp, i);
	return true;
}
