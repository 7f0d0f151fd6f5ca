/* SPDX-License-Identifier: MIT */
/* monread: the tables, printed when all has been read. */
#include "sink.h"

#include <stdlib.h>

#include "report.h"

struct tables {
	struct sink sink;
	FILE *out;
	const struct releases *releases;
	const struct thresholds *thresholds;
	struct activity_track track;
};

static struct tables *tables_of(struct sink *sink)
{
	return (struct tables *)sink;
}

static int tables_item(struct sink *sink, const struct monrec_item *item)
{
	track_item(&tables_of(sink)->track, item);
	return 0;
}

static int tables_keep(struct sink *sink)
{
	track_keep(&tables_of(sink)->track);
	return 0;
}

static void tables_earlier(struct sink *sink, const struct monrec_record *record)
{
	track_earlier(&tables_of(sink)->track, record);
}

static int tables_drop(struct sink *sink)
{
	track_drop(&tables_of(sink)->track);
	return 0;
}

static int tables_close(struct sink *sink)
{
	struct tables *t = tables_of(sink);
	int ret;

	activity_end(&t->track.kept);
	t->track.kept.releases = releases_all(t->releases);
	ret = report_text(t->out, &t->track.kept, t->thresholds);
	free(t);
	return ret;
}

struct sink *tables_sink(FILE *out, const struct releases *releases,
			 const struct thresholds *thresholds)
{
	static const struct sink_ops ops = { tables_item, tables_keep, tables_drop, tables_close,
					     false };
	struct tables *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->sink.ops = &ops;
	t->sink.earlier = tables_earlier;
	t->out = out;
	t->releases = releases;
	t->thresholds = thresholds;
	track_init(&t->track);
	return &t->sink;
}
