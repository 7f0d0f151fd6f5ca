/* SPDX-License-Identifier: MIT */
/* Life cycle of a CP: what it consists of, how it begins and ends. */
#include <stdio.h>
#include <stdlib.h>

#include "cp_private.h"

/* Two parts with one name do not compile. */
enum part_index {
#define CP_PART(name) PART_##name,
#include "parts.def"
#undef CP_PART
	PARTS
};

static const struct cp_part *const parts[PARTS + 1] = {
#define CP_PART(name) [PART_##name] = &name##_part,
#include "parts.def"
#undef CP_PART
};

static void fini_parts(struct cp *cp, size_t count)
{
	while (count-- > 0)
		if (parts[count]->fini)
			parts[count]->fini(cp);
}

static int init_parts(struct cp *cp, char *err, size_t errlen)
{
	for (size_t i = 0; i < PARTS; i++) {
		int rc = 0;

		assert(parts[i]);
		if (parts[i]->init)
			rc = parts[i]->init(cp, err, errlen);
		assert(rc == 0 || rc == -1);
		if (rc != 0) {
			fini_parts(cp, i);
			return -1;
		}
	}
	return 0;
}

struct cp *cp_create(const struct cp_config *config, const struct cp_host *host, char *err,
		     size_t errlen)
{
	struct cp *cp = calloc(1, sizeof(*cp));

	assert(host->map && host->dirty && host->tod && host->kick);
	assert(host->set_timer && host->storage_changed);
	if (!cp || cp_config_copy(&cp->config, config) != 0) {
		snprintf(err, errlen, "not enough memory for the CP");
		free(cp);
		return NULL;
	}
	assert(cp->config.cpus > 0 && cp->config.cpus <= CP_MAX_CPUS && cp->config.extents > 0);
	cp->host = *host;
	cp->parts = parts;
	cp->random = config->seed;
	if (init_parts(cp, err, errlen) != 0) {
		cp_config_fini(&cp->config);
		free(cp);
		return NULL;
	}
	return cp;
}

void cp_destroy(struct cp *cp)
{
	if (!cp)
		return;
	assert(!cp->in_record);
	fini_parts(cp, PARTS);
	cp_config_fini(&cp->config);
	free(cp);
}
