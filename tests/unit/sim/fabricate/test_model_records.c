/* SPDX-License-Identifier: MIT */
/* Which records a set has, one for each of what there is, and what they say of it. */
#include "model_check.h"

static struct mc_system s;

static void setup(void)
{
	mc_fill(&s);
}

CASE("records", setup, NULL);

/* The last set of @kind that comes up to @second. */
static struct model *last_set(struct model_set *last, uint32_t kind, uint32_t second)
{
	struct model *m = mc_open(&s);
	struct model_set set;
	bool found = false;

	while (!found || m->now < second * UINT64_C(1000)) {
		ck_assert(model_next(m, &set));
		if (set.kind != kind)
			continue;
		*last = set;
		found = true;
		if (kind != AREA_SAMPLE)
			break;
	}
	return m;
}

/*
 * Of a record: how many there are when all is there, and when CPU 2, the disk and a user are not;
 * its length in z/VM 5.3.
 */
static const struct { unsigned int domain, number, all, without, len; } counts[] = {
	{ 0, 1, 3, 2, 116 }, { 0, 2, 3, 2, 108 }, { 0, 3, 1, 1, 492 }, { 0, 4, 3, 2, 72 }, { 0, 6, 1, 1, 84 },
	{ 0, 8, 1, 1, 100 }, { 0, 11, 3, 2, 272 }, { 0, 12, 1, 1, 160 }, { 0, 13, 3, 2, 40 }, { 0, 15, 1, 1, 56 },
	{ 0, 19, 1, 1, 112 }, { 3, 1, 1, 1, 352 }, { 3, 2, 3, 2, 364 }, { 3, 4, 1, 1, 172 }, { 4, 3, 6, 5, 440 },
	{ 4, 4, 6, 5, 228 },
	{ 5, 3, 3, 2, 384 }, { 5, 12, 3, 2, 800 }, { 6, 3, 4, 3, 260 }, { 6, 24, 1, 1, 316 }, { 6, 26, 1, 1, 348 },
	{ 8, 1, 6, 5, 316 }, { 10, 2, 6, 5, 92 },
};

TEST(one_for_each)
{
	struct model_set set;
	struct model *m = last_set(&set, AREA_SAMPLE, 60);

	for (unsigned int i = 0; i < COUNT(counts); i++) {
		const uint8_t *r = mc_record(&set, counts[i].domain, counts[i].number, 0);

		ck_assert_msg(mc_count(&set, counts[i].domain, counts[i].number) == counts[i].all,
			      "D%uR%u", counts[i].domain, counts[i].number);
		ck_assert_uint_eq(get_be16(r), counts[i].len);
	}
	model_close(m);
}

TEST(none_for_what_is_off)
{
	struct model_set set;
	struct model *m;

	mc_act(&s, 60, MODEL_PROCESSOR, 2, 1, 0);
	mc_act(&s, 60, MODEL_DEVICE, 1, 1, 0);
	mc_act(&s, 60, MODEL_LOGOFF, 5, 1, 0);
	m = last_set(&set, AREA_SAMPLE, 180);
	for (unsigned int i = 0; i < COUNT(counts); i++)
		ck_assert_msg(mc_count(&set, counts[i].domain, counts[i].number) == counts[i].without,
			      "D%uR%u", counts[i].domain, counts[i].number);
	model_close(m);
}

/* Records of the configuration: the system once, each processor, domain and virtual processor. */
TEST(configuration)
{
	struct model_set set;
	struct model *m;

	s.user[1].processors = 3;
	s.user[2].logged_on = 0;
	m = last_set(&set, AREA_SAMPLE_CONFIG, 0);
	ck_assert_uint_eq(mc_count(&set, 1, 4), 1);
	ck_assert_uint_eq(mc_count(&set, 1, 5), 3);
	ck_assert_uint_eq(mc_count(&set, 1, 7), 1);
	ck_assert_uint_eq(mc_count(&set, 1, 9), 1);
	ck_assert_uint_eq(mc_count(&set, 1, 15), 4 + 3);
	for (unsigned int cpu = 0; cpu < MC_CPUS; cpu++)
		ck_assert_uint_eq(get_be16(mc_record(&set, 1, 5, cpu) + 20), cpu);
	model_close(m);
}

/* D5R1 and D5R2 begin with the address of the processor. */
TEST(processors_come_and_go)
{
	unsigned int came = 0, went = 0;
	struct model_set set;
	struct model *m;

	mc_act(&s, 60, MODEL_PROCESSOR, 1, 2, 0);
	mc_act(&s, 120, MODEL_PROCESSOR, 1, 2, 1);
	m = mc_open(&s);
	while (model_next(m, &set)) {
		if (set.kind != AREA_EVENT)
			continue;
		for (unsigned int i = 0; i < mc_count(&set, 5, 1); i++)
			ck_assert_uint_eq(get_be16(mc_record(&set, 5, 1, i) + 20), 1 + came++);
		for (unsigned int i = 0; i < mc_count(&set, 5, 2); i++)
			ck_assert_uint_eq(get_be16(mc_record(&set, 5, 2, i) + 20), 1 + went++);
	}
	ck_assert_uint_eq(came, 2);
	ck_assert_uint_eq(went, 2);
	model_close(m);
}

/* Time stamps, 8 bytes at 8, never fall: what happens in a step is recorded in order. */
TEST(events_in_order)
{
	unsigned int records = 0;
	struct model_set set;
	uint64_t last = 0;
	struct model *m;

	mc_act(&s, 60, MODEL_PROCESSOR, 1, 1, 0);
	mc_act(&s, 60, MODEL_DEVICE, 1, 2, 0);
	mc_act(&s, 60, MODEL_LOGOFF, 3, 2, 0);
	mc_act(&s, 120, MODEL_DEVICE, 1, 2, 1);
	mc_act(&s, 120, MODEL_LOGON, 3, 2, 0);
	m = mc_open(&s);
	while (model_next(m, &set)) {
		const uint8_t *r;

		if (set.kind != AREA_EVENT)
			continue;
		for (uint32_t at = 0; at < set.len; at += get_be16(r)) {
			r = set.data + at;
			ck_assert_msg(get_be64(r + 8) >= last, "D%uR%u", r[4], get_be16(r + 6));
			last = get_be64(r + 8);
			records++;
			/* A frame has ended. */
			if (r[4] == 1 && get_be16(r + 6) == 13)
				at = at / AREA_PAGE_SIZE * AREA_PAGE_SIZE + AREA_PAGE_SIZE -
				     get_be16(r);
		}
	}
	ck_assert_uint_gt(records, 100);
	model_close(m);
}

/* D1R2 has the length of the command, and its text in EBCDIC. */
TEST(changes_of_the_monitor)
{
	static const char text[] = "MONITOR EVENT DISABLE ALL";
	uint8_t expected[sizeof(text) - 1];
	bool found = false;
	struct model_set set;
	struct model *m;

	s.action[0] = (struct model_action){ 60, MODEL_EVENT, 0, 0, 0x4000, "" };
	strcpy(s.action[0].text, text);
	s.config.actions = 1;
	ebcdic_encode(expected, text, sizeof(expected));
	m = mc_open(&s);
	while (model_next(m, &set)) {
		const uint8_t *r = set.kind == AREA_EVENT ? mc_record(&set, 1, 2, 0) : NULL;

		if (!r)
			continue;
		found = true;
		ck_assert_uint_eq(get_be16(r), 24 + sizeof(expected));
		ck_assert_uint_eq(get_be32(r + 20), sizeof(expected));
		ck_assert_mem_eq(r + 24, expected, sizeof(expected));
	}
	ck_assert(found);
	model_close(m);
}

/* Two commands of one second are in one block: it is not a second old. */
TEST(two_changes_at_once)
{
	unsigned int blocks = 0;
	struct model_set set;
	struct model *m;

	s.config.event_domains = 0x4000;
	mc_act(&s, 60, MODEL_EVENT, 0, 0, 0x4000);
	mc_act(&s, 60, MODEL_EVENT, 0, 0, 0x4000);
	strcpy(s.action[0].text, "MONITOR EVENT DISABLE SEEKS ALL");
	strcpy(s.action[1].text, "MONITOR EVENT DISABLE USER ALL");
	m = mc_open(&s);
	while (model_next(m, &set)) {
		if (set.kind != AREA_EVENT)
			continue;
		blocks++;
		ck_assert_uint_eq(mc_count(&set, 1, 2), 2);
	}
	ck_assert_uint_eq(blocks, 1);
	model_close(m);
}

/* Without an adapter all that users send reaches users. */
TEST(no_adapter)
{
	uint64_t out = 0, in = 0;
	struct model *m;

	s.device[0] = s.device[1];
	s.device[1] = s.device[2];
	s.config.devices = 2;
	m = mc_open(&s);
	for (m->due = 60000; m->now < 60000;)
		model_step(m);
	for (uint32_t i = 0; i < MC_USERS; i++) {
		out += m->user[i].bytes_out;
		in += m->user[i].bytes_in;
	}
	ck_assert_uint_gt(out, 0);
	ck_assert_uint_eq(in, out);
	model_close(m);
}

/* Pages stolen from users are written, and read when the users need them again. */
TEST(writes_of_users)
{
	uint64_t writes = 0;
	struct model *m;

	s.config.frames = 40000;
	m = mc_open(&s);
	for (m->due = 300000; m->now < 300000;)
		model_step(m);
	for (uint32_t i = 0; i < MC_USERS; i++)
		writes += m->user[i].page_writes;
	ck_assert_uint_gt(m->system.slots_used, 1000);
	ck_assert_uint_eq(writes, m->device[3].page_writes);
	model_close(m);
}

/* An action names what is there. */
TEST_LOOP(actions_out_of_range, 0, 6)
{
	static const struct { uint32_t kind, limit; } kinds[] = {
		{ MODEL_LOGON, MC_USERS }, { MODEL_LOGOFF, MC_USERS }, { MODEL_LOAD, MC_USERS },
		{ MODEL_RUNAWAY, MC_USERS }, { MODEL_PROCESSOR, MC_CPUS },
		{ MODEL_DEVICE, MC_DEVICES },
	};
	const uint32_t limit = kinds[_i].limit;
	const struct { uint32_t first, count; bool good; } ranges[] = {
		{ 0, limit, true }, { limit - 1, 1, true }, { limit, 0, true }, { 0, limit + 1, false },
		{ 1, limit, false }, { limit + 1, 0, false }, { 1, UINT32_MAX, false },
	};

	for (unsigned int i = 0; i < COUNT(ranges); i++) {
		char err[256] = "";
		struct model *m;

		s.config.actions = 0;
		mc_act(&s, 1, kinds[_i].kind, ranges[i].first, ranges[i].count, 0);
		m = model_open(&s.config, err, sizeof(err));
		ck_assert_msg((m != NULL) == ranges[i].good, "%u from %u on: %s", ranges[i].count,
			      ranges[i].first, err);
		model_close(m);
	}
}
