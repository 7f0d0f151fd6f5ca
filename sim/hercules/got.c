/* SPDX-License-Identifier: MIT */
/* Redirecting calls through the procedure linkage table: System V ABI, AMD64 supplement, ch. 5. */
#define _GNU_SOURCE /* dl_iterate_phdr, RTLD_DEFAULT */
#include "got.h"

#include <assert.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_HOOKS 16u

/* The table as the dynamic section of a loaded library describes it. */
struct library {
	const char *name;
	uintptr_t base;
	const Elf64_Rela *rela;
	size_t relas;
	const Elf64_Sym *symbols;
	const char *strings;
};

static bool is_named(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* The dynamic linker has turned the addresses of the dynamic section into pointers. */
static void read_dynamic(struct library *lib, const Elf64_Dyn *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		switch (dyn->d_tag) {
		case DT_JMPREL:
			lib->rela = (const Elf64_Rela *)dyn->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			lib->relas = dyn->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case DT_SYMTAB:
			lib->symbols = (const Elf64_Sym *)dyn->d_un.d_ptr;
			break;
		case DT_STRTAB:
			lib->strings = (const char *)dyn->d_un.d_ptr;
			break;
		default:
			break;
		}
	}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct library *lib = data;

	(void)size;
	if (!is_named(info->dlpi_name, lib->name))
		return 0;
	lib->base = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_DYNAMIC)
			read_dynamic(lib, (const Elf64_Dyn *)(lib->base + segment->p_vaddr));
	}
	return 1;
}

/* The entry of @symbol; *@count: how many there are. */
static void **find_slot(const struct library *lib, const char *symbol, unsigned int *count)
{
	void **slot = NULL;

	*count = 0;
	for (size_t i = 0; i < lib->relas; i++) {
		const Elf64_Rela *rela = &lib->rela[i];
		const Elf64_Sym *sym = &lib->symbols[ELF64_R_SYM(rela->r_info)];

		if (ELF64_R_TYPE(rela->r_info) != R_X86_64_JUMP_SLOT ||
		    strcmp(lib->strings + sym->st_name, symbol) != 0)
			continue;
		slot = (void **)(lib->base + rela->r_offset);
		++*count;
	}
	return slot;
}

/* With immediate binding the table is read-only after start-up. */
static int make_writable(void **slot)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)slot & ~(page - 1));

	return mprotect(start, page, PROT_READ | PROT_WRITE);
}

static int find_library(const char *name, struct library *lib, char *err, size_t errlen)
{
	*lib = (struct library){ .name = name };
	if (dl_iterate_phdr(look_at, lib) == 0 || !lib->rela || !lib->symbols || !lib->strings) {
		snprintf(err, errlen, "%s is not loaded, or has no procedure linkage table", name);
		return -1;
	}
	return 0;
}

int got_redirect(const char *library, const struct got_hook *hooks, size_t count, char *err,
		 size_t errlen)
{
	void **slots[MAX_HOOKS];
	struct library lib;

	assert(count <= MAX_HOOKS);
	if (find_library(library, &lib, err, errlen) != 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		unsigned int found;

		slots[i] = find_slot(&lib, hooks[i].symbol, &found);
		*hooks[i].original = dlsym(RTLD_DEFAULT, hooks[i].symbol);
		if (found != 1 || !*hooks[i].original || make_writable(slots[i]) != 0) {
			snprintf(err, errlen,
				 "%s of %s cannot be redirected: it has %u entries in the procedure"
				 " linkage table instead of 1", hooks[i].symbol, library, found);
			return -1;
		}
	}
	for (size_t i = 0; i < count; i++)
		__atomic_store_n(slots[i], hooks[i].replacement, __ATOMIC_RELEASE);
	return 0;
}
