/* SPDX-License-Identifier: MIT */
/* Fault rules: which are accepted, when they fire, what they report. */
#include "fixture.h"

#include <stdio.h>

#include "cp_private.h"
#include "zvmlab/fault.h"
#include "zvmlab/trace.h"

static char err[256];

static struct fault_rule send_rule(enum fault_when when, uint32_t n)
{
	return (struct fault_rule){
		.point = FAULT_IUCV_SEND, .path = FAULT_ANY_PATH, .when = when, .n = n,
		.kind = FAULT_RC, .value = 3,
	};
}

static void refused(const struct fault_rule *rule, const char *sentence)
{
	struct fault_status status;

	ck_assert_int_eq(fault_arm(fx.cp, rule, err, sizeof(err)), -1);
	ck_assert_str_eq(err, sentence);
	ck_assert(!fault_status(fx.cp, 0, &status));
}

static struct fault_action check(enum fault_point point, int32_t path, const char *name)
{
	const struct fault_call call = { .path = path, .user = "LINUX001", .name = name };

	return fault_check(fx.cp, point, &call);
}

static enum fault_kind send_by(const char *name)
{
	return check(FAULT_IUCV_SEND, 5, name).kind;
}

/* Which of @count calls a rule fires on, as "..x..". */
static const char *pattern(const struct fault_rule *rule, unsigned int count)
{
	static char text[64];
	int id = fx_arm(rule);

	ck_assert_uint_lt(count, sizeof(text));
	for (unsigned int i = 0; i < count; i++)
		text[i] = send_by("BOB") == FAULT_NONE ? '.' : 'x';
	text[count] = '\0';
	ck_assert_int_eq(fault_disarm(fx.cp, id), 1);
	return text;
}

CASE("rules", fx_setup, fx_teardown);

TEST(names_and_kinds)
{
	static const char *const kinds[FAULT_KINDS] = {
		"none", "cc", "rc", "pgm", "drop", "delay", "duplicate", "reorder", "corrupt",
		"sever", "limit",
	};

	for (unsigned int i = 0; i < FAULT_KINDS; i++)
		ck_assert_str_eq(fault_kind_info[i].name, kinds[i]);
	for (unsigned int i = 0; i < FAULT_POINTS; i++) {
		ck_assert_uint_ne(fault_point_info[i].kinds, 0);
		ck_assert_uint_eq(fault_point_info[i].kinds & FAULT_BIT(FAULT_NONE), 0);
		ck_assert_str_ne(fault_point_info[i].text, "");
		for (unsigned int j = 0; j < i; j++)
			ck_assert_str_ne(fault_point_info[i].name, fault_point_info[j].name);
	}
	ck_assert_str_eq(fault_point_info[FAULT_INTERRUPT].name, "interrupt");
}

/* A point of a new name needs a program that carries out its faults: fault_pairs.h. */
TEST(every_point_has_its_program)
{
	static const char *const prefixes[] = {
		"iucv.", "interrupt", "peer.", "diag", "monitor.", "appldata.", "msg.",
		"segment.content", "segment.load", "page.", "watchdog.",
		"recording.", "machine.", "spool.", "hmc.", "disk.", "console.",
	};

	for (unsigned int i = 0; i < FAULT_POINTS; i++) {
		const char *name = fault_point_info[i].name;
		bool found = false;

		for (size_t j = 0; j < sizeof(prefixes) / sizeof(prefixes[0]); j++)
			found |= strncmp(name, prefixes[j], strlen(prefixes[j])) == 0;
		ck_assert_msg(found, "%s is tested by no program", name);
	}
}

TEST(values_of_kinds)
{
	ck_assert_uint_eq(fault_value_max(FAULT_IUCV_SEND, FAULT_RC), 255);
	ck_assert_uint_eq(fault_value_max(FAULT_IUCV_SET_CONTROL_MASK, FAULT_RC), 255);
	ck_assert_uint_eq(fault_value_max(FAULT_DIAG_COMMAND, FAULT_RC), UINT32_MAX);
	ck_assert_uint_eq(fault_value_max(FAULT_IUCV_SEND, FAULT_CC), 3);
	ck_assert_uint_eq(fault_value_max(FAULT_INTERRUPT, FAULT_DROP), 0);
	/* A return code of IUCV is a byte; what corrupts an interruption changes one of its 40. */
	for (enum fault_point point = 0; point < FAULT_POINTS; point++) {
		const char *name = fault_point_info[point].name;
		const bool interruption = strcmp(name, "interrupt") == 0 || strncmp(name, "peer.", 5) == 0;

		ck_assert_uint_eq(fault_value_max(point, FAULT_RC),
				  strncmp(name, "iucv.", 5) == 0 ? 255 : UINT32_MAX);
		ck_assert_uint_eq(fault_offset_max(point), interruption ? 39 : UINT32_MAX);
	}
}

TEST(refuses_kind)
{
	struct fault_rule rule = send_rule(FAULT_ALWAYS, 0);
	char text[64];

	rule.kind = FAULT_DELAY;
	refused(&rule, "fault point iucv.send cannot carry out delay; it can do cc rc pgm drop sever");
	rule.kind = FAULT_NONE;
	refused(&rule, "fault point iucv.send cannot carry out none; it can do cc rc pgm drop "
		       "sever");
	rule.kind = FAULT_KINDS;
	refused(&rule, "fault point iucv.send cannot carry out an unknown kind; it can do cc rc "
		       "pgm drop sever");
	rule.point = FAULT_POINTS;
	snprintf(text, sizeof(text), "there is no fault point with number %d", FAULT_POINTS);
	refused(&rule, text);
}

TEST(refuses_value)
{
	struct fault_rule rule = send_rule(FAULT_ALWAYS, 0);

	rule.value = 256;
	refused(&rule, "fault rc takes a value of 0 to 255, not 256");
	rule.kind = FAULT_CC;
	rule.value = 4;
	refused(&rule, "fault cc takes a value of 0 to 3, not 4");
	rule.kind = FAULT_PGM;
	rule.value = 0;
	refused(&rule, "fault pgm takes a value of 1 to 127, not 0");
	rule.kind = FAULT_DROP;
	rule.value = 1;
	refused(&rule, "fault drop takes a value of 0 to 0, not 1");
	rule.value = 0;
	rule.offset = 1;
	refused(&rule, "fault drop takes no offset; only corrupt does");
	rule.point = FAULT_INTERRUPT;
	rule.kind = FAULT_CORRUPT;
	rule.value = 1;
	rule.offset = 40;
	refused(&rule, "offset 40 lies outside the interruption's 40 bytes");
	rule.offset = 39;
	ck_assert_int_gt(fx_arm(&rule), 0);
}

TEST(accepts_long_rc_elsewhere)
{
	ck_arm(FAULT_DIAG64_LOADSHR, FAULT_RC, .value = 263);
	ck_assert_uint_eq(check(FAULT_DIAG64_LOADSHR, FAULT_ANY_PATH, "X").value, 263);
}

TEST(refuses_filter)
{
	struct fault_rule rule = send_rule(FAULT_NTH, 0);

	refused(&rule, "the fault rule's n is 0; it must be 1 to 4294967295");
	rule = send_rule(FAULT_PROBABILITY, 1000001);
	refused(&rule, "the fault rule's n is 1000001; it must be 1 to 1000000");
	rule = send_rule((enum fault_when)4, 1);
	refused(&rule, "a fault rule fires always, at the nth call, every n calls or with a "
		       "probability, not \"4\"");
	rule = send_rule(FAULT_ALWAYS, 0);
	rule.path = 65536;
	refused(&rule, "the fault rule's path is 65536; it must be 0 to 65535");
	rule.path = -2;
	refused(&rule, "the fault rule's path is 4294967294; it must be 0 to 65535");
	rule.path = 0;
	memset(rule.name, 'A', sizeof(rule.name));
	refused(&rule, "the fault rule's name is longer than 8 characters");
	memset(rule.user, 'A', sizeof(rule.user));
	refused(&rule, "the fault rule's user is longer than 8 characters");
	rule = send_rule(FAULT_ALWAYS, 0);
	rule.type = IUCV_MSG_PENDING;
	refused(&rule, "the fault rule's type is for the point interrupt only");
	rule = (struct fault_rule){ .point = FAULT_INTERRUPT, .kind = FAULT_DROP, .type = 10 };
	refused(&rule, "the fault rule's type is 10; it must be 1 to 9");
}

TEST(limit_of_rules)
{
	struct fault_rule rule = send_rule(FAULT_ALWAYS, 0);
	struct fault_status status;

	for (int i = 1; i <= FAULT_MAX_RULES; i++)
		ck_assert_int_eq(fx_arm(&rule), i);
	ck_assert_int_eq(fault_arm(fx.cp, &rule, err, sizeof(err)), -1);
	ck_assert_str_eq(err,
			 "128 fault rules are armed, which is the limit; disarm one first");
	ck_assert_int_eq(fault_disarm(fx.cp, 2), 1);
	ck_assert_int_eq(fault_disarm(fx.cp, 2), 0);
	ck_assert(fault_status(fx.cp, 1, &status));
	ck_assert_int_eq(status.id, 3);
	ck_assert_int_eq(fx_arm(&rule), FAULT_MAX_RULES + 1);
	ck_assert(!fault_status(fx.cp, FAULT_MAX_RULES, &status));
	ck_assert_int_eq(fault_disarm(fx.cp, 0), FAULT_MAX_RULES);
	ck_assert(!fault_status(fx.cp, 0, &status));
}

TEST(when_it_fires)
{
	struct fault_rule rule = send_rule(FAULT_ALWAYS, 0);

	ck_assert_str_eq(pattern(&rule, 4), "xxxx");
	rule.times = 2;
	ck_assert_str_eq(pattern(&rule, 4), "xx..");
	rule = send_rule(FAULT_NTH, 3);
	ck_assert_str_eq(pattern(&rule, 8), "..x.....");
	rule = send_rule(FAULT_EVERY, 3);
	ck_assert_str_eq(pattern(&rule, 9), "..x..x..x");
	rule.times = 1;
	ck_assert_str_eq(pattern(&rule, 9), "..x......");
	rule = send_rule(FAULT_PROBABILITY, 1000000);
	ck_assert_str_eq(pattern(&rule, 4), "xxxx");
}

TEST(probability_follows_the_seed)
{
	struct fault_rule rule = send_rule(FAULT_PROBABILITY, 300000);
	const char *const seed[] = { "seed", "7", NULL };
	char first[64];
	unsigned int fired = 0;

	for (int run = 0; run < 2; run++) {
		fx_teardown();
		fx_setup_with(seed);
		if (run == 0)
			strcpy(first, pattern(&rule, 60));
	}
	ck_assert_str_eq(pattern(&rule, 60), first);
	for (const char *c = first; *c; c++)
		fired += *c == 'x';
	ck_assert_uint_gt(fired, 5);
	ck_assert_uint_lt(fired, 40);
	ck_assert_str_ne(pattern(&rule, 60), first);
}

TEST(filters)
{
	struct fault_rule rule = send_rule(FAULT_ALWAYS, 0);
	struct fault_status status;

	rule.path = 5;
	strcpy(rule.name, "bob");
	strcpy(rule.user, "linux001");
	fx_arm(&rule);
	ck_assert_int_eq(send_by("BOB"), FAULT_RC);
	ck_assert_int_eq(send_by("ALICE"), FAULT_NONE);
	ck_assert_int_eq(check(FAULT_IUCV_SEND, 6, "BOB").kind, FAULT_NONE);
	ck_assert_int_eq(check(FAULT_IUCV_SEND, FAULT_ANY_PATH, "BOB").kind,
			 FAULT_NONE);
	ck_assert_int_eq(check(FAULT_IUCV_REPLY, 5, "BOB").kind, FAULT_NONE);
	ck_assert_int_eq(fault_check(fx.cp, FAULT_IUCV_SEND, &(struct fault_call){
		.path = 5, .user = "OTHER", .name = "BOB" }).kind, FAULT_NONE);
	ck_assert(fault_status(fx.cp, 0, &status));
	ck_assert_uint_eq(status.matched, 1);
	ck_assert_uint_eq(status.fired, 1);
	ck_assert_uint_eq(fault_reached(fx.cp, FAULT_IUCV_SEND), 5);
	ck_assert_uint_eq(fault_reached(fx.cp, FAULT_IUCV_REPLY), 1);
}

TEST(agent_is_exempt_unless_named)
{
	struct fault_rule rule = send_rule(FAULT_NTH, 1);

	fx_arm(&rule);
	ck_assert_int_eq(send_by(CP_AGENT_USERID), FAULT_NONE);
	ck_assert_uint_eq(fault_reached(fx.cp, FAULT_IUCV_SEND), 0);
	ck_assert_int_eq(send_by("BOB"), FAULT_RC);
	strcpy(rule.name, CP_AGENT_USERID);
	fx_arm(&rule);
	ck_assert_int_eq(send_by("BOB"), FAULT_NONE);
	ck_assert_int_eq(send_by(CP_AGENT_USERID), FAULT_RC);
	fault_disarm(fx.cp, 0);
	rule.name[0] = '\0';
	strcpy(rule.user, CP_AGENT_USERID);
	fx_arm(&rule);
	ck_assert_int_eq(send_by("BOB"), FAULT_NONE);
	ck_assert_int_eq(fault_check(fx.cp, FAULT_IUCV_SEND, &(struct fault_call){
		.path = 5, .user = CP_AGENT_USERID, .name = "LINUX001" }).kind, FAULT_RC);
}

TEST(first_rule_wins_and_all_count)
{
	struct fault_rule rule = send_rule(FAULT_NTH, 2);
	struct fault_status status;

	fx_arm(&rule);
	rule.kind = FAULT_CC;
	rule.value = 2;
	rule.when = FAULT_ALWAYS;
	fx_arm(&rule);
	ck_assert_int_eq(send_by("BOB"), FAULT_CC);
	ck_assert_int_eq(send_by("BOB"), FAULT_RC);
	ck_assert_int_eq(send_by("BOB"), FAULT_CC);
	ck_assert(fault_status(fx.cp, 1, &status));
	ck_assert_uint_eq(status.matched, 3);
	ck_assert_uint_eq(status.fired, 2);
}

TEST(reports)
{
	struct fault_rule rule = { .point = FAULT_INTERRUPT, .path = 9, .kind = FAULT_CORRUPT,
				   .value = 0x80, .offset = 3 };
	struct fault_action action;
	int id = fx_arm(&rule);

	fx.trace_len = 0;
	trace_begin(fx.cp, 0, "test");
	action = check(FAULT_INTERRUPT, 9, "BOB");
	trace_end(fx.cp);
	ck_assert_int_eq(action.kind, FAULT_CORRUPT);
	ck_assert_uint_eq(action.value, 0x80);
	ck_assert_uint_eq(action.offset, 3);
	ck_assert_uint_eq(fx.events[CP_EVENT_FAULT], 1);
	ck_assert_str_eq(fx.last_event.text, "interrupt");
	ck_assert_str_eq(fx.last_event.name, "BOB");
	ck_assert_uint_eq(fx.last_event.path, 9);
	ck_assert_uint_eq(fx.last_event.value, (uint64_t)id);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"test\",\"fault\":\"interrupt\",\"rule\":1}"));
}

/* A rule for any path names none. */
TEST(path_in_the_trace)
{
	struct fault_rule rule = { .point = FAULT_INTERRUPT, .path = FAULT_ANY_PATH };

	for (unsigned int i = 0; i < 2; i++) {
		fx.trace_len = 0;
		trace_begin(fx.cp, 0, "test");
		fault_part.trace_rule(fx.cp, &rule);
		trace_end(fx.cp);
		ck_assert((strstr(fx.trace, "\"path\":\"9\"") != NULL) == i);
		ck_assert((strstr(fx.trace, "\"path\"") != NULL) == i);
		rule.path = 9;
	}
}

/* A new rule has none of its fields; what one of them is given stays in that one. */
TEST(fields_of_a_new_rule)
{
	for (enum fault_field field = 0; field < FAULT_FIELDS; field++) {
		struct fault_rule rule = fault_rule_new();

		for (enum fault_field other = 0; other < FAULT_FIELDS; other++)
			ck_assert_msg(fault_absent(&rule, other), "%s", fault_field_info[other].name);
		if (fault_field_info[field].type == FAULT_TYPE_NAME)
			strcpy(fault_name(&rule, field), "BOB");
		else
			fault_set_number(&rule, field, 1);
		for (enum fault_field other = 0; other < FAULT_FIELDS; other++)
			ck_assert_msg(fault_absent(&rule, other) == (other != field), "%s, %s",
				      fault_field_info[field].name, fault_field_info[other].name);
	}
}
