/* SPDX-License-Identifier: MIT */
/*
 * Application data: what D10R1 and D10R2 carry for programs, value by value.
 *
 *	struct monrec_application application;
 *	struct monrec_value value;
 *
 *	if (monrec_application_begin(&item.record, &application) == 0)
 *		while (monrec_application_next(&application, &value))
 *			…
 *
 * The product ID says whose data they are.  Known are those of Linux' kernel (appldata_mem,
 * _os, _net_sum) and of s390-tools (mon_fsstatd, mon_procd), as their sources lay them out.
 * Whatever the bytes say, only bytes of the record are given out.
 */
#ifndef MONREC_APPLICATION_H
#define MONREC_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monrec.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define MONREC_PRODUCT_NUMBER 7u
#define MONREC_VALUE_NAME 24u

struct monrec_application {
	/** Number of the product, ASCII or EBCDIC in the record; what is unprintable is a dot. */
	char product[MONREC_PRODUCT_NUMBER + 1];
	uint16_t function, version, release, modification;
	uint8_t number;		/**< of the product's record */
	const char *name;	/**< what the data are: "mem"; NULL: not known */
	const char *title;	/**< a phrase for people; NULL with @name */
	const uint8_t *data;	/**< of the application; NULL: none */
	uint32_t len;
	/* Where monrec_application_next() is: not for callers. */
	const void *layout;
	uint32_t at, step, part;
};

enum monrec_value_type {
	MONREC_VALUE_UNSIGNED,
	MONREC_VALUE_SIGNED,
	MONREC_VALUE_TEXT,	/**< bytes, in Linux ASCII or UTF-8; without what follows a NUL */
	MONREC_VALUE_TOD,	/**< a moment: TOD clock */
	MONREC_VALUE_EPOCH,	/**< a moment: seconds since 1970 */
};

struct monrec_value {
	char name[MONREC_VALUE_NAME];	/**< "nr_cpus", "cpu0.user" */
	enum monrec_value_type type;
	uint64_t number;		/**< of SIGNED as two's complement of 64 bits */
	const char *text;		/**< of TEXT; not ended by NUL */
	uint32_t text_len;
};

/**
 * Read the fixed part of D10R1 or D10R2.
 * Return: 0; MONREC_MISMATCH if it is another record; MONREC_ABSENT if the fixed part is cut or
 * tells of data that are not within the record.
 */
int monrec_application_begin(const struct monrec_record *record,
			     struct monrec_application *application);
/** The next value; false past the last, and where the data end before it. */
bool monrec_application_next(struct monrec_application *application, struct monrec_value *value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
