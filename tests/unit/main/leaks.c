/* SPDX-License-Identifier: MIT */
/*
 * What LeakSanitizer reads at the end of each test.
 *
 * By default it looks for pointers in the variables of all that is loaded, and the sanitizers' own
 * libraries have 12 MiB of them.  Each test is a process, which gets a page for every 4 KiB that is
 * read: that took more than half of the CPU time of all unit tests.  So it is told to read no
 * variables, and is then given those of the program and of all other libraries.
 */
#define _GNU_SOURCE
#include "leaks.h"

#ifdef __SANITIZE_ADDRESS__
#include <link.h>
#include <sanitizer/lsan_interface.h>
#include <stdbool.h>
#include <string.h>

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
	return "use_globals=0";
}

static int is_sanitizer(const char *name)
{
	return strstr(name, "/libasan.so") || strstr(name, "/libubsan.so");
}

/* Called for the program and for each library. */
static int read_variables(struct dl_phdr_info *loaded, size_t size, void *context)
{
	(void)size;
	(void)context;
	if (is_sanitizer(loaded->dlpi_name))
		return 0;
	for (int i = 0; i < loaded->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &loaded->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && (part->p_flags & PF_W))
			__lsan_register_root_region((void *)(loaded->dlpi_addr + part->p_vaddr),
						    part->p_memsz);
	}
	return 0;
}

/*
 * A test that has given back as much as it has taken has no leak.  Only if it has not, and that is
 * seldom, all memory is read for pointers: that takes as long as a small test itself.
 */
/* Of the sanitizers; GCC has no header for it. */
size_t __sanitizer_get_current_allocated_bytes(void);

static size_t taken_before;
static bool begun;

void leaks_begin(void)
{
	taken_before = __sanitizer_get_current_allocated_bytes();
	begun = true;
}

/* Asked at the end of a process; the one that starts the tests has begun none. */
int __lsan_is_turned_off(void)
{
	return begun && __sanitizer_get_current_allocated_bytes() == taken_before;
}

void leaks_read_variables(void)
{
	dl_iterate_phdr(read_variables, NULL);
}
#else
void leaks_begin(void)
{
}

void leaks_read_variables(void)
{
}
#endif
