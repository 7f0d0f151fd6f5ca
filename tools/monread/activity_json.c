/* SPDX-License-Identifier: MIT */
/* monread: what the system did in each interval, as JSON lines (docs/monread-activity.json). */
#include "sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "activity_json.h"

struct activity_json {
	struct sink sink;
	FILE *out;
	const struct releases *releases;
	struct activity_track track;
	struct activity told;		/* as of the line before */
};

static struct activity_json *json_of(struct sink *sink)
{
	return (struct activity_json *)sink;
}

void json_rate(json_t *line, const char *name, uint64_t count, uint64_t time)
{
	if (time)
		json_object_set_new(line, name,
				    json_real((double)count * (double)TOD_SECOND / (double)time));
}

static json_t *busy(const struct bucket *bucket)
{
	json_t *types = json_object();

	for (unsigned int i = 0; i < ACTIVITY_TYPES; i++)
		if (bucket->elapsed[i])
			json_object_set_new(types, activity_type_names[i],
					    json_real(100.0 * (double)bucket->busy[i] /
						      (double)bucket->elapsed[i]));
	return types;
}

/* Entries stay where they are, so that those of two lines can be compared. */
static json_t *users(const struct activity *now, const struct activity *before)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		const uint64_t time = now->user[i].time - before->user[i].time;
		char name[ACTIVITY_NAME_SIZE];

		if (time)
			json_array_append_new(list, json_pack("{s:s, s:f}", "user",
				activity_user_name(&now->user[i], name), "seconds",
				(double)time / (double)TOD_SECOND));
	}
	return list;
}

/* Of the channel subsystem, in milliseconds: of the interval, or of all that D6R14 has measured. */
static void add_response(json_t *line, const struct device_activity *now,
			 const struct device_activity *before)
{
	const bool goes_on = now->sampled && before->sampled;
	const uint64_t measured = now->measured - (goes_on ? before->measured : 0);
	const uint64_t response = now->response - (goes_on ? before->response : 0);

	if (measured)
		json_object_set_new(line, "response",
				    json_real(0.128 * (double)response / (double)measured));
}

static json_t *devices(const struct activity *now, const struct activity *before, uint64_t time)
{
	json_t *list = json_array();
	char number[8];

	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		const uint64_t starts = now->device[i].starts - before->device[i].starts;

		snprintf(number, sizeof(number), "%04X", now->device[i].number);
		if (starts && time) {
			json_t *device = json_pack("{s:s}", "device", number);

			json_rate(device, "starts", starts, time);
			add_response(device, &now->device[i], &before->device[i]);
			json_array_append_new(list, device);
		}
	}
	return list;
}

static json_t *events(const struct activity *now, const struct activity *before)
{
	json_t *list = json_array();

	for (unsigned int i = before->listed; i < now->listed; i++)
		json_array_append_new(list, json_string(now->event[i].text));
	return list;
}

static int tell(struct activity_json *j)
{
	const struct activity *now = &j->track.kept;
	const struct bucket *bucket = &now->last;
	char until[TOD_TEXT_SIZE], release[MONREC_RELEASES_TEXT];
	json_t *line = json_object();
	int ret;

	if (releases_all(j->releases))
		json_object_set_new(line, "release",
				    json_string(monrec_releases_text(releases_all(j->releases),
								     release)));
	json_object_set_new(line, "until", json_string(tod_text(bucket->last, until)));
	json_object_set_new(line, "sets", json_integer((json_int_t)now->sets));
	json_object_set_new(line, "records", json_integer((json_int_t)now->records));
	json_object_set_new(line, "busy", busy(bucket));
	if (bucket->paging_records) {
		json_rate(line, "page-reads", bucket->page_reads, bucket->time);
		json_rate(line, "page-writes", bucket->page_writes, bucket->time);
	}
	if (bucket->device_records && !bucket->devices_unknown)
		json_rate(line, "starts", bucket->starts, bucket->time);
	json_object_set_new(line, "users", users(now, &j->told));
	json_object_set_new(line, "devices", devices(now, &j->told, bucket->time));
	json_object_set_new(line, "events", events(now, &j->told));
	json_object_set_new(line, "lost", json_integer(bucket->lost));
	json_object_set_new(line, "overflows", json_integer(bucket->overflows));
	activity_json_more(line, now, &j->told);
	ret = json_dumpf(line, j->out, JSON_COMPACT | JSON_REAL_PRECISION(9));
	json_decref(line);
	j->told = *now;
	return ret || fputc('\n', j->out) == EOF || fflush(j->out) ? -errno : 0;
}

static int json_take(struct sink *sink, const struct monrec_item *item)
{
	track_item(&json_of(sink)->track, item);
	return 0;
}

static int json_keep(struct sink *sink)
{
	struct activity_json *j = json_of(sink);

	track_keep(&j->track);
	return j->track.kept.intervals > j->told.intervals ? tell(j) : 0;
}

static int json_drop(struct sink *sink)
{
	track_drop(&json_of(sink)->track);
	return 0;
}

static int json_close(struct sink *sink)
{
	free(json_of(sink));
	return 0;
}

struct sink *activity_sink(FILE *out, const struct releases *releases)
{
	static const struct sink_ops ops = { json_take, json_keep, json_drop, json_close, false };
	struct activity_json *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->sink.ops = &ops;
	j->out = out;
	j->releases = releases;
	track_init(&j->track);
	return &j->sink;
}
