// SPDX-License-Identifier: MIT
#include "dms_name.h"

#include <string.h>

#include "number.h"

#define MAJOR_MOST 0xfffu
#define MINOR_MOST 0xfffffu
#define UUID_MOST 128u
#define UUID "uuid:"

bool dms_name_number(const char *word, uint32_t *major, uint32_t *minor)
{
	const char *end = word + strlen(word);
	uint64_t first, second;

	if (!number_take(&word, end, 10, MAJOR_MOST, &first) || *word++ != ':' ||
	    !number_take(&word, end, 10, MINOR_MOST, &second) || word != end)
		return false;
	*major = (uint32_t)first;
	*minor = (uint32_t)second;
	return true;
}

const char *dms_name_uuid(const char *word)
{
	size_t len;

	if (strncmp(word, UUID, strlen(UUID)) != 0)
		return NULL;
	word += strlen(UUID);
	len = strlen(word);
	return len >= 1 && len <= UUID_MOST ? word : NULL;
}
