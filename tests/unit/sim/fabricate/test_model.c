/* SPDX-License-Identifier: MIT */
/* Invariants of the model, whatever happens to it. */
#include "model_check.h"

static struct mc_system s;

static void setup(void)
{
	mc_fill(&s);
}

CASE("model", setup, NULL);

/* All time of a processor that was never offline is accounted for. */
static void ck_time(const struct model *m)
{
	for (uint32_t i = 0; i < MC_CPUS; i++) {
		const struct cpu *cpu = &m->cpu[i];

		ck_assert_uint_eq(cpu->user_time + cpu->system_time + cpu->wait,
				  m->now * TOD_MILLISECOND);
		ck_assert_uint_le(cpu->emulation, cpu->user_time);
	}
}

/* Users got as much time of each type as its processors gave. */
static void ck_charged(const struct model *m)
{
	uint64_t had[MODEL_CPU_TYPES] = { 0 }, gave[MODEL_CPU_TYPES] = { 0 };
	uint64_t emulated_had = 0, emulated_gave = 0;

	for (uint32_t i = 0; i < MC_USERS; i++) {
		had[m->user[i].type] += m->user[i].total_time;
		emulated_had += m->user[i].virtual_time;
	}
	for (uint32_t i = 0; i < MC_CPUS; i++) {
		gave[m->cpu[i].type] += m->cpu[i].user_time;
		emulated_gave += m->cpu[i].emulation;
	}
	for (unsigned int type = 0; type < MODEL_CPU_TYPES; type++)
		ck_assert_uint_eq(had[type], gave[type]);
	ck_assert_uint_eq(emulated_had, emulated_gave);
}

static void ck_storage(const struct model *m)
{
	uint64_t resident = 0, slots = 0, on_volumes = 0;

	for (uint32_t i = 0; i < MC_USERS; i++) {
		resident += m->user[i].resident;
		slots += m->user[i].slots;
	}
	for (uint32_t i = 0; i < MC_DEVICES; i++)
		on_volumes += m->device[i].slots_used;
	ck_assert_uint_eq(resident + m->system.available, m->system.pageable);
	ck_assert_uint_eq(slots, m->system.slots_used);
	ck_assert_uint_eq(slots, on_volumes);
}

static void ck_counts(const struct model *m)
{
	uint64_t cpu_starts = 0, starts = 0, reads = 0, user_reads = 0, out = 0, in = 0;

	for (uint32_t i = 0; i < MC_CPUS; i++) {
		cpu_starts += m->cpu[i].starts;
		reads += m->cpu[i].page_reads;
		ck_assert_uint_eq(m->cpu[i].diagnose, m->cpu[i].dg08 + m->cpu[i].dg0c +
				  m->cpu[i].dg44 + m->cpu[i].dg9c + m->cpu[i].dg258);
	}
	for (uint32_t i = 0; i < MC_DEVICES; i++) {
		starts += m->device[i].starts;
		out += m->device[i].bytes_in;
		in += m->device[i].bytes_out;
	}
	for (uint32_t i = 0; i < MC_USERS; i++) {
		user_reads += m->user[i].page_reads;
		out += m->user[i].bytes_out;
		in += m->user[i].bytes_in;
	}
	ck_assert_uint_eq(cpu_starts, starts);
	ck_assert_uint_eq(reads, user_reads);
	ck_assert_uint_eq(reads, m->device[3].page_reads);
	ck_assert_uint_eq(out, in);
}

static void ck_states(const struct model *m)
{
	const struct system *y = &m->system;
	uint64_t samples = 0;

	for (uint32_t i = 0; i < MC_USERS; i++) {
		const struct user *u = &m->user[i];

		samples += u->samples;
		ck_assert_uint_eq(u->samples, u->idle + u->io_wait + u->page_wait + u->cpu_wait +
				  u->running + u->dormant);
	}
	ck_assert_uint_eq(samples, y->idle + y->io_wait + y->page_wait + y->cpu_wait + y->running +
			  y->dormant);
}

/* All steps, without the framing. */
static void ck_run(struct model *m)
{
	while (m->now < (uint64_t)s.config.seconds * 1000) {
		if (m->now == m->due)
			m->due = m->now + s.config.interval * 1000;
		model_step(m);
		ck_time(m);
		ck_charged(m);
		ck_storage(m);
		ck_counts(m);
		ck_states(m);
	}
}

TEST(everything_adds_up)
{
	struct model *m = mc_open(&s);

	ck_run(m);
	ck_assert_uint_gt(m->cpu[2].user_time, 0);
	ck_assert_uint_gt(m->device[1].starts, 0);
	ck_assert_uint_gt(m->device[0].bytes_out, 0);
	model_close(m);
}

/* Storage for a third of what users want: pages come and go, none is lost. */
TEST(storage_is_short)
{
	struct model *m;

	s.config.frames = 40000;
	m = mc_open(&s);
	ck_run(m);
	ck_assert_uint_gt(m->system.slots_used, 1000);
	ck_assert_uint_gt(m->user[0].page_reads, 1000);
	model_close(m);
}

TEST(storage_without_paging)
{
	struct model *m;

	s.config.frames = 40000;
	s.config.devices = 3;
	m = mc_open(&s);
	for (unsigned int i = 0; i < 20; i++) {
		m->due = m->now + 60000;
		model_step(m);
		ck_assert_uint_le(m->system.available, m->system.pageable);
	}
	ck_assert_uint_eq(m->system.slots_used, 0);
	ck_assert_uint_eq(m->user[0].page_reads, 0);
	model_close(m);
}

/* Three users of one IFL want all of it: shares of 200, 400 and 600 decide. */
TEST(shares_decide)
{
	struct model *m;
	uint64_t all;

	for (uint32_t i = 0; i < MC_USERS; i++)
		s.user[i].cpu = 1000;
	m = mc_open(&s);
	for (uint32_t i = 1; i < MC_USERS; i += 2)
		m->user[i].s.flags |= IS_RUNAWAY;
	ck_run(m);
	all = m->user[1].total_time + m->user[3].total_time + m->user[5].total_time;
	ck_assert_uint_le(m->user[1].total_time * 6 / all, 1);
	ck_assert_uint_ge(m->user[1].total_time * 601 / all, 100);
	ck_assert_uint_ge(m->user[3].total_time * 301 / all, 100);
	ck_assert_uint_ge(m->user[5].total_time * 201 / all, 100);
	/* The IFL does nothing else but a little for CP. */
	ck_assert_uint_lt(m->cpu[2].wait, TOD_MILLISECOND / 10);
	ck_assert(m->user[1].s.flags & IS_CUT);
	model_close(m);
}

TEST(paths_carry_so_much)
{
	struct model *m;
	uint64_t before;

	for (uint32_t i = 0; i < MC_USERS; i++)
		s.user[i].io = 10000000;
	mc_act(&s, 300, MODEL_PATH, 0x40, 0, 0);
	m = mc_open(&s);
	for (m->due = 300000; m->now < 300000;)
		model_step(m);
	/* 2000 a second on each path. */
	ck_assert_uint_le(m->device[1].starts, 300 * 4000);
	ck_assert_uint_ge(m->device[1].starts, 300 * 3900);
	model_act(m);
	ck_assert_uint_eq(m->device[1].available, 0x40);
	ck_assert_uint_eq(m->device[2].available, 0);
	ck_assert_uint_eq(m->device[2].s.events, CHANGED);
	before = m->device[2].starts;
	m->due = 360000;
	model_step(m);
	ck_assert_uint_eq(m->device[2].starts, before);
	model_close(m);
}

TEST(who_logs_off_leaves_nothing)
{
	struct model *m;
	uint64_t before;

	s.config.frames = 40000;
	mc_act(&s, 120, MODEL_LOGOFF, 0, MC_USERS, 0);
	mc_act(&s, 240, MODEL_LOGON, 1, 1, 0);
	m = mc_open(&s);
	for (m->due = 120000; m->now < 120000;)
		model_step(m);
	model_act(m);
	ck_assert_uint_eq(m->system.available, m->system.pageable);
	ck_assert_uint_eq(m->system.slots_used, 0);
	ck_assert(m->user[1].s.events & WENT);
	before = m->user[1].samples;
	for (m->due = 240000; m->now < 240000;)
		model_step(m);
	ck_assert_uint_eq(m->user[1].samples, before);
	model_act(m);
	ck_assert_uint_eq(m->user[1].total_time, 0);
	ck_assert_uint_eq(m->user[1].logon, model_tod(m, 240000));
	ck_assert_uint_eq(m->user[0].s.flags, 0);
	model_close(m);
}

/* To the end of the second, and what happens then. */
static void go_to(struct model *m, uint32_t second)
{
	for (m->due = second * 1000; m->now < second * UINT64_C(1000);)
		model_step(m);
	model_act(m);
}

TEST(what_happens_is_over_some_time)
{
	uint64_t before, usual;
	struct model *m;

	mc_act(&s, 60, MODEL_LOAD, 0, 1, 10);
	mc_act(&s, 120, MODEL_LOAD, 0, 1, 100);
	mc_act(&s, 120, MODEL_RUNAWAY, 0, 1, 1);
	mc_act(&s, 180, MODEL_RUNAWAY, 0, 1, 0);
	m = mc_open(&s);
	go_to(m, 60);
	usual = m->user[0].total_time;
	go_to(m, 120);
	ck_assert_uint_lt((m->user[0].total_time - usual) * 5, usual);
	before = m->user[0].total_time;
	go_to(m, 180);
	ck_assert_uint_eq(m->user[0].total_time - before, 60000 * TOD_MILLISECOND);
	ck_assert(m->user[0].s.events & TRANSACTION);
	before = m->user[0].total_time;
	go_to(m, 240);
	ck_assert_uint_lt(m->user[0].total_time - before, 2 * usual);
	model_close(m);
}

TEST(off_and_on_again)
{
	struct model *m;
	uint64_t user_time, starts, wait;

	mc_act(&s, 60, MODEL_PROCESSOR, 2, 1, 0);
	mc_act(&s, 60, MODEL_DEVICE, 1, 1, 0);
	mc_act(&s, 60, MODEL_READER, 0, 0, 7);
	mc_act(&s, 120, MODEL_PROCESSOR, 2, 1, 1);
	mc_act(&s, 120, MODEL_DEVICE, 1, 1, 1);
	m = mc_open(&s);
	go_to(m, 60);
	ck_assert_uint_eq(m->cpu[2].s.events, WENT);
	ck_assert_uint_eq(m->device[1].s.events, WENT);
	ck_assert_uint_eq(m->segment.rate, 7);
	user_time = m->cpu[2].user_time;
	wait = m->cpu[2].wait;
	starts = m->device[1].starts;
	go_to(m, 120);
	/* Its users got nothing, for there is no other IFL. */
	ck_assert_uint_eq(m->cpu[2].user_time, user_time);
	ck_assert_uint_eq(m->cpu[2].wait, wait);
	ck_assert_uint_eq(m->user[1].granted, 0);
	ck_assert_uint_eq(m->device[1].starts, starts);
	ck_assert(m->cpu[2].s.events & CAME && m->device[1].s.events & CAME);
	go_to(m, 180);
	ck_assert_uint_gt(m->cpu[2].user_time, user_time);
	ck_assert_uint_gt(m->device[1].starts, starts);
	model_close(m);
}

TEST(portions_add_up)
{
	const uint64_t weight[] = { 0, 1, 1, 3, 7, UINT64_C(1) << 40, 0 };
	uint64_t all = 0;

	for (unsigned int i = 0; i < COUNT(weight); i++)
		all += weight[i];
	for (uint64_t total = 0; total < 50; total++) {
		uint64_t before = 0, sum = 0;

		for (unsigned int i = 0; i < COUNT(weight); i++) {
			const uint64_t one = portion(total, before, before + weight[i], all);

			ck_assert(weight[i] > 0 || one == 0);
			sum += one;
			before += weight[i];
		}
		ck_assert_uint_eq(sum, total);
	}
}

TEST(rests_are_kept)
{
	uint64_t rest = 0, sum = 0;

	/* A third of a thousandth a second, at full load, step by step. */
	for (unsigned int i = 0; i < 3000; i++)
		sum += amount(1, LOAD_ONE, 1000, &rest);
	ck_assert_uint_eq(sum, 3);
	ck_assert_uint_eq(rest, 0);
}
