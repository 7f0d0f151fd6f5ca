/* SPDX-License-Identifier: MIT */
/* The members of an input, as zvmlab/inputs.def describes them, read from its record, and given. */
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"
#include "zvmlab/fault.h"

/* Most members of an input that need memory of their own, and sets of parts among them. */
#define MAX_KEPT 8u
#define MAX_PARTS 2u

/** The members of an input, and the memory that they point to. */
struct given {
	union input_args args;
	void *kept[MAX_KEPT];
	unsigned int count;
	struct trace_part part[MAX_PARTS];
	unsigned int parts;
};

static void set_number(void *at, size_t size, uint64_t number)
{
	switch (size) {
	case 1:
		*(uint8_t *)at = (uint8_t)number;
		return;
	case 2:
		*(uint16_t *)at = (uint16_t)number;
		return;
	case 4:
		*(uint32_t *)at = (uint32_t)number;
		return;
	}
	assert(size == 8);
	*(uint64_t *)at = number;
}

/* Memory that lives as long as @given. */
static void *keep(struct given *given, void *memory)
{
	assert(given->count < MAX_KEPT);
	return given->kept[given->count++] = memory;
}

static const char *text(struct replay *r, const json_t *record, const struct input_member *m,
			struct given *given)
{
	const size_t size = (size_t)m->largest + 1;
	char *to = keep(given, malloc(size));

	if (to)
		replay_text(r, record, m->name, to, size);
	else
		replay_unusable(r, "not enough memory for \"%s\"", m->name);
	if (to && strlen(to) < m->least)
		replay_unusable(r, "\"%s\" is empty", m->name);
	return to;
}

static uint64_t number(struct replay *r, const json_t *record, const struct input_member *m)
{
	const unsigned int last_cpu = cp_config_of(r->cp)->cpus - 1;
	const uint64_t largest = m->type == INPUT_CPU ? last_cpu : m->largest;
	const uint64_t value = replay_number(r, record, m->name, largest);

	if (value < m->least)
		replay_unusable(r, "\"%s\" is not a number from %llu to %llu", m->name,
				(unsigned long long)m->least, (unsigned long long)largest);
	return value;
}

static const uint64_t *registers(struct replay *r, const json_t *record,
				 const struct input_member *m, struct given *given)
{
	uint64_t *gr = keep(given, calloc((size_t)m->largest, sizeof(*gr)));

	if (gr)
		replay_registers(r, record, gr, (size_t)m->largest);
	else
		replay_unusable(r, "not enough memory for \"%s\"", m->name);
	return gr;
}

static struct input_bytes bytes(struct replay *r, const json_t *record,
				const struct input_member *m, struct given *given)
{
	struct input_bytes bytes = { .len = 0 };

	bytes.at = keep(given, replay_bytes(r, record, m->name, &bytes.len));
	if (bytes.at && m->type == INPUT_BYTES && bytes.len != m->largest)
		replay_unusable(r, "\"%s\" has %zu bytes instead of %llu", m->name, bytes.len,
				(unsigned long long)m->largest);
	return bytes;
}

static struct input_parts parts(struct replay *r, const json_t *record,
				const struct input_member *m, struct given *given)
{
	const struct input_bytes whole = bytes(r, record, m, given);
	struct trace_part *part = &given->part[given->parts++];

	assert(given->parts <= sizeof(given->part) / sizeof(given->part[0]));
	*part = (struct trace_part){ whole.at, whole.len };
	return (struct input_parts){ part, 1 };
}

/* A word that the record leaves out stands for no valid value. */
static unsigned int word(struct replay *r, const json_t *record, const char *name,
			 const char *(*at)(unsigned int), unsigned int count)
{
	char text[64];

	if (!json_object_get(record, name))
		return count;
	replay_text(r, record, name, text, sizeof(text));
	for (unsigned int i = 0; i < count; i++)
		if (strcmp(at(i), text) == 0)
			return i;
	replay_unusable(r, "this version of the CP has no %s \"%s\" for faults", name, text);
	return count;
}

static const char *point_name(unsigned int point)
{
	return fault_point_info[point].name;
}

static const char *kind_name(unsigned int kind)
{
	return fault_kind_info[kind].name;
}

static void rule_name(struct replay *r, const json_t *record, const char *key, char *name)
{
	char text[CP_NAME_LEN + 2] = "";

	if (json_object_get(record, key))
		replay_text(r, record, key, text, sizeof(text));
	memcpy(name, text, CP_NAME_LEN + 1);
}

/* The core writes these members only if they are given; the others keep their values. */
static void rule_field(struct replay *r, const json_t *record, struct fault_rule *rule,
		       enum fault_field field)
{
	const char *name = fault_field_info[field].name;
	uint64_t number = 0;

	switch (fault_field_info[field].type) {
	case FAULT_TYPE_NAME:
		rule_name(r, record, name, fault_name(rule, field));
		return;
	case FAULT_TYPE_POINT:
		number = word(r, record, name, point_name, FAULT_POINTS);
		break;
	case FAULT_TYPE_KIND:
		number = word(r, record, name, kind_name, FAULT_KINDS);
		break;
	case FAULT_TYPE_BYTE:
		number = replay_number_or_0(r, record, name, UINT8_MAX);
		break;
	case FAULT_TYPE_PATH:
		number = replay_hex_or(r, record, name, UINT32_MAX, (uint32_t)FAULT_ANY_PATH);
		break;
	case FAULT_TYPE_NUMBER:
	case FAULT_TYPE_WHEN:
		number = replay_number(r, record, name, UINT32_MAX);
		break;
	}
	fault_set_number(rule, field, (uint32_t)number);
}

static const struct fault_rule *rule(struct replay *r, const json_t *record,
				     const struct input_member *m, struct given *given)
{
	struct fault_rule *rule = keep(given, malloc(sizeof(*rule)));

	if (!rule) {
		replay_unusable(r, "not enough memory for \"%s\"", m->name);
		return NULL;
	}
	*rule = fault_rule_new();
	for (enum fault_field i = 0; i < FAULT_FIELDS; i++)
		rule_field(r, record, rule, i);
	return rule;
}

static void read_member(struct replay *r, const json_t *record, const struct input_member *m,
			struct given *given, void *at)
{
	const char **to = at;

	switch (m->type) {
	case INPUT_CPU:
	case INPUT_NUMBER:
		set_number(at, m->size, number(r, record, m));
		return;
	case INPUT_HEX:
		set_number(at, m->size, replay_hex(r, record, m->name, m->largest));
		return;
	case INPUT_TEXT:
	case INPUT_NAME:
		*to = text(r, record, m, given);
		return;
	case INPUT_NAME_OR_ALL:
		*to = text(r, record, m, given);
		if (*to && strcmp(*to, "*") == 0)
			*to = NULL;
		return;
	case INPUT_REGISTERS:
		*(const uint64_t **)at = registers(r, record, m, given);
		return;
	case INPUT_BYTES:
	case INPUT_GIVEN:
		*(struct input_bytes *)at = bytes(r, record, m, given);
		return;
	case INPUT_PARTS:
		*(struct input_parts *)at = parts(r, record, m, given);
		return;
	case INPUT_RULE:
		*(const struct fault_rule **)at = rule(r, record, m, given);
		return;
	}
	assert(false);
}

/* Must the record have it?  Then its absence is an error. */
static bool wanted(const json_t *record, const struct input_member *m, bool before)
{
	return m->when == INPUT_ALWAYS || (m->when == INPUT_OTHERWISE && !before) ||
	       (m->when != INPUT_OTHERWISE && json_object_get(record, m->name));
}

void replay_read(struct replay *r, const json_t *record, enum input input, replay_give *give)
{
	struct given given;
	char *base = (char *)&given.args;
	bool before = false;

	memset(&given, 0, sizeof(given));
	for (const struct input_member *m = input_members(input); m->name && !r->all->stopped; m++) {
		before = wanted(record, m, before);
		if (before && m->when == INPUT_WITH_FLAG)
			*(bool *)(base + m->flag) = true;
		if (before)
			read_member(r, record, m, &given, base + m->offset);
	}
	if (!r->all->stopped)
		give(r, record, &given.args);
	while (given.count > 0)
		free(given.kept[--given.count]);
}

const char *replay_call_name(const json_t *record)
{
	return json_string_value(json_object_get(record, "call"));
}

enum input replay_input_of(const json_t *record)
{
	return input_find(replay_call_name(record),
			  !json_is_null(json_object_get(record, "cpu")));
}
