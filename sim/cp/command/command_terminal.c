/* SPDX-License-Identifier: MIT */
/* TERMINAL and QUERY TERMINAL. */
#include <stdio.h>
#include <string.h>

#include "command_private.h"

#define MAX_CHOICES 5u

enum kind { CHARACTER, NUMBER, CHOICE };

/*
 * Values: a character, or 0 for OFF; a number, or 0 for OFF; the index of a choice.
 * CONMODE is checked and not remembered.  QUERY TERMINAL has it if CP has the console, for that
 * word makes Linux use the 3215.
 */
static const struct setting {
	const char *name;
	uint8_t min;
	enum kind kind;
	uint16_t initial, low, high;	/* NUMBER: range */
	const char *choice[MAX_CHOICES];		/* CHOICE */
} settings[TERM_SETTINGS] = {
	[TERM_LINEND] = { "LINEND", 5, CHARACTER, .initial = '#' },
	[TERM_LINEDEL] = { "LINEDEL", 5, CHARACTER, .initial = '[' },
	[TERM_CHARDEL] = { "CHARDEL", 5, CHARACTER, .initial = '@' },
	[TERM_ESCAPE] = { "ESCAPE", 3, CHARACTER, .initial = '"' },
	[TERM_TABCHAR] = { "TABCHAR", 4, CHARACTER },
	[TERM_LINESIZE] = { "LINESIZE", 5, NUMBER, .initial = 80, .low = 1, .high = 255 },
	[TERM_ATTN] = { "ATTN", 4, CHOICE, .choice = { "OFF", "ON" } },
	[TERM_APL] = { "APL", 3, CHOICE, .choice = { "OFF", "ON" } },
	[TERM_TEXT] = { "TEXT", 4, CHOICE, .choice = { "OFF", "ON" } },
	[TERM_MODE] = { "MODE", 4, CHOICE, .choice = { "CP", "VM" } },
	[TERM_HILIGHT] = { "HILIGHT", 4, CHOICE, .choice = { "OFF", "ON" } },
	[TERM_CONMODE] = { "CONMODE", 4, CHOICE, .choice = { "3215", "3270" } },
	[TERM_BREAKIN] = { "BREAKIN", 5, CHOICE, .choice = { "IMMED", "GUESTCTL" } },
	[TERM_BRKKEY] = { "BRKKEY", 4, CHOICE, .choice = { "PA1", "PA2", "PA3", "NONE" } },
	[TERM_SCRNSAVE] = { "SCRNSAVE", 5, CHOICE, .choice = { "OFF", "ON" } },
	[TERM_AUTOCR] = { "AUTOCR", 6, CHOICE, .initial = 1, .choice = { "OFF", "ON" } },
	[TERM_MORE] = { "MORE", 4, NUMBER, .initial = 50, .low = 0, .high = 255 },
	[TERM_MORE_CLEAR] = { .kind = NUMBER, .initial = 10, .low = 0, .high = 255 },
	[TERM_HOLD] = { "HOLD", 4, CHOICE, .initial = 1, .choice = { "OFF", "ON" } },
	[TERM_TIMESTAMP] = { "TIMESTAMP", 5, CHOICE, .choice = { "OFF", "ON" } },
	[TERM_SYS3270] = { "SYS3270", 7, CHOICE, .choice = { "OFF", "ON" } },
	[TERM_PROMPT] = { "PROMPT", 6, CHOICE, .choice = { "VM", "TSO" } },
};

void cpcmd_terminal_init(const struct cp *cp, struct cpcmd *command)
{
	for (unsigned int i = 0; i < TERM_SETTINGS; i++)
		command->term[i] = settings[i].initial;
	/* A file or a window has no margin: lines are whole unless the user wants them shorter. */
	if (cp->config.conmode_3215)
		command->term[TERM_LINESIZE] = 0;
	assert(cpcmd_terminal_valid(command));
}

static const struct setting *find_setting(const char *word)
{
	for (unsigned int i = 0; i < TERM_SETTINGS; i++) {
		if (i != TERM_MORE_CLEAR &&
		    cpcmd_abbreviates(word, settings[i].name, settings[i].min))
			return &settings[i];
	}
	return NULL;
}

static bool parse_choice(const struct setting *setting, const char *word, uint16_t *value)
{
	assert(setting->kind == CHOICE && setting->choice[0]);
	for (uint16_t i = 0; i < MAX_CHOICES && setting->choice[i]; i++) {
		if (strcmp(word, setting->choice[i]) == 0) {
			*value = i;
			return true;
		}
	}
	return false;
}

static bool parse_value(const struct setting *setting, const char *word, uint16_t *value)
{
	uint64_t number;

	if (setting->kind == CHOICE)
		return parse_choice(setting, word, value);
	/* MORE 0 0 is a delay of nothing; only LINESIZE knows OFF. */
	if (strcmp(word, "OFF") == 0 && (setting->kind == CHARACTER || setting->low > 0)) {
		*value = 0;
		return true;
	}
	if (setting->kind == CHARACTER) {
		if (strcmp(word, "ON") == 0) {
			*value = setting->initial;
			return true;
		}
		*value = (uint8_t)word[0];
		return strlen(word) == 1 && word[0] > ' ' && word[0] < 0x7f;
	}
	assert(setting->kind == NUMBER && setting->low < setting->high);
	if (!cpcmd_number(word, 10, setting->low, setting->high, &number))
		return false;
	*value = (uint16_t)number;
	return true;
}

int cpcmd_terminal(struct cpcmd_args *args)
{
	struct cpcmd *command = args->cp->command;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, "TRM");
	do {
		const struct setting *setting = find_setting(args->word);
		uint16_t value;
		unsigned int i;

		if (!setting)
			return cpcmd_invalid(args, "TRM");
		i = (unsigned int)(setting - settings);
		assert(i < TERM_SETTINGS && i != TERM_MORE_CLEAR);
		if (!cpcmd_next(args))
			return cpcmd_missing(args, "TRM");
		if (!parse_value(setting, args->word, &value))
			return cpcmd_invalid(args, "TRM");
		if (i != TERM_CONMODE)
			command->term[i] = value;
		if (i != TERM_MORE)
			continue;
		if (!cpcmd_next(args))
			return cpcmd_missing(args, "TRM");
		if (!parse_value(&settings[TERM_MORE_CLEAR], args->word, &value))
			return cpcmd_invalid(args, "TRM");
		command->term[TERM_MORE_CLEAR] = value;
	} while (cpcmd_next(args));
	assert(cpcmd_terminal_valid(command));
	return 0;
}

#define VALUE_LEN 12

/* A setting's value padded as QUERY TERMINAL shows it. */
static const char *show(const struct cpcmd *command, enum cpcmd_term i, char out[VALUE_LEN])
{
	const uint16_t value = command->term[i];

	if (settings[i].kind == CHOICE)
		snprintf(out, VALUE_LEN, "%-3s", settings[i].choice[value]);
	else if (value == 0 && (settings[i].kind == CHARACTER || settings[i].low > 0))
		snprintf(out, VALUE_LEN, "OFF");
	else if (settings[i].kind == CHARACTER)
		snprintf(out, VALUE_LEN, "%c ", value);
	else
		snprintf(out, VALUE_LEN, "%03u", value);
	return out;
}

int cpcmd_query_terminal(struct cpcmd_args *args)
{
	const struct cpcmd *command = args->cp->command;
	char v[TERM_SETTINGS][VALUE_LEN];
	const int rc = cpcmd_end(args, "CQT");

	if (rc != 0)
		return rc;
	assert(cpcmd_terminal_valid(command));
	for (unsigned int i = 0; i < TERM_SETTINGS; i++)
		show(command, i, v[i]);
	cpcmd_line(args->cp, "LINEND %s, LINEDEL %s, CHARDEL %s, ESCAPE %s, TABCHAR %s",
		   v[TERM_LINEND], v[TERM_LINEDEL], v[TERM_CHARDEL], v[TERM_ESCAPE],
		   v[TERM_TABCHAR]);
	cpcmd_line(args->cp, "LINESIZE %s, ATTN %s, APL %s, TEXT %s, MODE %s, HILIGHT %s",
		   v[TERM_LINESIZE], v[TERM_ATTN], v[TERM_APL], v[TERM_TEXT], v[TERM_MODE],
		   v[TERM_HILIGHT]);
	cpcmd_line(args->cp, "%sBREAKIN %s, BRKKEY %s, SCRNSAVE %s",
		   args->cp->config.conmode_3215 ? "CONMODE 3215, " : "", v[TERM_BREAKIN],
		   v[TERM_BRKKEY], v[TERM_SCRNSAVE]);
	cpcmd_line(args->cp, "AUTOCR %s, MORE %s %s, HOLD %s, TIMESTAMP %s, SYS3270 %s, PROMPT %s",
		   v[TERM_AUTOCR], v[TERM_MORE], v[TERM_MORE_CLEAR], v[TERM_HOLD],
		   v[TERM_TIMESTAMP], v[TERM_SYS3270], v[TERM_PROMPT]);
	return 0;
}

uint16_t cpcmd_terminal_value(const struct cp *cp, enum cpcmd_term setting)
{
	assert(setting < TERM_SETTINGS);
	return cp->command->term[setting];
}

bool cpcmd_terminal_valid(const struct cpcmd *command)
{
	for (unsigned int i = 0; i < TERM_SETTINGS; i++) {
		const uint16_t value = command->term[i];

		switch (settings[i].kind) {
		case CHOICE:
			if (value >= MAX_CHOICES || !settings[i].choice[value])
				return false;
			break;
		case CHARACTER:
			if (value != 0 && (value <= ' ' || value >= 0x7f))
				return false;
			break;
		case NUMBER:
			if (value > settings[i].high)
				return false;
			break;
		}
	}
	return true;
}
