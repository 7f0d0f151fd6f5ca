/* SPDX-License-Identifier: MIT */
/*
 * For a program that the tests start: it is told where to look for leaks after its main() has ended, when
 * all libraries are loaded, and just before LeakSanitizer looks.
 */
#include "leaks.h"

__attribute__((destructor)) static void at_end(void)
{
	leaks_read_variables();
}
