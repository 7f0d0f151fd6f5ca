// SPDX-License-Identifier: MIT
/* fill MIB: store into so much memory, and look whether it has what was stored. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t words = argc == 2 ? (size_t)atoi(argv[1]) << 17 : 0;
	uint64_t *at = mmap(NULL, words * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (words == 0 || at == MAP_FAILED)
		return 2;
	for (size_t i = 0; i < words; i++)
		at[i] = UINT64_C(0x5a5a000000000000) + i;
	for (size_t i = 0; i < words; i++) {
		if (at[i] != UINT64_C(0x5a5a000000000000) + i) {
			fprintf(stderr, "word %zu is %016llx\n", i, (unsigned long long)at[i]);
			return 1;
		}
	}
	return 0;
}
