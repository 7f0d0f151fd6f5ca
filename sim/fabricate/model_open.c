/* SPDX-License-Identifier: MIT */
/* A model made of its configuration, all of which is checked. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "model_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "smaller.h"

#define ALL_DOMAINS 0xffffu
#define MAC_PREFIX (UINT64_C(0x020000) << 24)	/* a locally administered one */
#define ADAPTER 0x600u
#define BLOCK_SIZE 512u
#define MAX_PAGE 0x7ffffu	/* of 2 GiB */

struct error {
	char *text;
	size_t len;
};

static bool refuse(const struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool refuse(const struct error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, error->len, format, args);
	va_end(args);
	return false;
}

static bool between(uint32_t value, uint32_t low, uint32_t high)
{
	return low <= value && value <= high;
}

static bool check_sizes(const struct model_config *c, const struct error *error)
{
	if (!between(c->processors, 1, MODEL_MAX_PROCESSORS))
		return refuse(error, "%u processors: 1 to %u are possible", c->processors,
			      MODEL_MAX_PROCESSORS);
	if (c->devices > MODEL_MAX_DEVICES)
		return refuse(error, "%u devices: at most %u are possible", c->devices,
			      MODEL_MAX_DEVICES);
	if (c->users > MODEL_MAX_USERS)
		return refuse(error, "%u users: at most %u are possible", c->users,
			      MODEL_MAX_USERS);
	if (!between(c->patterns, 1, MODEL_MAX_PATTERNS))
		return refuse(error, "%u patterns: 1 to %u are possible", c->patterns,
			      MODEL_MAX_PATTERNS);
	if (c->actions > MODEL_MAX_ACTIONS)
		return refuse(error, "%u actions: at most %u are possible", c->actions,
			      MODEL_MAX_ACTIONS);
	if (!between(c->seconds, 1, MODEL_MAX_SECONDS) || c->second_of_day >= 86400)
		return refuse(error, "%u seconds from second %u of the day on: 1 to %u seconds are "
			      "possible", c->seconds, c->second_of_day, MODEL_MAX_SECONDS);
	if (!between(c->interval, 6, 3600) || !between(c->rate, 5, 3000))
		return refuse(error, "an interval of %u s and a rate of %u/100 s: 6 to 3600 and "
			      "5 to 3000 are possible", c->interval, c->rate);
	if (!between(c->area.pages, 1, 16384) || c->segment > MAX_PAGE + 1 - c->area.pages)
		return refuse(error, "a segment of %u pages at page %X: up to 64 MiB below 2 GiB "
			      "are possible", c->area.pages, c->segment);
	if (!between(c->block, 1, 10) || !between(c->frames, 1024, 1u << 30))
		return refuse(error, "blocks of %u pages and %u frames of storage: 1 to 10 and 1024 "
			      "to %u are possible", c->block, c->frames, 1u << 30);
	return true;
}

static bool check_users(const struct model_config *c, const struct error *error)
{
	for (uint32_t i = 0; i < c->users; i++) {
		const struct model_user *u = &c->user[i];

		if (u->type >= MODEL_CPU_TYPES || !between(u->processors, 1, 64) ||
		    u->pattern >= c->patterns || !between(u->share, 1, 10000) || u->pages == 0 ||
		    u->pages > c->frames * 16ull || u->cpu > 64000 || u->io > MODEL_MAX_RATE ||
		    u->paging > MODEL_MAX_RATE || u->packets > MODEL_MAX_RATE ||
		    u->transactions > MODEL_MAX_RATE ||
		    strnlen(u->name, sizeof(u->name)) - 1 > 7)
			return refuse(error, "user %u is out of the bounds of model.h", i);
	}
	for (uint32_t i = 0; i < c->patterns; i++)
		for (unsigned int hour = 0; hour < 24; hour++)
			if (c->pattern[i].percent[hour] > 1000)
				return refuse(error, "pattern %u has %u %%; 1000 is the most", i,
					      c->pattern[i].percent[hour]);
	return true;
}

static bool check_devices(const struct model_config *c, const struct error *error)
{
	for (uint32_t i = 0; i < c->processors; i++)
		if (c->processor[i].type >= MODEL_CPU_TYPES)
			return refuse(error, "processor %u has the type %u", i,
				      c->processor[i].type);
	for (uint32_t i = 0; i < c->devices; i++) {
		const struct model_device *d = &c->device[i];

		if (d->kind >= MODEL_DEVICE_KINDS || d->number > 0xffff ||
		    !between(d->paths, 1, 8) || strnlen(d->volume, sizeof(d->volume)) > 6 ||
		    (i > 0 && d->number <= c->device[i - 1].number))
			return refuse(error, "device %u is out of the bounds of model.h", i);
	}
	return true;
}

static bool is_command(const struct model_action *a)
{
	return a->kind == MODEL_SAMPLE || a->kind == MODEL_EVENT;
}

static bool check_action(const struct model_config *c, const struct model_action *a)
{
	switch (a->kind) {
	case MODEL_LOGON:
	case MODEL_LOGOFF:
	case MODEL_LOAD:
	case MODEL_RUNAWAY:
		return a->first <= c->users && a->count <= c->users - a->first && a->value <= 10000;
	case MODEL_PROCESSOR:
		return a->first <= c->processors && a->count <= c->processors - a->first;
	case MODEL_DEVICE:
		return a->first <= c->devices && a->count <= c->devices - a->first;
	case MODEL_STORM:
		return a->value <= 1000000;
	case MODEL_PATH:
	case MODEL_READER:
		return true;
	default:
		return is_command(a) && a->value <= ALL_DOMAINS &&
		       strnlen(a->text, sizeof(a->text)) < sizeof(a->text);
	}
}

static bool check_actions(const struct model_config *c, const struct error *error)
{
	for (uint32_t i = 0; i < c->actions; i++) {
		const struct model_action *a = &c->action[i], *before = i > 0 ? a - 1 : NULL;

		if (!check_action(c, a))
			return refuse(error, "action %u is out of the bounds of model.h", i);
		if (before && (a->second < before->second ||
			       (a->second == before->second && is_command(before) &&
				!is_command(a))))
			return refuse(error, "action %u comes too late: actions are in order, "
				      "commands the last of their second", i);
	}
	return true;
}

/* As many elements as there are, so that sanitizers notice the next one; NULL: storage is short. */
static void *room(uint32_t count, size_t size)
{
	return calloc(count ? count : 1, size);
}

static void *copy(const void *from, uint32_t count, size_t size)
{
	void *to = room(count, size);

	if (to && count > 0)
		memcpy(to, from, count * size);
	return to;
}

static bool allocate(struct model *m, const struct model_config *c)
{
	m->config = *c;
	m->config.processor = copy(c->processor, c->processors, sizeof(*c->processor));
	m->config.device = copy(c->device, c->devices, sizeof(*c->device));
	m->config.user = copy(c->user, c->users, sizeof(*c->user));
	m->config.pattern = copy(c->pattern, c->patterns, sizeof(*c->pattern));
	m->config.action = copy(c->action, c->actions, sizeof(*c->action));
	m->cpu = room(c->processors, sizeof(*m->cpu));
	m->device = room(c->devices, sizeof(*m->device));
	m->disk = room(c->devices, sizeof(*m->disk));
	m->user = room(c->users, sizeof(*m->user));
	m->events.buffer = room(c->block, AREA_PAGE_SIZE);
	return m->config.processor && m->config.device && m->config.user && m->config.pattern &&
	       m->config.action && m->cpu && m->device && m->disk && m->user && m->events.buffer;
}

static uint64_t text_value(const char *text, unsigned int len)
{
	uint8_t bytes[8];

	assert(len > 0 && len <= sizeof(bytes));
	ebcdic_name(bytes, text);
	return get_be64(bytes) >> 8 * (sizeof(bytes) - len);
}

static void make_device(struct model *m, uint32_t i)
{
	static const uint32_t flags[MODEL_DEVICE_KINDS] = {
		[MODEL_SCSI] = IS_SCSI, [MODEL_OSA] = IS_OSA, [MODEL_PAGING] = IS_PAGING,
	};
	const struct model_device *c = &m->config.device[i];

	m->device[i] = (struct device){
		.s = { IS_ON | flags[c->kind], 0 },
		.number = c->number,
		/* Subchannel set 0; numbers as they come. */
		.subchannel = 0x10000u + i,
		.volume = text_value(c->volume, 6),
		.chpids = get_be64(c->chpid),
		.installed = 0xff00u >> c->paths & 0xff,
		.available = 0xff00u >> c->paths & 0xff,
		.block_size = BLOCK_SIZE,
		.slots = c->kind == MODEL_PAGING ? c->slots : 0,
	};
	if (c->kind == MODEL_DASD || c->kind == MODEL_SCSI)
		m->disk[m->disks++] = i;
	if (c->kind == MODEL_OSA && m->osa == m->config.devices)
		m->osa = i;
}

static void make_user(struct model *m, uint32_t i)
{
	const struct model_user *c = &m->config.user[i];
	struct user *user = &m->user[i];

	*user = (struct user){
		.name = text_value(c->name, 8),
		.type = c->type,
		.adapter = ADAPTER,
		.mac = MAC_PREFIX | (i + 1),
		/* A virtual switch belongs to SYSTEM. */
		.lan = text_value(m->config.vswitch, 8),
		.lan_owner = text_value("SYSTEM", 8),
		.share = c->share,
		.percent = 100,
		.device = i % (uint32_t)larger(m->disks, 1),
		.index = i,
	};
	if (!c->logged_on)
		return;
	model_log_on(m, user);
	/* Who is there from the beginning does not come. */
	user->s.events = 0;
}

static void make_system(struct model *m)
{
	const struct model_config *c = &m->config;
	const uint64_t bytes = (uint64_t)c->frames * AREA_PAGE_SIZE;
	struct system *s = &m->system;

	*s = (struct system){
		.name = text_value(c->system, 8),
		.partition = text_value(c->partition, 8),
		.partition_number = 1,
		.machine = text_value("2097", 4),
		.ipl = c->start,
		/* CP keeps a 50th for itself. */
		.pageable = c->frames - c->frames / 50,
		.available = c->frames - c->frames / 50,
		.bytes = bytes < UINT32_MAX ? bytes : UINT32_MAX,
		.interval = c->interval,
		.rate = c->rate,
		.sample_domains = c->sample_domains,
		.event_domains = c->event_domains,
		.sample_config = m->segment.ring[AREA_SAMPLE_CONFIG].base +
				 m->segment.ring[AREA_SAMPLE_CONFIG].size -
				 m->segment.ring[AREA_SAMPLE_CONFIG].mca,
		.event_config = m->segment.ring[AREA_EVENT_CONFIG].base +
				m->segment.ring[AREA_EVENT_CONFIG].size -
				m->segment.ring[AREA_EVENT_CONFIG].mca,
	};
}

static void make(struct model *m)
{
	make_system(m);
	for (uint32_t i = 0; i < m->config.processors; i++) {
		m->cpu[i].s.flags = IS_ON;
		m->cpu[i].address = i;
		m->cpu[i].type = m->config.processor[i].type;
	}
	m->osa = m->config.devices;
	for (uint32_t i = 0; i < m->config.devices; i++)
		make_device(m, i);
	for (uint32_t i = 0; i < m->config.users; i++)
		make_user(m, i);
	m->random = m->config.seed;
	plans_make(&m->sample, &rows_sample, m->config.release);
	plans_make(&m->sample_config, &rows_sample_config, m->config.release);
	plans_make(&m->event_config, &rows_event_config, m->config.release);
	plans_make(&m->event, &rows_event, m->config.release);
	model_events_begin(m);
}

/* Would a set with everybody logged on fit into its empty area? */
static bool try_set(struct model *m, uint32_t kind, const struct plans *plans)
{
	struct record_writer w;

	for (uint32_t i = 0; i < m->config.users; i++)
		m->user[i].s.flags |= model_user_flags(&m->config.user[i]);
	record_writer_init(&w, segment_at(&m->segment, kind, 0),
			   m->segment.ring[kind].size * AREA_PAGE_SIZE, m->config.start);
	model_write(m, &w, plans, ALL_DOMAINS);
	for (uint32_t i = 0; i < m->config.users; i++)
		if (!m->config.user[i].logged_on)
			m->user[i].s.flags = 0;
	return !w.overflow;
}

static bool try_sets(struct model *m, const struct error *error)
{
	if (!try_set(m, AREA_SAMPLE_CONFIG, &m->sample_config) ||
	    !try_set(m, AREA_EVENT_CONFIG, &m->event_config))
		return refuse(error, "the configuration of %u users and %u processors does not fit "
			      "into its area, of %u pages for samples: CP would sever with X'2C'",
			      m->config.users, m->config.processors,
			      m->segment.ring[AREA_SAMPLE_CONFIG].size);
	if (!try_set(m, AREA_SAMPLE, &m->sample))
		return refuse(error, "a sample of %u users does not fit into the %u pages that the "
			      "segment has for it", m->config.users,
			      m->segment.ring[AREA_SAMPLE].size);
	return true;
}

/* Events at the very beginning; commands take effect before anything is recorded. */
static void begin(struct model *m)
{
	for (model_act(m); m->change; model_act(m)) {
		if (m->change->kind == MODEL_SAMPLE)
			m->system.sample_domains = m->change->value;
		else
			m->system.event_domains = m->change->value;
	}
}

struct model *model_open(const struct model_config *config, char *err, size_t errlen)
{
	const struct error error = { err, errlen };
	struct model *m;

	if (!check_sizes(config, &error) || !check_devices(config, &error) ||
	    !check_users(config, &error) || !check_actions(config, &error))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m || !allocate(m, config)) {
		refuse(&error, "there is no storage for a model of %u users", config->users);
		model_close(m);
		return NULL;
	}
	if (!segment_open(m, err, errlen)) {
		model_close(m);
		return NULL;
	}
	make(m);
	if (!try_sets(m, &error)) {
		model_close(m);
		return NULL;
	}
	begin(m);
	return m;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	/* Copies of this file's making, constant for all others. */
	free((void *)(uintptr_t)m->config.processor);
	free((void *)(uintptr_t)m->config.device);
	free((void *)(uintptr_t)m->config.user);
	free((void *)(uintptr_t)m->config.pattern);
	free((void *)(uintptr_t)m->config.action);
	free(m->cpu);
	free(m->device);
	free(m->disk);
	free(m->user);
	free(m->events.buffer);
	free(m->segment.bytes);
	free(m);
}
