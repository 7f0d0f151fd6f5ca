/* SPDX-License-Identifier: MIT */
#include "collector.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "cpus.h"
#include "row.h"

bool collector_init(struct collector *collector)
{
	_Static_assert(sizeof(collector->is_counted) == CPUS_MAX, "one for each CPU");
	memset(collector, 0, sizeof(*collector));
	collector->order = STATS_OWN_ORDER;
	collector->accounting = (struct accounting)ACCOUNTING_NONE;
	collector->accounts = calloc(CPUS_MAX, sizeof(*collector->accounts));
	return collector->accounts;
}

void collector_free(struct collector *collector)
{
	free(collector->accounts);
	collector->accounts = NULL;
}

bool collector_is_done(const struct collector *collector)
{
	return collector->rows_error || collector->recording_error ||
	       (collector->rows_max && collector->rows_shown >= collector->rows_max);
}

/* A message while it is taken apart. */
struct arrival {
	struct collector *collector;
	struct row_origin origin;
	bool own;
};

static void show(void *context, const struct stats_record *record)
{
	struct arrival *arrival = context;
	struct collector *collector = arrival->collector;
	struct stats_record known;

	if (collector->own_pid && record->id == collector->own_pid) {
		arrival->own = true;
		return;
	}
	if (collector_is_done(collector))
		return;
	known = *record;
	accounting_message(&collector->accounting, &known, arrival->origin.time_ns);
	if (collector->each)
		collector->each(collector->each_context, &known);
	if (collector->writer)
		collector->rows_error = row_put(collector->writer, &known, &arrival->origin);
	collector->rows_shown++;
}

static void set_dropped(struct message_count *account, uint64_t dropped)
{
	account->has_dropped = dropped != RECORDING_NOT_TOLD;
	account->dropped = account->has_dropped ? dropped : 0;
}

static void record(struct collector *collector, const struct recording_frame *frame, bool own)
{
	struct recording_frame copy = *frame;

	if (!collector->recording || collector->recording_error)
		return;
	if (own) {
		copy.type = RECORDING_OWN;
		copy.size = 0;
	}
	collector->recording_error = recording_write_frame(collector->recording, &copy);
}

void collector_message(struct collector *collector, const struct recording_frame *frame)
{
	struct message_count *account = &collector->accounts[frame->cpu];
	struct arrival arrival = {
		.collector = collector,
		.origin = { frame->cpu, frame->number, frame->time_ns },
	};
	struct stats_message found;

	collector->is_counted[frame->cpu] = 1;
	set_dropped(account, frame->dropped);
	message_count_number(account, frame->number);
	found = stats_parse(frame->payload, frame->size, collector->order, show, &arrival);
	collector->malformed += found.malformed;
	collector->unknown += found.unknown;
	if (arrival.own) {
		collector->own_came = true;
		collector->own_pid = 0;
		account->own++;
	} else {
		account->received++;
	}
	record(collector, frame, arrival.own);
}

void collector_own(struct collector *collector, const struct recording_frame *frame)
{
	struct message_count *account = &collector->accounts[frame->cpu];

	set_dropped(account, frame->dropped);
	message_count_number(account, frame->number);
	account->own++;
}

void collector_look(struct collector *collector, enum delayacct_state state, uint64_t time_ns)
{
	const struct recording_frame frame = {
		.type = RECORDING_DELAYACCT, .number = state, .time_ns = time_ns,
	};

	/* The header of the recording has the first one. */
	if (collector->accounting.looked && collector->accounting.state != state)
		record(collector, &frame, false);
	accounting_look(&collector->accounting, state, time_ns);
}

void collector_counters(struct collector *collector, const struct recording_frame *frame)
{
	collector->is_counted[frame->cpu] = 1;
	set_dropped(&collector->accounts[frame->cpu], frame->dropped);
	collector->accounts[frame->cpu].overflows = frame->number;
	message_count_end(&collector->accounts[frame->cpu]);
	record(collector, frame, false);
}

void collector_losses(struct collector *collector, unsigned int cpu, uint64_t dropped,
		      uint64_t overflows)
{
	set_dropped(&collector->accounts[cpu], dropped);
	collector->accounts[cpu].overflows = overflows;
}

enum { SUM_CPU, SUM_RECEIVED, SUM_LOST, SUM_MISSING, SUM_STRANGERS, SUM_OVERFLOWS, SUM_COLUMNS };

static const struct column sum_columns[] = {
	[SUM_CPU] = { "cpu", COLUMN_TEXT, UNIT_NONE, 4, true, "CPU, or all" },
	[SUM_RECEIVED] = { "received", COLUMN_UNSIGNED, UNIT_NONE, 10, true,
			   "exit messages that came" },
	[SUM_LOST] = { "lost", COLUMN_UNSIGNED, UNIT_NONE, 10, true,
		       "exit messages that the kernel dropped" },
	[SUM_MISSING] = { "missing", COLUMN_UNSIGNED, UNIT_NONE, 10, true,
			  "numbers of messages that never came" },
	[SUM_STRANGERS] = { "strangers", COLUMN_UNSIGNED, UNIT_NONE, 10, true,
			    "numbers of another CPU's sequence" },
	[SUM_OVERFLOWS] = { "overflows", COLUMN_UNSIGNED, UNIT_NONE, 10, true,
			    "times that the queue overflowed" },
};

static void put_account(struct writer *writer, const char *cpu, const struct message_count *account)
{
	struct cell cells[SUM_COLUMNS] = {
		[SUM_CPU] = cell_text(cpu, strlen(cpu)),
		[SUM_RECEIVED] = cell_unsigned(account->received),
		[SUM_LOST] = cell_unsigned(message_count_lost(account)),
		[SUM_MISSING] = cell_unsigned(account->missing),
		[SUM_STRANGERS] = cell_unsigned(account->strangers),
		[SUM_OVERFLOWS] = cell_unsigned(account->overflows),
	};

	/* If standard error cannot be written there is nobody to tell. */
	(void)writer_put(writer, cells);
}

static void complain_about_messages(const struct collector *collector)
{
	if (collector->malformed)
		complain("%llu messages could not be read completely",
			 (unsigned long long)collector->malformed);
	if (collector->unknown)
		complain("%llu attributes of unknown types were ignored",
			 (unsigned long long)collector->unknown);
}

uint64_t collector_summary(const struct collector *collector, enum writer_format format)
{
	struct message_count sum = { .has_dropped = true };
	struct selection selection;
	struct writer *writer;
	char name[16];

	selection_standard(&selection, sum_columns, SUM_COLUMNS);
	writer = writer_open(stderr, format, false, &selection);
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		const struct message_count *account = &collector->accounts[cpu];

		if (!collector->is_counted[cpu])
			continue;
		message_count_add(&sum, account);
		snprintf(name, sizeof(name), "%u", cpu);
		/* Of CPUs that may be plugged some day there are many. */
		if (writer && (account->received || message_count_lost(account) || account->missing))
			put_account(writer, name, account);
	}
	if (writer)
		put_account(writer, "all", &sum);
	writer_close(writer);
	complain_about_messages(collector);
	return message_count_lost(&sum);
}
