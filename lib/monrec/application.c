/* SPDX-License-Identifier: MIT */
/* libmonrec: application data of Linux and its tools. */
#include "monrec_application.h"

#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "ebcdic.h"
#include "monrec_private.h"

/* The fixed part (IBM's descriptions of MRAPLEDT and MRAPLSDT), and the product ID in it. */
enum { CALDATOF = 20, CALDATLN = 22, MDGPROD = 32, FIXED = 52 };
enum { PRODUCT_FUNCTION = 7, PRODUCT_NUMBER = 9, PRODUCT_VERSION = 10, PRODUCT_RELEASE = 12,
       PRODUCT_MODIFICATION = 14 };

/* How a step takes bytes: a value of @len bytes; a length of 2 bytes and its text; bytes to pass. */
enum { UNSIGNED, SIGNED, TEXT, TOD, EPOCH, COUNTED, PAD };

/* A value after the other, without gaps. */
struct step {
	const char *name;
	uint8_t type, len;
};

struct layout {
	const char *product;
	uint16_t function;
	uint8_t number;
	const char *name, *title;
	const struct step *steps;
	uint32_t count;
	/* Structures that repeat after them: one for each CPU. */
	const struct step *repeated;
	uint32_t repeated_count;
};

#define U8(name) { name, UNSIGNED, 8 }
#define U4(name) { name, UNSIGNED, 4 }
#define U2(name) { name, UNSIGNED, 2 }
#define S2(name) { name, SIGNED, 2 }

/* arch/s390/appldata: each begins so, and counts up before and after it changes the rest. */
#define KERNEL_HEAD { "timestamp", TOD, 8 }, U4("sync_count_1"), U4("sync_count_2")

static const struct step mem[] = {
	KERNEL_HEAD, U8("pgpgin"), U8("pgpgout"), U8("pswpin"), U8("pswpout"), U8("sharedram"),
	U8("totalram"), U8("freeram"), U8("totalhigh"), U8("freehigh"), U8("bufferram"),
	U8("cached"), U8("totalswap"), U8("freeswap"), U8("pgalloc"), U8("pgfault"),
	U8("pgmajfault"),
};

enum { OS_NR_CPUS = 16, OS_PER_CPU_SIZE = 20, OS_CPU_OFFSET = 24, OS_FIXED = 52 };
static const struct step os[] = {
	KERNEL_HEAD, U4("nr_cpus"), U4("per_cpu_size"), U4("cpu_offset"), U4("nr_running"),
	U4("nr_threads"), U4("avenrun_1"), U4("avenrun_5"), U4("avenrun_15"), U4("nr_iowait"),
};
static const struct step os_cpu[] = {
	U4("user"), U4("nice"), U4("system"), U4("idle"), U4("irq"), U4("softirq"), U4("iowait"),
	U4("steal"), U4("id"),
};

static const struct step net_sum[] = {
	KERNEL_HEAD, U4("nr_interfaces"), { "", PAD, 4 }, U8("rx_packets"), U8("tx_packets"),
	U8("rx_bytes"), U8("tx_bytes"), U8("rx_errors"), U8("tx_errors"), U8("rx_dropped"),
	U8("tx_dropped"), U8("collisions"),
};

/* s390-tools, mon_tools: each begins so. */
#define TOOL_HEAD { "timestamp", EPOCH, 8 }, U2("data_len"), U2("data_offset")

static const struct step fsstat[] = {
	TOOL_HEAD, { "name", COUNTED, 0 }, { "dir", COUNTED, 0 }, { "type", COUNTED, 0 },
	U8("bsize"), U8("frsize"), U8("blocks"), U8("bfree"), U8("bavail"), U8("files"),
	U8("ffree"), U8("favail"), U8("flag"),
};

static const struct step proc_sum[] = {
	TOOL_HEAD, U8("uptime"), U4("users"), { "loadavg_1", TEXT, 6 }, { "loadavg_5", TEXT, 6 },
	{ "loadavg_15", TEXT, 6 }, U4("tasks"), U4("running"), U4("sleeping"), U4("stopped"),
	U4("zombie"), U4("num_cpus"), U2("user"), U2("nice"), U2("system"), U2("idle"),
	U2("iowait"), U2("irq"), U2("softirq"), U2("steal"), U8("mem_total"), U8("mem_used"),
	U8("mem_free"), U8("mem_buffers"), U8("pgpgin"), U8("pgpgout"), U8("swap_total"),
	U8("swap_used"), U8("swap_free"), U8("swap_cached"), U8("pswpin"), U8("pswpout"),
};

static const struct step task[] = {
	TOOL_HEAD, U4("pid"), U4("ppid"), U4("euid"), U2("tty"), S2("priority"), S2("nice"),
	U4("processor"), U2("pcpu"), U2("pmem"), U8("total_time"), U8("ctotal_time"), U8("size"),
	U8("swap"), U8("resident"), U8("trs"), U8("drs"), U8("share"), U8("dt"), U8("maj_flt"),
	{ "state", TEXT, 1 }, U4("flags"), { "ruser", COUNTED, 0 }, { "euser", COUNTED, 0 },
	{ "egroup", COUNTED, 0 }, { "wchan", COUNTED, 0 }, { "cmd", COUNTED, 0 },
	{ "cmdline", COUNTED, 0 },
};

#define STEPS(table) (table), sizeof(table) / sizeof((table)[0])
#define LINUXKR "LINUXKR", 0xd5d3	/* NL in EBCDIC */

static const struct layout layouts[] = {
	{ LINUXKR, 1, "mem", "Linux: memory", STEPS(mem), NULL, 0 },
	{ LINUXKR, 2, "os", "Linux: processes and CPUs", STEPS(os), STEPS(os_cpu) },
	{ LINUXKR, 3, "net_sum", "Linux: all network interfaces", STEPS(net_sum), NULL, 0 },
	{ "LNXAPPL", 1, 0, "fsstat", "Linux: a file system", STEPS(fsstat), NULL, 0 },
	{ "LNXAPPL", 2, 0, "proc_sum", "Linux: sum of all processes", STEPS(proc_sum), NULL, 0 },
	{ "LNXAPPL", 2, 1, "task", "Linux: a process", STEPS(task), NULL, 0 },
};

static bool printable(char c)
{
	return c >= 0x20 && c < 0x7f;
}

static void read_product(struct monrec_application *a, const uint8_t *id)
{
	bool ascii = true;

	memcpy(a->product, id, MONREC_PRODUCT_NUMBER);
	for (unsigned int i = 0; i < MONREC_PRODUCT_NUMBER; i++)
		ascii &= printable(a->product[i]);
	for (unsigned int i = 0; i < MONREC_PRODUCT_NUMBER && !ascii; i++) {
		a->product[i] = (char)ebcdic_to_latin1(id[i]);
		if (!printable(a->product[i]))
			a->product[i] = '.';
	}
	a->product[MONREC_PRODUCT_NUMBER] = '\0';
	a->function = get_be16(id + PRODUCT_FUNCTION);
	a->number = id[PRODUCT_NUMBER];
	a->version = get_be16(id + PRODUCT_VERSION);
	a->release = get_be16(id + PRODUCT_RELEASE);
	a->modification = get_be16(id + PRODUCT_MODIFICATION);
}

static const struct layout *layout_of(const struct monrec_application *a)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (strcmp(layouts[i].product, a->product) == 0 &&
		    layouts[i].function == a->function && layouts[i].number == a->number)
			return &layouts[i];
	return NULL;
}

int monrec_application_begin(const struct monrec_record *record,
			     struct monrec_application *application)
{
	const struct layout *layout;
	uint32_t offset;

	*application = (struct monrec_application){ .data = NULL };
	if (record->domain != 10 || record->number < 1 || record->number > 2)
		return MONREC_MISMATCH;
	if (record->len < FIXED)
		return MONREC_ABSENT;
	offset = get_be16(record->data + CALDATOF);
	application->len = get_be16(record->data + CALDATLN);
	read_product(application, record->data + MDGPROD);
	if (offset < FIXED || offset > record->len || application->len > record->len - offset) {
		application->len = 0;
		return MONREC_ABSENT;
	}
	application->data = record->data + offset;
	layout = layout_of(application);
	application->layout = layout;
	application->name = layout ? layout->name : NULL;
	application->title = layout ? layout->title : NULL;
	return 0;
}

/* Where the structure of CPU @part lies according to the record; false if there is none. */
static bool find_part(const struct monrec_application *a, uint64_t *start, uint64_t *end)
{
	uint64_t size;

	if (a->len < OS_FIXED || a->part >= get_be32(a->data + OS_NR_CPUS))
		return false;
	size = get_be32(a->data + OS_PER_CPU_SIZE);
	*start = get_be32(a->data + OS_CPU_OFFSET) + a->part * size;
	*end = *start + size;
	return size > 0 && *start < a->len;
}

/* The step that comes next; NULL past the last. */
static const struct step *next_step(struct monrec_application *a)
{
	const struct layout *layout = a->layout;
	const uint32_t each = layout ? layout->repeated_count : 0;
	uint64_t start, end;

	if (!layout)
		return NULL;
	if (a->step < layout->count)
		return &layout->steps[a->step];
	while (each > 0) {
		const uint32_t index = (a->step - layout->count) % each;

		a->part = (a->step - layout->count) / each;
		if (!find_part(a, &start, &end))
			return NULL;
		if (index == 0)
			a->at = (uint32_t)start;
		/* Older kernels have less of each CPU. */
		if (a->at + layout->repeated[index].len <= end)
			return &layout->repeated[index];
		a->step = layout->count + (a->part + 1) * each;
	}
	return NULL;
}

static void name_value(const struct monrec_application *a, const struct step *step,
		       struct monrec_value *value)
{
	const struct layout *layout = a->layout;

	if (a->step < layout->count)
		snprintf(value->name, sizeof(value->name), "%s", step->name);
	else
		snprintf(value->name, sizeof(value->name), "cpu%u.%s", a->part, step->name);
}

static uint64_t number(const uint8_t *at, unsigned int len)
{
	uint64_t value = 0;

	while (len-- > 0)
		value = value << 8 | *at++;
	return value;
}

static void take(const struct step *step, const uint8_t *at, uint32_t len,
		 struct monrec_value *value)
{
	static const enum monrec_value_type types[] = {
		[UNSIGNED] = MONREC_VALUE_UNSIGNED, [SIGNED] = MONREC_VALUE_SIGNED,
		[TEXT] = MONREC_VALUE_TEXT, [TOD] = MONREC_VALUE_TOD,
		[EPOCH] = MONREC_VALUE_EPOCH, [COUNTED] = MONREC_VALUE_TEXT,
	};

	value->type = types[step->type];
	if (value->type == MONREC_VALUE_TEXT) {
		value->text = (const char *)at;
		value->text_len = (uint32_t)strnlen(value->text, len);
		return;
	}
	value->number = number(at, len);
	if (step->type == SIGNED && value->number >> (8 * len - 1))
		value->number |= ~UINT64_C(0) << (8 * len);
}

bool monrec_application_next(struct monrec_application *a, struct monrec_value *value)
{
	const struct step *step = next_step(a);
	uint32_t len;

	while (step && step->type == PAD) {
		a->at += step->len;
		a->step++;
		step = next_step(a);
	}
	if (!step || a->at > a->len || a->len - a->at < (step->type == COUNTED ? 2u : step->len))
		return false;
	len = step->len;
	if (step->type == COUNTED) {
		len = get_be16(a->data + a->at);
		a->at += 2;
		if (len > a->len - a->at)
			return false;
	}
	*value = (struct monrec_value){ .number = 0 };
	name_value(a, step, value);
	take(step, a->data + a->at, len, value);
	a->at += len;
	a->step++;
	return true;
}
