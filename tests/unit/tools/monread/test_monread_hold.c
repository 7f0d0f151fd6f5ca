/* SPDX-License-Identifier: MIT */
/* monread: items that wait, in their order, with all that they point to. */
#include "unit_test.h"

#include <stdlib.h>
#include <string.h>

#include "hold.h"

static struct hold hold;

static void start(void)
{
	memset(&hold, 0, sizeof(hold));
}

CASE("monread hold", start, NULL);

static struct monrec_item made(enum monrec_item_kind kind, uint64_t set)
{
	return (struct monrec_item){ .kind = kind, .at = { .set = set } };
}

TEST(order)
{
	struct held *held;

	for (unsigned int round = 0; round < 2; round++) {
		ck_assert_ptr_null(hold_take(&hold));
		for (uint64_t set = 1; set <= 5; set++) {
			const struct monrec_item item = made(MONREC_ELEMENT, set);

			ck_assert(hold_add(&hold, &item));
		}
		for (uint64_t set = 1; set <= 5; set++) {
			held = hold_take(&hold);
			ck_assert_ptr_nonnull(held);
			ck_assert_uint_eq(held->item.at.set, set);
			ck_assert_ptr_null(held->item.record.data);
			ck_assert_ptr_null(held->item.interrupt);
			free(held);
		}
	}
}

/* The reader's bytes are valid only until its next call. */
TEST(copies)
{
	uint8_t bytes[24], interrupt[MONREC_INTERRUPT_SIZE];
	struct monrec_item item = made(MONREC_RECORD, 1);
	struct held *held;

	memset(bytes, 1, sizeof(bytes));
	memset(interrupt, 2, sizeof(interrupt));
	item.record.data = bytes;
	item.record.len = sizeof(bytes);
	item.interrupt = interrupt;
	ck_assert(hold_add(&hold, &item));
	memset(bytes, 3, sizeof(bytes));
	memset(interrupt, 4, sizeof(interrupt));
	held = hold_take(&hold);
	ck_assert_ptr_nonnull(held);
	for (unsigned int i = 0; i < sizeof(bytes); i++)
		ck_assert_uint_eq(held->item.record.data[i], 1);
	for (unsigned int i = 0; i < sizeof(interrupt); i++)
		ck_assert_uint_eq(held->item.interrupt[i], 2);
	free(held);
}

TEST(no_more_than_there_is_room_for)
{
	const struct monrec_item item = made(MONREC_ELEMENT, 1);

	hold.size = HOLD_MOST - sizeof(struct held);
	ck_assert(hold_add(&hold, &item));
	ck_assert(!hold_add(&hold, &item));
	free(hold_take(&hold));
	ck_assert_ptr_null(hold_take(&hold));
}
