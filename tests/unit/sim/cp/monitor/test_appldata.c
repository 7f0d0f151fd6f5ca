/* SPDX-License-Identifier: MIT */
/* Application data: what DIAGNOSE X'DC' declares, and the records of domain 10. */
#include "appldata_calls.h"
#include "command_check.h"
#include "cp_private.h"
#include "state_check.h"

static void start(void)
{
	ck_guest("MON SAMPLE START\nMON EVENT START", 0,
		 "Monitor sample started\nMonitor event started\n");
	cp_timer(fx.cp);
}

/* A user of both kinds of data; recording of both runs, with APPLDATA enabled. */
static struct peer *record_both(void)
{
	struct peer *p = peer_user(0, WANT_BOTH, 255);

	ck_guest("MON SAMPLE ENABLE APPLDATA ALL\nMON EVENT ENABLE APPLDATA ALL", 0, "");
	start();
	return p;
}

/* Records of the set that the end of an interval delivers. */
static void sample(struct peer *p)
{
	const unsigned int before = p->messages;

	/* A block of events may follow. */
	monitor_tick(fx.cp);
	ck_assert_uint_gt(p->messages, before);
	ck_assert_uint_eq(p->message[before].trgcls, 0xe2c40000);
	read_records(&p->message[before]);
}

/* Records of the block that is filled until now. */
static void block(struct peer *p)
{
	const unsigned int before = p->messages;

	ck_guest("MON EVENT STOP", 0, "Monitor event stopped\n");
	cp_timer(fx.cp);
	ck_assert_uint_eq(p->messages, before + 1);
	ck_assert_uint_eq(peer_last(p)->trgcls, 0xc5c40000);
	read_records(peer_last(p));
}

/* Records of domain 10, as record[0] and so on. */
static void only_appldata(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < records; i++)
		if (record[i].domain == 10)
			record[n++] = record[i];
	records = n;
}

FX_REPLAY_TRACES;

CASE("appldata", applmon_setup, fx_teardown);

TEST(sampled)
{
	struct peer *p = record_both();
	struct appldata_info info;

	put_data(DC_DATA, 200, 1);
	ck_assert_uint_eq(dc(DC_START, 7, DC_DATA, 200), 0);
	sample(p);
	/* The last before the end of the interval. */
	ck_appldata(records - 2, 2, 7, DC_DATA, 200);
	ck_record(records - 1, 1, 11, 20);
	ck_assert_uint_eq(count_records(10, 2), 1);
	/* MONITOR, SYSTEM; APPLDATA. */
	ck_assert_uint_eq(get_be16(peer_mce(peer_last(p), 0) + MCE_DOMAINS), 0xc020);
	/* As the buffer is at the next interval. */
	put_data(DC_DATA, 200, 99);
	sample(p);
	ck_assert(appldata_at(fx.cp, 0, &info));
	ck_assert_uint_eq(info.records, 2);
	ck_appldata(records - 2, 2, 7, DC_DATA, 200);
	ck_assert_uint_eq(dc(DC_STOP, 7, DC_DATA, 200), 0);
	sample(p);
	ck_assert_uint_eq(count_records(10, 2), 0);
}

TEST(both_lists)
{
	struct appldata_info info;

	ck_assert_uint_eq(dc(0x00, 1, DC_DATA, 16), 0);
	/* What the short list has begun, the long one ends. */
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 16), APPLDATA_DECLARED);
	ck_assert_uint_eq(dc(DC_STOP, 1, DC_DATA, 16), 0);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 16), 0);
	/* Bit 0 of an address with 31 bits does not count. */
	put_product(1);
	put_list(0x01, 0x80000000u | DC_DATA, 16);
	put_be32(fx_at(DC_LIST + DC_SHORT_PRODUCT, 4), 0x80000000u | DC_PRODUCT);
	ck_assert_int_eq(dc_call().how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	ck_assert(!appldata_at(fx.cp, 0, &info));
	ck_assert_uint_eq(dc(0x03, 2, DC_DATA, 16), 0);
	ck_assert_uint_eq(dc(0x02, 2, DC_DATA, 16), 0);
	ck_assert(appldata_at(fx.cp, 0, &info));
	ck_assert_int_eq(info.kind, APPLDATA_CONFIG);
	ck_assert_uint_eq(info.buffer.address, DC_DATA);
	ck_assert_uint_eq(info.buffer.length, 16);
	ck_assert(!appldata_at(fx.cp, 1, &info));
}

/* A buffer is its product ID, its address and its length: a change of one is another buffer. */
TEST(identity)
{
	struct peer *p = record_both();

	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 16), 0);
	ck_assert_uint_eq(dc(DC_START, 2, DC_DATA, 16), 0);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA + 8, 16), 0);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 17), 0);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 16), APPLDATA_DECLARED);
	/* Neither does the other kind make it another. */
	ck_assert_uint_eq(dc(DC_CONFIG, 1, DC_DATA, 16), APPLDATA_DECLARED);
	ck_assert_uint_eq(dc(DC_STOP, 3, DC_DATA, 16), APPLDATA_NOT_DECLARED);
	ck_assert_uint_eq(dc(DC_STOP, 2, DC_DATA + 8, 16), APPLDATA_NOT_DECLARED);
	ck_assert_uint_eq(dc(DC_STOP, 2, DC_DATA, 17), APPLDATA_NOT_DECLARED);
	ck_assert_uint_eq(dc(DC_STOP, 1, DC_DATA, 16), 0);
	ck_assert_uint_eq(dc(DC_STOP, 1, DC_DATA, 16), APPLDATA_NOT_DECLARED);
	sample(p);
	only_appldata();
	ck_assert_uint_eq(records, 3);
	ck_appldata(0, 2, 2, DC_DATA, 16);
	ck_appldata(1, 2, 1, DC_DATA + 8, 16);
	ck_appldata(2, 2, 1, DC_DATA, 17);
}

static const struct { uint16_t length; uint64_t rc; } lengths[] = {
	{ 0, 4 }, { 1, 0 }, { 4010, 0 }, { 4024, 0 }, { 4025, 4 }, { 0xffff, 4 },
};

TEST_EACH(length_of_the_buffer, lengths)
{
	struct peer *p = record_both();
	const uint16_t length = lengths[_i].length;

	ck_assert_uint_eq(dc(DC_EVENT, 1, DC_DATA, length), lengths[_i].rc);
	ck_assert_uint_eq(dc(DC_CONFIG, 2, DC_DATA, length), lengths[_i].rc);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, length), lengths[_i].rc);
	sample(p);
	ck_assert_uint_eq(count_records(10, 2), lengths[_i].rc == 0);
	if (lengths[_i].rc == 0)
		ck_appldata(records - 2, 2, 1, DC_DATA, length);
	ck_assert_uint_eq(dc(DC_STOP, 1, DC_DATA, length), lengths[_i].rc);
}

TEST(not_authorised)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "directory", "IUCV ALLOW", NULL });
	for (uint8_t function = DC_START; function <= DC_CONFIG; function++)
		ck_assert_uint_eq(dc(function, 1, DC_DATA, 16), 5);
	/* Asked before the addresses are looked at. */
	ck_assert_uint_eq(dc(DC_START, 1, FX_STORAGE, 16), 5);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 0), 5);
}

static struct cp_result with_product_at(uint64_t address)
{
	put_list(DC_START, DC_DATA, 16);
	put_be64(fx_at(DC_LIST + DC_LONG_PRODUCT, 8), address);
	return dc_call();
}

TEST(addresses)
{
	struct appldata_info info;

	put_product(1);
	ck_pgm(with_product_at(0x400000), PGM_ADDRESSING);
	ck_pgm(with_product_at(0x3ffff1), PGM_ADDRESSING);
	ck_pgm(with_product_at(UINT64_MAX), PGM_ADDRESSING);
	put_list(DC_START, 0x3ffff1, 16);
	ck_pgm(dc_call(), PGM_ADDRESSING);
	put_list(DC_EVENT, UINT64_MAX - 14, 16);
	ck_pgm(dc_call(), PGM_ADDRESSING);
	put_list(DC_CONFIG, UINT64_MAX, 16);
	ck_pgm(dc_call(), PGM_ADDRESSING);
	ck_assert_uint_eq(fx.gr[4], UINT64_C(0xdead0000beef));
	ck_assert(!appldata_at(fx.cp, 0, &info));
	ck_assert_uint_eq(dc(DC_START, 1, 0x3ffff0, 16), 0);
	/* STOP does not look at the buffer, but for the product ID. */
	ck_assert_uint_eq(dc(DC_STOP, 1, UINT64_MAX, 16), APPLDATA_NOT_DECLARED);
	put_list(DC_STOP, 0x3ffff0, 16);
	put_be64(fx_at(DC_LIST + DC_LONG_PRODUCT, 8), 0x400000);
	ck_pgm(dc_call(), PGM_ADDRESSING);
}

TEST(limit)
{
	struct peer *p = record_both();

	for (unsigned int i = 0; i < APPLDATA_MAX_BUFFERS; i++)
		ck_assert_uint_eq(dc(DC_START, (uint8_t)i, DC_DATA + i, 8), 0);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA + 0x1000, 8), APPLDATA_TOO_MANY);
	ck_assert_uint_eq(dc(DC_CONFIG, 1, DC_DATA + 0x1000, 8), APPLDATA_TOO_MANY);
	sample(p);
	only_appldata();
	ck_assert_uint_eq(records, APPLDATA_MAX_BUFFERS);
	for (unsigned int i = 0; i < records; i++)
		ck_appldata(i, 2, (uint8_t)i, DC_DATA + i, 8);
	/* One goes from between the others, which keep their order; it comes back as the last. */
	ck_assert_uint_eq(dc(DC_STOP, 100, DC_DATA + 100, 8), 0);
	sample(p);
	only_appldata();
	ck_assert_uint_eq(records, APPLDATA_MAX_BUFFERS - 1);
	for (unsigned int i = 0; i < records; i++) {
		const unsigned int n = i < 100 ? i : i + 1;

		ck_appldata(i, 2, (uint8_t)n, DC_DATA + n, 8);
	}
	ck_assert_uint_eq(dc(DC_START, 100, DC_DATA + 100, 8), 0);
	/* One goes, one comes, as the last. */
	ck_assert_uint_eq(dc(DC_STOP, 0, DC_DATA, 8), 0);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA + 0x1000, 8), 0);
	sample(p);
	only_appldata();
	ck_appldata(0, 2, 1, DC_DATA + 1, 8);
	ck_appldata(records - 1, 2, 1, DC_DATA + 0x1000, 8);
}

/* A set that is too large for the sample area is lost as a whole, and counted. */
TEST(more_than_the_area)
{
	struct peer *p = record_both();
	unsigned int before, buffers = (unsigned int)(area_size(MON_SAMPLE) / 4096) + 1;

	for (unsigned int i = 0; i < buffers; i++)
		ck_assert_uint_eq(dc(DC_START, (uint8_t)i, DC_DATA + i, 4024), 0);
	before = p->messages;
	monitor_tick(fx.cp);
	ck_assert_uint_eq(p->messages, before);
	ck_assert_uint_eq(peer_info(p).lost, 1);
	for (unsigned int i = 0; i < 4; i++)
		ck_assert_uint_eq(dc(DC_STOP, (uint8_t)i, DC_DATA + i, 4024), 0);
	while (p->replied < p->messages)
		peer_reply(p);
	monitor_tick(fx.cp);
	ck_assert_uint_eq(peer_info(p).lost, 1);
}

TEST(event_records)
{
	struct peer *p = record_both();
	uint64_t reached;

	put_data(DC_DATA, 300, 3);
	ck_assert_uint_eq(dc(DC_EVENT, 4, DC_DATA, 300), 0);
	ck_assert_uint_eq(dc(DC_START, 5, DC_DATA + 8, 20), 0);
	/* The last word of a buffer. */
	ck_assert_uint_eq(dc(DC_STOP, 5, DC_DATA + 8, 20), 0);
	block(p);
	ck_assert_uint_eq(records, 2);
	ck_appldata(0, 1, 4, DC_DATA, 300);
	ck_appldata(1, 1, 5, DC_DATA + 8, 20);
	/* Not recorded, and no error: the application cannot know. */
	reached = fault_reached(fx.cp, FAULT_APPLDATA_EVENT);
	ck_assert_uint_eq(reached, 2);
	ck_assert_uint_eq(dc(DC_EVENT, 4, DC_DATA, 300), 0);
	ck_assert_uint_eq(fault_reached(fx.cp, FAULT_APPLDATA_EVENT), reached);
}

TEST(configuration)
{
	struct peer *p, *late;

	put_data(DC_DATA, 64, 5);
	ck_assert_uint_eq(dc(DC_CONFIG, 1, DC_DATA, 64), 0);
	p = record_both();
	/* The first sets: configuration of samples, the sample, configuration of events. */
	read_records(&p->message[0]);
	ck_assert_uint_eq(p->message[0].trgcls, 0xe2c30000);
	ck_appldata(records - 2, 2, 1, DC_DATA, 64);
	ck_record(records - 1, 1, 11, 20);
	read_records(&p->message[1]);
	ck_assert_uint_eq(count_records(10, 2), 0);
	/* Declared later: in a set of its own. */
	put_data(DC_DATA + 64, 64, 50);
	ck_assert_uint_eq(dc(DC_CONFIG, 2, DC_DATA + 64, 64), 0);
	ck_assert_uint_eq(peer_last(p)->trgcls, 0xe2c30000);
	read_records(peer_last(p));
	ck_assert_uint_eq(records, 2);
	ck_appldata(0, 2, 2, DC_DATA + 64, 64);
	ck_record(1, 1, 11, 20);
	/* Who connects later gets both, as they are then. */
	put_data(DC_DATA, 64, 77);
	late = peer_user(1, WANT_SAMPLE, 255);
	read_records(&late->message[0]);
	ck_appldata(records - 3, 2, 1, DC_DATA, 64);
	ck_appldata(records - 2, 2, 2, DC_DATA + 64, 64);
	sample(p);
	ck_assert_uint_eq(count_records(10, 2), 0);
}

/* A user that waits for configuration gets a new buffer with it, and loses nothing. */
TEST(configuration_that_waits)
{
	struct peer *p = peer_user(0, WANT_BOTH, 1);

	ck_guest("MON SAMPLE ENABLE APPLDATA ALL\nMON EVENT START\nMON SAMPLE START", 0,
		 "Monitor event started\nMonitor sample started\n");
	cp_timer(fx.cp);
	ck_assert_uint_eq(p->messages, 1);
	ck_assert_uint_eq(peer_info(p).lost, 1);
	ck_assert_uint_eq(dc(DC_CONFIG, 1, DC_DATA, 64), 0);
	ck_assert_uint_eq(peer_info(p).lost, 1);
	peer_reply(p);
	ck_assert_uint_eq(p->messages, 2);
	ck_assert_uint_eq(peer_last(p)->trgcls, 0xe2c30000);
	read_records(peer_last(p));
	ck_appldata(records - 2, 2, 1, DC_DATA, 64);
}

/* A system reset ends every buffer; the last word of each is an event. */
TEST(reset)
{
	struct peer *p = record_both();
	struct appldata_info info;

	put_data(DC_DATA, 64, 5);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 32), 0);
	ck_assert_uint_eq(dc(DC_CONFIG, 2, DC_DATA + 32, 32), 0);
	cp_reset(fx.cp);
	ck_assert(!appldata_at(fx.cp, 0, &info));
	block(p);
	ck_assert_uint_eq(records, 2);
	ck_appldata(0, 1, 1, DC_DATA, 32);
	ck_appldata(1, 1, 2, DC_DATA + 32, 32);
	ck_assert_uint_eq(dc(DC_STOP, 1, DC_DATA, 32), APPLDATA_NOT_DECLARED);
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 32), 0);
}

static void segment_call(uint64_t subcode)
{
	fx_put_name(0x3200, "DATA");
	fx.gr[2] = 0x3200;
	fx.gr[4] = subcode;
	ck_cc(fx_diag(2, 4, 0x64), 0);
}

/* So does the purge of the segment that it lies in, even in part. */
TEST(purged_segment)
{
	struct peer *p = record_both();
	struct appldata_info info;

	segment_call(0x20);
	put_data(0xa00000, 64, 5);
	put_data(DC_DATA + 64, 64, 5);
	ck_assert_uint_eq(dc(DC_START, 1, 0xa00000, 32), 0);
	ck_assert_uint_eq(dc(DC_START, 2, DC_DATA, 32), 0);
	ck_assert_uint_eq(dc(DC_START, 3, 0xa0ffff, 1), 0);
	segment_call(0x08);
	ck_assert(appldata_at(fx.cp, 0, &info));
	ck_assert_uint_eq(info.buffer.address, DC_DATA);
	ck_assert(!appldata_at(fx.cp, 1, &info));
	block(p);
	ck_assert_uint_eq(records, 2);
	/* The segment's contents may be gone: they were those at DC_DATA + 64. */
	ck_appldata(0, 1, 3, DC_DATA, 1);
	ck_appldata(1, 1, 1, DC_DATA + 64, 32);
	put_product(1);
	put_list(DC_START, 0xa00000, 32);
	ck_pgm(dc_call(), PGM_ADDRESSING);
}

static bool no_storage;

static void *map_nothing(void *opaque, int cpu, uint64_t addr, uint64_t len)
{
	(void)opaque;
	(void)cpu;
	return no_storage && addr == DC_DATA ? NULL : fx_at(addr, len);
}

/* A buffer that is no storage now has no record; it stays declared. */
TEST(unreadable)
{
	struct peer *p = record_both();

	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 8), 0);
	ck_assert_uint_eq(dc(DC_START, 2, 0x6000, 8), 0);
	fx.cp->host.map = map_nothing;
	no_storage = true;
	sample(p);
	only_appldata();
	ck_assert_uint_eq(records, 1);
	ck_appldata(0, 2, 2, 0x6000, 8);
	no_storage = false;
	sample(p);
	only_appldata();
	ck_assert_uint_eq(records, 2);
}

/* MONITOR … APPLDATA USERID selects users; the guest is LINUX001. */
static const struct {
	const char *commands;
	bool collected;
	const char *listed;	/* in QUERY MONITOR; NULL: nothing */
} selections[] = {
	{ "ENABLE APPLDATA ALL", true, NULL },
	{ "ENABLE APPLDATA USERID LINUX001", true, "USERID - LINUX001\n" },
	{ "ENABLE APPLDATA USERID OTHER", false, "USERID - OTHER\n" },
	{ "ENABLE APPLDATA USERID OTHER LINUX001", true, "USERID - OTHER LINUX001\n" },
	{ "ENABLE APPLDATA USERID OTHER;ENABLE APPLDATA USERID LINUX001", true,
	  "USERID - OTHER LINUX001\n" },
	{ "ENABLE APPLDATA USERID OTHER;ENABLE APPLDATA ALL", true, NULL },
	{ "ENABLE APPLDATA ALL;DISABLE APPLDATA USERID LINUX001", false,
	  "USERID ALL EXCEPT - LINUX001\n" },
	{ "ENABLE APPLDATA ALL;DISABLE APPLDATA USERID OTHER", true,
	  "USERID ALL EXCEPT - OTHER\n" },
	{ "ENABLE APPLDATA ALL;DISABLE APPLDATA USERID A LINUX001 B;ENABLE APPLDATA USERID LINUX001",
	  true, "USERID ALL EXCEPT - A B\n" },
	{ "ENABLE APPLDATA USERID LINUX001;DISABLE APPLDATA USERID LINUX001", false, NULL },
	{ "ENABLE APPLDATA USERID OTHER;ENABLE ALL", true, NULL },
	{ "ENABLE APPLDATA USERID LINUX001;DISABLE APPLDATA ALL;DISABLE APPLDATA USERID X", false,
	  NULL },
	{ "ENABLE APPLDATA USERID LINUX001;DISABLE ALL", false, NULL },
};

static void give(const char *kind, const char *commands)
{
	char all[256], text[300], *rest = NULL;

	snprintf(all, sizeof(all), "%s", commands);
	for (const char *one = strtok_r(all, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
		snprintf(text, sizeof(text), "MONITOR %s %s", kind, one);
		ck_guest(text, 0, "");
	}
}

TEST_EACH(selected_users, selections)
{
	struct peer *p = peer_user(0, WANT_BOTH, 255);
	const char *shown;

	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 8), 0);
	give("SAMPLE", selections[_i].commands);
	give("EVENT", selections[_i].commands);
	shown = run_as(CPCMD_GUEST, "QUERY MONITOR SAMPLE", 0);
	ck_assert((strstr(shown, "USERID") != NULL) == (selections[_i].listed != NULL));
	if (selections[_i].listed)
		ck_assert_ptr_nonnull(strstr(shown, selections[_i].listed));
	start();
	sample(p);
	ck_assert_uint_eq(count_records(10, 2), selections[_i].collected);
	ck_assert_uint_eq(dc(DC_EVENT, 1, DC_DATA, 8), 0);
	monitor_tick(fx.cp);
	read_records(&p->message[p->messages - 1]);
	ck_assert_uint_eq(count_records(10, 1), selections[_i].collected);
}

TEST(wrong_selections)
{
	const struct mon_settings *settings = monitor_settings(fx.cp, false);

	ck_guest("MON SAMPLE ENA APPL USERID", 26, MISSING("MNC"));
	ck_guest("MON SAMPLE ENA APPL USERID A NINECHARS", 3, INVALID("MNC", "NINECHARS"));
	ck_guest("MON SAMPLE ENA APPL USERID A B C D E F G H I J K L M N O P Q", 13,
		 "HCPMNC013E Conflicting option - at most 16 user IDs are possible\n");
	ck_assert_uint_eq(settings->domains & MON_DOMAIN_BIT(MON_APPLDATA), 0);
	ck_guest("MON SAMPLE ENA APPL USERID A B C D E F G H I J K L M N O P", 0, "");
	ck_assert_uint_eq(settings->appldata.count, 16);
	ck_guest("MON SAMPLE ENA APPL USERID P Q", 13,
		 "HCPMNC013E Conflicting option - at most 16 user IDs are possible\n");
	ck_assert_uint_eq(settings->appldata.count, 16);
}

/* All that is declared, and who is selected, comes back from an image. */
TEST(saved_and_loaded)
{
	struct appldata_info info;
	uint8_t *image;
	size_t len;

	give("SAMPLE", "ENABLE APPLDATA ALL;DISABLE APPLDATA USERID A B");
	give("EVENT", "ENABLE APPLDATA USERID LINUX001");
	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 8), 0);
	ck_assert_uint_eq(dc(DC_CONFIG, 2, DC_DATA + 8, 4024), 0);
	image = fx_save(&len);
	ck_assert_uint_eq(dc(DC_STOP, 1, DC_DATA, 8), 0);
	ck_assert_uint_eq(dc(DC_START, 3, DC_DATA, 8), 0);
	give("SAMPLE", "ENABLE APPLDATA ALL");
	give("EVENT", "DISABLE ALL");
	fx_load(image, len);
	free(image);
	ck_assert(appldata_at(fx.cp, 0, &info));
	ck_assert_uint_eq(info.buffer.product[PRODUCT_RECORD], 1);
	ck_assert(appldata_at(fx.cp, 1, &info));
	ck_assert_uint_eq(info.buffer.product[PRODUCT_RECORD], 2);
	ck_assert_uint_eq(info.buffer.address, DC_DATA + 8);
	ck_assert_uint_eq(info.buffer.length, 4024);
	ck_assert_int_eq(info.kind, APPLDATA_CONFIG);
	ck_assert(!appldata_at(fx.cp, 2, &info));
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY MONITOR SAMPLE", 0),
				     "USERID ALL EXCEPT - A B\n"));
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY MONITOR EVENT", 0),
				     "USERID - LINUX001\n"));
}

/* Offsets of a declared buffer in an image, from "APPL" on, after the count. */
enum { SAVED_COUNT = 4, SAVED_ADDRESS = 8 + 16, SAVED_LENGTH = 8 + 24, SAVED_KIND = 8 + 26,
       SAVED_SIZE = 16 + 8 + 2 + 1 + 8 };

static const struct { unsigned int at; uint8_t value; } lies[] = {
	{ SAVED_COUNT + 2, 3 }, { SAVED_COUNT + 3, 3 }, { SAVED_ADDRESS, 0xff },
	{ SAVED_LENGTH, 0x10 }, { SAVED_KIND, 2 }, { SAVED_KIND, 0xff },
};

TEST_EACH(images_that_lie, lies)
{
	char err[256];
	uint8_t *image;
	size_t len, at;

	ck_assert_uint_eq(dc(DC_START, 1, 0x10, 8), 0);
	ck_assert_uint_eq(dc(DC_START, 2, DC_DATA, 8), 0);
	image = fx_save(&len);
	at = state_find(image, len, "APPL");
	if (lies[_i].at == SAVED_ADDRESS)
		memset(image + at + SAVED_ADDRESS, 0xff, 8);
	else
		image[at + lies[_i].at] = lies[_i].value;
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

/* One buffer twice. */
TEST(image_with_one_twice)
{
	char err[256];
	uint8_t *image;
	size_t len, at;

	ck_assert_uint_eq(dc(DC_START, 1, DC_DATA, 8), 0);
	ck_assert_uint_eq(dc(DC_START, 2, DC_DATA, 8), 0);
	image = fx_save(&len);
	at = state_find(image, len, "APPL") + 8;
	memcpy(image + at + SAVED_SIZE, image + at, SAVED_SIZE);
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

TEST(names)
{
	static const struct { uint8_t product[APPLDATA_PRODUCT_SIZE]; const char *name; } of[] = {
		{ "LNXAPPL", "LNXAPPL" },
		{ { 0xd3, 0xc9, 0xd5, 0xe4, 0xe7, 0xd2, 0xd9 }, "LINUXKR" },
		{ { 0xf5, 0xf6, 0, 0xff, 0x40, 0xf1, 0xf2 }, "56.. 12" },
	};
	char name[APPLDATA_PRODUCT_NUMBER + 1];

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		appldata_name(of[i].product, name);
		ck_assert_str_eq(name, of[i].name);
	}
}
