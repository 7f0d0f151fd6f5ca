/* SPDX-License-Identifier: MIT */
/*
 * Address spaces of 512 MiB: the first IDENTITY MiB are storage as it is, and one window of
 * WINDOW_PAGES pages is the space's own.  Formats: z/Architecture Principles of Operation,
 * chapter 3, "Dynamic Address Translation".
 */
#ifndef BARE_DAT_H
#define BARE_DAT_H

#include <stdint.h>

enum { SEGMENTS = 512, PAGES = 256, WINDOW_PAGES = 4, IDENTITY = 8 };
enum { PAGE_INVALID = 0x400, SEGMENT_INVALID = 0x20 };
#define WINDOW UINT64_C(0x10000000)
#define CR0_SECONDARY UINT64_C(0x4000000)
#define CR0_LOW_ADDRESS UINT64_C(0x10000000)

/* A segment table of the shortest length, and the window's page table. */
struct space {
	uint64_t segments[SEGMENTS];		/* 0x0000 */
	uint64_t window[PAGES];			/* 0x1000 */
} __attribute__((aligned(4096)));

_Static_assert(__builtin_offsetof(struct space, window) == 0x1000, "it is aligned to 2 KiB");

static uint64_t identity_pages[IDENTITY][PAGES] __attribute__((aligned(2048)));

static inline void space_init(struct space *space)
{
	for (unsigned int i = 0; i < SEGMENTS; i++)
		space->segments[i] = SEGMENT_INVALID;
	for (unsigned int i = 0; i < IDENTITY; i++) {
		for (unsigned int j = 0; j < PAGES; j++)
			identity_pages[i][j] = (uint64_t)i << 20 | j << 12;
		space->segments[i] = (uint64_t)identity_pages[i];
	}
	for (unsigned int i = 0; i < PAGES; i++)
		space->window[i] = PAGE_INVALID;
	space->segments[WINDOW >> 20] = (uint64_t)space->window;
}

/* The address-space-control element: a segment table with room for 512 entries. */
static inline uint64_t space_asce(const struct space *space)
{
	return (uint64_t)space->segments;
}

#define LOAD_CONTROL(number, value) \
	do { \
		const uint64_t value_ = (value); \
		asm volatile("lctlg " #number "," #number ",%0" : : "QS" (value_) : "memory"); \
	} while (0)

#define STORE_CONTROL(number) \
	({ \
		uint64_t value_; \
		asm volatile("stctg " #number "," #number ",%0" : "=QS" (value_)); \
		value_; \
	})

static inline void dat(int on)
{
	uint8_t mask;

	if (on)
		asm volatile("stosm %0,4" : "=Q" (mask) : : "memory");
	else
		asm volatile("stnsm %0,0xfb" : "=Q" (mask) : : "memory");
}

#endif
