/* SPDX-License-Identifier: MIT */
/* Pages of spool files, and the records in them. */
#include <string.h>

#include "bytes.h"
#include "spool_private.h"

#define DATA_SIZE ((uint32_t)SPLINK_DATA_END - SPLINK_DATA)
static_assert(SPLINK_DATA_END - CCW_SIZE + RECORD_DATA <= CP_PAGE_SIZE, "what page_valid() reads");

void spool_pages_init(struct spool *spool)
{
	for (unsigned int i = 0; i < SPOOL_PAGES; i++)
		spool->next[i] = i + 1 < SPOOL_PAGES ? (uint16_t)(i + 2) : 0;
	spool->free = 1;
	spool->used = 0;
}

void spool_add_page(struct spool *spool, struct spool_file *file)
{
	const uint16_t page = spool->free;

	assert(page > 0 && page <= SPOOL_PAGES && (file->last == 0) == (file->pages == 0));
	spool->free = spool->next[page - 1];
	spool->next[page - 1] = 0;
	spool->used++;
	if (file->last)
		spool->next[file->last - 1] = page;
	else
		file->first = page;
	file->last = page;
	file->pages++;
}

static bool empty_page(struct spool *spool, struct spool_file *file)
{
	/* No limit leaves more pages than there are: below it one is free. */
	if (spool->used >= spool->page_limit)
		return false;
	spool_add_page(spool, file);
	memset(spool->page[file->last - 1], 0, CP_PAGE_SIZE);
	file->fill = 0;
	return true;
}

uint8_t *spool_empty_page(struct spool *spool, struct spool_file *file)
{
	return empty_page(spool, file) ? spool->page[file->last - 1] : NULL;
}

/* Room for @len bytes in the file's last page, or NULL. */
static uint8_t *take(struct spool *spool, struct spool_file *file, uint32_t len)
{
	uint8_t *page, *at;

	assert(len > 0 && len <= DATA_SIZE && len % CCW_SIZE == 0);
	if ((file->last == 0 || file->fill + len > DATA_SIZE) && !empty_page(spool, file))
		return NULL;
	page = spool->page[file->last - 1];
	at = page + SPLINK_DATA + file->fill;
	file->fill = (uint16_t)(file->fill + len);
	put_be32(page + SPLINK_COUNT, get_be32(page + SPLINK_COUNT) + 1);
	return at;
}

static uint32_t record_size(uint32_t len)
{
	return (RECORD_DATA + len + CCW_SIZE - 1) / CCW_SIZE * CCW_SIZE;
}

bool spool_append(struct spool *spool, struct spool_file *file, uint8_t command,
		  const uint8_t *data, uint32_t len)
{
	uint8_t *at;

	assert(len > 0 && len <= SPOOL_MAX_RECORD);
	/* A line without anything is one blank. */
	while (len > 1 && data[len - 1] == BLANK)
		len--;
	at = take(spool, file, record_size(len));
	if (!at)
		return false;
	at[RECORD_COMMAND] = command;
	at[RECORD_FLAGS] = RECORD_CHAINED;
	put_be16(at + RECORD_COUNT, (uint16_t)len);
	put_be16(at + RECORD_LENGTH, (uint16_t)record_size(len));
	memcpy(at + RECORD_DATA, data, len);
	file->records++;
	return true;
}

bool spool_append_immediate(struct spool *spool, struct spool_file *file, uint8_t command)
{
	uint8_t *at = take(spool, file, CCW_SIZE);

	if (!at)
		return false;
	at[RECORD_COMMAND] = command;
	at[RECORD_FLAGS] = RECORD_CHAINED | RECORD_IMMEDIATE;
	put_be16(at + RECORD_COUNT, 1);
	return true;
}

void spool_free_pages(struct spool *spool, struct spool_file *file)
{
	if (file->last == 0)
		return;
	assert(spool->used >= file->pages);
	spool->next[file->last - 1] = spool->free;
	spool->free = file->first;
	spool->used = (uint16_t)(spool->used - file->pages);
	file->first = file->last = file->pages = file->fill = 0;
}

uint16_t spool_page_at(const struct spool *spool, const struct spool_file *file, uint32_t index)
{
	uint16_t page = file->first;

	if (index >= file->pages)
		return 0;
	while (index-- > 0)
		page = spool->next[page - 1];
	assert(page > 0 && page <= SPOOL_PAGES);
	return page;
}

const uint8_t *spool_next_record(const struct spool *spool, struct spool_place *place,
				 uint32_t *len)
{
	/* A page has no more commands than fit. */
	while (place->page != 0) {
		const uint8_t *page = spool->page[place->page - 1];
		const uint8_t *at = page + SPLINK_DATA + place->at;

		if (place->seen >= get_be32(page + SPLINK_COUNT)) {
			place->page = spool->next[place->page - 1];
			place->at = 0;
			place->seen = 0;
			continue;
		}
		place->seen++;
		if (at[RECORD_FLAGS] & RECORD_IMMEDIATE) {
			place->at = (uint16_t)(place->at + CCW_SIZE);
			continue;
		}
		place->at = (uint16_t)(place->at + get_be16(at + RECORD_LENGTH));
		*len = get_be16(at + RECORD_COUNT);
		assert(place->at <= DATA_SIZE && *len <= SPOOL_MAX_RECORD);
		return at + RECORD_DATA;
	}
	return NULL;
}

/*
 * The commands of one page, with no record longer than @most; their number of data records is
 * added to @records.
 */
static bool page_valid(const uint8_t *page, uint32_t most, uint32_t *fill, uint32_t *records)
{
	const uint32_t count = get_be32(page + SPLINK_COUNT);
	uint32_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *record = page + SPLINK_DATA + at;
		uint32_t len;

		if (at + CCW_SIZE > DATA_SIZE)
			return false;
		if (record[RECORD_FLAGS] & RECORD_IMMEDIATE) {
			at += CCW_SIZE;
			continue;
		}
		/* Its lengths are within the page, even if they are beyond the data. */
		len = get_be16(record + RECORD_COUNT);
		if (len == 0 || len > most ||
		    get_be16(record + RECORD_LENGTH) != record_size(len) ||
		    record_size(len) > DATA_SIZE - at)
			return false;
		at += record_size(len);
		(*records)++;
	}
	assert(at <= DATA_SIZE);
	*fill = at;
	return count > 0;
}

bool spool_pages_valid(const struct spool *spool, const struct spool_file *file)
{
	uint32_t records = 0, fill = 0;
	uint16_t page = file->first;

	for (unsigned int i = 0; i < file->pages; i++) {
		assert(page > 0 && page <= SPOOL_PAGES);
		if (!page_valid(spool->page[page - 1], file->record_length, &fill, &records))
			return false;
		page = spool->next[page - 1];
	}
	assert(page == 0);
	return fill == file->fill && records == file->records;
}
