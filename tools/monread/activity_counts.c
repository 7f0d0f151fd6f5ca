/* SPDX-License-Identifier: MIT */
/* monread: what records add beside times and starts: states, paging, responses, the partition. */
#include <assert.h>
#include <string.h>

#include "activity.h"

static const struct known_field {
	uint8_t domain, number;
	char name[10];
} known[ACTIVITY_FIELDS] = {
#define FIELD(id, domain, number, name) { domain, number, name },
#include "activity_fields.def"
};

static void find_fields(struct field_place *field, unsigned int release)
{
	for (unsigned int i = 0; i < ACTIVITY_FIELDS; i++) {
		const struct monrec_layout *layout =
			monrec_layout(known[i].domain, known[i].number);
		const struct monrec_field *found =
			layout ? monrec_field(layout, known[i].name, release) : NULL;

		field[i].offset = found ? found->offset : 0;
		field[i].len = found && found->len <= 8 ? found->len : 0;
	}
}

void activity_find_fields(struct activity *f)
{
	for (unsigned int i = 0; i < MONREC_RELEASES; i++)
		find_fields(f->field[i], monrec_release(i));
}

/* Of a field that is not known in the record's release the length is 0. */
static struct field_place place_of(const struct activity *f, const struct monrec_record *record,
				   enum activity_field field)
{
	for (unsigned int i = 0; i < MONREC_RELEASES; i++)
		if (monrec_release(i) == record->release)
			return f->field[i][field];
	return (struct field_place){ 0 };
}

/* Bytes of the field; NULL if the record's release or the record has it not. */
static const uint8_t *bytes(const struct activity *f, const struct monrec_record *record,
			    enum activity_field field)
{
	const struct field_place place = place_of(f, record, field);

	return place.len && (uint32_t)place.offset + place.len <= record->len ?
		       record->data + place.offset :
		       NULL;
}

bool activity_value(const struct activity *f, const struct monrec_record *record,
		    enum activity_field field, uint64_t *value)
{
	const uint8_t *at = bytes(f, record, field);

	if (!at)
		return false;
	*value = 0;
	for (unsigned int i = 0; i < place_of(f, record, field).len; i++)
		*value = *value << 8 | at[i];
	return true;
}

/* 0 if it is not there. */
static uint32_t value_or_none(const struct activity *f, const struct monrec_record *record,
			      enum activity_field field)
{
	uint64_t value;

	return activity_value(f, record, field, &value) ? (uint32_t)value : 0;
}

static void copy_name(const struct activity *f, const struct monrec_record *record,
		      enum activity_field field, uint8_t *name, size_t size)
{
	const uint8_t *at = bytes(f, record, field);

	if (at && place_of(f, record, field).len == size)
		memcpy(name, at, size);
}

uint32_t activity_grown(uint32_t now, uint32_t last)
{
	/* It has wrapped, unless that would have been more than half of what it can count. */
	return now >= last || now - last <= UINT32_MAX / 2 ? now - last : now;
}

bool states_begun_anew(const struct state_counts *states, const uint32_t now[USER_STATES])
{
	for (unsigned int i = 0; i < USER_STATES; i++)
		if (now[i] < states->last[i])
			return true;
	return false;
}

void states_add(struct state_counts *states, const uint32_t now[USER_STATES], bool anew,
		uint64_t more[USER_STATES])
{
	for (unsigned int i = 0; i < USER_STATES; i++) {
		const uint32_t last = anew ? 0 : states->last[i];
		const uint32_t growth = states->counted ? now[i] - last : 0;

		states->last[i] = now[i];
		states->found[i] += growth;
		if (more)
			more[i] += growth;
	}
	states->counted = true;
}

static void take_states_of_all(struct activity *f, const struct monrec_record *record)
{
	const uint32_t now[USER_STATES] = {
		[STATE_RUNNING] = value_or_none(f, record, FIELD_D0R12_RUNNING),
		[STATE_CPU_WAIT] = value_or_none(f, record, FIELD_D0R12_CPU_WAIT),
		[STATE_IO_WAIT] = value_or_none(f, record, FIELD_D0R12_IO_WAIT),
		[STATE_PAGE_WAIT] = value_or_none(f, record, FIELD_D0R12_PAGE_WAIT),
		[STATE_SIMULATION] = value_or_none(f, record, FIELD_D0R12_SIMULATION),
		[STATE_IDLE] = value_or_none(f, record, FIELD_D0R12_IDLE),
		[STATE_OTHER] = value_or_none(f, record, FIELD_D0R12_OTHER) +
				value_or_none(f, record, FIELD_D0R12_LOADING) +
				value_or_none(f, record, FIELD_D0R12_CONSOLE),
	};

	states_add(&f->system.states, now, false, f->now.found);
}

static void take_partition(struct activity *f, const struct monrec_record *record)
{
	struct system_activity *s = &f->system;

	copy_name(f, record, FIELD_D0R15_NAME, s->partition, sizeof(s->partition));
	s->has_partition = true;
	s->number = (uint16_t)value_or_none(f, record, FIELD_D0R15_NUMBER);
	s->machine = (uint16_t)value_or_none(f, record, FIELD_D0R15_MACHINE);
	s->configured = (uint16_t)value_or_none(f, record, FIELD_D0R15_CONFIGURED);
	s->standby = (uint16_t)value_or_none(f, record, FIELD_D0R15_STANDBY);
	s->shared = (uint16_t)value_or_none(f, record, FIELD_D0R15_SHARED);
	s->dedicated = (uint16_t)value_or_none(f, record, FIELD_D0R15_DEDICATED);
}

enum record_use activity_system(struct activity *f, const struct monrec_record *record)
{
	struct system_activity *s = &f->system;
	uint64_t rate;

	if (record->domain == 0 && record->number == 12) {
		if (!bytes(f, record, FIELD_D0R12_RUNNING))
			return RECORD_NOT_UNDERSTOOD;
		take_states_of_all(f, record);
	} else if (record->domain == 0) {
		if (!bytes(f, record, FIELD_D0R15_CONFIGURED))
			return RECORD_NOT_UNDERSTOOD;
		take_partition(f, record);
	} else if (record->number == 4) {
		if (!bytes(f, record, FIELD_D1R4_SYSTEM))
			return RECORD_NOT_UNDERSTOOD;
		copy_name(f, record, FIELD_D1R4_SYSTEM, s->name, sizeof(s->name));
		copy_name(f, record, FIELD_D1R4_PARTITION, s->partition, sizeof(s->partition));
	} else {
		if (!activity_value(f, record, FIELD_D1R9_RATE, &rate))
			return RECORD_NOT_UNDERSTOOD;
		s->hf_rate = rate ? (uint32_t)rate : s->hf_rate;
	}
	return RECORD_USED;
}

bool activity_states(const struct activity *f, const struct monrec_record *record,
		     enum activity_field first, uint32_t now[USER_STATES])
{
	static const enum user_state in_order[] = {
		STATE_RUNNING, STATE_CPU_WAIT, STATE_IO_WAIT, STATE_PAGE_WAIT, STATE_SIMULATION,
		STATE_IDLE, STATE_DORMANT,
	};
	const unsigned int count = sizeof(in_order) / sizeof(in_order[0]);
	uint32_t rest = value_or_none(f, record, first + count + 1);

	/* HFSTCT has the samples of states, HFQUCT those of queues (IBM's block HFUBK). */
	if (!bytes(f, record, first) && !bytes(f, record, first + count + 1))
		return false;
	rest = rest ? rest : value_or_none(f, record, first);
	for (unsigned int i = 0; i < count; i++) {
		now[in_order[i]] = value_or_none(f, record, first + 1 + i);
		/* Whatever the record says, no count is negative. */
		rest -= now[in_order[i]] < rest ? now[in_order[i]] : rest;
	}
	now[STATE_OTHER] = rest;
	return true;
}

enum way { WAY_LATEST, WAY_COUNTER };

static void take_value(uint64_t *value, uint32_t *last, uint32_t now, enum way way,
		       enum going going)
{
	if (way == WAY_LATEST)
		*value = now;
	else if (going != BEGINS)
		*value += now - (going == BEGINS_ANEW ? 0 : *last);
	*last = now;
}

/* D4R3's field stands behind that of D4R9. */
static uint32_t user_value(const struct activity *f, const struct monrec_record *record,
			   enum activity_field field)
{
	return value_or_none(f, record, field + (record->number == 3));
}

bool activity_take_pages(struct activity *f, struct user_activity *user,
			 const struct monrec_record *record, enum going going)
{
	struct user_pages *pages = &user->pages;

	if (!bytes(f, record, FIELD_D4R9_writes + (record->number == 3)))
		return false;
#define USER_VALUE(member, way, name)                        \
	take_value(&pages->member, &pages->last_##member,    \
		   user_value(f, record, FIELD_D4R9_##member), WAY_##way, going);
#include "activity_fields.def"
	pages->counted = true;
	return true;
}

void activity_take_times(struct activity *f, struct user_activity *user,
			 const struct monrec_record *record, enum going going)
{
	const bool sample = record->number == 3;
	struct user_times now = { .counted = true };
	const struct user_times last = user->times;

	if (!activity_value(f, record, sample ? FIELD_D4R3_TIME : FIELD_D4R9_TOTAL, &now.total) ||
	    !activity_value(f, record, sample ? FIELD_D4R3_VIRTUAL : FIELD_D4R9_VIRTUAL, &now.virtual))
		return;
	user->times = now;
	if (!last.counted || going == BEGINS)
		return;
	if (going == BEGINS_ANEW || now.total < last.total || now.virtual < last.virtual) {
		user->total += now.total;
		user->virtual += now.virtual;
	} else {
		user->total += now.total - last.total;
		user->virtual += now.virtual - last.virtual;
	}
}

/* A counter that has fallen tells of a logon: nothing else in the record of a transaction does. */
static enum going going_of_event(const struct activity *f, const struct user_activity *user,
				 const struct monrec_record *record)
{
	if (!user->pages.counted)
		return BEGINS;
#define USER_VALUE(member, way, name)                                   \
	if (WAY_##way == WAY_COUNTER &&                                 \
	    user_value(f, record, FIELD_D4R9_##member) < user->pages.last_##member) \
		return BEGINS_ANEW;
#include "activity_fields.def"
	return GOES_ON;
}

enum record_use activity_user_event(struct activity *f, struct user_activity *user,
				    const struct monrec_record *record)
{
	uint32_t now[USER_STATES];

	if (record->number == 9) {
		if (user->activity.any)
			return RECORD_ELSEWHERE;
		activity_take_times(f, user, record, GOES_ON);
		return activity_take_pages(f, user, record, going_of_event(f, user, record)) ?
			       RECORD_USED :
			       RECORD_NOT_UNDERSTOOD;
	}
	if (user->interaction.any)
		return RECORD_ELSEWHERE;
	if (!activity_states(f, record, FIELD_D4R10_SAMPLES, now))
		return RECORD_NOT_UNDERSTOOD;
	states_add(&user->states, now, states_begun_anew(&user->states, now), NULL);
	return RECORD_USED;
}

static enum going going_of_counter(bool counted, uint32_t now, uint32_t last)
{
	if (!counted)
		return BEGINS;
	return activity_grown(now, last) == now - last ? GOES_ON : BEGINS_ANEW;
}

enum record_use activity_volume(struct activity *f, struct device_activity *device,
				const struct monrec_record *record)
{
	struct volume_pages *pages = &device->pages;
	uint32_t now;

	/* Who calls has read the I/Os, which are behind all of these. */
	assert(bytes(f, record, FIELD_D3R4_writes));
	device->is_paging = true;
	copy_name(f, record, FIELD_D3R4_VOLUME, device->volume, sizeof(device->volume));
#define VOLUME_VALUE(member, way, name)                             \
	now = value_or_none(f, record, FIELD_D3R4_##member);        \
	take_value(&pages->member, &pages->last_##member, now, WAY_##way, \
		   going_of_counter(pages->counted, now, pages->last_##member));
#include "activity_fields.def"
	pages->counted = true;
	if (pages->slots && 100.0 * (double)pages->slots_used / (double)pages->slots > device->fullest) {
		device->fullest = 100.0 * (double)pages->slots_used / (double)pages->slots;
		device->fullest_at = record->tod;
	}
	return RECORD_USED;
}

/* The channel subsystem's times of an I/O: pending, connected, disconnected. */
enum record_use activity_response(struct activity *f, struct device_activity *device,
				  const struct monrec_record *record)
{
	const uint32_t all = value_or_none(f, record, FIELD_D6R14_ALL_SAMPLES);

	if (device->sampled)
		return RECORD_ELSEWHERE;
	if (!bytes(f, record, FIELD_D6R14_disconnect))
		return RECORD_NOT_UNDERSTOOD;
	device->measured = all ? all : value_or_none(f, record, FIELD_D6R14_SAMPLES);
#define DEVICE_TIME(member, name) device->member = value_or_none(f, record, FIELD_D6R14_##member);
#include "activity_fields.def"
	return RECORD_USED;
}

void activity_no_times(struct device_activity *device)
{
	device->measured = 0;
#define DEVICE_TIME(member, name) device->member = 0;
#include "activity_fields.def"
}

void activity_measured(struct activity *f, struct device_activity *device,
		       const struct monrec_record *record)
{
	const struct measurement now = {
		.counted = true,
		.samples = value_or_none(f, record, FIELD_D6R3_ALL_SAMPLES),
		.short_samples = value_or_none(f, record, FIELD_D6R3_SAMPLES),
#define DEVICE_TIME(member, name) .member = value_or_none(f, record, FIELD_D6R3_##member),
#include "activity_fields.def"
	}, last = device->block;
	uint32_t samples;

	device->block = now;
	if (!last.counted)
		return;
	/* The count of 2 bytes is all there is where the other one does not count. */
	samples = now.samples || last.samples ? activity_grown(now.samples, last.samples) :
						(uint16_t)(now.short_samples - last.short_samples);
	if (!samples)
		return;
	if (!device->sampled)
		activity_no_times(device);
	device->sampled = true;
	device->measured += samples;
#define DEVICE_TIME(member, name) device->member += activity_grown(now.member, last.member);
#include "activity_fields.def"
}
