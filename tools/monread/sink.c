/* SPDX-License-Identifier: MIT */
/* monread: items to all outputs, and what becomes of one that fails. */
#include "sink.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Errors that mean more here than their own words say. */
static void explain(const char *name, int error)
{
	if (error == ECANCELED)
		return;
	if (error == ESPIPE)
		fprintf(stderr, "monread: %s: the output must be a regular file, so that a lost "
			"set can be removed from it again\n", name);
	else if (error == E2BIG)
		fprintf(stderr, "monread: %s: ends before a set with more than %u control elements, "
			"for which a file of MONWRITE has no room\n", name, MONREC_MAX_ELEMENTS);
	else
		complain_about(name, error);
}

bool sinks_add(struct sinks *sinks, struct sink *sink, const char *name)
{
	assert(sinks->count < MOST_SINKS);
	if (!sink) {
		explain(name, errno);
		return false;
	}
	sink->name = name;
	sinks->sink[sinks->count++] = sink;
	sinks->frames |= sink->ops->frames;
	return true;
}

static int give(struct sink *sink, const struct monrec_item *item)
{
	int ret;

	if (item->kind == MONREC_FRAME && !sink->ops->frames)
		return 0;
	ret = sink->ops->item(sink, item);
	if (ret == 0 && (item->kind == MONREC_SET_END || item->kind == MONREC_OVERFLOW))
		ret = sink->ops->keep(sink);
	else if (ret == 0 && item->kind == MONREC_SET_LOST)
		ret = sink->ops->drop(sink);
	return ret;
}

static void end(struct sinks *sinks, unsigned int index, int error)
{
	struct sink *sink = sinks->sink[index];
	const char *name = sink->name;
	int ret = sink->ops->drop(sink);
	const int closed = sink->ops->close(sink);

	if (error == 0)
		error = ret ? ret : closed;
	if (error) {
		explain(name, -error);
		sinks->failed = true;
	}
	sinks->sink[index] = sinks->sink[--sinks->count];
}

void sinks_item(struct sinks *sinks, const struct monrec_item *item)
{
	for (unsigned int i = sinks->count; i-- > 0;) {
		const int ret = give(sinks->sink[i], item);

		if (ret)
			end(sinks, i, ret);
	}
}

void sinks_earlier(struct sinks *sinks, const struct monrec_record *record)
{
	for (unsigned int i = 0; i < sinks->count; i++)
		if (sinks->sink[i]->earlier)
			sinks->sink[i]->earlier(sinks->sink[i], record);
}

void sinks_close(struct sinks *sinks)
{
	while (sinks->count > 0)
		end(sinks, sinks->count - 1, 0);
}
