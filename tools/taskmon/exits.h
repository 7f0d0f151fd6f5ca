/* SPDX-License-Identifier: MIT */
/* Shared by the commands that listen: listen, export. */
#ifndef EXITS_H
#define EXITS_H

#include "listener.h"
#include "program.h"

/*
 * Waits for what ends a listener: a signal, its program, the time, or that there is enough.
 * @duration_ns: 0: none.  Return: 0 or -errno.
 */
int exits_wait(const struct listener *listener, uint64_t duration_ns, struct program *program);

/* Complains why listener_open() returned @error.  Return: an exit code. */
int exits_failed(int error, const struct listener *listener);

/* Finds out what the kernel counts; before it is listened to. */
void exits_look(struct collector *collector);

/*
 * Has a child exit on an online CPU of @cpus.
 * Return: 0; -ENODEV if there is none; otherwise as listener_probe().
 */
int exits_heard(struct listener *listener, const struct cpus *cpus);

/*
 * Has a child exit where it can be heard, if there is a CPU for that.
 * Return: EXIT_PASS; or another exit code, having complained, if nothing is heard.
 */
int exits_probe(struct listener *listener, const struct cpus *cpus);

#endif
