/* SPDX-License-Identifier: MIT */
/* monread: what the system did in each interval, as JSON lines. */
#include "sink.h"

#include <errno.h>
#include <stdlib.h>

#include "activity_line.h"

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

static int tell(struct activity_json *j)
{
	json_t *line = activity_line(&j->track.kept, &j->told, releases_all(j->releases));
	const int ret = json_dumpf(line, j->out, JSON_COMPACT | JSON_REAL_PRECISION(9));

	json_decref(line);
	j->told = j->track.kept;
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

static void json_earlier(struct sink *sink, const struct monrec_record *record)
{
	track_earlier(&json_of(sink)->track, record);
	activity_earlier(&json_of(sink)->told, record);
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
	j->sink.earlier = json_earlier;
	j->out = out;
	j->releases = releases;
	track_init(&j->track);
	return &j->sink;
}
