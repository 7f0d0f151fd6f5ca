/* SPDX-License-Identifier: MIT */
/* DEFSEG, SAVESEG, PURGE NSS: what happens to the system data files. */
#include <stdio.h>
#include <string.h>

#include "config_parse.h"
#include "dcss_private.h"
#include "zvmlab/storage.h"

static struct dcss *find_skeleton(struct cp *cp, const char *name)
{
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct dcss *segment = &cp->system->dcss->slot[i];

		if (segment->defined && segment->cls == DCSS_SKELETON &&
		    strcmp(segment->config.name, name) == 0)
			return segment;
	}
	return NULL;
}

static void discard(struct cp *cp, struct dcss *segment)
{
	/* Whoever uses it goes on using it; nobody else finds it. */
	segment->cls = DCSS_PENDING_PURGE;
	if (segment->users == 0)
		dcss_undefine(cp, segment);
}

int dcss_define(struct cp *cp, const struct cp_segment_config *config, char *err, size_t errlen)
{
	struct cp_segment_config copy = *config;
	struct config_span name = { copy.name, copy.name + strnlen(copy.name, CP_NAME_LEN + 1) };
	struct dcss probe = { .config = copy };

	if (!config_name(name, false, copy.name)) {
		snprintf(err, errlen, "segment name \"%.9s\" is not valid: expected 1 to 8 "
			 "characters", config->name);
		return -1;
	}
	if (!config_segment_valid(&copy)) {
		snprintf(err, errlen, "segment %s is not valid: expected 1 to 6 page ranges up to "
			 "7FFFFFF in ascending order, none overlapping", copy.name);
		return -1;
	}
	if (find_skeleton(cp, copy.name)) {
		snprintf(err, errlen, "segment %s is defined but not saved: save or purge it first",
			 copy.name);
		return -1;
	}
	for (unsigned int i = 0; i < copy.ranges; i++) {
		if (storage_map(cp, CP_ABSOLUTE, dcss_range_start(&copy.range[i]),
				dcss_range_size(&copy.range[i])))
			continue;
		snprintf(err, errlen, "segment %s ends at %llX, which the emulator's storage does "
			 "not reach: start it with more storage", copy.name,
			 (unsigned long long)dcss_end(&probe));
		return -1;
	}
	if (!dcss_new(cp->system->dcss, &copy, DCSS_SKELETON)) {
		if (dcss_at(cp, CP_MAX_SEGMENTS - 1))
			snprintf(err, errlen, "segment %s cannot be defined: %d segments exist, "
				 "purge one first", copy.name, CP_MAX_SEGMENTS);
		else
			snprintf(err, errlen, "segment %s cannot be defined: there is not enough "
				 "memory", copy.name);
		return -1;
	}
	return 0;
}

int dcss_save(struct cp *cp, const char *name, char *err, size_t errlen)
{
	struct dcss *skeleton = find_skeleton(cp, name);
	struct dcss *old = dcss_find(cp, name);

	if (!skeleton) {
		snprintf(err, errlen, "segment %.8s cannot be saved: define it first", name);
		return -1;
	}
	assert(old);
	dcss_pages_save(cp, skeleton);
	if (old != skeleton)
		discard(cp, old);
	skeleton->cls = skeleton->config.restricted ? DCSS_RESTRICTED : DCSS_ACTIVE;
	return 0;
}

int dcss_purge(struct cp *cp, const char *name, char *err, size_t errlen)
{
	struct dcss *segment = dcss_find(cp, name);

	if (!segment) {
		snprintf(err, errlen, "segment %.8s does not exist: query-segments lists "
			 "them", name);
		return -1;
	}
	discard(cp, segment);
	return 0;
}
