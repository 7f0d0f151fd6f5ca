/* SPDX-License-Identifier: MIT */
/*
 * Instructions that a version of QEMU executes wrongly and our build does not (see
 * docs/qemu-corrections.md), each with random operands and those at the edges, against a
 * model of what the Principles of Operation says, computed by other instructions.
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include "cp.h"
#include "second.h"

#define CASES 2000u
#define HOLE UINT64_C(0x8400000)	/* between the guest's storage and the segment */
#define STORAGE_END UINT64_C(0x8000000)
#define SPECIFICATION 6u
#define ADDRESSING 5u
#define CLOCK_COMPARATOR 0x1004u
#define CR0_CLOCK_COMPARATOR UINT64_C(0x800)
#define CR0_AFP_AND_VECTOR UINT64_C(0x60000)
#define FPC_INVALID_AND_INEXACT 0x880000u

/* Instructions of later machines than the program is compiled for. */
#define LATER(insn) ".machine push\n\t.machine z15\n\t" insn "\n\t.machine pop\n\t"
#define CC "ipm %[cc]\n\tsrl %[cc],28\n\t"

typedef unsigned __int128 u128;

extern volatile uint32_t program_code;	/* set by the handler in start.S */
void test_main(void);
void external_interruption(uint64_t code);

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t random64(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Every other one is at an edge. */
static uint64_t operand(void)
{
	static const uint64_t edges[] = {
		0, 1, -1ULL, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		0x7fffffffffffffff, 0x8000000000000000, 0xffffffff00000000, 0xfffffffffffffffe,
	};
	const uint64_t value = random64();

	return value & 1 ? random64() : edges[(value >> 8) % (sizeof(edges) / sizeof(edges[0]))];
}

static u128 operand128(void)
{
	const u128 high = operand();

	return high << 64 | operand();
}

static void control0(uint64_t set)
{
	uint64_t cr0;

	asm volatile("stctg %%c0,%%c0,%0" : "=S" (cr0));
	cr0 |= set;
	asm volatile("lctlg %%c0,%%c0,%0" : : "S" (cr0) : "memory");
}

/* VECTOR CHECKSUM: the four words of the second operand and one of the third, end-around. */
static uint32_t checksum(u128 second, u128 third)
{
	uint64_t sum = (uint32_t)(third >> 64);

	for (unsigned int i = 0; i < 4; i++)
		sum += (uint32_t)(second >> 32 * i);
	while (sum >> 32)
		sum = (uint32_t)sum + (sum >> 32);
	return (uint32_t)sum;
}

static unsigned int vcksm(void)
{
	const u128 a = operand128(), b = operand128();
	u128 apart, first, same;

	asm(LATER("vl %%v1,%[a]\n\tvl %%v2,%[b]\n\tvcksm %%v3,%%v1,%%v2\n\tvst %%v3,%[apart]\n\t"
		  "vlr %%v4,%%v1\n\tvcksm %%v4,%%v4,%%v2\n\tvst %%v4,%[first]\n\t"
		  "vlr %%v5,%%v1\n\tvcksm %%v5,%%v5,%%v5\n\tvst %%v5,%[same]")
	    : [apart] "=R" (apart), [first] "=R" (first), [same] "=R" (same)
	    : [a] "R" (a), [b] "R" (b));
	return apart != (u128)checksum(a, b) << 64 || first != apart ||
	       same != (u128)checksum(a, a) << 64;
}

/* The other additions and subtractions in two halves, with operands that are the same register. */
static unsigned int quadwords(void)
{
	const u128 a = operand128(), b = operand128(), c = operand() & 1;
	u128 sum, with_carry, carry, difference, doubled;

	asm(LATER("vl %%v1,%[a]\n\tvl %%v2,%[b]\n\tvl %%v3,%[c]\n\t"
		  "vaq %%v4,%%v1,%%v2\n\tvst %%v4,%[sum]\n\t"
		  "vacq %%v4,%%v1,%%v2,%%v3\n\tvst %%v4,%[with_carry]\n\t"
		  "vaccq %%v4,%%v1,%%v2\n\tvst %%v4,%[carry]\n\t"
		  "vsq %%v4,%%v1,%%v2\n\tvst %%v4,%[difference]\n\t"
		  "vaq %%v1,%%v1,%%v1\n\tvst %%v1,%[doubled]")
	    : [sum] "=R" (sum), [with_carry] "=R" (with_carry), [carry] "=R" (carry),
	      [difference] "=R" (difference), [doubled] "=R" (doubled)
	    : [a] "R" (a), [b] "R" (b), [c] "R" (c));
	return sum != a + b || with_carry != a + b + c || carry != (a + b < a) ||
	       difference != a - b || doubled != 2 * a;
}

/* COMPARE HALFWORD RELATIVE LONG: a signed halfword, whatever comes after it. */
static int16_t halfword[4] __attribute__((used, aligned(8)));

static unsigned int chrl(void)
{
	const int32_t word = (int32_t)operand();
	const int64_t value = (int64_t)operand();
	unsigned int cc32, cc64;
	int16_t half;

	for (unsigned int i = 0; i < 4; i++)
		halfword[i] = (int16_t)operand();
	half = random64() & 1 ? halfword[0] : (int16_t)word;
	halfword[0] = half;
	asm("chrl %[a],halfword\n\t" CC : [cc] "=d" (cc32) : [a] "d" (word), "m" (halfword) : "cc");
	asm("cghrl %[a],halfword\n\t" CC : [cc] "=d" (cc64) : [a] "d" (value), "m" (halfword)
	    : "cc");
	return cc32 != (word < half ? 1u : word > half ? 2u : 0u) ||
	       cc64 != (value < half ? 1u : value > half ? 2u : 0u);
}

/* LOAD COUNT TO BLOCK BOUNDARY changes the right half of its register only. */
static unsigned int lcbb(void)
{
	const uint64_t address = operand(), before = operand();
	const uint64_t rest = 256 - address % 256, count = rest < 16 ? rest : 16;
	uint64_t after = before;
	unsigned int cc;

	asm(LATER("lcbb %[r],0(%[a]),2") CC : [r] "+d" (after), [cc] "=d" (cc) : [a] "a" (address)
	    : "cc");
	return after != ((before & ~0xffffffffULL) | count) || cc != (count == 16 ? 0 : 3);
}

/* LOAD HIGH ON CONDITION: from the left half to the left half. */
static unsigned int locfhr(void)
{
	const uint64_t from = operand(), before = operand();
	uint64_t taken = before, left = before;

	asm("cr %%r0,%%r0\n\t" LATER("locfhr %[taken],%[from],8\n\tlocfhr %[left],%[from],7")
	    : [taken] "+d" (taken), [left] "+d" (left) : [from] "d" (from) : "cc");
	return taken != ((from & ~0xffffffffULL) | (uint32_t)before) || left != before;
}

/* EXTRACT PSW: with the condition code, however it has come about. */
static unsigned int epsw(void)
{
	const uint64_t a = operand(), b = operand();
	const unsigned int cc = a < b ? 1 : a > b ? 2 : 0;
	uint64_t left;

	asm("clgr %[a],%[b]\n\tepsw %[left],0" : [left] "=&d" (left) : [a] "d" (a), [b] "d" (b)
	    : "cc");
	return (left >> 12 & 3) != cc;
}

/* COMPARE LOGICAL: a second operand that is not there leaves the condition code alone. */
static unsigned int clc(void)
{
	const uint64_t a = operand(), b = operand(), first = operand();
	unsigned int cc1, cc8;

	program_code = 0;
	asm volatile("clgr %[a],%[b]\n\tclc 0(8,%[first]),0(%[hole])\n\t" CC
		     : [cc] "=&d" (cc8)
		     : [a] "d" (a), [b] "d" (b), [first] "a" (&first), [hole] "a" (HOLE), "m" (first)
		     : "cc");
	asm volatile("clgr %[a],%[b]\n\tclc 0(1,%[first]),0(%[hole])\n\t" CC
		     : [cc] "=&d" (cc1)
		     : [a] "d" (a), [b] "d" (b), [first] "a" (&first), [hole] "a" (HOLE), "m" (first)
		     : "cc");
	return program_code != ADDRESSING || cc8 != (a < b ? 1 : a > b ? 2 : 0) || cc1 != cc8;
}

/* STORE ON CONDITION: a store that is refused leaves the condition code alone. */
static unsigned int stoc(void)
{
	const uint64_t a = operand(), b = operand(), junk = operand();
	const unsigned int sum = ((a + b < a) * 2u + (a + b != 0));
	uint64_t to = a;
	unsigned int cc;

	program_code = 0;
	asm volatile("clgr %[junk],%[b]\n\tj 0f\n\tnopr %%r7\n"
		     "0:\t" LATER("algr %[to],%[b]\n\tstoc %[to],0(%[hole]),7") CC
		     : [to] "+d" (to), [cc] "=&d" (cc)
		     : [b] "d" (b), [junk] "d" (junk), [hole] "a" (HOLE) : "cc", "memory");
	return cc != sum || (sum != 0 && program_code != ADDRESSING);
}

/* STORE CLOCK and STORE CLOCK FAST likewise. */
static unsigned int stck(void)
{
	const uint64_t a = operand(), b = operand(), junk = operand();
	const unsigned int sum = ((a + b < a) * 2u + (a + b != 0));
	uint64_t to = a;
	unsigned int wrong = 0, cc;

#define REFUSED(insn)								\
	program_code = 0;							\
	to = a;									\
	asm volatile("clgr %[junk],%[b]\n\tj 0f\n\tnopr %%r7\n"			\
		     "0:\talgr %[to],%[b]\n\t" insn " 0(%[hole])\n\t" CC	\
		     : [to] "+d" (to), [cc] "=&d" (cc)				\
		     : [b] "d" (b), [junk] "d" (junk), [hole] "a" (HOLE)	\
		     : "cc", "memory");						\
	wrong |= cc != sum || program_code != ADDRESSING
	REFUSED("stck");
	REFUSED("stckf");
#undef REFUSED
	return wrong;
}

/* TRANSLATE leaves the condition code alone. */
static unsigned int tr(void)
{
	const uint64_t a = operand(), b = operand(), junk = operand();
	const unsigned int sum = ((a + b < a) * 2u + (a + b != 0));
	const uint8_t table[2] = { 0xe9, 0xd5 };
	uint8_t byte = junk & 1;
	uint64_t to = a;
	unsigned int cc;

	asm("clgr %[junk],%[b]\n\tj 0f\n\tnopr %%r7\n"
	    "0:\talgr %[to],%[b]\n\ttr 0(1,%[byte]),0(%[table])\n\t" CC
	    : [to] "+d" (to), [cc] "=&d" (cc), "+m" (byte)
	    : [b] "d" (b), [junk] "d" (junk), [byte] "a" (&byte), [table] "a" (table), "m" (table)
	    : "cc");
	return cc != sum || byte != table[junk & 1];
}

/* COMPARE AND SWAP AND PURGE: its condition code, whatever came before. */
static unsigned int csp(void)
{
	const uint64_t junk = operand(), b = operand();
	const uint32_t expected = (uint32_t)operand(), replacement = (uint32_t)operand();
	const uint32_t there = junk & 2 ? expected : (uint32_t)operand();
	register uint64_t first asm("2") = expected;
	register uint64_t second asm("3") = replacement;
	uint32_t word = there;
	unsigned int cc;

	asm("clgr %[junk],%[b]\n\tcsp %[first],%[at]\n\t" CC
	    : [first] "+d" (first), [cc] "=&d" (cc), "+m" (word)
	    : "d" (second), [junk] "d" (junk), [b] "d" (b), [at] "a" (&word) : "cc");
	return cc != (there != expected) || (uint32_t)first != there ||
	       word != (there == expected ? replacement : there);
}

/* LOAD AND ADD LOGICAL: the condition code has the carry, whatever came before. */
static unsigned int laalg(void)
{
	const uint64_t a = operand(), b = operand(), junk = operand();
	uint64_t memory = a, old;
	unsigned int cc;

	asm("clgr %[junk],%[b]\n\t" LATER("laalg %[old],%[b],%[memory]") CC
	    : [old] "=&d" (old), [memory] "+S" (memory), [cc] "=&d" (cc)
	    : [b] "d" (b), [junk] "d" (junk) : "cc");
	return old != a || memory != a + b || cc != ((a + b < a) * 2u + (a + b != 0));
}

/* LOAD ADDRESS EXTENDED sets the access register of its first operand; here to zero. */
static unsigned int lae(void)
{
	const uint32_t a1 = (uint32_t)operand(), a5 = (uint32_t)operand();
	uint32_t after1, after5;

	asm volatile("sar %%a1,%[a1]\n\tsar %%a5,%[a5]\n\tlae %%r5,0\n\t"
		     "ear %[after1],%%a1\n\tear %[after5],%%a5"
		     : [after1] "=d" (after1), [after5] "=d" (after5)
		     : [a1] "d" (a1), [a5] "d" (a5) : "r5");
	return after1 != a1 || after5 != 0;
}

/* ROTATE THEN AND, OR, EXCLUSIVE OR SELECTED BITS as tests: bits 8 to 39 of R1 and R2 by 12. */
static unsigned int test_selected_bits(void)
{
	const uint64_t a = operand(), b = operand(), mask = 0x00ffffffff000000;
	const uint64_t rotated = b << 12 | b >> 52;
	unsigned int and, or, xor;
	uint64_t after = a;

	asm("rnsbg %[a],%[b],0x88,39,12\n\t" CC : [a] "+d" (after), [cc] "=d" (and) : [b] "d" (b)
	    : "cc");
	asm("rosbg %[a],%[b],0x88,39,12\n\t" CC : [a] "+d" (after), [cc] "=d" (or) : [b] "d" (b)
	    : "cc");
	asm("rxsbg %[a],%[b],0x88,39,12\n\t" CC : [a] "+d" (after), [cc] "=d" (xor) : [b] "d" (b)
	    : "cc");
	return after != a || and != ((a & rotated & mask) != 0) ||
	       or != (((a | rotated) & mask) != 0) || xor != (((a ^ rotated) & mask) != 0);
}

/* Access-register mode with access registers of zero: the primary space, here real storage. */
static unsigned int access_registers(void)
{
	enum { DAT = 1 << 26, ACCESS_REGISTERS = 1 << 14, REAL_SPACE = 0x20 };
	uint64_t there[2] = { (uint64_t)(DAT | ACCESS_REGISTERS) << 32 | 0x180000000 };
	uint64_t back[2] = { 0x180000000 };
	const uint64_t space = REAL_SPACE, value = random64();
	static const uint32_t zeros[16];
	uint64_t loaded = 0, stored = 0, from;

	asm volatile("lctlg %%c1,%%c1,%[space]\n\tlam %%a0,%%a15,%[zeros]\n\t"
		     "larl %[from],0f\n\tstg %[from],8+%[there]\n\t"
		     "larl %[from],1f\n\tstg %[from],8+%[back]\n\tlpswe %[there]\n"
		     "0:\tlg %[loaded],%[value]\n\tmvc 0(8,%[to]),0(%[at])\n\tlpswe %[back]\n"
		     "1:"
		     : [from] "=&d" (from), [loaded] "=&d" (loaded), [stored] "+m" (stored),
		       [there] "+Q" (there), [back] "+Q" (back)
		     : [space] "S" (space), [zeros] "Q" (zeros), [value] "Q" (value),
		       [to] "a" (&stored), [at] "a" (&value) : "memory");
	return loaded != value || stored != value;
}

/* LOAD PSW: a short one, in 31-bit mode.  Its bit 12 is one and is zero in the long one. */
static unsigned int lpsw(void)
{
	uint32_t psw[2] __attribute__((aligned(8))) = { 0x00080000, 0x80000000 };
	uint64_t left, right;

	asm volatile("larl %[left],0f\n\to %[left],4(%[psw])\n\tst %[left],4(%[psw])\n\t"
		     "lpsw 0(%[psw])\n"
		     "0:	epsw %[left],%[right]\n\tsam64"
		     : [left] "=&d" (left), [right] "=&d" (right) : [psw] "a" (psw)
		     : "cc", "memory");
	return (uint32_t)left != 0 || (uint32_t)right != 0x80000000;
}

/* MULTIPLY (short to long), which is exact, is that of the lengthened operands. */
static unsigned int mdebr(void)
{
	const uint32_t a = (uint32_t)(0x30000000 + random64() % 0x20000000);
	const uint32_t b = (uint32_t)(0x30000000 + random64() % 0x20000000);
	const uint32_t x = a | (uint32_t)(random64() & 0x80000000);
	uint64_t by_register, by_storage, expected;

	asm("lde %%f0,%[x]\n\tlde %%f2,%[b]\n\tmdebr %%f0,%%f2\n\tstd %%f0,%[r]\n\t"
	    "lde %%f0,%[x]\n\tmdeb %%f0,%[b]\n\tstd %%f0,%[s]\n\t"
	    "ldeb %%f0,%[x]\n\tldeb %%f2,%[b]\n\tmdbr %%f0,%%f2\n\tstd %%f0,%[e]"
	    : [r] "=R" (by_register), [s] "=R" (by_storage), [e] "=R" (expected)
	    : [x] "R" (x), [b] "R" (b));
	return by_register != expected || by_storage != expected;
}

/* MULTIPLY (long to extended) likewise. */
static unsigned int mxdbr(void)
{
	const uint64_t a = 0x3000000000000000 + random64() % 0x2000000000000000;
	const uint64_t b = 0x3000000000000000 + random64() % 0x2000000000000000;
	uint64_t product[2], expected[2];

	asm("ld %%f0,%[a]\n\tld %%f4,%[b]\n\tmxdbr %%f0,%%f4\n\tstd %%f0,%[p0]\n\tstd %%f2,%[p1]\n\t"
	    "lxdb %%f0,%[a]\n\tlxdb %%f4,%[b]\n\tmxbr %%f0,%%f4\n\tstd %%f0,%[e0]\n\tstd %%f2,%[e1]"
	    : [p0] "=R" (product[0]), [p1] "=R" (product[1]),
	      [e0] "=R" (expected[0]), [e1] "=R" (expected[1])
	    : [a] "R" (a), [b] "R" (b));
	return product[0] != expected[0] || product[1] != expected[1];
}

/* LOAD LENGTHENED (hexadecimal, short to long): zeros on the right. */
static unsigned int lder(void)
{
	const uint64_t from = operand(), before = operand();
	uint64_t after;

	asm("ld %%f0,%[before]\n\tld %%f2,%[from]\n\tlder %%f0,%%f2\n\tstd %%f0,%[after]"
	    : [after] "=R" (after) : [from] "R" (from), [before] "R" (before));
	return after != (from & ~0xffffffffULL);
}

/* COMPARE AND SWAP AND STORE of a word and a byte: all, or only the word that is there. */
static unsigned int csst(void)
{
	const uint64_t swap = operand() & 1, old = operand();
	uint64_t third = swap ? (operand() & ~0xffffffffULL) | (uint32_t)old : operand();
	const uint64_t before = third;
	const unsigned int differs = (uint32_t)third != (uint32_t)old;
	uint32_t word = (uint32_t)old;
	uint64_t list[4] __attribute__((aligned(16)));
	volatile uint8_t byte = 1;
	register uint64_t function asm("0") = 0;
	register uint64_t at asm("1") = (uint64_t)list;
	unsigned int cc;

	list[0] = random64();
	list[2] = random64();
	asm volatile("csst 0(%[word]),0(%[byte]),%[third]\n\t" CC
		     : [third] "+d" (third), [cc] "=d" (cc)
		     : [word] "a" (&word), [byte] "a" (&byte), "d" (function), "d" (at)
		     : "cc", "memory");
	if (differs)
		return cc != 1 || word != (uint32_t)old || byte != 1 ||
		       third != ((before & ~0xffffffffULL) | (uint32_t)old);
	return cc != 0 || word != list[0] >> 32 || byte != (uint8_t)(list[2] >> 56) ||
	       third != before;
}

/* CONVERT TO FIXED of what no fixed number can hold: invalid, and inexact as well. */
static unsigned int too_large(void)
{
	const uint64_t large = 0x4530000000000000 + random64() % 0x1000000000000000;
	uint32_t fpc = 0;
	uint64_t value;

	asm volatile("lfpc %[fpc]\n\tld %%f0,%[large]\n\tcgdbr %[value],0,%%f0\n\tstfpc %[fpc]"
		     : [fpc] "+Q" (fpc), [value] "=d" (value) : [large] "R" (large) : "cc");
	return fpc != FPC_INVALID_AND_INEXACT || value != 0x7fffffffffffffff;
}

static unsigned int element(u128 vector, unsigned int size, unsigned int i)
{
	return (unsigned int)(vector >> (128 - 8 * size * (i + 1))) & ((1ULL << 8 * size) - 1);
}

/* VECTOR STRING SEARCH.  Return: the condition code; *@at: where in bytes. */
static unsigned int search(u128 text, u128 sub, unsigned int length, unsigned int size, int zs,
			   unsigned int *at)
{
	const unsigned int count = 16 / size;
	unsigned int end = count, sub_count = length / size;

	for (unsigned int i = count; zs && i-- > 0;) {
		if (element(text, size, i) == 0)
			end = i;
		if (element(sub, size, i) == 0 && i < sub_count)
			sub_count = i;
	}
	for (unsigned int first = 0; first < end; first++) {
		unsigned int i = 0;

		*at = first * size;
		while (i < sub_count && first + i < count &&
		       element(text, size, first + i) == element(sub, size, i))
			i++;
		if (i == sub_count)
			return 2;
		if (first + i == count && end == count)
			return 3;
	}
	*at = sub_count == 0 ? 0 : 16;
	return sub_count == 0 ? 2 : end < count;
}

/* Two letters and the end of a string, so that much matches, wholly or in part. */
static u128 letters(unsigned int size)
{
	u128 vector = 0;

	for (unsigned int i = 0; i < 16; i += size)
		vector = vector << 8 * size | (random64() >> 20) % 5 / 2;
	return vector;
}

static unsigned int vstrs(void)
{
	const unsigned int es = (unsigned int)(random64() >> 9) % 3, size = 1u << es;
	const u128 text = letters(size), sub = letters(size);
	const u128 length = (random64() >> 11) % (16 / size + 1) * size;
	const u128 length_at = length << 64;
	unsigned int cc, cc_zs, at, at_zs, wrong;
	u128 result, result_zs;

#define SEARCH(name, es, zs, result)						\
	asm(LATER("vl %%v1,%[a]\n\tvl %%v2,%[b]\n\tvl %%v3,%[c]\n\t"		\
		  "vstrs %%v4,%%v1,%%v2,%%v3," #es "," #zs) CC			\
	    LATER("vst %%v4,%[r]")						\
	    : [r] "=R" (result), [cc] "=d" (name)				\
	    : [a] "R" (text), [b] "R" (sub), [c] "R" (length_at) : "cc")
	switch (es) {
	case 0:
		SEARCH(cc, 0, 0, result);
		SEARCH(cc_zs, 0, 2, result_zs);
		break;
	case 1:
		SEARCH(cc, 1, 0, result);
		SEARCH(cc_zs, 1, 2, result_zs);
		break;
	default:
		SEARCH(cc, 2, 0, result);
		SEARCH(cc_zs, 2, 2, result_zs);
	}
#undef SEARCH
	wrong = cc != search(text, sub, (unsigned int)length, size, 0, &at);
	wrong |= cc_zs != search(text, sub, (unsigned int)length, size, 1, &at_zs);
	return wrong || result != (u128)at << 64 || result_zs != (u128)at_zs << 64;
}

/* VECTOR STORE WITH LENGTH stores 16 bytes at most, and needs no more than those. */
static unsigned int vstl(void)
{
	static const uint32_t lengths[] = { 15, 16, 0xfff, 0x1000, 0x7fffffff, 0xffffffff };
	const uint32_t length = lengths[random64() % (sizeof(lengths) / sizeof(lengths[0]))];
	u128 *const last = (u128 *)(STORAGE_END - 16);
	const u128 value = operand128();

	*last = 0;
	program_code = 0;
	asm volatile(LATER("vl %%v1,%[value]\n\tvstl %%v1,%[length],0(%[last])")
		     : : [value] "R" (value), [length] "d" (length), [last] "a" (last) : "memory");
	return program_code != 0 || *last != value;
}

/* A reserved kind of maximum is a specification exception. */
static unsigned int vfmax(void)
{
	program_code = 0;
	asm volatile(LATER("vfmax %%v1,%%v2,%%v3,3,0,13") : : : "memory");
	return program_code != SPECIFICATION;
}

/* CHECKSUM of a pair of registers that begins with an odd one is a specification exception. */
static unsigned int cksm(void)
{
	program_code = 0;
	asm volatile(".insn rre,0xb2410000,%%r1,%%r15" : : : "r1", "cc", "memory");
	return program_code != SPECIFICATION;
}

/* MOVE RIGHT TO LEFT: as many bytes as the rightmost eight bits of GR0 say, and one. */
static unsigned int mvcrl(void)
{
	static uint8_t bytes[600], expected[600];
	register uint64_t length asm("0") = operand();
	const unsigned int count = (length & 0xff) + 1, from = 20, to = 20 + random64() % 60;

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		expected[i] = bytes[i] = (uint8_t)random64();
	for (unsigned int i = count; i-- > 0;)
		expected[to + i] = expected[from + i];
	asm volatile(LATER("mvcrl 0(%[to]),0(%[from])")
		     : : [to] "a" (bytes + to), [from] "a" (bytes + from), "d" (length) : "memory");
	return __builtin_memcmp(bytes, expected, sizeof(bytes)) != 0;
}

/* STORE CPU ID: the same of both CPUs, but for the first digit of the identification. */
static volatile uint64_t second_id, second_timer;

static uint64_t timer_now(void)
{
	uint64_t timer;

	asm volatile("stpt %0" : "=Q" (timer) : : "memory");
	return timer;
}

void second(void)
{
	uint64_t id;

	second_timer = timer_now();
	asm volatile("stidp %0" : "=Q" (id) : : "memory");
	second_id = id;
}

static unsigned int stidp(void)
{
	const uint64_t limit = clock_now() + PATIENCE;
	uint64_t id;

	start_second();
	while (second_id == 0 && clock_now() < limit)
		;
	asm volatile("stidp %0" : "=Q" (id) : : "memory");
	return second_id != (id | UINT64_C(1) << 52);
}

/* PERFORM RANDOM NUMBER OPERATION: 32 bytes by chance, of each of its two kinds. */
static unsigned int random_numbers(void)
{
	enum { TRUE_RANDOM = 114 };
	static uint64_t raw[4], conditioned[4];
	register uint64_t function asm("0") = TRUE_RANDOM;
	register uint64_t block asm("1") = 0;
	register uint64_t first asm("2") = (uint64_t)raw;
	register uint64_t first_length asm("3") = sizeof(raw);
	register uint64_t second asm("4") = (uint64_t)conditioned;
	register uint64_t second_length asm("5") = sizeof(conditioned);
	unsigned int zeros = 0;

	asm volatile("0:	.insn rre,0xb93c0000,%[first],%[second]\n\tjo 0b"
		     : [first] "+d" (first), "+d" (first_length), [second] "+d" (second),
		       "+d" (second_length)
		     : "d" (function), "d" (block) : "cc", "memory");
	for (unsigned int i = 0; i < 4; i++)
		zeros += (raw[i] == 0) + (conditioned[i] == 0);
	return zeros != 0 || first_length != 0 || second_length != 0;
}

/*
 * CIPHER MESSAGE WITH CHAINING, function 67: numbers of ANSI X9.17's generator, computed by
 * OpenSSL's triple DES.  Then more blocks than are done at once, in their own place: the same
 * again in steps, and one after the other.
 */
static unsigned int kmc_prng(uint64_t parameters[4], uint64_t *to, const uint64_t *from,
			     uint64_t len)
{
	register uint64_t function asm("0") = 67, block asm("1") = (uint64_t)parameters;
	register uint64_t first asm("2") = (uint64_t)to, second asm("4") = (uint64_t)from;
	register uint64_t left asm("5") = len;
	unsigned int cc;

	asm volatile("0:\t.insn rre,0xb92f0000,2,4\n\tjo 0b\n\t" CC
		     : [cc] "=d" (cc), "+d" (first), "+d" (second), "+d" (left)
		     : "d" (function), "d" (block) : "cc", "memory");
	if (program_code == 0 && (left != 0 || first != (uint64_t)to + len))
		return 9;
	return cc;
}

static unsigned int pseudorandom_numbers(void)
{
	static const uint64_t start[4] = {
		0x1db84aa91325af10, 0x688bf8cac4189fcd,
		0x77b71249f8db217c, 0x445044ba6a50a783,
	};
	static const uint64_t from[4] = {
		0x98aac605f1e366b0, 0x7cdfb92b6df1823c,
		0x472cb3c89f22178c, 0xe3a7acaaeb6158f3,
	};
	static const uint64_t expected[4] = {
		0xbf3ef8012516b8a3, 0x9e4d9fcd601330ea,
		0x19dee0e400195c6c, 0x904c15c7e1e5a2d7,
	};
	static uint64_t many[200], one[200];
	uint64_t parameters[4], to[4], again[4];
	unsigned int wrong = 0;

	__builtin_memcpy(parameters, start, sizeof(start));
	program_code = 0;
	wrong += kmc_prng(parameters, to, from, sizeof(from)) != 0;
	for (unsigned int i = 0; i < 4; i++)
		wrong += to[i] != expected[i] || (i > 0 && parameters[i] != start[i]);
	wrong += parameters[0] != 0xf3822af07a398a7b;
	for (unsigned int i = 0; i < 200; i++)
		many[i] = one[i] = random64();
	__builtin_memcpy(again, parameters, sizeof(again));
	wrong += kmc_prng(parameters, many, many, sizeof(many)) != 0;
	for (unsigned int i = 0; i < 200; i++)
		wrong += kmc_prng(again, &one[i], &one[i], 8) != 0 || one[i] != many[i];
	wrong += parameters[0] != again[0];
	wrong += kmc_prng(parameters, to, from, 0) != 0 || parameters[0] != again[0];
	kmc_prng(parameters, to, from, 12);
	return wrong != 0 || program_code != SPECIFICATION;
}

/* A clock comparator that has been passed for long interrupts at once. */
static volatile unsigned int interruptions;

void external_interruption(uint64_t code)
{
	const uint64_t never = -1ULL;

	interruptions += code == CLOCK_COMPARATOR;
	asm volatile("sckc %0" : : "Q" (never) : "memory");
}

static unsigned int clock_comparator(void)
{
	const uint64_t limit = clock_now() + PATIENCE, passed = 1;

	control0(CR0_CLOCK_COMPARATOR);
	asm volatile("sckc %0\n\tstosm 0x200(0),1" : : "Q" (passed) : "memory");
	while (interruptions == 0 && clock_now() < limit)
		;
	asm volatile("stnsm 0x200(0),0xfe" : : : "memory");
	return interruptions != 1;
}

/*
 * The CPU timer, which was @from at one moment between the clock's @first and @last: it goes down
 * as the clock goes up, also below zero.  Both count in the same units; each is rounded.
 */
static unsigned int is_off(uint64_t timer, uint64_t from, uint64_t first, uint64_t last,
			   uint64_t before, uint64_t after)
{
	const int64_t most = (int64_t)(from - (before - last)) + 16;
	const int64_t least = (int64_t)(from - (after - first)) - 16;

	return (int64_t)timer < least || (int64_t)timer > most;
}

static unsigned int cpu_timer(void)
{
	static const int64_t starts[] = { 1, -1, 4096, -4096, 1 << 22, -(1 << 22), -(INT64_C(1) << 50) };
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		const uint64_t first = clock_now();
		uint64_t last, before, timer, after;

		asm volatile("spt %0" : : "Q" (starts[i]) : "memory");
		last = clock_now();
		while (clock_now() - first < TOD_SECOND / 500)
			;
		before = clock_now();
		timer = timer_now();
		after = clock_now();
		wrong += is_off(timer, (uint64_t)starts[i], first, last, before, after);
	}
	return wrong;
}

/* Reset the second CPU, between these two moments of the clock. */
static int reset_second(uint64_t *first, uint64_t *last)
{
	const uint64_t limit = clock_now() + PATIENCE;

	do {
		*first = clock_now();
		if (*first > limit)
			return 0;
	} while (signal_processor(SIGP_INITIAL_CPU_RESET, 1) == SIGP_BUSY);
	*last = clock_now();
	return 1;
}

/* The timer of a CPU that was reset is zero at that moment. */
static unsigned int reset_timer(void)
{
	const uint64_t limit = clock_now() + PATIENCE;
	uint64_t first, last, after;

	if (!reset_second(&first, &last))
		return 1;
	second_id = 0;
	start_second();
	while (second_id == 0 && clock_now() < limit)
		;
	after = clock_now();
	return second_id == 0 || is_off(second_timer, 0, first, last, last, after);
}

/* What SIGNAL PROCESSOR stores of such a CPU has its timer as well. */
static unsigned int stored_timer(void)
{
	enum { CPU_TIMER = 0x128 };
	static uint64_t area[64] __attribute__((aligned(512)));
	const uint64_t limit = clock_now() + PATIENCE;
	register uint64_t parameter asm("1");
	register uint64_t address asm("2");
	uint64_t first, last, after;
	unsigned int cc = SIGP_BUSY;

	if (!reset_second(&first, &last))
		return 1;
	do {
		parameter = (uint64_t)area;
		address = 1;
		asm volatile("sigp %1,%2,0(%3)\n\t" CC
			     : [cc] "=d" (cc), "+d" (parameter)
			     : "d" (address), "a" (SIGP_STORE_STATUS) : "memory");
	} while (cc == SIGP_BUSY && clock_now() < limit);
	after = clock_now();
	return cc != 0 || is_off(area[CPU_TIMER / 8], 0, first, last, last, after);
}

static void report(const char *what, unsigned int (*wrong)(void), unsigned int cases)
{
	struct line line = { .len = 0 };
	unsigned int found = 0;

	for (unsigned int i = 0; i < cases; i++)
		found += wrong() != 0;
	put(&line, OPERATOR);
	put(&line, what);
	put(&line, " ");
	put_hex(&line, cases, 4);
	put(&line, " WRONG ");
	put_hex(&line, found, 4);
	command(&line);
}

void test_main(void)
{
	control0(CR0_AFP_AND_VECTOR);
	report("VCKSM", vcksm, CASES);
	report("QUADWORDS", quadwords, CASES);
	report("CHRL", chrl, CASES);
	report("LCBB", lcbb, CASES);
	report("LOCFHR", locfhr, CASES);
	report("EPSW", epsw, CASES);
	report("CLC", clc, CASES);
	report("STOC", stoc, CASES);
	report("STCK", stck, CASES);
	report("TR", tr, CASES);
	report("CSP", csp, CASES);
	report("LAALG", laalg, CASES);
	report("LAE", lae, CASES);
	report("RXSBG", test_selected_bits, CASES);
	report("ACCESS REGISTERS", access_registers, 1);
	report("LPSW", lpsw, 1);
	report("MDEBR", mdebr, CASES);
	report("MXDBR", mxdbr, CASES);
	report("CGDBR", too_large, CASES);
	report("LDER", lder, CASES);
	report("CSST", csst, CASES);
	report("VSTRS", vstrs, CASES);
	report("VSTL", vstl, CASES);
	report("STIDP", stidp, 1);
	report("PPNO", random_numbers, 1);
	report("KMC", pseudorandom_numbers, 1);
	report("CPU TIMER", cpu_timer, 1);
	report("RESET TIMER", reset_timer, 1);
	report("STORED TIMER", stored_timer, 1);
	report("CKC", clock_comparator, 1);
	report("VFMAX", vfmax, 1);
	report("CKSM", cksm, 1);
	report("MVCRL", mvcrl, CASES);
}
