/* SPDX-License-Identifier: MIT */
/* *MONITOR of several machines: whose data it has, who reads them, and by which clock. */
#include "appldata_calls.h"
#include "command_check.h"
#include "iucv_guest.h"

enum { ALICE, BOB, CAROL };

/* D4R1, D4R2. */
enum { D4_VMDUSER = 20, D4_CALMODE = 31, D8R1_OWNER = 24 };

static uint16_t path[FX_MACHINES];
static struct peer *reader;	/* of ALICE */

static void logon(unsigned int machine, const char *userid)
{
	fx_logon(machine, userid, (const char *const[]){
		"directory", "IUCV ALLOW;IUCV *MONITOR MSGLIMIT 255;NAMESAVE MONDCSS;OPTION APPLMON",
		"storage", "0.4M", NULL });
	fx_declare(0);
}

static void setup(void)
{
	fx_system((const char *const[]){ "cpus", "2", "storage", "0.4M", NULL });
	logon(BOB, "BOB");
	logon(ALICE, "ALICE");
	reader = peer_user(0, WANT_BOTH, 255);
}

FX_REPLAY_TRACES;

CASE("monitor machines", setup, fx_teardown);

/* Linux's CONNECT for both kinds of data. */
static void connect_reader(unsigned int machine)
{
	uint8_t *p;

	fx_use(machine);
	p = parm_zero();
	p[IPFLAGS1] = IPRMDATA;
	put_be16(p + IPMSGLIM, 255);
	ebcdic_name(p + IPVMID, MON_SERVICE);
	p[IPUSER + WANTED_VERSION] = 1;
	p[IPUSER + WANTED_DATA] = WANT_BOTH;
	ebcdic_name(p + IPUSER + WANTED_SEGMENT, "MONDCSS");
	ck_cc(guest(IUCV_CONNECT), 0);
	path[machine] = get_be16(p + IPPATHID);
	take(IUCV_COMPLETE, path[machine]);
}

static void start(const char *domains)
{
	char text[256];

	snprintf(text, sizeof(text), "MON SAMPLE ENABLE %s\nMON EVENT ENABLE %s\n"
		 "MON SAMPLE START\nMON EVENT START", domains, domains);
	ck_guest(text, 0, "Monitor sample started\nMonitor event started\n");
	cp_timer(fx.cp);
}

/* Records of the set that the end of an interval delivers to ALICE's peer. */
static void sample(void)
{
	const unsigned int before = reader->messages;

	fx_use(ALICE);
	monitor_tick(fx.cp);
	ck_assert_uint_gt(reader->messages, before);
	read_records(&reader->message[before]);
}

/* Records of the block that is filled until now. */
static void block(void)
{
	const unsigned int before = reader->messages;

	fx_clock.tod = fx_clock.timer;
	cp_system_timer(fx_clock.system);
	ck_assert_uint_eq(reader->messages, before + 1);
	fx_use(ALICE);
	read_records(peer_last(reader));
}

static void ck_name(const uint8_t *at, const char *name)
{
	uint8_t expected[8];

	ebcdic_name(expected, name);
	ck_assert_mem_eq(at, expected, 8);
}

/* The @index-th record of this kind. */
static const uint8_t *nth(unsigned int domain, unsigned int number, unsigned int index)
{
	for (unsigned int i = 0; i < records; i++)
		if (record[i].domain == domain && record[i].number == number && index-- == 0)
			return record[i].at;
	ck_abort_msg("there is no such record D%uR%u", domain, number);
}

/* Machines in the order of their log-on; ALICE's peer is no user for the others. */
TEST(users)
{
	start("USER ALL");
	sample();
	ck_assert_uint_eq(get_be32(nth(0, 8, 0) + D0R8_SYSUSRS), 2);
	ck_assert_uint_eq(count_records(4, 3), 2);
	ck_name(nth(4, 3, 0) + D4R3_VMDUSER, "BOB");
	ck_name(nth(4, 3, 1) + D4R3_VMDUSER, "ALICE");
	logon(CAROL, "CAROL");
	sample();
	ck_assert_uint_eq(get_be32(nth(0, 8, 0) + D0R8_SYSUSRS), 3);
	ck_name(nth(4, 3, 2) + D4R3_VMDUSER, "CAROL");
	fx_logoff(BOB);
	sample();
	ck_assert_uint_eq(count_records(4, 3), 2);
	ck_name(nth(4, 3, 0) + D4R3_VMDUSER, "ALICE");
}

/* The real machine's CPUs are those of the system, though no member has as many. */
TEST(real_cpus)
{
	start("NETWORK");
	sample();
	ck_assert_uint_eq(count_records(0, 2), 2);
	ck_assert_uint_eq(count_records(8, 1), 2);
	ck_name(nth(8, 1, 0) + D8R1_OWNER, "BOB");
	ck_name(nth(8, 1, 1) + D8R1_OWNER, "ALICE");
}

/* Each machine's buffers, each from its own storage, with its user ID. */
TEST(application_data)
{
	start("APPLDATA ALL");
	fx_use(ALICE);
	put_data(DC_DATA, 40, 1);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 40), 0);
	fx_use(BOB);
	put_data(DC_DATA, 40, 101);
	ck_assert_uint_eq(dc(DC_START, 2, DC_DATA, 40), 0);
	/* The same product, address and length as ALICE's: another buffer all the same. */
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 40), 0);
	sample();
	ck_assert_uint_eq(count_records(10, 2), 3);
	ck_name(nth(10, 2, 0) + D10_USERID, "BOB");
	ck_assert_uint_eq(nth(10, 2, 0)[D10_MDGPROD + PRODUCT_RECORD], 2);
	ck_assert_uint_eq(nth(10, 2, 0)[D10_FIXED], 101);
	ck_name(nth(10, 2, 1) + D10_USERID, "BOB");
	ck_assert_uint_eq(nth(10, 2, 1)[D10_MDGPROD + PRODUCT_RECORD], 1);
	ck_assert_uint_eq(nth(10, 2, 1)[D10_FIXED + 39], 140);
	ck_name(nth(10, 2, 2) + D10_USERID, "ALICE");
	ck_assert_uint_eq(nth(10, 2, 2)[D10_FIXED + 39], 40);
	fx_use(BOB);
	cp_reset(fx.cp);
	sample();
	ck_assert_uint_eq(count_records(10, 2), 1);
	ck_name(nth(10, 2, 0) + D10_USERID, "ALICE");
}

/* MONITOR … APPLDATA USERID of one. */
TEST(application_data_of_one)
{
	fx_use(BOB);
	ck_assert_uint_eq(dc(DC_START, 2, DC_DATA, 40), 0);
	fx_use(ALICE);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 40), 0);
	ck_guest("MON SAMPLE ENABLE APPLDATA USERID BOB\nMON SAMPLE START", 0,
		 "Monitor sample started\n");
	cp_timer(fx.cp);
	sample();
	ck_assert_uint_eq(count_records(10, 2), 1);
	ck_name(nth(10, 2, 0) + D10_USERID, "BOB");
}

/* As many buffers as two machines can have, each with as much as one can have, are too many. */
TEST(more_than_the_segment_has_room_for)
{
	start("APPLDATA ALL");
	for (unsigned int machine = ALICE; machine <= BOB; machine++) {
		fx_use(machine);
		for (unsigned int i = 0; i < 200; i++)
			ck_assert_uint_eq(dc(DC_START, (uint8_t)i, 0x10000 + i, 4000), 0);
	}
	fx_use(ALICE);
	ck_assert_uint_eq(peer_info(reader).lost, 0);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(peer_info(reader).lost, 1);
}

/* Others that come and go are events; so is the machine itself, for who goes on reading. */
TEST(logon_and_logoff)
{
	start("USER ALL");
	fx_clock.tod += 5;
	logon(CAROL, "CAROL");
	fx_clock.tod += 2;
	fx_logoff(BOB);
	block();
	ck_assert_uint_eq(count_records(4, 1), 1);
	ck_assert_uint_eq(count_records(4, 2), 1);
	ck_name(nth(4, 1, 0) + D4_VMDUSER, "CAROL");
	ck_name(nth(4, 2, 0) + D4_VMDUSER, "BOB");
	ck_assert_uint_eq(nth(4, 2, 0)[D4_CALMODE], 0x44);
	ck_assert_uint_eq(get_be64(nth(4, 1, 0) + HEADER_TOD), FX_CLOCK + 5);
	ck_assert_uint_eq(get_be64(nth(4, 2, 0) + HEADER_TOD), FX_CLOCK + 7);
}

TEST(no_events_of_domains_that_are_off)
{
	start("NETWORK");
	block();
	logon(CAROL, "CAROL");
	ck_guest("MON EVENT ENABLE USER ALL", 0, "");
	block();
	ck_assert_uint_eq(count_records(4, 1), 0);
	ck_assert_uint_gt(count_records(1, 2), 0);
}

/* The samples' time is the system's, and so is the interval; machines may have any clock. */
TEST(clock)
{
	const uint64_t alice = fx.timer;

	start("USER ALL");
	fx_use(BOB);
	fx.tod += 100 * SECOND;
	ck_assert_uint_eq(fx_clock.timer, FX_CLOCK + 60 * SECOND);
	fx_use(ALICE);
	ck_assert_uint_eq(fx.timer, alice);
	block();
	ck_assert_uint_eq(count_records(0, 2), 2);
	ck_assert_uint_eq(get_be64(nth(0, 2, 0) + HEADER_TOD), FX_CLOCK + 60 * SECOND);
	ck_assert_uint_eq(fx_clock.timer, FX_CLOCK + 120 * SECOND);
	/* A machine's own timer is for its watchdog alone. */
	fx_clock.tod = fx_clock.timer;
	cp_timer(fx.cp);
	ck_assert_uint_eq(fx_clock.timer, FX_CLOCK + 120 * SECOND);
}

/* Who has started it may go, and so may all others. */
TEST(goes_on_without_its_starter)
{
	start("USER ALL");
	connect_reader(BOB);
	fx_logoff(ALICE);
	fx_use(BOB);
	fx_clock.tod = FX_CLOCK + 60 * SECOND;
	cp_system_timer(fx_clock.system);
	take(IUCV_MSG_PENDING, path[BOB]);
	fx_logoff(BOB);
	fx_clock.tod = FX_CLOCK + 600 * SECOND;
	cp_system_timer(fx_clock.system);
	fx_clock.timer = 0;
	logon(CAROL, "CAROL");
	ck_assert_uint_ne(fx_clock.timer, 0);
	connect_reader(CAROL);
	cp_system_timer(fx_clock.system);
	/* Configuration, then one sample: intervals that nobody lived through are none. */
	take(IUCV_MSG_PENDING, path[CAROL]);
	ck_assert_uint_eq(fx_clock.timer, FX_CLOCK + 660 * SECOND);
}

/* Three machines read one set, the same bytes; it is there until all have replied. */
TEST(one_segment)
{
	struct mon_set_info set;
	uint8_t control[FX_MACHINES][8];
	uint32_t id[FX_MACHINES];
	uint64_t number;

	logon(CAROL, "CAROL");
	fx_use(ALICE);
	peer_call(reader, IUCV_SEVER);
	for (unsigned int i = 0; i < FX_MACHINES; i++)
		connect_reader(i);
	number = deliver(MON_SAMPLE, 5000, 0, 0x5a, MON_DELIVERED);
	for (unsigned int i = 0; i < FX_MACHINES; i++) {
		const uint8_t *event;
		uint8_t *mce;

		fx_use(i);
		event = take(IUCV_MSG_PENDING, path[i]);
		id[i] = get_be32(event + IPMSGID);
		memcpy(control[i], event + IPRMMSG, 8);
		ck_assert_mem_eq(control[i], control[0], 8);
		mce = fx_at(get_be32(control[i] + MCA_START), MCE_SIZE);
		ck_assert_uint_eq(get_be32(mce + MCE_END) - get_be32(mce + MCE_START), 4999);
		for (unsigned int at = 0; at < 5000; at++)
			ck_assert_uint_eq(*fx_at(get_be32(mce + MCE_START) + at, 1), 0x5a);
	}
	for (unsigned int i = 0; i < FX_MACHINES; i++) {
		fx_use(i);
		ck_assert(monitor_set(fx.cp, number, &set));
		ck_assert_uint_eq(set.waiting, FX_MACHINES - i);
		ck_cc(message(IUCV_REPLY, path[i], IPRMDATA, id[i], 0xe2c40000, 0, 0), 0);
	}
	ck_assert(!monitor_set(fx.cp, number, &set));
}

/* One that does not reply loses sets of its own only; one that logs off keeps none. */
TEST(slow_reader)
{
	struct mon_user_info info[3];

	connect_reader(BOB);
	fx_use(ALICE);
	reader->automatic = true;
	for (unsigned int i = 0; i < 20; i++)
		deliver(MON_EVENT, 100, 0, 1, MON_DELIVERED);
	monitor_settings(fx.cp, true)->partition_pages = 0;
	ck_assert(monitor_user(fx.cp, 0, &info[0]) && monitor_user(fx.cp, 1, &info[1]));
	ck_assert_str_eq(info[1].name, "BOB");
	ck_assert_uint_eq(info[0].replied, 20);
	ck_assert_uint_eq(info[1].outstanding, 20);
	ck_assert_uint_eq(info[1].replied, 0);
	ck_assert_uint_eq(area_used(MON_EVENT), 20 * 4096);
	fx_logoff(BOB);
	ck_assert_uint_eq(area_used(MON_EVENT), 0);
	ck_assert(!monitor_user(fx.cp, 1, &info[1]));
}
