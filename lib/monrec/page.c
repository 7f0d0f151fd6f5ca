/* SPDX-License-Identifier: MIT */
/*
 * libmonrec: layouts that users add, out of IBM's own pages.
 *
 * A page of "z/VM Monitor Records" is preformatted text: a prolog that names domain and record,
 * a line for each field (offset in decimal and in hexadecimal, type, length, name, description),
 * and the release at its end.  Both offsets must agree, so that no other line is taken for one.
 */
#include "monrec_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_PAGES 64u
#define MOST_FIELDS 1024u
#define LINE_SIZE 256u
#define NAME_SIZE 24u

/* The known layout of a record: its page's, or the catalogue's for other releases. */
struct page {
	struct monrec_layout layout;
	struct monrec_field *fields;
	struct monrec_length *lengths;
	char (*names)[NAME_SIZE];
	unsigned int release;
};

/* A page as it is read. */
struct parse {
	const char *at, *end;
	char block[NAME_SIZE];		/* of the record: "USEACT" */
	unsigned int domain, number, release, len;
	uint8_t kind;
	bool has_number, variable;
	bool tag;			/* within one */
	unsigned int count;
	char names[MOST_FIELDS][NAME_SIZE];
	struct monrec_field fields[MOST_FIELDS];
};

static struct page pages[MOST_PAGES];
static unsigned int page_count;

static unsigned int refuse(char *err, size_t errlen, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static unsigned int refuse(char *err, size_t errlen, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, errlen, format, args);
	va_end(args);
	return 0;
}

/* The character that an entity stands for; others than these are in no line of a field. */
static char entity(struct parse *p)
{
	static const struct { const char *name; char is; } known[] = {
		{ "amp;", '&' }, { "lt;", '<' }, { "gt;", '>' }, { "quot;", '"' }, { "nbsp;", ' ' },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const size_t len = strlen(known[i].name);

		if ((size_t)(p->end - p->at) >= len && memcmp(p->at, known[i].name, len) == 0) {
			p->at += len;
			return known[i].is;
		}
	}
	return '&';
}

/* The next line, without tags; what it has beyond @line's size is left out.  False: the end. */
static bool next_line(struct parse *p, char line[LINE_SIZE])
{
	size_t len = 0;

	if (p->at == p->end)
		return false;
	while (p->at < p->end) {
		char c = *p->at++;

		if (c == '\n')
			break;
		if (c == '<' || c == '>') {
			p->tag = c == '<';
			continue;
		}
		if (p->tag)
			continue;
		if (c == '&')
			c = entity(p);
		if (c == '\0' || c == '\r' || c == '\t')
			c = ' ';
		if (len < LINE_SIZE - 1)
			line[len++] = c;
	}
	line[len] = '\0';
	return true;
}

/* A number, which ends with the word. */
static bool number_word(const char *word, int base, unsigned int most, unsigned int *value)
{
	char *end;
	unsigned long found;

	if (!*word || strspn(word, base == 10 ? "0123456789" : "0123456789abcdefABCDEF") !=
			      strlen(word) || strlen(word) > 6)
		return false;
	found = strtoul(word, &end, base);
	if (*end || found > most)
		return false;
	*value = (unsigned int)found;
	return true;
}

/* Up to @count words of the line, which they take the place of. */
static unsigned int split(char *line, char **words, unsigned int count)
{
	unsigned int found = 0;
	char *save = NULL;

	for (char *word = strtok_r(line, " ", &save); word && found < count;
	     word = strtok_r(NULL, " ", &save))
		words[found++] = word;
	return found;
}

const struct monrec_layout *monrec_page_layout(unsigned int domain, unsigned int number)
{
	for (unsigned int i = page_count; i > 0; i--)
		if (pages[i - 1].layout.domain == domain && pages[i - 1].layout.number == number)
			return &pages[i - 1].layout;
	return NULL;
}

/* What is known of a record so far. */
static const struct monrec_layout *known_layout(unsigned int domain, unsigned int number)
{
	const struct monrec_layout *layout = monrec_page_layout(domain, number);

	return layout ? layout : monrec_table_layout(domain, number);
}

static const struct monrec_field *field_like(const struct monrec_layout *layout, const char *name,
					     unsigned int len)
{
	for (unsigned int i = 0; layout && i < layout->field_count; i++)
		if (layout->fields[i].type != MONREC_BYTES && layout->fields[i].len == len &&
		    strcmp(layout->fields[i].name, name) == 0)
			return &layout->fields[i];
	return NULL;
}

/* The type of the field of this name in another record, or that of IBM's word and the length. */
static uint8_t type_of(const char *word, const char *name, unsigned int len)
{
	for (unsigned int i = 0; i < MONREC_DOMAINS * (MONREC_LAST_NUMBER + 1); i++) {
		const struct monrec_field *field =
			field_like(known_layout(i / (MONREC_LAST_NUMBER + 1),
						i % (MONREC_LAST_NUMBER + 1)), name, len);

		if (field)
			return field->type;
	}
	if (strcasecmp(word, "bitstring") == 0)
		return len <= 8 ? MONREC_BITS : MONREC_BYTES;
	if (len != 1 && len != 2 && len != 4 && len != 8)
		return MONREC_BYTES;
	return strcasecmp(word, "signed") == 0   ? MONREC_SIGNED :
	       strcasecmp(word, "unsigned") == 0 ? MONREC_UNSIGNED :
						   MONREC_BYTES;
}

/* "36  24  Bitstring  8  USEACT_VMDTTIME": offsets, type, length, name.  False: no such line. */
static bool field_line(struct parse *p, char **words)
{
	const size_t prefix = strlen(p->block);
	unsigned int offset, hex, len;
	char *name = words[4], *more;

	if (!number_word(words[0], 10, MONREC_FRAME_SIZE, &offset) ||
	    !number_word(words[1], 16, MONREC_FRAME_SIZE, &hex) || hex != offset)
		return false;
	more = strchr(words[3], '+');
	if (more)
		*more = '\0';
	if (!number_word(words[3], 10, MONREC_FRAME_SIZE, &len))
		return false;
	name[strcspn(name, "(")] = '\0';
	if (strcasecmp(words[2], "structure") == 0 && strcasecmp(name, p->block) == 0 && !p->len) {
		p->len = len;
		p->variable = more;
	}
	/* The header, areas without a length, what is reserved. */
	if (!prefix || strncasecmp(name, p->block, prefix) != 0 || name[prefix] != '_' || !len ||
	    offset < MONREC_HEADER_SIZE || offset + len > MONREC_FRAME_SIZE)
		return true;
	name += prefix + 1;
	if (p->count == MOST_FIELDS || !*name || strlen(name) >= NAME_SIZE)
		return true;
	memcpy(p->names[p->count], name, strlen(name) + 1);
	p->fields[p->count] = (struct monrec_field){
		.offset = (uint16_t)offset, .len = (uint16_t)len, .source = MONREC_IBM,
		.type = type_of(words[2], name, len), .unit = MONREC_UNIT_UNKNOWN,
	};
	p->count++;
	return true;
}

/* "Domain 4 - User Domain", "Record 14- Set Subchannel Measurement Off" */
static void number_line(struct parse *p, const char *line)
{
	unsigned int value;
	int len = 0;

	line += strspn(line, " ");
	if (sscanf(line, "Domain %3u%n", &value, &len) == 1 && strchr(" -", line[len]) &&
	    value < MONREC_DOMAINS)
		p->domain = value;
	else if (sscanf(line, "Record %3u%n", &value, &len) == 1 && strchr(" -", line[len]) && value &&
		 value <= MONREC_LAST_NUMBER)
		p->number = value;
	else
		return;
	p->has_number = p->domain != MONREC_DOMAINS && p->number;
}

/* "DSECT NAME - USEACT", "DESCRIPTIVE NAME - Monitor Sample Record", "… based on z/VM V7R3.0." */
static void prolog_line(struct parse *p, const char *line)
{
	const char *at = strstr(line, "based on z/VM V");
	unsigned int version, release;

	if (at && sscanf(at, "based on z/VM V%2uR%1u", &version, &release) == 2)
		p->release = 100 * version + 10 * release;
	at = strstr(line, "DSECT NAME - ");
	if (at && !p->block[0] && sscanf(at, "DSECT NAME - %23[A-Z0-9]", p->block) != 1)
		p->block[0] = '\0';
	if (strstr(line, "Monitor Event and Sample Record"))
		p->kind = MONREC_ANY;
	else if (strstr(line, "Monitor Sample Record"))
		p->kind = MONREC_SAMPLE;
	else if (strstr(line, "Monitor Event Record"))
		p->kind = MONREC_EVENT;
	if (!p->has_number)
		number_line(p, line);
}

static void parse(struct parse *p)
{
	char line[LINE_SIZE], words_of[LINE_SIZE], *words[5];

	while (next_line(p, line)) {
		memcpy(words_of, line, sizeof(line));
		if (split(words_of, words, 5) == 5 && field_line(p, words))
			continue;
		prolog_line(p, line);
	}
}

static unsigned int complain_of(const struct parse *p, char *err, size_t errlen)
{
	if (!p->has_number || !p->block[0] || !p->count || !p->len)
		return refuse(err, errlen, "it is no page of IBM's z/VM Monitor Records: it has no %s",
			      !p->has_number ? "numbers of domain and record" :
			      !p->block[0]   ? "DSECT name" :
			      !p->len	     ? "length of the record" :
					       "lines of fields");
	if (!monrec_release_known(p->release))
		return refuse(err, errlen, "it does not say, as IBM's pages do at their end, on which "
			      "release of z/VM it is based");
	for (unsigned int i = 0; i < p->count; i++)
		if (p->fields[i].offset + p->fields[i].len > p->len)
			return refuse(err, errlen, "%s_%s ends beyond the %u bytes of the record",
				      p->block, p->names[i], p->len);
	return p->release;
}

/* The catalogue's rows of other releases: what is below, and what is above. */
static unsigned int add_others(const struct monrec_layout *known, unsigned int release,
			       struct monrec_field *fields)
{
	unsigned int count = 0;

	for (unsigned int i = 0; known && i < known->field_count; i++) {
		if (known->fields[i].first < release) {
			fields[count] = known->fields[i];
			if (fields[count].last >= release)
				fields[count].last = (uint16_t)(release - 1);
			count++;
		}
		if (known->fields[i].last > release) {
			fields[count] = known->fields[i];
			if (fields[count].first <= release)
				fields[count].first = (uint16_t)(release + 1);
			count++;
		}
	}
	return count;
}

static unsigned int add_lengths(const struct monrec_layout *known, const struct parse *p,
				struct monrec_length *lengths)
{
	unsigned int count = 0;

	/* The first one that fits is taken. */
	lengths[count++] = (struct monrec_length){ (uint16_t)p->release, (uint16_t)p->release,
						   (uint16_t)p->len, MONREC_IBM };
	for (unsigned int i = 0; known && i < known->length_count; i++)
		lengths[count++] = known->lengths[i];
	return count;
}

static void free_page(struct page *page)
{
	free(page->fields);
	free(page->lengths);
	free(page->names);
	memset(page, 0, sizeof(*page));
}

static bool fill(struct page *page, const struct parse *p)
{
	const struct monrec_layout *known = known_layout(p->domain, p->number);
	const unsigned int fields = known ? known->field_count : 0;
	const unsigned int lengths = known ? known->length_count : 0;

	page->names = calloc(p->count + 1u, NAME_SIZE);
	page->fields = calloc(p->count + 2u * fields, sizeof(*page->fields));
	page->lengths = calloc(1u + lengths, sizeof(*page->lengths));
	if (!page->names || !page->fields || !page->lengths)
		return false;
	memcpy(page->names, p->names, p->count * (size_t)NAME_SIZE);
	memcpy(page->names[p->count], p->block, NAME_SIZE);
	for (unsigned int i = 0; i < p->count; i++) {
		page->fields[i] = p->fields[i];
		page->fields[i].name = page->names[i];
		page->fields[i].first = page->fields[i].last = (uint16_t)p->release;
	}
	page->release = p->release;
	page->layout = (struct monrec_layout){
		.name = known ? known->name : page->names[p->count],
		.title = known ? known->title : NULL,
		.fields = page->fields, .lengths = page->lengths,
		.field_count = (uint16_t)(p->count + add_others(known, p->release,
								page->fields + p->count)),
		.length_count = (uint16_t)add_lengths(known, p, page->lengths),
		.number = (uint16_t)p->number, .domain = (uint8_t)p->domain,
		.kind = known ? known->kind : p->kind,
		.variable = p->variable || (known && known->variable),
	};
	return true;
}

unsigned int monrec_add_page(const char *text, size_t len, char *err, size_t errlen)
{
	struct parse *p = calloc(1, sizeof(*p));
	unsigned int release;

	if (!p)
		return refuse(err, errlen, "there is no storage for it");
	p->at = text;
	p->end = text + len;
	p->domain = MONREC_DOMAINS;
	parse(p);
	release = complain_of(p, err, errlen);
	if (release && page_count == MOST_PAGES)
		release = refuse(err, errlen, "there are %u pages already", MOST_PAGES);
	if (release && !fill(&pages[page_count], p)) {
		free_page(&pages[page_count]);
		release = refuse(err, errlen, "there is no storage for it");
	}
	if (release)
		page_count++;
	free(p);
	return release;
}

void monrec_forget_pages(void)
{
	while (page_count > 0)
		free_page(&pages[--page_count]);
}
