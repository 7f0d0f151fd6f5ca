/* SPDX-License-Identifier: MIT */
#include "sums.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"

#define OTHER "(other)"
#define KERNEL "(kernel)"
#define KTHREADD 2u		/* all tasks of the kernel are its children */
#define BYTES_PER_KIB 1024u

/* Decimals of seconds. */
enum { NS = 9, US = 6 };

static const struct metric_family all_families[SUMS_FAMILIES] = {
	[SUMS_EXITS] = { "taskmon_exits", METRIC_COUNTER, NULL, "Tasks that have exited",
			 { "command" } },
	[SUMS_UNCOUNTED] = { "taskmon_exits_without_delays", METRIC_COUNTER, NULL,
			     "Tasks that have exited, and of whose delays those for a CPU alone were "
			     "accounted", { "command" } },
	[SUMS_CPU] = { "taskmon_cpu_seconds", METRIC_COUNTER, "seconds",
		       "CPU time of the tasks, adjusted for what a hypervisor took",
		       { "command" } },
	[SUMS_MODES] = { "taskmon_cpu_mode_seconds", METRIC_COUNTER, "seconds",
			 "CPU time of the tasks in user mode and in the kernel",
			 { "command", "mode" } },
	[SUMS_DELAY] = { "taskmon_delay_seconds", METRIC_COUNTER, "seconds",
			 "Time for which the tasks waited, by what for",
			 { "command", "reason" } },
	[SUMS_DELAYS] = { "taskmon_delays", METRIC_COUNTER, NULL,
			  "How often the tasks waited, by what for", { "command", "reason" } },
	[SUMS_FAULTS] = { "taskmon_page_faults", METRIC_COUNTER, NULL,
			  "Page faults of the tasks", { "command", "kind" } },
	[SUMS_IO] = { "taskmon_io_bytes", METRIC_COUNTER, "bytes",
		      "Bytes from and to storage devices", { "command", "direction" } },
	[SUMS_SWITCHES] = { "taskmon_context_switches", METRIC_COUNTER, NULL,
			    "Context switches of the tasks", { "command", "kind" } },
	[SUMS_RESIDENT] = { "taskmon_most_resident_bytes", METRIC_GAUGE, "bytes",
			    "Most resident storage that one of the tasks ever had",
			    { "command" } },
	[SUMS_RECEIVED] = { "taskmon_messages_received", METRIC_COUNTER, NULL,
			    "Messages about exits that came", { NULL } },
	[SUMS_LOST] = { "taskmon_messages_lost", METRIC_COUNTER, NULL,
			"Messages about exits that the kernel had no room for", { NULL } },
	[SUMS_MISSING] = { "taskmon_message_numbers_missing", METRIC_COUNTER, NULL,
			   "Numbers of the sequence of a CPU that never came", { NULL } },
	[SUMS_STRANGERS] = { "taskmon_message_numbers_strange", METRIC_COUNTER, NULL,
			     "Numbers that are of the sequence of another CPU", { NULL } },
	[SUMS_OVERFLOWS] = { "taskmon_buffer_overflows", METRIC_COUNTER, NULL,
			     "Times that a receive buffer was full", { NULL } },
	[SUMS_MALFORMED] = { "taskmon_messages_malformed", METRIC_COUNTER, NULL,
			     "Messages that could not be read completely", { NULL } },
	[SUMS_UNKNOWN] = { "taskmon_attributes_unknown", METRIC_COUNTER, NULL,
			   "Attributes of unknown types, which were ignored", { NULL } },
	[SUMS_FOLDED] = { "taskmon_groups_folded", METRIC_COUNTER, NULL,
			  "Sums that got nothing for ten minutes, and count as (other) since a new "
			  "one took their place", { NULL } },
	[SUMS_WITHOUT_PLACE] = { "taskmon_exits_without_place", METRIC_COUNTER, NULL,
				 "Tasks that count as (other) because all places were taken",
				 { NULL } },
	[SUMS_LIVING] = { "taskmon_tasks", METRIC_GAUGE, NULL, "Tasks that live", { "command" } },
	[SUMS_LOOKS_FAILED] = { "taskmon_looks_failed", METRIC_COUNTER, NULL,
				"Times that it was not possible to look at the tasks that live",
				{ NULL } },
};

/* Which member of struct taskstats goes to which family, with which second label. */
static const struct {
	enum stats_field field;
	enum sums_family family;
	const char *label;
	unsigned int decimals;
} parts[] = {
	{ STATS_CPU_RUN_REAL, SUMS_CPU, NULL, NS },
	{ STATS_UTIME, SUMS_MODES, "user", US },
	{ STATS_STIME, SUMS_MODES, "system", US },
	{ STATS_CPU_DELAY, SUMS_DELAY, "cpu", NS },
	{ STATS_BLKIO_DELAY, SUMS_DELAY, "block_io", NS },
	{ STATS_SWAPIN_DELAY, SUMS_DELAY, "swap_in", NS },
	{ STATS_FREEPAGES_DELAY, SUMS_DELAY, "reclaim", NS },
	{ STATS_THRASHING_DELAY, SUMS_DELAY, "thrashing", NS },
	{ STATS_COMPACT_DELAY, SUMS_DELAY, "compaction", NS },
	{ STATS_WPCOPY_DELAY, SUMS_DELAY, "page_copy", NS },
	{ STATS_IRQ_DELAY, SUMS_DELAY, "interrupts", NS },
	{ STATS_CPU_COUNT, SUMS_DELAYS, "cpu", 0 },
	{ STATS_BLKIO_COUNT, SUMS_DELAYS, "block_io", 0 },
	{ STATS_SWAPIN_COUNT, SUMS_DELAYS, "swap_in", 0 },
	{ STATS_FREEPAGES_COUNT, SUMS_DELAYS, "reclaim", 0 },
	{ STATS_THRASHING_COUNT, SUMS_DELAYS, "thrashing", 0 },
	{ STATS_COMPACT_COUNT, SUMS_DELAYS, "compaction", 0 },
	{ STATS_WPCOPY_COUNT, SUMS_DELAYS, "page_copy", 0 },
	{ STATS_IRQ_COUNT, SUMS_DELAYS, "interrupts", 0 },
	{ STATS_MINFLT, SUMS_FAULTS, "minor", 0 },
	{ STATS_MAJFLT, SUMS_FAULTS, "major", 0 },
	{ STATS_READ_BYTES, SUMS_IO, "read", 0 },
	{ STATS_WRITE_BYTES, SUMS_IO, "write", 0 },
	{ STATS_CANCELLED_WRITE_BYTES, SUMS_IO, "cancelled_write", 0 },
	{ STATS_NVCSW, SUMS_SWITCHES, "voluntary", 0 },
	{ STATS_NIVCSW, SUMS_SWITCHES, "involuntary", 0 },
};

void sums_families(enum sums_by by, struct metric_family *families)
{
	static const char *const labels[] = {
		[SUMS_BY_COMMAND] = "command", [SUMS_BY_USER] = "user", [SUMS_BY_RULE] = "group",
	};

	memcpy(families, all_families, sizeof(all_families));
	for (size_t i = 0; i < SUMS_FAMILIES; i++)
		if (families[i].labels[0])
			families[i].labels[0] = labels[by];
}

static void name_of(const struct sums *sums, const struct stats *stats, char *name)
{
	if (sums->by == SUMS_BY_USER) {
		snprintf(name, STATS_COMM_MAX + 1, "%" PRIu64, stats->value[STATS_UID]);
		return;
	}
	if (sums->by == SUMS_BY_COMMAND && stats->present[STATS_PPID] &&
	    stats->value[STATS_PPID] == KTHREADD) {
		strcpy(name, KERNEL);
		return;
	}
	memcpy(name, stats->comm, stats->comm_len);
	name[stats->comm_len] = '\0';
}

static void add(struct sum *sum, const struct sum *more)
{
	struct stats one = more->stats;

	sum->changed = true;
	sum->exits += more->exits;
	sum->uncounted += more->uncounted;
	/* A counter goes on, whatever is not known of one task. */
	for (unsigned int field = 0; field < STATS_FIELDS; field++) {
		one.present[field] |= sum->stats.present[field];
		sum->stats.present[field] = one.present[field];
	}
	stats_add(&sum->stats, &one);
}

/* The place that has been idle longest, and long enough; NULL: none has. */
static struct sum *idle_place(struct sums *sums)
{
	struct sum *found = NULL;

	for (size_t i = 0; i < sums->count; i++) {
		struct sum *sum = &sums->sum[i];

		if (!sum->changed && sum->used_ns && sums->values_ns - sum->used_ns >= SUMS_IDLE_NS &&
		    (!found || sum->used_ns < found->used_ns))
			found = sum;
	}
	return found;
}

static struct sum *sum_of(struct sums *sums, const char *name)
{
	struct sum *other = &sums->sum[SUMS_MAX], *idle;

	for (size_t i = 0; i < sums->count; i++)
		if (strcmp(sums->sum[i].name, name) == 0)
			return &sums->sum[i];
	if (sums->count < SUMS_MAX) {
		strcpy(sums->sum[sums->count].name, name);
		return &sums->sum[sums->count++];
	}
	strcpy(other->name, OTHER);
	idle = idle_place(sums);
	if (!idle)
		return other;
	add(other, idle);
	sums->folded++;
	*idle = (struct sum){ 0 };
	strcpy(idle->name, name);
	return idle;
}

/*
 * The sum of a process of this name, with these statistics of one of its tasks; @seen: what else was
 * seen of it, NULL: nothing.
 */
static struct sum *place_of(struct sums *sums, const char *name, const struct stats *stats,
			    const struct sum_seen *seen)
{
	const struct rule_facts facts = {
		.name = name, .has_user = stats->present[STATS_UID],
		.user = (uint32_t)stats->value[STATS_UID],
		.cgroup = seen ? seen->cgroup : NULL, .arguments = seen ? seen->arguments : NULL,
	};
	const struct rule *rule;

	if (sums->by != SUMS_BY_RULE)
		return sum_of(sums, name);
	rule = rules_match(sums->rules, &facts);
	if (rule)
		return sum_of(sums, rule->group);
	strcpy(sums->sum[SUMS_MAX].name, OTHER);
	return &sums->sum[SUMS_MAX];
}

/* Adds what belongs to a process, as place_of() has it. */
static struct sum *add_to(struct sums *sums, const char *name, const struct stats *stats,
			  const struct sum_seen *seen, const struct sum *one)
{
	struct sum *place = place_of(sums, name, stats, seen);

	if (place == &sums->sum[SUMS_MAX] && sums->by != SUMS_BY_RULE)
		sums->without_place += one->exits;
	add(place, one);
	return place;
}

/* It waits no longer: it counts under that name, or under that of its thread. */
static void settle(struct sums *sums, struct sum_waiting *waiting, const char *name)
{
	if (waiting->process)
		add_to(sums, name ? name : waiting->sum.name, &waiting->sum.stats, NULL,
		       &waiting->sum);
	*waiting = (struct sum_waiting){ 0 };
}

static struct sum_waiting *waiting_of(struct sums *sums, uint32_t process)
{
	for (size_t i = 0; i < SUMS_WAITING; i++)
		if (sums->waiting[i].process == process)
			return &sums->waiting[i];
	return NULL;
}

static void wait_for_name(struct sums *sums, uint32_t process, const struct sum *one)
{
	struct sum_waiting *waiting = waiting_of(sums, process);

	if (!waiting) {
		waiting = &sums->waiting[sums->next_waiting];
		sums->next_waiting = (sums->next_waiting + 1) % SUMS_WAITING;
		settle(sums, waiting, NULL);
		waiting->process = process;
		strcpy(waiting->sum.name, one->name);
		waiting->sum.stats.present[STATS_UID] = one->stats.present[STATS_UID];
		waiting->sum.stats.value[STATS_UID] = one->stats.value[STATS_UID];
	}
	add(&waiting->sum, one);
}

/* The name of a process whose first thread has exited; NULL: it is not known. */
static const char *name_of_exited(const struct sums *sums, uint32_t process)
{
	/* From the last one: a number may have been used again. */
	for (size_t i = 1; i <= SUMS_EXITED; i++) {
		const struct sum_exited *exited =
			&sums->exited[(sums->next_exited + SUMS_EXITED - i) % SUMS_EXITED];

		if (exited->process == process)
			return exited->name;
	}
	return NULL;
}

static void first_thread_exited(struct sums *sums, uint32_t process, const char *name)
{
	struct sum_exited *exited = &sums->exited[sums->next_exited];
	struct sum_waiting *waiting = waiting_of(sums, process);

	exited->process = process;
	strcpy(exited->name, name);
	sums->next_exited = (sums->next_exited + 1) % SUMS_EXITED;
	if (waiting)
		settle(sums, waiting, name);
}

static int compare_seen(const void *a, const void *b)
{
	const struct sum_seen *first = a, *second = b;

	return (first->id > second->id) - (first->id < second->id);
}

/* What was seen of the task with this number, whose message has not come; NULL: nothing. */
static struct sum_seen *seen_of(const struct sums *sums, uint32_t id)
{
	const struct sum_seen wanted = { .id = id };
	struct sum_seen *found = sums->seen_count ? bsearch(&wanted, sums->seen, sums->seen_count,
							   sizeof(wanted), compare_seen) : NULL;

	return found && !found->exited ? found : NULL;
}

static void remember_gone(struct sums *sums, uint32_t id)
{
	if (sums->gone_count == sums->gone_room) {
		size_t room = sums->gone_room ? 2 * sums->gone_room : 64;
		uint32_t *more = realloc(sums->gone, room * sizeof(*more));

		if (!more) {
			sums->gone_lost = true;
			return;
		}
		sums->gone = more;
		sums->gone_room = room;
	}
	sums->gone[sums->gone_count++] = id;
}

/*
 * Leaves in @one what is not in a sum yet.  Return: what was seen of the task; NULL: nothing.
 */
static const struct sum_seen *take_seen(struct sums *sums, uint32_t id, struct sum *one)
{
	struct sum_seen *seen = seen_of(sums, id);
	struct stats since;

	if (sums->looking)
		remember_gone(sums, id);
	/* One that is younger only has the number of the one that was seen, whose message is lost. */
	if (!seen || one->stats.value[STATS_ETIME] < seen->stats.value[STATS_ETIME])
		return NULL;
	seen->exited = true;
	stats_since(&since, &seen->stats, &one->stats);
	one->stats = since;
	return seen;
}

void sums_take(struct sums *sums, const struct stats_record *record)
{
	const struct stats *stats = &record->stats;
	/* Kernels before 5.19 do not tell: then each task is a process. */
	const uint32_t process = stats->value[STATS_TGID] ? (uint32_t)stats->value[STATS_TGID] :
							    record->id;
	struct sum one = { .exits = 1, .uncounted = !stats->present[STATS_BLKIO_DELAY],
			   .stats = *stats };
	char program[STATS_COMM_MAX + 1];
	const struct sum_seen *seen;
	const char *name = one.name;

	if (record->kind != STATS_TASK)
		return;
	name_of(sums, stats, one.name);
	seen = take_seen(sums, record->id, &one);
	if (sums->by != SUMS_BY_USER && process == record->id) {
		first_thread_exited(sums, process, name);
	} else if (sums->by != SUMS_BY_USER) {
		name = sums->program_of && sums->program_of(process, program) ?
			       program : name_of_exited(sums, process);
	}
	if (name)
		add_to(sums, name, stats, seen, &one);
	else
		wait_for_name(sums, process, &one);
}

void sums_look(struct sums *sums)
{
	sums->looking = true;
	sums->gone_count = 0;
	sums->gone_lost = false;
}

static bool has_gone(const struct sums *sums, uint32_t id)
{
	for (size_t i = 0; i < sums->gone_count; i++)
		if (sums->gone[i] == id)
			return true;
	return false;
}

static void seen_free(struct sum_seen *seen)
{
	free(seen->cgroup);
	free(seen->arguments);
	*seen = (struct sum_seen){ 0 };
}

/* Adds what a task that lives did since it was seen last; @now is to be what was seen of it. */
static void add_living(struct sums *sums, const struct snapshot *tasks,
		       const struct snapshot_task *task, struct sum_seen *now)
{
	const struct snapshot_task *first = snapshot_find(tasks, STATS_TASK, task->process);
	const struct stats *named = first ? &first->record.stats : &task->record.stats;
	const struct sum_seen *before = seen_of(sums, now->id);
	struct sum one = { .stats = now->stats };
	char name[STATS_COMM_MAX + 1];

	if (before && before->begin == now->begin)
		stats_since(&one.stats, &before->stats, &now->stats);
	name_of(sums, named, name);
	add_to(sums, name, &now->stats, now, &one)->living++;
}

/* Keeps what was seen of those that are not there any more, until the messages about them come. */
static size_t keep_missing(struct sums *sums, const struct snapshot *tasks, struct sum_seen *to,
			   uint64_t now_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < sums->seen_count; i++) {
		struct sum_seen *seen = &sums->seen[i];
		const struct snapshot_task *task = snapshot_find(tasks, STATS_TASK, seen->id);

		if (seen->exited || (task && !task->exiting))
			continue;
		if (!seen->missing_ns)
			seen->missing_ns = now_ns;
		else if (now_ns - seen->missing_ns >= SUMS_PATIENCE_NS)
			continue;
		to[count++] = *seen;
		*seen = (struct sum_seen){ .exited = true };
	}
	return count;
}

static void take_look(struct sums *sums, struct snapshot *tasks, struct sum_seen *next,
		      uint64_t now_ns)
{
	size_t count = 0;

	for (size_t i = 0; i <= SUMS_MAX; i++)
		sums->sum[i].living = 0;
	for (size_t i = 0; i < tasks->count; i++) {
		struct snapshot_task *task = &tasks->tasks[i];
		struct sum_seen *now = &next[count];

		if (task->record.kind != STATS_TASK || task->exiting ||
		    has_gone(sums, task->record.id))
			continue;
		*now = (struct sum_seen){
			.id = task->record.id, .begin = task->begin, .stats = task->record.stats,
			.cgroup = task->cgroup, .arguments = task->arguments,
		};
		task->cgroup = task->arguments = NULL;
		add_living(sums, tasks, task, now);
		count++;
	}
	count += keep_missing(sums, tasks, next + count, now_ns);
	for (size_t i = 0; i < sums->seen_count; i++)
		seen_free(&sums->seen[i]);
	free(sums->seen);
	sums->seen = next;
	sums->seen_count = count;
	qsort(next, count, sizeof(*next), compare_seen);
	sums->has_looked = true;
}

void sums_looked(struct sums *sums, struct snapshot *tasks, uint64_t now_ns)
{
	struct sum_seen *next = NULL;

	sums->looking = false;
	if (tasks && !sums->gone_lost)
		next = calloc(tasks->count + sums->seen_count + 1, sizeof(*next));
	if (next)
		take_look(sums, tasks, next, now_ns);
	else
		sums->looks_failed++;
}

void sums_free(struct sums *sums)
{
	for (size_t i = 0; i < sums->seen_count; i++)
		seen_free(&sums->seen[i]);
	free(sums->seen);
	free(sums->gone);
}

void sums_end(struct sums *sums)
{
	for (size_t i = 0; i < SUMS_WAITING; i++)
		settle(sums, &sums->waiting[i], NULL);
}

static void add_sum(struct sum *sum, bool has_looked, uint64_t now_ns, struct metrics *metrics)
{
	const char *labels[METRIC_LABELS_MAX] = { sum->name };
	const struct stats *stats = &sum->stats;

	if (sum->changed)
		sum->used_ns = now_ns;
	sum->changed = false;
	metrics_unsigned(metrics, SUMS_EXITS, labels, sum->exits);
	metrics_unsigned(metrics, SUMS_UNCOUNTED, labels, sum->uncounted);
	if (has_looked)
		metrics_unsigned(metrics, SUMS_LIVING, labels, sum->living);
	if (stats->present[STATS_HIWATER_RSS])
		metrics_unsigned(metrics, SUMS_RESIDENT, labels,
				 stats->value[STATS_HIWATER_RSS] * BYTES_PER_KIB);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		labels[1] = parts[i].label;
		if (stats->present[parts[i].field])
			metrics_decimal(metrics, parts[i].family, labels,
					stats->value[parts[i].field], parts[i].decimals);
	}
}

void sums_values(struct sums *sums, const struct collector *collector, uint64_t now_ns,
		 struct metrics *metrics)
{
	struct message_count all = { 0 };
	uint64_t lost = 0;

	for (size_t i = 0; i < SUMS_WAITING; i++) {
		struct sum_waiting *waiting = &sums->waiting[i];

		if (!waiting->asked_ns)
			waiting->asked_ns = waiting->process ? now_ns : 0;
		else if (now_ns - waiting->asked_ns >= SUMS_PATIENCE_NS)
			settle(sums, waiting, NULL);
	}
	sums->values_ns = now_ns;
	for (size_t i = 0; i < sums->count; i++)
		add_sum(&sums->sum[i], sums->has_looked, now_ns, metrics);
	if (sums->sum[SUMS_MAX].stats.parts)
		add_sum(&sums->sum[SUMS_MAX], sums->has_looked, now_ns, metrics);
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (!collector->is_counted[cpu])
			continue;
		message_count_add(&all, &collector->accounts[cpu]);
		lost += message_count_lost(&collector->accounts[cpu]);
	}
	metrics_unsigned(metrics, SUMS_RECEIVED, NULL, all.received);
	metrics_unsigned(metrics, SUMS_LOST, NULL, lost);
	metrics_unsigned(metrics, SUMS_MISSING, NULL, all.missing);
	metrics_unsigned(metrics, SUMS_STRANGERS, NULL, all.strangers);
	metrics_unsigned(metrics, SUMS_OVERFLOWS, NULL, all.overflows);
	metrics_unsigned(metrics, SUMS_MALFORMED, NULL, collector->malformed);
	metrics_unsigned(metrics, SUMS_UNKNOWN, NULL, collector->unknown);
	metrics_unsigned(metrics, SUMS_FOLDED, NULL, sums->folded);
	metrics_unsigned(metrics, SUMS_WITHOUT_PLACE, NULL, sums->without_place);
	metrics_unsigned(metrics, SUMS_LOOKS_FAILED, NULL, sums->looks_failed);
}
