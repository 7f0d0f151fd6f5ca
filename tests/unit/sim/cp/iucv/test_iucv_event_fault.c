/* SPDX-License-Identifier: MIT */
/* IUCV: interruptions lost, late, doubled, out of order and damaged on purpose. */
#include "iucv_check.h"

#define CLASS 0x44444444u

static struct note a;
static uint16_t path;

static void setup(void)
{
	path = path_to_alpha(&a, "3", 100);
}

FX_REPLAY_TRACES;

CASE("fault", setup, fx_teardown);

TEST(fault_drop)
{
	uint32_t id;

	arm(FAULT_INTERRUPT, FAULT_DROP, 0, 0);
	id = peer_send(&a, 0, 0, "a", 1, NULL, 0);
	ck_assert_ptr_null(fx_take(0));
	/* Only the interruption is lost. */
	ck_cc(message(IUCV_RECEIVE, path, IPFGMID, id, 0, DATA, 1), 0);
}

TEST(fault_delay)
{
	uint32_t id[4];

	arm(FAULT_INTERRUPT, FAULT_DELAY, 2, 0);
	for (int i = 0; i < 4; i++) {
		id[i] = peer_send(&a, 0, 0, "a", 1, NULL, 0);
		if (i == 0) {
			ck_assert(!cp_interrupt_pending(fx.cp, 0));
			ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 1);
		}
	}
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path) + 4), id[1]);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path) + 4), id[2]);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path) + 4), id[0]);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path) + 4), id[3]);
}

TEST(fault_delay_and_sever)
{
	arm(FAULT_INTERRUPT, FAULT_DELAY, 100, 0);
	peer_send(&a, 0, 0, "a", 1, NULL, 0);
	ck_call(peer_path(&a, IUCV_SEVER, 0, 0), 0, 0);
	take(IUCV_SEVERED, path);
	ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 0);
}

TEST(fault_reorder)
{
	uint32_t first, second;

	arm(FAULT_INTERRUPT, FAULT_REORDER, 0, 0);
	first = peer_send(&a, 0, 0, "a", 1, NULL, 0);
	second = peer_send(&a, 0, 0, "a", 1, NULL, 0);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path) + 4), second);
	ck_assert_uint_eq(get_be32(take(IUCV_MSG_PENDING, path) + 4), first);
}

TEST(fault_duplicate)
{
	uint8_t first[IUCV_EVENT_SIZE];

	arm(FAULT_INTERRUPT, FAULT_DUPLICATE, 0, 0);
	peer_send(&a, 0, IPRMDATA | IPNORPY, "12345678", 8, NULL, 0);
	ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 2);
	memcpy(first, take(IUCV_MSG_PENDING, path), sizeof(first));
	ck_assert_mem_eq(take(IUCV_MSG_PENDING, path), first, sizeof(first));
	ck_assert_ptr_null(fx_take(0));
}

/* Duplicates that nobody takes are bounded; DESCRIBE does not take them for messages. */
TEST(fault_duplicates_run_out)
{
	uint32_t id = 0;

	ck_arm(FAULT_INTERRUPT, FAULT_DUPLICATE);
	for (int i = 0; i < 70; i++) {
		id = peer_send(&a, 0, IPRMDATA | IPNORPY, "12345678", 8, NULL, 0);
		ck_cc(message(IUCV_RECEIVE, path, IPFGMID, id, 0, DATA, 8), 0);
	}
	ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 64);
	id = peer_send(&a, 0, 0, "a", 1, NULL, 0);
	ck_assert_uint_eq(iucv_events_waiting(iucv_user_guest(fx.cp)), 65);
	parm_zero();
	ck_cc(guest(IUCV_DESCRIBE), 0);
	ck_assert_uint_eq(get_be32(parm() + IPMSGID), id);
	ck_cc(guest(IUCV_DESCRIBE), 2);
	for (int i = 0; i < 64; i++)
		take(IUCV_MSG_PENDING, path);
	ck_assert_ptr_null(fx_take(0));
}

TEST(fault_corrupt)
{
	arm(FAULT_INTERRUPT, FAULT_CORRUPT, 0x81, 12);
	peer_send(&a, 0, IPRMDATA, "12345678", 8, NULL, 0);
	ck_assert_mem_eq(take(IUCV_MSG_PENDING, path) + 12, "\xb0" "2345678", 8);
	peer_send(&a, 0, IPRMDATA, "12345678", 8, NULL, 0);
	ck_assert_mem_eq(take(IUCV_MSG_PENDING, path) + 12, "12345678", 8);
}
