// SPDX-License-Identifier: MIT
/*
 * libFuzzer target: libmonrec on bytes that somebody has made up.
 *
 *   head       byte 0, bits 0-1: format (3 as 2), bits 2-3: release; byte 1: most
 *              bytes of a read, 0 for no limit; bytes 2-3: seed of what a read gives
 *              instead of bytes, 0 for nothing else
 *   rest       the bytes
 *
 * Items must come in the order that the header has; every record must be bytes of
 * the input, where its place says, in its element and in one frame.  Files are
 * read a second time, byte by byte: the items must be the same.
 */
#include "fuzz_target.h"
#include "monrec.h"
#include "monrec_application.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 4

static struct {
	const uint8_t *bytes;
	size_t size, pos;
	size_t chunk;
	uint32_t seed;
	bool device;
	unsigned int others;	/* reads that gave no bytes */
} input;

#define REQUIRE(condition)                                                              \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "line %d: %s; item %d, offset %llu\n", __LINE__, \
				#condition, (int)item.kind,                             \
				(unsigned long long)item.at.offset);                    \
			abort();                                                        \
		}                                                                       \
	} while (0)

static ssize_t other(void)
{
	static const int results[] = { 0, 0, 0, 0, -EAGAIN, -EINTR, -EIO, -EOVERFLOW, -EFAULT };

	input.others++;
	return results[input.seed / 65536 % (sizeof(results) / sizeof(results[0]))];
}

static ssize_t read_input(void *context, void *buffer, size_t len)
{
	(void)context;
	if (input.pos == input.size) {
		/* A device has no end, but it may go away. */
		input.others++;
		return input.device ? -ENODEV : 0;
	}
	if (input.device && input.seed) {
		input.seed = input.seed * 1103515245 + 12345;
		if (input.seed / 65536 % 16 == 0)
			return other();
	}
	if (len > input.size - input.pos)
		len = input.size - input.pos;
	if (input.chunk && len > input.chunk)
		len = input.chunk;
	memcpy(buffer, input.bytes + input.pos, len);
	input.pos += len;
	return (ssize_t)len;
}

/* What has been seen; where in the input the set begins. */
struct seen {
	bool in_set, in_element, lost;
	size_t base;
	uint64_t hash, items;
	unsigned int release;
	uint64_t described;	/* rules, as bits, whose violation need not be put in words again */
};
_Static_assert(MONREC_RULES <= 64, "a bit for each rule");

static void note(struct seen *seen, uint64_t value)
{
	seen->hash = (seen->hash ^ value) * UINT64_C(1099511628211);
}

static void check_values(const struct monrec_item *item_)
{
	const struct monrec_item item = *item_;
	const struct monrec_layout *layout =
		monrec_layout(item.record.domain, item.record.number);
	char text[512];
	uint64_t value;
	int64_t number;

	for (unsigned int i = 0; layout && i < layout->field_count; i++) {
		const struct monrec_field *field = &layout->fields[i];
		const bool there = (uint32_t)field->offset + field->len <= item.record.len;

		if (monrec_text(&item.record, field, text, sizeof(text)) == 0)
			REQUIRE(there && strlen(text) <= 2u * field->len);
		if (monrec_unsigned(&item.record, field, &value) == 0)
			REQUIRE(there && (field->len == 8 || value >> (8 * field->len) == 0));
		if (monrec_signed(&item.record, field, &number) == 0)
			REQUIRE(there);
	}
}

/* What the catalogue says of a record that comes, once: that does not depend on its bytes. */
static void check_catalogue(const struct monrec_item *item_, unsigned int release)
{
	static uint8_t known[MONREC_DOMAINS][256];
	const struct monrec_item item = *item_;
	const struct monrec_record *record = &item.record;
	const struct monrec_layout *layout = monrec_layout(record->domain, record->number);

	REQUIRE((monrec_domain_name(record->domain) != NULL) == (record->domain < MONREC_DOMAINS));
	if (!layout || known[record->domain][record->number & 255])
		return;
	known[record->domain][record->number & 255] = 1;
	REQUIRE(monrec_layout_named(layout->name) == layout);
	REQUIRE(monrec_length(layout, release) <= MONREC_FRAME_SIZE);
	REQUIRE(monrec_kind_name(layout->kind));
	for (unsigned int i = 0; i < layout->field_count; i++) {
		const struct monrec_field *field = &layout->fields[i];

		REQUIRE(monrec_field(layout, field->name, field->first));
		REQUIRE(monrec_identity(field) < MONREC_IDENTITIES);
		REQUIRE(monrec_type_name(field->type) && monrec_nature_name(field->nature));
		REQUIRE(monrec_unit_name(field->unit));
		REQUIRE(monrec_source_name(field->source) && monrec_source_text(field->source));
	}
}

/* Each value takes bytes of the data; the text of one is within them. */
static void check_application(const struct monrec_item *item_)
{
	const struct monrec_item item = *item_;
	const uint8_t *end = item.record.data + item.record.len;
	struct monrec_application application;
	struct monrec_value value;
	uint32_t values = 0;
	int rc = monrec_application_begin(&item.record, &application);

	REQUIRE(strlen(application.product) <= MONREC_PRODUCT_NUMBER);
	REQUIRE(!application.name == !application.title);
	if (rc) {
		REQUIRE(!application.data && !application.name && !application.len);
		return;
	}
	REQUIRE(application.data >= item.record.data && application.data <= end);
	REQUIRE(application.len <= (size_t)(end - application.data));
	while (monrec_application_next(&application, &value)) {
		REQUIRE(application.name && ++values <= 2 * application.len);
		REQUIRE(value.name[0] && memchr(value.name, 0, sizeof(value.name)));
		REQUIRE(value.type == MONREC_VALUE_TEXT ? value.number == 0 : value.text_len == 0);
		REQUIRE(value.text_len == 0 ||
			((const uint8_t *)value.text >= application.data &&
			 (const uint8_t *)value.text + value.text_len <=
				 application.data + application.len));
	}
}

static void check_record(const struct monrec_item *item_, const struct seen *seen)
{
	const struct monrec_item item = *item_;
	const struct monrec_record *record = &item.record;
	const uint64_t at = seen->base + item.at.offset;

	REQUIRE(seen->in_set && seen->in_element && item.at.record > 0);
	REQUIRE(record->len >= MONREC_HEADER_SIZE && record->len <= MONREC_FRAME_SIZE);
	REQUIRE(record->address % MONREC_FRAME_SIZE + record->len <= MONREC_FRAME_SIZE);
	REQUIRE(record->address >= item.element.start);
	REQUIRE((uint64_t)record->address + record->len - 1 <= item.element.end);
	REQUIRE(at + record->len <= input.pos);
	REQUIRE(memcmp(record->data, input.bytes + at, record->len) == 0);
	check_values(item_);
	check_catalogue(item_, seen->release);
	check_application(item_);
}

static void check_frame(const struct monrec_item *item_, const struct seen *seen)
{
	const struct monrec_item item = *item_;
	const struct monrec_record *frame = &item.record;
	const uint64_t at = seen->base + item.at.offset;

	REQUIRE(seen->in_set && seen->in_element && item.at.record == 0);
	REQUIRE(frame->len > 0);
	REQUIRE(frame->address % MONREC_FRAME_SIZE + frame->len <= MONREC_FRAME_SIZE);
	REQUIRE(at + frame->len <= input.pos);
	REQUIRE(memcmp(frame->data, input.bytes + at, frame->len) == 0);
}

/* Words take more time than all the rest: one line for each rule in an input. */
static void check_violation(const struct monrec_item *item_, struct seen *seen)
{
	const struct monrec_item item = *item_;
	char line[256];

	REQUIRE(item.rule < MONREC_RULES);
	if (seen->described >> item.rule & 1)
		return;
	seen->described |= UINT64_C(1) << item.rule;
	monrec_describe(item_, line, sizeof(line));
	REQUIRE(strlen(line) > 20 && strlen(line) < sizeof(line) - 1 && !strchr(line, '\n'));
	REQUIRE(line[strlen(line) - 1] == ']');
}

static void check_order(const struct monrec_item *item_, struct seen *seen)
{
	const struct monrec_item item = *item_;

	switch (item.kind) {
	case MONREC_SET:
		REQUIRE(!seen->in_set);
		seen->in_set = true;
		seen->in_element = false;
		/* The first 12 bytes have been read, if there were so many. */
		if (input.device)
			seen->base = input.pos - MONREC_ELEMENT_SIZE;
		break;
	case MONREC_ELEMENT:
		REQUIRE(seen->in_set && item.element.start < item.element.end);
		seen->in_element = true;
		break;
	case MONREC_RECORD:
		check_record(item_, seen);
		break;
	case MONREC_FRAME:
		check_frame(item_, seen);
		break;
	case MONREC_SET_END:
	case MONREC_SET_LOST:
		REQUIRE(seen->in_set);
		seen->in_set = false;
		break;
	case MONREC_OVERFLOW:
	case MONREC_ERROR:
		REQUIRE(!seen->in_set && input.device);
		break;
	case MONREC_VIOLATION:
		check_violation(item_, seen);
		break;
	case MONREC_AGAIN:
		REQUIRE(input.device);
		break;
	case MONREC_END:
		REQUIRE(!seen->in_set);
		break;
	}
}

static struct seen run(enum monrec_format format, unsigned int release, uint64_t described)
{
	struct monrec_reader *reader = monrec_open(format, read_input, NULL);
	struct monrec_item item = { 0 };
	struct seen seen = { .hash = 1, .release = release, .described = described };
	enum monrec_item_kind kind;

	if (!reader)
		abort();
	input.pos = 0;
	input.others = 0;
	monrec_set_release(reader, release);
	monrec_give_frames(reader, true);
	do {
		kind = monrec_next(reader, &item);
		REQUIRE(kind == item.kind);
		check_order(&item, &seen);
		note(&seen, kind);
		note(&seen, item.at.offset);
		note(&seen, kind == MONREC_VIOLATION ? item.rule : item.record.len);
		/* Elements have 12 bytes, records 20: neither can be followed by as many items. */
		REQUIRE(++seen.items <= input.size + 4 * (uint64_t)input.others + 64);
	} while (kind != MONREC_END);
	REQUIRE(monrec_next(reader, &item) == MONREC_END);
	monrec_close(reader);
	return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned int releases[] = { 0, 440, 530, 730 };
	enum monrec_format format;
	struct seen first, second;
	const struct monrec_item item = { 0 };

	if (size < HEAD)
		return 0;
	format = (data[0] & 3) < 3 ? (enum monrec_format)(data[0] & 3) : MONREC_MONWRITE;
	memset(&input, 0, sizeof(input));
	input.bytes = data + HEAD;
	input.size = size - HEAD;
	input.chunk = data[1];
	input.seed = (uint32_t)(data[2] << 8 | data[3]);
	input.device = format == MONREC_DEVICE;
	first = run(format, releases[data[0] >> 2 & 3], 0);
	if (!input.device) {
		input.chunk = 1;
		second = run(format, releases[data[0] >> 2 & 3], UINT64_MAX);
		REQUIRE(first.hash == second.hash && first.items == second.items);
	}
	return 0;
}
