/* SPDX-License-Identifier: MIT */
/*
 * libmonrec: application data, each layout as its program writes it: the kernel's arch/s390/appldata,
 * s390-tools' mon_fsstatd and mon_procd.
 */
#include "fixture.h"

#include "monrec_application.h"

enum { CALDATOF = 20, CALDATLN = 22, MDGPROD = 32, FIXED = 52 };

static uint8_t data[4096];
static uint32_t end;		/* where the next value goes */
static struct monrec_record record;
static struct monrec_application application;

static void put(uint64_t value, unsigned int len)
{
	for (unsigned int i = len; i-- > 0; value >>= 8)
		data[end + i] = (uint8_t)value;
	end += len;
}

static void put_text(const char *text, unsigned int len)
{
	memcpy(data + end, text, strnlen(text, len));
	end += len;
}

static void put_counted(const char *text)
{
	put(strlen(text), 2);
	put_text(text, (unsigned int)strlen(text));
}

static void product(const void *number, uint16_t function, uint8_t of_product)
{
	memset(data, 0, sizeof(data));
	memcpy(data + MDGPROD, number, 7);
	end = MDGPROD + 7;
	put(function, 2);
	put(of_product, 1);
	put(0xf2f6, 2);
	put(0xf0f1, 2);
	put(0xf0f0, 2);
	end = FIXED;
}

static void kernel(uint8_t of_product)
{
	uint8_t number[7];

	ebcdic_encode(number, "LINUXKR", 7);
	product(number, 0xd5d3, of_product);
	put(UINT64_C(0xd5c91d3cf0000000), 8);
	put(7, 4);
	put(8, 4);
}

static int begin(void)
{
	put_be16(data + CALDATOF, FIXED);
	put_be16(data + CALDATLN, (uint16_t)(end - FIXED));
	record = (struct monrec_record){ .data = data, .len = end, .domain = 10, .number = 2 };
	return monrec_application_begin(&record, &application);
}

/* The next value; returns it to be looked at.  Nothing is left of the value before. */
static struct monrec_value next(const char *name, enum monrec_value_type type)
{
	struct monrec_value value;

	memset(&value, 0xff, sizeof(value));
	ck_assert_msg(monrec_application_next(&application, &value), "no %s", name);
	ck_assert_str_eq(value.name, name);
	ck_assert_int_eq(value.type, type);
	if (type == MONREC_VALUE_TEXT)
		ck_assert_uint_eq(value.number, 0);
	else
		ck_assert(!value.text && value.text_len == 0);
	return value;
}

static void ck_number(const char *name, uint64_t number)
{
	ck_assert_uint_eq(next(name, MONREC_VALUE_UNSIGNED).number, number);
}

static void ck_text(const char *name, const char *text)
{
	const struct monrec_value value = next(name, MONREC_VALUE_TEXT);

	ck_assert_uint_eq(value.text_len, strlen(text));
	ck_assert_mem_eq(value.text, text, value.text_len);
}

static void ck_end(void)
{
	struct monrec_value value;

	ck_assert(!monrec_application_next(&application, &value));
	ck_assert(!monrec_application_next(&application, &value));
}

static void ck_kernel_head(void)
{
	ck_assert_uint_eq(next("timestamp", MONREC_VALUE_TOD).number, UINT64_C(0xd5c91d3cf0000000));
	ck_number("sync_count_1", 7);
	ck_number("sync_count_2", 8);
}

/* Names in the order of the kernel's structure; value n is n + 100. */
static void ck_numbers(const char *const *names)
{
	ck_assert_int_eq(begin(), 0);
	ck_kernel_head();
	for (unsigned int i = 0; names[i]; i++)
		ck_number(names[i], i + 100);
	ck_end();
}

TEST(memory)
{
	static const char *const names[] = {
		"pgpgin", "pgpgout", "pswpin", "pswpout", "sharedram", "totalram", "freeram",
		"totalhigh", "freehigh", "bufferram", "cached", "totalswap", "freeswap", "pgalloc",
		"pgfault", "pgmajfault", NULL,
	};

	kernel(1);
	for (unsigned int i = 0; names[i]; i++)
		put(i + 100, 8);
	ck_assert_uint_eq(end - FIXED, 144);
	ck_numbers(names);
	ck_assert_str_eq(application.product, "LINUXKR");
	ck_assert_uint_eq(application.function, 0xd5d3);
	ck_assert_uint_eq(application.number, 1);
	ck_assert_uint_eq(application.version, 0xf2f6);
	ck_assert_uint_eq(application.release, 0xf0f1);
	ck_assert_uint_eq(application.modification, 0xf0f0);
	ck_assert_str_eq(application.name, "mem");
	ck_assert_str_eq(application.title, "Linux: memory");
	ck_assert_ptr_eq(application.data, data + FIXED);
	ck_assert_uint_eq(application.len, 144);
}

TEST(network)
{
	static const char *const names[] = {
		"nr_interfaces", "rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors",
		"tx_errors", "rx_dropped", "tx_dropped", "collisions", NULL,
	};

	kernel(3);
	put(100, 4);
	put(0xeeeeeeee, 4);
	for (unsigned int i = 1; names[i]; i++)
		put(i + 100, 8);
	ck_assert_uint_eq(end - FIXED, 96);
	ck_numbers(names);
}

static const char *const cpu_names[] = {
	"user", "nice", "system", "idle", "irq", "softirq", "iowait", "steal", "id", NULL,
};

/* @cpus structures of @size bytes each, as the record says @said. */
static void put_os(uint32_t said, uint32_t cpus, uint32_t size)
{
	kernel(2);
	put(said, 4);
	put(size, 4);
	put(52, 4);
	for (unsigned int i = 0; i < 6; i++)
		put(i + 100, 4);
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		for (unsigned int i = 0; i < size / 4; i++)
			put(1000 * (cpu + 1) + i, 4);
}

static void ck_os_head(uint32_t said, uint32_t size)
{
	ck_assert_int_eq(begin(), 0);
	ck_assert_str_eq(application.name, "os");
	ck_kernel_head();
	ck_number("nr_cpus", said);
	ck_number("per_cpu_size", size);
	ck_number("cpu_offset", 52);
	ck_number("nr_running", 100);
	ck_number("nr_threads", 101);
	ck_number("avenrun_1", 102);
	ck_number("avenrun_5", 103);
	ck_number("avenrun_15", 104);
	ck_number("nr_iowait", 105);
}

static void ck_cpus(unsigned int cpus, unsigned int values)
{
	char name[32];

	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		for (unsigned int i = 0; i < values; i++) {
			snprintf(name, sizeof(name), "cpu%u.%s", cpu, cpu_names[i]);
			ck_number(name, 1000 * (cpu + 1) + i);
		}
	}
	ck_end();
}

TEST(processors)
{
	put_os(3, 3, 36);
	ck_os_head(3, 36);
	ck_cpus(3, 9);
}

/* Before modification level 01 there was neither steal nor id; later ones may have more. */
TEST(processors_of_other_levels)
{
	put_os(2, 2, 28);
	ck_os_head(2, 28);
	ck_cpus(2, 7);
	put_os(2, 2, 44);
	ck_os_head(2, 44);
	ck_cpus(2, 9);
}

/* The record's number of CPUs may be wrong. */
TEST(processors_that_are_not_there)
{
	struct monrec_value value;

	put_os(UINT32_MAX, 2, 36);
	ck_os_head(UINT32_MAX, 36);
	ck_cpus(2, 9);
	/* Behind the last is something else. */
	put_os(1, 3, 36);
	ck_os_head(1, 36);
	ck_cpus(1, 9);
	put_os(2, 2, 36);
	put_be32(data + FIXED + 20, 0);
	ck_assert_int_eq(begin(), 0);
	for (unsigned int i = 0; i < 12; i++)
		ck_assert(monrec_application_next(&application, &value));
	ck_end();
	put_os(2, 2, 36);
	put_be32(data + FIXED + 24, UINT32_MAX);
	ck_assert_int_eq(begin(), 0);
	for (unsigned int i = 0; i < 12; i++)
		ck_assert(monrec_application_next(&application, &value));
	ck_end();
	/* Too small for a single value, and 2³² of them. */
	put_os(UINT32_MAX, 20, 36);
	put_be32(data + FIXED + 20, 1);
	ck_assert_int_eq(begin(), 0);
	for (unsigned int i = 0; i < 12; i++)
		ck_assert(monrec_application_next(&application, &value));
	ck_end();
}

static void tool(uint16_t function, uint8_t of_product)
{
	product("LNXAPPL", function, of_product);
	put(1700000000, 8);
	put(500, 2);
	put(12, 2);
}

static void ck_tool_head(void)
{
	ck_assert_int_eq(begin(), 0);
	ck_assert_str_eq(application.product, "LNXAPPL");
	ck_assert_uint_eq(next("timestamp", MONREC_VALUE_EPOCH).number, 1700000000);
	ck_number("data_len", 500);
	ck_number("data_offset", 12);
}

static void put_fsstat(void)
{
	tool(1, 0);
	put_counted("/dev/vda1");
	put_counted("/");
	put_counted("");
	for (unsigned int i = 0; i < 9; i++)
		put(UINT64_MAX - i, 8);
}

TEST(file_system)
{
	static const char *const names[] = {
		"bsize", "frsize", "blocks", "bfree", "bavail", "files", "ffree", "favail", "flag",
	};

	put_fsstat();
	/* The record is longer than what it says. */
	end += 100;
	ck_tool_head();
	ck_assert_str_eq(application.name, "fsstat");
	ck_text("name", "/dev/vda1");
	ck_text("dir", "/");
	ck_text("type", "");
	for (unsigned int i = 0; i < 9; i++)
		ck_number(names[i], UINT64_MAX - i);
	ck_end();
}

TEST(sum_of_processes)
{
	static const struct { const char *name; unsigned int len; } values[] = {
		{ "tasks", 4 }, { "running", 4 }, { "sleeping", 4 }, { "stopped", 4 }, { "zombie", 4 },
		{ "num_cpus", 4 }, { "user", 2 }, { "nice", 2 }, { "system", 2 }, { "idle", 2 },
		{ "iowait", 2 }, { "irq", 2 }, { "softirq", 2 }, { "steal", 2 }, { "mem_total", 8 },
		{ "mem_used", 8 }, { "mem_free", 8 }, { "mem_buffers", 8 }, { "pgpgin", 8 },
		{ "pgpgout", 8 }, { "swap_total", 8 }, { "swap_used", 8 }, { "swap_free", 8 },
		{ "swap_cached", 8 }, { "pswpin", 8 }, { "pswpout", 8 },
	};

	tool(2, 0);
	put(3600, 8);
	put(5, 4);
	put_text("0.12", 6);
	put_text("10.345", 6);
	put_text("", 6);
	for (unsigned int i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		put(i + 10, values[i].len);
	ck_tool_head();
	ck_assert_str_eq(application.name, "proc_sum");
	ck_number("uptime", 3600);
	ck_number("users", 5);
	ck_text("loadavg_1", "0.12");
	ck_text("loadavg_5", "10.345");
	ck_text("loadavg_15", "");
	for (unsigned int i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		ck_number(values[i].name, i + 10);
	ck_end();
}

TEST(process)
{
	static const char *const times[] = {
		"total_time", "ctotal_time", "size", "swap", "resident", "trs", "drs", "share", "dt",
		"maj_flt",
	};
	static const char *const texts[] = { "ruser", "euser", "egroup", "wchan", "cmd", "cmdline" };

	tool(2, 1);
	put(1, 4);
	put(2, 4);
	put(3, 4);
	put(4, 2);
	put(0xfff6, 2);
	put(19, 2);
	put(5, 4);
	put(6, 2);
	put(7, 2);
	for (unsigned int i = 0; i < 10; i++)
		put(i + 20, 8);
	put_text("S", 1);
	put(0x400100, 4);
	for (unsigned int i = 0; i < 6; i++)
		put_counted(texts[i]);
	ck_tool_head();
	ck_assert_str_eq(application.name, "task");
	ck_number("pid", 1);
	ck_number("ppid", 2);
	ck_number("euid", 3);
	ck_number("tty", 4);
	ck_assert_int_eq((int64_t)next("priority", MONREC_VALUE_SIGNED).number, -10);
	ck_assert_int_eq((int64_t)next("nice", MONREC_VALUE_SIGNED).number, 19);
	ck_number("processor", 5);
	ck_number("pcpu", 6);
	ck_number("pmem", 7);
	for (unsigned int i = 0; i < 10; i++)
		ck_number(times[i], i + 20);
	ck_text("state", "S");
	ck_number("flags", 0x400100);
	for (unsigned int i = 0; i < 6; i++)
		ck_text(texts[i], texts[i]);
	ck_end();
}

/* Cut anywhere, the values before are there, and no byte behind is read (ASan tells). */
TEST(cut_anywhere)
{
	struct monrec_value value;
	unsigned int values = 0, before = 0;
	uint32_t whole;

	put_fsstat();
	whole = end;
	for (end = FIXED; end <= whole; end++) {
		uint8_t *copy = malloc(end);

		ck_assert_ptr_nonnull(copy);
		put_be16(data + CALDATOF, FIXED);
		put_be16(data + CALDATLN, (uint16_t)(end - FIXED));
		memcpy(copy, data, end);
		record = (struct monrec_record){ .data = copy, .len = end, .domain = 10, .number = 1 };
		ck_assert_int_eq(monrec_application_begin(&record, &application), 0);
		for (values = 0; monrec_application_next(&application, &value); values++)
			;
		ck_assert_uint_ge(values, before);
		before = values;
		free(copy);
	}
	ck_assert_uint_eq(values, 3 + 3 + 9);
}

TEST(others)
{
	struct monrec_value value;

	product("LNXAPPL", 99, 0);
	put(1, 8);
	ck_assert_int_eq(begin(), 0);
	ck_assert_ptr_null(application.name);
	ck_assert_ptr_null(application.title);
	ck_assert_uint_eq(application.len, 8);
	ck_end();
	/* ASCII for a number that the kernel has in EBCDIC is the same to a reader. */
	product("\1\2\3\4\5\6\7", 1, 0);
	ck_assert_int_eq(begin(), 0);
	ck_assert_str_eq(application.product, ".......");
	record.number = 3;
	ck_assert_int_eq(monrec_application_begin(&record, &application), MONREC_MISMATCH);
	record.number = 0;
	ck_assert_int_eq(monrec_application_begin(&record, &application), MONREC_MISMATCH);
	record.number = 1;
	record.domain = 9;
	ck_assert_int_eq(monrec_application_begin(&record, &application), MONREC_MISMATCH);
	ck_assert(!monrec_application_next(&application, &value));
}

static const struct { uint16_t offset, length; uint32_t record; int rc; } places[] = {
	{ 52, 8, 60, 0 }, { 52, 9, 60, MONREC_ABSENT }, { 51, 8, 60, MONREC_ABSENT },
	{ 0, 0, 60, MONREC_ABSENT }, { 60, 0, 60, 0 }, { 61, 0, 60, MONREC_ABSENT },
	{ 56, 4, 60, 0 }, { 0xffff, 0xffff, 60, MONREC_ABSENT }, { 52, 0xffff, 60, MONREC_ABSENT },
	{ 52, 0, 51, MONREC_ABSENT }, { 52, 0, 52, 0 },
};

TEST_EACH(place_of_the_data, places)
{
	product("LNXAPPL", 1, 0);
	put_be16(data + CALDATOF, places[_i].offset);
	put_be16(data + CALDATLN, places[_i].length);
	record = (struct monrec_record){ .data = data, .len = places[_i].record, .domain = 10,
					 .number = 1 };
	ck_assert_int_eq(monrec_application_begin(&record, &application), places[_i].rc);
	if (places[_i].rc == 0)
		ck_assert_ptr_eq(application.data, data + places[_i].offset);
	else
		ck_end();
}

/* Nothing is read of a record that ends before its data could begin. */
TEST(short_records)
{
	product("LNXAPPL", 1, 0);
	put_be16(data + CALDATOF, FIXED);
	for (uint32_t len = 20; len < FIXED; len++) {
		uint8_t *alone = malloc(len);

		ck_assert_ptr_nonnull(alone);
		memcpy(alone, data, len);
		record = (struct monrec_record){ .data = alone, .len = len, .domain = 10,
						 .number = 1 };
		ck_assert_int_eq(monrec_application_begin(&record, &application), MONREC_ABSENT);
		ck_end();
		free(alone);
	}
}
