/* SPDX-License-Identifier: MIT */
/* QUERY MONITOR. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command_private.h"
#include "zvmlab/monitor.h"

#define TIME_LEN 24

/* "1 MINUTES" or "90 SECONDS". */
static const char *duration(uint32_t seconds, char out[TIME_LEN])
{
	if (seconds % 60 == 0)
		snprintf(out, TIME_LEN, "%4" PRIu32 " MINUTES", seconds / 60);
	else
		snprintf(out, TIME_LEN, "%4" PRIu32 " SECONDS", seconds);
	return out;
}

static const char *rate(uint32_t hundredths, char out[TIME_LEN])
{
	if (hundredths == 0)
		snprintf(out, TIME_LEN, "STOP");
	else
		snprintf(out, TIME_LEN, "%" PRIu32 ".%02" PRIu32 " SECONDS", hundredths / 100,
			 hundredths % 100);
	return out;
}

/* Users that want this kind of data, by name. */
static unsigned int user_list(const struct cp *cp, bool event, char list[MON_MAX_USERS * 10])
{
	struct mon_user_info user;
	unsigned int count = 0;
	size_t at = 0;

	list[0] = '\0';
	for (unsigned int i = 0; i < MON_MAX_USERS && monitor_user(cp, i, &user); i++) {
		if (event ? !user.event : !user.sample)
			continue;
		at += (size_t)snprintf(list + at, MON_MAX_USERS * 10 - at, "%s%s",
				       count++ ? " " : "", user.name);
	}
	assert(count <= MON_MAX_USERS && at < MON_MAX_USERS * 10);
	return count;
}

static void show_users_and_areas(struct cp *cp, bool event, const char *users)
{
	const struct mon_settings *settings = monitor_settings(cp, event);
	const enum mon_kind kind = event ? MON_EVENT_CONFIG : MON_SAMPLE_CONFIG;
	const char *segment = monitor_segment(cp);
	struct mon_area_info area;
	char limit[TIME_LEN];
	const bool used = monitor_area(cp, kind, &area) && area.used > 0;

	cpcmd_line(cp, "MONITOR DCSS NAME - %s", *segment ? segment : "NO DCSS NAME DEFINED");
	cpcmd_line(cp, "CONFIGURATION SIZE %8" PRIu32 " LIMIT       %s", settings->config_pages,
		   duration(settings->config_limit_seconds, limit));
	cpcmd_line(cp, "CONFIGURATION AREA IS %s", used ? "IN USE" : "FREE");
	cpcmd_line(cp, "USERS CONNECTED TO *MONITOR - %s", *users ? users : "NO USERS CONNECTED");
}

/* Show whose application data are collected, if not everybody's. */
static void show_selection(struct cp *cp, const struct mon_selection *selection)
{
	char list[MON_MAX_SELECTED * 9 + 1] = "";
	size_t at = 0;

	if (selection->count == 0)
		return;
	for (unsigned int i = 0; i < selection->count; i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, " %s", selection->name[i]);
	assert(at < sizeof(list));
	cpcmd_line(cp, "          USERID%s -%s", selection->except ? " ALL EXCEPT" : "", list);
}

static void show_domains(struct cp *cp, bool event)
{
	static const struct {
		const char *name;
		enum mon_domain domain;
		bool sample, event;
	} lines[] = {
		{ "MONITOR", MON_MONITOR, true, true },
		{ "SYSTEM", MON_SYSTEM, true, false },
		{ "PROCESSOR", MON_PROCESSOR, true, true },
		{ "STORAGE", MON_STORAGE, true, true },
		{ "SCHEDULER", MON_SCHEDULER, false, true },
		{ "SEEKS", MON_SEEKS, false, true },
		{ "USER", MON_USER, true, true },
		{ "I/O", MON_IO, true, true },
		{ "NETWORK", MON_NETWORK, true, true },
		{ "ISFC", MON_ISFC, true, true },
		{ "APPLDATA", MON_APPLDATA, true, true },
		{ "SSI", MON_SSI, true, true },
	};
	const struct mon_settings *settings = monitor_settings(cp, event);

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (event ? !lines[i].event : !lines[i].sample)
			continue;
		cpcmd_line(cp, "%-9s DOMAIN %s", lines[i].name,
			   settings->domains & MON_DOMAIN_BIT(lines[i].domain) ? "ENABLED" :
										 "DISABLED");
		if (lines[i].domain == MON_APPLDATA)
			show_selection(cp, &settings->appldata);
	}
}

static void show(struct cp *cp, bool event)
{
	const struct mon_settings *s = monitor_settings(cp, event);
	char users[MON_MAX_USERS * 10], now[TIME_LEN], pending[TIME_LEN];
	const unsigned int count = user_list(cp, event, users);
	const char *state = !s->active ? "INACTIVE" : count > 0 ? "ACTIVE" : "PENDING";

	if (event) {
		cpcmd_line(cp, "MONITOR EVENT %-8s BLOCK %4" PRIu32 " PARTITION %8" PRIu32, state,
			   s->block, s->partition_pages);
	} else {
		cpcmd_line(cp, "MONITOR SAMPLE %s", state);
		cpcmd_line(cp, "           INTERVAL %s PENDING INTERVAL %s",
			   duration(s->active ? s->interval_seconds : 0, now),
			   duration(s->pending_interval_seconds, pending));
		cpcmd_line(cp, "           RATE %s PENDING RATE %s",
			   rate(s->active ? s->rate_hundredths : 0, now),
			   rate(s->rate_hundredths, pending));
	}
	show_users_and_areas(cp, event, users);
	show_domains(cp, event);
}

int cpcmd_query_monitor(struct cpcmd_args *args)
{
	bool sample = true, event = true;
	int rc;

	if (cpcmd_next(args)) {
		sample = cpcmd_is(args->word, KEYWORD_SAMPLE);
		event = cpcmd_is(args->word, KEYWORD_EVENT);
		if (!sample && !event)
			return cpcmd_invalid(args, "MOQ");
		rc = cpcmd_end(args, "MOQ");
		if (rc != 0)
			return rc;
	}
	assert(sample || event);
	if (event)
		show(args->cp, true);
	if (sample)
		show(args->cp, false);
	return 0;
}
