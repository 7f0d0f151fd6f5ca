/* SPDX-License-Identifier: MIT */
/* monread: intervals and buckets. */
#include "activity.h"

#include <stdio.h>
#include <string.h>

#include "smaller.h"

enum { MTRSYS = 4, MTRSPR = 9, MTREND = 11, MTREOF = 13 };

const char *const activity_type_names[ACTIVITY_TYPES] = {
	"CP", "type 1", "zAAP", "IFL", "ICF", "zIIP", "type 6", "other", "unknown",
};

const char *const activity_state_names[USER_STATES] = {
#define STATE(id, key, what, threshold) key,
#include "quantities.def"
};

const char *activity_text(const uint8_t *ebcdic, uint8_t len, char name[ACTIVITY_NAME_SIZE])
{
	const struct monrec_field field = { .len = len, .type = MONREC_TEXT };
	const struct monrec_record record = { .data = ebcdic, .len = len };

	monrec_text(&record, &field, name, ACTIVITY_NAME_SIZE);
	return name;
}

const char *activity_user_name(const struct user_activity *user, char name[ACTIVITY_NAME_SIZE])
{
	char text[ACTIVITY_NAME_SIZE];

	activity_text(user->name, sizeof(user->name), text);
	if (user->address)
		snprintf(name, ACTIVITY_NAME_SIZE, "%.16s, processor %u", text, user->address);
	else
		snprintf(name, ACTIVITY_NAME_SIZE, "%s", text);
	return name;
}

uint64_t activity_user_starts(const struct activity *f)
{
	uint64_t starts = 0;

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++)
		if (!f->device[i].is_paging)
			starts += f->device[i].starts;
	return starts;
}

double activity_io_wait(const struct activity *f, uint64_t found, uint64_t starts)
{
	/* A sample stands for all the time until the next. */
	return starts ? 10.0 * f->system.hf_rate * (double)found / (double)starts : -1;
}

void activity_init(struct activity *f)
{
	memset(f, 0, sizeof(*f));
	f->merged = 1;
	f->system.hf_rate = ACTIVITY_HF_RATE;
	activity_find_fields(f);
}

static float larger_of(float one, float other)
{
	return one > other ? one : other;
}

void bucket_add(struct bucket *to, const struct bucket *more)
{
	if (!to->first)
		to->first = more->first;
	if (more->last)
		to->last = more->last;
	for (unsigned int i = 0; i < ACTIVITY_TYPES; i++) {
		to->busy[i] += more->busy[i];
		to->elapsed[i] += more->elapsed[i];
	}
	to->page_reads += more->page_reads;
	to->page_writes += more->page_writes;
	to->starts += more->starts;
	to->time += more->time;
	to->paging_records += more->paging_records;
	to->device_records += more->device_records;
	to->devices_unknown += more->devices_unknown;
	for (unsigned int i = 0; i < USER_STATES; i++)
		to->found[i] += more->found[i];
	for (unsigned int i = 0; i < EVENT_KINDS; i++)
		to->events[i] += more->events[i];
	to->lost += more->lost;
	to->overflows += more->overflows;
	to->suspended += more->suspended;
	for (unsigned int i = 0; i < SYSTEM_VALUES; i++)
		to->most[i] = larger_of(to->most[i], more->most[i]);
}

/* Each two become one. */
static void fold(struct activity *f)
{
	for (unsigned int i = 0; i < ACTIVITY_BUCKETS / 2; i++) {
		struct bucket both = f->bucket[2 * i];

		bucket_add(&both, &f->bucket[2 * i + 1]);
		f->bucket[i] = both;
	}
	f->buckets = ACTIVITY_BUCKETS / 2;
	f->merged *= 2;
	f->in_last = f->merged;
}

double activity_rate(uint64_t count, uint64_t time)
{
	return time ? (double)count * (double)TOD_SECOND / (double)time : 0;
}

static uint64_t times_of(const struct device_activity *device)
{
	return device->connect + device->pending + device->disconnect;
}

/* What has become of the device in the interval, against that of its others. */
static void note_device(const struct activity *f, struct device_activity *device)
{
	const uint64_t pages = device->pages.reads + device->pages.writes;
	const uint64_t measured = device->sampled ? device->measured - device->measured_before : 0;
	const uint64_t times = times_of(device) - device->times_before;
	const double starts_rate = activity_rate(device->starts - device->starts_before, f->now.time);
	const double pages_rate = activity_rate(pages - device->pages_before, f->now.time);

	device->starts_before = device->starts;
	device->pages_before = pages;
	if (starts_rate > device->most) {
		device->most = starts_rate;
		device->most_at = f->now.last;
	}
	if (pages_rate > device->most_pages) {
		device->most_pages = pages_rate;
		device->most_pages_at = f->now.last;
	}
	if (!measured)
		return;
	device->measured_before = device->measured;
	device->times_before = times_of(device);
	if (!device->slowest_at || (double)times / (double)measured >
		    (double)device->slowest_times / (double)device->slowest_measured) {
		device->slowest_measured = measured;
		device->slowest_times = times;
		device->slowest_at = f->now.last;
	}
}

/* Each has its busiest interval, and all together have one. */
static void note_devices(struct activity *f)
{
	uint64_t starts = 0;	/* that users wait for */
	double response = -1;

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		struct device_activity *device = &f->device[i];

		if (!device->source)
			continue;
		if (!device->is_paging)
			starts += device->starts - device->starts_before;
		note_device(f, device);
	}
	if (!f->now.devices_unknown)
		response = activity_io_wait(f, f->now.found[STATE_IO_WAIT], starts);
	if (response > f->slowest.value)
		f->slowest = (struct system_most){ response, f->now.last };
}

static void note_waits(const struct activity *f, struct user_activity *user)
{
	uint32_t samples = 0, waits[WAIT_STATES], more;

	for (unsigned int i = 0; i < USER_STATES; i++)
		samples += (uint32_t)user->states.found[i];
	more = samples - user->samples_before;
	if (!more)
		return;
	for (unsigned int i = 0; i < WAIT_STATES; i++) {
		double per_cent;

		waits[i] = (uint32_t)user->states.found[STATE_CPU_WAIT + i];
		per_cent = 100.0 * (double)(waits[i] - user->waits_before[i]) / (double)more;
		user->waits_before[i] = waits[i];
		if (user->interaction.any && per_cent > (double)user->most_waits[i]) {
			user->most_waits[i] = (float)per_cent;
			user->most_waits_at[i] = f->now.last;
		}
	}
	user->samples_before = samples;
}

static void note_paging(const struct activity *f, struct user_activity *user)
{
	const uint32_t pages = (uint32_t)(user->pages.reads + user->pages.writes);
	const double rate = activity_rate(pages - user->pages_before, f->now.time);

	user->pages_before = pages;
	if (user->activity.any && rate > (double)user->most_pages) {
		user->most_pages = (float)rate;
		user->most_pages_at = f->now.last;
	}
}

static void note_time(const struct activity *f, struct user_activity *user)
{
	const uint64_t time = user->time - user->time_before;
	const double busy = 100 * activity_rate(time, f->now.time) / (double)TOD_SECOND;

	user->time_before = user->time;
	if (activity_is_sampled(user) && busy > user->most) {
		user->most = busy;
		user->most_at = f->now.last;
	}
}

/* An interval has what samples and application data tell: they come in each, others do not. */
static void note_users(struct activity *f)
{
	static const uint8_t none[8];

	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		struct user_activity *user = &f->user[i];

		if (memcmp(user->name, none, sizeof(none)) == 0)
			continue;
		note_time(f, user);
		note_paging(f, user);
		note_waits(f, user);
	}
}

static void note_space(struct activity *f)
{
	uint64_t slots = 0, used = 0;

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		if (!f->device[i].is_paging)
			continue;
		slots += f->device[i].pages.slots;
		used += f->device[i].pages.slots_used;
	}
	f->space.slots = slots;
	f->space.used = slots ? 100.0 * (double)used / (double)slots : 0;
	if (f->space.used > f->space.fullest) {
		f->space.fullest = f->space.used;
		f->space.fullest_at = f->now.last;
	}
}

static double share(uint64_t some, uint64_t of)
{
	return of ? 100.0 * (double)some / (double)of : -1;
}

double activity_system_value(const struct bucket *bucket, enum system_value value)
{
	uint64_t samples = 0;

	if (value < SYSTEM_READS)
		return share(bucket->busy[value - SYSTEM_BUSY], bucket->elapsed[value - SYSTEM_BUSY]);
	if (value >= SYSTEM_STATES) {
		for (unsigned int i = 0; i < USER_STATES; i++)
			samples += bucket->found[i];
		return share(bucket->found[value - SYSTEM_STATES], samples);
	}
	if (!bucket->time)
		return -1;
	if (value == SYSTEM_STARTS)
		return bucket->devices_unknown || !bucket->device_records ?
			       -1 :
			       activity_rate(bucket->starts, bucket->time);
	if (!bucket->paging_records)
		return -1;
	return activity_rate(value == SYSTEM_READS ? bucket->page_reads : bucket->page_writes,
			     bucket->time);
}

static void note_system(struct activity *f)
{
	for (unsigned int i = 0; i < SYSTEM_VALUES; i++) {
		const double value = activity_system_value(&f->now, i);

		f->now.most[i] = (float)value;
		if (value >= 0 && (value > f->most[i].value || !f->most[i].at))
			f->most[i] = (struct system_most){ value, f->now.last };
	}
}

static void end_interval(struct activity *f, uint64_t tod)
{
	const struct bucket *before = f->buckets ? &f->bucket[f->buckets - 1] : NULL;

	/* A clock that was set back has no begin to be measured from. */
	f->now.first = before && before->last <= tod ? before->last : tod;
	f->now.last = tod;
	f->now.time = tod - f->now.first;
	note_devices(f);
	note_users(f);
	note_space(f);
	note_system(f);
	f->intervals++;
	if (f->users_sampled) {
		f->users_sampled = false;
		f->user_samples++;
		f->sampled_until = tod;
	}
	if (f->buckets && f->in_last < f->merged) {
		bucket_add(&f->bucket[f->buckets - 1], &f->now);
		f->in_last++;
	} else {
		if (f->buckets == ACTIVITY_BUCKETS)
			fold(f);
		f->bucket[f->buckets++] = f->now;
		f->in_last = 1;
	}
	f->last = f->now;
	memset(&f->now, 0, sizeof(f->now));
}

uint64_t activity_unused(const struct activity *f, unsigned int domain, unsigned int number,
			 enum record_use use)
{
	return f->unused[smaller(domain, ACTIVITY_DOMAINS - 1)]
			[smaller(number, ACTIVITY_NUMBERS - 1)][use];
}

/* D1R11 and D1R13 are the framing, which is used. */
static void take(struct activity *f, const struct monrec_record *record)
{
	enum record_use use = activity_record(f, record);
	const bool framing = record->domain == 1 && record->number >= MTREND && record->number <= MTREOF;

	f->records++;
	if (activity_event(f, record) || framing)
		use = RECORD_USED;
	if (use != RECORD_USED)
		f->unused[smaller(record->domain, ACTIVITY_DOMAINS - 1)]
			 [smaller(record->number, ACTIVITY_NUMBERS - 1)][use]++;
}

void activity_item(struct activity *f, const struct monrec_item *item)
{
	switch (item->kind) {
	case MONREC_RECORD:
		take(f, &item->record);
		if (item->record.domain == 1 && item->record.number == MTREND &&
		    item->element.type != MONREC_TYPE_EVENT)
			end_interval(f, item->record.tod);
		break;
	case MONREC_SET_END:
		f->sets++;
		break;
	case MONREC_SET_LOST:
		f->now.lost++;
		break;
	case MONREC_OVERFLOW:
		f->now.overflows++;
		break;
	default:
		break;
	}
}

bool activity_is_of_system(const struct monrec_record *record)
{
	return record->domain == 1 && (record->number == MTRSYS || record->number == MTRSPR);
}

void activity_earlier(struct activity *f, const struct monrec_record *record)
{
	activity_record(f, record);
}

void activity_end(struct activity *f)
{
	const struct bucket none = { 0 };
	uint64_t tod = f->buckets ? f->bucket[f->buckets - 1].last : 0;

	if (memcmp(&f->now, &none, sizeof(none)) == 0)
		return;
	for (unsigned int i = 0; i < f->listed; i++)
		if (f->event[i].tod > tod)
			tod = f->event[i].tod;
	end_interval(f, tod);
}

void track_init(struct activity_track *track)
{
	activity_init(&track->now);
	track->kept = track->now;
}

void track_keep(struct activity_track *track)
{
	track->kept = track->now;
}

void track_drop(struct activity_track *track)
{
	track->now = track->kept;
}

void track_earlier(struct activity_track *track, const struct monrec_record *record)
{
	activity_earlier(&track->now, record);
	activity_earlier(&track->kept, record);
}

void track_item(struct activity_track *track, const struct monrec_item *item)
{
	const bool lost = item->kind == MONREC_SET_LOST;

	if (lost)
		track_drop(track);
	activity_item(&track->now, item);
	if (lost)
		track_keep(track);
}
