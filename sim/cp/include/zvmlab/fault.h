/* SPDX-License-Identifier: MIT */
/*
 * Fault injection: named points at the CP's decisions, rules that fire there.
 *
 * A caller in the core asks fault_check() at its point and carries out what
 * comes back; which kinds a point can carry out stands in fault_points.def,
 * from which all lists are generated, and rules for others are refused.
 * What a rule consists of stands in fault_fields.def.
 */
#ifndef ZVMLAB_FAULT_H
#define ZVMLAB_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zvmlab/cp.h"

enum fault_kind {
	FAULT_NONE = 0,
#define FAULT_KIND(id, name, min, max, text) FAULT_##id,
#include "zvmlab/fault_kinds.def"
#undef FAULT_KIND
	FAULT_KINDS
};

#define FAULT_BIT(kind) (1u << (kind))

enum fault_point {
#define FAULT_POINT(id, name, kinds, text) FAULT_##id,
#include "zvmlab/fault_points.def"
#undef FAULT_POINT
	FAULT_POINTS
};

struct fault_point_info {
	const char *name;	/**< "iucv.connect" */
	uint32_t kinds;		/**< FAULT_BIT() of the kinds it can carry out */
	const char *text;	/**< one sentence */
};
extern const struct fault_point_info fault_point_info[FAULT_POINTS];

struct fault_kind_info {
	const char *name;	/**< as control commands spell it: "cc", "rc", "pgm", … */
	uint32_t min, max;	/**< values it takes; both 0: none */
	const char *text;	/**< one sentence */
};
/** FAULT_NONE has a name only. */
extern const struct fault_kind_info fault_kind_info[FAULT_KINDS];

/** Largest value of @kind at @point: an IPRCODE has 8 bits, other return codes 32. */
uint32_t fault_value_max(enum fault_point point, enum fault_kind kind);

#define FAULT_ANY_PATH (-1)

enum fault_when { FAULT_ALWAYS, FAULT_NTH, FAULT_EVERY, FAULT_PROBABILITY };

/** How a member of a rule is kept; "not given" is written beside it. */
enum fault_type {
	FAULT_TYPE_POINT,	/**< enum fault_point */
	FAULT_TYPE_KIND,	/**< enum fault_kind */
	FAULT_TYPE_NUMBER,	/**< 32 bits: 0 */
	FAULT_TYPE_NAME,	/**< a name of CP's, in any case: "" */
	FAULT_TYPE_BYTE,	/**< 8 bits: 0 */
	FAULT_TYPE_PATH,	/**< a path id: FAULT_ANY_PATH */
	FAULT_TYPE_WHEN,	/**< enum fault_when: FAULT_ALWAYS */
};

#define FAULT_MEMBER_POINT(member) enum fault_point member;
#define FAULT_MEMBER_KIND(member) enum fault_kind member;
#define FAULT_MEMBER_NUMBER(member) uint32_t member;
#define FAULT_MEMBER_NAME(member) char member[CP_NAME_LEN + 1];
#define FAULT_MEMBER_BYTE(member) uint32_t member;
#define FAULT_MEMBER_PATH(member) int32_t member;
#define FAULT_MEMBER_WHEN(member) enum fault_when member;

/** A rule: fault_fields.def says what each member means. */
struct fault_rule {
#define FAULT_FIELD(member, type, saved, least, most, text) FAULT_MEMBER_##type(member)
#include "zvmlab/fault_fields.def"
};

enum fault_field {
#define FAULT_FIELD(member, type, saved, least, most, text) FAULT_FIELD_##member,
#include "zvmlab/fault_fields.def"
	FAULT_FIELDS
};

struct fault_field_info {
	const char *name;	/**< of the member, also on the control socket and in the trace */
	enum fault_type type;
	bool filter;		/**< calls are compared with it */
	uint8_t saved;		/**< place in a saved rule, below FAULT_FIELDS */
	uint32_t least, most;	/**< value when it is given; of a name the length */
	enum fault_point only;	/**< may be given at this point only; FAULT_POINTS: at all */
	const char *text;	/**< one sentence */
};
extern const struct fault_field_info fault_field_info[FAULT_FIELDS];

/** A rule's member of any type but NAME; a path as 32 bits, FAULT_ANY_PATH as all ones. */
uint32_t fault_number(const struct fault_rule *rule, enum fault_field field);
void fault_set_number(struct fault_rule *rule, enum fault_field field, uint32_t number);
/** A member of type NAME: CP_NAME_LEN + 1 bytes. */
char *fault_name(struct fault_rule *rule, enum fault_field field);
/** A member that is not given. */
bool fault_absent(const struct fault_rule *rule, enum fault_field field);
/** The rule that fires nowhere: its members are not given. */
struct fault_rule fault_rule_new(void);
/** Offsets of FAULT_CORRUPT end here at @point: an interruption has 40 bytes. */
uint32_t fault_offset_max(enum fault_point point);

struct fault_action {
	enum fault_kind kind;
	uint32_t value;
	uint32_t offset;
};

/** A sweep has one for each point, and a user some beside. */
#define FAULT_MAX_RULES 128

/** Arm a rule.  Return: its id (1…), or -1 with one sentence in @err. */
int fault_arm(struct cp *cp, const struct fault_rule *rule, char *err, size_t errlen);
/** Disarm one rule, or all with id 0.  Return: number disarmed. */
int fault_disarm(struct cp *cp, int id);

struct fault_status {
	int id;
	struct fault_rule rule;
	uint32_t matched, fired;
};
/** Status of the @index-th armed rule; false past the last. */
bool fault_status(const struct cp *cp, unsigned int index, struct fault_status *out);
/**
 * A machine of a system is about to make a call: does its connection break, as if its emulator had
 * been killed?  Not from within a call; nothing is recorded while no rule is armed at machine.link.
 */
bool fault_cuts_link(struct cp *cp);
/** How often each point was reached since creation (for sweeps). */
uint64_t fault_reached(const struct cp *cp, enum fault_point point);

/** The call that rules filter; fields that do not apply are "" or FAULT_ANY_PATH. */
struct fault_call {
#define FAULT_CALL_NAME(member) const char *member;
#define FAULT_CALL_BYTE(member) uint8_t member;
#define FAULT_CALL_PATH(member) int32_t member;
#define FAULT_FILTER(member, type, saved, least, most, only, text) FAULT_CALL_##type(member)
#include "zvmlab/fault_fields.def"
};

/**
 * Is a fault due at @point?  What the agent's channel does (CP_AGENT_USERID is
 * @call's user or name) matches only rules that name it.
 */
struct fault_action fault_check(struct cp *cp, enum fault_point point,
				const struct fault_call *call);
/** The same for the guest itself and no path; @name: "" or what it names. */
struct fault_action fault_of_guest(struct cp *cp, enum fault_point point, const char *name);

#endif
