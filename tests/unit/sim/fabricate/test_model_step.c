/* SPDX-License-Identifier: MIT */
/*
 * What a step does to every subject, reckoned a second time from docs/fabricate.md.
 *
 * Chance is SplitMix64 as published; it is asked for processors, then for users (load), for users
 * with an adapter that do something (size of packets), for users (samples), for processors by type.
 */
#include <inttypes.h>

#include "model_check.h"
#include "random.h"

#define TYPES 6u
#define MS_UNITS UINT64_C(4096000)	/* TOD units of a millisecond */

static struct mc_system s;

/* The second model: subjects as the first one has them, the rest its own. */
static struct {
	uint64_t random, now;
	struct user user[MC_USERS];
	struct cpu cpu[MC_CPUS];
	struct device device[MC_DEVICES];
	struct system system;
	uint64_t starts, reads, writes;	/* of all devices in the step */
} two;

static void setup(void)
{
	mc_fill(&s);
}

CASE("steps", setup, NULL);

static uint64_t chance(void)
{
	return random_next(&two.random);
}

/* The first numbers of the sequence that starts with 1234567, as others have published them. */
TEST(random_as_published)
{
	static const uint64_t published[] = {
		UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	struct model *m;

	s.config.seed = 1234567;
	m = mc_open(&s);
	two.random = 1234567;
	for (unsigned int i = 0; i < COUNT(published); i++) {
		ck_assert_uint_eq(model_random(m), published[i]);
		ck_assert_uint_eq(chance(), published[i]);
	}
	model_close(m);
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool on(const struct subject *subject)
{
	return subject->flags & IS_ON;
}

/* A rate in thousandths a second; what is less than one is kept for the next step. */
static uint64_t in_step(uint64_t rate, uint64_t load, uint64_t ms, uint64_t *rest)
{
	const uint64_t all = *rest + rate * load * ms;

	*rest = all % 1024000000;
	return all / 1024000000;
}

/* The share of @total for the weights from @low to @high. */
static uint64_t part(uint64_t total, uint64_t low, uint64_t high, uint64_t all)
{
	const uint64_t until = (uint64_t)((unsigned __int128)total * high / all);

	return until - (uint64_t)((unsigned __int128)total * low / all);
}

/* The load out of 1024 in the middle of the step, between two full hours. */
static uint64_t load_by_day(const uint16_t *percent, uint64_t begin, uint64_t end)
{
	const uint64_t second = ((begin + end) / 2000 + s.config.second_of_day) % 86400;
	const uint64_t into = second % 3600;
	const uint64_t first = percent[second / 3600], next = percent[(second / 3600 + 1) % 24];

	return (first * (3600 - into) + next * into) * 1024 / 360000;
}

static void want(struct user *u, uint64_t pattern, uint64_t ms)
{
	const struct model_user *c = &s.user[u->index];
	const uint64_t dice = chance(), most = c->processors * ms * MS_UNITS;
	/* Half as much to half more; little may be nothing; ten times of ten times at most. */
	const uint64_t load = pattern * u->percent / 100 * (512 + dice % 1024) / 1024;

	u->load = load < (dice >> 32) % 128 ? 0 : (uint32_t)min(load, 1024000);
	/* A thousandth of a processor at 1/1024 for a millisecond is 4 units. */
	u->wanted = u->s.flags & IS_RUNAWAY ? most : min(most, 4 * ms * u->load * c->cpu);
}

/* A user that wants at most a fair share gets it; the others share the rest. */
static void by_shares(unsigned int type, uint64_t left)
{
	bool served[MC_USERS] = { false };

	for (unsigned int round = 0; round < 9; round++) {
		uint64_t shares = 0, level, gone = 0;
		bool some = false;

		for (uint32_t i = 0; i < MC_USERS; i++)
			if (two.user[i].type == type && two.user[i].wanted > 0 && !served[i])
				shares += two.user[i].share;
		if (shares == 0)
			return;
		level = left / shares;
		for (uint32_t i = 0; i < MC_USERS; i++) {
			struct user *u = &two.user[i];
			const bool modest = u->wanted <= level * u->share;

			if (u->type != type || u->wanted == 0 || served[i])
				continue;
			u->granted = min(u->wanted, level * u->share);
			served[i] = modest;
			some |= modest;
			gone += modest ? u->wanted : 0;
		}
		if (!some)
			return;
		left -= gone;
	}
}

static void flag(struct user *u, uint32_t flag_, bool now, uint32_t begins, uint32_t ends)
{
	const bool was = u->s.flags & flag_;

	u->s.flags = now ? u->s.flags | flag_ : u->s.flags & ~flag_;
	if (now != was)
		u->s.events |= now ? begins : ends;
}

static void processors_and_users(uint64_t begin, uint64_t ms)
{
	const uint64_t units = ms * MS_UNITS;
	const uint64_t pattern = load_by_day(s.pattern[0].percent, begin, begin + ms);
	uint64_t capacity[TYPES] = { 0 }, wanted[TYPES] = { 0 };

	for (uint32_t i = 0; i < MC_CPUS; i++) {
		struct cpu *cpu = &two.cpu[i];

		if (!on(&cpu->s))
			continue;
		/* CP's own: half a percent to three quarters. */
		cpu->step_system = units / 200 + chance() % (units / 400);
		capacity[cpu->type] += units - cpu->step_system;
	}
	for (uint32_t i = 0; i < MC_USERS; i++) {
		struct user *u = &two.user[i];

		u->wanted = u->granted = u->load = 0;
		if (on(&u->s))
			want(u, pattern, ms);
		wanted[u->type] += u->wanted;
		u->granted = u->wanted;
	}
	for (unsigned int type = 0; type < TYPES; type++) {
		for (uint32_t i = 0; wanted[type] > capacity[type] && i < MC_USERS; i++)
			if (two.user[i].type == type)
				two.user[i].granted = 0;
		if (wanted[type] > capacity[type])
			by_shares(type, capacity[type]);
	}
	for (uint32_t i = 0; i < MC_USERS; i++) {
		struct user *u = &two.user[i];

		if (!on(&u->s))
			continue;
		u->total_time += u->granted;
		u->virtual_time += u->granted - u->granted / 20;
		flag(u, IS_ACTIVE, u->wanted > 0, DISPATCHED, DORMANT);
		flag(u, IS_CUT, u->granted < u->wanted / 2, ELIGIBLE, 0);
		if (in_step(s.user[i].transactions, u->load, ms, &u->rest_transactions) > 0 ||
		    u->s.flags & IS_RUNAWAY)
			u->s.events |= TRANSACTION | INTERACTION;
	}
}

static void disks(uint64_t ms)
{
	const struct device *const disk[] = { &two.device[1], &two.device[2] };
	uint64_t wanted[2] = { 0 }, carried[2];

	for (unsigned int k = 0; k < 2; k++)
		carried[k] = on(&disk[k]->s) ?
			     2000 * ms * (unsigned int)__builtin_popcountll(disk[k]->available) / 1000 : 0;
	for (uint32_t i = 0; i < MC_USERS; i++) {
		struct user *u = &two.user[i];

		u->wanted_io = u->load ? in_step(s.user[i].io, u->load, ms, &u->rest_io) : 0;
		wanted[i % 2] += u->wanted_io;
	}
	two.device[1].wanted = wanted[0];
	two.device[2].wanted = wanted[1];
	for (uint32_t i = 0; i < MC_USERS; i++) {
		struct user *u = &two.user[i];
		struct device *d = &two.device[1 + i % 2];
		uint64_t starts = u->wanted_io;

		if (wanted[i % 2] > carried[i % 2])
			starts = starts * carried[i % 2] / wanted[i % 2];
		u->starts += starts;
		d->starts += starts;
		/* In units of 128 us 16 in all, and up to 8 more, the busier the paths are. */
		if (carried[i % 2])
			d->pending += starts + starts * 8 * min(wanted[i % 2], carried[i % 2]) /
						       carried[i % 2];
		d->connect += starts * 7;
		d->disconnect += starts * 8;
		/* Two of three are reads, of a page each. */
		d->blocks_read += (starts - starts / 3) * 8;
		d->blocks_written += starts / 3 * 8;
		two.starts += starts;
	}
}

static void working_set(struct user *u)
{
	const uint64_t pages = s.user[u->index].pages;
	const uint64_t load = u->s.flags & IS_RUNAWAY ? 1024 : min(u->load, 1024);
	/* A fifth at rest, all at 100 %. */
	const uint64_t wanted = pages / 5 + (pages - pages / 5) * load / 1024;
	uint64_t more, read;

	if (wanted <= u->resident) {
		two.system.available += (u->resident - wanted) / 16;
		u->resident -= (u->resident - wanted) / 16;
		return;
	}
	more = min((wanted - u->resident + 15) / 16, two.system.available);
	read = min(more, u->slots);
	u->resident += more;
	two.system.available -= more;
	u->slots -= read;
	u->page_reads += read;
	u->step_reads += read;
	two.reads += read;
}

static void all_give_some(uint64_t frames)
{
	uint64_t resident = 0, before = 0;

	for (uint32_t i = 0; i < MC_USERS; i++)
		resident += two.user[i].resident;
	if (resident == 0)
		return;
	frames = min(frames, resident);
	for (uint32_t i = 0; i < MC_USERS; i++) {
		struct user *u = &two.user[i];
		const uint64_t had = u->resident, taken = part(frames, before, before + had, resident);

		u->resident -= taken;
		u->slots += taken;
		u->page_writes += taken;
		two.system.available += taken;
		two.writes += taken;
		before += had;
	}
}

static uint64_t slots_in_use(void)
{
	uint64_t slots = 0;

	for (uint32_t i = 0; i < MC_USERS; i++)
		slots += two.user[i].slots;
	return slots;
}

/* Volumes take turns with what is left over; each START SUBCHANNEL moves 8 pages. */
static void volumes(uint32_t count, uint64_t slots)
{
	uint64_t done = 0, before = 0;

	for (uint32_t i = 0; i < MC_DEVICES; i++) {
		struct device *d = &two.device[i];
		uint64_t reads, writes, starts;

		if (!(d->s.flags & IS_PAGING))
			continue;
		reads = part(two.reads, done, done + 1, count);
		writes = part(two.writes, done, done + 1, count);
		starts = (reads + writes + 7) / 8;
		d->page_reads += reads;
		d->page_writes += writes;
		d->starts += starts;
		d->pending += starts;
		d->connect += starts * 16;
		d->disconnect += starts * 8;
		two.starts += starts;
		d->slots_used = part(two.system.slots_used, before, before + d->slots, slots);
		before += d->slots;
		done++;
	}
}

static void storage(uint64_t ms)
{
	const uint64_t reserve = two.system.pageable / 50;
	uint64_t slots = 0, left;
	uint32_t count = 0;

	for (uint32_t i = 0; i < MC_DEVICES; i++)
		if (two.device[i].s.flags & IS_PAGING) {
			slots += two.device[i].slots;
			count++;
		}
	/* A slot whose page is read in this step is free in the next. */
	left = slots - slots_in_use();
	for (uint32_t i = 0; i < MC_USERS; i++) {
		struct user *u = &two.user[i];
		uint64_t pages;

		u->step_reads = 0;
		if (!on(&u->s))
			continue;
		working_set(u);
		pages = count ? in_step(s.user[i].paging, u->load, ms, &u->rest_paging) : 0;
		u->page_reads += pages;
		u->page_writes += pages;
		u->step_reads += pages;
		two.reads += pages;
		two.writes += pages;
	}
	if (count && two.system.available < reserve)
		all_give_some(min(reserve - two.system.available, left));
	two.system.slots_used = slots_in_use();
	two.system.slots_free = slots - two.system.slots_used;
	two.system.used_frames = two.system.pageable - two.system.available;
	if (count)
		volumes(count, slots);
}

static void network(uint64_t ms)
{
	uint64_t packets = 0, bytes = 0, in_packets, in_bytes, before = 0;
	struct device *osa = &two.device[0];

	for (uint32_t i = 0; i < MC_USERS; i++) {
		struct user *u = &two.user[i];
		uint64_t size;

		u->step_packets = 0;
		if (u->load == 0 || !(u->s.flags & HAS_NETWORK))
			continue;
		u->step_packets = in_step(s.user[i].packets, u->load, ms, &u->rest_packets);
		size = 64 + chance() % 1024;
		u->packets_out += u->step_packets;
		u->bytes_out += u->step_packets * size;
		packets += u->step_packets;
		bytes += u->step_packets * size;
	}
	in_packets = packets;
	in_bytes = bytes;
	if (on(&osa->s) && osa->s.flags & IS_OSA && osa->available) {
		/* Half goes out, three quarters of that come in. */
		osa->buffers_out += packets / 2;
		osa->bytes_out += bytes / 2;
		osa->buffers_in += packets / 8 * 3;
		osa->bytes_in += bytes / 8 * 3;
		in_packets += packets / 8 * 3 - packets / 2;
		in_bytes += bytes / 8 * 3 - bytes / 2;
	}
	for (uint32_t i = 0; packets && i < MC_USERS; i++) {
		struct user *u = &two.user[i];

		u->packets_in += part(in_packets, before, before + u->step_packets, packets);
		u->bytes_in += part(in_bytes, before, before + u->step_packets, packets);
		before += u->step_packets;
	}
}

/* Whole samples, and one more by a chance that is as large as what is broken off. */
static uint64_t at(uint64_t *left, uint64_t samples, uint64_t some, uint64_t all, uint64_t dice)
{
	const unsigned __int128 sum = (unsigned __int128)samples * min(some, all) + dice % all;
	const uint64_t taken = min((uint64_t)(sum / all), *left);

	*left -= taken;
	return taken;
}

static void samples_of(struct user *u, uint64_t samples, uint64_t ms)
{
	const uint64_t dice = chance(), units = ms * MS_UNITS;
	struct system *y = &two.system;
	uint64_t left = samples, n;

	u->samples += samples;
	n = at(&left, samples, u->granted, units, dice);
	u->running += n;
	y->running += n;
	n = at(&left, samples, u->wanted - u->granted, units, dice >> 8);
	u->cpu_wait += n;
	y->cpu_wait += n;
	/* 2 ms for each START SUBCHANNEL, 5 ms for each page. */
	n = at(&left, samples, u->wanted_io * 2, ms, dice >> 16);
	u->io_wait += n;
	y->io_wait += n;
	n = at(&left, samples, u->step_reads * 5, ms, dice >> 24);
	u->page_wait += n;
	y->page_wait += n;
	*(u->wanted ? &u->idle : &u->dormant) += left;
	*(u->wanted ? &y->idle : &y->dormant) += left;
}

static void high_frequency(uint64_t begin, uint64_t ms)
{
	const uint64_t each = s.config.rate * 10;
	const uint64_t samples = (begin + ms) / each - begin / each;

	for (uint32_t i = 0; samples && i < MC_USERS; i++)
		if (on(&two.user[i].s))
			samples_of(&two.user[i], samples, ms);
	for (uint32_t i = 0; i < MC_CPUS; i++)
		if (on(&two.cpu[i].s))
			two.cpu[i].samples += samples;
}

/* A processor takes about its part of what is left, an eighth more or less, as it has room. */
static void spread(unsigned int type, uint64_t units)
{
	uint64_t time = 0, emulation = 0, left, done = 0;

	for (uint32_t i = 0; i < MC_USERS; i++)
		if (two.user[i].type == type) {
			time += two.user[i].granted;
			emulation += two.user[i].granted - two.user[i].granted / 20;
		}
	left = time;
	for (uint32_t i = 0; i < MC_CPUS; i++) {
		struct cpu *cpu = &two.cpu[i];
		uint64_t room = units - cpu->step_system, others = 0, fair, mine;

		if (cpu->type != type || !on(&cpu->s))
			continue;
		for (uint32_t k = i + 1; k < MC_CPUS; k++)
			if (two.cpu[k].type == type && on(&two.cpu[k].s))
				others += units - two.cpu[k].step_system;
		fair = (uint64_t)((unsigned __int128)left * room / (room + others));
		mine = fair / 8 * (7 + chance() % 3) + fair % 8;
		mine = min(min(mine, room), left);
		if (left > others && mine < left - others)
			mine = left - others;
		cpu->step_user = mine;
		cpu->user_time += mine;
		cpu->emulation += time ? part(emulation, done, done + mine, time) : 0;
		cpu->system_time += cpu->step_system;
		cpu->wait += room - mine;
		done += mine;
		left -= mine;
	}
}

/* For CPU time: a DIAGNOSE each 2 ms, a simulation each 100 µs, a dispatch each 500 µs. */
static void counts(struct cpu *cpu, uint64_t ms)
{
	const uint64_t micros = cpu->step_user / 4096;
	const uint64_t diagnoses = micros / 2000;

	cpu->diagnose += diagnoses;
	cpu->dg08 += diagnoses / 8;
	cpu->dg0c += diagnoses / 8;
	cpu->dg258 += diagnoses / 8;
	cpu->dg9c += diagnoses / 8 * 2;
	cpu->dg44 += diagnoses - diagnoses / 8 * 5;
	cpu->simulated += micros / 100;
	cpu->dispatches += micros / 500;
	cpu->externals += ms / 10 + diagnoses / 4;
	cpu->sigp += diagnoses / 4;
}

static void processors(uint64_t ms)
{
	uint64_t all = 0, before = 0;

	for (unsigned int type = 0; type < TYPES; type++)
		spread(type, ms * MS_UNITS);
	for (uint32_t i = 0; i < MC_CPUS; i++)
		if (on(&two.cpu[i].s))
			all += two.cpu[i].step_system + two.cpu[i].step_user;
	for (uint32_t i = 0; i < MC_CPUS; i++) {
		struct cpu *cpu = &two.cpu[i];
		const uint64_t with = before + cpu->step_system + cpu->step_user;

		if (!on(&cpu->s))
			continue;
		cpu->starts += part(two.starts, before, with, all);
		cpu->page_reads += part(two.reads, before, with, all);
		cpu->page_writes += part(two.writes, before, with, all);
		before = with;
		counts(cpu, ms);
	}
}

/* Steps end every 15 s, with an interval, where an action is due, and at the end. */
static uint64_t end_of_step(void)
{
	uint64_t end = (two.now / 15000 + 1) * 15000;
	const uint64_t interval = s.config.interval * 1000;

	end = min(end, (two.now / interval + 1) * interval);
	for (uint32_t i = 0; i < s.config.actions; i++)
		if (s.action[i].second * UINT64_C(1000) > two.now)
			end = min(end, s.action[i].second * UINT64_C(1000));
	return min(end, s.config.seconds * UINT64_C(1000));
}

static void second_step(void)
{
	const uint64_t begin = two.now, ms = end_of_step() - begin;

	two.starts = two.reads = two.writes = 0;
	processors_and_users(begin, ms);
	disks(ms);
	storage(ms);
	network(ms);
	high_frequency(begin, ms);
	processors(ms);
	two.now += ms;
	two.system.elapsed = two.now;
}

/* Word by word: which one differs says which figure it is. */
static void ck_words(const char *what, uint32_t index, const void *one, const void *other,
		     size_t size)
{
	for (size_t at_ = 0; at_ + 4 <= size; at_ += 4)
		ck_assert_msg(memcmp((const uint8_t *)one + at_, (const uint8_t *)other + at_, 4) == 0,
			      "%s %u differs at byte %zu at %" PRIu64 " ms", what, index, at_, two.now);
}

static void ck_same(const struct model *m)
{
	ck_assert_uint_eq(m->now, two.now);
	for (uint32_t i = 0; i < MC_USERS; i++)
		ck_words("user", i, &m->user[i], &two.user[i], offsetof(struct user, index));
	for (uint32_t i = 0; i < MC_CPUS; i++)
		ck_words("processor", i, &m->cpu[i], &two.cpu[i], sizeof(two.cpu[i]));
	for (uint32_t i = 0; i < MC_DEVICES; i++)
		ck_words("device", i, &m->device[i], &two.device[i], sizeof(two.device[i]));
	ck_words("system", 0, &m->system, &two.system, sizeof(two.system));
	ck_assert_uint_eq(m->random, two.random);
}

/* The state of both at the beginning, or after an action. */
static void take_over(const struct model *m)
{
	memcpy(two.user, m->user, sizeof(two.user));
	memcpy(two.cpu, m->cpu, sizeof(two.cpu));
	memcpy(two.device, m->device, sizeof(two.device));
	two.system = m->system;
}

static void ck_run(void)
{
	struct model *m = mc_open(&s);

	memset(&two, 0, sizeof(two));
	two.random = s.config.seed;
	take_over(m);
	while (m->now < s.config.seconds * UINT64_C(1000)) {
		m->due = (m->now / (s.config.interval * 1000) + 1) * s.config.interval * 1000;
		model_step(m);
		second_step();
		ck_same(m);
		model_act(m);
		take_over(m);
	}
	model_close(m);
}

TEST(enough_for_all)
{
	s.config.rate = 7;
	ck_run();
}

/* A working day, by a pattern with ups and downs. */
TEST(a_day)
{
	for (unsigned int hour = 0; hour < 24; hour++)
		s.pattern[0].percent[hour] = (uint16_t)(hour % 5 * 40);
	s.config.seconds = 26 * 3600;
	s.config.second_of_day = 5 * 3600 + 17;
	s.config.interval = 600;
	ck_run();
}

/* Users that want more than there is, each another part of it. */
TEST(too_few_processors)
{
	for (uint32_t i = 0; i < MC_USERS; i++) {
		s.user[i].cpu = 200 + 450 * i;
		s.user[i].processors = 1 + i;
		s.user[i].transactions = 10;
	}
	s.config.seconds = 3600;
	mc_act(&s, 601, MODEL_RUNAWAY, 1, 2, 1);
	mc_act(&s, 1200, MODEL_LOAD, 0, 6, 3);
	mc_act(&s, 1500, MODEL_LOAD, 0, 6, 10000);
	mc_act(&s, 1804, MODEL_PROCESSOR, 1, 1, 0);
	mc_act(&s, 2000, MODEL_LOAD, 2, 2, 0);
	mc_act(&s, 2400, MODEL_PROCESSOR, 1, 1, 1);
	mc_act(&s, 2500, MODEL_PROCESSOR, 2, 1, 0);
	ck_run();
}

TEST(too_little_storage)
{
	for (uint32_t i = 0; i < MC_USERS; i++)
		s.user[i].pages = 9000 + 1700 * i;
	s.config.frames = 30000;
	s.config.seconds = 3600;
	/* Its adapter is a second volume, a smaller one. */
	s.device[0] = (struct model_device){ 0x600, MODEL_PAGING, 1, { 0x60 }, "PAGE01", 7000 };
	mc_act(&s, 900, MODEL_LOAD, 0, 3, 20);
	mc_act(&s, 1200, MODEL_LOGOFF, 1, 1, 0);
	mc_act(&s, 1800, MODEL_LOAD, 0, 3, 150);
	mc_act(&s, 2000, MODEL_LOGON, 1, 1, 0);
	mc_act(&s, 2700, MODEL_RUNAWAY, 4, 1, 1);
	ck_run();
}

/* Slots for less than would have to go. */
TEST(too_few_slots)
{
	s.config.frames = 20000;
	s.device[3].slots = 3000;
	ck_run();
}

TEST(disks_with_much_to_do)
{
	for (uint32_t i = 0; i < MC_USERS; i++)
		s.user[i].io = 300000 + 500000 * i;
	s.config.seconds = 1200;
	mc_act(&s, 200, MODEL_PATH, 0x41, 0, 0);
	mc_act(&s, 400, MODEL_PATH, 0x40, 0, 0);
	mc_act(&s, 600, MODEL_PATH, 0x41, 0, 1);
	mc_act(&s, 700, MODEL_PATH, 0x40, 0, 1);
	mc_act(&s, 800, MODEL_DEVICE, 1, 1, 0);
	mc_act(&s, 1000, MODEL_DEVICE, 1, 1, 1);
	ck_run();
}

/* The adapter is off, then without a path; some users have none. */
TEST(ways_out)
{
	s.user[1].network = 0;
	s.user[4].network = 0;
	for (uint32_t i = 0; i < MC_USERS; i++)
		s.user[i].packets = 11111 * (i + 1);
	s.config.seconds = 900;
	mc_act(&s, 200, MODEL_DEVICE, 0, 1, 0);
	mc_act(&s, 300, MODEL_DEVICE, 0, 1, 1);
	mc_act(&s, 500, MODEL_PATH, 0x60, 0, 0);
	mc_act(&s, 700, MODEL_PATH, 0x60, 0, 1);
	ck_run();
}

/* Nobody to sample, and nobody at all. */
TEST(nobody)
{
	mc_act(&s, 61, MODEL_LOGOFF, 0, MC_USERS, 0);
	mc_act(&s, 301, MODEL_LOGON, 0, MC_USERS, 0);
	s.config.seconds = 400;
	s.config.rate = 3000;
	ck_run();
}
