/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "bytes.h"
#include "number.h"

/* A line with an interruption has some 200 bytes. */
#define LONGEST_LINE 1024

char *index_name(const char *name)
{
	const size_t size = strlen(name) + sizeof(".idx");
	char *made = malloc(size);

	if (made)
		snprintf(made, size, "%s.idx", name);
	return made;
}

static bool parse_hex(const char *text, uint8_t *bytes, size_t len)
{
	return strlen(text) == 2 * len && number_bytes(text, 2 * len, bytes);
}

static bool parse(const json_t *line, struct index_entry *entry)
{
	const json_t *length = json_object_get(line, "length");
	const json_t *interrupt = json_object_get(line, "interrupt");

	if (!json_is_integer(length) || json_integer_value(length) <= 0)
		return false;
	entry->length = (uint64_t)json_integer_value(length);
	entry->has_interrupt = interrupt != NULL;
	return !interrupt ||
	       (json_is_string(interrupt) && parse_hex(json_string_value(interrupt),
						       entry->interrupt, sizeof(entry->interrupt)));
}

int index_next(FILE *file, struct index_entry *entry)
{
	char text[LONGEST_LINE];
	json_t *line;
	bool good;

	if (!fgets(text, sizeof(text), file))
		return ferror(file) ? -1 : 0;
	/* Whoever writes a line may not have come to its end. */
	if (!strchr(text, '\n'))
		return strlen(text) == sizeof(text) - 1 ? -1 : 0;
	line = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	good = line && parse(line, entry);
	json_decref(line);
	return good ? 1 : -1;
}

void monrec_element_bytes(const struct monrec_element *element, uint8_t bytes[MONREC_ELEMENT_SIZE])
{
	bytes[0] = element->type;
	put_be16(bytes + 1, element->domains);
	bytes[3] = element->byte3;
	put_be32(bytes + 4, element->start);
	put_be32(bytes + 8, element->end);
}
