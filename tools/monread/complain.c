/* SPDX-License-Identifier: MIT */
#include "monread.h"

#include <string.h>

void complain_about(const char *what, int error)
{
	fflush(stdout);
	fprintf(stderr, "monread: %s: %s\n", what, strerror(error));
}
