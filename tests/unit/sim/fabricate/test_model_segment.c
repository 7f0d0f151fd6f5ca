/* SPDX-License-Identifier: MIT */
/* Framing: where sets go, what is lost when nobody reads, what is refused. */
#include "model_check.h"

static struct mc_system s;

static void setup(void)
{
	mc_fill(&s);
}

CASE("sets", setup, NULL);

static void ck_refused(const char *text)
{
	char err[256] = "";

	ck_assert_ptr_null(model_open(&s.config, err, sizeof(err)));
	ck_assert_msg(strstr(err, text) != NULL, "\"%s\" is not in \"%s\"", text, err);
}

TEST(order_of_sets)
{
	static const uint32_t kinds[] = { AREA_SAMPLE_CONFIG, AREA_EVENT_CONFIG, AREA_SAMPLE };
	struct model *m;
	struct model_set set;
	uint64_t tod = 0;
	uint32_t samples = 0;

	m = mc_open(&s);
	for (unsigned int i = 0; model_next(m, &set); i++) {
		if (i < COUNT(kinds))
			ck_assert_uint_eq(set.kind, kinds[i]);
		ck_assert_uint_eq(set.number, i + 1);
		ck_assert_uint_ge(set.tod, tod);
		tod = set.tod;
		samples += set.kind == AREA_SAMPLE;
		ck_assert_uint_eq(set.type, set.kind >= AREA_EVENT_CONFIG ? 0xc5 : 0xe2);
	}
	ck_assert_uint_eq(samples, 11);
	ck_assert(!model_next(m, &set));
	model_close(m);
}

/* Sets lie in their area, each at the next frame, and begin again at its low end. */
TEST(places)
{
	struct model *m;
	struct model_set set;
	uint32_t next[AREA_KINDS] = { 0 }, wraps = 0;

	s.config.seconds = 40 * 60;
	s.config.area = (struct area_wish){ 256, 240, 6, 2, 241 };
	m = mc_open(&s);
	while (model_next(m, &set)) {
		const struct ring *ring = &m->segment.ring[set.kind];
		const uint32_t base = (s.config.segment + ring->base) * AREA_PAGE_SIZE;
		const uint32_t frames = (set.len + AREA_PAGE_SIZE - 1) / AREA_PAGE_SIZE;

		ck_assert_uint_eq(set.start % AREA_PAGE_SIZE, 0);
		if (set.start != base + next[set.kind] * AREA_PAGE_SIZE) {
			ck_assert_uint_eq(set.start, base);
			ck_assert_uint_gt(next[set.kind] + frames, ring->size);
			wraps++;
		}
		next[set.kind] = (set.start - base) / AREA_PAGE_SIZE + frames;
		ck_assert_uint_le(next[set.kind], ring->size);
		ck_assert_uint_ge(set.mca_start, (s.config.segment + ring->mca) * AREA_PAGE_SIZE);
		ck_assert_uint_lt(set.mca_start, base);
		ck_assert_uint_eq(set.mca_start % AREA_CONTROL_UNIT, 0);
	}
	ck_assert_uint_gt(wraps, 5);
	model_close(m);
}

static uint64_t hash_of(struct model *m)
{
	uint64_t hash = 14695981039346656037u;
	struct model_set set;

	while (model_next(m, &set))
		for (uint32_t i = 0; i < set.len; i++)
			hash = (hash ^ set.data[i]) * 1099511628211u;
	model_close(m);
	return hash;
}

TEST(same_seed_same_bytes)
{
	const uint64_t first = hash_of(mc_open(&s));

	ck_assert_uint_eq(first, hash_of(mc_open(&s)));
	s.config.seed++;
	ck_assert_uint_ne(first, hash_of(mc_open(&s)));
}

/* Nobody reads for a while: 255 sets at most are unread, and none of those is touched. */
TEST(at_most_255_are_unread)
{
	struct model_totals totals;
	struct model_set set;
	struct model *m;

	s.config.seconds = 3600;
	s.config.interval = 6;
	s.config.reader = 0;
	s.config.area.pages = 16384;
	m = mc_open(&s);
	while (model_next(m, &set))
		;
	model_totals(m, &totals);
	ck_assert_uint_eq(totals.sets, 255);
	ck_assert_uint_eq(m->segment.outstanding, 255);
	ck_assert_uint_gt(totals.sets_lost, 500);
	ck_assert_uint_eq(m->numbers, totals.sets + totals.sets_lost);
	ck_assert_uint_eq(totals.suspensions, 0);
	model_close(m);
}

/* A slow reader gets everything as long as there is room. */
TEST(slow_reader)
{
	struct model_totals totals;
	struct model_set set;
	struct model *m;

	s.config.reader = 5;
	m = mc_open(&s);
	while (model_next(m, &set))
		ck_assert_uint_lt(m->segment.outstanding, 40);
	model_totals(m, &totals);
	ck_assert_uint_eq(totals.sets_lost + totals.suspensions, 0);
	model_close(m);
}

static uint32_t lost_in(const struct model_set *set)
{
	if (set->kind != AREA_EVENT || set->data[4] != 1 || get_be16(set->data + 6) != 3)
		return 0;
	ck_assert_uint_eq(get_be16(set->data), 24);
	return get_be32(set->data + 20);
}

TEST(suspension)
{
	struct model_totals totals;
	struct model_set set;
	struct model *m;
	uint64_t lost = 0;

	s.config.area = (struct area_wish){ 256, 12, 40, 2, 241 };
	s.config.reader = 40;
	mc_act(&s, 60, MODEL_STORM, 0, 0, 2000);
	mc_act(&s, 120, MODEL_STORM, 0, 0, 0);
	m = mc_open(&s);
	while (model_next(m, &set))
		lost += lost_in(&set);
	model_totals(m, &totals);
	ck_assert_uint_gt(totals.suspensions, 10);
	ck_assert_uint_eq(lost, totals.records_lost);
	ck_assert_uint_gt(lost, 10000);
	model_close(m);
}

/* Lengths and offsets of the release, or of the nearest one that is public. */
TEST(releases)
{
	struct plans plans;

	plans_make(&plans, &rows_sample, 530);
	ck_assert_uint_eq(plans.plan[1].len, 108);	/* D0R2 */
	plans_make(&plans, &rows_sample, 620);
	ck_assert_uint_eq(plans.plan[1].len, 140);
	plans_make(&plans, &rows_sample, 520);		/* 5.1 and 5.3 are as near */
	ck_assert_uint_eq(plans.plan[1].len, 104);
	for (unsigned int release = 420; release <= 750; release += 10) {
		plans_make(&plans, &rows_event, release);
		for (uint32_t i = 0; i < plans.count; i++)
			for (uint32_t k = 0; k < plans.plan[i].puts; k++)
				ck_assert_uint_le(plans.plan[i].put[k].offset +
						  plans.plan[i].put[k].width, plans.plan[i].len);
	}
}

TEST(fields_of_any_width)
{
	const struct plan plan = {
		.puts = 5,
		.put = { { 20, 0, 1 }, { 21, 0, 3 }, { 24, 0, 4 }, { 28, 0, 8 }, { 36, 8, 6 } },
	};
	const uint64_t values[] = { UINT64_C(0x0102030405060708), UINT64_C(0xaabbccddeeff) };
	static const uint8_t wanted[] = {
		0x08, 0x06, 0x07, 0x08, 0x05, 0x06, 0x07, 0x08, 0x01, 0x02, 0x03,
		0x04, 0x05, 0x06, 0x07, 0x08, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
	};
	uint8_t record[42] = { 0 };

	plan_fill(record, &plan, values);
	ck_assert_mem_eq(record + 20, wanted, sizeof(wanted));
}

TEST(what_is_refused)
{
	s.config.processors = 0;
	ck_refused("0 processors: 1 to 64 are possible");
	mc_fill(&s);
	s.config.users = MODEL_MAX_USERS + 1;
	ck_refused("65537 users: at most 65536 are possible");
	mc_fill(&s);
	s.config.devices = MODEL_MAX_DEVICES + 1;
	ck_refused("4097 devices");
	mc_fill(&s);
	s.config.patterns = 0;
	ck_refused("0 patterns");
	mc_fill(&s);
	s.config.actions = MODEL_MAX_ACTIONS + 1;
	ck_refused("65537 actions");
	mc_fill(&s);
	s.config.seconds = 0;
	ck_refused("0 seconds");
	mc_fill(&s);
	s.config.interval = 5;
	ck_refused("an interval of 5 s");
	mc_fill(&s);
	s.config.segment = 0x7fff0;
	ck_refused("a segment of 2048 pages at page 7FFF0");
	mc_fill(&s);
	s.config.block = 11;
	ck_refused("blocks of 11 pages");
}

TEST(parts_that_are_refused)
{
	s.user[2].share = 0;
	ck_refused("user 2 is out of the bounds");
	mc_fill(&s);
	s.user[3].name[0] = '\0';
	ck_refused("user 3 is out of the bounds");
	mc_fill(&s);
	s.pattern[0].percent[5] = 1001;
	ck_refused("pattern 0 has 1001 %");
	mc_fill(&s);
	s.processor[1].type = 6;
	ck_refused("processor 1 has the type 6");
	mc_fill(&s);
	s.device[1].number = 0x600;
	ck_refused("device 1 is out of the bounds");
	mc_fill(&s);
	mc_act(&s, 0, MODEL_LOGON, 5, 2, 0);
	ck_refused("action 0 is out of the bounds");
	mc_fill(&s);
	mc_act(&s, 0, MODEL_ACTIONS, 0, 0, 0);
	ck_refused("action 0 is out of the bounds");
	mc_fill(&s);
	mc_act(&s, 9, MODEL_EVENT, 0, 0, 0);
	mc_act(&s, 9, MODEL_LOGON, 0, 1, 0);
	ck_refused("action 1 comes too late");
}

TEST(segments_that_are_refused)
{
	s.config.area.pages = 7;
	ck_refused("a segment of 7 pages is too small");
	mc_fill(&s);
	s.config.area.sample_config = 1024;
	ck_refused("the configuration areas do not fit into the segment of 2048 pages");
	mc_fill(&s);
	s.config.area = (struct area_wish){ 16, 8, 2, 2, 241 };
	s.user[0].processors = 64;
	ck_refused("the configuration of 6 users and 3 processors does not fit");
	mc_fill(&s);
	s.config.area = (struct area_wish){ 16, 10, 4, 2, 241 };
	ck_refused("a sample of 6 users does not fit into the 1 pages");
}

/* A command at the very beginning is what it begins with; later ones are recorded. */
TEST(commands)
{
	struct model_set set;
	struct model *m;
	uint32_t changes = 0;

	mc_act(&s, 0, MODEL_SAMPLE, 0, 0, 0xc000);
	mc_act(&s, 60, MODEL_SAMPLE, 0, 0, 0xc800);
	mc_act(&s, 60, MODEL_EVENT, 0, 0, 0x4000);
	strcpy(s.action[1].text, "MONITOR SAMPLE ENABLE USER ALL");
	strcpy(s.action[2].text, "MONITOR EVENT DISABLE ALL");
	m = mc_open(&s);
	while (model_next(m, &set)) {
		const uint16_t number = get_be16(set.data + 6);

		if (set.kind == AREA_SAMPLE)
			ck_assert_uint_eq(set.domains, set.tod < model_tod(m, 60000) ? 0xc000 :
								   0xc800);
		if (set.kind != AREA_SAMPLE_CONFIG || number != 10)
			continue;
		changes++;
		ck_assert_uint_eq(get_be16(set.data), 62);
		ck_assert_uint_eq(get_be64(set.data + 20), model_tod(m, 60000));
		ck_assert_uint_eq(get_be32(set.data + 28), 30);
	}
	ck_assert_uint_eq(changes, 1);
	ck_assert_uint_eq(m->system.event_domains, 0x4000);
	model_close(m);
}
