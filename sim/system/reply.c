/* SPDX-License-Identifier: MIT */
/* The answer to a machine's call, at once or when it has its turn. */
#include "system_private.h"

#include <unistd.h>

void member_reply(struct member *member, const struct member_reply *reply)
{
	struct member_sides *sides = &member->page->sides;
	const uint64_t one = 1;

	member->calling = false;
	member->page->reply = *reply;
	/* It looks for notices when it has the reply. */
	member->noticed = false;
	__atomic_store_n(&sides->replied, member->served, __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&sides->machine_waits, __ATOMIC_RELAXED) &&
	    write(member->fd[MEMBER_REPLY], &one, sizeof(one)) != sizeof(one))
		member_break(member);
}
