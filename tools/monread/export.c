/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* ppoll() */
#include "export.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "exit_code.h"
#include "signals.h"

/* Both of complete sets alone; copied there when a set is complete, or lost. */
struct shared {
	struct activity activity;
	struct tally tally;
};

struct export {
	struct export_source source;
	struct exporter *exporter;
	const struct tally *tally;
	const struct releases *releases;
	pthread_mutex_t lock;		/* of shared */
	struct shared shared;
	bool listens;
};

struct export_sink {
	struct sink sink;
	struct export *export;
	struct activity_track track;
};

static struct export_sink *export_of(struct sink *sink)
{
	return (struct export_sink *)sink;
}

static int export_item(struct sink *sink, const struct monrec_item *item)
{
	track_item(&export_of(sink)->track, item);
	return 0;
}

static void share(struct export_sink *of)
{
	pthread_mutex_lock(&of->export->lock);
	of->export->shared.activity = of->track.kept;
	of->export->shared.activity.releases = releases_all(of->export->releases);
	of->export->shared.tally = *of->export->tally;
	pthread_mutex_unlock(&of->export->lock);
}

static int export_keep(struct sink *sink)
{
	track_keep(&export_of(sink)->track);
	share(export_of(sink));
	return 0;
}

static void export_earlier(struct sink *sink, const struct monrec_record *record)
{
	track_earlier(&export_of(sink)->track, record);
}

static int export_drop(struct sink *sink)
{
	track_drop(&export_of(sink)->track);
	share(export_of(sink));
	return 0;
}

static int export_close(struct sink *sink)
{
	free(export_of(sink));
	return 0;
}

static struct sink *export_sink(struct export *export)
{
	static const struct sink_ops ops = { export_item, export_keep, export_drop, export_close,
					     false };
	struct export_sink *of = calloc(1, sizeof(*of));

	if (!of)
		return NULL;
	of->sink.ops = &ops;
	of->sink.earlier = export_earlier;
	of->export = export;
	track_init(&of->track);
	return &of->sink;
}

/* export_source */
static void collect(void *context, struct metrics *metrics)
{
	struct export *export = context;

	pthread_mutex_lock(&export->lock);
	export_values(metrics, &export->shared.activity, &export->shared.tally);
	pthread_mutex_unlock(&export->lock);
}

int export_begin(struct export **made, const struct options *options, const struct tally *tally,
		 const struct releases *releases, struct sinks *sinks)
{
	struct export *export = calloc(1, sizeof(*export));
	bool good;
	int code;

	*made = NULL;
	if (!export) {
		complain_about("exporting", ENOMEM);
		return EXIT_FAILED;
	}
	export->tally = tally;
	export->releases = releases;
	export->listens = options->exports.listen;
	pthread_mutex_init(&export->lock, NULL);
	export->source = (struct export_source){
		.tool = "monread", .families = export_families, .count = EXPORT_FAMILIES,
		.collect = collect, .context = export,
	};
	code = exporter_open(&export->exporter, &options->exports, &export->source);
	if (code) {
		free(export);
		return code;
	}
	good = sinks_add(sinks, export_sink(export), "exporting");
	if (good && exporter_lines(export->exporter))
		good = sinks_add(sinks, activity_sink(exporter_lines(export->exporter), releases),
				 "JSON lines");
	*made = export;
	return good ? EXIT_PASS : EXIT_FAILED;
}

void export_stay(const struct export *export, const struct input *input, int code)
{
	sigset_t none;

	/* A signal and a wait that was too long have codes of their own. */
	if (!export->listens || (input->format == MONREC_DEVICE && !input->index) ||
	    code > EXIT_FAILED)
		return;
	sigemptyset(&none);
	while (signals_count() == 0)
		ppoll(NULL, 0, NULL, &none);
}

int export_end(struct export *export, int code)
{
	int end;

	if (!export)
		return code;
	end = exporter_close(export->exporter);
	pthread_mutex_destroy(&export->lock);
	free(export);
	return code ? code : end;
}
