/* SPDX-License-Identifier: MIT */
#include "threshold.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[THRESHOLDS] = {
	[THRESHOLD_BUSY] = "busy", [THRESHOLD_CPU_WAIT] = "cpu-wait", [THRESHOLD_IO_WAIT] = "io-wait",
	[THRESHOLD_PAGE_WAIT] = "page-wait", [THRESHOLD_RESPONSE] = "response", [THRESHOLD_SLOTS] = "slots",
	[THRESHOLD_PAGING] = "paging",
};

const char *const threshold_units[THRESHOLDS] = { "%", "%", "%", "%", "ms", "%", "pages/s" };

const struct thresholds thresholds_default = { { 90, 25, 25, 10, 20, 70, 1000 } };

/* Digits, and a fraction if there is one: what strtod() takes beside that is none. */
static bool parse(const char *word, double *value)
{
	static const char digits[] = "0123456789";
	size_t len = strspn(word, digits);

	if (len == 0 || len > 9)
		return false;
	if (word[len] == '.') {
		const size_t more = strspn(word + len + 1, digits);

		if (more == 0 || more > 9)
			return false;
		len += 1 + more;
	}
	*value = strtod(word, NULL);
	return word[len] == '\0';
}

bool thresholds_set(struct thresholds *thresholds, const char *word)
{
	const char *equals = strchr(word, '=');
	const size_t len = equals ? (size_t)(equals - word) : 0;
	double value = -1;

	if (!equals || (strcmp(equals + 1, "off") != 0 && !parse(equals + 1, &value)))
		return false;
	for (unsigned int i = 0; i < THRESHOLDS; i++) {
		if (strlen(names[i]) != len || memcmp(names[i], word, len) != 0)
			continue;
		thresholds->of[i] = value;
		return true;
	}
	return false;
}

bool threshold_above(const struct thresholds *thresholds, enum threshold threshold, double value)
{
	return thresholds->of[threshold] >= 0 && value > thresholds->of[threshold];
}
