/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "clock.h"
#include "quantity.h"

/* The rows of a table, the largest first; of equal ones the first. */
struct ranking {
	unsigned int count, all;
	double value[REPORT_ROWS];
	unsigned int index[REPORT_ROWS];
};

static void rank(struct ranking *top, double value, unsigned int index)
{
	unsigned int at = top->count;

	top->all++;
	if (at == REPORT_ROWS && value <= top->value[REPORT_ROWS - 1])
		return;
	if (at == REPORT_ROWS)
		at--;
	else
		top->count++;
	for (; at > 0 && top->value[at - 1] < value; at--) {
		top->value[at] = top->value[at - 1];
		top->index[at] = top->index[at - 1];
	}
	top->value[at] = value;
	top->index[at] = index;
}

static void group(char text[REPORT_CELL])
{
	const size_t len = strlen(text), whole = strcspn(text, "."), first = strspn(text, "-");

	/* From the right, so that nothing has to be moved twice. */
	for (size_t at = whole, end = len; at > first + 3 && end + 1 < REPORT_CELL; end++) {
		at -= 3;
		memmove(text + at + 1, text + at, end - at + 1);
		text[at] = ',';
	}
}

const char *report_number(char text[REPORT_CELL], double value, int decimals)
{
	/* Room for the commas, too. */
	if (snprintf(text, REPORT_CELL, "%.*f", decimals, value) < (int)REPORT_CELL / 2)
		group(text);
	else
		snprintf(text, REPORT_CELL, "%.6g", value);
	return text;
}

const char *report_count(char text[REPORT_CELL], uint64_t value)
{
	snprintf(text, REPORT_CELL, "%" PRIu64, value);
	group(text);
	return text;
}

/* Columns are added from the left. */
static void add_column(struct report *report, const char *head, bool text)
{
	unsigned int count = 0;

	while (report->columns[count].head)
		count++;
	assert(count < REPORT_COLUMNS);
	report->columns[count] = (struct report_column){ head, text };
}

/* The cells of a row are filled from the left. */
struct row {
	struct report *report;
	const struct thresholds *thresholds;
	unsigned int column;
};

static struct row next_row(struct report *report, const struct thresholds *thresholds)
{
	assert(report->rows < REPORT_ROWS);
	return (struct row){ .report = report, .thresholds = thresholds, .column = 0 };
}

static struct report_cell *next_cell(struct row *row)
{
	assert(row->column < REPORT_COLUMNS && row->report->columns[row->column].head);
	return &row->report->cell[row->report->rows][row->column++];
}

static void end_row(struct row *row)
{
	assert(!row->report->columns[row->column].head);
	row->report->rows++;
}

static void text_cell(struct row *row, const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vsnprintf(next_cell(row)->text, REPORT_CELL, format, words);
	va_end(words);
}

/* Below 0: there is no value, and the cell is empty. */
static void number_cell(struct row *row, double value, int decimals, enum threshold threshold)
{
	struct report_cell *cell = next_cell(row);

	if (value < 0)
		return;
	report_number(cell->text, value, decimals);
	cell->high = threshold != THRESHOLD_NONE && threshold_above(row->thresholds, threshold, value);
}

static double per_cent(double some, double of)
{
	return of > 0 ? 100 * some / of : -1;
}

/* What is marked in a table, in a line below it. */
static void add_note(struct report *report, const struct thresholds *thresholds,
		     enum threshold threshold)
{
	const size_t len = strlen(report->note);
	char value[REPORT_CELL];

	if (threshold == THRESHOLD_NONE || thresholds->of[threshold] < 0)
		return;
	report_number(value, thresholds->of[threshold],
		      thresholds->of[threshold] != (double)(int64_t)thresholds->of[threshold]);
	snprintf(report->note + len, sizeof(report->note) - len, "%s%s above %s %s",
		 len ? ", " : "", threshold_whats[threshold], value, threshold_units[threshold]);
}

/* Columns of all quantities of the subject, and a note for each threshold that one of them has. */
static void add_quantities(struct report *report, const struct thresholds *thresholds,
			   enum subject subject)
{
	bool noted[THRESHOLDS + 1] = { false };

	for (const struct quantity *q = quantities(subject); q->heading || q->key; q++) {
		if (!q->heading)
			continue;
		add_column(report, q->heading, q->as == AS_TIME);
		if (!noted[q->threshold])
			add_note(report, thresholds, q->threshold);
		noted[q->threshold] = true;
	}
}

/* Seconds from the first interval's begin to the last one's end. */
static double seconds_of(const struct activity *f)
{
	uint64_t time = 0;

	for (unsigned int i = 0; i < f->buckets; i++)
		time += f->bucket[i].time;
	return (double)time / (double)TOD_SECOND;
}

const char *report_quantity(char text[REPORT_CELL], const struct activity *f,
			    const struct quantity *quantity, const void *it)
{
	const double value = quantity_value(quantity, it, seconds_of(f));

	text[0] = '\0';
	if (quantity->as == AS_TIME && quantity->value(it))
		clock_text(quantity->value(it), text);
	else if (quantity->as != AS_TIME && value >= 0)
		report_number(text, value, quantity->decimals);
	return text;
}

static void quantity_cell(struct row *row, const struct quantity *q, const void *it, double value)
{
	char time[CLOCK_TEXT_SIZE];

	if (q->as == AS_TIME)
		text_cell(row, "%s", q->value(it) ? clock_text(q->value(it), time) : "");
	else
		number_cell(row, value, q->decimals, q->threshold);
}

/* The cells of all quantities that have a column. */
static void quantity_cells(struct row *row, const struct activity *f, enum subject subject,
			   const void *it)
{
	const double seconds = seconds_of(f);

	for (const struct quantity *q = quantities(subject); q->heading || q->key; q++)
		if (q->heading)
			quantity_cell(row, q, it, quantity_value(q, it, seconds));
}

static uint64_t samples_of(const struct state_counts *states)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < USER_STATES; i++)
		all += states->found[i];
	return all;
}

static const struct { const char *heading; enum threshold threshold; } states_of[USER_STATES] = {
#define STATE(id, key, what, threshold) { what " %", THRESHOLD_##threshold },
#include "quantities.def"
};

static void wait_row(struct report *report, const struct thresholds *thresholds, const char *name,
		     const struct state_counts *states)
{
	const uint64_t samples = samples_of(states);
	struct row row = next_row(report, thresholds);

	text_cell(&row, "%s", name);
	for (unsigned int i = 0; i < USER_STATES; i++)
		number_cell(&row, per_cent((double)states->found[i], (double)samples), 1,
			    states_of[i].threshold);
	number_cell(&row, (double)samples, 0, THRESHOLD_NONE);
	end_row(&row);
}

static void most_cell(struct row *row, double value, uint64_t at, enum threshold threshold)
{
	char time[CLOCK_TEXT_SIZE];

	number_cell(row, at ? value : -1, 1, threshold);
	text_cell(row, "%s", at ? clock_text(at, time) : "");
}

static double most_of(const struct user_activity *user)
{
	double most = -1;

	for (unsigned int i = 0; i < WAIT_STATES; i++)
		if (user->most_waits_at[i] && (double)user->most_waits[i] > most)
			most = (double)user->most_waits[i];
	return most;
}

static void most_waits_row(struct report *report, const struct thresholds *thresholds,
			   const struct user_activity *user)
{
	char name[ACTIVITY_NAME_SIZE];
	struct row row = next_row(report, thresholds);

	text_cell(&row, "%s", activity_user_name(user, name));
	for (unsigned int i = 0; i < WAIT_STATES; i++)
		most_cell(&row, (double)user->most_waits[i], user->most_waits_at[i],
			  states_of[STATE_CPU_WAIT + i].threshold);
	end_row(&row);
}

/* Of those whose samples come in each interval; each state has an interval of its own. */
static void make_most_waits(struct report *report, const struct activity *f,
			    const struct thresholds *thresholds)
{
	const struct system_most *all = &f->most[SYSTEM_STATES + STATE_CPU_WAIT];
	struct ranking top = { 0 };
	unsigned int i;

	add_column(report, "user", true);
	for (i = STATE_CPU_WAIT; i <= STATE_PAGE_WAIT; i++) {
		add_column(report, states_of[i].heading, false);
		add_column(report, "until", true);
		add_note(report, thresholds, states_of[i].threshold);
	}
	if (all[0].at) {
		struct row row = next_row(report, thresholds);

		text_cell(&row, "(all users)");
		for (i = 0; i < WAIT_STATES; i++)
			most_cell(&row, all[i].value, all[i].at, states_of[STATE_CPU_WAIT + i].threshold);
		end_row(&row);
	}
	for (i = 0; i < ACTIVITY_USERS; i++)
		if (most_of(&f->user[i]) >= 0)
			rank(&top, most_of(&f->user[i]), i);
	for (i = 0; i < top.count && report->rows < REPORT_ROWS; i++)
		most_waits_row(report, thresholds, &f->user[top.index[i]]);
	report->left_out = top.all - i;
}

/* Records that the tables are made of, so far as they are of samples and configurations. */
static const struct { uint8_t domain, number; } needed[] = {
	{ 0, 2 }, { 0, 12 }, { 0, 15 }, { 1, 4 }, { 1, 9 }, { 3, 2 }, { 3, 4 }, { 4, 3 }, { 4, 4 },
	{ 6, 3 }, { 6, 24 },
};

static const char *title_of(unsigned int domain, unsigned int number)
{
	const struct monrec_layout *layout = monrec_layout(domain, number);

	return layout && layout->title ? layout->title : "";
}

const char *report_not_understood(const struct activity *f, char names[REPORT_NAMES])
{
	size_t len = 0;

	names[0] = '\0';
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]) && len < REPORT_NAMES; i++)
		if (activity_unused(f, needed[i].domain, needed[i].number, RECORD_NOT_UNDERSTOOD))
			len += (size_t)snprintf(names + len, REPORT_NAMES - len, "%sD%uR%u",
						len ? ", " : "", needed[i].domain, needed[i].number);
	return names;
}

/* Which records a table is of; of samples that were not understood, that they were not. */
static void source_facts(struct report *report, const struct activity *f, unsigned int domain,
			 unsigned int number, const char *sample, const char *else_from)
{
	const uint64_t unknown = activity_unused(f, domain, number, RECORD_NOT_UNDERSTOOD);
	char count[REPORT_CELL];

	if (unknown)
		snprintf(report->facts, sizeof(report->facts),
			 "%s records of samples (%s) were not understood.  %s  Give IBM's page of the "
			 "record with --layout.", report_count(count, unknown), sample, else_from);
}

static void make_waits(struct report *report, const struct activity *f,
		       const struct thresholds *thresholds)
{
	char name[ACTIVITY_NAME_SIZE];
	struct ranking top = { 0 };

	add_column(report, "user", true);
	for (unsigned int i = 0; i < USER_STATES; i++) {
		add_column(report, states_of[i].heading, false);
		add_note(report, thresholds, states_of[i].threshold);
	}
	add_column(report, "samples", false);
	source_facts(report, f, 4, 4, "D4R4", "States of users are of transactions that ended (D4R10).");
	if (samples_of(&f->system.states) > 0)
		wait_row(report, thresholds, "(all users)", &f->system.states);
	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		const struct state_counts *states = &f->user[i].states;
		const uint64_t samples = samples_of(states);

		if (samples > 0)
			rank(&top, (double)(states->found[STATE_CPU_WAIT] +
					    states->found[STATE_IO_WAIT] +
					    states->found[STATE_PAGE_WAIT] +
					    states->found[STATE_SIMULATION]) / (double)samples, i);
	}
	for (unsigned int i = 0; i < top.count && report->rows < REPORT_ROWS; i++) {
		const struct user_activity *user = &f->user[top.index[i]];

		wait_row(report, thresholds, activity_user_name(user, name), &user->states);
		report->left_out = top.all - i - 1;
	}
}

static uint64_t starts_of_all(const struct activity *f)
{
	uint64_t starts = 0;

	for (unsigned int i = 0; i < f->buckets; i++)
		starts += f->bucket[i].starts;
	return starts;
}

/* All devices as one, but for their response. */
static struct device_activity all_devices(const struct activity *f)
{
	return (struct device_activity){
		.starts = starts_of_all(f),
		.most = f->most[SYSTEM_STARTS].value, .most_at = f->most[SYSTEM_STARTS].at,
		.slowest_at = f->slowest.at,
	};
}

/* Of all devices; @response below 0: it is not known. */
static void all_cells(struct row *row, const struct activity *f, double response)
{
	const struct device_activity all = all_devices(f);
	const double times[] = { response, f->slowest.at ? f->slowest.value : -1 };
	const double seconds = seconds_of(f);
	unsigned int next = 0;

	for (const struct quantity *q = quantities(OF_DEVICE); q->heading || q->key; q++)
		if (q->heading)
			quantity_cell(row, q, &all, q->as == AS_MEAN_TIME ?
							    times[next++] :
							    quantity_value(q, &all, seconds));
}

static void response_row(struct report *report, const struct activity *f,
			 const struct thresholds *thresholds, const struct device_activity *device)
{
	struct row row = next_row(report, thresholds);

	text_cell(&row, "%04X", device->number);
	quantity_cells(&row, f, OF_DEVICE, device);
	text_cell(&row, "%s", !device->measured ? "" : device->sampled ? "D6R3" : "D6R14");
	end_row(&row);
}

static void make_responses(struct report *report, const struct activity *f,
			   const struct thresholds *thresholds)
{
	const uint64_t waits = f->system.states.found[STATE_IO_WAIT];
	const bool whole = !activity_unused(f, 6, 3, RECORD_NOT_UNDERSTOOD) &&
			   !activity_unused(f, 6, 24, RECORD_NOT_UNDERSTOOD) &&
			   !activity_unused(f, 3, 4, RECORD_NOT_UNDERSTOOD);
	const double response = f->system.states.counted && whole ?
					activity_io_wait(f, waits, activity_user_starts(f)) : -1;
	struct ranking top = { 0 };
	struct row row;

	add_column(report, "device", true);
	add_quantities(report, thresholds, OF_DEVICE);
	add_column(report, "from", true);
	if (whole)
		snprintf(report->facts, sizeof(report->facts),
			 "The response of all devices is how long users waited for an I/O on the "
			 "average: samples that found them waiting (D0R12), by the I/Os of all devices "
			 "but paging volumes.  That of a single device is what its channel subsystem "
			 "measured: pending, connected and disconnected time.");
	else
		source_facts(report, f, 6, 3, "D6R3",
			     "A sum of the devices that others tell of would not be that of all.");
	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++)
		if (f->device[i].source)
			rank(&top, (double)f->device[i].starts, i);
	if (top.count == 0)
		return;
	row = next_row(report, thresholds);
	text_cell(&row, "(all)");
	if (whole) {
		all_cells(&row, f, response);
	} else {
		while (report->columns[row.column + 1].head)
			text_cell(&row, "unknown");
	}
	text_cell(&row, "%s", response >= 0 ? "D0R12" : "");
	end_row(&row);
	for (unsigned int i = 0; i < top.count && report->rows < REPORT_ROWS; i++) {
		response_row(report, f, thresholds, &f->device[top.index[i]]);
		report->left_out = top.all - i - 1;
	}
}

static void volume_row(struct report *report, const struct activity *f,
		       const struct thresholds *thresholds, const struct device_activity *device)
{
	struct row row = next_row(report, thresholds);
	char name[ACTIVITY_NAME_SIZE];

	text_cell(&row, "%s", activity_text(device->volume, sizeof(device->volume), name));
	text_cell(&row, "%04X", device->number);
	quantity_cells(&row, f, OF_VOLUME, device);
	end_row(&row);
}

static void space_facts(struct report *report, const struct activity *f)
{
	char used[REPORT_CELL], fullest[REPORT_CELL], time[CLOCK_TEXT_SIZE];

	if (f->space.fullest_at)
		snprintf(report->facts, sizeof(report->facts),
			 "Of all slots, %s %% were in use at the end, and most, %s %%, at %s.",
			 report_number(used, f->space.used, 1),
			 report_number(fullest, f->space.fullest, 1),
			 clock_text(f->space.fullest_at, time));
}

static void make_volumes(struct report *report, const struct activity *f,
			 const struct thresholds *thresholds)
{
	struct ranking top = { 0 };

	add_column(report, "volume", true);
	add_column(report, "device", true);
	add_quantities(report, thresholds, OF_VOLUME);
	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++)
		if (f->device[i].is_paging)
			rank(&top, (double)(f->device[i].pages.reads + f->device[i].pages.writes), i);
	for (unsigned int i = 0; i < top.count; i++)
		volume_row(report, f, thresholds, &f->device[top.index[i]]);
	report->left_out = top.all - top.count;
	space_facts(report, f);
}

static void system_row(struct report *report, const struct activity *f,
		       const struct thresholds *thresholds, enum system_value value, const char *what,
		       enum threshold threshold)
{
	struct bucket all = { 0 };
	char time[CLOCK_TEXT_SIZE];
	struct row row;

	if (!f->most[value].at || report->rows == REPORT_ROWS)
		return;
	for (unsigned int i = 0; i < f->buckets; i++)
		bucket_add(&all, &f->bucket[i]);
	row = next_row(report, thresholds);
	text_cell(&row, "%s", what);
	number_cell(&row, activity_system_value(&all, value), 1, threshold);
	number_cell(&row, f->most[value].value, 1, threshold);
	text_cell(&row, "%s", clock_text(f->most[value].at, time));
	end_row(&row);
}

/* The mean of all of the time hides what was too much for a while. */
static void make_system(struct report *report, const struct activity *f,
			const struct thresholds *thresholds)
{
	static const struct {
		enum system_value value;
		const char *what;
		enum threshold threshold;
	} rows[] = {
		{ SYSTEM_READS, "pages read/s", THRESHOLD_PAGING },
		{ SYSTEM_WRITES, "pages written/s", THRESHOLD_PAGING },
		{ SYSTEM_STARTS, "I/Os/s", THRESHOLD_NONE },
		{ SYSTEM_STATES + STATE_CPU_WAIT, "users: CPU wait %", THRESHOLD_CPU_WAIT },
		{ SYSTEM_STATES + STATE_IO_WAIT, "users: I/O wait %", THRESHOLD_IO_WAIT },
		{ SYSTEM_STATES + STATE_PAGE_WAIT, "users: page wait %", THRESHOLD_PAGE_WAIT },
	};
	char what[REPORT_CELL];

	add_column(report, "value", true);
	add_column(report, "mean", false);
	add_column(report, "most in an interval", false);
	add_column(report, "until", true);
	for (unsigned int type = 0; type < ACTIVITY_TYPES; type++) {
		snprintf(what, sizeof(what), "%s busy %%", activity_type_names[type]);
		system_row(report, f, thresholds, SYSTEM_BUSY + type, what, THRESHOLD_BUSY);
	}
	if (report->rows)
		add_note(report, thresholds, THRESHOLD_BUSY);
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		system_row(report, f, thresholds, rows[i].value, rows[i].what, rows[i].threshold);
		/* Pages written have that of pages read. */
		if (f->most[rows[i].value].at && rows[i].value != SYSTEM_WRITES)
			add_note(report, thresholds, rows[i].threshold);
	}
}

static void make_users(struct report *report, const struct activity *f,
		       const struct thresholds *thresholds)
{
	char name[ACTIVITY_NAME_SIZE];
	struct ranking top = { 0 };

	add_column(report, "user", true);
	add_quantities(report, thresholds, OF_USER_TIME);
	add_column(report, "from", true);
	source_facts(report, f, 4, 3, "D4R3", "Users whose transactions did not end are missing.");
	for (unsigned int i = 0; i < ACTIVITY_USERS; i++)
		if (f->user[i].counted)
			rank(&top, (double)f->user[i].time, i);
	for (unsigned int i = 0; i < top.count; i++) {
		const struct user_activity *user = &f->user[top.index[i]];
		struct row row = next_row(report, thresholds);

		text_cell(&row, "%s", activity_user_name(user, name));
		quantity_cells(&row, f, OF_USER_TIME, user);
		text_cell(&row, "D%uR%u", user->source >> 16, user->source & 0xffff);
		end_row(&row);
	}
	report->left_out = top.all - top.count;
}

static void make_user_paging(struct report *report, const struct activity *f,
			     const struct thresholds *thresholds)
{
	char name[ACTIVITY_NAME_SIZE];
	struct ranking top = { 0 };

	add_column(report, "user", true);
	add_quantities(report, thresholds, OF_USER);
	source_facts(report, f, 4, 3, "D4R3", "Paging of users is of transactions that ended (D4R9).");
	for (unsigned int i = 0; i < ACTIVITY_USERS; i++)
		if (f->user[i].pages.counted)
			rank(&top, (double)(f->user[i].pages.reads + f->user[i].pages.writes), i);
	for (unsigned int i = 0; i < top.count; i++) {
		const struct user_activity *user = &f->user[top.index[i]];
		struct row row = next_row(report, thresholds);

		text_cell(&row, "%s", activity_user_name(user, name));
		quantity_cells(&row, f, OF_USER, user);
		end_row(&row);
	}
	report->left_out = top.all - top.count;
}

static void load_facts(struct report *report, const struct activity *f)
{
	const struct system_activity *s = &f->system;
	char name[ACTIVITY_NAME_SIZE], used[REPORT_CELL];
	double busy = 0;

	for (unsigned int i = 0; i < ACTIVITY_CPUS; i++)
		if (f->cpu[i].elapsed)
			busy += ((double)f->cpu[i].users + (double)f->cpu[i].system) /
				(double)f->cpu[i].elapsed;
	report_number(used, busy, 2);
	activity_text(s->partition, sizeof(s->partition), name);
	if (!s->has_partition)
		snprintf(report->facts, sizeof(report->facts), "Processors in use: %s.", used);
	else
		snprintf(report->facts, sizeof(report->facts),
			 "Partition %s, number %u: %u processors configured, %u standby; %u shared, "
			 "%u dedicated; the machine has %u.  Processors in use: %s.",
			 *name ? name : "without a name", s->number, s->configured, s->standby,
			 s->shared, s->dedicated, s->machine, used);
}

static void make_load(struct report *report, const struct activity *f,
		      const struct thresholds *thresholds)
{
	struct ranking top = { 0 };

	add_column(report, "processor", true);
	add_column(report, "type", true);
	add_quantities(report, thresholds, OF_PROCESSOR);
	for (unsigned int i = 0; i < ACTIVITY_CPUS; i++)
		if (f->cpu[i].elapsed)
			rank(&top, ((double)f->cpu[i].users + (double)f->cpu[i].system) /
					   (double)f->cpu[i].elapsed, i);
	for (unsigned int i = 0; i < top.count; i++) {
		const struct cpu_activity *cpu = &f->cpu[top.index[i]];
		struct row row = next_row(report, thresholds);

		text_cell(&row, "%u", cpu->address);
		text_cell(&row, "%s", activity_type_names[cpu->type]);
		quantity_cells(&row, f, OF_PROCESSOR, cpu);
		end_row(&row);
	}
	report->left_out = top.all - top.count;
	if (report->rows || f->system.has_partition)
		load_facts(report, f);
}

static uint64_t unused_of_all(const struct activity *f)
{
	uint64_t all = 0;

	for (unsigned int kind = 0; kind < ACTIVITY_DOMAINS * ACTIVITY_NUMBERS; kind++)
		for (unsigned int use = 0; use < RECORD_USES; use++)
			all += f->unused[kind / ACTIVITY_NUMBERS][kind % ACTIVITY_NUMBERS][use];
	return all;
}

/* By their number; those that were not understood, or all others. */
static void rank_unused(struct ranking *top, const struct activity *f, bool understood)
{
	for (unsigned int i = 0; i < ACTIVITY_DOMAINS * ACTIVITY_NUMBERS * RECORD_USES; i++) {
		const unsigned int kind = i / RECORD_USES, use = i % RECORD_USES;
		const uint64_t count =
			f->unused[kind / ACTIVITY_NUMBERS][kind % ACTIVITY_NUMBERS][use];

		if (count && understood == (use != RECORD_NOT_UNDERSTOOD))
			rank(top, (double)count, i);
	}
}

static void unused_rows(struct report *report, const struct activity *f,
			const struct thresholds *thresholds, bool understood)
{
	static const char *const why[RECORD_USES] = {
		[RECORD_NOT_UNDERSTOOD] = "its fields are not known in this release",
		[RECORD_ELSEWHERE] = "samples have the same", [RECORD_NOT_SHOWN] = "no table has it",
	};
	struct ranking top = { 0 };
	unsigned int i;

	rank_unused(&top, f, understood);
	for (i = 0; i < top.count && report->rows < REPORT_ROWS; i++) {
		const unsigned int kind = top.index[i] / RECORD_USES, use = top.index[i] % RECORD_USES;
		const unsigned int domain = kind / ACTIVITY_NUMBERS, number = kind % ACTIVITY_NUMBERS;
		struct row row = next_row(report, thresholds);

		text_cell(&row, "D%uR%u", domain, number);
		number_cell(&row, (double)f->unused[domain][number][use], 0, THRESHOLD_NONE);
		text_cell(&row, "%s", why[use]);
		text_cell(&row, "%s", title_of(domain, number));
		end_row(&row);
	}
	report->left_out += top.all - i;
}

/* Those that were not understood first: they may be missing in a table. */
static void make_unused(struct report *report, const struct activity *f,
			const struct thresholds *thresholds)
{
	const uint64_t all = unused_of_all(f);
	char count[REPORT_CELL], records[REPORT_CELL];

	add_column(report, "record", true);
	add_column(report, "records", false);
	add_column(report, "why", true);
	add_column(report, "what it is", true);
	report->none = "None.";
	if (!all)
		return;
	snprintf(report->facts, sizeof(report->facts), "%s of %s records are in no table and no chart.",
		 report_count(count, all), report_count(records, f->records));
	unused_rows(report, f, thresholds, false);
	unused_rows(report, f, thresholds, true);
}

#define NOT_KNOWN(record) "Not known: which bytes of " record " are what in this release is not known here."

/* What a table without rows would be made of may be there, but cannot be read. */
static void find_unknown(struct report *report, enum report_kind kind, const struct activity *f)
{
	static const struct {
		uint8_t kind, domain, number;
		const char *none;
	} needs[] = {
		{ REPORT_SYSTEM, 0, 2, NOT_KNOWN("D0R2") }, { REPORT_LOAD, 0, 2, NOT_KNOWN("D0R2") },
		{ REPORT_USERS, 4, 9, NOT_KNOWN("D4R9") }, { REPORT_USERS, 4, 3, NOT_KNOWN("D4R3") },
		{ REPORT_WAITS, 4, 10, NOT_KNOWN("D4R10") },
		{ REPORT_WAITS, 4, 4, NOT_KNOWN("D4R4") },
		{ REPORT_MOST_WAITS, 4, 4, NOT_KNOWN("D4R4") },
		{ REPORT_RESPONSES, 6, 14, NOT_KNOWN("D6R14") },
		{ REPORT_RESPONSES, 6, 3, NOT_KNOWN("D6R3") },
		{ REPORT_VOLUMES, 3, 4, NOT_KNOWN("D3R4") },
		{ REPORT_USER_PAGING, 4, 9, NOT_KNOWN("D4R9") },
		{ REPORT_USER_PAGING, 4, 3, NOT_KNOWN("D4R3") },
	};

	for (unsigned int i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (!report->rows && needs[i].kind == kind &&
		    activity_unused(f, needs[i].domain, needs[i].number, RECORD_NOT_UNDERSTOOD))
			report->none = needs[i].none;
}

void report_make(struct report *report, enum report_kind kind, const struct activity *f,
		 const struct thresholds *thresholds)
{
	static const struct {
		const char *id, *title;
		void (*make)(struct report *report, const struct activity *f,
			     const struct thresholds *thresholds);
	} known[REPORT_KINDS] = {
		[REPORT_SYSTEM] = { "system", "The system", make_system },
		[REPORT_LOAD] = { "load", "Load of the partition", make_load },
		[REPORT_USERS] = { "users", "Users by CPU time", make_users },
		[REPORT_WAITS] = { "waits", "What users wait for", make_waits },
		[REPORT_MOST_WAITS] = { "most-waits", "Most that users waited in an interval",
					make_most_waits },
		[REPORT_RESPONSES] = { "responses", "Response of devices", make_responses },
		[REPORT_VOLUMES] = { "volumes", "Paging volumes", make_volumes },
		[REPORT_USER_PAGING] = { "user-paging", "Users by paging", make_user_paging },
		[REPORT_UNUSED] = { "unused", "Records that were not used", make_unused },
	};

	memset(report, 0, sizeof(*report));
	report->id = known[kind].id;
	report->title = known[kind].title;
	known[kind].make(report, f, thresholds);
	find_unknown(report, kind, f);
}
