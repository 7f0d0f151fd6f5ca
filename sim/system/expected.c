/* SPDX-License-Identifier: MIT */
/*
 * The order in which machines log on whose emulators are started side by side: whoever is expected
 * waits for those before it.  A machine that nobody expects logs on at once.
 */
#include "system_private.h"

#include <string.h>

void sys_expect(struct sys *sys, const char *users)
{
	sys->expected = 0;
	while (*users && sys->expected < CP_MAX_MACHINES) {
		const size_t len = strcspn(users, " ");

		if (len > 0 && len <= CP_NAME_LEN) {
			memcpy(sys->expects[sys->expected], users, len);
			sys->expects[sys->expected++][len] = '\0';
		}
		users += len;
		users += strspn(users, " ");
	}
}

static bool is_expected(const struct sys *sys, const char *userid)
{
	for (unsigned int i = 0; i < sys->expected; i++)
		if (strcmp(sys->expects[i], userid) == 0)
			return true;
	return false;
}

bool sys_must_wait(const struct sys *sys, const char *userid)
{
	return is_expected(sys, userid) && strcmp(sys->expects[0], userid) != 0;
}

struct member *sys_next(struct sys *sys)
{
	for (unsigned int i = 0; i < SYS_CONNECTIONS; i++)
		if (sys->member[i].waits && !sys_must_wait(sys, sys->member[i].port.config.userid))
			return &sys->member[i];
	return NULL;
}

void sys_has_come(struct sys *sys, const char *userid)
{
	if (sys->expected > 0 && strcmp(sys->expects[0], userid) == 0)
		memmove(sys->expects[0], sys->expects[1],
			--sys->expected * sizeof(sys->expects[0]));
}
