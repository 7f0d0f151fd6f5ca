/* SPDX-License-Identifier: MIT */
/*
 * dmmon export: counters of areas, for monitoring systems.
 *
 * The kernel is asked for them each time that somebody asks, and nothing is cleared.
 */
#include "commands.h"

#include <stdlib.h>

#include "area_columns.h"
#include "command.h"
#include "named_devices.h"
#include "dms_values.h"
#include "exporter.h"
#include "interval.h"
#include "look.h"
#include "machine.h"
#include "regions.h"

/* The limit of areas, more than any monitoring system can use. */
#define AREAS_MAX 10000u
/* Signals are waited for; a timer is none. */
#define FOR_EVER (UINT64_C(1000000000) * 86400 * 365)

static const struct column columns[] = { AREA_COLUMNS(true) };

struct arguments {
	struct export_options exports;
	struct device_words devices;	/* none: all */
	const char *program;		/* NULL: all */
};

static const struct option_row option_rows[] = {
	{ "program", 'p', "ID", "only regions of this program",
	  TO_WORD(struct arguments, program), .group = 1 },
	{ 0 }
};
static const struct option_table options = { .rows = option_rows };

static const struct option_part parts[] = {
	{ &export_option_table, offsetof(struct arguments, exports), .group = 3 },
	{ &device_words_options, offsetof(struct arguments, devices), .group = 2 },
	{ 0 }
};

struct export {
	const struct arguments *arguments;
	struct writer *writer;		/* JSON lines; NULL: nobody asked for them */
	struct metrics *metrics;	/* while values are collected; NULL: rows are written */
	uint64_t areas, doubt, left_out;	/* meanwhile */
	uint64_t errors;		/* so far */
};

static int take_area(struct export *export, const struct device *device,
		     const struct dms_region *r, uint64_t index, const uint64_t *row,
		     unsigned int doubt)
{
	struct cell cells[AREA_COLUMN_COUNT];

	if (!export->metrics) {
		area_cells(cells, device, r, index, row, doubt);
		return area_put(export->writer, cells);
	}
	/* Kernels to 7.2 count its times wrongly. */
	if (device->request_based && (row[DMS_READS] || row[DMS_WRITES]))
		doubt |= DMS_TIME_IMPOSSIBLE;
	export->doubt += doubt != 0;
	dms_values_add(export->metrics, device->name, r, index, row, doubt);
	return EXIT_PASS;
}

static int take_part(struct export *export, const struct device *device,
		     const struct dms_region *r, const struct dms_counts *counts)
{
	/* All there can be since the machine was started. */
	const struct dms_span span = { .elapsed = machine_now(), .oldest = machine_now() };
	uint64_t *zeros = calloc(counts->stride, 2 * sizeof(*zeros));
	int code = EXIT_PASS;

	if (!zeros) {
		complain("not enough memory");
		return EXIT_FAILED;
	}
	for (size_t i = 0; code == EXIT_PASS && i < counts->count; i++)
		code = take_area(export, device, r, counts->first + i, dms_row(counts, i),
				 dms_delta(zeros + counts->stride, zeros, dms_row(counts, i),
					   counts->stride, r, &span));
	free(zeros);
	return code;
}

static int take_region(struct export *export, const struct device *device,
		       const struct dms_region *r)
{
	const uint64_t all = dms_area_count(r->length, r->step);
	const uint64_t room = AREAS_MAX - export->areas, end = all < room ? all : room;
	struct dms_counts counts;
	int code = EXIT_PASS;

	export->left_out += all - end;
	export->areas += end;
	for (uint64_t first = 0; code == EXIT_PASS && first < end; first += LOOK_AREAS) {
		const uint64_t more = end - first < LOOK_AREAS ? end - first : LOOK_AREAS;

		if (dms_counts_init(&counts, r, (size_t)more)) {
			complain("not enough memory");
			return EXIT_FAILED;
		}
		counts.first = first;
		code = look_part(&counts, device, r, false);
		if (code == EXIT_PASS)
			code = take_part(export, device, r, &counts);
		dms_counts_free(&counts);
	}
	return code;
}

/* One that has gone meanwhile, or cannot be read, is no matter of the others. */
static int take_device(const struct device *device, void *context)
{
	struct export *export = context;
	struct dms_regions list;

	if (regions_left(device, export->arguments->program, &list) != EXIT_PASS) {
		export->errors++;
		return EXIT_PASS;
	}
	for (size_t i = 0; i < list.count; i++)
		if (take_region(export, device, &list.region[i]) != EXIT_PASS)
			export->errors++;
	dms_regions_free(&list);
	return EXIT_PASS;
}

static void take_all(struct export *export)
{
	const struct word_list *names = &export->arguments->devices.names;
	struct device device;

	export->areas = 0;
	export->doubt = 0;
	export->left_out = 0;
	if (!names->count && device_each(take_device, export) != EXIT_PASS)
		export->errors++;
	for (unsigned int i = 0; i < names->count; i++) {
		if (device_open(&device, names->word[i]) == EXIT_PASS) {
			take_device(&device, export);
			device_close(&device);
		} else {
			export->errors++;
		}
	}
}

/* export_source */
static void collect(void *context, struct metrics *metrics)
{
	struct export *export = context;

	export->metrics = metrics;
	take_all(export);
	export->metrics = NULL;
	metrics_unsigned(metrics, DMS_VALUE_DOUBT, NULL, export->doubt);
	metrics_unsigned(metrics, DMS_VALUE_LEFT_OUT, NULL, export->left_out);
	metrics_unsigned(metrics, DMS_VALUE_ERRORS, NULL, export->errors);
}

static void write_lines(void *context)
{
	struct export *export = context;

	if (!export->writer)
		return;
	take_all(export);
	if (writer_flush(export->writer))
		export->errors++;
}

/* export_source */
static void open_lines(void *context, FILE *lines)
{
	struct export *export = context;
	struct selection selection;

	selection_standard(&selection, columns, AREA_COLUMN_COUNT);
	selection_parse(&selection, "all", NULL, 0);
	export->writer = writer_open(lines, WRITER_JSON, false, &selection);
}

/* Is there what is asked for, and may this process ask? */
static int try(const struct arguments *arguments)
{
	struct named_devices devices;
	int code = named_devices_open(&devices, &arguments->devices);

	if (code == EXIT_PASS)
		named_devices_close(&devices);
	return code;
}

static int run(struct export *export, struct interval *signals)
{
	const struct export_source source = {
		.tool = "dmmon", .families = dms_families, .count = DMS_VALUE_FAMILIES,
		.collect = collect, .open_lines = open_lines, .tick = write_lines,
		.context = export,
	};
	struct exporter *exporter;
	int code = exporter_open(&exporter, &export->arguments->exports, &source), ended;

	if (code)
		return code;
	code = interval_start(signals, FOR_EVER);
	while (code == EXIT_PASS && interval_wait(signals) == INTERVAL_OVER)
		;
	ended = exporter_close(exporter);
	writer_close(export->writer);
	return code ? code : ended;
}

int cmd_export(int argc, char **argv)
{
	static const struct word_row words[] = {
		DEVICE_WORDS(struct arguments, devices), { 0 }
	};
	static const struct command_line line = {
		.options = &options, .parts = parts,
		.words = words, .words_help = "[DEVICE...]",
		.help = "Exports the counters of all areas of devices, or of all devices, to "
			"monitoring systems, until a signal comes.  'dmmon create' makes regions to "
			"count in.  JSON lines come in the intervals of --interval.",
	};
	struct arguments arguments = { .exports = EXPORT_OPTIONS_DEFAULT };
	struct export export = { .arguments = &arguments };
	struct interval signals;
	int code;

	command_parse(&line, argc, argv, &arguments);
	code = try(&arguments);
	if (code == EXIT_PASS)
		code = interval_open(&signals);
	if (code != EXIT_PASS)
		return code;
	code = run(&export, &signals);
	interval_close(&signals);
	return code;
}
