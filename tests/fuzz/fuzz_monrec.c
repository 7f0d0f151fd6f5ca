// SPDX-License-Identifier: MIT
/*
 * libFuzzer target: libmonrec on bytes that somebody has made up.
 *
 *   head       byte 0, bits 0-1: format (3 as 2), bits 2-3: release, bit 7: a page follows;
 *              byte 1: most bytes of a read, 0 for no limit; bytes 2-3: seed of what a read
 *              gives instead of bytes, 0 for nothing else
 *   page       its length, 2 bytes; text that may be a page of IBM's
 *   rest       the bytes
 *
 * Items must come in the order that the header has; every record must be bytes of
 * the input, where its place says, in its element and in one frame.  Files are
 * read a second time, byte by byte: the items must be the same.  Whatever the lengths of
 * records tell of the release, and whatever a page says, only fields that are in a frame come of it.
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
#define PAGE 0x80u
#define ALL_RELEASES ((UINT32_C(1) << MONREC_RELEASES) - 1)

static struct {
	const uint8_t *bytes;
	size_t size, pos;
	size_t chunk;
	uint32_t seed;
	bool device;
	bool paged;		/* check_layouts() has looked at all layouts */
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
	bool again;		/* the same bytes have been read before */
	struct monrec_evidence evidence;
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
	if (!layout || input.paged || known[record->domain][record->number & 255])
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

/* What the record's length tells of the release, and what follows for its layout. */
static void check_release(const struct monrec_item *item_, struct seen *seen)
{
	const struct monrec_item item = *item_;
	const struct monrec_record *record = &item.record;
	const uint32_t own = monrec_record_releases(record);
	char text[MONREC_RELEASES_TEXT];
	uint32_t len = 0, releases, possible;
	const uint32_t conflict = monrec_evidence_conflict(&seen->evidence, record, &len);
	unsigned int release;

	REQUIRE(!conflict || ((conflict & ~own) == 0 && len && len != record->len));
	monrec_evidence_add(&seen->evidence, record);
	possible = monrec_evidence_possible(&seen->evidence);
	releases = monrec_evidence_releases(&seen->evidence);
	REQUIRE((own | possible) <= ALL_RELEASES && (releases & ~possible) == 0);
	REQUIRE(!releases == !possible && !releases == !seen->evidence.types);
	release = monrec_record_release(record, releases);
	REQUIRE(!release || monrec_release_known(release));
	if (releases)
		REQUIRE((monrec_release_bit(release) & ~releases) == 0);
	if (own && (own & (releases ? releases : ALL_RELEASES)))
		REQUIRE(monrec_release_bit(release) & own);
	monrec_releases_text(releases, text);
	REQUIRE(!*text == !releases && strlen(text) < sizeof(text));
}

static void check_record(const struct monrec_item *item_, struct seen *seen)
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
	if (!seen->again)
		check_release(item_, seen);
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

/* Fields of all layouts, now that a page has changed one. */
static void check_layouts(void)
{
	const struct monrec_item item = { 0 };

	for (unsigned int i = 0; i < MONREC_DOMAINS * MONREC_NUMBERS; i++) {
		const struct monrec_layout *layout =
			monrec_layout(i / MONREC_NUMBERS, i % MONREC_NUMBERS);

		for (unsigned int j = 0; layout && j < layout->field_count; j++) {
			const struct monrec_field *field = &layout->fields[j];

			REQUIRE(field->len && field->offset >= MONREC_HEADER_SIZE);
			REQUIRE(field->offset + field->len <= MONREC_FRAME_SIZE);
			REQUIRE(field->name[0] && field->first <= field->last);
			REQUIRE(monrec_field(layout, field->name, field->first));
			REQUIRE(monrec_identity(field) < MONREC_IDENTITIES);
			REQUIRE(monrec_type_name(field->type) && monrec_unit_name(field->unit));
		}
	}
}

/* Return: the bytes of it, its length included. */
static size_t take_page(const uint8_t *data, size_t size)
{
	const struct monrec_item item = { 0 };
	size_t len = size < 2 ? 0 : (size_t)(data[0] << 8 | data[1]);
	char why[128] = "";
	unsigned int release;

	if (size < 2)
		return size;
	len = len < size - 2 ? len : size - 2;
	release = monrec_add_page((const char *)data + 2, len, why, sizeof(why));
	REQUIRE(release ? !*why && monrec_release_known(release) :
			  *why && memchr(why, 0, sizeof(why)));
	if (release)
		check_layouts();
	return 2 + len;
}

static struct seen run(enum monrec_format format, unsigned int release, uint64_t described)
{
	struct monrec_reader *reader = monrec_open(format, read_input, NULL);
	struct monrec_item item = { 0 };
	struct seen seen = { .hash = 1, .release = release, .described = described,
			     .again = described };
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
	size_t page = 0;

	if (size < HEAD)
		return 0;
	if (data[0] & PAGE)
		page = take_page(data + HEAD, size - HEAD);
	format = (data[0] & 3) < 3 ? (enum monrec_format)(data[0] & 3) : MONREC_MONWRITE;
	memset(&input, 0, sizeof(input));
	input.bytes = data + HEAD + page;
	input.size = size - HEAD - page;
	input.chunk = data[1];
	input.seed = (uint32_t)(data[2] << 8 | data[3]);
	input.device = format == MONREC_DEVICE;
	input.paged = data[0] & PAGE;
	first = run(format, releases[data[0] >> 2 & 3], 0);
	if (!input.device) {
		input.chunk = 1;
		second = run(format, releases[data[0] >> 2 & 3], UINT64_MAX);
		REQUIRE(first.hash == second.hash && first.items == second.items);
	}
	monrec_forget_pages();
	return 0;
}
