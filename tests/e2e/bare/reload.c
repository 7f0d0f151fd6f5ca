/* SPDX-License-Identifier: MIT */
/*
 * Says that it has been loaded, declares a buffer, and asks to be loaded again, as
 * kernels do to reboot: DIAGNOSE X'308', subcode 3 (load clear).
 *
 * Built with -fexec-charset=IBM037: every string is EBCDIC.
 */
#include <stddef.h>

#include "again.h"
#include "cp.h"

void test_main(void);

void test_main(void)
{
	struct line line = { .len = 0 };

	put(&line, OPERATOR "LOADED ");
	put_hex(&line, declare_buffer(), 2);
	command(&line);
	diagnose_308(LOAD_CLEAR, NULL);
}
