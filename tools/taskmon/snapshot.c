/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* qsort_r(), memmem() */
#include "snapshot.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool_text.h"

#define FIRST_ROOM 64u
/* Processes above each other; more are a circle, which numbers that are used again could make. */
#define DEPTH_MAX 1000u

static void forget(struct snapshot_task *task)
{
	free(task->cgroup);
	free(task->name);
	free(task->arguments);
}

void snapshot_free(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->count; i++)
		forget(&snapshot->tasks[i]);
	free(snapshot->tasks);
	*snapshot = (struct snapshot){ 0 };
}

int snapshot_add(struct snapshot *snapshot, const struct snapshot_task *task)
{
	size_t room = snapshot->room ? snapshot->room * 2 : FIRST_ROOM;
	struct snapshot_task taken = *task, *tasks;

	if (snapshot->count == snapshot->room) {
		tasks = reallocarray(snapshot->tasks, room, sizeof(*tasks));
		if (!tasks) {
			forget(&taken);
			return -ENOMEM;
		}
		snapshot->tasks = tasks;
		snapshot->room = room;
	}
	snapshot->tasks[snapshot->count++] = taken;
	return 0;
}

/* A copy that owns what it has.  Return: false without memory, and there is none. */
static bool copy(struct snapshot_task *to, const struct snapshot_task *from)
{
	*to = *from;
	to->cgroup = from->cgroup ? strdup(from->cgroup) : NULL;
	to->name = from->name ? strdup(from->name) : NULL;
	to->arguments = from->arguments ? strdup(from->arguments) : NULL;
	if ((to->cgroup || !from->cgroup) && (to->name || !from->name) &&
	    (to->arguments || !from->arguments))
		return true;
	forget(to);
	return false;
}

static int order_of(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_number(const struct snapshot_task *a, const struct snapshot_task *b)
{
	int order = order_of(a->record.kind, b->record.kind);

	return order ? order : order_of(a->record.id, b->record.id);
}

static int compare_numbers(const void *a, const void *b)
{
	return by_number(a, b);
}

void snapshot_sort(struct snapshot *snapshot)
{
	if (snapshot->count)
		qsort(snapshot->tasks, snapshot->count, sizeof(*snapshot->tasks), compare_numbers);
}

struct snapshot_task *snapshot_find(const struct snapshot *snapshot, enum stats_kind kind,
				    uint32_t id)
{
	const struct snapshot_task wanted = { .record = { .kind = kind, .id = id } };

	if (!snapshot->count)
		return NULL;
	return bsearch(&wanted, snapshot->tasks, snapshot->count, sizeof(wanted), compare_numbers);
}

int snapshot_copy(struct snapshot *copies, const struct snapshot *all)
{
	struct snapshot_task made;

	copies->time_ns = all->time_ns;
	copies->delays = all->delays;
	copies->changes = all->changes;
	for (size_t i = 0; i < all->count; i++)
		if (!copy(&made, &all->tasks[i]) || snapshot_add(copies, &made))
			return -ENOMEM;
	return 0;
}

/* Removes those that have a depth, which is a mark here. */
static void remove_marked(struct snapshot *snapshot)
{
	size_t kept = 0;

	for (size_t i = 0; i < snapshot->count; i++) {
		if (snapshot->tasks[i].depth)
			forget(&snapshot->tasks[i]);
		else
			snapshot->tasks[kept++] = snapshot->tasks[i];
	}
	snapshot->count = kept;
}

void snapshot_keep(struct snapshot *snapshot, enum stats_kind kind)
{
	for (size_t i = 0; i < snapshot->count; i++)
		snapshot->tasks[i].depth = snapshot->tasks[i].record.kind != kind;
	remove_marked(snapshot);
}

static uint64_t time_of(const struct snapshot *snapshot, const struct snapshot_task *task)
{
	return task && task->time_ns ? task->time_ns : snapshot->time_ns;
}

int snapshot_since(struct snapshot *since, const struct snapshot *before,
		   const struct snapshot *now)
{
	since->time_ns = now->time_ns;
	since->delays = now->delays;
	since->changes = now->changes;
	for (size_t i = 0; i < now->count; i++) {
		const struct snapshot_task *task = &now->tasks[i];
		const struct snapshot_task *old = snapshot_find(before, task->record.kind,
								task->record.id);
		struct snapshot_task made;

		if (!copy(&made, task))
			return -ENOMEM;
		made.cpu_ns = task->record.stats.value[STATS_CPU_RUN_VIRTUAL];
		if (old && old->begin != task->begin)
			old = NULL;
		made.interval_ns = time_of(now, task) - time_of(before, old);
		if (old) {
			stats_since(&made.record.stats, &old->record.stats, &task->record.stats);
			if (before->changes != now->changes)
				accounting_forget_waits(&made.record.stats);
		}
		if (snapshot_add(since, &made))
			return -ENOMEM;
	}
	return 0;
}

static int compare_texts(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static uint64_t user_of(const struct snapshot_task *task)
{
	return task->record.stats.value[STATS_UID];
}

/* What a task's sum is told by. */
static int compare_keys(const void *first, const void *second, void *context)
{
	const struct snapshot_task *a = *(const struct snapshot_task *const *)first;
	const struct snapshot_task *b = *(const struct snapshot_task *const *)second;

	switch (*(const enum snapshot_by *)context) {
	case BY_PROCESS:
		return order_of(a->process, b->process);
	case BY_USER:
		return order_of(user_of(a), user_of(b));
	case BY_CGROUP:
		return compare_texts(a->cgroup, b->cgroup);
	case BY_COMMAND:
		return text_compare(a->record.stats.comm, a->record.stats.comm_len,
				    b->record.stats.comm, b->record.stats.comm_len);
	case BY_TASK:
		break;
	}
	return by_number(a, b);
}

/* The state that says most comes first, one that is not known last. */
static char busier(char a, char b)
{
	static const char order[] = "RDSIWtTZX";
	const char first[] = { a, '\0' }, second[] = { b, '\0' };

	return strcspn(order, first) < strcspn(order, second) ? a : b;
}

static void add(struct snapshot_task *sum, const struct snapshot_task *task)
{
	stats_add(&sum->record.stats, &task->record.stats);
	sum->record.tasks += task->record.kind == STATS_PROCESS ? task->record.tasks : 1;
	sum->cpu_ns += task->cpu_ns;
	sum->interval_ns += task->interval_ns;
	sum->state = busier(sum->state, task->state);
}

static void take_field(struct stats *stats, const struct stats *from, enum stats_field field)
{
	stats->value[field] = from->value[field];
	stats->present[field] = from->present[field];
}

static void take_name(struct stats *stats, const struct stats *from)
{
	memcpy(stats->comm, from->comm, sizeof(stats->comm));
	stats->comm_len = from->comm_len;
	stats->has_comm = from->has_comm;
}

/* The first task of a process gives it what is no sum. */
static bool name_process(struct snapshot_task *sum, const struct snapshot_task *first)
{
	static const enum stats_field own[] = { STATS_UID, STATS_GID, STATS_NICE, STATS_PPID };

	sum->process = first->process;
	sum->parent = first->parent;
	sum->begin = first->begin;
	sum->time_ns = first->time_ns;
	sum->record.id = first->process;
	sum->record.has_elapsed = first->record.has_elapsed;
	sum->record.elapsed_us = first->record.elapsed_us;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		take_field(&sum->record.stats, &first->record.stats, own[i]);
	take_name(&sum->record.stats, &first->record.stats);
	free(sum->cgroup);
	sum->cgroup = first->cgroup ? strdup(first->cgroup) : NULL;
	free(sum->arguments);
	sum->arguments = first->arguments ? strdup(first->arguments) : NULL;
	return (sum->cgroup || !first->cgroup) && (sum->arguments || !first->arguments);
}

/* A sum gets its name from the first task it is of.  Return: false without memory. */
static bool name_sum(struct snapshot_task *sum, const struct snapshot_task *first,
		     enum snapshot_by by)
{
	char number[sizeof("4294967295")];

	switch (by) {
	case BY_PROCESS:
		sum->record.kind = STATS_PROCESS;
		return name_process(sum, first);
	case BY_USER:
		sum->record.kind = STATS_USER;
		take_field(&sum->record.stats, &first->record.stats, STATS_UID);
		snprintf(number, sizeof(number), "%" PRIu32, (uint32_t)user_of(first));
		sum->name = strdup(number);
		return sum->name;
	case BY_CGROUP:
		sum->record.kind = STATS_CGROUP;
		sum->name = first->cgroup ? strdup(first->cgroup) : NULL;
		sum->cgroup = first->cgroup ? strdup(first->cgroup) : NULL;
		return (sum->name && sum->cgroup) || !first->cgroup;
	case BY_COMMAND:
		sum->record.kind = STATS_COMMAND;
		take_name(&sum->record.stats, &first->record.stats);
		return true;
	case BY_TASK:
		break;
	}
	assert(false);
	return false;
}

/* Sums over the tasks from @first on that belong together.  Return: the index after the last. */
static size_t sum_up(struct snapshot *sums, const struct snapshot_task *const *tasks, size_t first,
		     size_t count, enum snapshot_by by, int *error)
{
	struct snapshot_task sum = { 0 };
	size_t next = first;

	if (!name_sum(&sum, tasks[first], by)) {
		forget(&sum);
		*error = -ENOMEM;
		return count;
	}
	for (; next < count && compare_keys(&tasks[first], &tasks[next], &by) == 0; next++) {
		add(&sum, tasks[next]);
		/* The first task of a process has its number. */
		if (by == BY_PROCESS && tasks[next]->record.id == tasks[next]->process &&
		    !name_process(&sum, tasks[next]))
			*error = -ENOMEM;
	}
	sum.interval_ns /= next - first;
	if (snapshot_add(sums, &sum))
		*error = -ENOMEM;
	return *error ? count : next;
}

int snapshot_sums(struct snapshot *sums, const struct snapshot *all, enum snapshot_by by)
{
	const struct snapshot_task **tasks;
	int error = 0;

	if (by == BY_TASK || !all->count)
		return snapshot_copy(sums, all);
	sums->time_ns = all->time_ns;
	sums->delays = all->delays;
	sums->changes = all->changes;
	tasks = calloc(all->count, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	for (size_t i = 0; i < all->count; i++)
		tasks[i] = &all->tasks[i];
	qsort_r(tasks, all->count, sizeof(*tasks), compare_keys, &by);
	for (size_t i = 0; i < all->count;)
		i = sum_up(sums, tasks, i, all->count, by, &error);
	free(tasks);
	return error;
}

/* Parent of a process by its first task; 0 if it is not there. */
static uint32_t parent_of(const struct snapshot *snapshot, uint32_t process)
{
	const struct snapshot_task *first = snapshot_find(snapshot, STATS_TASK, process);

	if (!first)
		first = snapshot_find(snapshot, STATS_PROCESS, process);
	return first ? first->parent : 0;
}

static bool is_below(const struct snapshot *snapshot, const struct snapshot_task *task, uint32_t top)
{
	uint32_t process = task->process;

	for (unsigned int depth = 0; process && depth < DEPTH_MAX; depth++) {
		if (process == top)
			return true;
		process = parent_of(snapshot, process);
	}
	return false;
}

static bool is_in_cgroup(const char *path, const char *wanted)
{
	size_t len = strlen(wanted);

	/* A path may be given with a slash at its end; the first one has nothing else. */
	while (len && wanted[len - 1] == '/')
		len--;
	return path && strncmp(path, wanted, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

static bool is_named(const struct filter *filter, uint32_t id)
{
	for (unsigned int i = 0; i < filter->pid_count; i++)
		if (filter->pids[i] == id)
			return true;
	return filter->pid_count == 0;
}

static bool is_wanted(const struct snapshot *snapshot, const struct snapshot_task *task,
		      const struct filter *filter)
{
	const struct stats *stats = &task->record.stats;

	if (!is_named(filter, task->record.id))
		return false;
	if (filter->has_user && (!stats->present[STATS_UID] || user_of(task) != filter->user))
		return false;
	if (filter->name &&
	    !memmem(stats->comm, stats->comm_len, filter->name, strlen(filter->name)))
		return false;
	if (filter->cgroup && !is_in_cgroup(task->cgroup, filter->cgroup))
		return false;
	if (filter->active && !stats_is_active(stats))
		return false;
	return !filter->tree || is_below(snapshot, task, filter->tree);
}

void snapshot_filter(struct snapshot *snapshot, const struct filter *filter)
{
	/* All are judged before one goes: parents may be among those that are not wanted. */
	for (size_t i = 0; i < snapshot->count; i++)
		snapshot->tasks[i].depth = !is_wanted(snapshot, &snapshot->tasks[i], filter);
	remove_marked(snapshot);
}

int snapshot_choose(struct snapshot *chosen, struct snapshot *tasks, const struct filter *filter,
		    enum snapshot_by by)
{
	struct filter first = *filter, last = { .active = filter->active };
	int ret;

	first.active = false;
	if (by != BY_TASK)
		snapshot_keep(tasks, STATS_PROCESS);
	snapshot_filter(tasks, &first);
	if (by == BY_PROCESS)
		ret = snapshot_copy(chosen, tasks);
	else
		ret = snapshot_sums(chosen, tasks, by);
	snapshot_filter(chosen, &last);
	return ret;
}

struct order {
	snapshot_compare *compare;
	const void *context;
};

static int compare_order(const void *first, const void *second, void *context)
{
	const struct snapshot_task *a = first, *b = second;
	const struct order *order = context;
	int found = order->compare(a, b, order->context);

	if (!found)
		found = by_number(a, b);
	return found ? found : compare_texts(a->name, b->name);
}

void snapshot_order(struct snapshot *snapshot, snapshot_compare *compare, const void *context)
{
	struct order order = { compare, context };

	if (snapshot->count)
		qsort_r(snapshot->tasks, snapshot->count, sizeof(*snapshot->tasks), compare_order,
			&order);
}

/* The positions of a process and its parent, by their numbers. */
struct place {
	uint32_t process, parent;
	size_t index;
};

static int compare_processes(const void *a, const void *b)
{
	const struct place *first = a, *second = b;

	return order_of(first->process, second->process);
}

static int compare_parents(const void *a, const void *b)
{
	const struct place *first = a, *second = b;
	int order = order_of(first->parent, second->parent);

	return order ? order : order_of(first->index, second->index);
}

/* Tables for a walk from parents to children. */
struct walk {
	const struct snapshot *from;
	struct place *children;		/* by parent, then in the order of @from */
	struct snapshot_task *to;
	size_t done;
};

/* Moves the children of @parent, and what is below them. */
static void walk_down(struct walk *walk, uint32_t parent, unsigned int depth)
{
	size_t low = 0, high = walk->from->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (walk->children[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < walk->from->count && walk->children[low].parent == parent; low++) {
		const struct place *child = &walk->children[low];

		assert(walk->done < walk->from->count && child->process);
		walk->to[walk->done] = walk->from->tasks[child->index];
		walk->to[walk->done++].depth = depth;
		if (depth < DEPTH_MAX)
			walk_down(walk, child->process, depth + 1);
	}
}

int snapshot_order_tree(struct snapshot *snapshot, snapshot_compare *compare, const void *context)
{
	size_t count = snapshot->count;
	struct place *places;
	struct walk walk = { .from = snapshot };

	if (!count)
		return 0;
	places = calloc(count, sizeof(*places));
	walk.children = calloc(count, sizeof(*walk.children));
	walk.to = calloc(count, sizeof(*walk.to));
	if (!places || !walk.children || !walk.to) {
		free(places);
		free(walk.children);
		free(walk.to);
		return -ENOMEM;
	}
	snapshot_order(snapshot, compare, context);
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){ snapshot->tasks[i].process, snapshot->tasks[i].parent, i };
	memcpy(walk.children, places, count * sizeof(*places));
	qsort(places, count, sizeof(*places), compare_processes);
	/* Who has no parent here is at the top. */
	for (size_t i = 0; i < count; i++) {
		const struct place wanted = { .process = walk.children[i].parent };

		if (!bsearch(&wanted, places, count, sizeof(*places), compare_processes))
			walk.children[i].parent = 0;
	}
	qsort(walk.children, count, sizeof(*walk.children), compare_parents);
	walk_down(&walk, 0, 0);
	/* A circle has no top: then there is no tree. */
	if (walk.done == count)
		memcpy(snapshot->tasks, walk.to, count * sizeof(*walk.to));
	free(places);
	free(walk.children);
	free(walk.to);
	return 0;
}
