/* SPDX-License-Identifier: MIT */
/* Words, lists, numbers and names of the configuration's texts. */
#include "config_parse.h"
#include "number.h"

#include <assert.h>
#include <string.h>

static char upper(char c)
{
	/* Not toupper(): the result must not depend on a locale. */
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static void skip_blanks(struct config_span *span)
{
	while (span->at < span->end && blank(*span->at))
		span->at++;
}

bool config_wrong(struct config_problem *problem, struct config_span at, const char *expected)
{
	problem->value = at;
	problem->expected = expected;
	return false;
}

bool config_word(struct config_span *rest, struct config_span *word)
{
	assert(rest->at <= rest->end);
	skip_blanks(rest);
	if (rest->at == rest->end)
		return false;
	word->at = rest->at;
	while (rest->at < rest->end && !blank(*rest->at))
		rest->at++;
	word->end = rest->at;
	return true;
}

bool config_item(struct config_span *rest, struct config_span *item)
{
	if (rest->at > rest->end)
		return false;
	*item = *rest;
	while (rest->at < rest->end && *rest->at != ';')
		rest->at++;
	item->end = rest->at++;
	skip_blanks(item);
	while (item->end > item->at && blank(item->end[-1]))
		item->end--;
	return true;
}

bool config_empty(struct config_span span)
{
	skip_blanks(&span);
	return span.at == span.end;
}

bool config_is(struct config_span span, const char *text)
{
	size_t len = (size_t)(span.end - span.at);

	assert(span.at <= span.end);
	if (len != strlen(text))
		return false;
	for (size_t i = 0; i < len; i++)
		if (upper(span.at[i]) != text[i])
			return false;
	return true;
}

bool config_number(struct config_span span, unsigned int base, uint64_t max, uint64_t *out)
{
	uint64_t n;

	assert(span.at <= span.end && (base == 10 || base == 16));
	if (!number_take(&span.at, span.end, base, max, &n) || span.at != span.end)
		return false;
	*out = n;
	return true;
}

bool config_name(struct config_span span, bool service, char out[CP_NAME_LEN + 1])
{
	size_t len = (size_t)(span.end - span.at);

	assert(span.at <= span.end);
	if (len == 0 || len > CP_NAME_LEN)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = upper(span.at[i]);
		bool letter = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!letter && (c == '\0' || !strchr("@#$_-+:", c)) && !(service && i == 0 && c == '*'))
			return false;
		out[i] = c;
	}
	out[len] = '\0';
	return true;
}
