/* SPDX-License-Identifier: MIT */
/* What libFuzzer, or replay.c in its place, calls. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/**
 * LLVMFuzzerTestOneInput() - do what an input says
 * @data: the input
 * @size: its bytes
 *
 * Aborts, with a line on standard error, if something is not as it should be.
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* FUZZ_TARGET_H */
