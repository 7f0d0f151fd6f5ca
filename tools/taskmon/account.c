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

static void go_on_behind(struct account *account, uint32_t number)
{
	account->next = number + 1;
	account->holds = false;
}

/* After what is held comes its successor: there the sequence is.  It may lie behind. */
static void follow_held(struct account *account, uint32_t number)
{
	uint32_t ahead = account->held - account->next;

	if (ahead <= UINT32_MAX / 2)
		account->missing += ahead;
	else
		account->strangers++; /* what had been taken for the sequence */
	go_on_behind(account, number);
}

void account_number(struct account *account, uint32_t number)
{
	uint32_t ahead = number - account->next;

	if (!account->started) {
		account->started = true;
		account->next = number + 1;
	} else if (ahead == 0 || (ahead <= UINT32_MAX / 2 && ahead <= unseen_drops(account))) {
		account_end(account);
		account->missing += ahead;
		go_on_behind(account, number);
	} else if (account->holds && number == account->held + 1) {
		follow_held(account, number);
	} else {
		account_end(account);
		account->holds = true;
		account->held = number;
	}
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
