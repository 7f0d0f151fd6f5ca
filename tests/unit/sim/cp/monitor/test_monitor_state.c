/* SPDX-License-Identifier: MIT */
/* *MONITOR saved and loaded at every step of a scenario; images that lie. */
#include "monitor_records.h"
#include "monitor/monitor_private.h"
#include "state_check.h"

#define USERS 3u

static char err[256];

static void event(uint32_t len)
{
	static uint8_t data[4096];

	put_be16(data, (uint16_t)len);
	data[HEADER_DOMAIN] = MON_USER;
	monitor_event(fx.cp, MON_USER, data, len);
}

static void repeat(uint64_t times)
{
	static const uint8_t data[84] = { 9 };
	const struct mon_element e = { .type = MCE_SAMPLE, .domains = 1, .data = data, .len = 84 };

	ck_assert_int_eq(monitor_repeat(fx.cp, MON_SAMPLE, &e, 1, 8, times, err, sizeof(err)), 0);
}

static void advance(uint64_t seconds)
{
	fx.tod += seconds * SECOND;
	cp_timer(fx.cp);
}

static void connect_users(void)
{
	peer_user(0, WANT_BOTH, 255);
}

static void connect_slow(void)
{
	peer_user(1, WANT_SAMPLE, 2);
}

static void start_events(void)
{
	monitor_settings(fx.cp, true)->domains = 0xffff;
	monitor_start(fx.cp, true);
	iucv_dispatch(fx.cp);
}

static void start_sample(void)
{
	monitor_settings(fx.cp, false)->domains = 0xffff;
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
}

/* Room for one message: its event configuration waits until it has replied to the other. */
static void connect_tight(void)
{
	peer_user(2, WANT_BOTH, 1);
	ck_assert_uint_eq(peers[2].messages, 1);
}

static void tight_replies(void)
{
	peer_reply(&peers[2]);
	ck_assert_uint_eq(peers[2].messages, 2);
}

static void some_events(void)
{
	event(200);
	event(4000);
}

static void some_sets(void)
{
	for (unsigned int i = 1; i < 6; i++)
		deliver(MON_SAMPLE, i * 5000, i * 100, (uint8_t)i, MON_DELIVERED);
}

static void reply_one(void)
{
	peer_reply(&peers[0]);
}

static void reply_out_of_order(void)
{
	peer_reply_to(&peers[0], &peers[0].message[--peers[0].messages]);
}

static void quiesce(void)
{
	peer_call(&peers[0], IUCV_QUIESCE);
}

static void lose_events(void)
{
	event(100);
	event(100);
}

static void tick(void)
{
	monitor_tick(fx.cp);
}

static void resume(void)
{
	peer_call(&peers[0], IUCV_RESUME);
}

static void repeat_starts(void)
{
	repeat(20);
}

static void repeat_ends(void)
{
	repeat(0);
}

static void raw(void)
{
	ck_assert_int_gt(monitor_message_raw(fx.cp, MON_EVENT, 1, 2, NULL, err, sizeof(err)), 0);
}

static void one_minute(void)
{
	advance(60);
}

static void slow_leaves(void)
{
	peer_call(&peers[1], IUCV_SEVER);
}

static void fill_event_area(void)
{
	for (unsigned int i = 0; i < 250; i++)
		event(4000);
}

static void manual(void)
{
	monitor_set_manual(fx.cp, true);
}

static void stop(void)
{
	monitor_stop(fx.cp, false);
	monitor_stop(fx.cp, true);
	iucv_dispatch(fx.cp);
}

static void sever_all(void)
{
	monitor_sever(fx.cp, NULL, 0x11);
}

static void reset(void)
{
	cp_reset(fx.cp);
}

static void (*const steps[])(void) = {
	connect_users, start_sample, connect_slow, start_events, connect_tight, tight_replies,
	some_events, some_sets, reply_one, quiesce, lose_events, tick, resume, some_events, one_minute, reply_one, reply_one,
	some_sets, reply_one, repeat_starts, reply_one, reply_one, raw, reply_one, repeat_ends,
	slow_leaves, some_sets, reply_out_of_order, fill_event_area, lose_events, reply_one, reset,
	one_minute, manual, one_minute, tick, stop, sever_all,
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static void attach_users(void)
{
	for (unsigned int i = 0; i < USERS; i++) {
		peers[i].user = iucv_user_find(fx.cp, peers[i].name);
		if (peers[i].user)
			iucv_user_attach(peers[i].user, &peer_ops, &peers[i]);
	}
}

/* A fresh CP that goes on where the other one was saved; its trace begins there. */
static void change_cp(void)
{
	const uint64_t tod = fx.tod, timer = fx.timer;
	size_t len;
	uint8_t *image = fx_save(&len);

	fx_teardown();
	fx_setup();
	fx.tod = tod;
	fx_load(image, len);
	free(image);
	ck_assert_uint_eq(fx.timer, timer);
	attach_users();
	fx.trace_len = 0;
}

/* Two CPs are made for each step; none of them ever has a thousand messages under way. */
static void setup(void)
{
	fx_messages = 1024;
	fx_setup();
}

CASE("steps", setup, fx_teardown);

TEST_LOOP(every_step, 1, (int)STEPS)
{
	static char *reference;
	size_t offset = 0, len;

	memset(peers, 0, PEERS * sizeof(*peers));
	for (size_t i = 0; i < STEPS; i++) {
		if (i == (size_t)_i) {
			/* As change_cp() does: the records have the same numbers. */
			attach_users();
			offset = fx.trace_len;
		}
		steps[i]();
	}
	len = fx.trace_len - offset;
	ck_assert_uint_gt(len, 0);
	reference = malloc(len);
	ck_assert_ptr_nonnull(reference);
	memcpy(reference, fx.trace + offset, len);
	fx_teardown();
	fx_setup();
	memset(peers, 0, PEERS * sizeof(*peers));
	for (size_t i = 0; i < STEPS; i++) {
		if (i == (size_t)_i)
			change_cp();
		steps[i]();
	}
	ck_assert_uint_eq(fx.trace_len, len);
	ck_assert_mem_eq(fx.trace, reference, len);
	free(reference);
}

/* All that commands can set, of either kind of data. */
TEST(settings_come_back)
{
	struct mon_settings wanted[2];
	uint8_t *image;
	size_t len;

	for (unsigned int kind = 0; kind < 2; kind++) {
		struct mon_settings *s = monitor_settings(fx.cp, kind);

		s->domains = (uint16_t)(0x4321 + kind);
		s->interval_seconds = 61 + kind;
		s->pending_interval_seconds = 71 + kind;
		s->rate_hundredths = 81 + kind;
		s->config_pages = 91 + kind;
		s->config_limit_seconds = 101 + kind;
		s->block = 3 + kind;
		s->partition_pages = 121 + kind;
		wanted[kind] = *s;
	}
	image = fx_save(&len);
	fx_teardown();
	fx_setup();
	fx_load(image, len);
	free(image);
	for (unsigned int kind = 0; kind < 2; kind++) {
		const struct mon_settings *s = monitor_settings(fx.cp, kind), *w = &wanted[kind];

		ck_assert(!s->active);
		ck_assert_uint_eq(s->domains, w->domains);
		ck_assert_uint_eq(s->interval_seconds, w->interval_seconds);
		ck_assert_uint_eq(s->pending_interval_seconds, w->pending_interval_seconds);
		ck_assert_uint_eq(s->rate_hundredths, w->rate_hundredths);
		ck_assert_uint_eq(s->config_pages, w->config_pages);
		ck_assert_uint_eq(s->config_limit_seconds, w->config_limit_seconds);
		ck_assert_uint_eq(s->block, w->block);
		ck_assert_uint_eq(s->partition_pages, w->partition_pages);
	}
}

/* The area is used in turn: what came last lies before what came first. */
TEST(sets_in_another_order_than_their_data)
{
	uint32_t size;
	uint64_t used;

	connect_users();
	size = (uint32_t)area_size(MON_SAMPLE);
	deliver(MON_SAMPLE, size / 10 * 6, 0, 1, MON_DELIVERED);
	reply_one();
	deliver(MON_SAMPLE, 5000, 0, 2, MON_DELIVERED);
	deliver(MON_SAMPLE, size / 10 * 5, 0, 3, MON_DELIVERED);
	used = area_used(MON_SAMPLE);
	ck_assert_uint_gt(fx.cp->system->monitor->set[2].piece[MON_DATA].start,
			  fx.cp->system->monitor->set[3].piece[MON_DATA].start);
	change_cp();
	ck_assert_uint_eq(area_used(MON_SAMPLE), used);
	reply_one();
	reply_one();
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
}

/* After saving, the machine goes on as before: the next set goes behind the last one. */
TEST(saving_changes_nothing)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 10);
	uint64_t first, second;
	struct mon_set_info set;
	uint8_t *image;
	size_t len;

	first = deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
	image = fx_save(&len);
	free(image);
	second = deliver(MON_SAMPLE, 100, 0, 1, MON_DELIVERED);
	peer_reply_to(p, peer_last(p));
	ck_assert(monitor_set(fx.cp, first, &set) && !monitor_set(fx.cp, second, &set));
	ck_assert_uint_eq(area_used(MON_SAMPLE), CP_PAGE_SIZE);
	peer_reply_to(p, &p->message[0]);
	ck_assert_uint_eq(area_used(MON_SAMPLE), 0);
}

static void until(size_t count)
{
	memset(peers, 0, PEERS * sizeof(*peers));
	for (size_t i = 0; i < count; i++)
		steps[i]();
}

/* An image's *MONITOR part is refused, or is good enough to work with. */
static void ck_survives(uint8_t *image, size_t len)
{
	static unsigned int refused;

	state_sign(image, len);
	if (cp_load(fx.cp, image, len, err, sizeof(err)) != 0) {
		if (refused++ % 16 == 0)
			ck_refused(image, len, err, sizeof(err));
		return;
	}
	for (unsigned int i = 0; i < 3; i++) {
		advance(60);
		monitor_tick(fx.cp);
		event(4000);
	}
	monitor_sever(fx.cp, NULL, 1);
	iucv_dispatch(fx.cp);
	ck_assert_str_eq(monitor_segment(fx.cp), "");
}

CASE("lies", setup, fx_teardown);

/* Every third byte of *MONITOR's part, in three states: repeating, suspended, quiesced. */
TEST_LOOP(lies, 0, 3)
{
	static const size_t states[] = { 24, 30, 11 };
	static const uint8_t flips[] = { 0x01, 0x80, 0xff };
	size_t len, first, last;
	uint8_t *image;

	until(states[_i]);
	image = fx_save(&len);
	first = state_find(image, len, "MON.");
	last = first + 1800 < len - 8 ? first + 1800 : len - 8;
	fx_teardown();
	fx_setup();
	for (size_t i = first + (size_t)_i; i < last; i += 3) {
		image[i] ^= flips[i / 3 % 3];
		ck_survives(image, len);
		image[i] ^= flips[i / 3 % 3];
		fx.trace_len = 0;
	}
	state_sign(image, len);
	fx_load(image, len);
	free(image);
}

/* The image again, with @value in the place of the last @len bytes of @was. */
static void ck_lie(const uint8_t *image, size_t size, const uint8_t *was, size_t pattern,
		   size_t len, uint64_t value)
{
	uint8_t *copy = malloc(size), wide[8];
	size_t at = state_find(image, size, "MON.");

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, image, size);
	while (at + pattern <= size && memcmp(copy + at, was, pattern) != 0)
		at++;
	ck_assert_uint_le(at + pattern, size);
	put_be64(wide, value);
	memcpy(copy + at + pattern - len, wide + 8 - len, len);
	state_sign(copy, size);
	ck_refused(copy, size, err, sizeof(err));
	free(copy);
}

/* Each ring lies within the segment, to its last unit. */
TEST(rings_that_are_too_large)
{
	const uint64_t room = FX_SEGMENT_END + 1 - FX_SEGMENT_START;
	uint8_t *image, base_and_size[12];
	size_t len;

	until(8);
	image = fx_save(&len);
	for (unsigned int kind = 0; kind < MON_KINDS; kind++) {
		const struct mon_ring *ring = &fx.cp->system->monitor->area[kind].ring[MON_DATA];

		put_be64(base_and_size, ring->base);
		put_be32(base_and_size + 8, ring->size);
		ck_lie(image, len, base_and_size, 12, 4, (room - ring->base) / CP_PAGE_SIZE + 1);
		ck_lie(image, len, base_and_size, 12, 4, UINT32_MAX);
		ck_lie(image, len, base_and_size, 8, 8, room);
	}
	free(image);
}

/* Users of *MONITOR have a segment, and without users there is none. */
TEST(users_without_a_segment)
{
	const struct mon_ring *ring = &fx.cp->system->monitor->area[0].ring[0];
	uint8_t *image, index_and_ring[16];
	size_t len, at = 0;

	until(1);
	put_be32(index_and_ring, 0);
	put_be64(index_and_ring + 4, ring->base);
	put_be32(index_and_ring + 12, ring->size);
	image = fx_save(&len);
	for (at = state_find(image, len, "MON."); memcmp(image + at, index_and_ring, 16) != 0; at++)
		ck_assert_uint_lt(at + 16, len);
	put_be32(image + at, UINT32_MAX);
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	put_be32(image + at, 0);
	state_sign(image, len);
	fx_load(image, len);
	free(image);
}

/* Not even if all else agrees: the image says only that its one user is none. */
TEST(segment_without_users)
{
	const struct mon_user *user = &fx.cp->system->monitor->user[0];
	size_t len, at, name;
	uint8_t *image;

	until(1);
	name = strlen(user->name);
	image = fx_save(&len);
	for (at = state_find(image, len, "MON."); memcmp(image + at, user->name, name) != 0; at++)
		ck_assert_uint_lt(at + name, len);
	ck_assert_uint_eq(image[at - 1], true);
	image[at - 1] = false;
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

/* A segment's users are the guest and *MONITOR, as many as the rest of the image has. */
TEST(segment_with_a_user_too_many)
{
	struct dcss *segment = dcss_find(fx.cp, "MONDCSS");
	uint8_t *image;
	size_t len;

	until(1);
	for (uint32_t more = 0; more < 2; more++) {
		segment->users += more;
		image = fx_save(&len);
		segment->users -= more;
		if (more)
			ck_refused(image, len, err, sizeof(err));
		else
			fx_load(image, len);
		free(image);
	}
}

/* Only a block of a recording that is suspended has ended. */
TEST(block_that_has_ended_while_recording)
{
	struct mon_events *events = &fx.cp->system->monitor->events;
	uint8_t *image, lost_and_set[7] = { 0 };
	size_t len;

	until(7);
	ck_assert(events->recording && !events->suspended);
	ck_assert_uint_ge(events->block.pos, RECORD_HEADER_SIZE);
	events->lost = 0x12345678;
	put_be32(lost_and_set, events->lost);
	put_be16(lost_and_set + 4, events->set);
	image = fx_save(&len);
	ck_lie(image, len, lost_and_set, 7, 1, true);
	free(image);
}

/* The image with a block that is longer: zeros follow what is in it. */
static uint8_t *with_block(const uint8_t *image, size_t *len, uint32_t pos)
{
	const struct record_writer *w = &fx.cp->system->monitor->events.block;
	const uint32_t more = pos - w->pos;
	uint8_t pattern[12], *longer = calloc(1, *len + more);
	size_t at = 0, end;

	ck_assert_ptr_nonnull(longer);
	put_be32(pattern, w->pos);
	put_be64(pattern + 4, w->tod);
	while (at + 12 <= *len && memcmp(image + at, pattern, 12) != 0)
		at++;
	end = at + 12 + 2 + w->pos;
	ck_assert_uint_le(end, *len);
	memcpy(longer, image, end);
	memcpy(longer + end + more, image + end, *len - end);
	put_be32(longer + at, pos);
	*len += more;
	put_be64(longer + IMAGE_LENGTH, *len);
	state_sign(longer, *len);
	return longer;
}

/* In the block a record ends where the one that ends a frame still fits. */
TEST(block_without_room_for_its_end)
{
	static const struct { uint32_t pos; bool good; } ends[] = {
		{ RECORD_MAX_SIZE, true }, { RECORD_MAX_SIZE + 1, false },
		{ CP_PAGE_SIZE - 1, false }, { CP_PAGE_SIZE, true },
	};
	size_t len;
	uint8_t *image;

	until(6);
	event(200);
	ck_assert_uint_gt(fx.cp->system->monitor->events.block.size, CP_PAGE_SIZE);
	image = fx_save(&len);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t longer_len = len;
		uint8_t *longer = with_block(image, &longer_len, ends[i].pos);

		if (!ends[i].good)
			ck_refused(longer, longer_len, err, sizeof(err));
		else
			ck_assert_msg(cp_load(fx.cp, longer, longer_len, err, sizeof(err)) == 0,
				      "%u: %s", ends[i].pos, err);
		free(longer);
		fx_load(image, len);
	}
	free(image);
}

/* An image is refused by a CP whose *MONITOR is in use: that goes on. */
TEST(failure_while_in_use)
{
	size_t len;
	uint8_t *image;

	until(8);
	image = fx_save(&len);
	image[state_find(image, len, "MON.") + 4] = 2;
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	ck_assert_str_eq(monitor_segment(fx.cp), "MONDCSS");
	free(image);
}
