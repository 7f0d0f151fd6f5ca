/* SPDX-License-Identifier: MIT */
#include "number.h"

#include <assert.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)
#define TIME_MAX ((uint64_t)INT64_MAX)

/* 16 for what is none. */
static unsigned int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	return c >= 'A' && c <= 'F' ? (unsigned int)(c - 'A') + 10 : 16;
}

bool number_take(const char **at, const char *end, unsigned int base, uint64_t most,
		 uint64_t *number)
{
	const char *from = *at;
	uint64_t value = 0;

	assert(base >= 2 && base <= 16);
	for (; from < end && digit_value(*from) < base; from++) {
		unsigned int digit = digit_value(*from);

		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value) || value > most)
			return false;
	}
	if (from == *at)
		return false;
	*at = from;
	*number = value;
	return true;
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'F';
}

bool number_bytes(const char *text, size_t len, uint8_t *bytes)
{
	if (len % 2 != 0)
		return false;
	for (size_t i = 0; i < len; i += 2) {
		const char *at = text + i;
		uint64_t byte;

		if (is_capital(at[0]) || is_capital(at[1]) ||
		    !number_take(&at, text + i + 2, 16, UINT8_MAX, &byte) || at != text + i + 2)
			return false;
		bytes[i / 2] = (uint8_t)byte;
	}
	return true;
}

/* Decimal digits from *@word on; false if there are none or too many. */
static bool take_digits(const char **word, uint64_t *number)
{
	return number_take(word, *word + strlen(*word), 10, UINT64_MAX, number);
}

bool number_parse(const char *word, uint64_t least, uint64_t most, uint64_t *number)
{
	uint64_t value;

	if (!take_digits(&word, &value) || *word || value < least || value > most)
		return false;
	*number = value;
	return true;
}

/* Digits behind a point, in nanoseconds; false if there are none, or less than one is left. */
static bool take_fraction(const char **word, uint64_t unit_ns, uint64_t *ns)
{
	const char *at = *word;

	for (*ns = 0; *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (unit_ns % 10 == 0) {
			unit_ns /= 10;
			*ns += digit * unit_ns;
		} else if (digit) {
			return false;
		}
	}
	if (at == *word)
		return false;
	*word = at;
	return true;
}

bool number_parse_time(const char *word, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "", NS_PER_S }, { "s", NS_PER_S }, { "ms", 1000000 }, { "us", 1000 },
		{ "ns", 1 }, { "m", 60 * NS_PER_S }, { "h", 3600 * NS_PER_S },
	};
	size_t unit_at = strspn(word, "0123456789.");
	uint64_t value, part = 0;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(word + unit_at, units[i].name) != 0)
			continue;
		if (!take_digits(&word, &value))
			return false;
		if (*word == '.' && (word++, !take_fraction(&word, units[i].ns, &part)))
			return false;
		if (strcmp(word, units[i].name) != 0 ||
		    __builtin_mul_overflow(value, units[i].ns, &value) ||
		    __builtin_add_overflow(value, part, &value) || value > TIME_MAX)
			return false;
		*ns = value;
		return true;
	}
	return false;
}

bool number_parse_size(const char *word, uint64_t *bytes)
{
	static const char units[] = "KMG";
	uint64_t value;
	const char *unit;

	if (!take_digits(&word, &value))
		return false;
	if (*word) {
		unit = strchr(units, *word);
		if (!unit || word[1] ||
		    __builtin_mul_overflow(value, UINT64_C(1024) << (10 * (unit - units)), &value))
			return false;
	}
	*bytes = value;
	return true;
}
