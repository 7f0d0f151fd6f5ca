// SPDX-License-Identifier: MIT
/* Requests made up by the schema of the control socket, for fuzz_control.c. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_private.h"
#include "mutate_lines.h"

struct line {
	char *text;
	size_t len, max;
	uint32_t *random;
};

static const char *const names[] = {
	"PEER1", "PEER2",   "peer1", "LINUX001", "*MONITOR",
	"*MSG",	 "MONDCSS", "DATA",  "NOBODY",	 "PEER3",
};
static const char *const texts[] = {
	"QUERY NSS",
	"QUERY NAMES",
	"MONITOR SAMPLE START",
	"MONITOR SAMPLE ENABLE ALL",
	"MONITOR EVENT START",
	"MONITOR EVENT ENABLE ALL",
	"SMSG LINUX001 text",
	"MSG PEER1 x",
	"DEFSEG NEW 130-133 SW",
	"SAVESEG NEW",
	"PURGE NSS NAME NEW",
	"QUERY MONITOR",
	"X",
	"",
	"SET SMSG IUCV\\nQUERY SET",
	"\\u00e4\\u20ac",
	"MONITOR STOP",
	"QUERY TIME",
	"QUERY RDR ALL",
	"PURGE LINUX001 ALL",
	"CHANGE LINUX001 RDR ALL HOLD",
	"folder/file",
	"A",
};
/* Their last characters say what they are: files.c. */
static const char *const paths[] = { "/f0", "/f1", "/f2", "/m", "/d", "/p", "/", "/l", "/f0.idx" };

__attribute__((format(printf, 2, 3))) static void put(struct line *to, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(to->text + to->len, to->max - to->len, format, args);
	va_end(args);
	if (len > 0)
		to->len += (size_t)len < to->max - to->len ? (size_t)len : to->max - to->len - 1;
}

#define ONE_OF(to, list) ((list)[pick((to)->random, sizeof(list) / sizeof((list)[0]))])

static void put_int(struct line *to, const struct ctl_member *m)
{
	/* The first ids that messages have in this target, and powers of two. */
	const int64_t small = (int64_t)pick(to->random, 4);
	const int64_t one = (int64_t)1 << pick(to->random, 33);

	switch (pick(to->random, 8)) {
	case 0:
		put(to, "%lld", (long long)m->min);
		break;
	case 1:
		/* The largest amounts of data only take time. */
		put(to, "%lld",
		    (long long)(m->max > 100000 && m->max < UINT32_MAX ? 5000 : m->max));
		break;
	case 2:
		put(to, "%lld", (long long)m->min - 1);
		break;
	case 3:
		put(to, "%lld", (long long)(one < m->max ? one : m->max));
		break;
	default:
		put(to, "%lld",
		    (long long)(strcmp(m->name, "msgid") == 0 ? 16 * (1 + small % 2) + small
							      : m->min + small));
		break;
	}
}

static void put_data(struct line *to, const struct ctl_member *m)
{
	size_t len = (size_t)m->min + (m->max > m->min ? pick(to->random, 48) : 0);
	uint8_t bytes[128] = { 0 };
	char text[CTL_BASE64_LEN(sizeof(bytes)) + 1];

	/* A record's head, as likely as anything. */
	bytes[1] = (uint8_t)len;
	bytes[4] = (uint8_t)pick(to->random, 12);
	len = len < sizeof(bytes) ? len : sizeof(bytes);
	ctl_base64_encode(text, bytes, len);
	put(to, "\"%.*s\"", (int)CTL_BASE64_LEN(len), text);
}

static void put_members(struct line *to, const struct ctl_member *members);

static void put_value(struct line *to, const struct ctl_member *described)
{
	const struct ctl_member plain = ctl_plain(described), *m = &plain;
	size_t count = 0;

	switch (m->type) {
	case CTL_INT:
		put_int(to, m);
		break;
	case CTL_BOOL:
		put(to, "%s", pick(to->random, 2) ? "true" : "false");
		break;
	case CTL_STRING:
		put(to, "\"%s\"", ONE_OF(to, texts));
		break;
	case CTL_NAME:
		put(to, "\"%s\"", ONE_OF(to, names));
		break;
	case CTL_DATA:
		put_data(to, m);
		break;
	case CTL_FILE:
		put(to, "\"%s\"", ONE_OF(to, paths));
		break;
	case CTL_ENUM:
		while (m->choices[count])
			count++;
		put(to, "\"%s\"", m->choices[pick(to->random, count)]);
		break;
	case CTL_OBJECT:
		put_members(to, m->members);
		break;
	case CTL_ARRAY:
		put(to, "[");
		for (size_t i = pick(to->random, 4); i > 0; i--) {
			put_members(to, m->members);
			put(to, "%s", i > 1 ? "," : "");
		}
		put(to, "]");
		break;
	case CTL_OF_INPUT:
		abort();
	}
}

static void put_members(struct line *to, const struct ctl_member *members)
{
	const char *comma = "";

	put(to, "{");
	for (const struct ctl_member *m = members; m && m->name; m++) {
		if (m->flags & CTL_OPTIONAL ? pick(to->random, 2) : !pick(to->random, 40))
			continue;
		put(to, "%s\"%s\":", comma, m->name);
		if (m->flags & CTL_NULLABLE && pick(to->random, 2))
			put(to, "null");
		else
			put_value(to, m);
		comma = ",";
	}
	put(to, "}");
}

/* Connections are made by peer-create, and most calls are of peers. */
static const struct ctl_command *some_command(struct line *to)
{
	static const char *const usual[] = { "peer-create", "peer-call", "peer-call", "peer-call" };
	const char *name = pick(to->random, 2) ? ONE_OF(to, usual) : NULL;
	size_t i = name ? 0 : pick(to->random, ctl_command_count);

	while (name && strcmp(ctl_commands[i].name, name) != 0)
		i++;
	return &ctl_commands[i];
}

size_t new_line(uint8_t *line, size_t max, uint32_t *random)
{
	static const char *const others[] = {
		"!d\n",	      "!c0\n",	       "!c1\n",	     "!c2\n",	   "!c3\n", "!c4\n",
		"!t\n",	      "!x\n",	       "!w0\n",	     "!wz\n",	   "!~0abX\n",
		"A\n",	      "!f00\005\n",    "!f00\006\n", "!f00\004\n", "!f00\012\n",
		"!f00\017\n", "!f0\020\004\n", "B\n",
	};
	struct line to = { .text = (char *)line, .max = max, .random = random };
	const struct ctl_command *command;

	if (pick(random, 3) == 0) {
		put(&to, "%s", ONE_OF(&to, others));
		return to.len;
	}
	command = some_command(&to);
	put(&to, "%c{\"execute\":\"%s\"", (int)('0' + (pick(random, 4) ? 0 : pick(random, 4))),
	    command->name);
	if (command->args) {
		put(&to, ",\"arguments\":");
		put_members(&to, command->args);
	}
	if (pick(random, 4) == 0)
		put(&to, ",\"id\":%u", (unsigned int)pick(random, 100));
	put(&to, "}\n");
	return to.len;
}
