/* SPDX-License-Identifier: MIT */
/*
 * DIAGNOSE X'DC' as a guest gives it, and the records that come of it.
 *
 * Offsets of the lists and of the product ID as Linux has them (asm/appldata.h, its older releases
 * for the short list), those of the records as IBM describes MRAPLEDT and MRAPLSDT.
 */
#ifndef APPLDATA_CALLS_H
#define APPLDATA_CALLS_H

#include "monitor_records.h"
#include "zvmlab/appldata.h"

#define DC_LIST 0x3000u
#define DC_PRODUCT 0x3100u
#define DC_DATA 0x4000u

enum {
	DC_CODE = 0,		/* 2 */
	DC_FUNCTION = 2,
	DC_LENGTH = 3,
	DC_BUFFER_LENGTH = 10,	/* 2 */
	DC_SHORT_PRODUCT = 4,	/* 4 */
	DC_SHORT_BUFFER = 12,	/* 4 */
	DC_SHORT_SIZE = 16,
	DC_LONG_PRODUCT = 16,	/* 8 */
	DC_LONG_BUFFER = 24,	/* 8 */
	DC_LONG_SIZE = 32,
};
enum { DC_START = 0x80, DC_STOP = 0x81, DC_EVENT = 0x82, DC_CONFIG = 0x83 };

/* Product ID. */
enum { PRODUCT_FUNCTION = 7, PRODUCT_RECORD = 9, PRODUCT_SIZE = 16 };

/* D10R1 and D10R2. */
enum {
	D10_CALDATOF = 20,	/* 2 */
	D10_CALDATLN = 22,	/* 2 */
	D10_USERID = 24,	/* 8 */
	D10_MDGPROD = 32,	/* 16 */
	D10_STATUS = 48,
	D10_FIXED = 52,
};

static inline void applmon_setup(void)
{
	fx_setup_with((const char *const[]){
		"directory", "IUCV ALLOW;IUCV ANY;NAMESAVE MONDCSS;OPTION APPLMON",
		"segment", "MONDCSS 800-9FF SC RSTD;DATA A00-A0F SW", NULL });
}

/* The product is LNXAPPL with @number as its record. */
static inline void put_product(uint8_t number)
{
	uint8_t *product = memset(fx_at(DC_PRODUCT, PRODUCT_SIZE), 0, PRODUCT_SIZE);

	memcpy(product, "LNXAPPL", 7);
	put_be16(product + PRODUCT_FUNCTION, 1);
	product[PRODUCT_RECORD] = number;
}

static inline uint8_t *put_list(uint8_t function, uint64_t buffer, uint16_t length)
{
	/* What nobody looks at is not zero. */
	uint8_t *list = memset(fx_at(DC_LIST, DC_LONG_SIZE), 0xa5, DC_LONG_SIZE);

	put_be16(list + DC_CODE, 0xdc);
	list[DC_FUNCTION] = function;
	put_be16(list + DC_BUFFER_LENGTH, length);
	if (function & 0x80) {
		list[DC_LENGTH] = DC_LONG_SIZE;
		put_be64(list + DC_LONG_PRODUCT, DC_PRODUCT);
		put_be64(list + DC_LONG_BUFFER, buffer);
	} else {
		list[DC_LENGTH] = DC_SHORT_SIZE;
		put_be32(list + DC_SHORT_PRODUCT, DC_PRODUCT);
		put_be32(list + DC_SHORT_BUFFER, (uint32_t)buffer);
	}
	return list;
}

/* Rx = 2, Ry = 4, with what the list has. */
static inline struct cp_result dc_call(void)
{
	fx.gr[2] = DC_LIST;
	fx.gr[4] = UINT64_C(0xdead0000beef);
	return fx_diag(2, 4, 0xdc);
}

/* Return code of a call with these operands. */
static inline uint64_t dc(uint8_t function, uint8_t number, uint64_t buffer, uint16_t length)
{
	put_product(number);
	put_list(function, buffer, length);
	ck_assert_int_eq(dc_call().how, CP_DONE);
	return fx.gr[4];
}

/* @length bytes at @buffer that begin with @first and count up. */
static inline void put_data(uint64_t buffer, uint16_t length, uint8_t first)
{
	uint8_t *at = fx_at(buffer, length);

	for (unsigned int i = 0; i < length; i++)
		at[i] = (uint8_t)(first + i);
}

/* Record @index is D10Rn of record number @number, with the data at @buffer as they are now. */
static inline void ck_appldata(unsigned int index, unsigned int kind, uint8_t number,
			       uint64_t buffer, uint16_t length)
{
	uint8_t userid[8];
	const uint8_t *r;

	ck_record(index, 10, kind, D10_FIXED + length);
	r = record[index].at;
	ck_assert_uint_eq(get_be16(r + D10_CALDATOF), D10_FIXED);
	ck_assert_uint_eq(get_be16(r + D10_CALDATLN), length);
	ebcdic_encode(userid, "LINUX001", 8);
	ck_assert_mem_eq(r + D10_USERID, userid, 8);
	ck_assert_mem_eq(r + D10_MDGPROD, "LNXAPPL\0\1", 9);
	ck_assert_uint_eq(r[D10_MDGPROD + PRODUCT_RECORD], number);
	ck_assert_uint_eq(get_be32(r + D10_STATUS), 0);
	ck_assert_mem_eq(r + D10_FIXED, fx_at(buffer, length), length);
}

#endif
