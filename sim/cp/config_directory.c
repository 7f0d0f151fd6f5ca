/* SPDX-License-Identifier: MIT */
/* Statements of the user directory: IUCV, NAMESAVE, OPTION, ACCOUNT, devices and CPUs. */
#include <assert.h>
#include <string.h>

#include "config_parse.h"

/* z/VM's own value where OPTION MAXCONN is not given. */
#define DEFAULT_MAXCONN 64

static bool iucv_operands(struct cp_iucv_statement *s, struct config_span rest,
			  struct config_problem *problem)
{
	struct config_span word;
	uint64_t n;

	while (config_word(&rest, &word)) {
		if (config_is(word, "PRIORITY")) {
			s->priority = true;
		} else if (config_is(word, "MSGLIMIT") && config_word(&rest, &word) &&
			   config_number(word, 10, 65535, &n) && n > 0) {
			s->msglimit = (uint16_t)n;
		} else {
			return config_wrong(problem, word, "PRIORITY or MSGLIMIT 1 to 65535");
		}
	}
	return true;
}

static bool parse_iucv(struct cp_config *config, struct config_span rest,
		       struct config_problem *problem)
{
	struct cp_iucv_statement s = { 0 };
	struct config_span word = rest;

	if (!config_word(&rest, &word) || !config_name(word, true, s.name))
		return config_wrong(problem, word, "a user ID, a service, ALLOW or ANY");
	if (config->iucv_statements == CP_MAX_DIRECTORY)
		return config_wrong(problem, word, "no more than 64 IUCV statements");
	if (!iucv_operands(&s, rest, problem))
		return false;
	assert(config->iucv_statements < CP_MAX_DIRECTORY && s.name[0] != '\0');
	config->iucv[config->iucv_statements++] = s;
	return true;
}

static bool parse_namesave(struct cp_config *config, struct config_span rest,
			   struct config_problem *problem)
{
	struct config_span word = rest;

	if (config_empty(rest))
		return config_wrong(problem, word, "NAMESAVE to name a segment");
	while (config_word(&rest, &word)) {
		if (config->namesaves == CP_MAX_DIRECTORY)
			return config_wrong(problem, word, "no more than 64 NAMESAVE names");
		if (!config_name(word, false, config->namesave[config->namesaves]))
			return config_wrong(problem, word, "a segment's name of 1 to 8 characters");
		config->namesaves++;
		assert(config->namesaves <= CP_MAX_DIRECTORY);
	}
	return true;
}

static bool parse_option(struct cp_config *config, struct config_span rest,
			 struct config_problem *problem)
{
	struct config_span word = rest;
	uint64_t n;

	if (config_empty(rest))
		return config_wrong(problem, word, "OPTION MAXCONN number or OPTION APPLMON");
	while (config_word(&rest, &word)) {
		if (config_is(word, "APPLMON")) {
			config->applmon = true;
		} else if (config_is(word, "MAXCONN") && config_word(&rest, &word) &&
			   config_number(word, 10, CP_MAX_PATHS, &n) && n > 0) {
			assert(n > 0 && n <= CP_MAX_PATHS);
			config->max_paths = (uint32_t)n;
		} else {
			return config_wrong(problem, word, "APPLMON or MAXCONN 1 to 65535");
		}
	}
	return true;
}

static bool parse_account(struct cp_config *config, struct config_span rest,
			  struct config_problem *problem)
{
	struct config_span word = rest;

	if (config_word(&rest, &word) && config_empty(rest) &&
	    config_name(word, false, config->account))
		return true;
	return config_wrong(problem, word, "an account number of 1 to 8 characters");
}

static bool parse_acigroup(struct cp_config *config, struct config_span rest,
			   struct config_problem *problem)
{
	struct config_span word = rest;

	if (config_word(&rest, &word) && config_empty(rest) &&
	    config_name(word, false, config->group))
		return true;
	return config_wrong(problem, word, "an access-control group of 1 to 8 characters");
}

/* The device's type: 2540 READER, 2540 PUNCH, 1403. */
static bool unit_kind(struct cp_unit_config *unit, struct config_span *rest,
		      struct config_problem *problem)
{
	struct config_span word = *rest;

	if (!config_word(rest, &word))
		return config_wrong(problem, word, "2540 READER, 2540 PUNCH or 1403");
	if (config_is(word, "1403")) {
		unit->kind = CP_UNIT_PRINTER;
		return true;
	}
	if (!config_is(word, "2540") || !config_word(rest, &word))
		return config_wrong(problem, word, "2540 READER, 2540 PUNCH or 1403");
	if (config_is(word, "READER") || config_is(word, "RDR"))
		unit->kind = CP_UNIT_READER;
	else if (config_is(word, "PUNCH") || config_is(word, "PUN"))
		unit->kind = CP_UNIT_PUNCH;
	else
		return config_wrong(problem, word, "READER or PUNCH");
	return true;
}

static bool unit_class(struct cp_unit_config *unit, struct config_span word)
{
	const char c = *word.at >= 'a' && *word.at <= 'z' ? (char)(*word.at - 'a' + 'A') : *word.at;

	if (word.end != word.at + 1)
		return false;
	unit->spool_class = c;
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c == '*' && unit->kind == CP_UNIT_READER);
}

/* The number of a device that no statement before has given. */
static bool device_number(const struct cp_config *config, struct config_span *rest,
			  uint16_t *device, struct config_problem *problem)
{
	struct config_span word = *rest;
	bool given = false;
	uint64_t n;

	if (!config_word(rest, &word) || !config_number(word, 16, UINT16_MAX, &n))
		return config_wrong(problem, word, "a hexadecimal device number up to FFFF");
	*device = (uint16_t)n;
	for (unsigned int i = 0; i < config->units; i++)
		given |= config->unit[i].device == n;
	for (unsigned int i = 0; i < config->disks; i++)
		given |= config->disk[i].device == n;
	return !given || config_wrong(problem, word, "another device number than before");
}

static bool parse_spool(struct cp_config *config, struct config_span rest,
			struct config_problem *problem)
{
	struct cp_unit_config unit = { 0 };
	struct config_span word = rest;

	if (!device_number(config, &rest, &unit.device, problem))
		return false;
	if (config->units == CP_MAX_UNITS)
		return config_wrong(problem, word, "no more than 8 SPOOL statements");
	if (!unit_kind(&unit, &rest, problem))
		return false;
	unit.spool_class = unit.kind == CP_UNIT_READER ? '*' : 'A';
	if (config_word(&rest, &word) && !unit_class(&unit, word))
		return config_wrong(problem, word, "a class A to Z or 0 to 9, of a reader also *");
	if (!config_empty(rest))
		return config_wrong(problem, rest, "the class to be the last word");
	config->unit[config->units++] = unit;
	return true;
}

const char *const cp_link_mode_name[CP_LINK_MODES] = {
	[CP_LINK_R] = "R", [CP_LINK_RR] = "RR", [CP_LINK_W] = "W", [CP_LINK_WR] = "WR",
	[CP_LINK_M] = "M", [CP_LINK_MR] = "MR", [CP_LINK_MW] = "MW",
};

static bool disk_mode(struct cp_disk_config *disk, struct config_span word)
{
	disk->mode = 0;
	while (disk->mode < CP_LINK_MODES && !config_is(word, cp_link_mode_name[disk->mode]))
		disk->mode++;
	return disk->mode < CP_LINK_MODES;
}

/* The mode, at the end of the statement, and room for one more disk. */
static bool add_disk(struct cp_config *config, struct cp_disk_config *disk,
		     struct config_span rest, struct config_problem *problem)
{
	struct config_span word;

	if (config_word(&rest, &word) && !disk_mode(disk, word))
		return config_wrong(problem, word, "a mode: R, RR, W, WR, M, MR or MW");
	if (!config_empty(rest))
		return config_wrong(problem, rest, "the mode to be the last word");
	config->disk[config->disks++] = *disk;
	return true;
}

static bool parse_mdisk(struct cp_config *config, struct config_span rest,
			struct config_problem *problem)
{
	struct cp_disk_config disk = { .mode = CP_LINK_W };
	struct config_span word = rest;
	uint64_t n;

	if (!device_number(config, &rest, &disk.device, problem))
		return false;
	if (config->disks == CP_MAX_DISKS)
		return config_wrong(problem, word, "no more than 8 MDISK and LINK statements");
	word = rest;
	if (!config_word(&rest, &word) || !config_is(word, "FB-512"))
		return config_wrong(problem, word, "FB-512, of which virtual disks in storage are");
	word = rest;
	if (!config_word(&rest, &word) || !config_is(word, "V-DISK"))
		return config_wrong(problem, word, "V-DISK: a virtual disk in storage");
	word = rest;
	if (!config_word(&rest, &word) || !config_number(word, 10, CP_MAX_DISK_BLOCKS, &n) || n == 0)
		return config_wrong(problem, word, "a number of blocks from 1 to 131072");
	/* As CP does: whole pages. */
	disk.blocks = ((uint32_t)n + 7) / 8 * 8;
	return add_disk(config, &disk, rest, problem);
}

/* LINK user device device [mode]: the disk of another user, and what it is here. */
static bool parse_link(struct cp_config *config, struct config_span rest,
		       struct config_problem *problem)
{
	struct cp_disk_config disk = { .mode = CP_LINK_R };
	struct config_span word = rest;
	uint64_t n;

	if (!config_word(&rest, &word) || !config_name(word, false, disk.owner))
		return config_wrong(problem, word, "the user ID of the disk's owner");
	word = rest;
	if (!config_word(&rest, &word) || !config_number(word, 16, UINT16_MAX, &n))
		return config_wrong(problem, word, "the owner's device number up to FFFF");
	disk.owner_device = (uint16_t)n;
	word = rest;
	if (!device_number(config, &rest, &disk.device, problem))
		return false;
	if (config->disks == CP_MAX_DISKS)
		return config_wrong(problem, word, "no more than 8 MDISK and LINK statements");
	return add_disk(config, &disk, rest, problem);
}

/* CPU nn [BASE]: it is there from log-on; the base is always CPU 0. */
static bool parse_cpu(struct cp_config *config, struct config_span rest,
		      struct config_problem *problem)
{
	struct config_span word = rest;
	uint64_t n;

	if (!config_word(&rest, &word) || !config_number(word, 16, CP_MAX_CPUS - 1, &n))
		return config_wrong(problem, word, "a hexadecimal CPU address up to 3F");
	if (config->logon_cpus >> n & 1)
		return config_wrong(problem, word, "another CPU address than before");
	word = rest;
	if (config_word(&rest, &word) && (!config_is(word, "BASE") || n != 0))
		return config_wrong(problem, word, "BASE behind 00, or nothing");
	if (!config_empty(rest))
		return config_wrong(problem, rest, "nothing behind BASE");
	config->logon_cpus |= UINT64_C(1) << n;
	return true;
}

static const struct {
	const char *name;
	bool (*parse)(struct cp_config *config, struct config_span rest,
		      struct config_problem *problem);
} statements[] = {
	{ "IUCV", parse_iucv },
	{ "NAMESAVE", parse_namesave },
	{ "OPTION", parse_option },
	{ "ACCOUNT", parse_account },
	{ "ACIGROUP", parse_acigroup },
	{ "SPOOL", parse_spool },
	{ "MDISK", parse_mdisk },
	{ "LINK", parse_link },
	{ "CPU", parse_cpu },
};

static bool parse_statement(struct cp_config *config, struct config_span item,
			    struct config_problem *problem)
{
	struct config_span rest = item, word;

	if (!config_word(&rest, &word))
		return true;
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		if (config_is(word, statements[i].name))
			return statements[i].parse(config, rest, problem);
	return config_wrong(problem, item, "an IUCV, NAMESAVE, OPTION, ACCOUNT, ACIGROUP, SPOOL, "
			    "MDISK, LINK or CPU statement");
}

bool config_directory(struct cp_config *config, struct config_span text,
		      struct config_problem *problem)
{
	struct config_span item;

	memset(config->iucv, 0, sizeof(config->iucv));
	memset(config->namesave, 0, sizeof(config->namesave));
	memset(config->account, 0, sizeof(config->account));
	memset(config->group, 0, sizeof(config->group));
	config->iucv_statements = 0;
	config->namesaves = 0;
	memset(config->unit, 0, sizeof(config->unit));
	config->units = 0;
	memset(config->disk, 0, sizeof(config->disk));
	config->disks = 0;
	config->logon_cpus = 0;
	config->applmon = false;
	config->max_paths = DEFAULT_MAXCONN;
	while (config_item(&text, &item))
		if (!parse_statement(config, item, problem))
			return false;
	assert(config->max_paths > 0 && config->max_paths <= CP_MAX_PATHS);
	return true;
}
