/* SPDX-License-Identifier: MIT */
/* Data sets: placing in the segment, messages, replies, refusals. */
#include "monitor_peer.h"
#include "monitor/monitor_private.h"

static char err[256];
static uint8_t pattern[8192];

static void setup(void)
{
	fx_setup();
	for (unsigned int i = 0; i < sizeof(pattern); i++)
		pattern[i] = (uint8_t)(i * 7 + i / 256);
}

CASE("sets", setup, fx_teardown);

static void setup_with_segment(const char *segment)
{
	const char *const options[] = { "segment", segment, NULL };

	fx_setup_with(options);
}

TEST(one_set)
{
	struct mon_element element = {
		.type = MCE_EVENT, .domains = MON_DOMAIN_BIT(MON_USER) | MON_DOMAIN_BIT(MON_SSI),
		.byte3 = 0x77, .data = pattern, .len = 5000, .phase = 4095,
	};
	struct peer *p = peer_user(0, WANT_BOTH, 10);
	enum mon_fate fate;
	struct mon_area_info area;
	struct mon_set_info set;
	const uint8_t *mce;

	ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, &element, 1, &fate, err,
					 sizeof(err)), 1);
	ck_assert_int_eq(fate, MON_DELIVERED);
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(peer_last(p)->trgcls, 0xe2c40000);
	mce = peer_mce(peer_last(p), 0);
	ck_assert_uint_eq(mce[MCE_TYPE], MCE_EVENT);
	ck_assert_uint_eq(get_be16(mce + MCE_DOMAINS), 0x0810);
	ck_assert_uint_eq(mce[MCE_RESERVED], 0x77);
	ck_assert(monitor_area(fx.cp, MON_SAMPLE, &area));
	ck_assert_uint_eq(get_be32(mce + MCE_START), area.start + 4095);
	ck_assert_uint_eq(get_be32(mce + MCE_END), area.start + 4095 + 4999);
	ck_assert_mem_eq(fx_at(get_be32(mce + MCE_START), 5000), pattern, 5000);
	ck_assert_uint_eq(area.used, 3 * 4096);
	ck_assert(monitor_set(fx.cp, 1, &set));
	ck_assert_uint_eq(set.mca_start, get_be32(peer_last(p)->rmmsg));
	ck_assert_uint_eq(set.mca_end, get_be32(peer_last(p)->rmmsg + MCA_END));
	ck_assert_uint_eq(set.waiting, 1);
	ck_assert_int_eq(set.kind, MON_SAMPLE);
	ck_assert_uint_eq(peer_info(p).outstanding, 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_MESSAGE], 1);
	peer_reply(p);
	ck_assert(!monitor_set(fx.cp, 1, &set));
	ck_assert(!monitor_set(fx.cp, 0, &set));
	ck_assert_uint_eq(peer_info(p).replied, 1);
	ck_assert_uint_eq(peer_info(p).outstanding, 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_REPLIED], 1);
	ck_assert_uint_eq(fx.last_event.value, 1);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
}

TEST(kinds)
{
	static const uint32_t classes[MON_KINDS] = {
		0xe2c30000, 0xe2c40000, 0xc5c30000, 0xc5c40000,
	};
	struct peer *p = peer_user(0, WANT_BOTH, 10);
	struct mon_area_info area[MON_KINDS];

	for (unsigned int kind = 0; kind < MON_KINDS; kind++) {
		deliver(kind, 100, 0, 1, MON_DELIVERED);
		ck_assert_uint_eq(peer_last(p)->trgcls, classes[kind]);
		ck_assert(monitor_area(fx.cp, kind, &area[kind]));
		ck_assert_uint_eq(area[kind].used, 4096);
		ck_assert_uint_eq(peer_start(peer_last(p), 0), area[kind].start);
		/* The control area lies before the records, never right behind them. */
		ck_assert_uint_lt(get_be32(peer_last(p)->rmmsg), area[kind].start);
	}
	/* 512 pages: event low, sample high, configuration at the low end of each. */
	ck_assert_uint_eq(area[MON_EVENT_CONFIG].start, FX_SEGMENT_START + 2 * 4096);
	ck_assert_uint_eq(area[MON_EVENT_CONFIG].size, 66 * 4096);
	ck_assert_uint_eq(area[MON_EVENT].start, FX_SEGMENT_START + (68 + 5) * 4096);
	ck_assert_uint_eq(area[MON_EVENT].size, (256 - 68 - 5) * 4096);
	ck_assert_uint_eq(area[MON_SAMPLE_CONFIG].start, FX_SEGMENT_START + (256 + 4) * 4096);
	ck_assert_uint_eq(area[MON_SAMPLE_CONFIG].size, 124 * 4096);
	ck_assert_uint_eq(area[MON_SAMPLE].start, FX_SEGMENT_START + (256 + 128 + 4) * 4096);
	ck_assert_uint_eq(area[MON_SAMPLE].start + area[MON_SAMPLE].size, FX_SEGMENT_END + 1);
	ck_assert(!monitor_area(fx.cp, MON_KINDS, &area[0]));
}

/* Elements are packed as densely as their phases allow. */
TEST(packing)
{
	struct mon_element e[4] = {
		{ .type = MCE_SAMPLE, .domains = 1, .data = pattern, .len = 100, .phase = 50 },
		{ .type = MCE_SAMPLE, .domains = 1, .data = pattern, .len = 10, .phase = 150 },
		{ .type = MCE_SAMPLE, .domains = 1, .data = pattern, .len = 10, .phase = 150 },
		{ .type = MCE_SAMPLE, .domains = 1, .data = pattern, .len = 4096, .phase = 0 },
	};
	static const uint32_t offset[4] = { 50, 150, 4246, 8192 };
	struct peer *p = peer_user(0, WANT_BOTH, 10);
	struct mon_area_info area;

	ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, e, 4, NULL, err, sizeof(err)), 1);
	ck_assert(monitor_area(fx.cp, MON_SAMPLE, &area));
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(peer_start(peer_last(p), i), area.start + offset[i]);
	ck_assert_uint_eq(area.used, 3 * 4096);
}

TEST(most_elements)
{
	static struct mon_element e[MON_MAX_MCES + 1];
	struct peer *p = peer_user(0, WANT_BOTH, 10);

	for (unsigned int i = 0; i <= MON_MAX_MCES; i++)
		e[i] = (struct mon_element){ .type = MCE_SAMPLE, .domains = 1, .data = pattern + i,
					     .len = 1, .phase = i };
	ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, e, MON_MAX_MCES, NULL, err,
					 sizeof(err)), 1);
	ck_assert_uint_eq(get_be32(peer_last(p)->rmmsg + MCA_END) -
			  get_be32(peer_last(p)->rmmsg + MCA_START), 4055);
	for (unsigned int i = 0; i < MON_MAX_MCES; i++) {
		const uint8_t *mce = peer_mce(peer_last(p), i);

		ck_assert_uint_eq(get_be32(mce + MCE_START), get_be32(mce + MCE_END));
		ck_assert_uint_eq(*fx_at(get_be32(mce + MCE_START), 1), pattern[i]);
	}
	ck_assert_uint_eq(area_used(MON_SAMPLE), 4096);
	ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, e, MON_MAX_MCES + 1, NULL, err,
					 sizeof(err)), -1);
	ck_assert_str_eq(err, "a data set has 1 to 338 elements, not 339");
}

TEST(hostile)
{
	static const struct {
		struct mon_element e;
		const char *text;
	} bad[] = {
		{ { .len = 1 }, "element 1 of the data set has no data" },
		{ { .data = pattern }, "element 1 of the data set has no data" },
		{ { .data = pattern, .len = 1, .phase = 4096 },
		  "element 1 of the data set begins after its frame; phase is 0 to 4095" },
		{ { .data = pattern, .len = 1, .phase = UINT32_MAX },
		  "element 1 of the data set begins after its frame; phase is 0 to 4095" },
		{ { .data = pattern, .len = UINT32_MAX },
		  "element 1 of the data set is larger than the whole area for its kind" },
		{ { .data = pattern, .len = 124 * 4096, .phase = 1 },
		  "the data set does not fit into the 507904 bytes of the area for its kind" },
	};
	enum mon_fate fate = MON_DELIVERED;

	ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, &bad[0].e, 1, &fate, err, sizeof(err)),
			 -1);
	ck_assert_str_eq(err, "no user is connected to *MONITOR, so no segment is in use");
	ck_assert_int_eq(fate, MON_NO_USER);
	ck_assert_int_eq(monitor_message_raw(fx.cp, MON_SAMPLE, 0, 0, NULL, err, sizeof(err)), -1);
	peer_user(0, WANT_BOTH, 10);
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, &bad[i].e, 1, NULL, err,
						 sizeof(err)), -1);
		ck_assert_str_eq(err, bad[i].text);
		ck_assert_int_eq(monitor_repeat(fx.cp, MON_SAMPLE, &bad[i].e, 1, 1, 1, err,
						sizeof(err)), -1);
		ck_assert_str_eq(err, bad[i].text);
	}
	ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, NULL, 1, NULL, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "a data set has 1 to 338 elements, not 0");
	ck_assert_int_eq(monitor_deliver(fx.cp, MON_KINDS, &bad[0].e, 1, NULL, err,
					 sizeof(err)), -1);
	ck_assert_str_eq(err, "kind 4 of a data set does not exist");
	ck_assert_int_eq(monitor_message_raw(fx.cp, MON_KINDS, 0, 0, NULL, err, sizeof(err)), -1);
	ck_assert_uint_eq(peers[0].messages, 0);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
}

TEST(many_elements_too_large)
{
	static struct mon_element e[200];

	peer_user(0, WANT_BOTH, 10);
	for (unsigned int i = 0; i < 200; i++)
		e[i] = (struct mon_element){ .data = pattern, .len = 4000, .phase = 4095 };
	ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, e, 200, NULL, err, sizeof(err)), -1);
	ck_assert_str_eq(err,
			 "the data set does not fit into the 507904 bytes of the area for "
			 "its kind");
}

/* As large as the whole area, when it is empty, wherever the last set ended. */
TEST(largest_set)
{
	struct peer *p = peer_user(0, WANT_BOTH, 10), *event = peer_user(1, WANT_EVENT, 10);

	for (unsigned int i = 0; i < 3; i++) {
		deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
		peer_reply(p);
		deliver(MON_SAMPLE, (uint32_t)area_size(MON_SAMPLE), 0, 0x5a, MON_DELIVERED);
		ck_assert_uint_eq(area_used(MON_SAMPLE), area_size(MON_SAMPLE));
		ck_assert_uint_eq(*fx_at(FX_SEGMENT_END, 1), 0x5a);
		deliver(MON_SAMPLE, 1, 0, 1, MON_LOST_SPACE);
		ck_assert_uint_eq(peer_info(p).lost, i + 1);
		ck_assert_uint_eq(fx.last_event.kind, CP_EVENT_MONITOR_LOST);
		ck_assert_uint_eq(fx.last_event.value, i + 1);
		ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_LOST], i + 1);
		peer_reply(p);
	}
	/* Who does not want it loses nothing. */
	ck_assert_uint_eq(peer_info(event).lost, 0);
}

/* A set without room is lost by each of those who want it, however many they are. */
TEST(lost_by_all)
{
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		peer_user(i, WANT_SAMPLE, 10);
	deliver(MON_SAMPLE, (uint32_t)area_size(MON_SAMPLE), 0, 1, MON_DELIVERED);
	deliver(MON_SAMPLE, 1, 0, 1, MON_LOST_SPACE);
	for (unsigned int i = 0; i < MON_MAX_USERS; i++)
		ck_assert_uint_eq(peer_info(&peers[i]).lost, 1);
	ck_assert_uint_eq(fx.events[CP_EVENT_MONITOR_LOST], MON_MAX_USERS);
}

/* Room for records, and none for the control area: the set takes neither. */
TEST(control_area_full)
{
	static struct mon_element e[MON_MAX_MCES];
	enum mon_fate fate = MON_DELIVERED;
	unsigned int sets = 0;

	peer_user(0, WANT_BOTH, 255);
	for (unsigned int i = 0; i < MON_MAX_MCES; i++)
		e[i] = (struct mon_element){ .type = MCE_SAMPLE, .domains = 1, .data = pattern,
					     .len = 1, .phase = i };
	while (fate == MON_DELIVERED) {
		ck_assert_uint_eq(area_used(MON_SAMPLE), sets * 4096);
		ck_assert_int_gt(monitor_deliver(fx.cp, MON_SAMPLE, e, MON_MAX_MCES, &fate, err,
						 sizeof(err)), 0);
		sets += fate == MON_DELIVERED;
	}
	ck_assert_int_eq(fate, MON_LOST_SPACE);
	ck_assert_uint_ge(sets, 1);
	/* Four pages for control areas: see kinds. */
	ck_assert_uint_le(sets, 4);
	ck_assert_uint_eq(area_used(MON_SAMPLE), sets * 4096);
}

/* A set that nobody replies to stays, however many come and go meanwhile. */
TEST(oldest_set_stays)
{
	struct peer *slow = peer_user(0, WANT_BOTH, 1), *fast = peer_user(1, WANT_BOTH, 10);
	struct mon_set_info set;
	uint64_t first;

	fast->automatic = true;
	first = deliver(MON_SAMPLE, 100, 0, 0x5a, MON_DELIVERED);
	/* More than there can be at once: 255 messages for each of 16 users. */
	for (unsigned int i = 0; i < 9000; i++) {
		fx.trace_len = 0;
		deliver(MON_SAMPLE, 1, 0, 1, MON_DELIVERED);
	}
	ck_assert(monitor_set(fx.cp, first, &set));
	ck_assert_uint_eq(set.waiting, 1);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 4096);
	ck_assert_uint_eq(*fx_at(peer_start(peer_last(slow), 0) + 99, 1), 0x5a);
	peer_reply(slow);
	ck_assert(!monitor_set(fx.cp, first, &set));
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
}

/* PARTITION and CONFIG SIZE can give nearly all of the segment to sample data. */
TEST_LOOP(partition, 0, 2)
{
	monitor_settings(fx.cp, true)->partition_pages = _i ? 100000 : 1;
	monitor_settings(fx.cp, false)->config_pages = 2;
	monitor_settings(fx.cp, true)->config_pages = 2;
	peer_user(0, WANT_BOTH, 10);
	ck_assert_uint_eq(area_size(MON_SAMPLE), _i ? 4096 : (506 - 15) * 4096);
	ck_assert_uint_eq(area_size(MON_EVENT), _i ? (506 - 15) * 4096 : 4096);
	deliver(MON_SAMPLE, (uint32_t)area_size(MON_SAMPLE), 0, 1, MON_DELIVERED);
	deliver(MON_EVENT, (uint32_t)area_size(MON_EVENT), 0, 1, MON_DELIVERED);
}

/* The ring at every phase: contents stand until the reply, nothing overlaps. */
TEST(wrap_around)
{
	struct peer *p = peer_user(0, WANT_BOTH, 255);
	const uint64_t frames = area_size(MON_SAMPLE) / 4096;
	uint32_t lens[8];

	for (unsigned int round = 0; round < 400; round++) {
		uint32_t len = 1 + (round * 2654435761u) % 70000;

		if (round >= 4) {
			const struct iucv_event *m = &p->message[p->replied];
			const uint8_t *mce = peer_mce(m, 0);
			const uint8_t *data = fx_at(get_be32(mce + MCE_START), lens[round % 4]);

			ck_assert_uint_eq(get_be32(mce + MCE_END) - get_be32(mce + MCE_START) + 1,
					  lens[round % 4]);
			ck_assert_uint_eq(data[0], (round - 4) & 0xff);
			ck_assert(memcmp(data, data + 1, lens[round % 4] - 1) == 0);
			peer_reply(p);
		}
		lens[round % 4] = len;
		deliver(MON_SAMPLE, len, round * 37 % 4096, (uint8_t)round, MON_DELIVERED);
		ck_assert_uint_eq(peer_start(peer_last(p), 0) % 4096,
				  round * 37 % 4096);
		ck_assert_uint_le(area_used(MON_SAMPLE), frames * 4096);
	}
	ck_assert_uint_eq(peer_info(p).lost, 0);
}

/* Replies in any order: what is free is found on the way round. */
TEST(out_of_order)
{
	struct peer *p = peer_user(0, WANT_BOTH, 255);
	const unsigned int frames = (unsigned int)(area_size(MON_SAMPLE) / 4096);
	const uint8_t *first;

	ck_assert_uint_eq(frames, 124);
	for (unsigned int i = 0; i < frames; i++)
		deliver(MON_SAMPLE, 4096, 0, (uint8_t)i, MON_DELIVERED);
	deliver(MON_SAMPLE, 1, 0, 1, MON_LOST_SPACE);
	/* Frames 10, 11, 12 and the last two go; the first, unreplied, stays. */
	for (unsigned int i = 10; i < 13; i++)
		peer_reply_to(p, &p->message[i]);
	peer_reply_to(p, &p->message[frames - 1]);
	peer_reply_to(p, &p->message[frames - 2]);
	first = fx_at(peer_start(&p->message[0], 0), 4096);
	deliver(MON_SAMPLE, 3 * 4096, 0, 0xee, MON_DELIVERED);
	ck_assert_uint_eq(peer_start(peer_last(p), 0),
			  peer_start(&p->message[0], 0) + 10 * 4096);
	deliver(MON_SAMPLE, 3 * 4096, 0, 0xee, MON_LOST_SPACE);
	deliver(MON_SAMPLE, 2 * 4096, 0, 0xee, MON_DELIVERED);
	ck_assert_uint_eq(area_used(MON_SAMPLE), area_size(MON_SAMPLE));
	ck_assert_uint_eq(first[0], 0);
	ck_assert(memcmp(first, first + 1, 4095) == 0);
}

static unsigned int fill_with_one_frame_sets(struct peer *p)
{
	static const uint8_t data[4096];
	const struct mon_element element = { .type = MCE_SAMPLE, .domains = 1, .data = data,
					     .len = 4096 };
	enum mon_fate fate;

	do {
		ck_assert_int_gt(monitor_deliver(fx.cp, MON_SAMPLE, &element, 1, &fate, err,
						 sizeof(err)), 0);
	} while (fate == MON_DELIVERED);
	return p->messages;
}

/* Whose slot another set has kept takes the next that is free, and is found there. */
TEST(slots_of_others_are_passed)
{
	const unsigned int kept = MON_MAX_USERS + 1;
	struct monitor *m = fx.cp->system->monitor;
	struct mon_set_info info;

	for (unsigned int i = 0; i < kept; i++)
		ck_assert_uint_eq(mon_set_new(m, MON_EVENT)->number, i + 1);
	m->last_number = MON_MAX_SETS;
	ck_assert_ptr_eq(mon_set_new(m, MON_SAMPLE), &m->set[1 + kept]);
	ck_assert(monitor_set(fx.cp, MON_MAX_SETS + 1, &info));
	ck_assert_uint_eq(info.number, MON_MAX_SETS + 1);
	ck_assert_int_eq(info.kind, MON_SAMPLE);
	for (unsigned int i = kept + 1; i < MON_MAX_SETS; i++)
		ck_assert_ptr_nonnull(mon_set_new(m, MON_EVENT));
	ck_assert_ptr_null(mon_set_new(m, MON_EVENT));
	ck_assert_uint_eq(m->last_number, 2 * MON_MAX_SETS - kept);
}

CASE("sizes", NULL, NULL);

/* A complete trace has the elements of a refused set, if it has any. */
TEST(refused_in_a_complete_trace)
{
	static const char *const options[] = { "trace-data", "full", NULL };
	static const struct mon_element none[MON_MAX_MCES + 1];
	static const struct {
		const struct mon_element *elements;
		unsigned int count;
		bool heads;
	} cases[] = {
		{ NULL, 0, false }, { NULL, 1, false }, { NULL, MON_MAX_MCES, false },
		{ NULL, MON_MAX_MCES + 1, false }, { none, MON_MAX_MCES + 1, false },
		{ none, 1, true }, { none, MON_MAX_MCES, true },
	};

	fx_setup_with(options);
	peer_user(0, WANT_BOTH, 10);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fx.trace_len = 0;
		ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, cases[i].elements,
						 cases[i].count, NULL, err, sizeof(err)), -1);
		ck_assert_uint_lt(fx.trace_len, FX_MAX_TRACE);
		fx.trace[fx.trace_len] = '\0';
		ck_assert_ptr_nonnull(strstr(fx.trace, "\"fate\":\"refused\""));
		ck_assert_int_eq(strstr(fx.trace, "\"heads\":\"") != NULL, cases[i].heads);
		ck_assert_ptr_null(strstr(fx.trace, "\"data\":"));
	}
	fx_teardown();
}

/* A complete trace has what CP stores of a set, records and elements; another has none of it. */
TEST_LOOP(stores_in_traces, 0, 2)
{
	static const char *const options[] = { "trace-data", "full", NULL };
	char records[64], element[64];
	struct peer *p;
	uint32_t start;

	fx_setup_with(_i ? options : NULL);
	p = peer_user(0, WANT_BOTH, 10);
	fx.trace_len = 0;
	deliver(MON_SAMPLE, 3, 0, 0x5a, MON_DELIVERED);
	start = peer_start(peer_last(p), 0);
	snprintf(records, sizeof(records), "[\"%x\",\"5a5a5a\"]", start);
	snprintf(element, sizeof(element), "[\"%x\",\"e2", get_be32(peer_last(p)->rmmsg));
	fx.trace[fx.trace_len] = '\0';
	ck_assert_int_eq(strstr(fx.trace, records) != NULL, _i);
	ck_assert_int_eq(strstr(fx.trace, element) != NULL, _i);
	fx_teardown();
}

/* Sizes from 1 MiB up; 8 MiB and more hold as many sets as can be outstanding. */
TEST_LOOP(segment_sizes, 0, 3)
{
	static const struct {
		const char *segment;
		unsigned int sets;
	} sizes[] = {
		{ "MONDCSS 800-8FF SC", 62 }, { "MONDCSS 800-9FF SC", 124 },
		{ "MONDCSS 400-BFF SC", 255 },
	};
	struct peer *p;

	setup_with_segment(sizes[_i].segment);
	p = peer_user(0, WANT_BOTH, 255);
	ck_assert_uint_eq(fill_with_one_frame_sets(p), sizes[_i].sets);
	fx_teardown();
}
