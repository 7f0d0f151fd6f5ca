/* SPDX-License-Identifier: MIT */
#include "delayacct.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SETTING "/proc/sys/kernel/task_delayacct"

/* Whether one of the blank-separated words is this one. */
static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	while (*text) {
		size_t next = strcspn(text, " \t\n");

		if (next == len && memcmp(text, word, len) == 0)
			return true;
		text += next;
		text += strspn(text, " \t\n");
	}
	return false;
}

enum delayacct_state delayacct_of(const char *setting, const char *command_line)
{
	/* Before Linux 5.14 there was no setting: it was on, unless the boot parameter said no. */
	if (!setting)
		return DELAYACCT_UNKNOWN;
	if (setting[0] != '1')
		return DELAYACCT_OFF;
	return has_word(command_line, "delayacct") ? DELAYACCT_SINCE_BOOT : DELAYACCT_SWITCHED;
}

static bool read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t len;

	if (!file)
		return false;
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return true;
}

enum delayacct_state delayacct_read_from(const char *setting, const char *command_line)
{
	char value[16], words[8192] = "";

	if (!read_text(setting, value, sizeof(value)))
		return DELAYACCT_UNKNOWN;
	read_text(command_line, words, sizeof(words));
	return delayacct_of(value, words);
}

enum delayacct_state delayacct_read(void)
{
	return delayacct_read_from(SETTING, "/proc/cmdline");
}

const char *delayacct_sentence(enum delayacct_state state)
{
	static const char *const sentences[] = {
		[DELAYACCT_UNKNOWN] = "it is unknown whether delays are accounted: "
			SETTING " is missing (before Linux 5.14: always, if it was built in)",
		[DELAYACCT_OFF] = "delays are not accounted: all waits but those for a CPU are "
			"unknown; 'sysctl kernel.task_delayacct=1' turns it on for tasks that begin "
			"afterwards, the boot parameter 'delayacct' for all",
		[DELAYACCT_SINCE_BOOT] = "delays are accounted since boot, for every task",
		[DELAYACCT_SWITCHED] = "delays are accounted, but not since boot "
			"(kernel.task_delayacct was set later): of tasks that began before, "
			"all waits but those for a CPU are unknown",
	};

	return state < DELAYACCT_STATES ? sentences[state] : sentences[DELAYACCT_UNKNOWN];
}
