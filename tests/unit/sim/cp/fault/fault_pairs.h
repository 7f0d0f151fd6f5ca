/* SPDX-License-Identifier: MIT */
/*
 * Every kind of fault at every point: a program tests the points whose names
 * begin as it says, and fails if one of them, or one of its kinds, has no test.
 */
#ifndef FAULT_PAIRS_H
#define FAULT_PAIRS_H

#include "fixture.h"
#include "zvmlab/fault.h"

#define FAULT_PAIRS_MAX (FAULT_POINTS * FAULT_KINDS)

static struct {
	enum fault_point point;
	enum fault_kind kind;
} pair[FAULT_PAIRS_MAX];

/* Fill pair[] with those at points that begin with one of @prefixes; return: how many. */
static inline int pairs_of(const char *const *prefixes)
{
	int count = 0;

	for (enum fault_point point = 0; point < FAULT_POINTS; point++) {
		bool ours = false;

		for (const char *const *p = prefixes; *p; p++)
			ours |= strncmp(fault_point_info[point].name, *p, strlen(*p)) == 0;
		for (enum fault_kind kind = FAULT_NONE + 1; ours && kind < FAULT_KINDS; kind++) {
			if (!(fault_point_info[point].kinds & FAULT_BIT(kind)))
				continue;
			pair[count].point = point;
			pair[count++].kind = kind;
		}
	}
	return count;
}

/* No other kind is accepted at the points of pair[]. */
static inline void ck_others_refused(int pairs)
{
	char err[256];

	for (int i = 0; i < pairs; i++) {
		for (enum fault_kind kind = FAULT_NONE; kind < FAULT_KINDS; kind++) {
			const struct fault_rule rule = {
				.point = pair[i].point, .path = FAULT_ANY_PATH, .kind = kind,
				.value = fault_kind_info[kind].min,
			};
			const bool possible =
				(fault_point_info[rule.point].kinds & FAULT_BIT(kind)) != 0;

			ck_assert_int_eq(fault_arm(fx.cp, &rule, err, sizeof(err)) > 0, possible);
			fault_disarm(fx.cp, 0);
		}
	}
}

/* Armed once, for the next call. */
static inline void arm_pair(int i, uint32_t value, uint32_t offset)
{
	ck_arm(pair[i].point, pair[i].kind, .times = 1, .value = value, .offset = offset);
}

/* The rule has fired. */
static inline void ck_fired(void)
{
	struct fault_status status;

	ck_assert(fault_status(fx.cp, 0, &status));
	ck_assert_uint_eq(status.fired, 1);
}

#define ck_no_test(i) \
	ck_abort_msg("%s %s has no test", fault_point_info[pair[i].point].name, \
		     fault_kind_info[pair[i].kind].name)

#endif
