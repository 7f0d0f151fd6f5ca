/* SPDX-License-Identifier: MIT */
#include "message_count.h"

#include <assert.h>

bool message_count_is_next(const struct message_count *account, uint32_t number)
{
	return !account->started || number == account->next;
}

/* By how much @a is above @b. */
static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Numbers that the kernel is known to have dropped and that are not yet seen to be missing. */
static uint64_t unseen_drops(const struct message_count *account)
{
	if (!account->has_dropped)
		return UINT32_MAX / 2;
	return above(account->dropped, account->missing);
}

/* The missing messages follow from the other counters; a negative result means strangers. */
static void settle(struct message_count *account)
{
	uint64_t numbers = account->span + account->strangers + account->holds;

	account->missing = above(numbers, account->seen);
	account->strangers += above(account->seen, numbers);
}

/* The sequence ends with @number now, @ahead of the one that was to come. */
static void go_on_behind(struct message_count *account, uint32_t number, uint32_t ahead)
{
	account->span += (uint64_t)ahead + 1;
	account->next = number + 1;
}

/* After what is held comes its successor: there the sequence is.  It may lie behind. */
static void follow_held(struct message_count *account, uint32_t number)
{
	uint32_t ahead = account->held - account->next;
	uint32_t behind = account->next - account->held;

	account->holds = false;
	if (ahead <= UINT32_MAX / 2)
		account->span += (uint64_t)ahead + 2;
	else /* it may be that nothing that came before was of it */
		account->span = above(account->span, behind) + 2;
	account->next = number + 1;
}

void message_count_number(struct message_count *account, uint32_t number)
{
	uint32_t ahead = number - account->next;

	account->seen++;
	if (!account->started) {
		account->started = true;
		go_on_behind(account, number, 0);
	} else if (ahead == 0 || (ahead <= UINT32_MAX / 2 && ahead <= unseen_drops(account))) {
		message_count_end(account);
		go_on_behind(account, number, ahead);
	} else if (account->holds && number == account->held + 1) {
		follow_held(account, number);
	} else {
		message_count_end(account);
		account->holds = true;
		account->held = number;
	}
	settle(account);
}

void message_count_end(struct message_count *account)
{
	account->strangers += account->holds;
	account->holds = false;
}

uint64_t message_count_lost(const struct message_count *account)
{
	return account->has_dropped ? account->dropped : above(account->missing, account->strangers);
}

void message_count_add(struct message_count *sum, const struct message_count *account)
{
	assert(sum != account);
	sum->received += account->received;
	sum->own += account->own;
	sum->dropped += account->dropped;
	sum->has_dropped = sum->has_dropped && account->has_dropped;
	sum->missing += account->missing;
	sum->strangers += account->strangers;
	sum->overflows += account->overflows;
}
