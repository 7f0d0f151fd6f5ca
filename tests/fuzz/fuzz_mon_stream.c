// SPDX-License-Identifier: MIT
/*
 * libFuzzer target: the read machine of driver/ and a model of it do what the input says, and
 * have to agree after every operation.  Either has its own copy of the segment.
 */
#include "fuzz_target.h"
#include "machine_read.h"
#include "model_mon_stream.h"
#include "operation.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>

/* Around the segment of the machine: not to be touched. */
#define GUARD 4096
/* Operations that one read can have in it. */
#define MOST_EVENTS 4
/* Messages and reads of one input: two rounds of the queue. */
#define MOST_WORK 1100
/* An address that no field of a message holds, and the last one that it does. */
#define BEYOND 0x100000000ull

/* What happens within the next read, and when. */
struct event {
	unsigned int step;
	struct operation operation;
};

/* The machine or the model, and what it was seen to do. */
struct side {
	bool modelled;
	u8 *image;
	u8 out[OPERATION_READ];
	int result;
	u32 id;			/* of the next message */
	u32 element;		/* offset of the last element made */
	unsigned int step;
	unsigned int refused;	/* messages */
	unsigned int replies;
	u32 replied_id;
	u32 replied_class;
};

static u8 arena[GUARD + OPERATION_SEGMENT + GUARD] __attribute__((aligned(16)));
static u8 image[OPERATION_SEGMENT];
static struct mon_stream stream, other;
static struct model model;
static struct side sides[2] = {
	{ .image = arena + GUARD },
	{ .modelled = true, .image = image },
};
static struct operation_setting setting;
static struct event events[MOST_EVENTS];
static unsigned int event_count;
static bool reply_fails;
static unsigned int work;

/*
 * What was reached beyond lines of code; libFuzzer keeps inputs that add to it.  What happened
 * where in a read, and how reads end, by defect and sever.
 */
#define ENDS 6
static struct {
	u8 happened[READ_PLACES][OPERATION_READ_ONE];
	u8 ended[ENDS][MON_DEFECT_RECORDS_END + 1][2];
} reached __attribute__((section("__libfuzzer_extra_counters"), used));

static void poke(struct side *side, u32 offset, u8 value)
{
	side->image[offset % setting.size] = value;
}

static void poke_word(struct side *side, u32 offset, u32 value)
{
	for (u32 i = 0; i < 4; i++)
		poke(side, offset + i, (u8)(value >> (24 - 8 * i)));
}

static void element(struct side *side, u32 offset, u32 first, u32 last)
{
	poke(side, offset, 0xe2);
	poke(side, offset + 1, 0x80);
	poke_word(side, offset + 4, first);
	poke_word(side, offset + 8, last);
	side->element = offset % setting.size;
}

static void message(struct side *side, u32 first, u32 last, bool addressed)
{
	const struct mon_note note = {
		.id = side->id, .class = setting.class + side->id * 0x10001, .first = first,
		.last = last, .addressed = addressed, .full = side->id & 1,
	};

	side->id++;
	if (!(side->modelled ? model_notify(&model, &note) : mon_stream_notify(&stream, &note)))
		side->refused++;
}

static void set(struct side *side, const struct operation *op)
{
	u32 area = op->a, count = op->mode + 1u, first = setting.start + op->b;

	for (u32 i = 0; i < count; i++)
		element(side, area + i * MON_ELEMENT_SIZE, first + i, first + i + op->c);
	area = setting.start + area % setting.size;
	message(side, area, area + count * MON_ELEMENT_SIZE - 1, true);
}

static unsigned int burst_length(const struct operation *op)
{
	return op->c < 240 ? op->c % 16 : MON_LIMIT;
}

static void burst(struct side *side, const struct operation *op)
{
	u32 area = setting.start + side->element;

	for (unsigned int i = 0; i < burst_length(op); i++)
		message(side, area, area + MON_ELEMENT_SIZE - 1, true);
}

/* Operations that can come in the middle of a read. */
static void happen(struct side *side, const struct operation *op)
{
	unsigned int near_first = op->mode & 3, near_last = op->mode >> 2;

	switch (op->kind) {
	case OPERATION_POKE:
		poke(side, op->a, op->b);
		poke(side, op->c, op->mode);
		break;
	case OPERATION_ELEMENT:
		element(side, op->a, operation_address(&setting, near_first, op->b),
			operation_address(&setting, near_last, op->c));
		break;
	case OPERATION_MESSAGE:
		message(side, operation_address(&setting, near_first, op->a),
			operation_address(&setting, near_last, op->b), op->c != 255);
		break;
	case OPERATION_SET:
		set(side, op);
		break;
	case OPERATION_BURST:
		burst(side, op);
		break;
	case OPERATION_SEVER:
		if (side->modelled)
			model_sever(&model);
		else
			mon_stream_sever(&stream);
		break;
	default:
		break;
	}
}

static void between(void *ctx, enum read_place place)
{
	struct side *side = ctx;

	for (unsigned int i = 0; i < event_count; i++) {
		const struct operation *op = &events[i].operation;

		if (events[i].step != side->step)
			continue;
		reached.happened[place][op->kind] = 1;
		happen(side, op);
	}
	side->step++;
}

static bool reply(void *ctx, u32 id, u32 class)
{
	struct side *side = ctx;

	side->replies++;
	side->replied_id = id;
	side->replied_class = class;
	return !reply_fails;
}

static void read_one(struct side *side, const struct operation *op)
{
	const struct read_request request = {
		.size = (size_t)op->a << (op->mode & 3),
		.writable = (size_t)(255 - op->b) << (op->mode & 3),
		.out = side->out, .between = between, .reply = reply, .ctx = side,
	};

	side->step = 0;
	side->result = side->modelled ? model_read(&model, &request)
				      : machine_read(&stream, &request);
}

/* What differs, as a sentence; does not return. */
static void differ(unsigned int number, const char *what, long long machine, long long modelled)
{
	fprintf(stderr, "operation %u: %s: the read machine says %lld, the model %lld\n", number,
		what, machine, modelled);
	abort();
}

static void same(unsigned int number, const char *what, u64 machine, u64 modelled)
{
	if (machine != modelled)
		differ(number, what, (long long)machine, (long long)modelled);
}

static void compare_counts(unsigned int number)
{
	const struct mon_counts *a = &stream.counts, *b = &model.counts;

	same(number, "complete sets", a->sets, b->sets);
	same(number, "bytes of sets", a->bytes, b->bytes);
	same(number, "overflows", a->overflows, b->overflows);
	same(number, "severs", a->severs, b->severs);
	same(number, "malformed sets", a->invalid_sets, b->invalid_sets);
}

static void compare(unsigned int number)
{
	const struct side *a = &sides[0], *b = &sides[1];

	same(number, "messages refused", a->refused, b->refused);
	same(number, "replies", a->replies, b->replies);
	same(number, "IPMSGID of the reply", a->replied_id, b->replied_id);
	same(number, "IPTRGCLS of the reply", a->replied_class, b->replied_class);
	same(number, "poll", mon_stream_poll(&stream), model_poll(&model));
	same(number, "severed", stream.severed, model.severed);
	same(number, "defect", stream.defect, model.defect);
	if (stream.defect >= MON_DEFECT_TYPE)
		same(number, "element with the defect", stream.index, model.part);
	compare_counts(number);
}

/* How a read of the machine has ended. */
static void note_end(int result)
{
	static const int ends[ENDS] = { -EAGAIN, -EOVERFLOW, -EIO, -EFAULT, 0 };
	unsigned int end = 0;

	while (end < ENDS - 1 && ends[end] != result)
		end++;
	reached.ended[end][stream.defect][stream.severed] = 1;
}

/* Reads once on both sides; false if there was nothing. */
static bool read_both(unsigned int number, const struct operation *op)
{
	const struct side *a = &sides[0], *b = &sides[1];

	reply_fails = op->mode & 4;
	work++;
	read_one(&sides[0], op);
	read_one(&sides[1], op);
	event_count = 0;
	note_end(a->result);
	if (a->result != b->result)
		differ(number, "result of a read", a->result, b->result);
	same(number, "steps of a read", a->step, b->step);
	if (a->result > 0 && memcmp(a->out, b->out, (size_t)a->result))
		differ(number, "bytes of a read", a->result, b->result);
	return a->result >= 0 || a->result == -EOVERFLOW;
}

static void drain(unsigned int number, const struct operation *op)
{
	for (unsigned int i = 0; i <= op->c && work < MOST_WORK; i++) {
		if (!read_both(number, op))
			break;
		compare(number);
	}
}

/* Segments at the ends of what 64 bits can hold: which can be used? */
static void init(unsigned int number, const struct operation *op)
{
	static const u64 ends[4] = { 0, BEYOND - 0x80, 1ull << 63, BEYOND << 1 };
	u64 start = ends[op->mode & 3] + op->a;
	u64 end = ends[op->mode >> 2] + op->b;

	same(number, "segment taken", mon_stream_init(&other, image, start, end),
	     end > start && end < BEYOND);
}

static void limit(const struct operation *op)
{
	unsigned int granted = op->mode > 7 ? op->a * 0x01010101u : op->a;

	mon_stream_limit(&stream, granted);
	model_limit(&model, granted);
}

static void during(const struct operation *op, const struct operation *event)
{
	unsigned int step = op->a < 128 ? op->a % 4 : op->a % 64;

	if (event_count == MOST_EVENTS)
		return;
	events[event_count] = (struct event){ .step = step, .operation = *event };
	if (event->kind > OPERATION_SEVER)
		events[event_count].operation.kind = OPERATION_SEVER;
	event_count++;
}

static void perform(unsigned int number, const struct operation *op)
{
	switch (op->kind) {
	case OPERATION_READ_ONE:
		read_both(number, op);
		break;
	case OPERATION_DRAIN:
		drain(number, op);
		break;
	case OPERATION_LIMIT:
		limit(op);
		break;
	case OPERATION_OPEN:
		mon_stream_open(&stream);
		model_open(&model);
		break;
	case OPERATION_INIT:
		init(number, op);
		break;
	default:
		work += op->kind == OPERATION_BURST ? burst_length(op) : 1;
		happen(&sides[0], op);
		happen(&sides[1], op);
		break;
	}
	compare(number);
}

static void reset(const u8 *head)
{
	static u32 guarded;

	setting = operation_setting(head);
	if (setting.size != guarded) {
		ASAN_POISON_MEMORY_REGION(arena, sizeof(arena));
		ASAN_UNPOISON_MEMORY_REGION(arena + GUARD, setting.size);
		guarded = setting.size;
	}
	for (unsigned int i = 0; i < 2; i++) {
		struct side *side = &sides[i];

		for (u32 at = 0; at < setting.size; at++)
			side->image[at] = (u8)(at * 37);
		side->id = 1;
		side->element = 0;
		side->refused = side->replies = side->replied_id = side->replied_class = 0;
	}
	event_count = 0;
	work = 0;
	memset(&stream, 0xaa, sizeof(stream));
	if (!mon_stream_init(&stream, sides[0].image, setting.start,
			     (u64)setting.start + setting.size - 1) ||
	    !model_init(&model, image, setting.start, (u64)setting.start + setting.size - 1))
		abort();
	/* An empty queue may begin anywhere: as if so many sets had been read before. */
	stream.head = setting.slot;
	if (setting.limit)
		limit(&(struct operation){ .a = setting.limit });
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u8 nothing[OPERATION_HEAD];
	unsigned int count;

	reset(size < OPERATION_HEAD ? nothing : data);
	if (size < OPERATION_HEAD)
		return 0;
	data += OPERATION_HEAD;
	count = (unsigned int)((size - OPERATION_HEAD) / OPERATION_BYTES);
	for (unsigned int i = 0; i < count && i < OPERATION_MOST && work < MOST_WORK; i++) {
		struct operation op = operation_decode(data + OPERATION_BYTES * i);
		struct operation event;

		if (op.kind != OPERATION_DURING) {
			perform(i, &op);
		} else if (++i < count) {
			event = operation_decode(data + OPERATION_BYTES * i);
			during(&op, &event);
		}
	}
	return 0;
}
