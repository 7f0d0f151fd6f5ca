/* SPDX-License-Identifier: MIT */
/* monread: SIGINT and SIGTERM, which are blocked but for waits. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* Blocks and catches them. */
void signals_catch(void);
/* The one that came first; 0: none. */
int signals_first(void);
/* How many have come, those that wait to be delivered included. */
unsigned int signals_count(void);
/*
 * Around a call that waits without a mask of its own: signals interrupt it, and so
 * does the end of @timeout_ms (-1: there is none).  True if that was what came.
 */
void signals_begin(int timeout_ms);
bool signals_end(void);

#endif
