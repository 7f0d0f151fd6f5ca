/* SPDX-License-Identifier: MIT */
/* monread: the page, written when all has been read. */
#include "sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "keep.h"

struct html {
	struct sink sink;
	struct keep keep;
	const char *title;
	const struct releases *releases;
	const struct thresholds *thresholds;
	struct activity_track track;
	struct user_curves curves;	/* of what is kept */
};

static struct html *html_of(struct sink *sink)
{
	return (struct html *)sink;
}

static int html_item(struct sink *sink, const struct monrec_item *item)
{
	track_item(&html_of(sink)->track, item);
	return 0;
}

static int html_keep(struct sink *sink)
{
	struct html *h = html_of(sink);

	track_keep(&h->track);
	curves_take(&h->curves, &h->track.kept);
	return 0;
}

static void html_earlier(struct sink *sink, const struct monrec_record *record)
{
	track_earlier(&html_of(sink)->track, record);
}

static int html_drop(struct sink *sink)
{
	track_drop(&html_of(sink)->track);
	return 0;
}

static int html_close(struct sink *sink)
{
	struct html *h = html_of(sink);
	int ret = 0, closed;

	if (h->keep.file) {
		activity_end(&h->track.kept);
		curves_take(&h->curves, &h->track.kept);
		h->track.kept.releases = releases_all(h->releases);
		ret = html_page(h->keep.file, &h->track.kept, &h->curves, h->title,
				h->thresholds);
		if (!ret)
			ret = keep_mark(&h->keep);
	}
	closed = keep_close(&h->keep);
	free(h);
	return ret ? ret : closed;
}

struct sink *html_sink(const char *name, const char *title, const struct releases *releases,
		       const struct thresholds *thresholds)
{
	static const struct sink_ops ops = { html_item, html_keep, html_drop, html_close, false };
	struct html *h = calloc(1, sizeof(*h));
	const int ret = h ? keep_open(&h->keep, name, NULL, 0) : -ENOMEM;

	if (ret) {
		free(h);
		errno = -ret;
		return NULL;
	}
	h->sink.ops = &ops;
	h->sink.earlier = html_earlier;
	h->title = title;
	h->releases = releases;
	h->thresholds = thresholds;
	track_init(&h->track);
	return &h->sink;
}
