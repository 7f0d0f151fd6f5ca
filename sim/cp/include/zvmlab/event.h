/* SPDX-License-Identifier: MIT */
/*
 * What the CP tells an observer (the control socket) without being asked.
 */
#ifndef ZVMLAB_EVENT_H
#define ZVMLAB_EVENT_H

#include <stdint.h>

enum cp_event_kind {
	CP_EVENT_RESET,			/**< the guest was reset */
	CP_EVENT_CONSOLE,		/**< text: a line CP writes to a user's console */
	CP_EVENT_COMMAND,		/**< text: a CP command of the guest; value: return code */
	CP_EVENT_SEGMENT,		/**< name: segment; text: "loaded" or "purged" */
	CP_EVENT_MONITOR_CONNECTED,	/**< name: user; path; value: granted limit */
	CP_EVENT_MONITOR_SEVERED,	/**< name: user; path; value: IPUSER byte 0 */
	CP_EVENT_MONITOR_MESSAGE,	/**< name: user; path; value: set number */
	CP_EVENT_MONITOR_REPLIED,	/**< name: user; path; value: set number */
	CP_EVENT_MONITOR_LOST,		/**< name: user; path; value: lost so far */
	CP_EVENT_RECORDING_CONNECTED,	/**< name: user; text: service; path; value: records queued */
	CP_EVENT_RECORDING_SEVERED,	/**< name: user; text: service; path; value: IPUSER byte 0 */
	CP_EVENT_RECORDING_RECEIVED,	/**< name: user; text: service; path; value: records left */
	CP_EVENT_WATCHDOG,		/**< name: user; text: the command that came; value: return code */
	CP_EVENT_MACHINE,		/**< name: user; text: "restart", "signal-shutdown" or "logoff" */
	CP_EVENT_FAULT,			/**< text: point; value: rule id */
	CP_EVENT_PAGE,			/**< text: what; path: CPU; value: number of the fault, or 0 */
	CP_EVENT_SPOOL,			/**< name: user; text: queue, or "full"; value: the file's number */
	CP_EVENT_HMC,			/**< name: file; text: "held", or the function; value: function or status */
	CP_EVENT_KASAN,			/**< name: call of CP; text: the access, and the shadow; value: address */
	CP_EVENT_DISK,			/**< text: "held" or "ended"; path: device; value: the request's number */
	CP_EVENT_KINDS
};

struct cp_event {
	enum cp_event_kind kind;
	const char *name;	/**< "" if not applicable; valid during the call */
	const char *text;	/**< "" if not applicable; valid during the call */
	uint32_t path;
	uint64_t value;
};

struct cp;
/** Tell the observer, if there is one. */
void cp_notify(struct cp *cp, const struct cp_event *event);
/** Name of an event kind as the control socket spells it ("monitor-lost"). */
const char *cp_event_name(enum cp_event_kind kind);

#endif
