/* SPDX-License-Identifier: MIT */
/* Lines and messages that commands write; words, options and operands that they read. */
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

bool cpcmd_abbreviates(const char *word, const char *name, unsigned int min)
{
	const size_t len = strlen(word);

	assert(min > 0 && min <= strlen(name));
	return len >= min && len <= strlen(name) && memcmp(word, name, len) == 0;
}

bool cpcmd_is(const char *word, enum cpcmd_keyword keyword)
{
	static const struct {
		const char *name;
		uint8_t min;
	} keywords[KEYWORDS] = {
#define CP_KEYWORD(name, min) [KEYWORD_##name] = { #name, min },
#include "words.def"
	};

	assert(keyword < KEYWORDS);
	return cpcmd_abbreviates(word, keywords[keyword].name, keywords[keyword].min);
}

const struct cpcmd_word *cpcmd_find(const struct cpcmd_args *args, const struct cpcmd_word *table,
				    const char *word)
{
	assert(word[0] != '\0' && args->classes);
	for (; table->name; table++) {
		if (!cpcmd_abbreviates(word, table->name, table->min))
			continue;
		if (!table->classes)
			return table;
		if (args->issuer == CPCMD_PEER && strchr(table->classes, CPCMD_MACHINE[0]))
			continue;
		if (strpbrk(args->classes, table->classes))
			return table;
	}
	return NULL;
}

int cpcmd_option(struct cpcmd_args *args, const struct cpcmd_word *table, const char *module)
{
	const struct cpcmd_word *option;

	assert(table[0].name && module[0] != '\0');
	if (!cpcmd_next(args))
		return cpcmd_missing(args, module);
	option = cpcmd_find(args, table, args->word);
	if (option)
		return option->run(args);
	return cpcmd_invalid(args, module);
}

int cpcmd_run_line(const struct cpcmd_args *issuer, const char *line)
{
	struct cpcmd_args args = *issuer;
	const struct cpcmd_word *command;

	args.next = line;
	if (!cpcmd_next(&args))
		return 0;
	command = cpcmd_find(&args, args.commands, args.word);
	if (!command)
		return cpcmd_message(args.cp, "CMD", CPCMD_UNKNOWN, 'E', "Unknown CP command: %s",
				     args.word);
	return command->run(&args);
}
