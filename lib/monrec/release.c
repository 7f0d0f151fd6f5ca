/* SPDX-License-Identifier: MIT */
/* libmonrec: the releases of z/VM, as numbers, as bits and as text. */
#include "monrec_private.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const uint16_t known[] = {
	410, 420, 430, 440, 510, 520, 530, 540, 610, 620, 630, 640, 710, 720, 730, 740, 750,
};
static_assert(COUNT(known) == MONREC_RELEASES, "a bit for every release");

unsigned int monrec_release(unsigned int index)
{
	return index < COUNT(known) ? known[index] : 0;
}

bool monrec_release_known(unsigned int release)
{
	return monrec_release_bit(release) != 0;
}

uint32_t monrec_release_bit(unsigned int release)
{
	for (unsigned int i = 0; i < COUNT(known); i++)
		if (known[i] == release)
			return UINT32_C(1) << i;
	return 0;
}

/* The end of a run of three or more releases; else @first. */
static unsigned int run_end(uint32_t releases, unsigned int first)
{
	unsigned int last = first;

	while (last + 1 < COUNT(known) && releases >> (last + 1) & 1)
		last++;
	return last > first + 1 ? last : first;
}

char *monrec_releases_text(uint32_t releases, char text[MONREC_RELEASES_TEXT])
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < COUNT(known); i++) {
		const unsigned int end = run_end(releases, i);

		if (!(releases >> i & 1))
			continue;
		at += (size_t)snprintf(text + at, MONREC_RELEASES_TEXT - at, "%s%u.%u", at ? ", " : "",
				       known[i] / 100u, known[i] / 10u % 10);
		if (end > i)
			at += (size_t)snprintf(text + at, MONREC_RELEASES_TEXT - at, " to %u.%u",
					       known[end] / 100u, known[end] / 10u % 10);
		assert(at < MONREC_RELEASES_TEXT);
		i = end;
	}
	return text;
}
