/* SPDX-License-Identifier: MIT */
/* A configuration in the words that it is set with. */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config_parse.h"

#define MIB (UINT64_C(1) << 20)

struct text {
	char *to;
	size_t len, size;
	bool full;		/* something found no room */
};

static __attribute__((format(printf, 2, 3))) void put(struct text *text, const char *format, ...)
{
	const size_t room = text->size - text->len;
	va_list args;
	int len;

	assert(text->len < text->size);
	va_start(args, format);
	len = vsnprintf(text->to + text->len, room, format, args);
	va_end(args);
	if (len < 0 || (size_t)len >= room)
		text->full = true;
	else
		text->len += (size_t)len;
	assert(text->len < text->size);
}

static void put_level(struct text *text, const struct cp_config *config)
{
	/* "z/VM    7.3.0   ", both parts padded to 8 characters. */
	const char *level = config->level + strnlen(config->level, 8);
	const size_t len = strcspn(level, " ");

	put(text, "%.*s", (int)len, level);
}

static void put_machine(struct text *text, const struct cp_config *config)
{
	const struct cp_machine *machine = &config->machine;

	put(text, "%s %s MANUFACTURER %s CAPACITY %s SEQUENCE %s PLANT %s CAPABILITY %" PRIu32
	    " LPAR %u %s %s", machine->type, machine->model, machine->manufacturer,
	    machine->capacity, machine->sequence, machine->plant, machine->capability,
	    machine->partition, machine->partition_name,
	    machine->dedicated ? "DEDICATED" : "SHARED");
}

static void put_storage(struct text *text, const struct cp_config *config)
{
	assert(config->extents > 0 && config->extents <= CP_MAX_EXTENTS);
	for (unsigned int i = 0; i < config->extents; i++)
		put(text, "%s%" PRIu64 "M.%" PRIu64 "M", i == 0 ? "" : " ",
		    config->extent[i].start / MIB, config->extent[i].size / MIB);
	if (config->standby + config->reserved > 0)
		put(text, " STANDBY %" PRIu64 "M RESERVED %" PRIu64 "M", config->standby / MIB,
		    config->reserved / MIB);
}

static void put_disk(struct text *text, const struct cp_disk_config *disk)
{
	const char *mode = cp_link_mode_name[disk->mode];

	if (disk->owner[0])
		put(text, "LINK %s %04X %04X %s;", disk->owner, disk->owner_device, disk->device,
		    mode);
	else
		put(text, "MDISK %04X FB-512 V-DISK %" PRIu32 " %s;", disk->device, disk->blocks,
		    mode);
}

static void put_directory(struct text *text, const struct cp_config *config)
{
	static const char *const types[] = {
		[CP_UNIT_READER] = "2540 READER", [CP_UNIT_PUNCH] = "2540 PUNCH",
		[CP_UNIT_PRINTER] = "1403",
	};

	assert(config->iucv_statements <= CP_MAX_DIRECTORY);
	assert(config->namesaves <= CP_MAX_DIRECTORY);
	for (unsigned int i = 0; i < config->iucv_statements; i++) {
		const struct cp_iucv_statement *s = &config->iucv[i];

		put(text, "IUCV %s%s", s->name, s->priority ? " PRIORITY" : "");
		if (s->msglimit > 0)
			put(text, " MSGLIMIT %u", s->msglimit);
		put(text, ";");
	}
	for (unsigned int i = 0; i < config->namesaves; i++)
		put(text, "NAMESAVE %s;", config->namesave[i]);
	if (config->account[0] != '\0')
		put(text, "ACCOUNT %s;", config->account);
	if (config->group[0] != '\0')
		put(text, "ACIGROUP %s;", config->group);
	for (unsigned int i = 0; i < config->units; i++)
		put(text, "SPOOL %04X %s %c;", config->unit[i].device,
		    types[config->unit[i].kind], config->unit[i].spool_class);
	for (unsigned int i = 0; i < config->disks; i++)
		put_disk(text, &config->disk[i]);
	for (unsigned int cpu = 0; cpu < CP_MAX_CPUS; cpu++)
		if (config->logon_cpus >> cpu & 1)
			put(text, "CPU %02X;", cpu);
	put(text, "OPTION MAXCONN %" PRIu32 "%s", config->max_paths,
	    config->applmon ? " APPLMON" : "");
}

static void put_segments(struct text *text, const struct cp_config *config)
{
	for (unsigned int i = 0; i < config->segments; i++) {
		const struct cp_segment_config *s = &config->segment[i];

		assert(config_segment_valid(s));
		put(text, "%s%s", i == 0 ? "" : ";", s->name);
		for (unsigned int j = 0; j < s->ranges; j++)
			put(text, " %" PRIX32 "-%" PRIX32 " %s", s->range[j].first, s->range[j].last,
			    config_type_name(s->range[j].type));
		if (s->restricted)
			put(text, " RSTD");
	}
}

static void put_userid(struct text *text, const struct cp_config *config)
{
	put(text, "%s", config->userid);
}

static void put_class(struct text *text, const struct cp_config *config)
{
	put(text, "%s", config->classes);
}

static void put_cpus(struct text *text, const struct cp_config *config)
{
	put(text, "%u", config->cpus);
}

static void put_console(struct text *text, const struct cp_config *config)
{
	put(text, "%04X", config->console);
}

static void put_conmode(struct text *text, const struct cp_config *config)
{
	put(text, "%s", config->conmode_3215 ? "3215" : "none");
}

static void put_seed(struct text *text, const struct cp_config *config)
{
	put(text, "%" PRIu64, config->seed);
}

static void put_trace_data(struct text *text, const struct cp_config *config)
{
	put(text, "%s", config->trace_full ? "full" : "short");
}

static const struct {
	const char *name;
	void (*put)(struct text *text, const struct cp_config *config);
} keys[] = {
	{ "userid", put_userid },
	{ "class", put_class },
	{ "level", put_level },
	{ "machine", put_machine },
	{ "cpus", put_cpus },
	{ "storage", put_storage },
	{ "directory", put_directory },
	{ "segment", put_segments },
	{ "console", put_console },
	{ "conmode", put_conmode },
	{ "seed", put_seed },
	{ "trace-data", put_trace_data },
};

int cp_config_get(const struct cp_config *config, const char *key, char *text, size_t size)
{
	struct text out = { .to = text, .size = size };

	assert(size > 0);
	/* Nothing may be all there is to be written. */
	text[0] = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i].name) != 0)
			continue;
		keys[i].put(&out, config);
		assert(out.len < size);
		return out.full ? -1 : (int)out.len;
	}
	return -1;
}
