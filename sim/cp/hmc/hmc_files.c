/* SPDX-License-Identifier: MIT */
/* Files of the drive, and what its directories are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "hmc_private.h"
#include "zvmlab/storage.h"

bool hmc_name(const char *given, char name[HMC_MAX_NAME + 1])
{
	size_t len;

	while (*given == '/')
		given++;
	len = strlen(given);
	while (len > 0 && given[len - 1] == '/')
		len--;
	if (len == 1 && given[0] == '.')
		len = 0;
	if (len > HMC_MAX_NAME)
		return false;
	for (size_t i = 0; i < len; i++)
		if (given[i] < ' ' || given[i] > '~' || (given[i] == '/' && given[i + 1] == '/'))
			return false;
	memcpy(name, given, len);
	name[len] = '\0';
	return true;
}

struct hmc_file *hmc_lookup(struct hmc *hmc, const char *name)
{
	for (uint32_t i = 0; i < hmc->files; i++)
		if (strcmp(hmc->file[i].name, name) == 0)
			return &hmc->file[i];
	return NULL;
}

/* The file's bytes become @len; those behind them move.  Return: false if there is no room. */
static bool resize(struct hmc *hmc, struct hmc_file *file, uint64_t len)
{
	const uint64_t end = file->at + file->len, at = file->at;
	const uint64_t others = hmc->used - file->len;

	assert(end <= hmc->used && hmc->used <= hmc->room);
	if (len > hmc->room - others)
		return false;
	memmove(hmc->data + at + len, hmc->data + end, hmc->used - end);
	for (uint32_t i = 0; i < hmc->files; i++)
		if (&hmc->file[i] != file && hmc->file[i].at >= end)
			hmc->file[i].at = hmc->file[i].at - file->len + len;
	file->len = len;
	hmc->used = others + len;
	return true;
}

/* A file of no bytes, at its place by name and behind the bytes of all others. */
static struct hmc_file *add(struct hmc *hmc, const char *name)
{
	uint32_t place = 0;
	struct hmc_file *file;

	if (hmc->files == HMC_MAX_FILES)
		return NULL;
	while (place < hmc->files && strcmp(hmc->file[place].name, name) < 0)
		place++;
	file = &hmc->file[place];
	memmove(file + 1, file, (hmc->files - place) * sizeof(*file));
	*file = (struct hmc_file){ .at = hmc->used };
	snprintf(file->name, sizeof(file->name), "%s", name);
	hmc->files++;
	return file;
}

void hmc_forget(struct hmc *hmc, struct hmc_file *file)
{
	const struct hmc_file *end = hmc->file + hmc->files;
	bool shrunk = resize(hmc, file, 0);

	assert(shrunk && file >= hmc->file && file < end);
	(void)shrunk;
	memmove(file, file + 1, (size_t)(end - file - 1) * sizeof(*file));
	hmc->files--;
}

/* Is it, or would it be, a directory: has a file's name more behind it? */
static bool is_directory(const struct hmc *hmc, const char *name)
{
	const size_t len = strlen(name);

	for (uint32_t i = 0; i < hmc->files; i++)
		if (strncmp(hmc->file[i].name, name, len) == 0 && hmc->file[i].name[len] == '/')
			return true;
	return false;
}

/* Does the name lead through a file, as if that were a directory? */
static bool within_file(struct hmc *hmc, const char *name)
{
	char part[HMC_MAX_NAME + 1];

	for (const char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
		memcpy(part, name, (size_t)(at - name));
		part[at - name] = '\0';
		if (hmc_lookup(hmc, part))
			return true;
	}
	return false;
}

enum hmc_status hmc_store(struct cp *cp, const char *name, uint64_t offset, const void *data,
			  const struct hmc_request *from, uint64_t len)
{
	struct hmc *hmc = cp->hmc;
	struct hmc_file *file = hmc_lookup(hmc, name);
	const uint64_t now = file ? file->len : 0;
	const bool is_new = !file;

	if (name[0] == '\0' || is_directory(hmc, name) || within_file(hmc, name) ||
	    offset > now || len > hmc->room - offset)
		return HMC_FAILED;
	if (from && storage_check(cp, from->cpu, from->buffer, len, false) != 0)
		return HMC_PROGRAM;
	if (!file)
		file = add(hmc, name);
	if (!file)
		return HMC_FAILED;
	if (!resize(hmc, file, offset + len)) {
		if (is_new)
			hmc_forget(hmc, file);
		return HMC_FAILED;
	}
	if (from)
		(void)storage_read(cp, from->cpu, from->buffer, hmc->data + file->at + offset, len);
	else
		memcpy(hmc->data + file->at + offset, data, len);
	file->tod = cp_tod(cp);
	return HMC_OK;
}

/* The lines are long enough for every name. */
static size_t line(struct hmc *hmc, size_t at, const char *entry, size_t len,
		   const struct hmc_file *file, bool names_only)
{
	static const char *const months[] = {
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
	};
	struct clock_time t;
	int written;

	if (names_only && !file)
		return at;
	if (names_only) {
		written = snprintf(hmc->listing + at, HMC_LINE, "%.*s\n", (int)len, entry);
	} else {
		t = clock_time(file ? file->tod : 0);
		written = snprintf(hmc->listing + at, HMC_LINE,
				   "%crw-r--r-- 1 0 0 %10" PRIu64 " %s %2u %5u %.*s\n",
				   file ? '-' : 'd', file ? file->len : 0, months[t.month - 1],
				   t.day, t.year, (int)len, entry);
	}
	assert(written > 0 && written < (int)HMC_LINE);
	return at + (size_t)written;
}

/* Files that are in a directory of the directory are one line, as they follow each other. */
size_t hmc_list(struct hmc *hmc, const char *name, bool names_only, bool *known)
{
	const size_t len = strlen(name);
	const char *last = "";
	size_t last_len = 0, at = 0;

	*known = name[0] == '\0';
	for (uint32_t i = 0; i < hmc->files; i++) {
		const struct hmc_file *file = &hmc->file[i];
		const char *entry = file->name + (len > 0 ? len + 1 : 0), *slash;
		size_t part;

		if (strcmp(file->name, name) == 0) {
			*known = true;
			return line(hmc, at, file->name, strlen(file->name), file, names_only);
		}
		if (len > 0 && (strncmp(file->name, name, len) != 0 || file->name[len] != '/'))
			continue;
		*known = true;
		slash = strchr(entry, '/');
		part = slash ? (size_t)(slash - entry) : strlen(entry);
		if (slash && part == last_len && strncmp(entry, last, part) == 0)
			continue;
		at = line(hmc, at, entry, part, slash ? NULL : file, names_only);
		last = slash ? entry : "";
		last_len = slash ? part : 0;
	}
	return at;
}
