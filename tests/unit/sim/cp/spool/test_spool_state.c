/* SPDX-License-Identifier: MIT */
/* Saved states of the spool: images that contradict themselves are refused, and change nothing. */
#include <stdlib.h>

#include "spool/spool_private.h"
#include "spool_check.h"
#include "state_check.h"

static uint8_t *image;
static size_t len, part;
static char err[256];

/*
 * Three files of one page each, with a tag of three characters: the first is on the reader queue and
 * its first card has been read, the second is being punched, the third is printed.
 */
static void setup(void)
{
	spool_setup();
	ck_guest("TAG DEV 00D tag", 0, "");
	ck_guest("TAG DEV 00E tag", 0, "");
	punch("one");
	punch("two");
	run_as(CPCMD_GUEST, "CLOSE PUN TO * RDR", 0);
	ck_card("one");
	punch("three");
	unit_write(PRINTER, 0x8b, "");
	unit_write(PRINTER, 0x09, "a line");
	run_as(CPCMD_GUEST, "CLOSE PRT", 0);
	image = fx_save(&len);
	part = state_find(image, len, "CSPL");
}

static void teardown(void)
{
	free(image);
	image = NULL;
	fx_teardown();
}

CASE("state", setup, teardown);

/* Offsets in the part's image; those of a file and a device count from its beginning. */
enum {
	PAGE_LIMIT = 4,		/* 4 */
	FILE_LIMIT = 8,		/* 4 */
	FIRST = 12,		/* the first file */
	USED = 0,
	OPEN = 1,
	QUEUED = 2,
	QUEUE = 3,
	MADE_BY = 4,		/* the device */
	ID = 5,			/* 2 */
	OWNER = 7,		/* 9 */
	ORIGIN = 16,		/* 9 */
	NAME = 25,		/* 9 */
	TAG_LENGTH = 70,
	TAG = 71,		/* 3 */
	CLASS = 74,
	USER_HOLD = 75,
	COPIES = 78,
	LENGTH = 79,	/* 2 */
	RECORDS = 81,		/* 4 */
	PAGES = 93,		/* 2 */
	FILL = 95,		/* 2 */
	PAGE = 97,		/* 4096 */
	FILE_SIZE = PAGE + 4096,
	PUNCHED = FIRST + FILE_SIZE,
	/* A file has its tag when it is closed. */
	PRINTED = PUNCHED + FILE_SIZE - 3,
	/* The slots that are not used have one byte. */
	UNUSED = PRINTED + FILE_SIZE,
	READER_DEVICE = UNUSED + SPOOL_MAX_FILES - 3,
	DEVICE_CONT = 1,
	DEVICE_COPIES = 4,
	DEVICE_TO = 5,		/* 9 */
	DEVICE_TO_QUEUE = 14,
	DEVICE_TAG_LENGTH = 60,
	READER_FILE = READER_DEVICE + 61,	/* 2 */
	READER_GONE = READER_FILE + 2,
	READER_AT = READER_FILE + 3,		/* 2 */
	READER_SEEN = READER_FILE + 5,		/* 4 */
	READER_PAGE = READER_FILE + 9,		/* 2 */
	PUNCH_DEVICE = READER_PAGE + 2,
	PUNCH_FILE = PUNCH_DEVICE + 64,		/* 2: the tag is before it */
	PUNCH_PAGE = PUNCH_FILE + 9,		/* 2 */
	PRINTER_DEVICE = PUNCH_PAGE + 2,
	PRINTER_FILE = PRINTER_DEVICE + 64,	/* 2 */
	PRINTER_AT = PRINTER_FILE + 3,		/* 2 */
	PRINTER_SEEN = PRINTER_FILE + 5,	/* 4 */
	LINES = PRINTER_FILE + 9,		/* 2 */
	LINE = LINES + 2,			/* 2 each */
	/* Of a page: the number of commands, and the first one, whose data follow. */
	COUNT = PAGE + 12,			/* 4 */
	RECORD = PAGE + 16,
	DATA_LENGTH = RECORD + 6,		/* 2 */
	NEXT = RECORD + 10,			/* 2 */
};

static uint32_t number(unsigned int offset, unsigned int size)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value = value << 8 | image[part + offset + i];
	return value;
}

static void set(unsigned int offset, unsigned int size, uint32_t value)
{
	for (unsigned int i = size; i > 0; i--, value >>= 8)
		image[part + offset + i - 1] = (uint8_t)value;
}

static void sign(void)
{
	put_be64(image + IMAGE_LENGTH, len);
	state_sign(image, len);
}

static void ck_contradicts(void)
{
	sign();
	ck_refused(image, len, err, sizeof(err));
	ck_assert_ptr_nonnull(strstr(err, "its contents contradict each other"));
}

static void ck_loads(void)
{
	sign();
	fx_load(image, len);
}

/* Inserts @size zero bytes at @offset; a negative @size removes bytes. */
static void stretch(unsigned int offset, int size)
{
	const size_t at = part + offset, behind = len - at - (size_t)(size < 0 ? -size : 0);

	if (size > 0) {
		uint8_t *longer = realloc(image, len + (size_t)size);

		ck_assert_ptr_nonnull(longer);
		image = longer;
		memmove(image + at + size, image + at, behind);
		memset(image + at, 0, (size_t)size);
		len += (size_t)size;
	} else {
		memmove(image + at, image + at - size, behind);
		len -= (size_t)-size;
	}
}

/* A field as it is, and a value that it cannot have. */
static const struct {
	unsigned int offset, size;
	uint32_t is, value;
} damage[] = {
	{ PAGE_LIMIT, 4, SPOOL_PAGES, SPOOL_PAGES + 1 },
	{ FILE_LIMIT, 4, SPOOL_MAX_ID, SPOOL_MAX_ID + 1 },
	{ FIRST + USED, 1, 1, 2 },
	{ FIRST + OPEN, 1, 1, 2 },
	{ FIRST + OPEN, 1, 1, 0 },
	{ FIRST + QUEUED, 1, 1, 2 },
	{ FIRST + QUEUED, 1, 1, 0 },
	{ FIRST + QUEUE, 1, SPOOL_RDR, SPOOL_QUEUES },
	{ FIRST + MADE_BY, 1, SPOOL_PUN, SPOOL_QUEUES },
	{ FIRST + MADE_BY, 1, SPOOL_PUN, SPOOL_RDR },
	{ FIRST + ID, 2, 1, 0 },
	{ FIRST + ID, 2, 1, SPOOL_MAX_ID + 1 },
	{ FIRST + OWNER, 1, 'L', 0 },
	{ FIRST + OWNER, 1, 'L', ' ' },
	{ FIRST + OWNER, 1, 'L', 'X' },
	{ FIRST + ORIGIN + 8, 1, 0, 'X' },
	{ FIRST + NAME, 1, 0, 0x7f },
	{ FIRST + TAG_LENGTH, 1, 3, SPOOL_TAG_LEN + 1 },
	{ FIRST + TAG, 1, 't', 0x1f },
	{ FIRST + TAG + 2, 1, 'g', 0x7f },
	{ FIRST + CLASS, 1, 'A', 0 },
	{ FIRST + CLASS, 1, 'A', '0' - 1 },
	{ FIRST + CLASS, 1, 'A', '9' + 1 },
	{ FIRST + CLASS, 1, 'A', 'A' - 1 },
	{ FIRST + CLASS, 1, 'A', 'Z' + 1 },
	{ FIRST + CLASS, 1, 'A', '*' },
	{ FIRST + USER_HOLD, 1, 0, 2 },
	{ FIRST + COPIES, 1, 1, 0 },
	{ FIRST + LENGTH, 2, SPOOL_CARD, 0 },
	{ FIRST + LENGTH, 2, SPOOL_CARD, SPOOL_MAX_RECORD + 1 },
	/* Shorter than a record of the file. */
	{ FIRST + LENGTH, 2, SPOOL_CARD, 2 },
	{ FIRST + RECORDS, 4, 2, 3 },
	{ FIRST + PAGES, 2, 1, 0 },
	{ FIRST + PAGES, 2, 1, 2 },
	{ FIRST + FILL, 2, 32, 31 },
	{ FIRST + FILL, 2, 32, 4049 },
	{ FIRST + COUNT, 4, 2, 0 },
	{ FIRST + COUNT, 4, 2, 3 },
	{ FIRST + DATA_LENGTH, 2, 3, 0 },
	{ FIRST + DATA_LENGTH, 2, 3, SPOOL_CARD + 1 },
	{ FIRST + NEXT, 2, 16, 24 },
	/* What is punched is as long as a card, and made by a punch. */
	{ PUNCHED + OPEN, 1, 1, 0 },
	{ PUNCHED + QUEUED, 1, 0, 1 },
	{ PUNCHED + MADE_BY, 1, SPOOL_PUN, SPOOL_PRT },
	{ PUNCHED + OWNER, 1, 'L', 'X' },
	{ PUNCHED + LENGTH - 3, 2, SPOOL_CARD, SPOOL_CARD - 1 },
	/* Numbers of a user's files are different ones. */
	{ PRINTED + ID, 2, 3, 1 },
	{ PRINTED + ID, 2, 3, 2 },
	/* No device has it open. */
	{ PRINTED + OPEN, 1, 0, 1 },
	{ PRINTED + QUEUED, 1, 1, 0 },
	{ UNUSED, 1, 0, 1 },
	{ READER_DEVICE, 1, '*', '*' + 1 },
	{ READER_DEVICE + DEVICE_CONT, 1, 0, 2 },
	{ READER_DEVICE + DEVICE_COPIES, 1, 1, 0 },
	{ READER_DEVICE + DEVICE_TO, 1, 0, 0x7f },
	{ READER_DEVICE + DEVICE_TO_QUEUE, 1, SPOOL_RDR, SPOOL_QUEUES },
	{ READER_DEVICE + DEVICE_TAG_LENGTH, 1, 0, SPOOL_TAG_LEN + 1 },
	{ PUNCH_DEVICE, 1, 'A', '*' },
	/* The punch's file, the printed one, a slot without a file, none at all. */
	{ READER_FILE, 2, 1, 2 },
	{ READER_FILE, 2, 1, 3 },
	{ READER_FILE, 2, 1, 4 },
	{ READER_FILE, 2, 1, 0 },
	{ READER_FILE, 2, 1, SPOOL_MAX_FILES + 1 },
	/* What is gone reads nothing. */
	{ READER_GONE, 1, 0, 1 },
	{ READER_GONE, 1, 0, 2 },
	/* Places that no reading leads to. */
	{ READER_AT, 2, 16, 0 },
	{ READER_AT, 2, 16, 15 },
	{ READER_AT, 2, 16, 32 },
	{ READER_AT, 2, 16, 0xffff },
	{ READER_SEEN, 4, 1, 0 },
	{ READER_SEEN, 4, 1, 2 },
	{ READER_SEEN, 4, 1, 0xffffffff },
	{ READER_PAGE, 2, 0, 1 },
	{ READER_PAGE, 2, 0, 2 },
	{ PUNCH_FILE, 2, 2, 1 },
	{ PUNCH_PAGE, 2, 1, 2 },
	{ PRINTER_AT, 2, 0, 8 },
	{ PRINTER_SEEN, 4, 0, 1 },
	{ LINES, 2, 2, 0 },
	{ LINES, 2, 2, 1 },
	{ LINES, 2, 2, 3 },
	{ LINES, 2, 2, SPOOL_MAX_FILES + 1 },
	{ LINE, 2, 0, 1 },
	{ LINE, 2, 0, 2 },
	{ LINE, 2, 0, SPOOL_MAX_FILES },
	{ LINE + 2, 2, 2, 0 },
	{ LINE + 2, 2, 2, 3 },
};
#define DAMAGES ((int)(sizeof(damage) / sizeof(damage[0])))

/* The part alone, which is what all of an image is tried with first; refused: the spool is empty. */
static bool part_loads(void)
{
	struct state state = { .loading = true, .data = image, .pos = part, .len = len };

	spool_part.state_system(fx.cp, &state);
	if (state.failed) {
		ck_assert_uint_eq(spool_files(), 0);
		ck_assert_uint_eq(spool_use(fx.cp).pages, 0);
	}
	return !state.failed;
}

TEST(a_field_that_is_wrong)
{
	for (int i = 0; i < DAMAGES; i++) {
		ck_assert_uint_eq(number(damage[i].offset, damage[i].size), damage[i].is);
		set(damage[i].offset, damage[i].size, damage[i].value);
		ck_assert_msg(!part_loads(), "%d: 0x%x at %u", i, damage[i].value,
			      damage[i].offset);
		set(damage[i].offset, damage[i].size, damage[i].is);
		ck_assert(part_loads());
		ck_assert_uint_eq(spool_files(), 3);
	}
	ck_card("two");
}

/* Settings that are others, but possible. */
TEST(fields_that_are_others)
{
	struct spool_file_info info;

	set(PAGE_LIMIT, 4, 0);
	set(FILE_LIMIT, 4, 7);
	/* Another user's may have the same number. */
	set(PRINTED + ID, 2, 1);
	set(PRINTED + OWNER, 1, 'X');
	set(PRINTED + CLASS, 1, '9');
	set(PRINTED + COPIES, 1, 255);
	set(PRINTED + TAG, 1, '~');
	set(READER_DEVICE, 1, 'Z');
	ck_loads();
	ck_assert_uint_eq(spool_use(fx.cp).page_limit, 0);
	ck_assert_uint_eq(spool_use(fx.cp).file_limit, 7);
	info = spool_info("XINUX001", SPOOL_PRT, 1);
	ck_assert_int_eq(info.spool_class, '9');
	ck_assert_uint_eq(info.copies, 255);
	ck_assert_str_eq(info.tag, "~ag");
	ck_assert_int_eq(fx.cp->unit[0].spool_class, 'Z');
}

/* A file that nobody has open is on a queue. */
TEST(a_file_nowhere)
{
	set(PRINTED + QUEUED, 1, 0);
	set(LINES, 2, 1);
	stretch(LINE + 2, -2);
	ck_contradicts();
	/* It could be one that the printer has open. */
	set(PRINTED + OPEN, 1, 1);
	set(PRINTER_FILE, 2, 3);
	stretch(PRINTER_FILE + 8, 2);
	ck_loads();
	ck_assert(spool_info("LINUX001", SPOOL_PRT, 3).open);
}

/* A file is open at one device. */
TEST(two_devices)
{
	set(PUNCH_FILE, 2, 0);
	stretch(PUNCH_PAGE, -2);
	ck_contradicts();
	stretch(PUNCH_PAGE, 2);
	set(PUNCH_FILE, 2, 2);
	set(PUNCH_PAGE, 2, 1);
	ck_loads();
}

/* Behind the last page there is nothing that has been read. */
TEST(behind_the_last_page)
{
	set(READER_PAGE, 2, 1);
	ck_contradicts();
	set(READER_AT, 2, 0);
	ck_contradicts();
	set(READER_SEEN, 4, 0);
	ck_loads();
	ck_guest("CLOSE RDR KEEP", 0, "");
	ck_card("one");
}

/* Commands without data fill a page exactly, or there is one too many, or half a record. */
TEST(more_than_a_page)
{
	const unsigned int commands = 4048 / 8;

	for (unsigned int i = 0; i < commands; i++) {
		set(PRINTED + RECORD + i * 8, 4, 0x8b000000);
		set(PRINTED + RECORD + i * 8 + 4, 4, 0x70000001);
	}
	set(PRINTED + COUNT, 4, commands);
	set(PRINTED + RECORDS, 4, 0);
	set(PRINTED + FILL, 2, 4048);
	ck_loads();
	ck_assert_uint_eq(spool_info("LINUX001", SPOOL_PRT, 3).records, 0);
	set(PRINTED + COUNT, 4, commands + 1);
	ck_contradicts();
	/* Nor is it one if its bytes behind the data look like it. */
	set(PRINTED + PAGE + 4064 + 4, 4, 0x70000001);
	ck_contradicts();
	set(PRINTED + PAGE + 4064 + 4, 4, 0);
	set(PRINTED + COUNT, 4, commands);
	/* The last 8 bytes: not even the lengths of a record fit. */
	set(PRINTED + RECORD + 4040 + 4, 4, 0x60000001);
	ck_contradicts();
	/* The last 16: one of 4 bytes fits, one of 5 does not. */
	set(PRINTED + RECORD + 4032 + 4, 4, 0x60000004);
	set(PRINTED + RECORD + 4032 + 8, 4, 0x00000010);
	set(PRINTED + COUNT, 4, commands - 1);
	set(PRINTED + RECORDS, 4, 1);
	ck_loads();
	set(PRINTED + RECORD + 4032 + 4, 4, 0x60000005);
	set(PRINTED + RECORD + 4032 + 8, 4, 0x00000018);
	ck_contradicts();
	/* A page has one command at least. */
	set(PRINTED + COUNT, 4, 0);
	set(PRINTED + RECORDS, 4, 0);
	set(PRINTED + FILL, 2, 0);
	ck_contradicts();
}

/* The place is within its page, not on the one behind it. */
TEST(a_place_on_another_page)
{
	char text[133];

	ck_guest("CLOSE RDR", 0, "");
	run_as(CPCMD_GUEST, "CLOSE PUN PURGE", 0);
	for (unsigned int i = 0; i < 254; i++)
		punch("card");
	run_as(CPCMD_GUEST, "CLOSE PUN TO * RDR", 0);
	for (unsigned int i = 0; i < 253; i++)
		unit_read(text);
	free(image);
	image = fx_save(&len);
	part = state_find(image, len, "CSPL");
	/* Slot 0 has two pages, slot 1 none: the places behind them move. */
	ck_assert_uint_eq(number(READER_FILE - FILE_SIZE + 3 + 1 + 4096, 2), 1);
	ck_assert_uint_eq(number(READER_AT - FILE_SIZE + 3 + 1 + 4096, 2), 253 * 16);
	ck_loads();
	set(READER_AT - FILE_SIZE + 3 + 1 + 4096, 2, 8);
	ck_contradicts();
	set(READER_AT - FILE_SIZE + 3 + 1 + 4096, 2, 16);
	ck_contradicts();
	set(READER_SEEN - FILE_SIZE + 3 + 1 + 4096, 4, 1);
	ck_loads();
}

static void ck_label(const struct spool_label *is, const struct spool_label *was)
{
	ck_assert_str_eq(is->name, was->name);
	ck_assert_str_eq(is->type, was->type);
	ck_assert_str_eq(is->form, was->form);
	ck_assert_str_eq(is->dest, was->dest);
	ck_assert_str_eq(is->dist, was->dist);
	ck_assert_str_eq(is->tag, was->tag);
}

static void ck_file(const struct spool_file *is, const struct spool_file *was)
{
	ck_assert(is->used == was->used && is->open == was->open && is->queued == was->queued);
	ck_assert_uint_eq(is->queue, was->queue);
	ck_assert_uint_eq(is->device, was->device);
	ck_assert_uint_eq(is->id, was->id);
	ck_assert_str_eq(is->owner, was->owner);
	ck_assert_str_eq(is->origin, was->origin);
	ck_label(&is->label, &was->label);
	ck_assert_int_eq(is->spool_class, was->spool_class);
	ck_assert(is->user_hold == was->user_hold && is->system_hold == was->system_hold);
	ck_assert(is->keep == was->keep);
	ck_assert_uint_eq(is->copies, was->copies);
	ck_assert_uint_eq(is->record_length, was->record_length);
	ck_assert_uint_eq(is->records, was->records);
	ck_assert_uint_eq(is->tod, was->tod);
	ck_assert_uint_eq(is->pages, was->pages);
	ck_assert_uint_eq(is->fill, was->fill);
}

static void ck_device(const struct spool_device *is, const struct spool_device *was)
{
	ck_assert_int_eq(is->spool_class, was->spool_class);
	ck_assert(is->cont == was->cont && is->hold == was->hold && is->keep == was->keep);
	ck_assert_uint_eq(is->copies, was->copies);
	ck_assert_str_eq(is->to, was->to);
	ck_assert_uint_eq(is->to_queue, was->to_queue);
	ck_label(&is->label, &was->label);
	ck_assert_uint_eq(is->file, was->file);
	ck_assert_uint_eq(is->at, was->at);
	ck_assert_uint_eq(is->seen, was->seen);
}

/* One in which no field is what it is at first. */
static void set_all(void)
{
	const uint8_t letter = 0x81;
	const struct spool_put put = {
		.user = "BOB", .queue = SPOOL_PRT, .origin = "EVE", .name = "n", .type = "t",
		.spool_class = '7', .hold = true, .system_hold = true, .record_length = 3,
		.data = &letter, .len = 1,
	};

	run_as(CPCMD_GUEST,
	       "SPOOL C CLASS Q HOLD KEEP CONT\nTAG DEV C a reader's\n"
	       "SPOOL E CLASS C HOLD KEEP CONT COPY 3 FORM F1 DEST D1 DIST B1 TO OPERATOR PUN\n"
	       "SPOOL E NAME Some Name\nTAG DEV E to whom it may concern", 0);
	unit_write(PRINTER, 0x09, "a line");
	run_as(CPCMD_GUEST, "CLOSE E EOF", 0);
	unit_write(PRINTER, 0x09, "another");
	fx.tod += 1000;
	ck_assert_int_ge(spool_put(fx.cp, &put, err, sizeof(err)), 1);
	spool_limits(fx.cp, 100, 50);
}

/* Each is after loading what it was, and none is what it became meanwhile. */
TEST(every_field)
{
	static struct spool_file files[6];
	static uint8_t records[3][160];
	struct spool_device devices[3];
	uint16_t line[4];
	struct spool_use use;

	set_all();
	memcpy(files, fx.cp->system->spool->file, sizeof(files));
	memcpy(devices, fx.cp->unit, sizeof(devices));
	ck_assert_uint_eq(fx.cp->system->spool->lines, 4);
	memcpy(line, fx.cp->system->spool->line, sizeof(line));
	use = spool_use(fx.cp);
	free(image);
	image = fx_save(&len);
	run_as(CPCMD_GUEST,
	       "CLOSE E PURGE\nCLOSE D PURGE\nCLOSE C PURGE\nPURGE ALL\n"
	       "SPOOL E CLASS A NOHOLD NOKEEP NOCONT COPY 1 FORM X DEST X DIST X OFF NONAME\n"
	       "SPOOL C CLASS A NOHOLD NOKEEP NOCONT\nTAG DEV E\nTAG DEV C", 0);
	spool_limits(fx.cp, 1, 1);
	ck_loads();
	for (unsigned int i = 0; i < 6; i++)
		ck_file(&fx.cp->system->spool->file[i], &files[i]);
	for (unsigned int i = 0; i < 3; i++)
		ck_device(&fx.cp->unit[i], &devices[i]);
	ck_assert_uint_eq(fx.cp->system->spool->lines, 4);
	ck_assert_mem_eq(fx.cp->system->spool->line, line, sizeof(line));
	ck_assert_uint_eq(spool_use(fx.cp).pages, use.pages);
	ck_assert_uint_eq(spool_use(fx.cp).files, use.files);
	ck_assert_uint_eq(spool_use(fx.cp).page_limit, 100);
	ck_assert_uint_eq(spool_use(fx.cp).file_limit, 50);
	/* The values by themselves, as far as the test has given them. */
	ck_assert_int_eq(devices[2].spool_class, 'C');
	ck_assert(devices[2].cont && devices[2].hold && devices[2].keep);
	ck_assert_uint_eq(devices[2].copies, 3);
	ck_assert_str_eq(devices[2].label.tag, "to whom it may concern");
	ck_assert_uint_eq(devices[0].seen, 1);
	ck_assert_int_eq(spool_records(fx.cp, "BOB", SPOOL_PRT, 1, 0, records[0], 160), 1);
	ck_assert_uint_eq(records[0][0], 0x81);
	ck_assert_int_eq(spool_records(fx.cp, OTHER, SPOOL_PUN, 4, 0, records[1], 160), 1);
	ck_assert_uint_eq(records[1][0], 0x81);
	ck_assert_int_eq(spool_records(fx.cp, "LINUX001", SPOOL_RDR, 1, 0, records[2], 160), 2);
	ck_assert_uint_eq(records[2][0], 0x96);
}

/* Saving a loaded state gives the same bytes again. */
TEST(saved_again)
{
	size_t before_len, after_len;
	uint8_t *before, *after;

	set_all();
	before = state_now(&before_len);
	free(image);
	image = fx_save(&len);
	run_as(CPCMD_GUEST, "CLOSE D PURGE\nCLOSE C PURGE\nPURGE ALL", 0);
	ck_loads();
	after = state_now(&after_len);
	ck_assert_uint_eq(after_len, before_len);
	ck_assert_mem_eq(after, before, before_len);
	free(before);
	free(after);
}
