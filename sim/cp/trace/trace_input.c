/* SPDX-License-Identifier: MIT */
/* Inputs: what each consists of, and its members of a record. */
#include <string.h>

#include "cp_private.h"
#include "zvmlab/input.h"
#include "zvmlab/trace.h"

#define FLAG_ALWAYS(name) 0
#define FLAG_IF_SET(name) 0
#define FLAG_OTHERWISE(name) 0
#define FLAG_WITH_FLAG(name) offsetof(now, has_##name)

/* In a function of its own, each list can name its structure by the same word. */
#define INPUT(id, call) \
	static const struct input_member *members_of_##id(void) \
	{ \
		typedef struct input_##id now; \
		static const struct input_member members[] = {
#define MEMBER(kind, when_, ctype, name_, least_, largest_) \
	{ \
		.name = #name_, .type = INPUT_##kind, .when = INPUT_##when_, \
		.offset = offsetof(now, name_), .size = sizeof(ctype), \
		.flag = FLAG_##when_(name_), .least = least_, .largest = largest_, \
	},
#define INPUT_END \
			{ .name = NULL }, \
		}; \
		(void)sizeof(now); \
		return members; \
	}
#include "zvmlab/inputs.def"

static const struct {
	const char *call;
	const struct input_member *(*members)(void);
} inputs[INPUTS] = {
#define INPUT(id, name) [INPUT_##id] = { name, members_of_##id },
#define MEMBER(kind, when, ctype, name, least, largest)
#define INPUT_END
#include "zvmlab/inputs.def"
};

const struct input_member *input_members(enum input input)
{
	assert(input < INPUTS);
	return inputs[input].members();
}

const struct input_member *input_member(enum input input, size_t offset)
{
	const struct input_member *member = input_members(input);

	while (member->name && member->offset != offset)
		member++;
	assert(member->name);
	return member;
}

static bool takes_cpu(enum input input)
{
	const struct input_member *first = input_members(input);

	return first->name && first->type == INPUT_CPU;
}

/* Length of a family's name, which is the part before the *; 0: it is none. */
static size_t family(enum input input)
{
	const char *star = strchr(inputs[input].call, '*');

	return star ? (size_t)(star - inputs[input].call) : 0;
}

enum input input_find(const char *call, bool cpu)
{
	enum input found = INPUTS;

	for (enum input i = 0; i < INPUTS; i++) {
		const size_t len = family(i);

		if (len == 0 && strcmp(inputs[i].call, call) == 0)
			return i;
		if (len > 0 && strncmp(inputs[i].call, call, len) == 0 &&
		    (found == INPUTS || takes_cpu(i) == cpu))
			found = i;
	}
	return found;
}

static uint64_t number(const void *at, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	}
	assert(size == 8);
	return *(const uint64_t *)at;
}

static bool is_set(const struct input_member *member, const void *at)
{
	if (member->type == INPUT_NUMBER || member->type == INPUT_HEX)
		return number(at, member->size) != 0;
	/* All others begin with a pointer. */
	return *(const void *const *)at != NULL;
}

bool input_has(const struct input_member *member, const void *args, bool before)
{
	const char *base = args;

	switch (member->when) {
	case INPUT_ALWAYS:
		return true;
	case INPUT_IF_SET:
		return is_set(member, base + member->offset);
	case INPUT_OTHERWISE:
		return !before;
	case INPUT_WITH_FLAG:
		return *(const bool *)(base + member->flag);
	}
	assert(false);
	return false;
}

static void put(struct cp *cp, const struct input_member *member, const void *at)
{
	const struct input_bytes *bytes = at;
	const struct input_parts *parts = at;

	switch (member->type) {
	case INPUT_CPU:
		return;
	case INPUT_NUMBER:
		trace_number(cp, member->name, number(at, member->size));
		return;
	case INPUT_HEX:
		trace_hex(cp, member->name, number(at, member->size));
		return;
	case INPUT_TEXT:
	case INPUT_NAME:
		trace_text(cp, member->name, *(const char *const *)at);
		return;
	case INPUT_NAME_OR_ALL:
		trace_text(cp, member->name, *(const char *const *)at ? *(const char *const *)at : "*");
		return;
	case INPUT_REGISTERS:
		trace_gr(cp, *(const uint64_t *const *)at, (unsigned int)member->largest);
		return;
	case INPUT_BYTES:
		trace_bytes(cp, member->name, bytes->at, bytes->len);
		return;
	case INPUT_GIVEN:
		trace_given(cp, member->name, bytes->at, bytes->len);
		return;
	case INPUT_PARTS:
		trace_parts(cp, member->name, parts->part, parts->count);
		return;
	case INPUT_RULE:
		parts_trace_rule(cp, *(const struct fault_rule *const *)at);
		return;
	}
	assert(false);
}

void trace_input_begin(struct cp *cp, enum input input, const char *call)
{
	trace_begin(cp, TRACE_NO_CPU, call ? call : inputs[input].call);
}

void trace_input(struct cp *cp, enum input input, const char *call, const void *args)
{
	const char *base = args;
	int cpu = TRACE_NO_CPU;
	bool before = false;

	assert(input < INPUTS && (call != NULL) == (family(input) > 0));
	if (!trace_enabled(cp))
		return;
	if (takes_cpu(input))
		cpu = (int)*(const unsigned int *)args;
	trace_begin(cp, cpu, call ? call : inputs[input].call);
	for (const struct input_member *m = input_members(input); m->name; m++) {
		before = input_has(m, args, before);
		if (before)
			put(cp, m, base + m->offset);
	}
}
