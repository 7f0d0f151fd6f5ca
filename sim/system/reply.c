/* SPDX-License-Identifier: MIT */
/* The answer to a machine's call, at once or when it has its turn. */
#include "system_private.h"

#include <unistd.h>

void member_reply(struct member *member, const struct member_reply *reply)
{
	const uint64_t one = 1;

	member->calling = false;
	member->page->reply = *reply;
	/* It looks for notices when it has the reply. */
	member->noticed = false;
	if (write(member->fd[MEMBER_REPLY], &one, sizeof(one)) != sizeof(one))
		member_break(member);
}
