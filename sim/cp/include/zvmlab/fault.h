/* SPDX-License-Identifier: MIT */
/*
 * Fault injection: named points at the CP's decisions, rules that fire there.
 *
 * A caller in the core asks fault_check() at its point and carries out what
 * comes back; which kinds a point can carry out stands in fault_points.def,
 * from which all lists are generated, and rules for others are refused.
 */
#ifndef ZVMLAB_FAULT_H
#define ZVMLAB_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;

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

struct fault_rule {
	enum fault_point point;
	/* Filter: only calls that match all that is given. */
	int32_t path;		/**< path id on the user's side, or FAULT_ANY_PATH */
	char user[9];		/**< whose call it is; "": any */
	char name[9];		/**< partner, service, segment or CP command; "": any */
	uint8_t type;		/**< INTERRUPT: IPTYPE, 1 to 9; 0: any */
	/* When, counted over the calls that match the filter. */
	enum fault_when when;
	uint32_t n;		/**< NTH, EVERY: from 1; PROBABILITY: parts per million */
	uint32_t times;		/**< fire at most so often; 0: no limit */
	/* What. */
	enum fault_kind kind;
	uint32_t value;
	uint32_t offset;	/**< FAULT_CORRUPT: which byte */
};

struct fault_action {
	enum fault_kind kind;
	uint32_t value;
	uint32_t offset;
};

#define FAULT_MAX_RULES 64

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
/** How often each point was reached since creation (for sweeps). */
uint64_t fault_reached(const struct cp *cp, enum fault_point point);

/** What rules can filter by; all that does not apply is "" or FAULT_ANY_PATH. */
struct fault_call {
	int32_t path;		/**< on @user's side */
	const char *user;	/**< whose call, connection or interruption it is */
	const char *name;	/**< its partner, the service, the segment or the CP command */
	uint8_t type;		/**< INTERRUPT: IPTYPE; otherwise 0 */
};

/**
 * Is a fault due at @point?  What the agent's channel does (CP_AGENT_USERID is
 * @call's user or name) matches only rules that name it.
 */
struct fault_action fault_check(struct cp *cp, enum fault_point point,
				const struct fault_call *call);

/** User ID that the harness's agent channel is played under. */
#define CP_AGENT_USERID "ZVMLAB"

#endif
