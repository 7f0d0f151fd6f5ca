/* SPDX-License-Identifier: MIT */
/* How the tools end, as zvmlab(1) has it; a tool that runs a program may end as that does. */
#ifndef TOOLS_EXIT_CODE_H
#define TOOLS_EXIT_CODE_H

enum exit_code {
	EXIT_PASS = 0,
	EXIT_FAILED = 1,	/* it was tried, and it did not work */
	EXIT_USAGE = 2,		/* the command line, or a file it names, is wrong */
	EXIT_CANNOT_RUN = 77,	/* privilege, kernel feature or device is missing */
	EXIT_TIMEOUT = 124,
};

#endif
