/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CIPHER MESSAGE WITH CHAINING, function 67: pseudorandom numbers (PoP, ch. 7).
 * Linux moves its kernel to a random address only if a CPU has it.
 *
 * Each block goes through the generator of ANSI X9.17 with triple DES (FIPS 46-3);
 * it is as slow as it is short, and asked for a few blocks at a time.
 */
#include "qemu/osdep.h"

#include "hw/s390x/zvmlab.h"
#include "s390x-internal.h"
#include "tcg/tcg_s390x.h"
#include "versions.h"

#define ROUNDS 16
#define BLOCK 8
/* The parameter block: chaining value, three keys. */
#define KEYS 3
/* So many blocks, then the program has to come again: it stays interruptible. */
#define MOST_BLOCKS 64

struct des_key {
	uint64_t round[ROUNDS];		/* 48 bits each */
};

/* Bits are numbered from 1 at the left, as in the standard. */
static uint64_t permute(uint64_t value, unsigned int width, const uint8_t *from, unsigned int count)
{
	uint64_t result = 0;

	for (unsigned int i = 0; i < count; i++)
		result = result << 1 | (value >> (width - from[i]) & 1);
	return result;
}

static const uint8_t initial[64] = {
	58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4,
	62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48, 40, 32, 24, 16, 8,
	57, 49, 41, 33, 25, 17, 9,  1, 59, 51, 43, 35, 27, 19, 11, 3,
	61, 53, 45, 37, 29, 21, 13, 5, 63, 55, 47, 39, 31, 23, 15, 7,
};
static const uint8_t expansion[48] = {
	32, 1,	2,  3,	4,  5,	4,  5,	6,  7,	8,  9,	8,  9,	10, 11, 12, 13, 12, 13, 14, 15, 16, 17,
	16, 17, 18, 19, 20, 21, 20, 21, 22, 23, 24, 25, 24, 25, 26, 27, 28, 29, 28, 29, 30, 31, 32, 1,
};
static const uint8_t permutation[32] = {
	16, 7, 20, 21, 29, 12, 28, 17, 1,  15, 23, 26, 5,  18, 31, 10,
	2,  8, 24, 14, 32, 27, 3,  9,  19, 13, 30, 6,  22, 11, 4,  25,
};
static const uint8_t choice1[56] = {
	57, 49, 41, 33, 25, 17, 9,  1,	58, 50, 42, 34, 26, 18, 10, 2,	59, 51, 43,
	35, 27, 19, 11, 3,  60, 52, 44, 36, 63, 55, 47, 39, 31, 23, 15, 7,  62, 54,
	46, 38, 30, 22, 14, 6,	61, 53, 45, 37, 29, 21, 13, 5,	28, 20, 12, 4,
};
static const uint8_t choice2[48] = {
	14, 17, 11, 24, 1,  5,	3,  28, 15, 6,	21, 10, 23, 19, 12, 4,	26, 8,	16, 7,	27, 20, 13, 2,
	41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
};
/* Four rows of sixteen, a digit each. */
static const uint64_t substitution[8][4] = {
	{ 0xe4d12fb83a6c5907, 0x0f74e2d1a6cb9538, 0x41e8d62bfc973a50, 0xfc8249175b3ea06d },
	{ 0xf18e6b34972dc05a, 0x3d47f28ec01a69b5, 0x0e7ba4d158c6932f, 0xd8a13f42b67c05e9 },
	{ 0xa09e63f51dc7b428, 0xd709346a285ecbf1, 0xd6498f30b12c5ae7, 0x1ad069874fe3b52c },
	{ 0x7de3069a1285bc4f, 0xd8b56f03472c1ae9, 0xa690cb7df13e5284, 0x3f06a1d8945bc72e },
	{ 0x2c417ab6853fd0e9, 0xeb2c47d150fa3986, 0x421bad78f9c5630e, 0xb8c71e2d6f09a453 },
	{ 0xc1af92680d34e75b, 0xaf427c9561de0b38, 0x9ef528c3704a1db6, 0x432c95fabe17608d },
	{ 0x4b2ef08d3c975a61, 0xd0b7491ae35c2f86, 0x14bdc37eaf680592, 0x6bd814a7950fe23c },
	{ 0xd2846fb1a93e50c7, 0x1fd8a374c56b0e92, 0x7b419ce206adf358, 0x21e74a8dfc90356b },
};

static uint32_t half(uint32_t value, uint64_t round)
{
	const uint64_t mixed = permute(value, 32, expansion, 48) ^ round;
	uint32_t result = 0;

	for (unsigned int box = 0; box < 8; box++) {
		const unsigned int six = mixed >> (42 - 6 * box) & 0x3f;
		const unsigned int row = (six >> 4 & 2) | (six & 1), column = six >> 1 & 0xf;

		result = result << 4 | (substitution[box][row] >> (60 - 4 * column) & 0xf);
	}
	return permute(result, 32, permutation, 32);
}

/* What the initial permutation has done, undone. */
static uint64_t permute_back(uint64_t value)
{
	uint64_t result = 0;

	for (unsigned int i = 0; i < 64; i++)
		result |= (value >> (63 - i) & 1) << (64 - initial[i]);
	return result;
}

static uint64_t des(const struct des_key *key, uint64_t block, bool decrypt)
{
	const uint64_t start = permute(block, 64, initial, 64);
	uint32_t left = start >> 32, right = start;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		const uint32_t next = left ^ half(right, key->round[decrypt ? ROUNDS - 1 - i : i]);

		left = right;
		right = next;
	}
	return permute_back((uint64_t)right << 32 | left);
}

static struct des_key schedule(uint64_t key)
{
	const uint64_t chosen = permute(key, 64, choice1, 56);
	uint32_t left = chosen >> 28, right = chosen & 0xfffffff;
	struct des_key result;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		const unsigned int by = i < 2 || i == 8 || i == 15 ? 1 : 2;

		left = (left << by | left >> (28 - by)) & 0xfffffff;
		right = (right << by | right >> (28 - by)) & 0xfffffff;
		result.round[i] = permute((uint64_t)left << 28 | right, 56, choice2, 48);
	}
	return result;
}

static uint64_t encrypt(const struct des_key key[KEYS], uint64_t block)
{
	return des(&key[2], des(&key[1], des(&key[0], block, false), true), false);
}

static void add(CPUS390XState *env, unsigned int r, uint64_t value)
{
	const bool is64 = env->psw.mask & PSW_MASK_64, is31 = env->psw.mask & PSW_MASK_32;

	env->regs[r] = deposit64(env->regs[r], 0, is64 ? 64 : is31 ? 32 : 24,
				 env->regs[r] + value);
}

static uint64_t fetch(CPUS390XState *env, uint64_t addr, uintptr_t ra)
{
	return cpu_ldq_be_data_ra(env, wrap_address(env, addr), ra);
}

static void store(CPUS390XState *env, uint64_t addr, uint64_t value, uintptr_t ra)
{
	cpu_stq_be_data_ra(env, wrap_address(env, addr), value, ra);
}

uint32_t zvmlab_kmc_prng(CPUS390XState *env, uint32_t r1, uint32_t r2, uintptr_t ra)
{
	const uint64_t parameters = env->regs[1];
	uint64_t len = env->regs[r2 + 1], chaining;
	struct des_key key[KEYS];

	if (!(env->psw.mask & PSW_MASK_64))
		len = (uint32_t)len;
	if (len % BLOCK != 0)
		tcg_s390_program_interrupt(env, PGM_SPECIFICATION, ra);
	if (len == 0)
		return 0;
	chaining = fetch(env, parameters, ra);
	for (unsigned int i = 0; i < KEYS; i++)
		key[i] = schedule(fetch(env, parameters + (i + 1) * BLOCK, ra));
	/* What cannot be stored is to be met before a block is done. */
	store(env, parameters, chaining, ra);
	for (unsigned int done = 0; len > 0 && done < MOST_BLOCKS; done++, len -= BLOCK) {
		const uint64_t time = encrypt(key, fetch(env, env->regs[r2], ra));
		const uint64_t number = encrypt(key, time ^ chaining);

		store(env, env->regs[r1], number, ra);
		chaining = encrypt(key, number ^ time);
		store(env, parameters, chaining, ra);
		add(env, r1, BLOCK);
		if (r1 != r2)
			add(env, r2, BLOCK);
		env->regs[r2 + 1] -= BLOCK;
	}
	return len == 0 ? 0 : 3;
}
