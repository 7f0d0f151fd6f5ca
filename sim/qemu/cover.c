/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Coverage of an unmodified kernel from below: which blocks of its code the guest executes.  A
 * block begins where QEMU's translation of one does.  Interruptions and tasklets are seen as all
 * else is.
 *
 * A file that is mapped here tells the reader: struct head, then entries.  Each block ("new",
 * "blocks"), or each pair of blocks that a CPU has executed one after the other ("edges", where
 * blocks outside the ranges do not count), has one entry.  In the mode "new" it is written when
 * the block is translated for the first time, and executing the block costs nothing.  In the other
 * modes a block begins with a look at a table, and calls a helper if it is not there.  When the
 * machine is put back, what has been executed is forgotten.  What has been translated is not, since
 * translations stay.
 *
 * A block keeps its number as long as this process lives: translations contain it, and they may
 * outlive a mode.
 *
 * Properties: "cover" is set to {file, mode, ranges: [{start, end}]} to begin, with the mode "off"
 * to end; "cover-again" forgets what has been executed.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "exec/helper-proto.h"
#include "hw/s390x/zvmlab.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/thread.h"

#define BLOCK_BITS 18u
#define BLOCKS_MAX (1u << BLOCK_BITS)
#define EDGES_MAX (1u << ZVMLAB_EDGE_BITS)
#define ENTRIES_MAX (1u << 17)
#define RANGES_MAX 16384u
#define MAGIC UINT64_C(0x5a564d434f564552)	/* "ZVMCOVER" */

enum mode { OFF, NEW, BLOCKS, EDGES, MODES };

static const char *const mode_names[MODES] = {
	[OFF] = "off", [NEW] = "new", [BLOCKS] = "blocks", [EDGES] = "edges",
};

/* All in the host's byte order. */
struct head {
	uint64_t magic;
	uint64_t count;		/* of entries that are complete */
	uint64_t lost;		/* how often there was no room for one */
	uint64_t begun;		/* how often all was forgotten */
};

struct entry {
	uint64_t from;		/* of an edge, else 0 */
	uint64_t to;
};

struct shared {
	struct head head;
	struct entry entry[ENTRIES_MAX];
};

struct range {
	uint64_t start, end;
};

/* For translating CPUs, and for helpers; translated code reads @seen and @edges without it. */
static QemuMutex lock;
static enum mode mode;
static struct shared *shared;
static struct range *ranges;
static unsigned int range_count;

/* Of a block: its number by its address, and what else is known by the number.  0 is none. */
static GHashTable *numbers;
static uint32_t block_count;
static uint64_t address[BLOCKS_MAX];
static uint8_t seen[BLOCKS_MAX];
/* 0: free. */
static uint64_t edges[EDGES_MAX];
/* What is to be cleared of @edges or @seen. */
static uint32_t used[ENTRIES_MAX];

/*
 * An edge, from the highest bit: the number of its first block, that of its second one, a hash of
 * both, and three zeros, since the hash is an offset.  The factors differ, so that blocks that follow
 * themselves have places of their own.
 */
#define TO_SHIFT 22u
#define FROM_SHIFT (TO_SHIFT + BLOCK_BITS)
#define FROM_FACTOR UINT64_C(0x9e3779b97f4a7c15)
#define TO_FACTOR UINT64_C(0xd1b54a32d192ed03)

QEMU_BUILD_BUG_ON(ZVMLAB_EDGE_OFFSET >> TO_SHIFT != 0 || FROM_SHIFT + BLOCK_BITS > 64);

static uint64_t hash(uint32_t block, uint64_t factor)
{
	return (block * factor >> 32) & ZVMLAB_EDGE_OFFSET;
}

static uint64_t leaves(uint32_t block)
{
	return (uint64_t)block << FROM_SHIFT | hash(block, FROM_FACTOR);
}

static uint64_t arrives(uint32_t block)
{
	return (uint64_t)block << TO_SHIFT | hash(block, TO_FACTOR);
}

static uint32_t from(uint64_t edge)
{
	return edge >> FROM_SHIFT;
}

static uint32_t to(uint64_t edge)
{
	return (edge >> TO_SHIFT) % BLOCKS_MAX;
}

static bool is_in_range(uint64_t place)
{
	unsigned int low = 0, high = range_count;

	while (low < high) {
		const unsigned int middle = low + (high - low) / 2;

		if (place >= ranges[middle].end)
			low = middle + 1;
		else
			high = middle;
	}
	return low < range_count && place >= ranges[low].start;
}

/* Return: 0 if there are too many. */
static uint32_t number_of(uint64_t place)
{
	uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, GSIZE_TO_POINTER(place)));

	if (number == 0 && block_count + 1 < BLOCKS_MAX) {
		number = ++block_count;
		address[number] = place;
		g_hash_table_insert(numbers, GSIZE_TO_POINTER(place), GUINT_TO_POINTER(number));
	}
	return number;
}

/* Return: false if there is no room.  @mark: what is to be cleared when all begins again. */
static bool write_entry(uint32_t from, uint32_t to, uint32_t mark)
{
	const uint64_t at = shared->head.count;

	if (at >= ENTRIES_MAX) {
		qatomic_set(&shared->head.lost, shared->head.lost + 1);
		return false;
	}
	shared->entry[at] = (struct entry){ .from = address[from], .to = address[to] };
	used[at] = mark;
	qatomic_store_release(&shared->head.count, at + 1);
	return true;
}

static void see_block(uint32_t block)
{
	if (seen[block])
		return;
	/* Also without an entry: it would be lost each time. */
	qatomic_set(&seen[block], 1);
	write_entry(0, block, block);
}

static void see_edge(uint64_t edge)
{
	uint32_t at = (edge & ZVMLAB_EDGE_OFFSET) / sizeof(*edges);

	/* There are more places than entries, so one is free. */
	while (edges[at] != 0 && edges[at] != edge)
		at = (at + 1) % EDGES_MAX;
	if (edges[at] == 0 && write_entry(from(edge), to(edge), at))
		qatomic_set(&edges[at], edge);
}

bool zvmlab_covered(uint64_t place, struct zvmlab_cover *cover)
{
	uint32_t block;

	if (qatomic_read(&mode) == OFF)
		return false;
	qemu_mutex_lock(&lock);
	block = mode != OFF && is_in_range(place) ? number_of(place) : 0;
	if (block != 0 && mode == NEW)
		see_block(block);
	cover->edges = mode == EDGES ? edges : NULL;
	cover->leaves = leaves(block);
	cover->arrives = arrives(block);
	cover->seen = seen + block;
	cover->block = block;
	if (block == 0 && mode != OFF && is_in_range(place))
		qatomic_set(&shared->head.lost, shared->head.lost + 1);
	block = mode == NEW ? 0 : block;
	qemu_mutex_unlock(&lock);
	return block != 0;
}

/* @seen_now: a block's number, or an edge. */
void HELPER(zvmlab_seen)(uint64_t seen_now)
{
	qemu_mutex_lock(&lock);
	/* The translation may be of an earlier mode. */
	const bool is_edge = seen_now >= BLOCKS_MAX;

	if (is_in_range(address[is_edge ? to(seen_now) : seen_now])) {
		if (mode == BLOCKS && !is_edge)
			see_block(seen_now);
		else if (mode == EDGES && is_edge)
			see_edge(seen_now);
	}
	qemu_mutex_unlock(&lock);
}

/* With the lock held, or before there is anybody who wants it. */
static void forget(void)
{
	CPUState *cs;

	if (!shared)
		return;
	for (uint64_t i = 0; i < shared->head.count; i++)
		if (mode == EDGES)
			qatomic_set(&edges[used[i]], 0);
		else
			qatomic_set(&seen[used[i]], 0);
	/* Of those there was no room for, nothing is known. */
	if (shared->head.lost > 0)
		memset(seen, 0, sizeof(seen));
	qatomic_set(&shared->head.lost, 0);
	qatomic_set(&shared->head.count, 0);
	qatomic_store_release(&shared->head.begun, shared->head.begun + 1);
	CPU_FOREACH(cs)
		qatomic_set(&cpu_env(cs)->zvmlab_left, 0);
}

bool zvmlab_covers(void)
{
	return qatomic_read(&mode) != OFF;
}

void zvmlab_cover_put_back(void)
{
	if (qatomic_read(&mode) == OFF || mode == NEW)
		return;
	qemu_mutex_lock(&lock);
	forget();
	qemu_mutex_unlock(&lock);
}

/* Its room is taken now: a store for which there is none later would end QEMU.  Return: false with errno. */
static bool take_room(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || ftruncate(fd, sizeof(struct shared)) != 0)
		return false;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return false;
	}
	errno = posix_fallocate(fd, 0, sizeof(struct shared));
	return errno == 0;
}

static struct shared *map_file(const char *path, Error **errp)
{
	const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	void *at = MAP_FAILED;

	if (fd >= 0 && take_room(fd))
		at = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		error_setg_errno(errp, errno, "zvmlab-cp: %s cannot be mapped for coverage", path);
	if (fd >= 0)
		close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* What is wanted, before it is so. */
struct wanted {
	char *file, *mode;
	GArray *ranges;
};

static bool visit_ranges(Visitor *v, GArray *found, Error **errp)
{
	GenericList *list = NULL, *at;
	bool read = visit_start_list(v, "ranges", &list, sizeof(*list), errp);

	if (!read)
		return false;
	for (at = list; read && at; at = visit_next_list(v, at, sizeof(*list))) {
		struct range range = { 0 };

		read = visit_start_struct(v, NULL, NULL, 0, errp);
		if (!read)
			break;
		read = visit_type_uint64(v, "start", &range.start, errp) &&
		       visit_type_uint64(v, "end", &range.end, errp) &&
		       visit_check_struct(v, errp);
		visit_end_struct(v, NULL);
		g_array_append_val(found, range);
	}
	visit_end_list(v, (void **)&list);
	while (list) {
		at = list->next;
		g_free(list);
		list = at;
	}
	return read;
}

static bool visit_wanted(Visitor *v, const char *name, struct wanted *wanted, Error **errp)
{
	if (!visit_start_struct(v, name, NULL, 0, errp))
		return false;
	const bool read = visit_type_str(v, "file", &wanted->file, errp) &&
			  visit_type_str(v, "mode", &wanted->mode, errp) &&
			  visit_ranges(v, wanted->ranges, errp) && visit_check_struct(v, errp);
	visit_end_struct(v, NULL);
	return read;
}

static bool check_ranges(const GArray *wanted, Error **errp)
{
	const struct range *range = (const struct range *)wanted->data;

	if (wanted->len > RANGES_MAX) {
		error_setg(errp, "zvmlab-cp: %u ranges to be covered are too many (up to %u)",
			   wanted->len, RANGES_MAX);
		return false;
	}
	for (unsigned int i = 0; i < wanted->len; i++)
		if (range[i].start >= range[i].end || (i > 0 && range[i].start < range[i - 1].end)) {
			error_setg(errp, "zvmlab-cp: the ranges to be covered are not in order at"
				   " 0x%" PRIx64, range[i].start);
			return false;
		}
	return true;
}

static enum mode find_mode(const char *name, Error **errp)
{
	for (enum mode i = OFF; i < MODES; i++)
		if (strcmp(name, mode_names[i]) == 0)
			return i;
	error_setg(errp, "zvmlab-cp: invalid mode of coverage: %s (off, new, blocks or edges)", name);
	return MODES;
}

/* What is wanted, by the time that no CPU runs. */
struct beginning {
	enum mode mode;
	struct shared *map;
	GArray *ranges;
};

static void begin(const struct beginning *next)
{
	qemu_mutex_lock(&lock);
	forget();
	if (shared)
		munmap(shared, sizeof(*shared));
	g_free(ranges);
	shared = next->map;
	range_count = next->ranges->len;
	ranges = (struct range *)g_array_steal(next->ranges, NULL);
	if (shared)
		shared->head = (struct head){ .magic = MAGIC };
	qatomic_set(&mode, next->mode);
	qemu_mutex_unlock(&lock);
	/* What is translated has not got, or has still, what the mode asks for. */
	tb_flush__exclusive_or_serial();
}

/* On a CPU's own thread, for whoever waits for it: only there others can be kept from running. */
static void begin_alone(CPUState *cs, run_on_cpu_data data)
{
	/* A CPU that is waited for may want it. */
	bql_unlock();
	start_exclusive();
	begin(data.host_ptr);
	end_exclusive();
	bql_lock();
}

static void set_cover(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	struct wanted wanted = { .ranges = g_array_new(false, false, sizeof(struct range)) };
	struct beginning next = { .mode = MODES, .ranges = wanted.ranges };

	if (!visit_wanted(v, name, &wanted, errp) || !check_ranges(wanted.ranges, errp))
		goto out;
	if (zvmlab_cp != ZVMLAB_CP(obj)) {
		error_setg(errp, "zvmlab-cp: the machine is not complete");
		goto out;
	}
	next.mode = find_mode(wanted.mode, errp);
	if (next.mode == MODES)
		goto out;
	if (next.mode != OFF && !(next.map = map_file(wanted.file, errp)))
		goto out;
	run_on_cpu(first_cpu, begin_alone, RUN_ON_CPU_HOST_PTR(&next));
out:
	g_array_free(wanted.ranges, true);
	g_free(wanted.file);
	g_free(wanted.mode);
}

static void set_again(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	bool again;

	if (visit_type_bool(v, name, &again, errp) && again)
		zvmlab_cover_put_back();
}

void zvmlab_add_cover(ObjectClass *oc)
{
	qemu_mutex_init(&lock);
	numbers = g_hash_table_new(NULL, NULL);
	object_class_property_add(oc, "cover", "cover", NULL, set_cover, NULL, NULL);
	object_class_property_add(oc, "cover-again", "bool", NULL, set_again, NULL, NULL);
}
