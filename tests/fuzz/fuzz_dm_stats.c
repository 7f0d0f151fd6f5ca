// SPDX-License-Identifier: MIT
/*
 * libFuzzer target: answers of a kernel about device-mapper statistics, and words for it, that
 * somebody has made up.  What is taken for a list, or for counters, must be there again when it
 * is written out once more; a word must reach the kernel as it is.
 *
 * The first byte says what the rest is; for counters eight more describe the region.
 */
#include "dms_delta.h"
#include "dms_message.h"
#include "fuzz_target.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                  \
	do {                                                                                \
		if (!(condition)) {                                                         \
			fprintf(stderr, "device-mapper statistics: not so: %s\n", #condition); \
			abort();                                                            \
		}                                                                           \
	} while (0)
#define MOST_WORD 4096
#define MOST_BOUNDS 7u

static void regions_come_back(const char *text, size_t len)
{
	struct dms_regions list, again;
	struct text written = { 0 };

	int error = dms_regions_read(&list, NULL, text, len);

	if (error) {
		REQUIRE(list.count == 0 && !list.region && *dms_error_text(error));
		return;
	}
	for (size_t i = 0; i < list.count; i++) {
		const struct dms_region *r = &list.region[i];
		uint64_t areas = dms_area_count(r->length, r->step);

		REQUIRE(dms_area_start(r, areas - 1) + dms_area_length(r, areas - 1) ==
			r->start + r->length);
		REQUIRE(dms_regions_find(&list, r->id) == r);
		REQUIRE(dms_region_readable(r) == !strchr(r->program, ' '));
		dms_region_write(&written, r);
	}
	REQUIRE(!written.failed);
	REQUIRE(dms_regions_read(&again, NULL, written.bytes, written.len) == 0);
	REQUIRE(again.count == list.count);
	for (size_t i = 0; i < list.count; i++)
		REQUIRE(dms_region_same(&list.region[i], &again.region[i]));
	dms_regions_free(&again);
	dms_regions_free(&list);
	text_free(&written);
}

static void write_row(FILE *out, const struct dms_region *r, uint64_t area, const uint64_t *row,
		      size_t stride)
{
	fprintf(out, "%" PRIu64 "+%" PRIu64, dms_area_start(r, area), r->step);
	for (size_t i = 0; i < stride; i++) {
		char before = i > DMS_COUNTERS ? ':' : ' ';

		if (i == DMS_IN_FLIGHT)
			fprintf(out, "%c%" PRId64, before, dms_in_flight(row));
		else
			fprintf(out, "%c%" PRIu64, before, row[i]);
	}
	fputc('\n', out);
}

static void differences(const struct dms_counts *counts, const struct dms_region *r)
{
	uint64_t delta[DMS_COUNTERS + MOST_BOUNDS + 1];
	struct dms_span span = { .elapsed = 1, .oldest = UINT64_MAX / 2 };

	for (size_t i = 1; i < counts->count; i++) {
		const uint64_t *before = dms_row(counts, i - 1), *after = dms_row(counts, i);
		unsigned int doubt = dms_delta(delta, before, after, counts->stride, r, &span);

		(void)dms_rates(delta, r, 1, doubt);
		if (!(doubt & DMS_CLEARED))
			REQUIRE(before[DMS_READS] + delta[DMS_READS] == after[DMS_READS]);
	}
}

static void counters_come_back(const uint8_t *data, size_t size)
{
	static uint64_t bounds[MOST_BOUNDS] = { 1, 2, 3, 4, 5, 6, 7 };
	struct dms_region r = { .bounds = bounds };
	struct dms_counts counts, again;
	char *written = NULL;
	size_t len;
	FILE *out;

	if (size < 8)
		return;
	r.start = data[0];
	r.length = (uint64_t)data[1] << 8 | data[2] | 1;
	r.step = (uint64_t)data[3] << 8 | data[4] | 1;
	r.bound_count = data[5] % (MOST_BOUNDS + 1);
	r.precise = data[6] & 1;
	REQUIRE(dms_counts_init(&counts, &r, data[7]) == 0);
	REQUIRE(dms_counts_init(&again, &r, data[7]) == 0);
	(void)dms_counts_read(&counts, &r, (const char *)data + 8, size - 8);
	out = open_memstream(&written, &len);
	REQUIRE(out);
	for (size_t i = 0; i < counts.count; i++)
		write_row(out, &r, i, dms_row(&counts, i), counts.stride);
	REQUIRE(fclose(out) == 0);
	REQUIRE(dms_counts_read(&again, &r, written, len) == 0 && again.count == counts.count);
	REQUIRE(memcmp(again.value, counts.value,
		       counts.count * counts.stride * sizeof(uint64_t)) == 0);
	differences(&counts, &r);
	dms_counts_free(&counts);
	dms_counts_free(&again);
	free(written);
}

/* As the kernel reads it: a backslash quotes, what is not quoted must not part words. */
static void check_arrived(struct text *text, const char *begin, const char *word)
{
	const char *out = word;

	REQUIRE(!text->failed && text->len >= strlen(begin));
	REQUIRE(memcmp(text->bytes, begin, strlen(begin)) == 0);
	for (size_t i = strlen(begin); i < text->len; i++) {
		if (text->bytes[i] == '\\')
			REQUIRE(++i < text->len);
		else
			REQUIRE(!dms_parts_words((unsigned char)text->bytes[i]));
		REQUIRE(*out && *out == text->bytes[i]);
		out++;
	}
	REQUIRE(*out == '\0');
	text_free(text);
}

static void word_arrives(const uint8_t *data, size_t size)
{
	size_t len = strnlen((const char *)data, size < MOST_WORD ? size : MOST_WORD);
	char word[MOST_WORD + 1], program[] = "p";
	uint64_t bounds[] = { 1, 2 };
	const struct dms_region region = {
		.length = 8, .step = 4, .precise = len & 1, .bounds = bounds,
		.bound_count = len & 2, .program = program, .aux = word,
	};
	struct text text = { 0 };

	memcpy(word, data, len);
	word[len] = '\0';
	dms_message_set_aux(&text, 0, word);
	check_arrived(&text, "@stats_set_aux 0 ", word);
	text = (struct text){ 0 };
	dms_message_list(&text, word);
	check_arrived(&text, "@stats_list ", word);
	text = (struct text){ 0 };
	dms_message_create(&text, &region);
	check_arrived(&text,
		      !region.precise ? region.bound_count ? "@stats_create 0+8 4 1 histogram:1,2 p "
							   : "@stats_create 0+8 4 0 p "
		      : region.bound_count
			      ? "@stats_create 0+8 4 2 precise_timestamps histogram:1,2 p "
			      : "@stats_create 0+8 4 1 precise_timestamps p ",
		      word);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	switch (data[0]) {
	case 'L':
		regions_come_back((const char *)data + 1, size - 1);
		break;
	case 'P':
		counters_come_back(data + 1, size - 1);
		break;
	case 'W':
		word_arrives(data + 1, size - 1);
		break;
	default:
		break;
	}
	return 0;
}
