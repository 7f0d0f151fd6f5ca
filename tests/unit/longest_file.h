/* SPDX-License-Identifier: MIT */
/* A disk that is full, as a process can have it. */
#ifndef LONGEST_FILE_H
#define LONGEST_FILE_H

#include <check.h>
#include <signal.h>
#include <sys/resource.h>

/*
 * No file of this process may be longer than @most bytes: write(2) is short, then EFBIG.  A test ends
 * with RLIM_INFINITY, because what is counted for coverage is written when the process ends.
 */
static inline void longest_file(rlim_t most)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

#endif
