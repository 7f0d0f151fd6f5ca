/* SPDX-License-Identifier: MIT */
/*
 * Inter-User Communication Vehicle.
 *
 * One interface serves every end of a path: the guest (through B2F0), system
 * services (*MONITOR, *MSG) and peers (other user IDs played by the harness).
 * Each is a struct iucv_user; each calls iucv_call() with the decoded form of
 * the parameter list and receives events with the content of the external
 * interrupt buffer.
 *
 * Sources of the architected values: the parameter lists and interrupt buffers
 * that Linux uses (include/net/iucv/iucv.h describes them), and the IUCV
 * chapters of CP Programming Services; see docs/choices.md for what neither says.
 */
#ifndef ZVMLAB_IUCV_H
#define ZVMLAB_IUCV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;
struct cp_system;
struct state;
struct iucv_user;

/** GR0 of B2F0. */
enum iucv_function {
	IUCV_QUERY = 0x00,
	IUCV_TEST_MESSAGE = 0x01,
	IUCV_RETRIEVE_BUFFER = 0x02,
	IUCV_DESCRIBE = 0x03,
	IUCV_SEND = 0x04,
	IUCV_RECEIVE = 0x05,
	IUCV_REPLY = 0x06,
	IUCV_TEST_COMPLETION = 0x07,
	IUCV_REJECT = 0x08,
	IUCV_PURGE = 0x09,
	IUCV_ACCEPT = 0x0a,
	IUCV_CONNECT = 0x0b,
	IUCV_DECLARE_BUFFER = 0x0c,
	IUCV_QUIESCE = 0x0d,
	IUCV_RESUME = 0x0e,
	IUCV_SEVER = 0x0f,
	IUCV_SET_MASK = 0x10,
	IUCV_SET_CONTROL_MASK = 0x11,
};
#define IUCV_FUNCTIONS 0x12

/** Name in the trace: "iucv.connect" and the like. */
const char *iucv_function_name(enum iucv_function function);

/** IPFLAGS1; the meaning of a bit depends on the function. */
enum {
	IPRMDATA = 0x80,	/**< data in the parameter list */
	IPALL = 0x80,		/**< QUIESCE, RESUME, SEVER: all paths */
	IPBUFLST = 0x40,	/**< SEND, RECEIVE, REPLY: IPBFADR1 is a list */
	IPQUSCE = 0x40,		/**< CONNECT, ACCEPT: quiesced */
	IPPRTY = 0x20,		/**< priority */
	IPNORPY = 0x10,		/**< one-way */
	IPANSLST = 0x08,	/**< SEND: IPBFADR2 is a list; RECEIVE event */
	IPFGMID = 0x04,		/**< RECEIVE, REPLY, REJECT, PURGE: message id given */
	IPFGPID = 0x02,		/**< path id given */
	IPFGMCL = 0x01,		/**< source or target class given */
	IPLOCAL = 0x01,		/**< CONNECT: local system only */
};

/** IPRCODE with condition code 1. */
enum iucv_code {
	IUCV_OK = 0x00,
	IUCV_INVALID_PATH = 0x01,
	IUCV_QUIESCED = 0x02,
	IUCV_MSGLIMIT = 0x03,
	IUCV_NO_PRIORITY = 0x04,
	IUCV_SHORT_BUFFER = 0x05,
	IUCV_WRONG_CLASS = 0x08,
	IUCV_PURGED = 0x09,
	IUCV_BAD_LENGTH = 0x0a,
	IUCV_NOT_LOGGED_ON = 0x0b,
	IUCV_NO_BUFFER = 0x0c,		/**< target has not declared a buffer */
	IUCV_OWN_MAX = 0x0d,
	IUCV_TARGET_MAX = 0x0e,
	IUCV_NOT_AUTHORISED = 0x0f,
	IUCV_INVALID_SERVICE = 0x10,
	IUCV_INVALID_FUNCTION = 0x11,	/**< IPFCNCD; also an unknown GR0 (docs/choices.md) */
	IUCV_BAD_MSGLIM = 0x12,		/**< never given (choices.md) */
	IUCV_BUFFER_DECLARED = 0x13,
	IUCV_ORIGIN_SEVERED = 0x14,
	IUCV_NO_RMDATA = 0x15,
	IUCV_NO_CONTROL_BUFFER = 0x1c,
	IUCV_NOT_FOR_SERVICE = 0x30,
	IUCV_OVERLAP = 0x3e,
	IUCV_PAGING = 0x5c,
};

/** IPTYPE of an event. */
enum iucv_type {
	IUCV_PENDING = 1,	/**< connection pending */
	IUCV_COMPLETE = 2,	/**< connection complete */
	IUCV_SEVERED = 3,
	IUCV_PATH_QUIESCED = 4,
	IUCV_PATH_RESUMED = 5,
	IUCV_PRIO_COMPLETE = 6,	/**< priority message complete */
	IUCV_MSG_COMPLETE = 7,
	IUCV_PRIO_PENDING = 8,	/**< priority message pending */
	IUCV_MSG_PENDING = 9,
};

/** SET MASK. */
enum {
	IUCV_MASK_MSG = 0x80, IUCV_MASK_PRIO_MSG = 0x40, IUCV_MASK_REPLY = 0x20,
	IUCV_MASK_PRIO_REPLY = 0x10, IUCV_MASK_CONTROL = 0x08,
};
/** SET CONTROL MASK. */
enum {
	IUCV_CMASK_PENDING = 0x80, IUCV_CMASK_COMPLETE = 0x40, IUCV_CMASK_SEVERED = 0x20,
	IUCV_CMASK_QUIESCED = 0x10, IUCV_CMASK_RESUMED = 0x08,
};

/** IPAUDIT as 24-bit number (byte 0 is the most significant). */
enum {
	IUCV_AUDIT_PURGED = 0x010000,
	IUCV_AUDIT_REJECTED = 0x040000,
	IUCV_AUDIT_SEVERED = 0x000100,	/**< documented choice */
};

#define IUCV_PARM_SIZE 40u
#define IUCV_EVENT_SIZE 40u
/** Most messages outstanding on a path: what the field holds (docs/choices.md). */
#define IUCV_MAX_MSGLIM 65535u
#define IUCV_DEFAULT_MSGLIM 10u

/** A data area of SEND, RECEIVE or REPLY. */
struct iucv_area {
	bool host;		/**< storage of this process, not of the guest */
	bool list;		/**< guest only: array of {u32 address, u32 length} */
	uint32_t addr;		/**< guest real address */
	void *ptr;		/**< host: owned by the caller until message complete */
	uint32_t len;		/**< bytes in all */
};

/** Decoded parameter list; host byte order; unused fields are zero. */
struct iucv_parm {
	uint16_t path;
	uint8_t flags;		/**< IPFLAGS1, in and out */
	uint16_t msglim;	/**< in: wanted, 0 = default; out: granted */
	char vmid[9];		/**< CONNECT: user ID or service; ASCII, no trailing blanks */
	char target[9];		/**< CONNECT: IPTARGET */
	uint8_t ipuser[16];
	uint32_t msgid, trgcls, srccls, msgtag;
	uint8_t rmmsg[8];	/**< IPRMDATA */
	struct iucv_area buffer;	/**< IPBFADR1/IPBFLN1F */
	struct iucv_area answer;	/**< IPBFADR2/IPBFLN2F */
	uint32_t residual;	/**< RECEIVE, REPLY: out: bytes that did not fit */
	uint32_t received;	/**< RECEIVE: out: bytes moved into the buffer */
	uint32_t audit;		/**< PURGE, TEST COMPLETION: out */
	uint8_t mask;		/**< SET MASK, SET CONTROL MASK */
};

struct iucv_result {
	uint8_t cc;		/**< 0 to 3 */
	uint8_t code;		/**< IPRCODE with cc 1 */
	uint16_t pgm;		/**< not 0: program interruption instead */
};

/** One event; the fields as in the external interrupt buffer. */
struct iucv_event {
	enum iucv_type type;
	uint16_t path;
	uint8_t flags;
	uint16_t msglim;
	char vmid[9];		/**< PENDING: the partner */
	uint8_t ipuser[16];
	uint32_t msgid, trgcls, srccls, msgtag, audit;
	uint8_t rmmsg[8];	/**< with IPRMDATA */
	uint32_t length;	/**< PENDING message: its length */
	uint32_t answer_length;	/**< IPBFLN2F: longest reply, or residual of the reply */
	void *answer;		/**< complete, host: the answer area, of any length; valid during the call */
};

/** The 40 bytes that CP stores for @event. */
void iucv_event_encode(const struct iucv_event *event, uint8_t image[IUCV_EVENT_SIZE]);

/**
 * What a service or a peer does with its events.  Called after the entry point
 * that caused them has finished its own work, never recursively; may use
 * iucv_call().
 */
struct iucv_user_ops {
	void (*event)(struct cp *cp, struct iucv_user *user, void *opaque,
		      const struct iucv_event *event);
};

/**
 * Create a peer.  @name: up to 8 characters; with '*' in front the peer plays a
 * system service, which the directory has to name.  @max_paths: 1 to CP_MAX_PATHS.  Return: NULL if the name exists
 * or there are too many (IUCV_MAX_USERS).  Peers may come and go at run time.
 * A peer is private to its machine @cp: it exists for no other, and no other for it.
 */
struct iucv_user *iucv_user_create(struct cp *cp, const char *name, uint32_t max_paths,
				   const struct iucv_user_ops *ops, void *opaque);
/** The same for a service of CP itself. */
struct iucv_user *iucv_service_create(struct cp_system *system, const char *name,
				      uint32_t max_paths, const struct iucv_user_ops *ops,
				      void *opaque);
struct iucv_user *iucv_service_find(struct cp_system *system, const char *name);
/** Log the user off: its paths are severed, its messages purged. */
void iucv_user_destroy(struct cp *cp, struct iucv_user *user);
/** Give a user that came back by cp_load() its owner again. */
void iucv_user_attach(struct iucv_user *user, const struct iucv_user_ops *ops, void *opaque);
/** The user of that name that exists for the machine @cp. */
struct iucv_user *iucv_user_find(const struct cp *cp, const char *name);
/** The machine's own. */
struct iucv_user *iucv_user_guest(struct cp *cp);
/**
 * The @index-th user that exists for the machine @cp, NULL past the last: machines in the order
 * in which they logged on (0 is a guest that is alone), then services and peers.
 */
struct iucv_user *iucv_user_at(struct cp *cp, unsigned int index);
const char *iucv_user_name(const struct iucv_user *user);
/** Has it the name of a service, whoever plays it? */
bool iucv_user_is_service(const struct iucv_user *user);
/** Is it a peer of one machine, which exists for no other? */
bool iucv_user_is_private(const struct iucv_user *user);
/** Is it a service of CP itself? */
bool iucv_user_is_own(const struct iucv_user *user);

#define IUCV_MAX_USERS 256

/**
 * Call a function on behalf of @user (services and peers; the guest comes
 * through cp_iucv).  Services and peers always have a buffer declared and all
 * masks on; their message limits and authorities are not restricted by a
 * directory.  @parm is updated as CP updates the parameter list.
 */
struct iucv_result iucv_call(struct cp *cp, struct iucv_user *user, enum iucv_function function,
			     struct iucv_parm *parm);

/**
 * Fault: hold a message that has just been sent back until @further events have
 * been presented to its target.  False if it is not waiting there.
 */
bool iucv_message_hold(struct cp *cp, uint32_t msgid, uint32_t further);

/** Deliver all events that wait for services and peers; entry points end with it. */
void iucv_dispatch(struct cp *cp);
/**
 * The same as an entry point of its own: for a port or a control layer, after
 * it has attached users or when an entry point had more to do than it may.
 */
void iucv_dispatch_rest(struct cp *cp);

/** Facts on a path, for QUERY and the control socket. */
struct iucv_path_info {
	uint16_t path, partner_path;
	const char *partner;
	uint8_t state;		/**< enum iucv_path_state */
	uint8_t flags;
	uint16_t msglim_send, msglim_receive;
	uint32_t sent, received;	/**< messages outstanding in each direction */
	bool quiesced_here, quiesced_there;
};
enum iucv_path_state {
	IUCV_PATH_FREE, IUCV_PATH_CONNECTING, IUCV_PATH_PENDING, IUCV_PATH_OPEN, IUCV_PATH_SEVERED,
};
bool iucv_path_info(const struct iucv_user *user, uint16_t path, struct iucv_path_info *out);
/** Number of paths of @user that are not free. */
uint32_t iucv_path_count(const struct iucv_user *user);
/** The values given to iucv_user_create(). */
uint32_t iucv_max_paths(const struct iucv_user *user);
/** The interruption buffer that CPU @cpu of the guest has declared.  Return: false if it has none. */
bool iucv_declared(const struct cp *cp, unsigned int cpu, uint64_t *addr);
/**
 * Calls of the guest so far that named a path which it has not got; *@last is the last one's function.
 * No part of the state: a guest that is put back goes on counting.
 */
uint64_t iucv_stray_calls(const struct cp *cp, enum iucv_function *last);
/** Events waiting for @user. */
uint32_t iucv_events_waiting(const struct iucv_user *user);

/**
 * Is nothing under way for machine @cp: no event waits for it or its partners, no path is being
 * connected or severed, no message is outstanding?
 */
bool iucv_is_idle(const struct cp *cp);
/**
 * Give machine @cp, which has no path, the buffers and masks of machine @from of another system, and
 * its paths to services, which have as many ids left.  @from is idle.
 */
void iucv_take_over(struct cp *cp, const struct cp *from);

#endif
