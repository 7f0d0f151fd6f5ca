/* SPDX-License-Identifier: MIT */
/* The life cycle of guest storage, and what is saved of it. */
#include <stdio.h>
#include <string.h>

#include "config_parse.h"
#include "cp_private.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"

static void storage_state(struct cp *cp, struct state *state)
{
	struct cp_extent extent[CP_MAX_EXTENTS] = { 0 };
	uint32_t extents = cp->config.extents;
	uint64_t end = 0;

	state_tag(state, "STOR");
	state_u32(state, &extents);
	state_require(state, extents >= 1 && extents <= CP_MAX_EXTENTS);
	memcpy(extent, cp->config.extent, sizeof(extent));
	for (uint32_t i = 0; i < extents && !state->failed; i++) {
		state_u64(state, &extent[i].start);
		state_u64(state, &extent[i].size);
		state_require(state, config_extent_valid(&extent[i], end));
		storage_state_require(cp, state, extent[i].start, extent[i].size);
		end = extent[i].start + extent[i].size;
	}
	state_require(state, extent[0].start == 0);
	if (!state->failed && state->loading) {
		memcpy(cp->config.extent, extent, sizeof(extent));
		cp->config.extents = extents;
	}
	storage_standby_state(cp, state);
	if (state->loading && !state->failed)
		cp->host.storage_changed(cp->host.opaque);
}

static int storage_init(struct cp *cp, char *err, size_t errlen)
{
	struct cp_standby *standby = &cp->standby;

	storage_overlay_clear(cp);
	if (cp_config_increment(&cp->config) && !cp->host.sclp) {
		snprintf(err, errlen, "standby and reserved storage of %s need an emulator in which "
			 "storage comes and goes; only QEMU is one", cp->config.userid);
		return -1;
	}
	storage_standby_define(cp);
	standby->logon_size = storage_size(cp);
	standby->logon_most = storage_most(cp);
	return 0;
}

const struct cp_part storage_part = {
	.init = storage_init,
	.reset = storage_standby_reset,
	.state = storage_state,
};
