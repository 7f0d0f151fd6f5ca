// SPDX-License-Identifier: MIT
/*
 * Mutations of lines of JSON for libFuzzer: of lines as a whole, and of a word or number in a
 * line, so that most of what comes out is JSON still.
 */
#include "mutate_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The longest word that is mutated, and by how much it may grow. */
#define MOST_WORD 4096
#define GROWTH 64

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
				 uint8_t *out, size_t out_size, unsigned int seed);

/* Xorshift. */
size_t pick(uint32_t *random, size_t below)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return below ? *random % below : 0;
}

/* A line, with its line break. */
static size_t line_at(const uint8_t *data, size_t size, size_t at, size_t *len)
{
	size_t begin = at, end = at;

	while (begin > 0 && data[begin - 1] != '\n')
		begin--;
	while (end < size && data[end] != '\n')
		end++;
	*len = end - begin + (end < size);
	return begin;
}

/* Puts @len bytes in place of @gone bytes at @at; the new size, or the old if there is no room. */
static size_t splice(uint8_t *data, size_t size, size_t max_size, size_t at, size_t gone,
		     const uint8_t *with, size_t len)
{
	if (size - gone + len > max_size)
		return size;
	memmove(data + at + len, data + at + gone, size - at - gone);
	memcpy(data + at, with, len);
	return size - gone + len;
}

static bool is_hex(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_word(uint8_t c)
{
	return c >= ' ' && c < 0x7f && !strchr("\"\\,:[]{}", c);
}

/* Hexadecimal digits, and whole bytes of them, stay that; all else stays printable. */
static size_t tidy(uint8_t *word, size_t len, size_t before, bool hex, bool digits)
{
	for (size_t i = 0; i < len; i++) {
		if (digits)
			word[i] = (uint8_t)('0' + word[i] % 10);
		else if (hex)
			word[i] = (uint8_t)"0123456789abcdef"[word[i] % 16];
		else if (!is_word(word[i]))
			word[i] = (uint8_t)('A' + word[i] % 26);
	}
	return hex && before % 2 == 0 && before > 16 ? len & ~(size_t)1 : len;
}

static size_t mutate_word(uint8_t *data, size_t size, size_t max_size, uint32_t *random)
{
	static uint8_t word[MOST_WORD + GROWTH];
	size_t at = pick(random, size), begin, end, len;
	bool hex = true, digits = true;

	while (at < size && !is_word(data[at]))
		at++;
	for (begin = at; begin > 0 && is_word(data[begin - 1]); begin--)
		;
	for (end = at; end < size && is_word(data[end]); end++) {
		hex = hex && is_hex(data[end]);
		digits = digits && data[end] >= '0' && data[end] <= '9';
	}
	len = end - begin;
	if (len == 0 || len > MOST_WORD)
		return size;
	memcpy(word, data + begin, len);
	/* Only in text is what looks like a number one of base 16. */
	digits = digits && !(begin > 0 && data[begin - 1] == '"');
	len = tidy(word, LLVMFuzzerMutate(word, len, len + GROWTH), len, hex, digits);
	return splice(data, size, max_size, begin, end - begin, word, len);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static uint8_t line[1 << 16];
	uint32_t random = seed | 1;
	size_t at, len, to, to_len;

	if (size == 0)
		size = splice(data, 0, max_size, 0, 0, line, new_line(line, sizeof(line), &random));
	if (size == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	at = line_at(data, size, pick(&random, size), &len);
	to = line_at(data, size, pick(&random, size), &to_len);
	switch (pick(&random, 8)) {
	case 0:
		return LLVMFuzzerMutate(data, size, max_size);
	case 1:
		return splice(data, size, max_size, at, len, line, 0);
	case 2:
		if (len > sizeof(line))
			return size;
		memcpy(line, data + at, len);
		return splice(data, size, max_size, to, 0, line, len);
	case 3:
	case 4:
		len = new_line(line, sizeof(line), &random);
		if (len > 0)
			return splice(data, size, max_size, to, 0, line, len);
		return mutate_word(data, size, max_size, &random);
	default:
		return mutate_word(data, size, max_size, &random);
	}
}

/* Some lines of one input, then some of the other; a trace's configuration comes from the first. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
				 uint8_t *out, size_t out_size, unsigned int seed)
{
	uint32_t random = seed | 1;
	size_t first, second, len, total;

	first = line_at(a, a_size, pick(&random, a_size), &len) + len;
	second = line_at(b, b_size, pick(&random, b_size), &len);
	if (second == 0)
		second = len;
	total = first + (b_size - second);
	if (first > out_size || total > out_size)
		return 0;
	memcpy(out, a, first);
	memcpy(out + first, b + second, b_size - second);
	return total;
}
