/* SPDX-License-Identifier: MIT */
/*
 * Every instruction whose operands the ports decode, with every base register, every pair
 * of registers and displacements from one end to the other.  What DIAGNOSE and IUCV were
 * given is in CP's trace, where the test reads it; the others are judged here.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include <stdbool.h>

#include "cp.h"
#include "one.h"

#define HOLE UINT64_C(0x8400000)	/* between the guest's storage and the segment */
#define ADDRESSING 5u
#define SPECIFICATION 6u
#define PAGES 4u
#define MODES 3u
#define CODE 0x9cu			/* DIAGNOSE that does nothing but be traced */
#define ORDER_SENSE 1u
#define ORDER_STOP 5u
#define CR0_IUCV UINT64_C(2)

extern volatile uint32_t program_code;	/* set by the handler in start.S */
void test_main(void);

static const uint16_t displacements[] = { 0, 1, 0x9c, 0x7ff, 0x800, 0xabc, 0xfff };
static const uint16_t modes[MODES] = { SAM64, SAM31, SAM24 };
static const uint64_t masks[MODES] = { -UINT64_C(1), 0x7fffffff, 0xffffff };

static uint8_t pages[PAGES][PAGE] __attribute__((aligned(4096)));
static uint8_t kept[PAGE];
static uint64_t *const in = (uint64_t *)(one_code + PAGE);

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t four(unsigned int opcode, unsigned int r1, unsigned int r3, unsigned int b,
		     unsigned int d)
{
	return (uint64_t)(opcode << 24 | r1 << 20 | r3 << 16 | b << 12 | d) << 16 | NOP;
}

static uint64_t s_format(unsigned int opcode, unsigned int b, unsigned int d)
{
	return (uint64_t)(opcode << 16 | b << 12 | d) << 16 | NOP;
}

/* The n-th set of registers: none of them is like another, and most have all bits in use. */
static void fill(unsigned int n)
{
	for (unsigned int i = 0; i < 16; i++)
		in[i] = UINT64_C(0xfedc000000000000) + ((uint64_t)n << 24) + (i << 16) + 0x5a5a;
}

/* Register @b such that it and @d together are @value, up to the bits that @mask leaves out. */
static void point(unsigned int b, unsigned int d, uint64_t value, uint64_t mask)
{
	if (b != 0)
		in[b] = ((value - d) & mask) | (in[b] & ~mask);
}

static void diagnoses(void)
{
	unsigned int n = 0;

	for (unsigned int b = 0; b < 16; b++)
		for (unsigned int i = 0; i < COUNT(displacements); i++) {
			const unsigned int d = displacements[i];

			if (b == 0 && d != CODE)
				continue;
			fill(n);
			point(b, d, CODE, 0xffff);
			one_execute(one_code, modes[n % MODES], four(0x83, n % 16, n / 16, b, d));
			n++;
		}
	for (unsigned int r = 0; r < 256; r++, n++) {
		fill(n);
		one_execute(one_code, SAM64, four(0x83, r / 16, r % 16, 0, CODE));
	}
}

/* IUCV has no operand: what stands there changes nothing. */
static void iucvs(void)
{
	unsigned int n = 0;

	for (unsigned int b = 0; b < 16; b++)
		for (unsigned int i = 0; i < COUNT(displacements); i++) {
			fill(n);
			in[0] = 0;
			one_execute(one_code, modes[n % MODES], s_format(0xb2f0, b, displacements[i]));
			n++;
		}
}

static void report(const char *what, unsigned int cases, unsigned int wrong)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR);
	put(&line, what);
	put(&line, " CASES ");
	put_hex(&line, cases, 4);
	put(&line, " WRONG ");
	put_hex(&line, wrong, 4);
	command(&line);
}

static unsigned int stored_elsewhere(unsigned int there)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < PAGES; i++) {
		unsigned int changed = 0;

		for (unsigned int at = 0; at < PAGE; at++)
			changed += pages[i][at] != 0x5a;
		wrong += i == there ? changed != PAGE : changed != 0;
	}
	return wrong != 0;
}

/* Block 3.2.2, stored into one of the pages: there and nowhere else. */
static unsigned int store_into(unsigned int n, unsigned int b, unsigned int d)
{
	const uint64_t mask = masks[n % MODES];

	fill(n);
	in[0] = 0x30000002;
	in[1] = 2;
	point(b, d, (uint64_t)pages[n % PAGES], mask);
	for (unsigned int i = 0; i < PAGES; i++)
		__builtin_memset(pages[i], 0x5a, PAGE);
	program_code = 0;
	one_execute(one_code, modes[n % MODES], s_format(0xb27d, b, d));
	return program_code != 0 || one_cc(one_code) != 0 || stored_elsewhere(n % PAGES);
}

/* Without a base, and with GR1, which has to be 2, the block lies in the prefix area. */
static unsigned int store_into_prefix_area(unsigned int b, unsigned int d, uint64_t at)
{
	uint8_t *volatile real = (uint8_t *)at;
	unsigned int wrong = 0;

	fill(b);
	in[0] = 0x30000002;
	in[1] = 2;
	__builtin_memcpy(kept, real, PAGE);
	one_execute(one_code, SAM64, s_format(0xb27d, b, d));
	__builtin_memcpy(pages[0], real, PAGE);
	__builtin_memcpy(real, kept, PAGE);
	/* Of the block, bytes 0 to 30 are zeros, and byte 31 is the number of descriptors. */
	for (unsigned int i = 0; i < 31; i++)
		wrong |= pages[0][i];
	return wrong != 0 || pages[0][31] != 1 || one_cc(one_code) != 0;
}

static void system_information(void)
{
	unsigned int n = 0, wrong = 0;

	for (unsigned int b = 2; b < 16; b++)
		for (unsigned int i = 0; i < COUNT(displacements); i++)
			wrong += store_into(n++, b, displacements[i]);
	wrong += store_into_prefix_area(0, 0, 0);
	wrong += store_into_prefix_area(1, PAGE - 2, PAGE);
	report("STSI", n + 2, wrong);
}

/* A page of STHYI's: with two even registers it goes where the second one points. */
static unsigned int store_capacity(unsigned int n)
{
	const unsigned int r1 = n % 16, r2 = n / 16 % 16, there = n % PAGES;
	const bool good = r1 % 2 == 0 && r2 % 2 == 0 && r1 != r2;
	const uint64_t *const out = one_data(one_code)->out, mask = masks[n % MODES];
	unsigned int wrong = 0;

	fill(n);
	in[r1] &= ~UINT64_C(0xffff);
	in[r2] = (uint64_t)pages[there] | (in[r2] & ~mask);
	for (unsigned int i = 0; i < PAGES; i++)
		__builtin_memset(pages[i], 0x5a, PAGE);
	program_code = 0;
	one_execute(one_code, modes[n % MODES], s_format(0xb256, 0, r1 << 4 | r2));
	for (unsigned int i = 0; i < 16; i++)
		wrong |= out[i] != (good && i == r2 + 1 ? 0 : in[i]);
	if (!good)
		return wrong | (program_code != SPECIFICATION) | stored_elsewhere(PAGES);
	return wrong | (program_code != 0) | (one_cc(one_code) != 0) | stored_elsewhere(there);
}

static void hypervisor_information(void)
{
	unsigned int n = 0, wrong = 0;

	for (; n < 16 * 16 * MODES; n++)
		wrong += store_capacity(n);
	report("STHYI", n, wrong);
}

/* Condition code 0: this CPU operates.  R1 takes a status, R3 has the CPU's address. */
static unsigned int sense(unsigned int n, unsigned int b, unsigned int d)
{
	unsigned int r3 = n % 16;

	if (r3 == b)
		r3 = (r3 + 1) % 16;
	fill(n);
	in[r3] = 0;
	point(b, d, ORDER_SENSE, 0xff);
	program_code = 0;
	one_execute(one_code, SAM64, four(0xae, (n / 16) % 16, r3, b, d));
	return program_code != 0 || one_cc(one_code) != 0;
}

static void signals(void)
{
	unsigned int n = 0, wrong = 0;

	for (unsigned int b = 1; b < 16; b++)
		for (unsigned int i = 0; i < COUNT(displacements); i++)
			wrong += sense(n++, b, displacements[i]);
	wrong += sense(n++, 0, ORDER_SENSE);
	report("SIGP", n, wrong);
}

static uint64_t control[16], stored[16];

static void store_control(uint64_t into[16])
{
	asm volatile("stctg %%c0,%%c15,%0" : "=S" (*(uint64_t (*)[16])into) : : "memory");
}

/* LCTL and STCTL: the first two of four bytes; LCTLG and STCTG: of six, with an operand at GR12. */
static uint64_t control_insn(unsigned int opcode, unsigned int r1, unsigned int r3)
{
	return opcode > 0xff ? (uint64_t)0xeb << 40 | (uint64_t)(r1 << 4 | r3) << 32 |
				       (uint64_t)0xc000 << 16 | (opcode & 0xff)
			     : four(opcode, r1, r3, 12, 0);
}

/* Every range of control registers is stored as it was loaded, and loaded as it was stored. */
static unsigned int control_range(unsigned int r1, unsigned int r3)
{
	const unsigned int count = (r3 - r1) % 16 + 1;
	unsigned int wrong = 0;
	uint32_t *const words = (uint32_t *)stored;

	fill(0);
	in[12] = (uint64_t)stored;
	program_code = 0;
	one_execute(one_code, SAM64, control_insn(0xb6, r1, r3));
	for (unsigned int i = 0; i < count; i++)
		wrong |= words[i] != (uint32_t)control[(r1 + i) % 16];
	one_execute(one_code, SAM64, control_insn(0xb7, r1, r3));
	one_execute(one_code, SAM64, control_insn(0x125, r1, r3));
	for (unsigned int i = 0; i < count; i++)
		wrong |= stored[i] != control[(r1 + i) % 16];
	one_execute(one_code, SAM64, control_insn(0x12f, r1, r3));
	store_control(stored);
	return wrong != 0 || program_code != 0 ||
	       __builtin_memcmp(stored, control, sizeof(stored)) != 0;
}

static void control_registers(void)
{
	unsigned int wrong = 0;

	store_control(control);
	control[0] |= CR0_IUCV;
	asm volatile("lctlg %%c0,%%c15,%0" : : "S" (control) : "memory");
	for (unsigned int r = 0; r < 256; r++)
		wrong += control_range(r / 16, r % 16);
	report("CONTROL REGISTERS", 256, wrong);
}

/* Return: interruption code of an instruction that has its address in R2. */
static uint32_t key_of(unsigned int opcode, unsigned int r1, unsigned int r2, uint64_t at)
{
	fill(0);
	in[r1] = 0;
	in[r2] = at;
	program_code = 0;
	one_execute(one_code, SAM64, ((uint64_t)opcode << 16 | r1 << 4 | r2) << 16 | NOP);
	return program_code;
}

static void storage_keys(void)
{
	static const uint16_t opcodes[] = { 0xb229, 0xb22a, 0xb22b };
	unsigned int n = 0, wrong = 0;

	for (unsigned int i = 0; i < COUNT(opcodes); i++)
		for (unsigned int r = 0; r < 256; r++, n++) {
			if (r / 16 == r % 16 && opcodes[i] == 0xb22b)
				continue;	/* the key would be the address */
			wrong += key_of(opcodes[i], r / 16, r % 16, (uint64_t)pages[1]) != 0;
			wrong += key_of(opcodes[i], r / 16, r % 16, HOLE) != ADDRESSING;
		}
	report("KEYS", n, wrong);
}

/* TEST PROTECTION, whose first operand is looked at and whose second one is a key. */
static uint32_t protection(unsigned int n, unsigned int b, unsigned int d, uint64_t at)
{
	fill(n);
	point(b, d, at, -UINT64_C(1));
	program_code = 0;
	one_execute(one_code, SAM64,
		    (uint64_t)0xe501 << 32 | (uint64_t)(b << 12 | d) << 16);
	return program_code != 0 ? program_code : one_cc(one_code);
}

static void test_protection(void)
{
	unsigned int n = 0, wrong = 0;

	for (unsigned int b = 1; b < 16; b++)
		for (unsigned int i = 0; i < COUNT(displacements); i++, n++) {
			wrong += protection(n, b, displacements[i], (uint64_t)pages[1]) != 0;
			wrong += protection(n, b, displacements[i], HOLE) != ADDRESSING;
		}
	report("TPROT", n, wrong);
}

/* The order of the last STOP has a base and a displacement, too; the machine ends all the same. */
static void stop(void)
{
	fill(0);
	in[7] = 0;
	point(14, 0xfff, ORDER_STOP, -UINT64_C(1));
	one_execute(one_code, SAM64, four(0xae, 6, 7, 14, 0xfff));
}

void test_main(void)
{
	diagnoses();
	iucvs();
	system_information();
	hypervisor_information();
	signals();
	control_registers();
	storage_keys();
	test_protection();
	stop();
}
