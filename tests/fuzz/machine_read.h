/* SPDX-License-Identifier: MIT */
/* A read with the read machine: the example of driver/mon_stream.h, asserted at every step. */
#ifndef FUZZ_MACHINE_READ_H
#define FUZZ_MACHINE_READ_H

#include "mon_stream.h"
#include "read.h"

/**
 * machine_read() - read from a stream
 * @s:       the stream
 * @request: what to read, and what happens meanwhile
 *
 * Aborts if the machine wants more steps than a read of that size can need, hands out a span
 * that it should not, or answers the same question in two ways.
 *
 * Return: see struct read_request.
 */
int machine_read(struct mon_stream *s, const struct read_request *request);

#endif /* FUZZ_MACHINE_READ_H */
