/* SPDX-License-Identifier: MIT */
/*
 * What the files of IUCV share; nothing else includes it.
 *
 * A path is two struct iucv_path, one on each side.  A message hangs on the
 * path of its sender and, by its state, on one queue of a user.  Everything
 * that waits to be told to a user is a struct iucv_node inside the thing it
 * tells of, so that an event goes when its cause goes.
 */
#ifndef IUCV_PRIVATE_H
#define IUCV_PRIVATE_H

#include "cp_private.h"
#include "zvmlab/fault.h"
#include "zvmlab/iucv.h"

#define IUCV_TYPES 10			/* enum iucv_type, from 1 */
#define IUCV_DUPLICATES 64		/* duplicated interruptions that can wait at a time */
#define IUCV_DISPATCH_MAX (1u << 17)	/* events handed out by one entry point */
#define IUCV_PURGED_MAX 255u		/* purged messages remembered for each path */
#define IUCV_LIST_MAX 16384		/* entries of a buffer or answer list */
#define IUCV_MESSAGES_MAX (1u << 24)
#define IUCV_LENGTH_MAX 0x7fffffffu	/* lengths are signed, addresses have 31 bits */
#define IUCV_MESSAGE_MAX (8u << 20)	/* bytes one instruction moves: the machine stands still meanwhile */
#define IUCV_ALL_MASKS 0xf8

/* IPRCODEs and audit bits of CP that no Linux header names: docs/choices.md. */
#define IUCV_PARTNER_PROTECTION 0x06
#define IUCV_PARTNER_ADDRESSING 0x07
#define IUCV_AUDIT_ANSWER_SHORT 0x800000u
#define IUCV_AUDIT_SEND_PROTECTION 0x400000u
#define IUCV_AUDIT_SEND_ADDRESSING 0x200000u
#define IUCV_AUDIT_ANSWER_PROTECTION 0x100000u
#define IUCV_AUDIT_ANSWER_ADDRESSING 0x080000u

#define iucv_container(pointer, type, member) \
	((type *)(void *)((char *)(pointer) - offsetof(type, member)))

struct iucv_link {
	struct iucv_link *next, *prev;
	struct iucv_list *list;		/* NULL: on none */
};

struct iucv_list {
	struct iucv_link *first, *last;
};

static inline void iucv_append(struct iucv_list *list, struct iucv_link *link)
{
	assert(!link->list);
	link->list = list;
	link->next = NULL;
	link->prev = list->last;
	if (list->last)
		list->last->next = link;
	else
		list->first = link;
	list->last = link;
}

static inline void iucv_prepend(struct iucv_list *list, struct iucv_link *link)
{
	assert(!link->list);
	link->list = list;
	link->prev = NULL;
	link->next = list->first;
	if (list->first)
		list->first->prev = link;
	else
		list->last = link;
	list->first = link;
}

static inline void iucv_unlink(struct iucv_link *link)
{
	struct iucv_list *list = link->list;

	if (!list)
		return;
	if (link->prev)
		link->prev->next = link->next;
	else
		list->first = link->next;
	if (link->next)
		link->next->prev = link->prev;
	else
		list->last = link->prev;
	link->list = NULL;
}

enum iucv_node_kind { IUCV_NODE_MESSAGE, IUCV_NODE_CONTROL, IUCV_NODE_DUPLICATE };

/* Something that waits to be told to a user. */
struct iucv_node {
	struct iucv_link link;
	uint64_t seq;		/* order of arrival; 0: first; held back: what has to go before */
	uint8_t kind, type;
	uint8_t xor_offset, xor_value;	/* FAULT_CORRUPT */
};

/* FAULT_DUPLICATE: the interruption as it was when it was queued. */
struct iucv_duplicate {
	struct iucv_node node;
	uint8_t image[IUCV_EVENT_SIZE];
};

enum iucv_message_state {
	IUCV_MSG_FREE,
	IUCV_MSG_SENT,		/* nothing of it has been received */
	IUCV_MSG_PARTIAL,	/* some of it has been received */
	IUCV_MSG_RECEIVED,	/* waits for REPLY */
	IUCV_MSG_DONE,		/* waits for its sender to be told */
	IUCV_MSG_PURGED,	/* the target knows the id and has still to be told */
};

struct iucv_message {
	struct iucv_link by_path;	/* on a list of from */
	struct iucv_link by_user;	/* SENT: of the target; DONE: of the sender */
	struct iucv_node event;
	struct iucv_path *from;
	struct iucv_path *to;		/* NULL: the target has severed */
	uint32_t id, trgcls, srccls, msgtag;
	uint32_t received;		/* bytes moved to the target */
	uint32_t residual;		/* DONE: unused bytes of the answer area */
	uint32_t audit;
	uint8_t state;
	uint8_t flags;			/* IPRMDATA, IPPRTY, IPNORPY of SEND */
	bool told;			/* the target may know the id */
	bool rmreply;			/* DONE: rmmsg is the answer */
	int cpu;			/* whose prefix the addresses below go by */
	uint8_t rmmsg[8];
	struct iucv_area buffer, answer;
	void *owned[2];			/* areas that came with a loaded image */
};

/* The part of a path with all that SEND, interruption and REPLY need. */
struct iucv_path {
	struct iucv_user *user;
	struct iucv_path *partner;	/* NULL: severed by the partner */
	struct iucv_list sent[2];	/* sent by this side, by iucv_class() */
	struct iucv_list rest;		/* sent by this side, received or done */
	struct iucv_list gone;		/* sent and purged by this side */
	uint16_t id;
	uint16_t msglim;		/* outstanding messages this side may have sent */
	uint16_t outstanding;
	uint16_t purged;		/* on gone, up to IUCV_PURGED_MAX */
	uint8_t state;			/* enum iucv_path_state */
	uint8_t flags;			/* IPRMDATA, IPPRTY, IPQUSCE of CONNECT or ACCEPT */
	bool quiesced;			/* by this side: the partner must not send */
};

struct iucv_control {
	struct iucv_node node;
	uint16_t path;
	uint8_t ipuser[16];
};

/* One slot for connection pending, complete and severed: they exclude each other. */
enum iucv_slot { IUCV_SLOT_CONNECTION, IUCV_SLOT_QUIESCED, IUCV_SLOT_RESUMED, IUCV_SLOTS };

/* The rest of a path. */
struct iucv_path_cold {
	struct iucv_control control[IUCV_SLOTS];
	char partner[9];
	bool target;			/* CONNECT by the partner, not accepted yet */
	bool told;			/* connection pending has been presented */
};

#define IUCV_ID_WORDS 1024		/* of 64 path ids each */

struct iucv_user {
	struct iucv *iucv;
	struct iucv_machine *machine;	/* NULL: plays on the host, a peer or a service */
	struct cp *home;		/* the machine; or whose peer it is, which is private to it */
	const struct iucv_user_ops *ops;
	void *opaque;
	struct iucv_list queue[IUCV_TYPES];
	struct iucv_list held;		/* FAULT_DELAY, FAULT_REORDER */
	struct iucv_list sent[2], done[2];	/* messages to it; its own, by iucv_class() */
	struct iucv_link turn;		/* host users with something to be told */
	struct iucv_path *path;
	struct iucv_path_cold *cold;
	uint32_t max_paths, paths;
	uint32_t limit;			/* paths but the harness' own: the guest has an id more */
	uint32_t waiting;
	uint16_t ready;			/* bit n: queue[n] is not empty */
	char name[9];
	bool loaded;		/* came with an image and has not been attached */
	bool own;		/* a service of this CP, not a peer; it has no home */
	uint64_t summary[IUCV_ID_WORDS / 64];	/* bit n: word n of free_id is not 0 */
	uint64_t free_id[IUCV_ID_WORDS];
};

struct iucv_cpu {
	bool declared;
	uint32_t buffer;
	uint8_t mask, control_mask;
	uint16_t types;		/* bit n: may take enum iucv_type n */
};

/* What only a user has that is a virtual machine: its storage, interrupt buffers and masks. */
struct iucv_machine {
	struct cp *cp;
	struct iucv_user *user;
	struct iucv_cpu cpu[CP_MAX_CPUS];
	uint64_t declared;		/* bit n: CPU n has a buffer */
	uint64_t enabled[IUCV_TYPES];	/* bit n: CPU n may take the type */
	/* Calls that named no path of the guest's; a count of what was, no part of the state. */
	uint64_t strays;
	enum iucv_function last_stray;
};

struct iucv {
	struct cp_system *system;
	/* Machines as they logged on, services, peers as they logged on. */
	struct iucv_user *user[IUCV_MAX_USERS];
	unsigned int users, machines;
	unsigned int in_image;		/* saving and loading: the first so many are in it */
	struct iucv_list turns;
	bool dispatching;
	uint64_t seq;
	struct iucv_message *message;
	uint32_t messages, used;	/* blocks; those below used have been in use */
	unsigned int index_bits;
	struct iucv_list free;
	struct iucv_list spare;		/* struct iucv_duplicate */
	struct iucv_duplicate duplicate[IUCV_DUPLICATES];
};

/* On whose behalf a function is carried out. */
struct iucv_caller {
	struct iucv *iucv;
	struct iucv_user *user;
	int cpu;		/* CP_ABSOLUTE: not a CPU of the guest */
	uint16_t limit;		/* FAULT_LIMIT */
};

static inline struct iucv_result iucv_cc(uint8_t cc)
{
	assert(cc <= 3);
	return (struct iucv_result){ .cc = cc };
}

static inline struct iucv_result iucv_error(uint8_t code)
{
	return (struct iucv_result){ .cc = 1, .code = code };
}

static inline struct iucv_result iucv_program(uint16_t pgm)
{
	assert(pgm != 0);
	return (struct iucv_result){ .pgm = pgm };
}

static inline bool iucv_is_machine(const struct iucv_user *user)
{
	return user->machine != NULL;
}

/* Does @user exist for @by?  Peers are private to their machine, and know no other. */
static inline bool iucv_knows(const struct iucv_user *by, const struct iucv_user *user)
{
	return by->own || user->own || user->home == by->home || (by->machine && user->machine);
}

/* Index of priority (0) and other (1) messages in pairs of lists. */
static inline unsigned int iucv_class(const struct iucv_message *m)
{
	return m->flags & IPPRTY ? 0 : 1;
}

static inline struct iucv_path *iucv_path_find(const struct iucv_user *user, uint32_t id)
{
	if (id >= user->max_paths || user->path[id].state == IUCV_PATH_FREE)
		return NULL;
	assert(user->path[id].user == user && user->path[id].id == id);
	return &user->path[id];
}

static inline struct iucv_path_cold *iucv_path_cold(const struct iucv_path *path)
{
	assert(path->id < path->user->max_paths && &path->user->path[path->id] == path);
	return &path->user->cold[path->id];
}

/* iucv_parm.c */
/* The event that @image describes; @type if its own is none. */
void iucv_event_decode(const uint8_t image[IUCV_EVENT_SIZE], enum iucv_type type,
		       struct iucv_event *event);
void iucv_decode(enum iucv_function function, const uint8_t image[IUCV_PARM_SIZE],
		 struct iucv_parm *parm);
void iucv_store(struct cp *cp, int cpu, uint64_t addr, enum iucv_function function,
		const struct iucv_parm *parm, const struct iucv_result *result,
		uint8_t image[IUCV_PARM_SIZE]);

/* The message whose event @node is. */
static inline struct iucv_message *iucv_node_message(struct iucv_node *node)
{
	assert(node->kind == IUCV_NODE_MESSAGE);
	return iucv_container(node, struct iucv_message, event);
}

/* iucv_event.c */
const char *iucv_partner_name(const struct iucv_path *path);
enum iucv_slot iucv_slot_of(enum iucv_type type);
void iucv_event_fill(const struct iucv_user *user, struct iucv_node *node,
		     struct iucv_event *event);
/* The event can be taken from now on. */
void iucv_event_link(struct iucv_user *user, struct iucv_node *node);
/* @further events have to be presented to @user before @node is: seq counts them down. */
void iucv_event_hold(struct iucv_user *user, struct iucv_node *node, uint32_t further);
/* The copy does not depend on its cause any more.  No copy if too many wait. */
void iucv_event_duplicate(struct iucv_user *user, struct iucv_node *node);
void iucv_event_drop(struct iucv_user *user, struct iucv_node *node);
void iucv_control_drop(struct iucv_path *path, enum iucv_slot slot);
struct iucv_node *iucv_event_first(const struct iucv_user *user, uint16_t types);
/* @node is about to be told to @user, for whom others are held back. */
void iucv_event_told(struct iucv_user *user, struct iucv_node *node);

/* iucv_fault.c */
/* What is to become of an event that is about to be queued. */
enum iucv_event_fate {
	IUCV_EVENT_DELIVER,
	IUCV_EVENT_DROP,
	IUCV_EVENT_HOLD,	/* until @further others have been presented */
	IUCV_EVENT_TWICE,
	IUCV_EVENT_SEVER,	/* CP severs the path with @code instead */
	IUCV_EVENT_CORRUPT,	/* by the exclusive-or of a byte */
};
struct iucv_verdict {
	enum iucv_event_fate what;
	uint32_t further;
	uint8_t code, xor_offset, xor_value;
};
/* Asks for a fault; of the guest or a peer. */
struct iucv_verdict iucv_event_verdict(const struct iucv_path *path, enum iucv_type type);

/* iucv_queue.c */
void iucv_event_queue(struct iucv_path *path, struct iucv_node *node, enum iucv_type type);
void iucv_control_queue(struct iucv_path *path, enum iucv_type type, const uint8_t ipuser[16]);
/* @node has been told to @user. */
void iucv_event_consume(struct iucv_user *user, struct iucv_node *node);
void iucv_path_sever(struct iucv_path *path, const uint8_t ipuser[16]);
/* CP itself severs: both sides are told, and each has still to sever its own. */
void iucv_path_break(struct iucv_path *path, uint8_t code);
/* The target is done with @m: tell the sender. */
void iucv_message_done(struct iucv_message *m, uint32_t audit);
/* The target has learned of @m by an interruption or DESCRIBE. */
void iucv_message_told(struct iucv_message *m);

/* iucv_buffer.c */
void iucv_cpu_changed(struct iucv_machine *machine, unsigned int cpu);
void iucv_cpu_clear(struct iucv_machine *machine, unsigned int cpu);
struct iucv_result iucv_declare(const struct iucv_caller *by, const struct iucv_parm *parm);
struct iucv_result iucv_retrieve(const struct iucv_caller *by);
struct iucv_result iucv_set_mask(const struct iucv_caller *by, const struct iucv_parm *parm,
				 bool control);

/* iucv_path.c */
void iucv_path_take(struct iucv_user *user, uint32_t id);
/* With the lowest id that the user has severed, or never had; NULL if it has none left. */
struct iucv_path *iucv_path_new(struct iucv_user *user);
void iucv_path_free(struct iucv_path *path);

/* iucv_connect.c */
struct iucv_result iucv_connect(const struct iucv_caller *by, struct iucv_parm *parm);
struct iucv_result iucv_accept(const struct iucv_caller *by, struct iucv_parm *parm);

/* iucv_sever.c */
void iucv_sever_all(struct iucv_user *user, const uint8_t ipuser[16]);
struct iucv_result iucv_sever(const struct iucv_caller *by, const struct iucv_parm *parm);
struct iucv_result iucv_quiesce(const struct iucv_caller *by, const struct iucv_parm *parm,
				bool quiesce);

/* iucv_message.c */
struct iucv_message *iucv_message_alloc(struct iucv *iucv);
void iucv_message_free(struct iucv_message *m);
struct iucv_user *iucv_message_listener(const struct iucv_message *m);
struct iucv_message *iucv_message_find(const struct iucv *iucv, uint32_t id);
struct iucv_list *iucv_message_path_list(const struct iucv_message *m);
struct iucv_list *iucv_message_user_list(const struct iucv_message *m);
void iucv_message_enter(struct iucv_message *m, enum iucv_message_state state);

/* iucv_send.c */
struct iucv_result iucv_send(const struct iucv_caller *by, struct iucv_parm *parm);
struct iucv_result iucv_describe(const struct iucv_caller *by, struct iucv_parm *parm);
struct iucv_result iucv_test_message(const struct iucv_caller *by);

/* iucv_receive.c */
struct iucv_result iucv_receive(const struct iucv_caller *by, struct iucv_parm *parm);
struct iucv_result iucv_reply(const struct iucv_caller *by, struct iucv_parm *parm);
struct iucv_result iucv_reject(const struct iucv_caller *by, struct iucv_parm *parm);

/* iucv_complete.c */
struct iucv_result iucv_test_completion(const struct iucv_caller *by, struct iucv_parm *parm);
struct iucv_result iucv_purge(const struct iucv_caller *by, struct iucv_parm *parm);

/* iucv_area.c */
#define IUCV_AREA_LENGTH 0xffff	/* an entry of a list is negative, or there are too many */
struct iucv_end {
	const struct iucv_user *user;	/* in whose storage an area of a machine lies */
	int cpu;
	const struct iucv_area *area;
	uint32_t skip;
};
struct iucv_moved {
	uint16_t from, to;	/* 0, a program-interruption code or IUCV_AREA_LENGTH */
};
struct iucv_moved iucv_area_move(const struct iucv_end *from, const struct iucv_end *to,
				 uint32_t len);
/* The answer of a function whose own area cannot be used. */
struct iucv_result iucv_area_result(uint16_t status);
/* The same for the partner's area. */
uint8_t iucv_area_code(uint16_t status);

/* iucv_user.c */
struct iucv_user *iucv_user_new(struct iucv *iucv, const char *name, uint32_t max_paths);
/* Into the table, which has room, before the one at @index. */
void iucv_user_enter(struct iucv_user *user, unsigned int index);
/* It has no paths; nothing waits for it any more. */
void iucv_user_leave(struct iucv_user *user);
/* A user of that name that exists for @by; services do for everybody, and for NULL. */
struct iucv_user *iucv_user_known(struct iucv *iucv, const struct iucv_user *by, const char *name);
void iucv_user_free(struct iucv_user *user);
void iucv_user_clear(struct iucv_user *user);

#endif
