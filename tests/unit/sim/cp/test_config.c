/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "fixture.h"
#include "config_parse.h"

static struct cp_config config;
static char err[256];

static void setup(void)
{
	cp_config_init(&config);
}

static void teardown(void)
{
	cp_config_fini(&config);
}

CASE("config", setup, teardown);

static int set(const char *key, const char *value)
{
	err[0] = '\0';
	return cp_config_set(&config, key, value, err, sizeof(err));
}

#define good(key, value) ck_assert_msg(set(key, value) == 0, "%s", err)
#define bad(key, value, text) \
	do { \
		ck_assert_int_eq(set(key, value), -1); \
		ck_assert_str_eq(err, text); \
	} while (0)

TEST(defaults)
{
	static const char *const iucv[] = { "ALLOW", "ANY", "*MONITOR", "*MSG" };

	ck_assert_str_eq(config.userid, "LINUX001");
	ck_assert_str_eq(config.classes, "EG");
	ck_assert_str_eq(config.level, "z/VM    7.3.0   ");
	ck_assert_str_eq(config.account, "");
	ck_assert_uint_eq(config.cpus, 1);
	ck_assert_uint_eq(config.max_paths, 64);
	ck_assert(config.applmon);
	ck_assert_uint_eq(config.extents, 1);
	ck_assert_uint_eq(config.extent[0].start, 0);
	ck_assert_uint_eq(config.extent[0].size, 128u << 20);
	ck_assert_uint_eq(config.iucv_statements, 4);
	for (int i = 0; i < 4; i++)
		ck_assert_str_eq(config.iucv[i].name, iucv[i]);
	ck_assert_uint_eq(config.iucv[2].msglimit, 255);
	ck_assert_uint_eq(config.namesaves, 1);
	ck_assert_str_eq(config.namesave[0], "MONDCSS");
	ck_assert_uint_eq(config.segments, 1);
	ck_assert_str_eq(config.segment[0].name, "MONDCSS");
	ck_assert_uint_eq(config.segment[0].range[0].first, 0x9000);
	ck_assert_uint_eq(config.segment[0].range[0].last, 0x97ff);
	ck_assert_int_eq(config.segment[0].range[0].type, DCSS_SC);
	ck_assert(config.segment[0].restricted);
	ck_assert_uint_eq(config.console, 9);
	ck_assert_uint_eq(config.seed, 0);
	ck_assert_uint_eq(config.max_messages, 65536);
}

TEST(every_key_is_listed)
{
	char text[256] = "option \"colour\" is not known: expected ";

	for (const char *const *key = cp_config_keys; *key; key++) {
		set(*key, "?;");
		ck_assert_int_eq(strncmp(err, *key, strlen(*key)), 0);
		if (key > cp_config_keys)
			strcat(text, key[1] ? ", " : " or ");
		strcat(text, *key);
	}
	ck_assert_str_eq(cp_config_keys[0], "userid");
	bad("colour", "red", text);
}

TEST(simple_keys)
{
	good("userid", "tux@#$_-");
	ck_assert_str_eq(config.userid, "TUX@#$_-");
	good("class", "gbeG1");
	ck_assert_str_eq(config.classes, "GBE1");
	good("class", "ABCDEFGHIJKLMNOPQRSTUVWXYZ123456");
	ck_assert_uint_eq(strlen(config.classes), 32);
	good("level", "6.4.10");
	ck_assert_str_eq(config.level, "z/VM    6.4.10  ");
	good("level", "99.99.99");
	ck_assert_str_eq(config.level, "z/VM    99.99.99");
	good("cpus", "64");
	ck_assert_uint_eq(config.cpus, 64);
	good("console", "fFfF");
	ck_assert_uint_eq(config.console, 0xffff);
	good("conmode", "3215");
	ck_assert(config.conmode_3215);
	good("conmode", "None");
	ck_assert(!config.conmode_3215);
	good("seed", "18446744073709551615");
	ck_assert_uint_eq(config.seed, UINT64_MAX);
}

static const struct { const char *key, *value; } wrong_values[] = {
	{ "userid", "" }, { "userid", "NINECHARS" }, { "userid", "A B" }, { "userid", "*MSG" },
	{ "userid", "\xc4" }, { "class", "" }, { "class", "7" }, { "class", "E G" },
	{ "level", "" }, { "level", "7" }, { "level", "7.3" }, { "level", "7.3." },
	{ "level", "7.3.0.1" }, { "level", "7.3.x" }, { "level", "100.1.1" }, { "level", "007.1.1" },
	{ "machine", "" }, { "machine", "8561" }, { "machine", "856 T01" },
	{ "machine", "85610 T01" }, { "machine", "856X T01" }, { "machine", "0000 T01" },
	{ "machine", "8561 T-1" }, { "machine", "8561 T01234567890123456" },
	{ "machine", "8561 T01 SEQUENCE" }, { "machine", "8561 T01 SEQUENCE 65XY" },
	{ "machine", "8561 T01 SEQUENCE 12345678901234567" }, { "machine", "8561 T01 PLANT 00002" },
	{ "machine", "8561 T01 LPAR 1" }, { "machine", "8561 T01 LPAR 0 A" },
	{ "machine", "8561 T01 LPAR 256 A" }, { "machine", "8561 T01 LPAR 1 NINECHARS" },
	{ "machine", "8561 T01 CAPABILITY 0" }, { "machine", "8561 T01 CAPABILITY 8388608" },
	{ "machine", "8561 T01 CAPACITY 7.3" }, { "machine", "8561 T01 MANUFACTURER" },
	{ "machine", "8561 T01 SHARED 3" }, { "machine", "8561 T01 MODEL T02" },
	{ "cpus", "0" }, { "cpus", "65" }, { "cpus", "" }, { "cpus", "-1" }, { "cpus", "1 " },
	{ "console", "10000" }, { "console", "9x" }, { "console", "" },
	{ "conmode", "3270" }, { "conmode", "" },
	{ "seed", "18446744073709551616" }, { "seed", "99999999999999999999999" },
	{ "seed", "0x1" },
	{ "storage", "" }, { "storage", "   " }, { "storage", "128M" }, { "storage", "0." },
	{ "storage", ".128M" }, { "storage", "0.128" }, { "storage", "0.0M" },
	{ "storage", "0.512K" }, { "storage", "1M.1M" }, { "storage", "0.1M 1M" },
	{ "storage", "0.2M 1M.1M" }, { "storage", "0.1M 4M.1M 2M.1M" }, { "storage", "0.1M 1.1M" },
	{ "storage", "0.16385G" }, { "storage", "0.1M 16384G.1M" }, { "storage", "0.99999999999G" },
	{ "storage", "0.1M 512K.1M" }, { "storage", "0.M" },
	{ "storage", "0.1M 1M.1M 2M.1M 3M.1M 4M.1M 5M.1M 6M.1M 7M.1M 8M.1M" },
	{ "directory", "IUCV" }, { "directory", "IUCV NINECHARS" }, { "directory", "IUCV A*" },
	{ "directory", "IUCV ANY MSGLIMIT" }, { "directory", "IUCV ANY MSGLIMIT 0" },
	{ "directory", "IUCV ANY MSGLIMIT 65536" }, { "directory", "IUCV ANY FAST" },
	{ "directory", "NAMESAVE" }, { "directory", "NAMESAVE *A" }, { "directory", "OPTION" },
	{ "directory", "OPTION MAXCONN" }, { "directory", "OPTION MAXCONN 0" },
	{ "directory", "OPTION MAXCONN 65536" }, { "directory", "OPTION QUICKDSP" },
	{ "directory", "ACCOUNT" }, { "directory", "ACCOUNT A B" }, { "directory", "ACCOUNT A,B" },
	{ "directory", "ACIGROUP" }, { "directory", "ACIGROUP A B" }, { "directory", "ACIGROUP *" },
	{ "directory", "ACIGROUP NINECHARS" },
	{ "directory", "USER LINUX" },
	{ "directory", "CPU" }, { "directory", "CPU 40" }, { "directory", "CPU 0;CPU 00" },
	{ "directory", "CPU 00 IFL" }, { "directory", "CPU 01 BASE" }, { "directory", "CPU 0 BASE X" },
	{ "directory", "SPOOL" }, { "directory", "SPOOL 10000 2540 READER" },
	{ "directory", "SPOOL 00C" }, { "directory", "SPOOL 00C 3505" },
	{ "directory", "SPOOL 00C 2540" }, { "directory", "SPOOL 00C 2540 PRINTER" },
	{ "directory", "SPOOL 00C 2540 PUNCH *" }, { "directory", "SPOOL 00E 1403 AB" },
	{ "directory", "SPOOL 00E 1403 A B" }, { "directory", "SPOOL 00E 1403 +" },
	{ "directory", "SPOOL C 1403;SPOOL 00C 1403" },
	{ "directory", "SPOOL 1 1403;SPOOL 2 1403;SPOOL 3 1403;SPOOL 4 1403;SPOOL 5 1403;"
		       "SPOOL 6 1403;SPOOL 7 1403;SPOOL 8 1403;SPOOL 9 1403" },
	{ "directory", "LINK" }, { "directory", "LINK *X 1 2" }, { "directory", "LINK BOB" },
	{ "directory", "LINK BOB 200" }, { "directory", "LINK BOB X 200" },
	{ "directory", "LINK BOB 200 300 Q" }, { "directory", "LINK BOB 200 300 R R" },
	{ "directory", "MDISK 300 FB-512 V-DISK 8;LINK BOB 200 300" },
	{ "directory", "MDISK" }, { "directory", "MDISK 10000 FB-512 V-DISK 8 R" },
	{ "directory", "MDISK 200" }, { "directory", "MDISK 200 3390 V-DISK 8 R" },
	{ "directory", "MDISK 200 FB-512" }, { "directory", "MDISK 200 FB-512 0 8 R" },
	{ "directory", "MDISK 200 FB-512 V-DISK" }, { "directory", "MDISK 200 FB-512 V-DISK 0 R" },
	{ "directory", "MDISK 200 FB-512 V-DISK 131073 R" },
	{ "directory", "MDISK 200 FB-512 V-DISK A R" },
	{ "directory", "MDISK 200 FB-512 V-DISK 8 X" },
	{ "directory", "MDISK 200 FB-512 V-DISK 8 RRR" },
	{ "directory", "MDISK 200 FB-512 V-DISK 8 R W" },
	{ "directory", "MDISK 200 FB-512 V-DISK 8;MDISK 0200 FB-512 V-DISK 8" },
	{ "directory", "SPOOL C 1403;MDISK C FB-512 V-DISK 8" },
	{ "directory", "MDISK C FB-512 V-DISK 8;SPOOL C 1403" },
	{ "directory", "MDISK 1 FB-512 V-DISK 8;MDISK 2 FB-512 V-DISK 8;MDISK 3 FB-512 V-DISK 8;"
		       "MDISK 4 FB-512 V-DISK 8;MDISK 5 FB-512 V-DISK 8;MDISK 6 FB-512 V-DISK 8;"
		       "MDISK 7 FB-512 V-DISK 8;MDISK 8 FB-512 V-DISK 8;MDISK 9 FB-512 V-DISK 8" },
	{ "segment", "9000-97FF SC" }, { "segment", "NAME" }, { "segment", "NAME 9000 SC" },
	{ "segment", "NAME 9000-97FF" }, { "segment", "NAME 9000-97FF XX" },
	{ "segment", "NAME 97FF-9000 SC" }, { "segment", "NAME 0-8000000 SC" },
	{ "segment", "NAME -1 SC" }, { "segment", "NAME 1-G SC" }, { "segment", "NAME 1- SC" },
	{ "segment", "NAME 1-2 EN 2-3 EN" }, { "segment", "NAME 4-5 EN 1-2 EN" },
	{ "segment", "NAME 1-1 SC FILE=" }, { "segment", "NAME 1-1 SC;NAME 2-2 SC" },
	{ "segment", "NAME 1-1 SC FILE=a;NAME 2-2 SC FILE=b" }, { "segment", "A 1-1 SC FILE=a;B" },
	{ "segment", "NAME FILE=a" }, { "segment", "TOOLONGNAME 1-1 SC" },
	{ "segment", "NA,ME 1-1 SC" },
	{ "segment", "NAME 1-1 EN 2-2 EN 3-3 EN 4-4 EN 5-5 EN 6-6 EN 7-7 EN" },
};

TEST_EACH(wrong_values_change_nothing, wrong_values)
{
	const char *key = wrong_values[_i].key, *value = wrong_values[_i].value;
	struct cp_config before = config;

	ck_assert_int_eq(set(key, value), -1);
	ck_assert_int_eq(strncmp(err, key, strlen(key)), 0);
	ck_assert_msg(strstr(err, "\": expected ") != NULL, "%s", err);
	ck_assert_mem_eq(&config, &before, sizeof(config));
}

/* Nothing remains of the statements before it. */
TEST(directory_takes_the_place_of_the_one_before)
{
	struct cp_config before;

	ck_assert_int_eq(set("directory", ""), 0);
	before = config;
	ck_assert_int_eq(set("directory", "IUCV ANY;NAMESAVE A;OPTION APPLMON;ACCOUNT 1;"
			     "ACIGROUP A;SPOOL C 1403;MDISK 200 FB-512 V-DISK 8"), 0);
	ck_assert_mem_ne(&config, &before, sizeof(config));
	ck_assert_int_eq(set("directory", ""), 0);
	ck_assert_mem_eq(&config, &before, sizeof(config));
}

TEST(errors_say_what_and_where)
{
	bad("cpus", "100", "cpus \"100\": expected a number from 1 to 64");
	bad("storage", "0.1M 2x.3M",
	    "storage \"2x.3M\": expected start.size with K, M, G or T, such as 200M.200M");
	bad("storage", "1M.1M", "storage \"1M.1M\": expected the first extent to start at 0");
	bad("directory", "IUCV ANY;NAMESAVE TOOLONGNAME",
	    "directory \"TOOLONGNAME\": expected a segment's name of 1 to 8 characters");
	/* Where a word is missing, nothing was given. */
	bad("directory", "MDISK 200",
	    "directory \"\": expected FB-512, of which virtual disks in storage are");
	bad("directory", "MDISK 200 FB-512",
	    "directory \"\": expected V-DISK: a virtual disk in storage");
	bad("directory", "MDISK 200 FB-512 V-DISK",
	    "directory \"\": expected a number of blocks from 1 to 131072");
	bad("segment", "A 1-1 EN;B 5-4 SC",
	    "segment \"B 5-4 SC\": expected 1 to 6 page ranges in ascending order, none "
	    "overlapping");
	set("seed", "00000000011111111112222222222333333333344444444445555555555666666666677777777778"
		    "8");
	ck_assert_str_eq(err, "seed \"00000000011111111112222222222333333333344444444445555555555"
			      "666666666677777777778...\": expected a number from 0 to "
			      "18446744073709551615");
}

TEST(storage_extents)
{
	good("storage", " 0.140m 200M.200M\t1G.2g 4096M.1024K ");
	ck_assert_uint_eq(config.extents, 4);
	ck_assert_uint_eq(config.extent[0].size, 140u << 20);
	ck_assert_uint_eq(config.extent[1].start, 200u << 20);
	ck_assert_uint_eq(config.extent[2].start, 1u << 30);
	ck_assert_uint_eq(config.extent[2].size, UINT64_C(2) << 30);
	ck_assert_uint_eq(config.extent[3].start, UINT64_C(4) << 30);
	ck_assert_uint_eq(config.extent[3].size, 1u << 20);
	ck_assert_int_eq(cp_config_parse_storage(&config, "0K.16384G", err, sizeof(err)), 0);
	ck_assert_uint_eq(config.extents, 1);
	ck_assert_uint_eq(config.extent[0].size, UINT64_C(1) << 44);
	good("storage", "0.1M 1M.1M 2M.1M 3M.1M 4M.1M 5M.1M 6M.1M 7M.1M");
	ck_assert_uint_eq(config.extents, 8);
}

TEST(directory_statements)
{
	good("directory", "iucv *msg; iucv other priority msglimit 65535 ;;"
			  "namesave a b;Option MaxConn 65535 ApplMon;account 0815");
	ck_assert_uint_eq(config.iucv_statements, 2);
	ck_assert_str_eq(config.iucv[0].name, "*MSG");
	ck_assert_uint_eq(config.iucv[0].msglimit, 0);
	ck_assert(!config.iucv[0].priority);
	ck_assert_str_eq(config.iucv[1].name, "OTHER");
	ck_assert_uint_eq(config.iucv[1].msglimit, 65535);
	ck_assert(config.iucv[1].priority);
	ck_assert_uint_eq(config.namesaves, 2);
	ck_assert_str_eq(config.namesave[1], "B");
	ck_assert_uint_eq(config.max_paths, 65535);
	ck_assert(config.applmon);
	ck_assert_str_eq(config.account, "0815");
	good("directory", "spool 00c 2540 rdr;spool ffff 1403 9;SPOOL 0 2540 PUN k");
	ck_assert_uint_eq(config.units, 3);
	ck_assert_uint_eq(config.unit[0].device, 0x00c);
	ck_assert_int_eq(config.unit[0].kind, CP_UNIT_READER);
	ck_assert_int_eq(config.unit[0].spool_class, '*');
	ck_assert_uint_eq(config.unit[1].device, 0xffff);
	ck_assert_int_eq(config.unit[1].kind, CP_UNIT_PRINTER);
	ck_assert_int_eq(config.unit[1].spool_class, '9');
	ck_assert_int_eq(config.unit[2].kind, CP_UNIT_PUNCH);
	ck_assert_int_eq(config.unit[2].spool_class, 'K');
	good("directory", "mdisk 200 fb-512 v-disk 1 rr;MDISK FFFF FB-512 V-DISK 131072 MW;"
			  "MDISK 0 FB-512 V-DISK 9;MDISK 1 FB-512 V-DISK 8 R");
	ck_assert_uint_eq(config.units, 0);
	ck_assert_uint_eq(config.disks, 4);
	ck_assert_uint_eq(config.disk[0].device, 0x200);
	ck_assert_uint_eq(config.disk[0].blocks, 8);
	ck_assert_uint_eq(config.disk[0].mode, CP_LINK_RR);
	ck_assert_uint_eq(config.disk[1].device, 0xffff);
	ck_assert_uint_eq(config.disk[1].blocks, 131072);
	ck_assert_uint_eq(config.disk[1].mode, CP_LINK_MW);
	ck_assert_uint_eq(config.disk[2].blocks, 16);
	ck_assert_uint_eq(config.disk[2].mode, CP_LINK_W);
	ck_assert_uint_eq(config.disk[3].blocks, 8);
	ck_assert_uint_eq(config.disk[3].mode, CP_LINK_R);
	for (size_t i = 0; i < 5; i++) {
		static const char *const modes[] = { "W", "WR", "M", "MR", "MW" };
		char text[64];

		snprintf(text, sizeof(text), "MDISK 200 FB-512 V-DISK 8 %s", modes[i]);
		good("directory", text);
		ck_assert_uint_eq(config.disks, 1);
		ck_assert_uint_eq(config.disk[0].mode, CP_LINK_W + i);
	}
	good("directory", "link bob 200 300;LINK CAROL 1 2 mr");
	ck_assert_uint_eq(config.disks, 2);
	ck_assert_str_eq(config.disk[0].owner, "BOB");
	ck_assert_uint_eq(config.disk[0].owner_device, 0x200);
	ck_assert_uint_eq(config.disk[0].device, 0x300);
	ck_assert_uint_eq(config.disk[0].mode, CP_LINK_R);
	ck_assert_uint_eq(config.disk[1].mode, CP_LINK_MR);
	good("directory", "");
	ck_assert_uint_eq(config.units, 0);
	ck_assert_uint_eq(config.disks, 0);
	ck_assert_uint_eq(config.iucv_statements, 0);
	ck_assert_uint_eq(config.namesaves, 0);
	ck_assert_uint_eq(config.max_paths, 64);
	ck_assert(!config.applmon);
	ck_assert_str_eq(config.account, "");
}

TEST(lists_have_an_end)
{
	char text[65 * 12] = "";

	for (int i = 0; i < 64; i++)
		strcat(text, "IUCV ANY;");
	good("directory", text);
	ck_assert_uint_eq(config.iucv_statements, 64);
	strcat(text, "IUCV ANY");
	bad("directory", text, "directory \"ANY\": expected no more than 64 IUCV statements");
	strcpy(text, "NAMESAVE");
	for (int i = 0; i < 64; i++)
		strcat(text, " A");
	good("directory", text);
	ck_assert_uint_eq(config.namesaves, 64);
	strcat(text, " B");
	bad("directory", text, "directory \"B\": expected no more than 64 NAMESAVE names");
	text[0] = '\0';
	for (int i = 0; i < 32; i++)
		sprintf(text + strlen(text), "S%d 1-1 SC;", i);
	good("segment", text);
	ck_assert_uint_eq(config.segments, 32);
	strcat(text, "S32 1-1 SC");
	bad("segment", text, "segment \"S32 1-1 SC\": expected no more than 32 segments");
}

TEST(segments)
{
	static const char *const types[] = { "SW", "EW", "SR", "ER", "SN", "EN", "SC" };

	good("segment", "data 10000-100ff en 10100-7ffffff sw file=/tmp/a b ;mon 0-0 sc rstd");
	ck_assert_uint_eq(config.segments, 2);
	ck_assert_str_eq(config.segment[0].name, "DATA");
	ck_assert_uint_eq(config.segment[0].ranges, 2);
	ck_assert_int_eq(config.segment[0].range[0].type, DCSS_EN);
	ck_assert_uint_eq(config.segment[0].range[1].last, 0x7ffffff);
	ck_assert_int_eq(config.segment[0].range[1].type, DCSS_SW);
	ck_assert_str_eq(config.segment[0].file, "/tmp/a b");
	ck_assert(!config.segment[0].restricted);
	ck_assert_ptr_null(config.segment[1].file);
	ck_assert(config.segment[1].restricted);
	good("segment", "");
	ck_assert_uint_eq(config.segments, 0);
	for (unsigned int i = 0; i < 7; i++)
		ck_assert_str_eq(config_type_name(i), types[i]);
	ck_assert_ptr_null(config_type_name(7));
}

static void ck_directory(const struct cp_config *copy)
{
	ck_assert_uint_eq(copy->iucv_statements, config.iucv_statements);
	for (unsigned int i = 0; i < config.iucv_statements; i++) {
		ck_assert_str_eq(copy->iucv[i].name, config.iucv[i].name);
		ck_assert_uint_eq(copy->iucv[i].msglimit, config.iucv[i].msglimit);
		ck_assert_uint_eq(copy->iucv[i].priority, config.iucv[i].priority);
	}
	ck_assert_uint_eq(copy->namesaves, config.namesaves);
	for (unsigned int i = 0; i < config.namesaves; i++)
		ck_assert_str_eq(copy->namesave[i], config.namesave[i]);
	ck_assert_uint_eq(copy->max_paths, config.max_paths);
	ck_assert_uint_eq(copy->applmon, config.applmon);
	ck_assert_str_eq(copy->account, config.account);
}

/* Values are told as they can be given; given again they are the same. */
TEST(values_as_they_are_told)
{
	static const struct {
		const char *key, *given, *told;
	} values[] = {
		{ "userid", "tester1", "TESTER1" }, { "class", "bg1g", "BG1" }, { "level", "6.4.0", "6.4.0" },
		{ "machine", "3931 a01 sequence ff",
		  "3931 A01 MANUFACTURER IBM CAPACITY 703 SEQUENCE 00000000000000FF PLANT 02 "
		  "CAPABILITY 416 LPAR 1 ZVMLP1 SHARED" },
		{ "machine", "2817 m32 dedicated lpar 255 lp8 plant 1 capability 8388607 capacity 7 "
			     "manufacturer sixteencharacter",
		  "2817 M32 MANUFACTURER SIXTEENCHARACTER CAPACITY 7 SEQUENCE 0000000000065AB8 "
		  "PLANT 1 CAPABILITY 8388607 LPAR 255 LP8 DEDICATED" },
		{ "cpus", "64", "64" }, { "storage", "0.4M 12M.2M", NULL }, { "console", "1f", "001F" },
		{ "conmode", "3215", "3215" },
		{ "directory", "", NULL },
		{ "directory", "iucv any;iucv *msg msglimit 7;iucv other priority;namesave a b;option "
			       "maxconn 9 applmon;account 0815", NULL },
		{ "directory", "spool c 2540 reader b;spool d 2540 punch;spool e 1403 7",
		  "SPOOL 000C 2540 READER B;SPOOL 000D 2540 PUNCH A;SPOOL 000E 1403 7;OPTION "
		  "MAXCONN 64" },
		{ "directory", "mdisk 201 fb-512 v-disk 100 mr;spool e 1403;mdisk a fb-512 v-disk 8 rr",
		  "SPOOL 000E 1403 A;MDISK 0201 FB-512 V-DISK 104 MR;MDISK 000A FB-512 V-DISK 8 RR;"
		  "OPTION MAXCONN 64" },
		{ "segment", "data 10000-100ff en 10100-7ffffff sw;mon 0-0 sc rstd;last 1-2 er",
		  "DATA 10000-100FF EN 10100-7FFFFFF SW;MON 0-0 SC RSTD;LAST 1-2 ER" },
		{ "segment", "", "" }, { "seed", "18446744073709551615", "18446744073709551615" },
		{ "trace-data", "full", "full" }, { "trace-data", "short", "short" },
	};
	char told[4096], again[4096];

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct cp_config copy;
		int len;

		good(values[i].key, values[i].given);
		len = cp_config_get(&config, values[i].key, told, sizeof(told));
		ck_assert_int_eq(len, (int)strlen(told));
		if (values[i].told)
			ck_assert_str_eq(told, values[i].told);
		cp_config_init(&copy);
		ck_assert_msg(cp_config_set(&copy, values[i].key, told, err, sizeof(err)) == 0, "%s", err);
		ck_assert_int_eq(cp_config_get(&copy, values[i].key, again, sizeof(again)), len);
		ck_assert_str_eq(again, told);
		if (strcmp(values[i].key, "directory") == 0)
			ck_directory(&copy);
		cp_config_fini(&copy);
		/* It has just room, with the zero behind it. */
		ck_assert_int_eq(cp_config_get(&config, values[i].key, told, (size_t)len + 1), len);
		if (len > 0)
			ck_assert_int_eq(cp_config_get(&config, values[i].key, told, (size_t)len), -1);
	}
	ck_assert_int_eq(cp_config_get(&config, "none", told, sizeof(told)), -1);
}

/* An error quotes the first 80 characters of a wrong value. */
TEST(long_values_are_cut)
{
	char value[90], expected[200];

	for (unsigned int len = 79; len < 83; len++) {
		memset(value, '?', len);
		value[len] = '\0';
		ck_assert_int_eq(cp_config_set(&config, "seed", value, err, sizeof(err)), -1);
		snprintf(expected, sizeof(expected), "seed \"%.80s%s\": expected ", value,
			 len <= 80 ? "" : "...");
		ck_assert_msg(strncmp(err, expected, strlen(expected)) == 0, "%s", err);
	}
}

TEST(copies_own_their_files)
{
	struct cp_config copy;

	good("segment", "A 1-1 SC FILE=one;B 2-2 SC FILE=two;C 3-3 SC");
	ck_assert_int_eq(cp_config_copy(&copy, &config), 0);
	ck_assert_ptr_ne(copy.segment[1].file, config.segment[1].file);
	cp_config_fini(&config);
	ck_assert_ptr_null(config.segment[0].file);
	ck_assert_str_eq(copy.segment[0].file, "one");
	ck_assert_str_eq(copy.segment[1].file, "two");
	ck_assert_ptr_null(copy.segment[2].file);
	cp_config_fini(&copy);
}
