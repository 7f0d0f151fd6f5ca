/* SPDX-License-Identifier: MIT */
/* monread: what records add beside times and starts: states, paging, responses, the partition. */
#include <assert.h>
#include <string.h>

#include "activity.h"

/* By the names that the catalogue has. */
static const struct known_field {
	uint8_t domain, number;
	char name[10];
} known[ACTIVITY_FIELDS] = {
	[FIELD_D0R12_RUNNING] = { 0, 12, "CALCPURN" },
	[FIELD_D0R12_CPU_WAIT] = { 0, 12, "CALCPUWT" },
	[FIELD_D0R12_IO_WAIT] = { 0, 12, "CALIOWT" },
	[FIELD_D0R12_PAGE_WAIT] = { 0, 12, "CALWTPAG" },
	[FIELD_D0R12_SIMULATION] = { 0, 12, "CALSIMWT" },
	[FIELD_D0R12_IDLE] = { 0, 12, "CALTIDL" },
	[FIELD_D0R12_OTHER] = { 0, 12, "CALOTHR" },
	[FIELD_D0R12_LOADING] = { 0, 12, "CALTSVM" },
	[FIELD_D0R12_CONSOLE] = { 0, 12, "CALCFWT" },
	[FIELD_D0R15_MACHINE] = { 0, 15, "LCUTPCCT" },
	[FIELD_D0R15_NUMBER] = { 0, 15, "LPNUMBER" },
	[FIELD_D0R15_CONFIGURED] = { 0, 15, "CPUCFGCT" },
	[FIELD_D0R15_STANDBY] = { 0, 15, "CPUSTNBY" },
	[FIELD_D0R15_NAME] = { 0, 15, "LPARNAME" },
	[FIELD_D0R15_DEDICATED] = { 0, 15, "CPUDEDCT" },
	[FIELD_D0R15_SHARED] = { 0, 15, "CPUSHARD" },
	[FIELD_D1R4_SYSTEM] = { 1, 4, "SYSTMID" },
	[FIELD_D1R4_PARTITION] = { 1, 4, "LPARNAME" },
	[FIELD_D1R9_RATE] = { 1, 9, "HFRATE" },
	[FIELD_D3R4_VOLUME] = { 3, 4, "CALVSER" },
	[FIELD_D3R4_SLOTS] = { 3, 4, "CALPAGE" },
	[FIELD_D3R4_USED] = { 3, 4, "EXPCTUSI" },
	[FIELD_D3R4_READS] = { 3, 4, "EXPCTPRD" },
	[FIELD_D3R4_WRITES] = { 3, 4, "EXPCTPWR" },
	[FIELD_D4R9_RESIDENT] = { 4, 9, "VMDCTPVR" },
	[FIELD_D4R9_SLOTS] = { 4, 9, "CALCTPGS" },
	[FIELD_D4R9_READS] = { 4, 9, "CALCPPGR" },
	[FIELD_D4R9_WRITES] = { 4, 9, "CALCPPGW" },
	[FIELD_D4R9_STARTS] = { 4, 9, "VMDVDSCT" },
	[FIELD_D4R10_SAMPLES] = { 4, 10, "HFQUCT" },
	[FIELD_D4R10_RUNNING] = { 4, 10, "HFCPURN" },
	[FIELD_D4R10_CPU_WAIT] = { 4, 10, "HFCPUWT" },
	[FIELD_D4R10_IO_WAIT] = { 4, 10, "HFIOWT" },
	[FIELD_D4R10_PAGE_WAIT] = { 4, 10, "HFWTPAG" },
	[FIELD_D4R10_SIMULATION] = { 4, 10, "HFSIMWT" },
	[FIELD_D4R10_IDLE] = { 4, 10, "HFTIDL" },
	[FIELD_D4R10_DORMANT] = { 4, 10, "HFDORM" },
	[FIELD_D6R14_DEVICE] = { 6, 14, "RDEVDEV" },
	[FIELD_D6R14_CONNECT] = { 6, 14, "SCMCNTIM" },
	[FIELD_D6R14_PENDING] = { 6, 14, "SCMFPTIM" },
	[FIELD_D6R14_DISCONNECT] = { 6, 14, "SCMDDTIM" },
	[FIELD_D6R14_SAMPLES] = { 6, 14, "SCMCOUNT" },
	[FIELD_D6R14_ALL_SAMPLES] = { 6, 14, "SCGCOUNT" },
};

void activity_find_fields(struct activity *f)
{
	for (unsigned int i = 0; i < ACTIVITY_FIELDS; i++) {
		const struct monrec_layout *layout =
			monrec_layout(known[i].domain, known[i].number);
		const struct monrec_field *field =
			layout ? monrec_field(layout, known[i].name, f->release) : NULL;

		f->field[i].offset = field ? field->offset : 0;
		f->field[i].len = field && field->len <= 8 ? field->len : 0;
	}
}

/* Bytes of the field; NULL if the release or the record has it not. */
static const uint8_t *bytes(const struct activity *f, const struct monrec_record *record,
			    enum activity_field field)
{
	const struct field_place *place = &f->field[field];

	return place->len && (uint32_t)place->offset + place->len <= record->len ?
		       record->data + place->offset :
		       NULL;
}

bool activity_value(const struct activity *f, const struct monrec_record *record,
		    enum activity_field field, uint64_t *value)
{
	const uint8_t *at = bytes(f, record, field);

	if (!at)
		return false;
	*value = 0;
	for (unsigned int i = 0; i < f->field[field].len; i++)
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

	if (at && f->field[field].len == size)
		memcpy(name, at, size);
}

/* A counter that has fallen has begun anew. */
static uint32_t grown(uint32_t now, uint32_t last)
{
	return now >= last ? now - last : now;
}

/* One that has fallen: all have begun anew, as at a logon. */
static bool begun_anew(const struct state_counts *states, const uint32_t now[USER_STATES])
{
	for (unsigned int i = 0; i < USER_STATES; i++)
		if (now[i] < states->last[i])
			return true;
	return false;
}

/* @anew: they count from 0; else they wrap.  @more: where the growth is added, too; or NULL. */
static void add_states(struct state_counts *states, const uint32_t now[USER_STATES], bool anew,
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

static void add_pages(struct pages *pages, uint32_t reads, uint32_t writes)
{
	if (pages->counted) {
		pages->reads += grown(reads, pages->last_reads);
		pages->writes += grown(writes, pages->last_writes);
	}
	pages->counted = true;
	pages->last_reads = reads;
	pages->last_writes = writes;
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

	if (bytes(f, record, FIELD_D0R12_RUNNING))
		add_states(&f->system.states, now, false, f->now.found);
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

void activity_system(struct activity *f, const struct monrec_record *record)
{
	struct system_activity *s = &f->system;
	uint64_t rate;

	if (record->domain == 0 && record->number == 12) {
		take_states_of_all(f, record);
	} else if (record->domain == 0) {
		if (bytes(f, record, FIELD_D0R15_CONFIGURED))
			take_partition(f, record);
	} else if (record->number == 4) {
		copy_name(f, record, FIELD_D1R4_SYSTEM, s->name, sizeof(s->name));
		copy_name(f, record, FIELD_D1R4_PARTITION, s->partition, sizeof(s->partition));
	} else if (activity_value(f, record, FIELD_D1R9_RATE, &rate) && rate) {
		s->hf_rate = (uint32_t)rate;
	}
}

static void take_states(struct activity *f, struct user_activity *user,
			const struct monrec_record *record)
{
	uint32_t now[USER_STATES] = {
		[STATE_RUNNING] = value_or_none(f, record, FIELD_D4R10_RUNNING),
		[STATE_CPU_WAIT] = value_or_none(f, record, FIELD_D4R10_CPU_WAIT),
		[STATE_IO_WAIT] = value_or_none(f, record, FIELD_D4R10_IO_WAIT),
		[STATE_PAGE_WAIT] = value_or_none(f, record, FIELD_D4R10_PAGE_WAIT),
		[STATE_SIMULATION] = value_or_none(f, record, FIELD_D4R10_SIMULATION),
		[STATE_IDLE] = value_or_none(f, record, FIELD_D4R10_IDLE),
		[STATE_DORMANT] = value_or_none(f, record, FIELD_D4R10_DORMANT),
	};
	uint64_t samples, rest;

	if (!activity_value(f, record, FIELD_D4R10_SAMPLES, &samples))
		return;
	/* Whatever the record says, no count is negative. */
	rest = samples;
	for (unsigned int i = 0; i < STATE_OTHER; i++)
		rest -= now[i] < rest ? now[i] : rest;
	now[STATE_OTHER] = (uint32_t)rest;
	add_states(&user->states, now, begun_anew(&user->states, now), NULL);
}

static void take_user_pages(struct activity *f, struct user_activity *user,
			    const struct monrec_record *record)
{
	const uint32_t starts = value_or_none(f, record, FIELD_D4R9_STARTS);

	if (!bytes(f, record, FIELD_D4R9_WRITES))
		return;
	if (user->pages.counted)
		user->starts += grown(starts, user->last_starts);
	user->last_starts = starts;
	add_pages(&user->pages, value_or_none(f, record, FIELD_D4R9_READS),
		  value_or_none(f, record, FIELD_D4R9_WRITES));
	user->resident = value_or_none(f, record, FIELD_D4R9_RESIDENT);
	user->slots = value_or_none(f, record, FIELD_D4R9_SLOTS);
}

void activity_user(struct activity *f, struct user_activity *user,
		   const struct monrec_record *record)
{
	if (record->domain != 4)
		return;
	if (record->number == 9)
		take_user_pages(f, user, record);
	else if (record->number == 10)
		take_states(f, user, record);
}

void activity_volume(struct activity *f, struct device_activity *device,
		     const struct monrec_record *record)
{
	/* Who calls has read the I/Os, which are behind all of these. */
	assert(bytes(f, record, FIELD_D3R4_WRITES));
	device->is_paging = true;
	copy_name(f, record, FIELD_D3R4_VOLUME, device->volume, sizeof(device->volume));
	device->slots = value_or_none(f, record, FIELD_D3R4_SLOTS);
	device->slots_used = value_or_none(f, record, FIELD_D3R4_USED);
	add_pages(&device->pages, value_or_none(f, record, FIELD_D3R4_READS),
		  value_or_none(f, record, FIELD_D3R4_WRITES));
}

/* The channel subsystem's times of an I/O: pending, connected, disconnected. */
void activity_response(struct activity *f, struct device_activity *device,
		       const struct monrec_record *record)
{
	const uint32_t all = value_or_none(f, record, FIELD_D6R14_ALL_SAMPLES);

	if (!bytes(f, record, FIELD_D6R14_DISCONNECT))
		return;
	device->measured = all ? all : value_or_none(f, record, FIELD_D6R14_SAMPLES);
	device->response = (uint64_t)value_or_none(f, record, FIELD_D6R14_CONNECT) +
			   value_or_none(f, record, FIELD_D6R14_PENDING) +
			   value_or_none(f, record, FIELD_D6R14_DISCONNECT);
}
