/* SPDX-License-Identifier: MIT */
/* For a program that the tests start: it is told where to look for leaks before its main() runs. */
#include "leaks.h"

__attribute__((constructor)) static void at_start(void)
{
	leaks_read_variables();
}
