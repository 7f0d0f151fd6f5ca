/* SPDX-License-Identifier: MIT */
/* Sockets at a path, to which only the user who runs the emulator can connect. */
#ifndef CTL_LISTEN_H
#define CTL_LISTEN_H

#include <stddef.h>
#include <stdint.h>

/**
 * Create a UNIX socket (mode 0600) of @type, for example SOCK_STREAM, and listen.  A socket that
 * nobody listens on is replaced; anything else at @path is an error.
 *
 * @what: what it is called in sentences.  @inode: what ctl_unlisten() wants to know, 0 without one.
 * Return: a descriptor that does not block, or -1 with one sentence in @err.
 */
int ctl_listen(const char *path, int type, const char *what, uint64_t *inode, char *err,
	       size_t errlen);
/** Remove the socket at @path, unless it is somebody else's by now. */
void ctl_unlisten(const char *path, uint64_t inode);

#endif
