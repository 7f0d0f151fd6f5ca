/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'14': input spool file manipulation, as far as Linux' vmur uses it.
 *
 * Rx: address, a page number; Ry: virtual device, or a file's number; Ry+1: subcode.  The subcodes,
 * condition codes and what Ry+1 says with code 3 are those of the VM/SP System Programmer's Guide
 * (SC19-6203); X'0028' and the order of the fields of a file's block are as Linux has them.
 */
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "clock.h"
#include "diag_private.h"
#include "ebcdic.h"
#include "spool/spool_private.h"
#include "zvmlab/storage.h"

enum { READ = 0x0000, POSITION = 0x0028, NEXT_FILE = 0x0fff };

/* Ry+1 with condition code 3. */
enum { NO_DEVICE = 4, NO_READER = 8 };

/* Block that describes a file (SFBLOK). */
enum {
	SFB_OWNER = 8,		/* 8, EBCDIC as all text */
	SFB_ORIGIN = 16,	/* 8 */
	SFB_RECORDS = 24,	/* 4 */
	SFB_RECORD_LENGTH = 28,	/* 2 */
	SFB_ID = 30,		/* 2 */
	SFB_STATUS = 32,	/* 1 */
	SFB_DEVICE = 33,	/* 1: type of the device that made it, as DIAGNOSE X'210' has it */
	SFB_NAME = 40,		/* 12 */
	SFB_TYPE = 52,		/* 12 */
	SFB_DATE = 64,		/* 8: mm/dd/yy */
	SFB_TIME = 72,		/* 8: hh:mm:ss */
	SFB_COPIES = 84,	/* 2 */
	SFB_CLASS = 86,		/* 1 */
	SFB_DIST = 88,		/* 8 */
	SFB_SIZE = 304,
};
#define STATUS_IN_USE 0x80
#define STATUS_RECORDS_COMPLETE 0x40
#define STATUS_USER_HOLD 0x20
#define STATUS_DUMP 0x10
#define STATUS_OPENED 0x08
#define STATUS_SYSTEM_HOLD 0x04

static void put_text(uint8_t *to, const char *text, size_t len)
{
	assert(strlen(text) <= len);
	memset(to, BLANK, len);
	ebcdic_encode(to, text, strlen(text));
}

static void describe(const struct spool_file *file, uint8_t block[SFB_SIZE])
{
	const struct clock_time t = clock_time(file->tod);
	char text[16];

	memset(block, 0, SFB_SIZE);
	put_text(block + SFB_OWNER, file->owner, 8);
	put_text(block + SFB_ORIGIN, file->origin, 8);
	put_be32(block + SFB_RECORDS, file->records);
	put_be16(block + SFB_RECORD_LENGTH, file->record_length);
	put_be16(block + SFB_ID, file->id);
	block[SFB_STATUS] = (uint8_t)(STATUS_RECORDS_COMPLETE |
				      (file->open ? STATUS_IN_USE | STATUS_OPENED : 0) |
				      (file->user_hold ? STATUS_USER_HOLD : 0) |
				      (file->device == SPOOL_DUMP ? STATUS_DUMP : 0) |
				      (file->system_hold ? STATUS_SYSTEM_HOLD : 0));
	block[SFB_DEVICE] = file->device == SPOOL_PRT ? 0x41 : 0x82;
	put_text(block + SFB_NAME, file->label.name, 12);
	put_text(block + SFB_TYPE, file->label.type, 12);
	snprintf(text, sizeof(text), "%02u/%02u/%02u", t.month, t.day, t.year % 100);
	put_text(block + SFB_DATE, text, 8);
	snprintf(text, sizeof(text), "%02u:%02u:%02u", t.hour, t.minute, t.second);
	put_text(block + SFB_TIME, text, 8);
	put_be16(block + SFB_COPIES, file->copies);
	block[SFB_CLASS] = ebcdic_from_latin1((uint8_t)file->spool_class);
	put_text(block + SFB_DIST, file->label.dist, 8);
}

/* The file behind the one of this number in the reader queue; 0: the first; or NULL and @cc. */
static const struct spool_file *next_file(struct cp *cp, uint64_t id, uint8_t *cc)
{
	const char *owner = cp->config.userid;
	const struct spool_file *file, *next;

	for (unsigned int i = 0; id != 0; i++) {
		file = spool_nth(cp, owner, SPOOL_RDR, i);
		*cc = 2;
		if (!file)
			return NULL;
		if (file->id == id) {
			next = spool_nth(cp, owner, SPOOL_RDR, i + 1);
			*cc = 1;
			return next;
		}
	}
	*cc = 1;
	return spool_nth(cp, owner, SPOOL_RDR, 0);
}

/* Does the fault take the place of the subcode?  Then @instead is how the instruction ends. */
static bool takes_place(const struct fault_action *fault, struct cp_result *instead)
{
	if (fault->kind == FAULT_PGM)
		*instead = cp_program((uint16_t)fault->value);
	else if (fault->kind == FAULT_CC || fault->kind == FAULT_DROP)
		*instead = cp_cc(fault->kind == FAULT_CC ? (uint8_t)fault->value : 0);
	else
		return false;
	return true;
}

static struct cp_result next(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			     unsigned int r3)
{
	const struct fault_action fault = fault_of_guest(cp, FAULT_DIAG14_NEXT, "");
	const uint64_t addr = diag_address(insn, r1);
	const struct spool_file *file;
	struct cp_result instead;
	uint8_t block[SFB_SIZE], cc;
	uint16_t pgm;

	if (takes_place(&fault, &instead))
		return instead;
	if (addr % 8 != 0)
		return cp_program(PGM_SPECIFICATION);
	file = next_file(cp, (uint32_t)insn->gr[r3], &cc);
	if (!file)
		return cp_cc(cc);
	describe(file, block);
	if (fault.kind == FAULT_CORRUPT)
		block[fault.offset % SFB_SIZE] ^= (uint8_t)fault.value;
	pgm = storage_write(cp, (int)insn->cpu, addr, block, sizeof(block));
	return pgm != 0 ? cp_program(pgm) : cp_cc(0);
}

/* The reader that Ry names; -1 with Ry+1 set. */
static int reader(struct cp *cp, const struct cp_insn *insn, unsigned int r3)
{
	const uint64_t number = (uint32_t)insn->gr[r3];
	const int unit = number <= UINT16_MAX ? spool_unit(cp, (uint16_t)number) : -1;

	if (unit >= 0 && spool_unit_queue(cp, (unsigned int)unit) == SPOOL_RDR)
		return unit;
	diag_set(insn, r3 + 1, unit < 0 ? NO_DEVICE : NO_READER);
	return -1;
}

/* The page of the active file that is read next; of the next file if the reader goes on (CONT). */
static uint8_t *next_page(struct cp *cp, unsigned int unit, uint8_t *cc)
{
	struct spool_device *device = &cp->unit[unit];
	struct spool_file *file = spool_select(cp, unit), *kept;

	*cc = 2;
	if (!file)
		return NULL;
	*cc = 1;
	if (device->page == 0 && device->cont) {
		spool_close(cp, unit, &(struct spool_close){ 0 }, &kept);
		file = spool_select(cp, unit);
	}
	if (!file || device->page == 0)
		return NULL;
	*cc = 0;
	if (file->device != SPOOL_DUMP)
		put_be16(cp->system->spool->page[device->page - 1] + SPLINK_ID, file->id);
	return cp->system->spool->page[device->page - 1];
}

static struct cp_result read(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			     unsigned int r3)
{
	const struct fault_action fault = fault_of_guest(cp, FAULT_DIAG14_READ, "");
	const uint64_t addr = diag_address(insn, r1);
	struct spool_device *device;
	struct cp_result instead;
	uint8_t *page, copy[CP_PAGE_SIZE], cc;
	uint16_t pgm;
	int unit;

	if (takes_place(&fault, &instead))
		return instead;
	if (addr % CP_PAGE_SIZE != 0)
		return cp_program(PGM_SPECIFICATION);
	pgm = storage_check(cp, (int)insn->cpu, addr, CP_PAGE_SIZE, true);
	if (pgm != 0)
		return cp_program(pgm);
	unit = reader(cp, insn, r3);
	if (unit < 0)
		return cp_cc(3);
	page = next_page(cp, (unsigned int)unit, &cc);
	if (!page)
		return cp_cc(cc);
	memcpy(copy, page, sizeof(copy));
	if (fault.kind == FAULT_CORRUPT)
		copy[fault.offset % sizeof(copy)] ^= (uint8_t)fault.value;
	pgm = storage_write(cp, (int)insn->cpu, addr, copy, sizeof(copy));
	assert(pgm == 0);
	device = &cp->unit[unit];
	device->page = cp->system->spool->next[device->page - 1];
	device->at = 0;
	device->seen = 0;
	return cp_cc(0);
}

/* Rx: number of the page, from 1 on. */
static struct cp_result position(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
				 unsigned int r3)
{
	const struct fault_action fault = fault_of_guest(cp, FAULT_DIAG14_POSITION, "");
	const uint32_t number = (uint32_t)insn->gr[r1];
	const struct spool *spool = cp->system->spool;
	struct spool_device *device;
	struct cp_result instead;
	uint16_t page;
	int unit;

	if (takes_place(&fault, &instead))
		return instead;
	unit = reader(cp, insn, r3);
	if (unit < 0)
		return cp_cc(2);
	device = &cp->unit[unit];
	if (device->file == 0)
		return cp_cc(2);
	page = number == 0 ? 0 : spool_page_at(spool, &spool->file[device->file - 1],
					       number - 1);
	if (page == 0)
		return cp_cc(3);
	device->page = page;
	device->at = 0;
	device->seen = 0;
	return cp_cc(0);
}

struct cp_result diag_14_spool(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			       unsigned int r3)
{
	if (r3 == 15)
		return cp_program(PGM_SPECIFICATION);
	switch ((uint32_t)insn->gr[r3 + 1]) {
	case READ:
		return read(cp, insn, r1, r3);
	case POSITION:
		return position(cp, insn, r1, r3);
	case NEXT_FILE:
		return next(cp, insn, r1, r3);
	default:
		return cp_program(PGM_SPECIFICATION);
	}
}
