/* SPDX-License-Identifier: MIT */
/* Fault rules in a saved state: they go on counting, and damage changes nothing. */
#include "fixture.h"

#include <stdlib.h>

#include "cp_private.h"
#include "zvmlab/fault.h"
#include "zvmlab/state.h"

static struct fault_rule send_rule(enum fault_when when, uint32_t n)
{
	return (struct fault_rule){
		.point = FAULT_IUCV_SEND, .path = FAULT_ANY_PATH, .user = "LINUX001",
		.name = "BOB", .when = when, .n = n, .kind = FAULT_RC, .value = 3,
	};
}

static enum fault_kind send_by(const char *name)
{
	const struct fault_call call = { .path = 5, .user = "LINUX001", .name = name };

	return fault_check(fx.cp, FAULT_IUCV_SEND, &call).kind;
}

static uint8_t *save(size_t *len)
{
	struct state s = { 0 };

	fault_part.state_system(fx.cp, &s);
	ck_assert(!s.failed);
	*len = s.len;
	return s.data;
}

static bool load(uint8_t *data, size_t len)
{
	struct state s = { .loading = true, .data = data, .len = len };

	fault_part.state_system(fx.cp, &s);
	return !s.failed && s.pos == len;
}

CASE("state", fx_setup, fx_teardown);

TEST(saves_and_loads)
{
	struct fault_rule rule = send_rule(FAULT_NTH, 3);
	struct fault_status status;
	size_t len;
	uint8_t *data;

	fx_arm(&rule);
	send_by("BOB");
	send_by("BOB");
	data = save(&len);
	ck_assert_int_eq(send_by("BOB"), FAULT_RC);
	fault_disarm(fx.cp, 0);
	ck_assert(load(data, len));
	ck_assert(fault_status(fx.cp, 0, &status));
	ck_assert_int_eq(status.id, 1);
	ck_assert_str_eq(status.rule.user, "LINUX001");
	ck_assert_str_eq(status.rule.name, "BOB");
	ck_assert_uint_eq(status.matched, 2);
	ck_assert_uint_eq(fault_reached(fx.cp, FAULT_IUCV_SEND), 2);
	ck_assert_int_eq(send_by("BOB"), FAULT_RC);
	ck_assert_int_eq(fx_arm(&rule), 2);
	free(data);
}

/* Any image that is too short, and any with one byte changed, loads wholly or not at all. */
TEST(damaged_state_changes_nothing)
{
	struct fault_rule rule = send_rule(FAULT_EVERY, 2);
	struct fault_status status;
	uint8_t *data;
	size_t len;

	fx_arm(&rule);
	data = save(&len);
	for (size_t cut = 0; cut < len; cut++) {
		ck_assert(!load(data, cut));
		ck_assert(fault_status(fx.cp, 0, &status));
		ck_assert_uint_eq(status.rule.n, 2);
	}
	for (size_t at = 0; at < len; at++) {
		data[at] ^= 0xff;
		load(data, len);
		data[at] ^= 0xff;
		if (fault_status(fx.cp, 0, &status))
			ck_assert_uint_lt(status.rule.point, FAULT_POINTS);
		ck_assert(load(data, len));
	}
	free(data);
}
