/* SPDX-License-Identifier: MIT */
/* The contents of configuration and sample sets. */
#include "monitor_records.h"
#include "random.h"
#include "zvmlab/command.h"

#define SAMPLE_CONFIG 0xe2c30000u

static void two_cpus(void)
{
	static const char *const options[] = { "cpus", "2", NULL };

	fx_setup_with(options);
}

CASE("contents", two_cpus, fx_teardown);

static void at(uint64_t seconds)
{
	fx.tod = UINT64_C(0xd000000000000000) + seconds * SECOND;
	cp_timer(fx.cp);
}

TEST(configuration_records)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	monitor_settings(fx.cp, false)->domains |= MON_DOMAIN_BIT(MON_USER);
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	read_records(&p->message[0]);
	ck_assert_uint_eq(records, 1 + 2 + 1 + 3 + 2 + 1);
	ck_record(0, 1, 4, 184);
	ck_assert_uint_eq(get_be16(record[0].at + D1R4_CPUCOUNT), 2);
	ck_assert_uint_eq(get_be16(record[0].at + D1R4_CPUCFGCT), 2);
	ck_record(1, 1, 5, 44);
	ck_record(2, 1, 5, 44);
	ck_assert_uint_eq(get_be16(record[2].at + D1R5_PFXCPUAD), 1);
	ck_record(3, 1, 9, 36);
	ck_assert_uint_eq(get_be32(record[3].at + D1R9_INTERVAL), 60);
	ck_assert_uint_eq(record[3].at[D1R9_SDOMAINS], 0xc8);
	ck_assert_uint_eq(get_be16(record[3].at + D1R9_CONFIG), 4096);
	for (unsigned int i = 0; i < 3; i++) {
		static const uint8_t domain[] = { 0, 1, 4 };

		ck_record(4 + i, 1, 14, 28);
		ck_assert_uint_eq(record[4 + i].at[D1R14_PROFILE], 0xe2);
		ck_assert_uint_eq(record[4 + i].at[D1R14_DMNUMBER], domain[i]);
	}
	/* The guest and the peer are logged on. */
	ck_record(7, 1, 15, 204);
	ck_record(8, 1, 15, 204);
	ck_record(9, 1, 11, 20);
	ck_assert_uint_eq(get_be64(record[9].at + HEADER_TOD), fx.tod);
	ck_assert_uint_eq(get_be16(peer_mce(&p->message[0], 0) + MCE_DOMAINS), 0x4000);
	ck_assert_uint_eq(peer_mce(&p->message[0], 0)[MCE_TYPE], MCE_SAMPLE);
}

TEST(sample_records)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);
	uint8_t name[8];
	uint64_t total;

	monitor_settings(fx.cp, false)->domains = 0xffff;
	monitor_start(fx.cp, false);
	at(60);
	read_records(peer_last(p));
	ck_assert_uint_eq(count_records(0, 1), 2);
	ck_assert_uint_eq(count_records(0, 2), 2);
	ck_assert_uint_eq(count_records(0, 3), 1);
	ck_assert_uint_eq(count_records(0, 8), 1);
	ck_assert_uint_eq(count_records(3, 1), 1);
	ck_assert_uint_eq(count_records(4, 3), 2);
	ck_assert_uint_eq(count_records(5, 3), 2);
	ck_assert_uint_eq(count_records(6, 3), 1);
	ck_assert_uint_eq(count_records(8, 1), 1);
	/* No program has declared a buffer. */
	ck_assert_uint_eq(count_records(10, 2), 0);
	ck_assert_uint_eq(records, 14);
	ck_record(0, 0, 1, 116);
	ck_record(2, 0, 2, 108);
	ck_record(4, 0, 3, 492);
	ck_record(5, 0, 8, 100);
	ck_assert_uint_eq(get_be32(record[5].at + D0R8_SYSUSRS), 2);
	ck_record(records - 1, 1, 11, 20);
	/* CPU time adds up to the time that has passed. */
	total = get_be64(record[2].at + D0R2_PFXUTIME) + get_be64(record[2].at + D0R2_PFXTMSYS) +
		get_be64(record[2].at + D0R2_PFXTOTWT);
	ck_assert_uint_eq(total, 60 * SECOND);
	ck_record(7, 4, 3, 440);
	ebcdic_name(name, "LINUX001");
	ck_assert_mem_eq(record[7].at + D4R3_VMDUSER, name, 8);
	/* SYSTEM, MONITOR, STORAGE, USER, PROCESSOR, I/O; NETWORK. */
	ck_assert_uint_eq(get_be16(peer_mce(peer_last(p), 0) + MCE_DOMAINS), 0xde80);
}

/* Counters in samples; the names are those of z/VM 5.3. */
static const struct { unsigned int domain, number, offset, bytes; } counters[] = {
	{ 0, 1, 28, 4 },	/* PLSDIAGT */
	{ 0, 1, 36, 4 },	/* PLSEXTNX */
	{ 0, 1, 72, 4 },	/* PLSPIOPR */
	{ 0, 1, 76, 4 },	/* PLSPIOPW */
	{ 0, 2, 32, 8 },	/* PFXUTIME */
	{ 0, 2, 40, 8 },	/* PFXTMSYS */
	{ 0, 2, 68, 8 },	/* PFXTOTWT */
	{ 5, 3, 84, 4 },	/* PFXDSPCS */
	{ 6, 3, 192, 4 },	/* starts of the console */
	{ 8, 1, 112, 8 },	/* SESTXPKT */
	{ 8, 1, 136, 8 },	/* SESRXPKT */
};
enum { COUNTERS = sizeof(counters) / sizeof(counters[0]) };

/* A counter in the first record that has it. */
static uint64_t counter(unsigned int i)
{
	unsigned int n = 0;

	while (n < records && (record[n].domain != counters[i].domain ||
			       record[n].number != counters[i].number))
		n++;
	ck_assert_uint_lt(n, records);
	return counters[i].bytes == 8 ? get_be64(record[n].at + counters[i].offset) :
					get_be32(record[n].at + counters[i].offset);
}

/* They go up only, and none stands still for long. */
TEST(counters_go_up)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);
	uint64_t before[COUNTERS] = { 0 };

	p->automatic = true;
	monitor_settings(fx.cp, false)->domains = 0xffff;
	monitor_start(fx.cp, false);
	for (unsigned int interval = 1; interval <= 10; interval++) {
		at(60 * interval);
		read_records(peer_last(p));
		for (unsigned int i = 0; i < COUNTERS; i++) {
			ck_assert_uint_ge(counter(i), before[i]);
			before[i] = counter(i);
		}
		/* CPU time adds up to the time that has passed. */
		ck_assert_uint_eq(before[4] + before[5] + before[6], 60 * interval * SECOND);
	}
	/* Ten random numbers are not all 0. */
	for (unsigned int i = 0; i < COUNTERS; i++)
		ck_assert_uint_gt(before[i], 0);
}

/*
 * The same seed gives the same activity in every version: recorded traces are replayed.  One random
 * number of an interval is for pages, then one for each CPU; these are the bits of each counter.
 */
TEST(activity_follows_from_the_seed)
{
	static const struct { unsigned int counter, number, shift; uint64_t mask; } bits[] = {
		{ 0, 1, 16, 0xff }, { 1, 1, 24, 0xfff }, { 2, 0, 0, 0x3f }, { 3, 0, 8, 0x1f },
		{ 8, 1, 36, 0xff },
	};
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);
	uint64_t wanted[COUNTERS] = { 0 }, state = fx.config.seed;

	p->automatic = true;
	monitor_settings(fx.cp, false)->domains = 0xffff;
	monitor_start(fx.cp, false);
	for (unsigned int interval = 0; interval <= 10; interval++) {
		const uint64_t elapsed = interval ? 60 * SECOND : 0;
		uint64_t number[3];

		for (unsigned int i = 0; i < 3; i++)
			number[i] = random_next(&state);
		at(60 * interval);
		read_records(peer_last(p));
		for (unsigned int i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
			wanted[bits[i].counter] += number[bits[i].number] >> bits[i].shift & bits[i].mask;
			ck_assert_uint_eq(counter(bits[i].counter), wanted[bits[i].counter]);
		}
		/* Up to 59 % in programs, and up to a tenth in CP. */
		wanted[4] += elapsed / 100 * (number[1] % 60);
		wanted[5] += elapsed / 100 * (number[1] >> 8) % (elapsed / 10 + 1);
		ck_assert_uint_eq(counter(4), wanted[4]);
		ck_assert_uint_eq(counter(5), wanted[5]);
	}
}

/* Kinds of fields: a number; the record's number; a name; a counter. */
enum has { NUMBER, PLACE, NAME, SYSTEM, COUNTED };

struct field {
	unsigned int domain, number, offset, bytes;
	enum has has;
	uint64_t value;
};

/* Offsets, lengths and names are those of zvmlab records; 1,536 pages are the guest's. */
static const struct field sample_fields[] = {
	{ 0, 1, 20, 2, PLACE, 0 },	/* PFXCPUAD */
	{ 0, 1, 28, 4, COUNTED, 0 },	/* PLSDIAGT */
	{ 0, 1, 36, 4, COUNTED, 0 },	/* PLSEXTNX */
	{ 0, 1, 72, 4, COUNTED, 0 },	/* PLSPIOPR */
	{ 0, 1, 76, 4, COUNTED, 0 },	/* PLSPIOPW */
	{ 0, 2, 20, 2, PLACE, 0 },	/* PFXCPUAD */
	{ 0, 2, 24, 8, COUNTED, 0 },	/* PFXPRBTM */
	{ 0, 2, 32, 8, COUNTED, 0 },	/* PFXUTIME */
	{ 0, 2, 40, 8, COUNTED, 0 },	/* PFXTMSYS */
	{ 0, 2, 68, 8, COUNTED, 0 },	/* PFXTOTWT */
	{ 0, 3, 48, 4, NUMBER, 24 },	/* RSAPGABL: a 64th */
	{ 0, 3, 52, 4, NUMBER, 384 },	/* RSAAVAIL: a quarter */
	{ 0, 8, 20, 4, NUMBER, 2 },	/* SYSUSRS */
	{ 3, 1, 40, 4, NUMBER, 24 },	/* RSAAVLLT */
	{ 3, 1, 44, 4, NUMBER, 48 },	/* RSAAVLHT */
	{ 4, 3, 20, 8, NAME, 0 },	/* VMDUSER */
	{ 5, 3, 20, 2, PLACE, 0 },	/* PFXCPUAD */
	{ 5, 3, 84, 4, COUNTED, 0 },	/* PFXDSPCS */
	{ 6, 3, 52, 2, COUNTED, 0 },	/* SCMSSCH */
	{ 6, 3, 192, 4, COUNTED, 0 },	/* SCGSSCH */
	{ 6, 3, 200, 2, NUMBER, 9 },	/* RDEVDEV: the console */
	{ 8, 1, 24, 8, NAME, 0 },	/* the adapter's owner: the guest */
	{ 8, 1, 112, 8, COUNTED, 0 },	/* SESTXPKT */
	{ 8, 1, 136, 8, COUNTED, 0 },	/* SESRXPKT */
	{ 10, 2, 52, 4, COUNTED, 0 },	/* the application's data */
	{ 1, 4, 88, 8, SYSTEM, 0 },	/* SYSTMID */
	{ 1, 4, 152, 2, NUMBER, 2 },	/* CPUCOUNT */
	{ 1, 4, 154, 2, NUMBER, 2 },	/* CPUCFGCT */
	{ 1, 5, 20, 2, PLACE, 0 },	/* PFXCPUAD */
	{ 1, 9, 20, 4, NUMBER, 60 },	/* INTERVAL */
	{ 1, 9, 24, 4, NUMBER, 250 },	/* HFRATE */
	{ 1, 9, 28, 2, NUMBER, 0xffff },	/* SDOMAINS */
	{ 1, 9, 32, 2, NUMBER, 4096 },	/* CONFIG */
	{ 1, 14, 20, 1, NUMBER, 0xe2 },	/* S: a sample */
	{ 1, 14, 21, 1, PLACE, 0 },	/* the domain, all of which are enabled */
	{ 1, 15, 20, 8, NAME, 0 },	/* VMDUSER */
}, event_fields[] = {
	{ 1, 1, 20, 2, NUMBER, 0xffff },	/* EDOMAINS */
	{ 1, 1, 22, 2, NUMBER, 65535 },	/* CONFIG: 65,536 are more than it can tell */
	{ 1, 14, 20, 1, NUMBER, 0xc5 },	/* E: an event */
	{ 1, 14, 21, 1, PLACE, 0 },
};

/* Holds a field of record @r, the one numbered @place of its kind, and blanks it in @rest. */
static void ck_field(const struct field *f, const struct record *r, unsigned int place,
		     uint8_t *rest)
{
	static const char *const names[] = { "LINUX001", "PEER0" };
	const uint8_t *at = r->at + f->offset;
	uint8_t name[8];
	uint64_t value = 0;

	ck_assert_uint_le(f->offset + f->bytes, r->len);
	memset(rest + f->offset, 0, f->bytes);
	for (unsigned int i = 0; i < f->bytes; i++)
		value = value << 8 | at[i];
	if (f->has == NAME || f->has == SYSTEM) {
		ck_assert_uint_lt(place, 2);
		ebcdic_name(name, f->has == SYSTEM ? "ZVMLAB" : names[place]);
		ck_assert_mem_eq(at, name, 8);
	} else if (f->has != COUNTED) {
		ck_assert_msg(value == (f->has == PLACE ? place : f->value), "D%uR%u at %u: %llu",
			      f->domain, f->number, f->offset, (unsigned long long)value);
	}
}

/* Every byte of the records that were read, behind their headers, is in a field or 0. */
static void ck_fields(const struct field *fields, size_t count)
{
	static const uint8_t zeros[512];

	for (unsigned int i = 0; i < records; i++) {
		const struct record *r = &record[i];
		uint8_t rest[512];
		unsigned int place = 0;

		ck_assert_uint_le(r->len, sizeof(rest));
		memcpy(rest, r->at, r->len);
		for (unsigned int n = 0; n < i; n++)
			place += record[n].domain == r->domain && record[n].number == r->number;
		for (size_t f = 0; f < count; f++)
			if (fields[f].domain == r->domain && fields[f].number == r->number)
				ck_field(&fields[f], r, place, rest);
		ck_assert_msg(memcmp(rest + HEADER_SIZE, zeros, r->len - HEADER_SIZE) == 0,
			      "D%uR%u", r->domain, r->number);
	}
}

TEST(every_byte_of_samples)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	monitor_settings(fx.cp, false)->domains = 0xffff;
	monitor_settings(fx.cp, false)->rate_hundredths = 250;
	monitor_start(fx.cp, false);
	at(60);
	for (unsigned int i = 0; i < p->messages; i++) {
		read_records(&p->message[i]);
		ck_fields(sample_fields, sizeof(sample_fields) / sizeof(sample_fields[0]));
	}
}

TEST(every_byte_of_event_configuration)
{
	struct peer *p = peer_user(0, WANT_EVENT, 255);

	monitor_settings(fx.cp, true)->domains = 0xffff;
	monitor_settings(fx.cp, true)->config_pages = 65536;
	monitor_start(fx.cp, true);
	iucv_dispatch(fx.cp);
	read_records(&p->message[0]);
	ck_assert_uint_eq(count_records(1, 1), 1);
	ck_assert_uint_eq(count_records(1, 14), 12);
	ck_fields(event_fields, sizeof(event_fields) / sizeof(event_fields[0]));
}

TEST(only_enabled_domains)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);

	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 2 + 2 + 1 + 1 + 1);
	ck_assert_uint_eq(get_be16(peer_mce(peer_last(p), 0) + MCE_DOMAINS), 0xc000);
}

/* Many users: several frames, each ended by D1R13 (which read_records checks). */
TEST(several_frames)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);
	char name[9];

	for (unsigned int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "USER%u", i);
		ck_assert_ptr_nonnull(iucv_user_create(fx.cp, name, 1, NULL, NULL));
	}
	monitor_settings(fx.cp, false)->domains = 0xffff;
	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	read_records(&p->message[0]);
	ck_assert_uint_eq(count_records(1, 15), 32);
	ck_record(records - 1, 1, 11, 20);
	read_records(&p->message[1]);
	ck_assert_uint_eq(count_records(4, 3), 32);
	ck_record(records - 1, 1, 11, 20);
}

TEST(settings_changed)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);
	static const char text[] = "MONITOR SAMPLE ENABLE USER ALL";
	uint8_t ebcdic[sizeof(text) - 1];

	monitor_settings_changed(fx.cp, false, text);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(p->messages, 0);
	monitor_start(fx.cp, false);
	monitor_settings_changed(fx.cp, false, text);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(p->messages, 3);
	ck_assert_uint_eq(peer_last(p)->trgcls, SAMPLE_CONFIG);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 2);
	ck_record(0, 1, 10, D1R10_COMMAND + sizeof(ebcdic));
	ck_assert_uint_eq(get_be64(record[0].at + D1R10_CALTOD), fx.tod);
	ck_assert_uint_eq(get_be32(record[0].at + D1R10_CALBYCT), sizeof(ebcdic));
	ebcdic_encode(ebcdic, text, sizeof(ebcdic));
	ck_assert_mem_eq(record[0].at + D1R10_COMMAND, ebcdic, sizeof(ebcdic));
	ck_record(1, 1, 11, 20);
}

/* The command gives the same record by itself, quoted in upper case; a refused one gives none. */
TEST(command_is_recorded)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);
	static const char text[] = "MONITOR SAMPLE ENABLE USER ALL";
	static const char typed[] = "  mon  sample enable user all";
	static const char wrong[] = "monitor sample enable nothing";
	uint8_t ebcdic[sizeof(text) - 1];

	monitor_start(fx.cp, false);
	iucv_dispatch(fx.cp);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_int_ne(cpcmd_run(fx.cp, CPCMD_OPERATOR, wrong, sizeof(wrong) - 1)->rc, 0);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_int_eq(cpcmd_run(fx.cp, CPCMD_OPERATOR, typed, sizeof(typed) - 1)->rc, 0);
	ck_assert_uint_eq(p->messages, 3);
	read_records(peer_last(p));
	ck_record(0, 1, 10, D1R10_COMMAND + sizeof(ebcdic));
	ebcdic_encode(ebcdic, text, sizeof(ebcdic));
	ck_assert_mem_eq(record[0].at + D1R10_COMMAND, ebcdic, sizeof(ebcdic));
}

/* 240 characters as typed, 244 as quoted: the record has the first 240. */
TEST(longest_command_is_recorded)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);
	static char typed[241] = "mon sample enable appldata userid", text[256];
	uint8_t ebcdic[240];

	for (unsigned int i = 0; i < 23; i++)
		snprintf(typed + strlen(typed), sizeof(typed) - strlen(typed), " USER%04u", i % 16);
	ck_assert_uint_eq(strlen(typed), 240);
	snprintf(text, sizeof(text), "MONITOR SAMPLE ENABLE APPLDATA USERID%s", typed + 33);
	monitor_start(fx.cp, false);
	ck_assert_int_eq(cpcmd_run(fx.cp, CPCMD_OPERATOR, typed, strlen(typed))->rc, 0);
	iucv_dispatch(fx.cp);
	read_records(peer_last(p));
	ck_record(0, 1, 10, D1R10_COMMAND + sizeof(ebcdic));
	ck_assert_uint_eq(get_be32(record[0].at + D1R10_CALBYCT), sizeof(ebcdic));
	ebcdic_encode(ebcdic, text, sizeof(ebcdic));
	ck_assert_mem_eq(record[0].at + D1R10_COMMAND, ebcdic, sizeof(ebcdic));
}

TEST(deterministic)
{
	struct peer *p = peer_user(0, WANT_SAMPLE, 255);
	static uint8_t first[65536];
	uint32_t len = 0;

	for (unsigned int round = 0; round < 2; round++) {
		monitor_settings(fx.cp, false)->domains = 0xffff;
		monitor_start(fx.cp, false);
		at(60);
		len = peer_end(peer_last(p), 0) + 1 - peer_start(peer_last(p), 0);
		ck_assert_uint_le(len, sizeof(first));
		if (round == 0) {
			memcpy(first, fx_at(peer_start(peer_last(p), 0), len), len);
			fx_teardown();
			two_cpus();
			p = peer_user(0, WANT_SAMPLE, 255);
		}
	}
	ck_assert_mem_eq(first, fx_at(peer_start(peer_last(p), 0), len), len);
}
