/* SPDX-License-Identifier: MIT */
/* A guest with virtual disks, and its parameter lists for DIAGNOSE X'250'. */
#ifndef DISK_CHECK_H
#define DISK_CHECK_H

#include "fixture.h"
#include "zvmlab/disk.h"

/* 0200: 64 blocks; 0201: 16, read-only. */
#define DISK_DIRECTORY \
	"MDISK 0200 FB-512 V-DISK 64 MW;MDISK 0201 FB-512 V-DISK 16 R;SPOOL 00C 2540 READER *;" \
	"NAMESAVE MONDCSS"
#define DISK 0x0200
#define READ_ONLY 0x0201
#define BIOPL 0x3000u
#define BIOES 0x4000u
#define DATA 0x8000u

enum { INIT_BIO = 0, RW_BIO = 1, TERM_BIO = 2 };
enum { WRITE_BLOCK = 1, READ_BLOCK = 2 };

/* Fields that lists for initialization and for requests have (struct dasd_diag_… of Linux). */
enum {
	BIOPL_DEVICE = 0,	/* 2 */
	BIOPL_FLAGA = 2,	/* 1: X'80', 64 bits */
	BIOPL_BLOCK_SIZE = 24,	/* 4 */
	BIOPL_OFFSET = 32, BIOPL_START = 40, BIOPL_END = 48,		/* 8 */
	BIOPL_OFFSET31 = 28, BIOPL_START31 = 32, BIOPL_END31 = 36,	/* 4 */
	BIOPL_KEY = 24, BIOPL_FLAGS = 25,				/* 1 */
	BIOPL_COUNT = 28, BIOPL_ALET = 32,				/* 4 */
	BIOPL_INTPARM = 40, BIOPL_LIST = 48,				/* 8 */
	BIOPL_LIST31 = 36, BIOPL_INTPARM31 = 40,			/* 4 */
	BIOPL_SIZE = 64,
};
enum {
	BIOE_TYPE = 0, BIOE_STATUS = 1, BIOE_RESERVED = 2,
	BIOE_ALET = 4, BIOE_BLOCK = 8, BIOE_BUFFER = 16, BIOE_SIZE = 24,
	BIOE_BLOCK31 = 4, BIOE_ALET31 = 8, BIOE_BUFFER31 = 12, BIOE_SIZE31 = 16,
};
#define PARAMETER UINT64_C(0x1122334455667788)

static inline void disk_setup(void)
{
	fx_setup_with((const char *const[]){ "directory", DISK_DIRECTORY, "cpus", "2", NULL });
}

static inline uint8_t *new_list(uint16_t device, bool format64)
{
	uint8_t *list = fx_at(BIOPL, BIOPL_SIZE);

	memset(list, 0, BIOPL_SIZE);
	put_be16(list + BIOPL_DEVICE, device);
	list[BIOPL_FLAGA] = format64 ? 0x80 : 0;
	return list;
}

/* Rx = 2, Rx+1 = 3, Ry = 4. */
static inline struct cp_result diag250(unsigned int function)
{
	fx.gr[2] = BIOPL;
	fx.gr[3] = 0xeeee;
	fx.gr[4] = function;
	return fx_diag(2, 4, 0x250);
}

static inline void ck_250(unsigned int function, uint8_t cc, uint64_t rc)
{
	ck_cc(diag250(function), cc);
	ck_assert_uint_eq(fx.gr[3], rc);
}

static inline void set_up(uint16_t device, uint32_t block_size, int64_t offset)
{
	uint8_t *list = new_list(device, true);

	put_be32(list + BIOPL_BLOCK_SIZE, block_size);
	put_be64(list + BIOPL_OFFSET, (uint64_t)offset);
}

static inline void established(uint16_t device, uint32_t block_size)
{
	set_up(device, block_size, 0);
	ck_250(INIT_BIO, 0, device == READ_ONLY ? 4 : 0);
}

/* An entry of the list: block @number, data at DATA + 4096 * @index. */
static inline uint8_t *put_entry(unsigned int index, uint8_t type, int64_t number)
{
	uint8_t *entry = fx_at(BIOES + index * BIOE_SIZE, BIOE_SIZE);

	memset(entry, 0, BIOE_SIZE);
	entry[BIOE_TYPE] = type;
	entry[BIOE_STATUS] = 0xee;
	put_be64(entry + BIOE_BLOCK, (uint64_t)number);
	put_be64(entry + BIOE_BUFFER, DATA + 4096u * index);
	return entry;
}

static inline void put_request(uint16_t device, uint32_t count, bool async)
{
	uint8_t *list = new_list(device, true);

	list[BIOPL_FLAGS] = async ? 2 : 0;
	put_be32(list + BIOPL_COUNT, count);
	put_be64(list + BIOPL_INTPARM, PARAMETER);
	put_be64(list + BIOPL_LIST, BIOES);
}

static inline uint8_t entry_status(unsigned int index)
{
	return *fx_at(BIOES + index * BIOE_SIZE + BIOE_STATUS, 1);
}

static inline void ck_untold(void)
{
	ck_assert(!cp_external_pending(fx.cp, 0) && !cp_external_pending(fx.cp, 1));
}

/* The guest may read at FX_SEGMENT_START from now on, and not store. */
static inline void load_segment(void)
{
	fx_put_name(0x2000, "MONDCSS");
	fx.gr[6] = 0x2000;
	fx.gr[8] = 0x20;
	ck_cc(fx_diag(6, 8, 0x64), 0);
}

/* The interruption that CPU 1 takes. */
static inline void ck_told(unsigned int status)
{
	struct cp_external external;

	ck_assert(cp_external_pending(fx.cp, 0) && cp_external_pending(fx.cp, 1));
	ck_assert(cp_external_take(fx.cp, 1, &external));
	ck_assert_uint_eq(external.code, 0x2603);
	ck_assert_uint_eq(external.subcode, 0x0700 + status);
	ck_assert_uint_eq(external.parameter32, 0x55667788);
	ck_assert_uint_eq(external.parameter, PARAMETER);
}

/* Blocks of 512 bytes from @first on all have bytes of this value. */
static inline void ck_blocks(uint16_t device, uint32_t first, uint32_t count, uint8_t value)
{
	static uint8_t data[64 * 512];
	char why[256];

	ck_assert_uint_le(count, 64);
	ck_assert_int_eq(disk_read(fx.cp, device, first, count, data, why, sizeof(why)), 0);
	for (uint32_t i = 0; i < count * 512; i++)
		ck_assert_uint_eq(data[i], value);
}

static inline void put_blocks(uint16_t device, uint32_t first, uint32_t count, uint8_t value)
{
	static uint8_t data[64 * 512];
	char why[256];

	memset(data, value, sizeof(data));
	ck_assert_int_eq(disk_write(fx.cp, device, first, data, count * 512, why, sizeof(why)), 0);
}

static inline struct disk_info info_of(unsigned int index)
{
	struct disk_info info;

	ck_assert(disk_info(fx.cp, index, &info));
	return info;
}

#endif
