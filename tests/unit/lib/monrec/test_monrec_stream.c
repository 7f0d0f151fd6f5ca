/* SPDX-License-Identifier: MIT */
/* libmonrec on streams: items, places, what the device gives besides bytes. */
#include "monrec_input.h"
#include "record.h"
#include "storage_fails.h"

#define S MONREC_TYPE_SAMPLE
#define E MONREC_TYPE_EVENT

/* One frame: D0R1, D1R4, D1R11. */
static void sample(uint32_t start)
{
	size_t begin = mi_begin(S, start);

	mi_record(0, 1, 116);
	mi_record(1, 4, 184);
	mi_record(1, MTREND, 20);
	mi_end(begin);
}

static void ck_sample(uint64_t offset)
{
	mi_next(MONREC_ELEMENT);
	ck_assert_uint_eq(mi_item.at.offset, offset);
	ck_assert_uint_eq(mi_item.element.type, S);
	ck_assert_uint_eq(mi_item.element.end - mi_item.element.start + 1, 320);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.at.offset, offset + 12);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.record.domain, 1);
	ck_assert_uint_eq(mi_item.record.number, 4);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.record.number, MTREND);
	ck_assert_uint_eq(mi_item.at.record, 3);
}

CASE("stream", mi_setup, mi_teardown);

TEST(two_sets)
{
	for (unsigned int i = 0; i < 2; i++) {
		sample(MI_START + i * 4096);
		mi_stop(0);
	}
	mi_open(MONREC_DEVICE);
	for (uint64_t set = 1; set <= 2; set++) {
		mi_next(MONREC_SET);
		ck_assert_uint_eq(mi_item.at.set, set);
		ck_assert_uint_eq(mi_item.at.offset, 0);
		ck_assert_ptr_null(mi_item.interrupt);
		ck_sample(0);
		mi_next(MONREC_SET_END);
		ck_assert_uint_eq(mi_item.at.offset, 332);
	}
}

TEST(whole_frames)
{
	size_t begin = mi_begin(E, MI_START + 4000);
	const uint8_t *second;

	mi_record(1, MTREOF, 20);
	memset(mi_room(76), 0x5a, 76);
	second = mi_record(1, 1, 24);
	mi_end(begin);
	mi_open(MONREC_SAVED);
	monrec_give_frames(mi_reader, true);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_next(MONREC_RECORD);
	mi_next(MONREC_FRAME);
	ck_assert_uint_eq(mi_item.at.offset, 12);
	ck_assert_uint_eq(mi_item.at.record, 0);
	ck_assert_uint_eq(mi_item.record.address, MI_START + 4000);
	ck_assert_uint_eq(mi_item.record.len, 96);
	ck_assert_mem_eq(mi_item.record.data, mi.data + 12, 96);
	mi_next(MONREC_RECORD);
	mi_next(MONREC_FRAME);
	ck_assert_uint_eq(mi_item.at.offset, 108);
	ck_assert_uint_eq(mi_item.record.address, MI_START + 4096);
	ck_assert_uint_eq(mi_item.record.len, 24);
	ck_assert_mem_eq(mi_item.record.data, second, 24);
	mi_next(MONREC_SET_END);
}

TEST(restart)
{
	sample(MI_START);
	mi_stop(0);
	mi_stop(-EIO);
	sample(MI_START);
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	ck_sample(0);
	mi_next(MONREC_SET_END);
	mi_next(MONREC_ERROR);
	ck_assert_int_eq(mi_item.error, EIO);
	mi_next(MONREC_END);
	monrec_restart(mi_reader);
	mi_next(MONREC_SET);
	ck_assert_uint_eq(mi_item.at.set, 2);
	ck_sample(0);
	mi_next(MONREC_SET_END);
}

/* Places in what is read then are counted from its own begin, whatever the format is. */
TEST(restart_of_a_file)
{
	sample(MI_START);
	mi_stop(-EIO);
	sample(MI_START);
	mi_open(MONREC_SAVED);
	mi_next(MONREC_SET);
	ck_sample(0);
	mi_next(MONREC_SET_LOST);
	mi_next(MONREC_END);
	monrec_restart(mi_reader);
	mi.begin = mi.pos;
	mi_next(MONREC_SET);
	ck_assert_uint_eq(mi_item.at.offset, 0);
	ck_sample(0);
	mi_next(MONREC_SET_END);
	ck_assert_uint_eq(mi_item.at.offset, 332);
	mi_next(MONREC_END);
}

/* Bytes that were read but not yet taken belong to the previous source. */
TEST_LOOP(restart_in_a_set, 0, 5)
{
	sample(MI_START);
	mi_stop(0);
	sample(MI_START);
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	for (int i = 0; i < _i; i++)
		ck_assert_int_ne(monrec_next(mi_reader, &mi_item), MONREC_END);
	monrec_restart(mi_reader);
	mi.pos = mi.stops[0].at;
	mi.next_stop = 1;
	mi_next(MONREC_SET);
	ck_assert_uint_eq(mi_item.at.set, 2);
	ck_sample(0);
	mi_next(MONREC_SET_END);
}

TEST(record_contents)
{
	uint8_t *record;
	size_t begin = mi_begin(S, MI_START + 100);

	record = mi_record(0, 1, 116);
	record[115] = 0x5a;
	mi_record(1, MTREND, 20);
	mi_end(begin);
	mi_open(MONREC_SAVED);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	ck_assert_uint_eq(mi_item.element.domains, 0xc800);
	ck_assert_uint_eq(mi_item.element.start, MI_START + 100);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.record.len, 116);
	ck_assert_uint_eq(mi_item.record.domain, 0);
	ck_assert_uint_eq(mi_item.record.number, 1);
	ck_assert_uint_eq(mi_item.record.tod, UINT64_C(0xd012345678abcdef));
	ck_assert_uint_eq(mi_item.record.address, MI_START + 100);
	ck_assert_mem_eq(mi_item.record.data, record, 116);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.record.address, MI_START + 216);
	mi_next(MONREC_SET_END);
	mi_next(MONREC_END);
	mi_next(MONREC_END);
}

/* Several elements; the second begins within a frame and goes on in the next one. */
TEST(elements_and_frames)
{
	size_t begin = mi_begin(E, MI_START);

	mi_record(4, 1, 96);
	mi_end(begin);
	begin = mi_begin(S, MI_START + 0x1f00);
	mi_record(0, 1, 116);
	mi_record(1, MTREOF, 20);
	memset(mi_room(256 - 136), 0xee, 256 - 136);
	mi_record(0, 2, 108);
	mi_record(1, MTREND, 20);
	mi_end(begin);
	mi_open(MONREC_SAVED);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	ck_assert_uint_eq(mi_item.at.element, 1);
	mi_next(MONREC_RECORD);
	mi_next(MONREC_ELEMENT);
	ck_assert_uint_eq(mi_item.at.element, 2);
	ck_assert_uint_eq(mi_item.at.record, 0);
	mi_next(MONREC_RECORD);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.record.number, MTREOF);
	mi_next(MONREC_RECORD);
	ck_assert_uint_eq(mi_item.record.number, 2);
	ck_assert_uint_eq(mi_item.record.address, MI_START + 0x2000);
	ck_assert_uint_eq(mi_item.at.offset, 12 + 96 + 12 + 256);
	mi_next(MONREC_RECORD);
	mi_next(MONREC_SET_END);
	mi_next(MONREC_END);
}

/* An empty file has no set; nor has a device that CP severs at once. */
TEST(nothing)
{
	mi_open(MONREC_SAVED);
	mi_next(MONREC_END);
	ck_assert_uint_eq(mi_item.at.set, 0);
	monrec_close(mi_reader);
	mi_stop(-EIO);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_ERROR);
	ck_assert_int_eq(mi_item.error, EIO);
	mi_next(MONREC_END);
}

/* EIO instead of the 0 bytes: CP did not take the reply, the set is not valid. */
TEST(lost_at_its_end)
{
	sample(MI_START);
	mi_stop(-EIO);
	sample(MI_START);
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	ck_sample(0);
	mi_next(MONREC_SET_LOST);
	ck_assert_int_eq(mi_item.error, EIO);
	ck_assert_uint_eq(mi_item.at.set, 1);
	mi_next(MONREC_SET);
	ck_assert_uint_eq(mi_item.at.set, 2);
	ck_sample(0);
	mi_next(MONREC_SET_END);
}

/* A set without anything ends all the same, and the next one is read. */
TEST(empty_set)
{
	mi_stop(0);
	sample(MI_START);
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	mi_next(MONREC_VIOLATION);
	ck_assert_uint_eq(mi_item.rule, MONREC_RULE_SET_EMPTY);
	mi_next(MONREC_SET_END);
	ck_assert_uint_eq(mi_item.at.set, 1);
	mi_next(MONREC_SET);
	ck_assert_uint_eq(mi_item.at.set, 2);
	ck_sample(0);
	mi_next(MONREC_SET_END);
}

/* After EFAULT the device stays where it is: what follows belongs to the lost set. */
TEST(lost_in_the_middle)
{
	sample(MI_START);
	mi.len -= 30;
	mi_stop(-EFAULT);
	mi_room(30);
	mi_stop(-EAGAIN);
	mi_stop(0);
	sample(MI_START);
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_next(MONREC_SET_LOST);
	ck_assert_int_eq(mi_item.error, EFAULT);
	/* Where it was lost: 30 bytes before its end. */
	ck_assert_uint_eq(mi_item.at.offset, 302);
	mi_next(MONREC_AGAIN);
	mi_next(MONREC_SET);
	ck_sample(0);
	mi_next(MONREC_SET_END);
}

TEST(lost_for_good)
{
	sample(MI_START);
	mi.len -= 30;
	mi_stop(-EFAULT);
	mi_stop(-ENODEV);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_next(MONREC_SET_LOST);
	mi_next(MONREC_ERROR);
	ck_assert_int_eq(mi_item.error, ENODEV);
	mi_next(MONREC_END);
}

TEST(file_that_cannot_be_read)
{
	sample(MI_START);
	mi.len -= 30;
	mi_stop(-EIO);
	mi_open(MONREC_SAVED);
	mi_next(MONREC_SET);
	mi_next(MONREC_ELEMENT);
	mi_next(MONREC_SET_LOST);
	ck_assert_int_eq(mi_item.error, EIO);
	mi_next(MONREC_END);
}

/* The set before EOVERFLOW is complete, and so is the one behind. */
TEST(overflow)
{
	sample(MI_START);
	mi_stop(0);
	mi_stop(-EOVERFLOW);
	sample(MI_START);
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	mi_next(MONREC_SET);
	ck_sample(0);
	mi_next(MONREC_SET_END);
	mi_next(MONREC_OVERFLOW);
	mi_next(MONREC_SET);
	ck_sample(0);
	mi_next(MONREC_SET_END);
}

/* EAGAIN and EINTR may come at any byte and change nothing. */
TEST(again)
{
	static const uint8_t numbers[] = { 1, 4, MTREND };
	unsigned int records = 0, waits = 0;
	enum monrec_item_kind kind;
	size_t len;

	sample(MI_START);
	len = mi.len;
	for (mi.len = 0; mi.len < len; mi.len += 3)
		mi_stop(mi.len % 2 ? -EAGAIN : -EINTR);
	mi.len = len;
	mi_stop(0);
	mi_open(MONREC_DEVICE);
	while ((kind = monrec_next(mi_reader, &mi_item)) != MONREC_SET_END) {
		waits += kind == MONREC_AGAIN;
		if (kind == MONREC_AGAIN)
			ck_assert_uint_eq(mi_item.at.offset, mi.pos);
		ck_assert(kind != MONREC_VIOLATION && kind != MONREC_SET_LOST);
		if (kind == MONREC_RECORD)
			ck_assert_uint_eq(mi_item.record.number, numbers[records++]);
	}
	ck_assert_uint_eq(records, 3);
	ck_assert_uint_eq(waits, (len + 2) / 3);
}

static void fill_stream(uint64_t seed)
{
	static uint8_t frames[16 * RECORD_FRAME_SIZE];
	struct record_writer w;

	record_writer_init(&w, frames, sizeof(frames), seed);
	for (;;) {
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		/* Numbers above those of any record that is only for events. */
		if (!record_add(&w, (unsigned int)(seed >> 60) % 2, 200,
				20 + (unsigned int)(seed >> 40) % 1000))
			break;
	}
	record_close(&w, MTREND);
	mi_mce(S, w.domains, MI_START, w.pos);
	memcpy(mi_room(w.pos), frames, w.pos);
}

/* However the writer's output is read, it is the same sequence of records. */
TEST_LOOP(writer_and_chunks, 0, 20)
{
	static const size_t chunks[] = { 0, 1, 7, 12, 20, 4095, 4097 };
	uint64_t first = 0;

	fill_stream((uint64_t)_i * 977 + 1);
	for (unsigned int i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		enum monrec_item_kind kind;
		uint64_t sum = 0;

		mi.pos = 0;
		mi.chunk = chunks[i];
		mi_open(MONREC_SAVED);
		while ((kind = monrec_next(mi_reader, &mi_item)) != MONREC_END) {
			ck_assert_msg(kind != MONREC_VIOLATION, "%s", mi_rule());
			if (kind == MONREC_RECORD)
				sum = sum * 31 + mi_item.record.len + mi_item.at.offset +
				      mi_item.at.record;
		}
		ck_assert_uint_gt(sum, 0);
		ck_assert(i == 0 || sum == first);
		first = sum;
		monrec_close(mi_reader);
	}
	mi_reader = NULL;
}

TEST(nothing_to_close)
{
	monrec_close(NULL);
}

TEST(reader_without_storage)
{
	storage_left = 0;
	mi_reader = monrec_open(MONREC_DEVICE, mi_read, &mi);
	storage_left = -1;
	ck_assert_ptr_null(mi_reader);
}
