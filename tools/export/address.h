/* SPDX-License-Identifier: MIT */
/*
 * Addresses to listen at: "PORT" and "localhost:PORT" for this machine alone, ":PORT" for all,
 * "1.2.3.4:PORT", "[::1]:PORT".  Port 0 is one that the kernel chooses.
 */
#ifndef TOOLS_ADDRESS_H
#define TOOLS_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* "[", an IPv6 address, "]:", a port */
#define ADDRESS_TEXT_SIZE 64u

/* Is it of this form? */
bool address_is(const char *word);

/*
 * Opens a socket that listens there, for streams, and does not wait.
 * Return: its descriptor; -1, having complained about @word.
 */
int address_listen(const char *word);

/* The address that a socket listens at, as address_is() takes it; "?" if it is unknown. */
const char *address_text(int fd, char text[ADDRESS_TEXT_SIZE]);

#endif
