/* SPDX-License-Identifier: MIT */
/*
 * Sets against a second reckoning of the segment and of whoever reads it: where each must lie, when
 * there is room for the next block of events, what is lost in between.
 */
#include "model_check.h"

#define STORM_LENGTH 64u	/* of D7R1 */

static struct mc_system s;

/* Messages without a reply, oldest first; their pages are in use. */
struct reader {
	struct {
		uint32_t kind, first, pages, bytes;
	} queue[255];
	uint32_t count;
	uint64_t thousandths, until;	/* of a byte read of the oldest one; milliseconds */
	bool used[AREA_KINDS][16384];
};

static struct reader reader;
static uint32_t next_page[AREA_KINDS], next_element[AREA_KINDS];
static struct area_place place[AREA_KINDS];
static struct model_totals sum;

static void setup(void)
{
	mc_fill(&s);
	memset(&reader, 0, sizeof(reader));
	memset(next_page, 0, sizeof(next_page));
	memset(next_element, 0, sizeof(next_element));
	memset(&sum, 0, sizeof(sum));
}

CASE("framing", setup, NULL);

static void mark(uint32_t kind, uint32_t first, uint32_t pages, bool used)
{
	for (uint32_t i = first; i < first + pages; i++) {
		ck_assert_msg(reader.used[kind][i] != used, "page %u of area %u", i, kind);
		reader.used[kind][i] = used;
	}
}

/* A KB a second is a byte a millisecond. */
static void read_until(uint64_t ms)
{
	reader.thousandths += (ms - reader.until) * s.config.reader;
	reader.until = ms;
	while (reader.count > 0 && (s.config.reader == MODEL_AT_ONCE ||
				    reader.thousandths >= reader.queue[0].bytes)) {
		mark(reader.queue[0].kind, reader.queue[0].first, reader.queue[0].pages, false);
		reader.thousandths -= reader.queue[0].bytes;
		memmove(reader.queue, reader.queue + 1, --reader.count * sizeof(reader.queue[0]));
	}
	if (reader.count == 0)
		reader.thousandths = 0;
}

/* Free pages in a row from @first on. */
static uint32_t run(uint32_t kind, uint32_t first)
{
	uint32_t pages = 0;

	while (first + pages < place[kind].data && !reader.used[kind][first + pages])
		pages++;
	return pages;
}

static uint32_t pages_of(uint32_t bytes)
{
	return (bytes + 4095) / 4096;
}

static uint64_t when(uint64_t tod)
{
	return (tod - s.config.start) / TOD_MILLISECOND;
}

static bool is(const uint8_t *record, unsigned int number)
{
	return record[4] == 1 && get_be16(record + 6) == number;
}

/* Records, bytes and domains of a set; what ends frames, and the set. */
static void ck_contents(const struct model_set *set)
{
	uint32_t at = 0, bytes = 0;
	uint16_t domains = 0;
	const uint8_t *last = NULL;

	while (at < set->len) {
		last = set->data + at;
		ck_assert_uint_le(at % 4096 + get_be16(last), 4096);
		bytes += get_be16(last);
		domains |= (uint16_t)(0x8000 >> last[4]);
		sum.records++;
		at = is(last, 13) ? (at / 4096 + 1) * 4096 : at + get_be16(last);
	}
	ck_assert_uint_eq(at, set->len);
	ck_assert_uint_eq(domains, set->domains);
	if (set->kind != AREA_EVENT)
		ck_assert(is(last, 11));
	else
		ck_assert(!is(last, 11) && !is(last, 13));
	if (is(last, 12))
		sum.suspensions++;
	sum.bytes += bytes;
	sum.sets++;
}

/* Behind the one before it, or at the area's low end if there is not enough room. */
static void ck_place(const struct model_set *set)
{
	const uint32_t kind = set->kind, base = s.config.segment + place[kind].first;
	const uint32_t first = set->start / 4096 - base - place[kind].control;
	const uint32_t pages = pages_of(set->len);

	ck_assert_uint_eq(set->start % 4096, 0);
	read_until(when(set->tod));
	if (run(kind, next_page[kind]) >= pages)
		ck_assert_uint_eq(first, next_page[kind]);
	else
		ck_assert_uint_eq(first, 0);
	ck_assert_uint_le(first + pages, place[kind].data);
	ck_assert_uint_eq(set->mca_start, base * 4096 + next_element[kind] * 16);
	next_element[kind] = (next_element[kind] + 1) % (place[kind].control * 256);
	next_page[kind] = first + pages;
	mark(kind, first, pages, true);
	ck_assert_uint_lt(reader.count, COUNT(reader.queue));
	reader.queue[reader.count].kind = kind;
	reader.queue[reader.count].first = first;
	reader.queue[reader.count].pages = pages;
	reader.queue[reader.count++].bytes = set->len;
}

static bool room_for_a_block(void)
{
	return run(AREA_EVENT, next_page[AREA_EVENT]) >= s.config.block ||
	       run(AREA_EVENT, 0) >= s.config.block;
}

/* Does D1R12 end the set? */
static bool suspends(const struct model_set *set)
{
	return set->kind == AREA_EVENT && set->len >= 20 && is(set->data + set->len - 20, 12);
}

static void ck_set(const struct model_set *set)
{
	static const uint8_t type[AREA_KINDS] = { 0xe2, 0xe2, 0xc5, 0xc5 };

	ck_assert_uint_eq(set->type, type[set->kind]);
	ck_contents(set);
	ck_place(set);
	if (set->kind != AREA_EVENT)
		return;
	ck_assert_uint_le(pages_of(set->len), s.config.block);
	ck_assert_msg(suspends(set) != room_for_a_block(), "at %u ms", (unsigned int)when(set->tod));
}

static struct model *begin(void)
{
	ck_assert_int_eq(area_lay_out(&s.config.area, place), AREA_LAID_OUT);
	return mc_open(&s);
}

static void ck_totals(const struct model *m)
{
	struct model_totals totals;

	model_totals(m, &totals);
	ck_assert_uint_eq(totals.sets, sum.sets);
	ck_assert_uint_eq(totals.records, sum.records);
	ck_assert_uint_eq(totals.bytes, sum.bytes);
	ck_assert_uint_eq(totals.suspensions, sum.suspensions);
	ck_assert_uint_eq(totals.sets_lost, sum.sets_lost);
	ck_assert_uint_eq(totals.records_lost, sum.records_lost);
}

/*
 * All sets of a run; those without a number were lost.  As long as nobody comes or goes all samples
 * are as long: none is cut where its area ends.
 */
static void ck_run(struct model *m)
{
	struct model_set set;
	uint64_t number = 0;
	uint32_t sample = 0;

	while (model_next(m, &set)) {
		ck_set(&set);
		if (set.kind == AREA_SAMPLE && s.config.actions == 0) {
			ck_assert(sample == 0 || set.len == sample);
			sample = set.len;
		}
		ck_assert_uint_gt(set.number, number);
		sum.sets_lost += set.number - number - 1;
		number = set.number;
	}
	sum.sets_lost += m->numbers - number;
	ck_totals(m);
	model_close(m);
}

/* Control elements and frames go round and round. */
TEST(around_the_areas)
{
	s.config.seconds = 3600;
	s.config.interval = 6;
	s.config.area = (struct area_wish){ 256, 100, 6, 2, 241 };
	ck_run(begin());
	ck_assert_uint_eq(sum.sets_lost, 0);
	ck_assert_uint_gt(sum.sets, 1000);
}

/* Samples get no room at times: they are lost, their numbers, too. */
TEST(samples_are_lost)
{
	s.config.seconds = 1800;
	s.config.interval = 6;
	s.config.event_domains = 0x4000;
	s.config.area = (struct area_wish){ 64, 20, 6, 2, 241 };
	s.config.reader = 1;
	ck_run(begin());
	ck_assert_uint_gt(sum.sets_lost, 20);
	ck_assert_uint_gt(sum.sets, 100);
}

/* Seeks alone: each is in a block, or counted by a D1R3. */
static void storm(struct model *m, uint32_t seconds, uint32_t rate)
{
	uint64_t seeks = 0, last_number = 0, last_tod = 0;
	bool suspended = false;
	struct model_set set;

	while (model_next(m, &set)) {
		const uint8_t *lost;

		ck_set(&set);
		sum.sets_lost += set.number - last_number - 1;
		last_number = set.number;
		if (set.kind != AREA_EVENT)
			continue;
		seeks += mc_count(&set, 7, 1);
		lost = mc_record(&set, 1, 3, 0);
		ck_assert((lost != NULL) == suspended);
		if (lost) {
			ck_assert_ptr_eq(lost, set.data);
			ck_assert_uint_eq(get_be16(lost), 24);
			sum.records_lost += get_be32(lost + 20);
			ck_assert_ptr_null(mc_record(&set, 1, 3, 1));
			/* There was no room until then, and there is now. */
			ck_assert_uint_gt(get_be64(lost + 8), last_tod);
		}
		suspended = suspends(&set);
		last_tod = set.tod;
	}
	ck_assert(!suspended);
	ck_assert_uint_eq(seeks + sum.records_lost, (uint64_t)seconds * rate);
	ck_totals(m);
	model_close(m);
}

/* At any rate of reading, whatever size of a block. */
TEST_LOOP(storms, 0, 8)
{
	static const struct {
		uint32_t reader, block, rate, partition;
		bool suspended;
	} runs[] = {
		{ 40, 4, 2000, 12, true }, { 100, 4, 2000, 12, true }, { 40, 1, 700, 9, true },
		{ 90, 3, 3001, 30, true }, { MODEL_AT_ONCE, 4, 2000, 12, false },
		{ 127, 2, 1999, 7, true }, { 300, 10, 6000, 40, true },
		/* All is read, but a block in the middle leaves no room for the next. */
		{ MODEL_AT_ONCE, 4, 1220, 12, true },
	};

	s.config.area = (struct area_wish){ 256, runs[_i].partition, 40, 2, 241 };
	s.config.reader = runs[_i].reader;
	s.config.block = runs[_i].block;
	s.config.event_domains = 0x0100;
	mc_act(&s, 60, MODEL_STORM, 0, 0, runs[_i].rate);
	mc_act(&s, 120, MODEL_STORM, 0, 0, 0);
	storm(begin(), 60, runs[_i].rate);
	ck_assert(runs[_i].suspended == (sum.suspensions > 0));
}

/* A block is sent when full, a second old, or at a step's end; seeks come at equal intervals. */
TEST(blocks_and_moments)
{
	const uint64_t rate = 400, each = rate * 15;
	const uint64_t apart = (15000 - 2) * TOD_MILLISECOND / each;
	uint64_t seek = 0;
	struct model_set set;
	struct model *m;

	s.config.event_domains = 0x0100;
	s.config.block = 2;
	mc_act(&s, 60, MODEL_STORM, 0, 0, (uint32_t)rate);
	mc_act(&s, 90, MODEL_STORM, 0, 0, 0);
	m = begin();
	while (model_next(m, &set)) {
		const uint8_t *first = set.data;
		uint64_t due, step, tod = 0;

		if (set.kind != AREA_EVENT)
			continue;
		due = get_be64(first + 8) + 1000 * TOD_MILLISECOND;
		for (uint32_t n = 0; n < mc_count(&set, 7, 1); n++, seek++) {
			step = s.config.start + (60 + seek / each * 15) * 1000 * TOD_MILLISECOND;
			tod = get_be64(mc_record(&set, 7, 1, n) + 8);
			ck_assert_uint_eq(tod, step + seek % each * apart);
			ck_assert_uint_lt(tod, due);
		}
		/* The one that follows, or the end of the step. */
		if (seek % each != 0) {
			ck_assert_uint_eq(set.tod, tod + apart);
			ck_assert(set.tod >= due || set.len + STORM_LENGTH + 20 > 2 * 4096);
		} else {
			ck_assert_uint_eq(set.tod, step + 15000 * TOD_MILLISECOND);
		}
	}
	ck_assert_uint_eq(seek, 30 * rate);
	model_close(m);
}

/* Records of @number in @domain, all of them between the two seconds, the later one included. */
static unsigned int count_between(const struct model_set *set, unsigned int domain,
				  unsigned int number, uint64_t from, uint64_t to)
{
	const uint64_t second = 1000 * TOD_MILLISECOND;
	unsigned int count = mc_count(set, domain, number);

	for (unsigned int n = 0; n < count; n++) {
		const uint64_t tod = get_be64(mc_record(set, domain, number, n) + 8);

		ck_assert_uint_ge(tod, s.config.start + from * second);
		ck_assert_uint_le(tod, s.config.start + to * second);
	}
	return count;
}

/* Wherever blocks end, between any two records of a step: nothing is lost, late, or there twice. */
TEST(blocks_that_end_anywhere)
{
	for (uint32_t rate = 64; rate < 128; rate++) {
		unsigned int seeks = 0, processors = 0, devices = 0, users = 0;
		struct model_set set;
		struct model *m;

		setup();
		s.config.seconds = 120;
		s.config.event_domains = 0x0f00;
		s.config.block = 1;
		mc_act(&s, 45, MODEL_STORM, 0, 0, rate);
		mc_act(&s, 60, MODEL_PROCESSOR, 1, 2, 0);
		mc_act(&s, 60, MODEL_DEVICE, 0, 2, 0);
		mc_act(&s, 60, MODEL_LOGOFF, 0, MC_USERS, 0);
		mc_act(&s, 75, MODEL_STORM, 0, 0, 0);
		m = mc_open(&s);
		while (model_next(m, &set)) {
			if (set.kind != AREA_EVENT)
				continue;
			seeks += count_between(&set, 7, 1, 45, 75);
			processors += count_between(&set, 5, 2, 59, 60);
			devices += count_between(&set, 6, 2, 59, 60);
			users += count_between(&set, 4, 2, 59, 60);
		}
		model_close(m);
		ck_assert_uint_eq(seeks, 30 * rate);
		ck_assert_uint_eq(processors, 2);
		ck_assert_uint_eq(devices, 2);
		ck_assert_uint_eq(users, MC_USERS);
	}
}

/* A slow storm: blocks go when they are a second old. */
TEST(blocks_of_a_second)
{
	unsigned int blocks = 0;
	struct model_set set;
	struct model *m;

	s.config.event_domains = 0x0100;
	mc_act(&s, 60, MODEL_STORM, 0, 0, 10);
	mc_act(&s, 90, MODEL_STORM, 0, 0, 0);
	m = begin();
	while (model_next(m, &set)) {
		if (set.kind != AREA_EVENT)
			continue;
		blocks++;
		/* Ten of 99.99 ms are less than a second, eleven are not. */
		ck_assert_uint_eq(mc_count(&set, 7, 1), blocks % 14 == 0 ? 7 : 11);
	}
	ck_assert_uint_eq(blocks, 28);
	model_close(m);
}

/* The block goes before the seek that comes when it is due, and waits for one that comes earlier. */
TEST(due_to_the_unit)
{
	for (unsigned int early = 0; early < 2; early++) {
		struct model_set set;
		struct model *m;

		s.config.event_domains = 0x0100;
		m = begin();
		m->now = 3000;
		m->storm_count = m->storm_left = 1;
		ck_assert(!model_record_events(m, &set));
		ck_assert_uint_eq(m->events.due, s.config.start + 1000 * TOD_MILLISECOND);
		m->before = 3000;
		m->now = 6000;
		m->storm_count = m->storm_left = 1;
		m->cursor = (struct cursor){ 0 };
		m->events.due = s.config.start + 3000 * TOD_MILLISECOND + early;
		ck_assert(model_record_events(m, &set) == !early);
		ck_assert_uint_eq(m->storm_left, !early);
		model_close(m);
	}
}

/* No seek without a disk, or without a user. */
TEST_LOOP(storms_of_nobody, 0, 2)
{
	struct model_set set;
	struct model *m;

	if (_i == 0)
		s.config.users = 0;
	else
		s.config.devices = 1;
	s.config.event_domains = 0x0100;
	mc_act(&s, 60, MODEL_STORM, 0, 0, 10);
	m = begin();
	while (model_next(m, &set))
		ck_assert_uint_ne(set.kind, AREA_EVENT);
	model_close(m);
}

/* A set of @bytes, as the model delivers it; false: it is lost. */
static bool deliver(struct model *m, uint32_t kind, uint32_t bytes, struct model_set *set)
{
	static uint8_t buffer[64 * AREA_PAGE_SIZE];
	struct record_writer w;
	uint32_t start;

	record_writer_init(&w, buffer, sizeof(buffer), s.config.start);
	w.pos = bytes;
	if (!segment_find(&m->segment, kind, pages_of(bytes), &start))
		return false;
	return segment_deliver(m, kind, start, &w, set);
}

/* A reader of 7 bytes a millisecond has 700 after 100 ms, and no more than there are. */
TEST(reading)
{
	struct segment *segment;
	struct model_set set;
	struct model *m;

	s.config.reader = 7;
	m = begin();
	segment = &m->segment;
	segment_drain(segment, 1000);
	ck_assert(deliver(m, AREA_SAMPLE, 700, &set));
	ck_assert(deliver(m, AREA_EVENT, 7000, &set));
	segment_drain(segment, 1099);
	ck_assert_uint_eq(segment->outstanding, 2);
	ck_assert_uint_eq(segment->ring[AREA_SAMPLE].used, 1);
	segment_drain(segment, 1050);
	segment_drain(segment, 1100);
	ck_assert_uint_eq(segment->outstanding, 1);
	ck_assert_uint_eq(segment->ring[AREA_SAMPLE].used, 0);
	ck_assert_uint_eq(segment->ring[AREA_EVENT].used, 2);
	segment_drain(segment, 2099);
	ck_assert_uint_eq(segment->outstanding, 1);
	segment_drain(segment, 3000);
	ck_assert_uint_eq(segment->outstanding, 0);
	ck_assert_uint_eq(segment->ring[AREA_EVENT].used, 0);
	/* It does not read ahead. */
	ck_assert(deliver(m, AREA_SAMPLE, 70, &set));
	segment_drain(segment, 3009);
	ck_assert_uint_eq(segment->outstanding, 1);
	segment_drain(segment, 3010);
	ck_assert_uint_eq(segment->outstanding, 0);
	segment->rate = MODEL_AT_ONCE;
	ck_assert(deliver(m, AREA_SAMPLE, 4096 * 60, &set));
	segment_drain(segment, 3010);
	ck_assert_uint_eq(segment->outstanding, 1);
	segment_drain(segment, 3011);
	ck_assert_uint_eq(segment->outstanding, 0);
	model_close(m);
}

/* 255 sets are unread at most; the next one is lost, its number is not given again. */
TEST(the_256th)
{
	struct model_totals totals;
	struct model_set set;
	struct model *m;

	s.config.reader = 0;
	m = begin();
	for (uint32_t i = 1; i <= 255; i++) {
		ck_assert(deliver(m, AREA_SAMPLE, 100, &set));
		ck_assert_uint_eq(set.number, i);
	}
	ck_assert(!deliver(m, AREA_SAMPLE, 100, &set));
	ck_assert(!deliver(m, AREA_EVENT, 100, &set));
	model_totals(m, &totals);
	ck_assert_uint_eq(totals.sets, 255);
	ck_assert_uint_eq(totals.sets_lost, 2);
	m->segment.rate = MODEL_AT_ONCE;
	segment_drain(&m->segment, 1);
	ck_assert(deliver(m, AREA_EVENT, 100, &set));
	ck_assert_uint_eq(set.number, 258);
	model_close(m);
}
