/* SPDX-License-Identifier: MIT */
#include "threshold.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[THRESHOLDS] = {
#define THRESHOLD(id, name, value, unit, what) name,
#include "quantities.def"
};

const char *const threshold_units[THRESHOLDS] = {
#define THRESHOLD(id, name, value, unit, what) unit,
#include "quantities.def"
}, *const threshold_whats[THRESHOLDS] = {
#define THRESHOLD(id, name, value, unit, what) what,
#include "quantities.def"
};

const struct thresholds thresholds_default = { {
#define THRESHOLD(id, name, value, unit, what) value,
#include "quantities.def"
} };

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
