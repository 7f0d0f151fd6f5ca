/* SPDX-License-Identifier: MIT */
/*
 * CP commands, as the guest gives them by DIAGNOSE X'08' and people on the
 * operator's console or the control socket.
 */
#ifndef ZVMLAB_COMMAND_H
#define ZVMLAB_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;

#define CPCMD_MAX_COMMAND 240u
#define CPCMD_MAX_RESPONSE (1024u * 1024u)

struct cpcmd_response {
	char *text;		/**< ASCII lines, each ended by '\n'; not NUL-terminated */
	size_t len, capacity;	/**< buffer owned by the CP, valid until the next command */
	int rc;			/**< 0, or the number of CP's message */
};

/** The user who gives the command: the guest with its classes, the operator with all, or a peer. */
enum cpcmd_issuer { CPCMD_GUEST, CPCMD_OPERATOR, CPCMD_PEER };

/**
 * Run one command line (several commands separated by '\n' run in turn; the
 * response is concatenated, rc is that of the last that failed).
 */
const struct cpcmd_response *cpcmd_run(struct cp *cp, enum cpcmd_issuer issuer, const char *text,
				       size_t len);

/** The same for the peer @userid with privilege classes @classes. */
const struct cpcmd_response *cpcmd_run_peer(struct cp *cp, const char *userid,
					    const char *classes, const char *text, size_t len);

#endif
