/* SPDX-License-Identifier: MIT */
/* MONITOR SAMPLE and MONITOR EVENT. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "command_private.h"
#include "text.h"
#include "zvmlab/monitor.h"

#define MODULE "MNC"

/* Limits of the operands; docs/choices.md. */
#define INTERVAL_MIN_SECONDS 6u
#define INTERVAL_MAX_SECONDS 3600u
#define RATE_MIN_HUNDREDTHS 5u
#define RATE_MAX_HUNDREDTHS 3000u
#define LIMIT_MAX_SECONDS 3600u
#define MAX_PAGES 524287u	/* a segment lies below 2 GiB */
#define MAX_BLOCK 10u

enum { SAMPLE = 1, EVENT = 2 };

/* The domains that can be enabled; MONITOR and, for sample data, SYSTEM are always on. */
static const struct domain {
	const char *name;
	uint8_t min;
	uint8_t kinds;
	enum mon_domain domain;
	const char *selections;	/* blank-separated operands that select within the domain */
} domains[] = {
	{ "APPLDATA", 4, SAMPLE | EVENT, MON_APPLDATA, "ALL USERID" },
	{ "I/O", 3, SAMPLE | EVENT, MON_IO, "ALL CLASS DEVICE TYPE VOLUME" },
	{ "ISFC", 4, SAMPLE | EVENT, MON_ISFC, NULL },
	{ "NETWORK", 3, SAMPLE | EVENT, MON_NETWORK, NULL },
	{ "PROCESSOR", 4, SAMPLE | EVENT, MON_PROCESSOR, NULL },
	{ "SCHEDULER", 5, EVENT, MON_SCHEDULER, "ALL CLASS USERID" },
	{ "SEEKS", 5, EVENT, MON_SEEKS, "ALL CLASS DEVICE TYPE VOLUME" },
	{ "SSI", 3, SAMPLE | EVENT, MON_SSI, NULL },
	{ "STORAGE", 4, SAMPLE | EVENT, MON_STORAGE, NULL },
	{ "USER", 4, SAMPLE | EVENT, MON_USER, "ALL CLASS USERID" },
};
#define DOMAINS (sizeof(domains) / sizeof(domains[0]))

static const struct domain *find_domain(const char *word, bool event)
{
	for (unsigned int i = 0; i < DOMAINS; i++) {
		if ((domains[i].kinds & (event ? EVENT : SAMPLE)) &&
		    cpcmd_abbreviates(word, domains[i].name, domains[i].min))
			return &domains[i];
	}
	return NULL;
}

static uint16_t all_domains(bool event)
{
	uint16_t bits = 0;

	for (unsigned int i = 0; i < DOMAINS; i++) {
		if (domains[i].kinds & (event ? EVENT : SAMPLE))
			bits |= MON_DOMAIN_BIT(domains[i].domain);
	}
	return bits;
}

static bool in_list(const char *list, const char *word)
{
	const size_t len = strlen(word);

	assert(len > 0);
	for (const char *at = strstr(list, word); at; at = strstr(at + 1, word)) {
		if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
			return true;
	}
	return false;
}

/*
 * The operands behind a domain, up to the first that selects or to the end.  The whole domain
 * is meant whatever they select; only enable_appldata() looks further.
 */
static int selection(struct cpcmd_args *args, const struct domain *domain)
{
	if (!domain->selections)
		return cpcmd_end(args, MODULE);
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (!in_list(domain->selections, args->word))
		return cpcmd_invalid(args, MODULE);
	if (cpcmd_is(args->word, KEYWORD_ALL))
		return cpcmd_end(args, MODULE);
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	return 0;
}

static const struct mon_selection everybody = { .except = true };

/* One more user that data are collected of, or one less; false if the list is full. */
static bool select_user(struct mon_selection *selection, const char *user, bool on)
{
	const bool listed = on != selection->except;
	unsigned int i = 0;

	assert(strlen(user) < sizeof(selection->name[0]));
	while (i < selection->count && strcmp(selection->name[i], user) != 0)
		i++;
	if (listed == (i < selection->count))
		return true;
	if (!listed) {
		selection->count--;
		memmove(selection->name[i], selection->name[i + 1],
			(selection->count - i) * sizeof(selection->name[0]));
		return true;
	}
	if (selection->count == MON_MAX_SELECTED)
		return false;
	memcpy(selection->name[selection->count++], user, strlen(user) + 1);
	return true;
}

/* "USERID name …" up to the end. */
static int select_users(struct cpcmd_args *args, struct mon_selection *selection, bool on)
{
	do {
		if (strlen(args->word) > CP_NAME_LEN)
			return cpcmd_invalid(args, MODULE);
		if (!select_user(selection, args->word, on))
			return cpcmd_message(args->cp, MODULE, CPCMD_CONFLICT, 'E',
					     "Conflicting option - at most %u user IDs are possible",
					     MON_MAX_SELECTED);
	} while (cpcmd_next(args));
	return 0;
}

/* APPLDATA: the users count, as the guest is one of them. */
static int enable_appldata(struct cpcmd_args *args, struct mon_settings *settings,
			   const struct domain *domain, bool on)
{
	const uint16_t bit = MON_DOMAIN_BIT(domain->domain);
	struct mon_selection wanted = settings->appldata;
	bool enabled = settings->domains & bit;
	int rc = selection(args, domain);

	if (rc != 0)
		return rc;
	if (args->word[0] == '\0') {
		wanted = everybody;
		enabled = on;
	} else {
		if (!enabled && on)
			wanted = (struct mon_selection){ .except = false };
		rc = enabled || on ? select_users(args, &wanted, on) : 0;
		enabled = (enabled || on) && (wanted.except || wanted.count > 0);
	}
	if (rc != 0)
		return rc;
	settings->appldata = enabled ? wanted : everybody;
	settings->domains = (uint16_t)(enabled ? settings->domains | bit : settings->domains & ~bit);
	return 0;
}

static int enable(struct cpcmd_args *args, bool event, bool on)
{
	struct mon_settings *settings = monitor_settings(args->cp, event);
	const struct domain *domain;
	uint16_t bits;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (cpcmd_is(args->word, KEYWORD_ALL)) {
		bits = all_domains(event);
		rc = cpcmd_end(args, MODULE);
		if (rc == 0)
			settings->appldata = everybody;
	} else {
		domain = find_domain(args->word, event);
		if (!domain)
			return cpcmd_invalid(args, MODULE);
		if (domain->domain == MON_APPLDATA)
			return enable_appldata(args, settings, domain, on);
		bits = MON_DOMAIN_BIT(domain->domain);
		rc = selection(args, domain);
	}
	if (rc != 0)
		return rc;
	assert(bits != 0 && (bits & ~all_domains(event)) == 0);
	if (on)
		settings->domains |= bits;
	else
		settings->domains &= (uint16_t)~bits;
	return 0;
}

/* A number of the next operand; 0 or the message's number. */
static int number(struct cpcmd_args *args, uint64_t min, uint64_t max, uint64_t *out)
{
	assert(min <= max);
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (!cpcmd_number(args->word, 10, min, max, out))
		return cpcmd_invalid(args, MODULE);
	return 0;
}

/* "n [MINUTES|SECONDS]" to the end of the line, in seconds. */
static int duration(struct cpcmd_args *args, uint32_t min, uint32_t max, uint32_t *seconds)
{
	uint64_t n;
	int rc = number(args, 0, max, &n);

	assert(min <= max);
	if (rc != 0)
		return rc;
	if (!cpcmd_next(args) || cpcmd_is(args->word, KEYWORD_MINUTES))
		n *= 60;
	else if (!cpcmd_is(args->word, KEYWORD_SECONDS))
		return cpcmd_invalid(args, MODULE);
	rc = cpcmd_end(args, MODULE);
	if (rc != 0)
		return rc;
	if (n < min || n > max)
		return cpcmd_message(args->cp, MODULE, CPCMD_BAD_OPERAND, 'E',
				     "Operand missing or invalid - from %u to %u seconds are "
				     "possible", min, max);
	*seconds = (uint32_t)n;
	return 0;
}

static int interval(struct cpcmd_args *args)
{
	struct mon_settings *settings = monitor_settings(args->cp, false);

	return duration(args, INTERVAL_MIN_SECONDS, INTERVAL_MAX_SECONDS,
			&settings->pending_interval_seconds);
}

/* "2", "2.5", "0.05" or ".05" in hundredths. */
static bool parse_rate(char *word, uint32_t *hundredths)
{
	char *point = strchr(word, '.');
	uint64_t whole = 0, part = 0;
	size_t digits = 0;

	if (point) {
		digits = strlen(point + 1);
		if (digits == 0 || digits > 2 || !cpcmd_number(point + 1, 10, 0, 99, &part))
			return false;
	}
	if (point != word) {
		if (point)
			*point = '\0';
		if (!cpcmd_number(word, 10, 0, RATE_MAX_HUNDREDTHS / 100, &whole))
			return false;
	}
	assert(digits <= 2 && part <= 99 && whole <= RATE_MAX_HUNDREDTHS / 100);
	*hundredths = (uint32_t)(whole * 100 + (digits == 1 ? part * 10 : part));
	return *hundredths >= RATE_MIN_HUNDREDTHS && *hundredths <= RATE_MAX_HUNDREDTHS;
}

static int rate(struct cpcmd_args *args)
{
	struct mon_settings *settings = monitor_settings(args->cp, false);
	char word[sizeof(args->word)];
	uint32_t hundredths = 0;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	memcpy(word, args->word, sizeof(word));
	if (!cpcmd_is(word, KEYWORD_STOP)) {
		if (!parse_rate(word, &hundredths))
			return cpcmd_invalid(args, MODULE);
		/* The unit is always seconds and may be left out. */
		if (cpcmd_next(args) && !cpcmd_is(args->word, KEYWORD_SECONDS))
			return cpcmd_invalid(args, MODULE);
	}
	rc = cpcmd_end(args, MODULE);
	assert(hundredths <= RATE_MAX_HUNDREDTHS);
	if (rc == 0)
		settings->rate_hundredths = hundredths;
	return rc;
}

static int config(struct cpcmd_args *args, bool event)
{
	struct mon_settings *settings = monitor_settings(args->cp, event);
	uint64_t pages;
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (cpcmd_is(args->word, KEYWORD_LIMIT))
		return duration(args, 1, LIMIT_MAX_SECONDS, &settings->config_limit_seconds);
	if (!cpcmd_is(args->word, KEYWORD_SIZE))
		return cpcmd_invalid(args, MODULE);
	rc = number(args, 1, MAX_PAGES, &pages);
	if (rc == 0)
		rc = cpcmd_end(args, MODULE);
	if (rc == 0)
		settings->config_pages = (uint32_t)pages;
	return rc;
}

/* BLOCK and PARTITION, on their own or behind START; only event data has them. */
static int event_size(struct cpcmd_args *args, struct mon_settings *settings)
{
	uint64_t n;
	int rc;

	assert(args->word[0] != '\0');
	do {
		if (cpcmd_is(args->word, KEYWORD_BLOCK)) {
			rc = number(args, 1, MAX_BLOCK, &n);
			if (rc == 0)
				settings->block = (uint32_t)n;
		} else if (cpcmd_is(args->word, KEYWORD_PARTITION)) {
			rc = number(args, 1, MAX_PAGES, &n);
			if (rc == 0)
				settings->partition_pages = (uint32_t)n;
		} else {
			rc = cpcmd_invalid(args, MODULE);
		}
	} while (rc == 0 && cpcmd_next(args));
	return rc;
}

static int start(struct cpcmd_args *args, bool event)
{
	struct mon_settings *settings = monitor_settings(args->cp, event);
	const char *kind = event ? "event" : "sample";
	struct mon_settings wanted = *settings;
	int rc;

	if (cpcmd_next(args)) {
		rc = event ? event_size(args, &wanted) : cpcmd_invalid(args, MODULE);
		if (rc != 0)
			return rc;
	}
	if (settings->active)
		return cpcmd_message(args->cp, MODULE, CPCMD_CONFLICT, 'E',
				     "Conflicting option - monitor %s is active already", kind);
	settings->block = wanted.block;
	settings->partition_pages = wanted.partition_pages;
	rc = monitor_start(args->cp, event);
	assert(settings->active);
	if (rc == 0) {
		cpcmd_line(args->cp, "Monitor %s started", kind);
		return 0;
	}
	cpcmd_line(args->cp, "Monitor %s started -- recording is pending", kind);
	cpcmd_message(args->cp, MODULE, CPCMD_MONITOR_PENDING, 'I',
		      "%s recording is pending because there are no users connected to *MONITOR "
		      "for this type of data.", event ? "Event" : "Sample");
	return 0;
}

static int stop(struct cpcmd_args *args, bool event)
{
	const char *kind = event ? "event" : "sample";
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	if (!monitor_settings(args->cp, event)->active)
		return cpcmd_message(args->cp, MODULE, CPCMD_CONFLICT, 'E',
				     "Conflicting option - monitor %s is not active", kind);
	monitor_stop(args->cp, event);
	assert(!monitor_settings(args->cp, event)->active);
	cpcmd_line(args->cp, "Monitor %s stopped", kind);
	return 0;
}

/* Options that change what is collected, or how. */
static int settings(struct cpcmd_args *args, bool event)
{
	if (cpcmd_is(args->word, KEYWORD_ENABLE))
		return enable(args, event, true);
	if (cpcmd_is(args->word, KEYWORD_DISABLE))
		return enable(args, event, false);
	if (cpcmd_is(args->word, KEYWORD_CONFIG))
		return config(args, event);
	if (event && (cpcmd_is(args->word, KEYWORD_BLOCK) || cpcmd_is(args->word, KEYWORD_PARTITION)))
		return event_size(args, monitor_settings(args->cp, true));
	if (!event && cpcmd_is(args->word, KEYWORD_INTERVAL))
		return interval(args);
	if (!event && cpcmd_is(args->word, KEYWORD_RATE))
		return rate(args);
	return cpcmd_invalid(args, MODULE);
}

/* The command as records (1,2) and (1,10) quote it: in upper case, from its name on. */
static void quote(char text[CPCMD_MAX_COMMAND + 1], const char *operands)
{
	size_t len;

	while (*operands == ' ')
		operands++;
	snprintf(text, CPCMD_MAX_COMMAND + 1, "MONITOR %s", operands);
	len = strlen(text);
	assert(len >= sizeof("MONITOR ") - 1);
	text_printable(text, len);
	for (size_t i = 0; i < len; i++)
		text[i] = (char)toupper((unsigned char)text[i]);
}

int cpcmd_monitor(struct cpcmd_args *args)
{
	char text[CPCMD_MAX_COMMAND + 1];
	bool event;
	int rc;

	quote(text, args->next);
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	event = cpcmd_is(args->word, KEYWORD_EVENT);
	if (!event && !cpcmd_is(args->word, KEYWORD_SAMPLE))
		return cpcmd_invalid(args, MODULE);
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (cpcmd_is(args->word, KEYWORD_START))
		return start(args, event);
	if (cpcmd_is(args->word, KEYWORD_STOP))
		return stop(args, event);
	rc = settings(args, event);
	if (rc == 0)
		monitor_settings_changed(args->cp, event, text);
	return rc;
}
