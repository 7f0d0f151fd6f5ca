/* SPDX-License-Identifier: MIT */
/* libmonrec: the rules in words. */
#include "monrec_private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * A message has the two values of its item in it, in turn: {d} decimal, {2}, {4}
 * and {8} hexadecimal with so many digits.
 */
static const struct rule {
	const char *name;
	const char *text;	/* what the rule demands */
	const char *message;	/* what is wrong */
	const char *if_zero;	/* instead, if not NULL and the first value is 0 */
} rules[] = {
	[MONREC_RULE_ELEMENT_CUT] = { "element-cut",
		"A control element has 12 bytes.",
		"the set ends {d} bytes into a control element", NULL },
	[MONREC_RULE_ELEMENT_TYPE] = { "element-type",
		"The type of a control element is X'E2' (sample) or X'C5' (event).",
		"the control element's type is X'{2}'", NULL },
	[MONREC_RULE_ELEMENT_DOMAINS] = { "element-domains",
		"A control element names the domains of its records: samples have no scheduler and "
		"no seeks data, events no system data.",
		"domains X'{4}' are named, of which X'{4}' are impossible",
		"the control element names no domain" },
	[MONREC_RULE_ELEMENT_RANGE] = { "element-range",
		"The last byte of a control element's records is after the first one.",
		"the records reach from {8} to {8}", NULL },
	[MONREC_RULE_RECORDS_CUT] = { "records-cut",
		"All records that a control element describes follow it.",
		"the set ends {d} bytes into a frame of the element's records", NULL },
	[MONREC_RULE_SET_EMPTY] = { "set-empty",
		"A data set has at least one control element.",
		"the set has no control element", NULL },
	[MONREC_RULE_HEADER_CUT] = { "header-cut",
		"An element ends with its last record.",
		"{d} bytes at the end of the element are not a record", NULL },
	[MONREC_RULE_RECORD_SHORT] = { "record-short",
		"A record has at least the 20 bytes of its header.",
		"the record's length is {d} bytes", NULL },
	[MONREC_RULE_RECORD_FRAME] = { "record-frame",
		"A record lies within one frame of 4096 bytes.",
		"the record of {d} bytes begins {d} bytes before its frame ends", NULL },
	[MONREC_RULE_RECORD_ELEMENT] = { "record-element",
		"A record ends within its element.",
		"the record of {d} bytes begins {d} bytes before its element ends", NULL },
	[MONREC_RULE_RECORD_ZERO] = { "record-zero",
		"Bytes 2 and 3 of a record's header are zero.",
		"bytes 2 and 3 of the header are X'{4}'", NULL },
	[MONREC_RULE_RECORD_DOMAIN] = { "record-domain",
		"A control element names the domain of each of its records.",
		"domain {d} is not among those that the element names, X'{4}'", NULL },
	[MONREC_RULE_RECORD_KIND] = { "record-kind",
		"Event records are in event data, sample records in sample data.",
		"a sample record in event data",
		"an event record in sample data" },
	[MONREC_RULE_RECORD_LENGTH] = { "record-length",
		"A record has the length that it has in its release.",
		"the record has {d} bytes, in its release {d}", NULL },
	[MONREC_RULE_FRAME_OPEN] = { "frame-open",
		"A frame that another one follows ends with an end-of-frame record (D1R13).",
		"the frame does not end with D1R13 though another one follows", NULL },
	[MONREC_RULE_FRAME_LAST] = { "frame-last",
		"The last frame has no end-of-frame record (D1R13).",
		"it ends a frame that no frame follows", NULL },
	[MONREC_RULE_FRAME_LENGTH] = { "frame-length",
		"D1R11, D1R12 and D1R13 are a header and nothing else.",
		"the record has {d} bytes instead of 20", NULL },
	[MONREC_RULE_BEHIND_END] = { "behind-end",
		"No record follows the end of an interval (D1R11) or of a block (D1R12).",
		"the element's data had ended before", NULL },
	[MONREC_RULE_INTERVAL_OPEN] = { "interval-open",
		"Sample data end with the end of their interval (D1R11).",
		"the set's sample data do not end with D1R11", NULL },
	[MONREC_RULE_SUSPENSION_PLACE] = { "suspension-place",
		"The record that reports the end of a suspension (D1R3) is the first of its block.",
		"it is not the first record of its element", NULL },
	[MONREC_RULE_SUSPENSION_OPEN] = { "suspension-open",
		"After a suspension (D1R12), event data begin with D1R3, or with D1R1 if recording starts again.",
		"event recording was suspended, and goes on without D1R3", NULL },
	[MONREC_RULE_PROFILE] = { "profile",
		"Domain detail (D1R14) says S in sample data and E in event data.",
		"its profile is X'{2}', the element's type X'{2}'", NULL },
	[MONREC_RULE_FILE_CUT] = { "file-cut",
		"A file of MONWRITE has whole 4096-byte records and ends with end of data.",
		"the file ends {d} bytes into a 4096-byte record",
		"the file ends without end of data" },
	[MONREC_RULE_CONTROL_AREA] = { "control-area",
		"A control area has 1 to 338 elements of 12 bytes.",
		"the control area reaches from {8} to {8}", NULL },
	[MONREC_RULE_INTERRUPT] = { "interrupt",
		"A control record begins with the interruption of a pending message that has "
		"parameter-list data.",
		"the interruption's type is X'{2}', its flags X'{2}'", NULL },
	[MONREC_RULE_BEHIND_DATA] = { "behind-data",
		"Nothing follows end of data.",
		"more data follow", NULL },
};
static_assert(COUNT(rules) == MONREC_RULES, "words for every rule");

const char *monrec_rule_name(unsigned int rule)
{
	return rule < COUNT(rules) ? rules[rule].name : NULL;
}

const char *monrec_rule_text(unsigned int rule)
{
	return rule < COUNT(rules) ? rules[rule].text : NULL;
}

struct text {
	char *at;
	size_t left;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text->at, text->left, format, args);
	va_end(args);
	assert(len >= 0);
	if ((size_t)len >= text->left)
		len = (int)text->left - 1;
	text->at += len;
	text->left -= (size_t)len;
}

static void add_place(struct text *text, const struct monrec_item *item)
{
	if (item->at.set)
		add(text, "set %" PRIu64 ", ", item->at.set);
	add(text, "offset %" PRIu64, item->at.offset);
	if (item->at.element)
		add(text, ", element %" PRIu32, item->at.element);
	if (item->at.record)
		add(text, ", record %" PRIu32, item->at.record);
	if (item->record.data) {
		const struct monrec_layout *layout =
			monrec_layout(item->record.domain, item->record.number);

		add(text, " (D%uR%u%s%s)", item->record.domain, item->record.number,
		    layout ? " " : "", layout ? layout->name : "");
	}
}

static void add_message(struct text *text, const char *message, const uint64_t *value)
{
	for (; *message; message++) {
		if (*message != '{') {
			add(text, "%c", *message);
			continue;
		}
		if (message[1] == 'd')
			add(text, "%" PRIu64, *value++);
		else
			add(text, "%0*" PRIX64, message[1] - '0', *value++);
		assert(message[2] == '}');
		message += 2;
	}
}

char *monrec_describe(const struct monrec_item *item, char *buffer, size_t size)
{
	struct text text = { buffer, size };
	const struct rule *rule;

	assert(size > 0 && item->kind == MONREC_VIOLATION && item->rule < COUNT(rules));
	rule = &rules[item->rule];
	add_place(&text, item);
	add(&text, ": ");
	add_message(&text, rule->if_zero && !item->value[0] ? rule->if_zero : rule->message,
		    item->value);
	add(&text, " [%s]", rule->name);
	return buffer;
}
