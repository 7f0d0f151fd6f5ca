/* SPDX-License-Identifier: MIT */
#include "account.h"

#include <assert.h>

/* Numbers that tasks on the move may take away between two messages; more is a stranger. */
#define MOVES_MAX 64u

bool account_is_next(const struct account *account, uint32_t number)
{
	return !account->started || number == account->next;
}

void account_number(struct account *account, uint32_t number)
{
	uint32_t ahead = number - account->next;
	uint64_t explained, moved;

	if (!account->started || ahead == 0) {
		account->started = true;
		account->next = number + 1;
		return;
	}
	/* The counter wraps around; what is behind is half of all numbers away, or more. */
	if (ahead > UINT32_MAX / 2) {
		account->strangers++;
		return;
	}
	explained = account->has_dropped ? account->dropped : UINT64_MAX;
	explained = explained > account->missing ? explained - account->missing : 0;
	moved = explained < ahead ? ahead - explained : 0;
	if (moved > MOVES_MAX) {
		account->strangers++;
		return;
	}
	account->missing += ahead;
	account->next = number + 1;
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
