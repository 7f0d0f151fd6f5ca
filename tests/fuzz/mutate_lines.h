/* SPDX-License-Identifier: MIT */
/* What the mutations of lines and a target share. */
#ifndef MUTATE_LINES_H
#define MUTATE_LINES_H

#include <stddef.h>
#include <stdint.h>

/** From 0 to @below - 1; @random is never 0. */
size_t pick(uint32_t *random, size_t below);

/**
 * new_line() - by the target: a line that it can make something of, made up
 * @line: where it goes, with its line break
 * @max: bytes there
 *
 * Return: its length, or 0 if there is none.
 */
size_t new_line(uint8_t *line, size_t max, uint32_t *random);

#endif /* MUTATE_LINES_H */
