/* SPDX-License-Identifier: MIT */
/* CP's facts on all guests, and the guests that a test describes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "config_parse.h"
#include "cp_private.h"
#include "zvmlab/guests.h"
#include "zvmlab/iucv.h"
#include "zvmlab/state.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

/* Bit 51 of the TOD clock is a microsecond. */
#define TOD_MICROSECOND_SHIFT 12
/* Relative share of a user whose directory entry says nothing. */
#define SHARE 100
/* So that no time overflows: all CPUs at once, for 100 years. */
#define PERCENT_MAX (100 * CP_MAX_CPUS)
#define MICROSECONDS_MAX (INT64_MAX / 2)

struct described {
	struct guest_data data;
	uint32_t cpu_percent;
	uint64_t since;		/* TOD of its description, or when it logged on */
	bool off;		/* in the directory, and not logged on */
};

struct guests {
	uint32_t count;
	struct described guest[GUESTS_MAX];	/* as they came */
};

static void forget(struct cp *cp, struct described *guest)
{
	const struct described *end = cp->system->guests->guest + cp->system->guests->count;

	memmove(guest, guest + 1, (size_t)(end - guest - 1) * sizeof(*guest));
	cp->system->guests->count--;
}

static struct described *find(const struct cp *cp, const char *name)
{
	for (uint32_t i = 0; i < cp->system->guests->count; i++)
		if (strcmp(cp->system->guests->guest[i].data.name, name) == 0)
			return &cp->system->guests->guest[i];
	return NULL;
}

bool guests_described(const struct cp *cp, const char *name)
{
	const struct described *guest = find(cp, name);

	return guest && !guest->off;
}

bool guests_logged_off(const struct cp *cp, const char *name)
{
	const struct described *guest = find(cp, name);

	return guest && guest->off;
}

bool guests_in_directory(struct cp *cp, const char *name)
{
	return find(cp, name) || parts_logged_on(cp, name) || cp_in_directory(cp, name);
}

void guests_log_on(struct cp *cp, const char *name)
{
	struct described *guest = find(cp, name);

	assert(guest && guest->off && (cp->system->recording || !cp->host.trace));
	guest->off = false;
	guest->since = cp_system_tod(cp);
	parts_logon(cp, name);
}

void guests_log_off(struct cp *cp, const char *name)
{
	struct described *guest = find(cp, name);

	assert(guest && !guest->off && (cp->system->recording || !cp->host.trace));
	parts_logoff(cp, name);
	guest->off = true;
}

/* A real one takes the place of one that is described. */
static void guests_logon(struct cp *cp, const char *userid)
{
	struct described *guest = find(cp, userid);

	if (guest && cp_machine_of(cp->system, userid))
		forget(cp, guest);
}

const char *guests_name(const struct cp *cp, unsigned int index)
{
	return index < cp->system->guests->count ? cp->system->guests->guest[index].data.name : NULL;
}

static bool data_valid(const struct guest_data *data, uint32_t cpu_percent)
{
	return data->cpu_us <= MICROSECONDS_MAX && data->online_us <= MICROSECONDS_MAX &&
	       cpu_percent <= PERCENT_MAX && data->capped <= 2 && data->cpus <= CP_MAX_CPUS &&
	       data->operating <= data->cpus && data->share_max <= GUESTS_SHARE_MAX &&
	       data->share <= data->share_max;
}

static bool group_valid(const char *group)
{
	const struct config_span span = { group, group + strlen(group) };
	char name[CP_NAME_LEN + 1];

	return *group == '\0' || (config_name(span, false, name) && strcmp(name, group) == 0);
}

/* Return: false with one sentence in @err. */
static bool may_be_described(const struct cp *cp, const struct guest_description *d,
			     const struct guest_data *data, char *err, size_t errlen)
{
	const struct config_span span = { d->name, d->name + strlen(d->name) };
	char name[CP_NAME_LEN + 1];

	if (!config_name(span, false, name) || strcmp(name, d->name) != 0) {
		snprintf(err, errlen, "\"%.32s\" cannot be a user ID", d->name);
		return false;
	}
	if (!group_valid(data->group) || (d->group && strcmp(d->group, data->group) != 0)) {
		snprintf(err, errlen, "\"%.32s\" cannot be a group's name", d->group);
		return false;
	}
	if (cp_machine_of(cp->system, name)) {
		snprintf(err, errlen, strcmp(name, cp->config.userid) == 0 ?
			 "%s is the guest itself, of which CP says what is true" :
			 "%s is another guest, of which CP says what is true", name);
		return false;
	}
	if (cp_is_agent(name)) {
		snprintf(err, errlen, "%s is the harness' own user ID; choose another name", name);
		return false;
	}
	if (!data_valid(data, d->cpu_percent)) {
		snprintf(err, errlen, "%s: a share is above its maximum, CPUs are more than %d, or "
			 "there are more operating ones than CPUs", name, CP_MAX_CPUS);
		return false;
	}
	if (find(cp, name) || cp->system->guests->count < GUESTS_MAX)
		return true;
	snprintf(err, errlen, "%u guests are described, which is the limit; forget one first",
		 GUESTS_MAX);
	return false;
}

static struct guest_data data_of(const struct cp *cp, const struct guest_description *d)
{
	struct guest_data data = {
		.cpu_us = d->cpu_us, .online_us = d->online_us, .storage_min = d->storage_min,
		.storage_max = d->storage_max, .storage_share = d->storage_share,
		.storage_used = d->storage_used, .physical = cp->system->config.cpus,
		.logical = cp->system->config.cpus, .cpus = d->cpus, .operating = d->operating,
		.share_max = d->share_max, .share = d->share, .capped = d->capped,
		.dedicated = d->dedicated,
		.sample = { d->cpu_use, d->cpu_delay, d->page_wait, d->idle, d->other },
	};

	snprintf(data.name, sizeof(data.name), "%s", d->name);
	snprintf(data.group, sizeof(data.group), "%s", d->group ? d->group : "");
	for (unsigned int i = 0; i < GUESTS_TOTAL; i++)
		data.sample[GUESTS_TOTAL] += data.sample[i];
	return data;
}

int guests_describe(struct cp *cp, const struct guest_description *d, char *err, size_t errlen)
{
	const struct guest_data data = data_of(cp, d);
	struct described *guest;

	if (!may_be_described(cp, d, &data, err, errlen))
		return -1;
	TRACE_INPUT(cp, guest_describe, .user = d->name, .group = data.group, .cpu_us = d->cpu_us,
		    .online_us = d->online_us, .cpu_percent = d->cpu_percent,
		    .storage_min = d->storage_min, .storage_max = d->storage_max,
		    .storage_share = d->storage_share, .storage_used = d->storage_used,
		    .cpus = d->cpus, .operating = d->operating, .share_max = d->share_max,
		    .share = d->share, .capped = d->capped, .dedicated = d->dedicated,
		    .cpu_use = d->cpu_use, .cpu_delay = d->cpu_delay, .page_wait = d->page_wait,
		    .idle = d->idle, .other = d->other,
		    .logged_off = d->logged_off);
	guest = find(cp, d->name);
	if (!guest)
		guest = &cp->system->guests->guest[cp->system->guests->count++];
	*guest = (struct described){
		.data = data, .cpu_percent = d->cpu_percent, .since = cp_system_tod(cp),
		.off = d->logged_off,
	};
	trace_end(cp);
	return 0;
}

bool guests_forget(struct cp *cp, const char *name)
{
	struct described *guest = find(cp, name);

	if (!guest)
		return false;
	TRACE_INPUT(cp, guest_forget, .user = name);
	forget(cp, guest);
	trace_end(cp);
	return true;
}

/* The core does not know when a CPU waits: a guest that is logged on is always running. */
static void own_data(struct cp *cp, struct guest_data *data)
{
	const uint64_t kib = storage_size(cp) / 1024;

	snprintf(data->group, sizeof(data->group), "%s", cp->config.group);
	data->online_us = clock_connected(cp);
	data->cpu_us = data->online_us * cp_cpu_count(cp);
	data->storage_max = data->storage_share = data->storage_used = kib;
	data->cpus = data->operating = cp_cpu_count(cp);
	data->share_max = GUESTS_SHARE_MAX;
	data->share = SHARE;
}

static void described_data(struct cp *cp, const struct described *guest, struct guest_data *data)
{
	const uint64_t now = cp_system_tod(cp);
	const uint64_t us = now > guest->since ? (now - guest->since) >> TOD_MICROSECOND_SHIFT : 0;

	*data = guest->data;
	data->online_us += us;
	data->cpu_us += us / 100 * guest->cpu_percent + us % 100 * guest->cpu_percent / 100;
}

void guests_data(struct cp *cp, const char *name, struct guest_data *data)
{
	const struct described *guest = find(cp, name);
	struct cp *machine = cp_machine_of(cp->system, name);

	*data = (struct guest_data){
		.physical = cp->system->config.cpus, .logical = cp->system->config.cpus,
	};
	snprintf(data->name, sizeof(data->name), "%s", name);
	if (machine)
		own_data(machine, data);
	else if (guest && !guest->off)
		described_data(cp, guest, data);
}

void guests_all(struct cp *cp, void (*each)(void *opaque, const char *name), void *opaque)
{
	bool operator_seen = guests_described(cp, CP_OPERATOR_ID) ||
			     cp_machine_of(cp->system, CP_OPERATOR_ID);
	const struct iucv_user *user;

	each(opaque, cp->config.userid);
	for (unsigned int i = 0; i < cp->system->machines; i++)
		if (cp->system->machine[i] != cp)
			each(opaque, cp->system->machine[i]->config.userid);
	for (unsigned int i = 0; (user = iucv_user_at(cp, i)) != NULL; i++) {
		const char *name = iucv_user_name(user);

		if (iucv_user_is_service(user) || cp_machine_of(cp->system, name) ||
		    cp_is_agent(name) || guests_described(cp, name))
			continue;
		each(opaque, name);
		operator_seen |= strcmp(name, CP_OPERATOR_ID) == 0;
	}
	if (!operator_seen)
		each(opaque, CP_OPERATOR_ID);
	for (uint32_t i = 0; i < cp->system->guests->count; i++)
		if (!cp->system->guests->guest[i].off)
			each(opaque, cp->system->guests->guest[i].data.name);
}

static int guests_init(struct cp_system *system, char *err, size_t errlen)
{
	system->guests = calloc(1, sizeof(*system->guests));
	if (system->guests)
		return 0;
	snprintf(err, errlen, "not enough memory for the guests that may be described");
	return -1;
}

static void guests_fini(struct cp_system *system)
{
	free(system->guests);
	system->guests = NULL;
}

static void data_state(struct state *s, struct guest_data *data)
{
	uint32_t *const numbers[] = {
		&data->physical, &data->logical, &data->cpus, &data->operating, &data->share_max,
		&data->share,
	};
	uint64_t *const amounts[] = {
		&data->cpu_us, &data->online_us, &data->storage_min, &data->storage_max,
		&data->storage_share, &data->storage_used,
	};

	state_name(s, data->name);
	for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
		state_u64(s, amounts[i]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		state_u32(s, numbers[i]);
	for (unsigned int i = 0; i < GUESTS_SAMPLES; i++)
		state_u32(s, &data->sample[i]);
	state_u8(s, &data->capped);
	state_bool(s, &data->dedicated);
	state_name(s, data->group);
}

static void guests_state(struct cp *cp, struct state *s)
{
	struct guests fresh = *cp->system->guests;

	state_tag(s, "GUES");
	state_u32(s, &fresh.count);
	state_require(s, fresh.count <= GUESTS_MAX);
	for (uint32_t i = 0; i < fresh.count && !s->failed; i++) {
		struct described *guest = &fresh.guest[i];

		data_state(s, &guest->data);
		state_u32(s, &guest->cpu_percent);
		state_u64(s, &guest->since);
		state_bool(s, &guest->off);
		state_require(s, guest->data.name[0] != '\0' &&
				 data_valid(&guest->data, guest->cpu_percent) &&
				 group_valid(guest->data.group));
		for (uint32_t j = 0; j < i; j++)
			state_require(s, strcmp(guest->data.name, fresh.guest[j].data.name) != 0);
	}
	if (!s->failed)
		*cp->system->guests = fresh;
}

const struct cp_part guests_part = {
	.logged_on = guests_described,
	.logon = guests_logon,
	.init_system = guests_init,
	.fini_system = guests_fini,
	.state_system = guests_state,
};
