/* SPDX-License-Identifier: MIT */
/* Shown values of a record, unknown ones instead of 0, and units of columns. */
#include <string.h>

#include "row.h"
#include "taskmon_bytes.h"
#include "unit_test.h"

static char *text;
static size_t text_len;

static void forget(void)
{
	free(text);
	text = NULL;
}

CASE("taskmon row", NULL, forget);

static enum writer_format format = WRITER_CSV;

/* The values of these columns, as CSV or a line of JSON, until the next call. */
static const char *shown(const char *names, const struct stats_record *record,
			 const struct row_origin *origin)
{
	struct selection selection;
	struct writer *writer;
	char error[128];
	FILE *out;

	forget();
	out = open_memstream(&text, &text_len);
	selection_standard(&selection, row_columns, ROW_COLUMNS);
	ck_assert(selection_parse(&selection, names, error, sizeof(error)));
	writer = writer_open(out, format, false, &selection);
	ck_assert_int_eq(row_put(writer, record, origin), 0);
	writer_close(writer);
	fclose(out);
	text[text_len - 1] = '\0';
	return format == WRITER_CSV ? strchr(text, '\n') + 1 : text;
}

static void set(struct stats_record *record, enum stats_field field, uint64_t value)
{
	record->stats.present[field] = true;
	record->stats.value[field] = value;
}

/* A record with all fields, which are 0. */
static struct stats_record zeros(enum stats_kind kind)
{
	struct stats_record record = { .kind = kind, .id = 7 };

	for (unsigned int field = 0; field < STATS_FIELDS; field++)
		record.stats.present[field] = true;
	return record;
}

TEST(status_of_those_that_have_exited)
{
	const struct row_origin origin = { 1, 2, 3 };
	struct stats_record task = zeros(STATS_TASK);

	ck_assert_str_eq(shown("status,signal", &task, NULL), ",");
	ck_assert_str_eq(shown("status,signal,cpu,number,time_ns", &task, &origin), "0,,1,2,3");
	task.exited = true;
	ck_assert_str_eq(shown("status,signal", &task, NULL), "0,");
	/* What the kernel did not tell is not 0. */
	task.stats.present[STATS_EXITCODE] = false;
	ck_assert_str_eq(shown("status,signal", &task, NULL), ",");
	set(&task, STATS_EXITCODE, 5 << 8);
	ck_assert_str_eq(shown("status,signal", &task, NULL), "5,");
	set(&task, STATS_EXITCODE, 9);
	ck_assert_str_eq(shown("status,signal", &task, NULL), ",9");
	set(&task, STATS_EXITCODE, 11 | 0x80);
	ck_assert_str_eq(shown("status,signal", &task, NULL), ",11");
	/* Nothing ends as what has stopped or goes on. */
	set(&task, STATS_EXITCODE, 19 << 8 | 0x7f);
	ck_assert_str_eq(shown("status,signal", &task, NULL), ",");
	set(&task, STATS_EXITCODE, 11 | 0x80);
	task.kind = STATS_PROCESS;
	ck_assert_str_eq(shown("kind,status,signal", &task, &origin), "process,,");
	task.kind = STATS_TREE;
	ck_assert_str_eq(shown("kind,status,signal", &task, NULL), "tree,,11");
}

TEST(times_of_a_process)
{
	static const char names[] = "etime_us,tgetime_us,tasks_etime_us";
	struct stats_record record = zeros(STATS_TASK);

	set(&record, STATS_ETIME, 100);
	set(&record, STATS_TGETIME, 150);
	ck_assert_str_eq(shown(names, &record, NULL), "100,150,");
	record.kind = STATS_PROCESS;
	ck_assert_str_eq(shown(names, &record, NULL), ",,100");
	record.has_elapsed = true;
	record.elapsed_us = 60;
	ck_assert_str_eq(shown(names, &record, NULL), "60,60,100");
	/* Nothing but this time. */
	record = zeros(STATS_PROCESS);
	record.has_elapsed = true;
	ck_assert_str_eq(shown(names, &record, NULL), "0,0,");
}

TEST(sums_that_are_none)
{
	static const char names[] = "blkio_count,utime_us,stime_us,nvcsw,nivcsw,minflt,utimescaled_us";
	struct stats_record record = zeros(STATS_PROCESS);

	record.stats.value[STATS_VERSION] = 13;
	ck_assert_str_eq(shown(names, &record, NULL), ",,,,,,");
	/* What a kernel sums up only at times. */
	set(&record, STATS_CPU_COUNT, 1);
	ck_assert_str_eq(shown(names, &record, NULL), "0,,,,,,");
	set(&record, STATS_ETIME, 1);
	ck_assert_str_eq(shown(names, &record, NULL), "0,0,0,0,0,,");
	/* Should a kernel do so: it is shown. */
	set(&record, STATS_MINFLT, 3);
	set(&record, STATS_UTIMESCALED, 4);
	ck_assert_str_eq(shown(names, &record, NULL), "0,0,0,0,0,3,4");
	record.kind = STATS_TASK;
	set(&record, STATS_MINFLT, 0);
	ck_assert_str_eq(shown(names, &record, NULL), "0,0,0,0,0,0,4");
	set(&record, STATS_NICE, (uint64_t)-20);
	ck_assert_str_eq(shown("nice", &record, NULL), "-20");
	record.stats.present[STATS_NVCSW] = false;
	ck_assert_str_eq(shown(names, &record, NULL), "0,0,0,,0,0,4");
}

/* A task's name may be empty; a thread group has none of its own. */
TEST(names_that_are_empty)
{
	struct stats_record record = zeros(STATS_TASK);

	format = WRITER_JSON;
	record.stats.has_comm = true;
	ck_assert_str_eq(shown("comm", &record, NULL), "{\"comm\":\"\"}");
	record.kind = STATS_PROCESS;
	ck_assert_str_eq(shown("comm", &record, NULL), "{\"comm\":null}");
	record.stats.comm_len = 1;
	record.stats.comm[0] = 'x';
	ck_assert_str_eq(shown("comm", &record, NULL), "{\"comm\":\"x\"}");
	record.stats.has_comm = false;
	record.kind = STATS_TASK;
	ck_assert_str_eq(shown("comm", &record, NULL), "{\"comm\":null}");
	format = WRITER_CSV;
}

TEST(what_a_tree_has)
{
	struct stats_record record = { .kind = STATS_TREE, .id = 9, .tasks = 1234 };

	memcpy(record.stats.comm, "make", 4);
	record.stats.comm_len = 4;
	record.stats.has_comm = true;
	set(&record, STATS_UTIME, 0);
	ck_assert_str_eq(shown("kind,id,comm,tasks,utime_us,stime_us,size_bytes,version,etime_us",
			       &record, NULL), "tree,9,make,1234,0,,,,");
	record.kind = STATS_TASK;
	record.stats.size = 416;
	ck_assert_str_eq(shown("tasks,size_bytes", &record, NULL), ",416");
}

/* A name ends with its unit: the way that people and programs know of it. */
TEST(names_end_with_their_units)
{
	static const struct {
		const char *end;
		enum column_unit unit;
	} units[] = {
		{ "_bytes_per_s", UNIT_BYTES_PER_S }, { "_percent", UNIT_PERCENT },
		{ "_mib_us", UNIT_NONE }, { "_ns", UNIT_NS }, { "_us", UNIT_US },
		{ "_kib", UNIT_KIB }, { "_bytes", UNIT_BYTES }, { "btime", UNIT_TIME },
		{ "btime64", UNIT_TIME }, { "", UNIT_NONE },
	};

	for (unsigned int i = 0; i < ROW_COLUMNS; i++) {
		const char *name = row_columns[i].name;
		enum column_unit unit = row_columns[i].unit;
		size_t u = 0;

		while (strlen(name) < strlen(units[u].end) ||
		       strcmp(name + strlen(name) - strlen(units[u].end), units[u].end) != 0)
			u++;
		/* When it was is no duration, and a point in time has no unit but its name's. */
		if (strcmp(name, "time_ns") == 0)
			ck_assert_int_eq(unit, UNIT_NONE);
		else
			ck_assert_msg(unit == units[u].unit, "%s", name);
	}
}

/* Names are texts, rates are real, a nice value may be below 0, and all else are numbers. */
TEST(types_of_columns)
{
	static const struct { const char *name; enum column_type type; } others[] = {
		{ "kind", COLUMN_TEXT }, { "comm", COLUMN_TEXT }, { "name", COLUMN_TEXT },
		{ "nice", COLUMN_SIGNED }, { "cpu_percent", COLUMN_REAL },
		{ "read_bytes_per_s", COLUMN_REAL }, { "write_bytes_per_s", COLUMN_REAL },
	};

	for (unsigned int i = 0; i < ROW_COLUMNS; i++) {
		enum column_type type = COLUMN_UNSIGNED;

		for (size_t j = 0; j < sizeof(others) / sizeof(others[0]); j++)
			if (strcmp(row_columns[i].name, others[j].name) == 0)
				type = others[j].type;
		ck_assert_msg(row_columns[i].type == type, "%s", row_columns[i].name);
	}
}

/* The values of these columns, of what lives. */
static const char *shown_living(const char *names, const struct stats_record *record,
				const struct row_more *more)
{
	struct selection selection;
	struct writer *writer;
	FILE *out;

	forget();
	out = open_memstream(&text, &text_len);
	selection_standard(&selection, row_columns, ROW_COLUMNS);
	ck_assert(selection_parse(&selection, names, NULL, 0));
	writer = writer_open(out, WRITER_CSV, false, &selection);
	ck_assert_int_eq(row_put_living(writer, record, more), 0);
	writer_close(writer);
	fclose(out);
	text[text_len - 1] = '\0';
	return strchr(text, '\n') + 1;
}

TEST(what_lives_in_an_interval)
{
	struct row_more more = { "/some", 3, 2000000000 };
	struct stats_record record = zeros(STATS_CGROUP);

	record.tasks = 4;
	set(&record, STATS_CPU_RUN_VIRTUAL, 500000000);
	set(&record, STATS_READ_BYTES, 8192);
	ck_assert_str_eq(shown_living("kind,id,name,tasks,size_bytes,interval,interval_ns", &record,
				      &more), "cgroup,,/some,4,,3,2000000000");
	ck_assert_str_eq(shown_living("cpu_percent,read_bytes_per_s,write_bytes_per_s", &record,
				      &more), "25,4096,0");
	record.stats.present[STATS_WRITE_BYTES] = false;
	ck_assert_str_eq(shown_living("write_bytes_per_s", &record, &more), "");
	/* Nothing can be said of an interval that had no time. */
	more.length_ns = 0;
	ck_assert_str_eq(shown_living("interval_ns,cpu_percent,read_bytes_per_s", &record, &more),
			 "0,,");
	more.length_ns = 4000000000;
	ck_assert_str_eq(shown_living("interval_ns,cpu_percent,read_bytes_per_s", &record, &more),
			 "4000000000,12.5,2048");
	more.name = NULL;
	ck_assert_str_eq(shown_living("name,tasks", &record, &more), ",4");
	/* Without an interval there are no rates. */
	more.interval = 0;
	ck_assert_str_eq(shown_living("cpu_percent,interval,interval_ns", &record, &more), ",,");
	/* Sums over the tasks of a process know what the kernel's do not. */
	record.kind = STATS_PROCESS;
	ck_assert_str_eq(shown_living("kind,id,tasks,minflt,size_bytes", &record, &more),
			 "process,7,4,0,");
	record.tasks = 0;
	record.stats.present[STATS_WRITE_BYTES] = true;
	ck_assert_str_eq(shown_living("tasks,minflt,write_bytes,version", &record, &more), ",,,0");
	record = zeros(STATS_TASK);
	set(&record, STATS_EXITCODE, 5 << 8);
	ck_assert_str_eq(shown_living("kind,status", &record, &more), "task,");
	record.exited = true;
	ck_assert_str_eq(shown_living("kind,status", &record, &more), "task,5");
	record.kind = STATS_USER;
	ck_assert_str_eq(shown_living("kind,status", &record, &more), "user,");
	record.kind = STATS_COMMAND;
	ck_assert_str_eq(shown_living("kind,status", &record, &more), "command,");
}

/* The status and the signal in colors on a terminal. */
static const char *colors(struct stats_record *record, uint64_t status)
{
	struct selection selection;
	struct writer *writer;
	FILE *out;

	forget();
	out = open_memstream(&text, &text_len);
	selection_standard(&selection, row_columns, ROW_COLUMNS);
	ck_assert(selection_parse(&selection, "status,signal", NULL, 0));
	writer = writer_open(out, WRITER_TABLE, false, &selection);
	writer_set_colors(writer, true);
	record->exited = true;
	set(record, STATS_EXITCODE, status);
	ck_assert_int_eq(row_put(writer, record, NULL), 0);
	writer_close(writer);
	fclose(out);
	return strchr(text, '\n') + 1;
}

/* Red if something went wrong. */
TEST(ends_that_are_bad)
{
	struct stats_record record = zeros(STATS_TASK);

	ck_assert_str_eq(colors(&record, 0), "     0       -\n");
	ck_assert_str_eq(colors(&record, 1 << 8), "\033[31m     1\033[m       -\n");
	ck_assert_str_eq(colors(&record, 9), "     -  \033[31m     9\033[m\n");
}

/* As wide as the longest value that the kernel can have, but no wider: lines are long. */
TEST(widths_of_columns)
{
	static const struct { enum row_column column; const char *longest; } c[] = {
		{ ROW_KIND, "process" }, { ROW_ID, "4194304" }, { ROW_COMM, "fifteen letters" },
		{ ROW_CPU, "" }, { ROW_NUMBER, "" }, { ROW_TIME, "1790000000000000000" },
		{ ROW_STATUS, "" }, { ROW_SIGNAL, "" }, { ROW_SIZE, "" }, { ROW_TASKS, "" },
		{ ROW_TASKS_ETIME, "" }, { ROW_NAME, "fifteen letters" }, { ROW_INTERVAL, "" },
		{ ROW_INTERVAL_TIME, "" }, { ROW_CPU_PERCENT, "" }, { ROW_READ_RATE, "" },
		{ ROW_WRITE_RATE, "" },
	};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		ck_assert_msg(row_columns[c[i].column].width == strlen(c[i].longest), "%s",
			      row_columns[c[i].column].name);
}

/* Kernels that account by ticks have 0 in utime and stime of short tasks. */
TEST(standard_columns)
{
	static const char *const standard[] = {
		"kind", "id", "comm", "status", "signal", "cpu_delay_ns", "blkio_delay_ns",
		"cpu_run_virtual_ns", "etime_us", "utime_us", "stime_us", "hiwater_rss_kib",
	};
	struct selection selection;

	selection_standard(&selection, row_columns, ROW_COLUMNS);
	ck_assert_uint_eq(selection.shown_count, sizeof(standard) / sizeof(standard[0]));
	for (size_t i = 0; i < selection.shown_count; i++)
		ck_assert_str_eq(row_columns[selection.shown[i]].name, standard[i]);
}
