/* SPDX-License-Identifier: MIT */
/* monread: the bytes of /dev/monreader as a file, and its index. */
#include "sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "keep.h"
#include "bytes.h"

struct stream {
	struct sink sink;
	struct keep data, index;
	uint64_t sets;
	bool has_interrupt;
	uint8_t interrupt[MONREC_INTERRUPT_SIZE];
};

static struct stream *stream_of(struct sink *sink)
{
	return (struct stream *)sink;
}

static int write_element(struct stream *s, const struct monrec_element *element)
{
	uint8_t bytes[MONREC_ELEMENT_SIZE];

	monrec_element_bytes(element, bytes);
	return keep_write(&s->data, bytes, sizeof(bytes));
}

static int write_index(struct stream *s)
{
	fprintf(s->index.file, "{\"set\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"length\":%" PRIu64,
		s->sets, s->data.kept, keep_at(&s->data) - s->data.kept);
	if (s->has_interrupt) {
		fputs(",\"interrupt\":\"", s->index.file);
		for (unsigned int i = 0; i < sizeof(s->interrupt); i++)
			fprintf(s->index.file, "%02x", s->interrupt[i]);
		fputc('"', s->index.file);
	}
	fputs("}\n", s->index.file);
	return ferror(s->index.file) ? -errno : 0;
}

static int stream_item(struct sink *sink, const struct monrec_item *item)
{
	struct stream *s = stream_of(sink);

	switch (item->kind) {
	case MONREC_SET:
		s->has_interrupt = item->interrupt != NULL;
		if (s->has_interrupt)
			memcpy(s->interrupt, item->interrupt, sizeof(s->interrupt));
		return 0;
	case MONREC_ELEMENT:
		return write_element(s, &item->element);
	case MONREC_FRAME:
		return keep_write(&s->data, item->record.data, item->record.len);
	case MONREC_SET_END:
		s->sets++;
		return write_index(s);
	default:
		return 0;
	}
}

static int stream_keep(struct sink *sink)
{
	struct stream *s = stream_of(sink);
	int ret = keep_flush(&s->data);

	/* Both or none. */
	if (!ret)
		ret = keep_flush(&s->index);
	if (!ret)
		ret = keep_mark(&s->data);
	return ret ? ret : keep_mark(&s->index);
}

static int stream_drop(struct sink *sink)
{
	struct stream *s = stream_of(sink);
	const int ret = keep_back(&s->data), index = keep_back(&s->index);

	return ret ? ret : index;
}

static int stream_close(struct sink *sink)
{
	struct stream *s = stream_of(sink);
	const int ret = keep_close(&s->data), index = keep_close(&s->index);

	free(s);
	return ret ? ret : index;
}

struct sink *stream_sink(const char *name)
{
	static const struct sink_ops ops = {
		stream_item, stream_keep, stream_drop, stream_close, true,
	};
	struct stream *s = calloc(1, sizeof(*s));
	char *index = index_name(name);
	int ret = s && index ? 0 : -ENOMEM;

	if (!ret)
		ret = keep_open(&s->data, name, NULL, 0);
	if (!ret)
		ret = keep_open(&s->index, index, NULL, 0);
	free(index);
	if (ret) {
		if (s)
			stream_close(&s->sink);
		errno = -ret;
		return NULL;
	}
	s->sink.ops = &ops;
	return &s->sink;
}
