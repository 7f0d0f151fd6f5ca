/* SPDX-License-Identifier: MIT */
#include "http_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "say.h"

/* A pointer to an object that dlsym() gives is one to a function (POSIX). */
static bool find(void *handle, const char *name, void *function, size_t size)
{
	void *const found = dlsym(handle, name);

	_Static_assert(sizeof(found) == sizeof(void (*)(void)), "POSIX has them so");
	memcpy(function, &found, size);
	return found;
}

const struct http_library *http_library(void)
{
	static struct http_library library;
	void *handle = dlopen(HTTP_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	bool complete = handle;

#define FUNCTION(name) \
	complete = complete && find(handle, #name, &library.name, sizeof(library.name));
	HTTP_FUNCTIONS(FUNCTION)
#undef FUNCTION
	if (complete)
		return &library;
	say("--listen needs the library libmicrohttpd (Debian: libmicrohttpd12 or "
		 "libmicrohttpd12t64): %s", dlerror());
	return NULL;
}
