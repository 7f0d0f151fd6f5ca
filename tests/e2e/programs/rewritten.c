// SPDX-License-Identifier: MIT
/*
 * Code that is written anew and executed, many times over.  Every version is
 * stored by one instruction and consists of two blocks, the second far from the
 * first byte of the store: it must be the new one, too.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define VERSIONS 1000
#define SECOND 64

static void assemble(uint8_t code[128], uint16_t result)
{
	static const uint8_t first[] = { 0xa7, 0x29, 0x00, 0x00,	/* lghi %r2,0 */
					 0xa7, 0xf4, 0x00, 0x1e };	/* j to SECOND */
	const uint8_t second[] = { 0xa7, 0x2b, (uint8_t)(result >> 8), (uint8_t)result, /* aghi %r2 */
				   0x07, 0xfe };					/* br %r14 */

	memset(code, 0, 128);
	memcpy(code, first, sizeof(first));
	memcpy(code + SECOND, second, sizeof(second));
}

int main(void)
{
	uint8_t code[128];
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long (*function)(void);
	int stale = 0;

	if (page == MAP_FAILED) {
		perror("mmap");
		return 2;
	}
	memcpy(&function, &(void *){ page }, sizeof(function));
	for (int i = 0; i < VERSIONS; i++) {
		assemble(code, (uint16_t)i);
		__asm__ volatile("mvc 0(128,%[to]),0(%[from])"
				 : : [to] "a"(page), [from] "a"(code) : "memory");
		if (function() != i)
			stale++;
	}
	printf("%d of %d\n", stale, VERSIONS);
	return stale != 0;
}
