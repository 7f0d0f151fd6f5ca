/* SPDX-License-Identifier: MIT */
/*
 * Inputs to the core as data: inputs.def describes each once, and from there come the
 * structures below, the members of the trace's records, and what a replay reads.
 */
#ifndef ZVMLAB_INPUT_H
#define ZVMLAB_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/command.h"
#include "zvmlab/config.h"
#include "zvmlab/disk.h"
#include "zvmlab/guests.h"
#include "zvmlab/hmc.h"
#include "zvmlab/page.h"
#include "zvmlab/recording.h"
#include "zvmlab/spool.h"
#include "zvmlab/trace.h"

/** The type of a member in C, and in a record. */
enum input_type {
	INPUT_CPU,		/**< CPU address; "cpu" of the record itself */
	INPUT_NUMBER,		/**< unsigned integer of 1, 2, 4 or 8 bytes; decimal */
	INPUT_HEX,		/**< the same; hexadecimal text */
	INPUT_TEXT,		/**< const char *; ISO 8859-1 */
	INPUT_NAME,		/**< the same; a user ID, a segment */
	INPUT_NAME_OR_ALL,	/**< const char *, NULL for all; text, "*" for all */
	INPUT_REGISTERS,	/**< const uint64_t * to as many as the member says; "gr" */
	INPUT_BYTES,		/**< struct input_bytes; hexadecimal text */
	INPUT_GIVEN,		/**< the same, but with trace_full as a whole, however many */
	INPUT_PARTS,		/**< struct input_parts; only with trace_full, as a whole */
	INPUT_RULE,		/**< const struct fault_rule *; a member for each of its fields */
};

/** When a record has the member. */
enum input_when {
	INPUT_ALWAYS,
	INPUT_IF_SET,		/**< the number is not 0, the pointer is not NULL */
	INPUT_OTHERWISE,	/**< the member before it is not there */
	INPUT_WITH_FLAG,	/**< has_NAME, a bool before the member, is true */
};

struct fault_rule;

struct input_bytes {
	const void *at;
	size_t len;
};
struct input_parts {
	const struct trace_part *part;
	unsigned int count;
};

#define INPUT_FLAG_ALWAYS(name)
#define INPUT_FLAG_IF_SET(name)
#define INPUT_FLAG_OTHERWISE(name)
#define INPUT_FLAG_WITH_FLAG(name) bool has_##name;

#define INPUT(id, call) struct input_##id {
#define MEMBER(type, when, ctype, name, least, largest) INPUT_FLAG_##when(name) ctype name;
#define INPUT_END };
#include "zvmlab/inputs.def"

enum input {
#define INPUT(id, call) INPUT_##id,
#define MEMBER(type, when, ctype, name, least, largest)
#define INPUT_END
#include "zvmlab/inputs.def"
	INPUTS
};

/** The members of any input. */
union input_args {
#define INPUT(id, call) struct input_##id id;
#define MEMBER(type, when, ctype, name, least, largest)
#define INPUT_END
#include "zvmlab/inputs.def"
};

struct input_member {
	const char *name;	/**< NULL ends a list */
	enum input_type type;
	enum input_when when;
	size_t offset, size;	/**< in the structure */
	size_t flag;		/**< INPUT_WITH_FLAG: where has_NAME is */
	uint64_t least, largest;	/**< of the number, or of the length in bytes or characters */
};

/** Members in the order of the record. */
const struct input_member *input_members(enum input input);
/** The member at this offset of the structure, which must be one. */
const struct input_member *input_member(enum input input, size_t offset);
/**
 * The input whose records have this name, INPUTS if there is none.  @cpu: have they a CPU?  That
 * tells two families of one name apart.
 */
enum input input_find(const char *call, bool cpu);
/** Does the record have the member?  @before: it has the member before. */
bool input_has(const struct input_member *member, const void *args, bool before);

/** The same without members: a call of CP begins that nobody traces. */
void trace_input_begin(struct cp *cp, enum input input, const char *call);
/**
 * Open the record of an input, with all its members; nothing if nobody is listening.
 * @call: its name if the input is a family, else NULL.  @args: the input's structure.
 */
void trace_input(struct cp *cp, enum input input, const char *call, const void *args);

#endif
