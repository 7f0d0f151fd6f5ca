/* SPDX-License-Identifier: MIT */
/* Lines and messages that commands write, operands that they read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command_private.h"
#include "number.h"
#include "text.h"
#include "zvmlab/event.h"

/* A line on the user's console; longer ones are cut in pieces. */
#define CONSOLE_LINE 240u

static void put_line(struct cp *cp, const char *text, size_t len)
{
	struct cpcmd *command = cp->command;
	struct cpcmd_response *response = &command->response;

	assert(response->len <= response->capacity);
	if (command->truncated || len + 1 > response->capacity - response->len) {
		command->truncated = true;
		return;
	}
	memcpy(response->text + response->len, text, len);
	text_printable(response->text + response->len, len);
	response->len += len;
	response->text[response->len++] = '\n';
}

void cpcmd_to_console(struct cp *cp, const struct cpcmd_response *response)
{
	char line[CONSOLE_LINE + 1];
	size_t len = 0;

	for (size_t i = 0; i < response->len; i++) {
		bool end = response->text[i] == '\n';

		assert(len < CONSOLE_LINE);
		if (!end)
			line[len++] = response->text[i];
		if (!end && len < CONSOLE_LINE)
			continue;
		line[len] = '\0';
		cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_CONSOLE,
						  .name = cp->config.userid, .text = line });
		len = 0;
	}
}

/* Format behind the first @at characters; return: length of the line. */
static __attribute__((format(printf, 3, 0))) size_t
format_line(char line[CPCMD_MAX_LINE], size_t at, const char *format, va_list list)
{
	const int len = vsnprintf(line + at, CPCMD_MAX_LINE - at, format, list);

	assert(len >= 0 && (size_t)len < CPCMD_MAX_LINE - at);
	return at + (size_t)len;
}

void cpcmd_line(struct cp *cp, const char *format, ...)
{
	char line[CPCMD_MAX_LINE];
	va_list list;
	size_t len;

	va_start(list, format);
	len = format_line(line, 0, format, list);
	va_end(list);
	put_line(cp, line, len);
}

int cpcmd_message(struct cp *cp, const char *module, unsigned int number, char severity,
		  const char *format, ...)
{
	char line[CPCMD_MAX_LINE];
	va_list list;
	size_t len;

	assert(strlen(module) == 3 && number > 0);
	len = (size_t)snprintf(line, sizeof(line), "HCP%s%03u%c ", module, number, severity);
	va_start(list, format);
	len = format_line(line, len, format, list);
	va_end(list);
	put_line(cp, line, len);
	return (int)number;
}

int cpcmd_missing(struct cpcmd_args *args, const char *module)
{
	return cpcmd_message(args->cp, module, CPCMD_BAD_OPERAND, 'E',
			     "Operand missing or invalid");
}

int cpcmd_invalid(struct cpcmd_args *args, const char *module)
{
	assert(args->word[0] != '\0');
	return cpcmd_message(args->cp, module, CPCMD_INVALID_OPTION, 'E', "Invalid option - %s",
			     args->word);
}

const char *cpcmd_rest(struct cpcmd_args *args)
{
	while (*args->next == ' ')
		args->next++;
	return args->next;
}

/* Not toupper(): the emulator's locale must make no difference. */
static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

bool cpcmd_next(struct cpcmd_args *args)
{
	const char *from = cpcmd_rest(args);
	const size_t len = strcspn(from, " ");

	assert(len < sizeof(args->word));
	for (size_t i = 0; i < len; i++)
		args->word[i] = upper(from[i]);
	args->word[len] = '\0';
	args->next = from + len;
	return len > 0;
}

int cpcmd_end(struct cpcmd_args *args, const char *module)
{
	if (!cpcmd_next(args))
		return 0;
	return cpcmd_message(args->cp, module, CPCMD_INVALID_OPTION, 'E',
			     "Invalid option - command contains extra option(s) starting with %s",
			     args->word);
}

bool cpcmd_number(const char *text, unsigned int base, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t value;

	assert(min <= max);
	if (!number_take(&text, text + strlen(text), base, max, &value) || *text || value < min)
		return false;
	*out = value;
	return true;
}

const char *cpcmd_size(uint64_t bytes, char out[CPCMD_SIZE_LEN])
{
	static const char unit[] = "KMGTPE";
	unsigned int i = 0;

	if (bytes == 0 || bytes % 1024 != 0) {
		snprintf(out, CPCMD_SIZE_LEN, "%" PRIu64, bytes);
		return out;
	}
	bytes /= 1024;
	while (bytes % 1024 == 0) {
		bytes /= 1024;
		i++;
	}
	assert(i + 1 < sizeof(unit));
	snprintf(out, CPCMD_SIZE_LEN, "%" PRIu64 "%c", bytes, unit[i]);
	return out;
}
