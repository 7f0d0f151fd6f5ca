// SPDX-License-Identifier: MIT
/*
 * sthyi - STHYI by the system call s390_sthyi, and as an instruction of this program.
 *
 *   sthyi call CODE FLAGS   "RESULT ERRNO RC" and the page
 *   sthyi insn CODE WHERE   "CC RC" and the page; or "SIGNAL CODE" of the signal that it gets,
 *                           and whether its registers are what they were
 *   sthyi odd               the same with an odd register
 *   sthyi same              the same with one register for both
 *
 * WHERE: page, new (never touched before), unaligned, read-only, nowhere.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NUMBER 380		/* __NR_s390_sthyi */
#define PAGE 4096
#define UNTOUCHED 0xee
#define MARK 0x123456789abcdef0UL

/* Registers 2 to 5 as the instruction found them. */
static volatile unsigned long given[4];

/* The instruction is all that can be interrupted here: anything may be called. */
static void handler(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	int kept = 1;

	for (int i = 0; i < 4; i++)
		kept &= given[i] == at->uc_mcontext.gregs[2 + i];
	printf("%d %d %d\n", number, info->si_code, kept);
	exit(0);
}

static void print(const unsigned char *page)
{
	for (int i = 0; i < PAGE; i++)
		printf("%02x", page[i]);
	printf("\n");
}

/* R1 and R2 of the instruction are part of its text. */
#define STHYI(name, r1, r2) \
static int name(unsigned long code, void *addr, unsigned long *rc) \
{ \
	register unsigned long gr2 asm("2") = code; \
	register unsigned long gr3 asm("3") = MARK; \
	register unsigned long gr4 asm("4") = (unsigned long)addr; \
	register unsigned long gr5 asm("5") = MARK; \
	int cc; \
\
	given[0] = gr2; \
	given[1] = gr3; \
	given[2] = gr4; \
	given[3] = gr5; \
	asm volatile(".insn rre,0xb2560000," #r1 "," #r2 "\n\tipm %0\n\tsrl %0,28" \
		     : "=&d" (cc), "+d" (gr2), "+d" (gr3), "+d" (gr4), "+d" (gr5) \
		     : : "memory", "cc"); \
	*rc = gr5; \
	return cc; \
}
STHYI(good, %%r2, %%r4)
STHYI(odd, %%r2, %%r5)
STHYI(same, %%r4, %%r4)

static unsigned char *place(const char *where)
{
	unsigned char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(3);
	if (strcmp(where, "new") != 0)
		memset(at, UNTOUCHED, 2 * PAGE);
	if (strcmp(where, "unaligned") == 0)
		return at + 8;
	if (strcmp(where, "read-only") == 0)
		mprotect(at, 2 * PAGE, PROT_READ);
	if (strcmp(where, "nowhere") == 0)
		munmap(at, 2 * PAGE);
	return at;
}

static int instruction(int (*run)(unsigned long, void *, unsigned long *), unsigned long code,
		       const char *where)
{
	const struct sigaction action = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	unsigned char *at = place(where);
	unsigned long rc = 0;
	int cc;

	sigaction(SIGILL, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	cc = run(code, at, &rc);
	printf("%d %lu ", cc, rc);
	print(at);
	return 0;
}

static int call(unsigned long code, unsigned long flags)
{
	static unsigned char page[PAGE];
	uint64_t rc = MARK;
	long result;

	memset(page, UNTOUCHED, sizeof(page));
	errno = 0;
	result = syscall(NUMBER, code, page, &rc, flags);
	printf("%ld %d %lu ", result, errno, (unsigned long)rc);
	print(page);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "call") == 0)
		return call(strtoul(argv[2], NULL, 0), strtoul(argv[3], NULL, 0));
	if (argc == 4 && strcmp(argv[1], "insn") == 0)
		return instruction(good, strtoul(argv[2], NULL, 0), argv[3]);
	if (argc == 2 && strcmp(argv[1], "odd") == 0)
		return instruction(odd, 0, "page");
	if (argc == 2 && strcmp(argv[1], "same") == 0)
		return instruction(same, 0, "page");
	return 2;
}
