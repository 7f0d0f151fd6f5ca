/* SPDX-License-Identifier: MIT */
#include "account.h"

#include <assert.h>

bool account_is_next(const struct account *account, uint32_t number)
{
	return !account->started || number == account->next;
}

/* Numbers that the kernel is known to have dropped and that are not yet seen to be missing. */
static uint64_t unseen_drops(const struct account *account)
{
	if (!account->has_dropped)
		return UINT32_MAX / 2;
	return account->dropped > account->missing ? account->dropped - account->missing : 0;
}

/* What is missing follows from the other counters; if it would be negative, more are strangers. */
static void settle(struct account *account)
{
	uint64_t numbers = account->span + account->strangers + account->holds;

	account->missing = numbers > account->seen ? numbers - account->seen : 0;
	if (numbers < account->seen)
		account->strangers += account->seen - numbers;
}

/* The sequence ends with @number now, @ahead of the one that was to come. */
static void go_on_behind(struct account *account, uint32_t number, uint32_t ahead)
{
	account->span += (uint64_t)ahead + 1;
	account->next = number + 1;
}

/* After what is held comes its successor: there the sequence is.  It may lie behind. */
static void follow_held(struct account *account, uint32_t number)
{
	uint32_t ahead = account->held - account->next;
	uint32_t behind = account->next - account->held;

	account->holds = false;
	if (ahead <= UINT32_MAX / 2)
		account->span += (uint64_t)ahead + 2;
	else if (behind <= account->span)
		account->span = account->span - behind + 2;
	else
		account->span = 2; /* all that came before was not of it */
	account->next = number + 1;
}

void account_number(struct account *account, uint32_t number)
{
	uint32_t ahead = number - account->next;

	account->seen++;
	if (ahead == 0 && account->started && !account->holds) {
		/* Nearly always: what is missing stays as it is. */
		go_on_behind(account, number, 0);
		return;
	}
	if (!account->started) {
		account->started = true;
		go_on_behind(account, number, 0);
	} else if (ahead == 0 || (ahead <= UINT32_MAX / 2 && ahead <= unseen_drops(account))) {
		account_end(account);
		go_on_behind(account, number, ahead);
	} else if (account->holds && number == account->held + 1) {
		follow_held(account, number);
	} else {
		account_end(account);
		account->holds = true;
		account->held = number;
	}
	settle(account);
}

void account_end(struct account *account)
{
	account->strangers += account->holds;
	account->holds = false;
}

uint64_t account_lost(const struct account *account)
{
	uint64_t all = account->missing > account->strangers ?
		       account->missing - account->strangers : 0;

	return account->has_dropped ? account->dropped : all;
}

void account_add(struct account *sum, const struct account *account)
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
