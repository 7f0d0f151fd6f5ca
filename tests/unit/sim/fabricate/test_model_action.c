/* SPDX-License-Identifier: MIT */
/* Effects of actions, counters that begin anew with a sample, and the end of steps. */
#include "model_check.h"

static struct mc_system s;

static void setup(void)
{
	mc_fill(&s);
	s.config.frames = 40000;
}

CASE("actions", setup, NULL);

/* To the second, by steps of at most 15 s; actions that are due then have happened. */
static void go_to(struct model *m, uint32_t second)
{
	while (m->now < second * UINT64_C(1000)) {
		m->due = second * UINT64_C(1000);
		model_step(m);
		model_act(m);
	}
}

/* Four minutes of work: everybody has counted something. */
static struct model *worked(void)
{
	struct model *m = mc_open(&s);

	go_to(m, 240);
	return m;
}

TEST(logging_on)
{
	struct user wanted = { 0 };
	struct model *m;

	mc_act(&s, 100, MODEL_LOGOFF, 1, 2, 0);
	mc_act(&s, 240, MODEL_LOGON, 0, 2, 0);
	s.user[1].application = 0;
	m = worked();
	wanted.s.flags = IS_ON | HAS_NETWORK;
	/* What happened in the step is still to be recorded: of the one that was there before. */
	wanted.s.events = CAME | LINK_UP;
	wanted.name = m->user[1].name;
	wanted.type = 3;
	wanted.adapter = 0x600;
	wanted.mac = UINT64_C(0x020000000002);
	wanted.lan = m->user[0].lan;
	wanted.lan_owner = m->user[0].lan_owner;
	wanted.switched = 1;
	wanted.share = 200;
	wanted.logon = s.config.start + 240000 * TOD_MILLISECOND;
	wanted.percent = 100;
	wanted.device = 1;
	wanted.index = 1;
	ck_assert_mem_eq(&m->user[1], &wanted, offsetof(struct user, index) + 4);
	/* Who is there does not come once more. */
	ck_assert_uint_gt(m->user[0].total_time, 0);
	ck_assert(!(m->user[0].s.events & CAME));
	ck_assert_uint_eq(m->user[0].logon, s.config.start);
	ck_assert_uint_eq(m->user[2].s.flags, 0);
	model_close(m);
}

TEST(logging_on_without_a_network)
{
	struct model *m;

	s.user[1].network = 0;
	s.user[1].logged_on = 0;
	mc_act(&s, 240, MODEL_LOGON, 1, 1, 0);
	m = worked();
	ck_assert_uint_eq(m->user[1].s.flags, IS_ON | HAS_APPLICATION);
	ck_assert_uint_eq(m->user[1].s.events, CAME);
	model_close(m);
}

/* All users together were checked to fit; users that are not there yet have left nothing. */
TEST(nobody_before_he_logs_on)
{
	struct model *m;

	s.user[0].logged_on = 0;
	m = worked();
	ck_assert_uint_eq(m->user[0].s.flags, 0);
	ck_assert_uint_ne(m->user[1].s.flags, 0);
	model_close(m);
}

TEST(logging_off)
{
	uint64_t resident, slots;
	struct model *m;

	s.user[2].network = 0;
	mc_act(&s, 300, MODEL_LOGOFF, 1, 2, 0);
	mc_act(&s, 300, MODEL_LOGOFF, 1, 1, 0);
	m = mc_open(&s);
	go_to(m, 299);
	ck_assert_uint_gt(m->user[1].slots, 0);
	for (uint32_t i = 0; i < MC_USERS; i++)
		m->user[i].s.events = 0;
	m->user[1].s.flags |= IS_ACTIVE | IS_RUNAWAY | IS_CUT;
	m->user[2].s.flags &= ~(uint32_t)IS_ACTIVE;
	resident = m->system.available + m->user[1].resident + m->user[2].resident;
	slots = m->system.slots_used - m->user[1].slots - m->user[2].slots;
	m->now = 300000;
	model_act(m);
	ck_assert_uint_eq(m->system.available, resident);
	ck_assert_uint_eq(m->system.slots_used, slots);
	for (uint32_t i = 1; i < 3; i++) {
		const struct user *u = &m->user[i];

		ck_assert_uint_eq(u->s.flags, 0);
		ck_assert_uint_eq(u->resident + u->slots + u->load + u->wanted + u->granted, 0);
		/* What it has had is in its last records. */
		ck_assert_uint_gt(u->total_time, 0);
	}
	ck_assert_uint_eq(m->user[1].s.events, WENT | TRANSACTION | INTERACTION | LINK_DOWN | DORMANT);
	ck_assert_uint_eq(m->user[2].s.events, WENT | TRANSACTION | INTERACTION);
	ck_assert_uint_eq(m->user[3].s.events, 0);
	ck_assert(m->user[3].s.flags & IS_ON);
	model_close(m);
}

TEST(load_and_runaways)
{
	struct model *m;

	mc_act(&s, 60, MODEL_LOAD, 2, 2, 37);
	mc_act(&s, 60, MODEL_RUNAWAY, 1, 2, 1);
	mc_act(&s, 120, MODEL_RUNAWAY, 2, 2, 0);
	mc_act(&s, 120, MODEL_LOGOFF, 3, 1, 0);
	mc_act(&s, 180, MODEL_RUNAWAY, 3, 2, 1);
	m = mc_open(&s);
	go_to(m, 60);
	for (uint32_t i = 0; i < MC_USERS; i++) {
		ck_assert_uint_eq(m->user[i].percent, i == 2 || i == 3 ? 37 : 100);
		ck_assert_uint_eq((m->user[i].s.flags & IS_RUNAWAY) != 0, i == 1 || i == 2);
	}
	go_to(m, 120);
	for (uint32_t i = 0; i < MC_USERS; i++)
		ck_assert_uint_eq((m->user[i].s.flags & IS_RUNAWAY) != 0, i == 1);
	/* Who is not there does not run away. */
	go_to(m, 180);
	for (uint32_t i = 0; i < MC_USERS; i++)
		ck_assert_uint_eq((m->user[i].s.flags & IS_RUNAWAY) != 0, i == 1 || i == 4);
	ck_assert_uint_eq(m->user[3].s.flags, 0);
	model_close(m);
}

/* On what is on, and off what is off, nothing happens; any value but 0 is on. */
TEST(varying)
{
	struct model *m;

	mc_act(&s, 60, MODEL_PROCESSOR, 1, 2, 0);
	mc_act(&s, 60, MODEL_DEVICE, 2, 2, 0);
	mc_act(&s, 120, MODEL_PROCESSOR, 0, 2, 7);
	mc_act(&s, 120, MODEL_DEVICE, 1, 2, 7);
	m = mc_open(&s);
	go_to(m, 60);
	for (uint32_t i = 0; i < MC_CPUS; i++) {
		ck_assert_uint_eq(m->cpu[i].s.flags, i == 0 ? IS_ON : 0);
		ck_assert_uint_eq(m->cpu[i].s.events, i == 0 ? 0 : WENT);
		m->cpu[i].s.events = 0;
	}
	for (uint32_t i = 0; i < MC_DEVICES; i++) {
		static const uint32_t flags[] = { IS_ON | IS_OSA, IS_ON, IS_SCSI, IS_PAGING };

		ck_assert_uint_eq(m->device[i].s.flags, flags[i]);
		ck_assert_uint_eq(m->device[i].s.events, i < 2 ? 0 : WENT);
		m->device[i].s.events = 0;
	}
	go_to(m, 120);
	for (uint32_t i = 0; i < MC_CPUS; i++) {
		ck_assert_uint_eq(m->cpu[i].s.flags, i == 2 ? 0 : IS_ON);
		ck_assert_uint_eq(m->cpu[i].s.events, i == 1 ? CAME : 0);
	}
	for (uint32_t i = 0; i < MC_DEVICES; i++)
		ck_assert_uint_eq(m->device[i].s.events, i == 2 ? CAME : 0);
	model_close(m);
}

/* The path goes for all devices that have it; which of theirs it is differs. */
TEST(paths)
{
	static const uint8_t before[] = { 0x80, 0xc0, 0xff, 0x80 };
	static const uint8_t without[] = { 0x80, 0x80, 0xfe, 0x00 };
	struct model *m;

	s.device[2].paths = 8;
	memcpy(s.device[2].chpid, (const uint8_t[]){ 1, 2, 3, 4, 5, 6, 7, 0x41 }, 8);
	/* A number behind the paths that it has is none. */
	s.device[0].chpid[1] = 0x41;
	mc_act(&s, 60, MODEL_PATH, 0x41, 0, 0);
	mc_act(&s, 61, MODEL_PATH, 0x41, 0, 0);
	mc_act(&s, 62, MODEL_PATH, 0x41, 0, 1);
	mc_act(&s, 63, MODEL_PATH, 0x41, 0, 1);
	m = mc_open(&s);
	for (uint32_t second = 60; second < 64; second++) {
		const bool offline = second < 62;

		go_to(m, second);
		for (uint32_t i = 0; i < MC_DEVICES; i++) {
			ck_assert_uint_eq(m->device[i].installed, before[i]);
			ck_assert_uint_eq(m->device[i].available, offline ? without[i] : before[i]);
			ck_assert_uint_eq(m->device[i].s.events, i > 0 && second % 2 == 0 ? CHANGED : 0);
			m->device[i].s.events = 0;
		}
	}
	model_close(m);
}

/* Until the rate changes it is the one from before. */
TEST(readers)
{
	struct record_writer w;
	struct model_set set;
	struct model *m;

	s.config.reader = 10;
	mc_act(&s, 60, MODEL_READER, 0, 0, 20);
	m = mc_open(&s);
	record_writer_init(&w, m->events.buffer, 4 * AREA_PAGE_SIZE, s.config.start);
	w.pos = 4096;
	m->now = 60000;
	segment_drain(&m->segment, 59900);
	ck_assert(segment_deliver(m, AREA_SAMPLE, 0, &w, &set));
	model_act(m);
	ck_assert_uint_eq(m->segment.rate, 20);
	ck_assert_uint_eq(m->segment.budget, 1000);
	segment_drain(&m->segment, 60154);
	ck_assert_uint_eq(m->segment.outstanding, 1);
	segment_drain(&m->segment, 60155);
	ck_assert_uint_eq(m->segment.outstanding, 0);
	model_close(m);
}

/* A command waits until it is recorded; what is later waits, too. */
TEST(commands_one_by_one)
{
	struct model *m;

	mc_act(&s, 10, MODEL_LOAD, 0, 1, 50);
	mc_act(&s, 10, MODEL_SAMPLE, 0, 0, 0xc000);
	mc_act(&s, 10, MODEL_EVENT, 0, 0, 0x4000);
	mc_act(&s, 11, MODEL_LOAD, 0, 1, 60);
	m = mc_open(&s);
	ck_assert_ptr_null(m->change);
	m->now = 9999;
	model_act(m);
	ck_assert_ptr_null(m->change);
	ck_assert_uint_eq(m->user[0].percent, 100);
	m->now = 10000;
	model_act(m);
	ck_assert_uint_eq(m->user[0].percent, 50);
	ck_assert_ptr_nonnull(m->change);
	ck_assert_uint_eq(m->change->kind, MODEL_SAMPLE);
	m->now = 11000;
	model_act(m);
	ck_assert_uint_eq(m->change->kind, MODEL_EVENT);
	ck_assert_uint_eq(m->user[0].percent, 50);
	model_act(m);
	ck_assert_ptr_null(m->change);
	ck_assert_uint_eq(m->user[0].percent, 60);
	model_act(m);
	ck_assert_ptr_null(m->change);
	model_close(m);
}

/* Commands at the very beginning say what domains there are; none of them is recorded. */
TEST(commands_at_the_beginning)
{
	struct model *m;

	mc_act(&s, 0, MODEL_SAMPLE, 0, 0, 0xc123);
	mc_act(&s, 0, MODEL_EVENT, 0, 0, 0x4321);
	mc_act(&s, 1, MODEL_EVENT, 0, 0, 0);
	m = mc_open(&s);
	ck_assert_uint_eq(m->system.sample_domains, 0xc123);
	ck_assert_uint_eq(m->system.event_domains, 0x4321);
	ck_assert_ptr_null(m->change);
	model_close(m);
}

TEST(observed)
{
	struct model *m = mc_open(&s);

	m->user[0].s.flags = IS_ON | IS_ACTIVE;
	m->user[1].s.flags = IS_ON | IS_ACTIVE | IS_CUT;
	m->user[2].s.flags = IS_ON | IS_ACTIVE | IS_CUT | IS_RUNAWAY;
	m->user[3].s.flags = IS_ON;
	m->user[4].s.flags = IS_ON | HAS_NETWORK;
	m->user[5].s.flags = 0;
	m->cpu[1].s.flags = 0;
	for (unsigned int i = 0; i < 2; i++) {
		model_observe(m);
		ck_assert_uint_eq(m->system.users, 5);
		ck_assert_uint_eq(m->system.active_users, 3);
		ck_assert_uint_eq(m->system.eligible_users, 2);
		ck_assert_uint_eq(m->system.dormant_users, 2);
		ck_assert_uint_eq(m->system.cpu_count, 3);
		ck_assert_uint_eq(m->system.cpu_online, 2);
		ck_assert_uint_eq(m->system.cpu_standby, 1);
	}
	model_close(m);
}

/* With every interval, with every action, every 15 s, at the end. */
TEST(ends_of_steps)
{
	static const uint64_t ends[] = { 7, 15, 20, 30, 40, 41, 45, 60, 75, 80, 90, 99 };
	struct model *m;

	s.config.seconds = 99;
	mc_act(&s, 7, MODEL_LOAD, 0, 1, 50);
	mc_act(&s, 30, MODEL_LOAD, 0, 1, 60);
	mc_act(&s, 41, MODEL_LOAD, 0, 1, 70);
	m = mc_open(&s);
	for (unsigned int i = 0; i < COUNT(ends); i++) {
		const uint64_t before = m->now;

		m->due = (m->now / 20000 + 1) * 20000;
		model_step(m);
		model_act(m);
		ck_assert_uint_eq(m->before, before);
		ck_assert_uint_eq(m->now, ends[i] * 1000);
	}
	model_close(m);
}

/* So many seeks a second, all of them to be recorded. */
TEST(seeks_of_a_step)
{
	struct model *m;

	mc_act(&s, 3, MODEL_STORM, 0, 0, 1000000);
	mc_act(&s, 20, MODEL_STORM, 0, 0, 7);
	m = mc_open(&s);
	go_to(m, 3);
	ck_assert_uint_eq(m->storm_count, 0);
	go_to(m, 15);
	ck_assert_uint_eq(m->storm_count, 12000000);
	ck_assert_uint_eq(m->storm_left, 12000000);
	go_to(m, 20);
	ck_assert_uint_eq(m->storm_left, 5000000);
	go_to(m, 30);
	ck_assert_uint_eq(m->storm_left, 70);
	model_close(m);
}
