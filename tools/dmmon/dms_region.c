// SPDX-License-Identifier: MIT
/* Regions: the kernel's list, read and written. */
#define _GNU_SOURCE /* memmem() */
#include "dms_region.h"
#include "number.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PRECISE " precise_timestamps"
#define HISTOGRAM " histogram:"

/* Head of a record: all that stands before the names. */
struct head {
	uint64_t id, start, length, step;
	const char *names;
};

const char *dms_error_text(int error)
{
	switch (error) {
	case 0:
		return "no error";
	case DMS_NO_MEMORY:
		return "not enough memory";
	case DMS_BAD_HEAD:
		return "the list of regions does not begin with a region";
	case DMS_BAD_REGION:
		return "a region in the list has no program or auxiliary data";
	case DMS_BAD_LINE:
		return "a line of counters does not have the expected numbers";
	case DMS_BAD_AREA:
		return "a line of counters is not about the next area";
	case DMS_TOO_MANY:
		return "there are more lines of counters than areas";
	default:
		return "an unknown error";
	}
}

uint64_t dms_step_of_areas(uint64_t length, uint32_t areas)
{
	return length / areas + (length % areas != 0);
}

bool dms_number(const char **text, const char *end, uint64_t *value)
{
	return number_take(text, end, 10, UINT64_MAX, value);
}

static bool literal(const char **text, const char *end, const char *wanted)
{
	size_t len = strlen(wanted);

	if ((size_t)(end - *text) < len || memcmp(*text, wanted, len) != 0)
		return false;
	*text += len;
	return true;
}

/* A head of a region that can be. */
static bool read_head(const char *at, const char *end, struct head *h)
{
	if (!dms_number(&at, end, &h->id) || h->id > INT_MAX || !literal(&at, end, ": ") ||
	    !dms_number(&at, end, &h->start) || !literal(&at, end, "+") ||
	    !dms_number(&at, end, &h->length) || !literal(&at, end, " ") ||
	    !dms_number(&at, end, &h->step) || !literal(&at, end, " "))
		return false;
	h->names = at;
	return h->length && h->step && h->start <= UINT64_MAX - h->length;
}

/*
 * The blank between program and auxiliary data in [@names, @end), both of which have a byte at
 * least; NULL if there is none.  @program: NULL if it is not known.
 */
static const char *program_end(const char *names, const char *end, const char *program)
{
	size_t len = program ? strlen(program) : 1;
	const char *blank;

	if ((size_t)(end - names) < len + 2)
		return NULL;
	if (!program)
		blank = memchr(names + 1, ' ', (size_t)(end - names - 2));
	else
		blank = memcmp(names, program, len) == 0 && names[len] == ' ' ? names + len : NULL;
	return blank;
}

/* The line break that the line of @at ends with, or @end. */
static const char *line_end(const char *at, const char *end)
{
	const char *found = memchr(at, '\n', (size_t)(end - at));

	return found ? found : end;
}

/* Does a record begin at @at, after one with the id @before? */
static bool begins_record(const char *at, const char *end, uint64_t before, const char *program)
{
	struct head head;

	if (!read_head(at, end, &head) || head.id <= before)
		return false;
	/* A program whose name is known may have line breaks in it. */
	return program_end(head.names, program ? end : line_end(at, end), program) != NULL;
}

/*
 * Behind the record with the head @h, and where the next one begins, or @end: what is in front
 * of it has both names.
 */
static const char *record_end(const struct head *h, const char *end, const char *program)
{
	const char *blank = program_end(h->names, end, program), *at = h->names, *last;

	do {
		last = line_end(at, end);
		at = last < end ? last + 1 : end;
	} while (at < end && !(blank && last > blank + 1 && begins_record(at, end, h->id, program)));
	return at;
}

/*
 * Numbers between commas that fill [@at, @end), rising from above 0; NULL in @bounds counts.
 * Return: whether there are any; if not, *@count is unchanged.
 */
static bool read_bounds(const char *at, const char *end, uint64_t *bounds, size_t *count)
{
	uint64_t last = 0, value;
	size_t n = 0;

	do {
		if (!dms_number(&at, end, &value) || value <= last)
			return false;
		if (bounds)
			bounds[n] = value;
		n++;
		last = value;
	} while (literal(&at, end, ","));
	if (at != end)
		return false;
	*count = n;
	return true;
}

/* Where the last " histogram:" of [@at, @end) begins, or NULL. */
static const char *find_histogram(const char *at, const char *end)
{
	const char *last = NULL;

	while ((at = memmem(at, (size_t)(end - at), HISTOGRAM, strlen(HISTOGRAM))))
		last = at++;
	return last;
}

/* Takes the options off the end of [@aux, @end); the auxiliary data keep one byte at least. */
static int read_options(struct dms_region *r, const char *aux, const char **end)
{
	const char *found = find_histogram(aux + 1, *end);
	size_t len = strlen(PRECISE);

	if (found && read_bounds(found + strlen(HISTOGRAM), *end, NULL, &r->bound_count)) {
		r->bounds = calloc(r->bound_count, sizeof(*r->bounds));
		if (!r->bounds)
			return DMS_NO_MEMORY;
		read_bounds(found + strlen(HISTOGRAM), *end, r->bounds, &r->bound_count);
		*end = found;
	}
	if ((size_t)(*end - aux) > len && memcmp(*end - len, PRECISE, len) == 0) {
		r->precise = true;
		*end -= len;
	}
	return 0;
}

/* One record, [@at, @end) without the last line break. */
static int read_record(struct dms_region *r, const char *end, const struct head *h,
		       const char *program)
{
	const char *blank = program_end(h->names, end, program);
	int error;

	memset(r, 0, sizeof(*r));
	if (!blank || memchr(h->names, '\0', (size_t)(end - h->names)))
		return DMS_BAD_REGION;
	r->id = (int)h->id;
	r->start = h->start;
	r->length = h->length;
	r->step = h->step;
	error = read_options(r, blank + 1, &end);
	if (error)
		return error;
	r->program = strndup(h->names, (size_t)(blank - h->names));
	r->aux = strndup(blank + 1, (size_t)(end - blank - 1));
	if (r->program && r->aux)
		return 0;
	dms_region_free(r);
	return DMS_NO_MEMORY;
}

static int append(struct dms_regions *list, const struct dms_region *r)
{
	struct dms_region *grown = reallocarray(list->region, list->count + 1, sizeof(*grown));

	if (!grown)
		return DMS_NO_MEMORY;
	list->region = grown;
	list->region[list->count++] = *r;
	return 0;
}

int dms_regions_read(struct dms_regions *list, const char *program, const char *text, size_t len)
{
	const char *end, *next;
	int error = 0;

	memset(list, 0, sizeof(*list));
	if (len == 0)
		return 0;	/* and there need be no text */
	end = text + len;
	for (const char *at = text; at < end && !error; at = next) {
		struct dms_region region;
		struct head h;

		if (!read_head(at, end, &h)) {
			error = DMS_BAD_HEAD;
			break;
		}
		next = record_end(&h, end, program);
		error = read_record(&region, next[-1] == '\n' ? next - 1 : next, &h, program);
		if (error)
			break;
		error = append(list, &region);
		if (error)
			dms_region_free(&region);
	}
	if (error)
		dms_regions_free(list);
	return error;
}

void dms_region_free(struct dms_region *r)
{
	free(r->program);
	free(r->aux);
	free(r->bounds);
	memset(r, 0, sizeof(*r));
}

void dms_regions_free(struct dms_regions *list)
{
	for (size_t i = 0; i < list->count; i++)
		dms_region_free(&list->region[i]);
	free(list->region);
	memset(list, 0, sizeof(*list));
}

const struct dms_region *dms_regions_find(const struct dms_regions *list, int id)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->region[i].id == id)
			return &list->region[i];
	return NULL;
}

static void write_words(struct text *text, const char *words)
{
	text_append(text, words, strlen(words));
}

/* The text before a number, and the number. */
static void write_number(struct text *text, const char *before, uint64_t number)
{
	write_words(text, before);
	text_append_number(text, number);
}

void dms_region_write(struct text *text, const struct dms_region *r)
{
	write_number(text, "", (uint64_t)r->id);
	write_number(text, ": ", r->start);
	write_number(text, "+", r->length);
	write_number(text, " ", r->step);
	write_words(text, " ");
	write_words(text, r->program);
	write_words(text, " ");
	write_words(text, r->aux);
	if (r->precise)
		write_words(text, PRECISE);
	for (size_t i = 0; i < r->bound_count; i++)
		write_number(text, i ? "," : HISTOGRAM, r->bounds[i]);
	write_words(text, "\n");
}

bool dms_region_same(const struct dms_region *a, const struct dms_region *b)
{
	return a->id == b->id && a->start == b->start && a->length == b->length &&
	       a->step == b->step && a->precise == b->precise &&
	       a->bound_count == b->bound_count &&
	       (!a->bound_count ||
		memcmp(a->bounds, b->bounds, a->bound_count * sizeof(*a->bounds)) == 0) &&
	       strcmp(a->program, b->program) == 0 && strcmp(a->aux, b->aux) == 0;
}

int dms_region_readable(const struct dms_region *r)
{
	struct dms_regions list;
	struct text text = { 0 };
	int result;

	dms_region_write(&text, r);
	result = text.failed ? DMS_NO_MEMORY :
			       dms_regions_read(&list, NULL, text.bytes, text.len);
	text_free(&text);
	if (result == DMS_NO_MEMORY)
		return result;
	result = result == 0 && list.count == 1 && dms_region_same(&list.region[0], r) &&
		 !strchr(r->program, ' ');
	dms_regions_free(&list);
	return result;
}
