/* SPDX-License-Identifier: MIT */
/* Shared by the files of the process. */
#ifndef SYSTEM_PRIVATE_H
#define SYSTEM_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cp_member.h"
#include "cp_port.h"
#include "spin.h"
#include "system_process.h"

/** Connections: members, and those that have not said who they are. */
#define SYS_STRANGERS 32u
#define SYS_CONNECTIONS (CP_MAX_MACHINES + SYS_STRANGERS)
/** Text of a console that waits for its machine; what comes when there is no room is lost. */
#define SYS_SHOWN 16384u
/** Longest image that a machine can go on from: what CP has of one that was alone. */
#define SYS_IMAGE_MAX (16u << 20)
/** Longest order. */
#define SYS_ORDER_MAX 8192u
/** Units of the TOD clock in a second. */
#define SYS_TOD_SECOND (UINT64_C(4096) * 1000000)

/** A connection, which the hello makes a machine. */
struct member {
	struct sys *sys;
	struct cp_port port;	/**< what it has said of itself; of the machine the process' view */
	int sock;		/**< -1: the slot is free */
	uint64_t since;		/**< number of the connection */
	int fd[MEMBER_FDS];	/**< -1: no machine yet */
	struct member_page *page;
	uint32_t put;		/**< of page->notices, which the machine can change */
	uint32_t prefix[CP_MAX_CPUS];
	uint64_t tod, tod_ns;	/**< its clock, and when it was so, … */
	bool runs;		/**< … if it runs */
	uint64_t can;		/**< MEMBER_CAN_…, as its hello says */
	char shown[SYS_SHOWN];	/**< by its console, which it has not taken yet */
	size_t shown_len;
	uint8_t *image;		/**< what there is so far of one that it is to go on from, or NULL */
	size_t image_len, image_size;	/**< so much of it, in so much room */
	uint64_t logon;		/**< number of its log-on, from 1 on */
	bool ends;		/**< its emulator does, in its turn, which lasts until that has gone */
	bool asks;		/**< for its turn, by a call that has no reply yet */
	bool waits;		/**< with its hello, for those that are to log on before it */
	bool broken;		/**< it cannot go on, and its connection ends */
	bool calling;		/**< the call is its own: it looks for notices by itself */
	uint32_t served;	/**< its call that has a reply, or is to have one */
	bool hopes;		/**< it is in the list of those who may be made an offer */
	bool offered;		/**< page->offer counts, with … */
	uint32_t offer;		/**< … this number: offers so far, modulo 2^30 */
	unsigned int offer_cpu;
	uint64_t offer_address;
	bool taking;		/**< CP does now what the machine has done with its offer */
	void *(*map)(void *opaque, int cpu, uint64_t addr, uint64_t len);	/**< the port's own */
	bool noticed;		/**< it is to be told that there are some, … */
	bool listed;		/**< … and is in the list of those to look at */
	uint64_t due;		/**< host's ns when it is to be told unless it has looked; 0: it need not */
};

struct epoll_event;

struct sys {
	struct cp_system *cp;
	char *path;
	uint64_t inode;
	int listen_fd, epoll, timer;
	uint64_t (*tod)(void);
	int starts;		/**< where lines ask for a user's machine, and answer orders */
	int orders;		/**< where these come from, … */
	char order[SYS_ORDER_MAX];	/**< … and what there is of the next … */
	size_t order_len;
	unsigned int expected;	/**< machines that are to log on in this order */
	char expects[CP_MAX_MACHINES][CP_NAME_LEN + 1];
	unsigned int users;	/**< in the directory, logged on or not */
	char user[CP_MAX_MACHINES][CP_NAME_LEN + 1];
	uint64_t connections, logons;
	unsigned int slots;	/**< of member[] that have ever been used */
	unsigned int caller;	/**< slot of the last call */
	unsigned int events;	/**< served since the last call */
	unsigned int due;	/**< members with something due */
	struct spin spin;	/**< for the next call */
	uint64_t turn_ns;	/**< length of a machine's turn; 0: they take none */
	uint64_t time;		/**< of turns: TOD clock of the system … */
	uint64_t alarm;		/**< … and what it is set to, or 0 */
	int clients;		/**< epoll of the control sockets */
	bool going;		/**< turns are given */
	bool told;		/**< a client, of something, since they are */
	char awaited[CP_NAME_LEN + 1];	/**< of whom it is to be told when it asks for one, or "" */
	struct member *turn;	/**< whose it is, or NULL */
	uint64_t last;		/**< log-on of the last one that had one in this round, 0: none */
	struct member *look[SYS_CONNECTIONS];	/**< who is to be told of something, or has to go */
	unsigned int looks;
	struct member *hope[SYS_CONNECTIONS];	/**< who may have an interruption pending */
	unsigned int hopes;
	struct member member[SYS_CONNECTIONS];
};

/** What an event is about. */
enum sys_source {
	SYS_STOP, SYS_LISTEN, SYS_TIMER, SYS_SOCKET, SYS_CALL, SYS_CONTROL, SYS_ORDER, SYS_CLIENTS
};

static inline struct member *member_of(void *port)
{
	return (struct member *)((char *)port - offsetof(struct member, port));
}

/** The machine's clock is at @tod now. */
static inline void member_set_clock(struct member *member, uint64_t tod, bool runs)
{
	member->tod = tod;
	member->tod_ns = spin_now_ns();
	member->runs = runs;
}

/* look.c */
/** Have epoll tell of @fd.  Return: 0 or -1. */
int sys_watch(struct sys *sys, int fd, enum sys_source source, const struct member *member);
/** Before it is closed, if others have it as well: epoll would go on telling of it. */
void sys_unwatch(const struct sys *sys, int fd);
/** There are notices for it, or it cannot go on: look at it when the event has been served. */
void member_notice(struct member *member);
void member_break(struct member *member);

/* directory.c: as in struct cp_system_host */
bool sys_in_directory(void *opaque, const char *userid);
bool sys_start(void *opaque, const char *userid);
/** A line to whoever starts machines.  Return: false if it does not listen. */
bool sys_tell(const struct sys *sys, const char *line);

/* orders.c */
void sys_ordered(struct sys *sys);
/** The same if there is an order: one that was given before something else came. */
void sys_look_for_orders(struct sys *sys);

/* turns.c, for a system whose machines take turns */
/** There are no members yet.  Return: 0, or -1 with errno. */
int sys_take_turns(struct sys *sys);
/** Give turns until a client has been told of something, or nobody runs: "stands". */
void sys_run_machines(struct sys *sys);
/** Give no more than the one that there is. */
void sys_stand(struct sys *sys);
/** Tell when this machine waits for its turn, or is not logged on: "waits", "gone". */
void sys_await(struct sys *sys, const char *userid);
/** It asks for a turn, which ends the one that it has had. */
void member_asks(struct member *member);
/** It is about to end: nobody needs to wait for it. */
void member_goes(const struct member *member);
/** It does not run any more. */
void member_stands(struct member *member);
/** A client of its control socket has been told of something; @opaque: struct member. */
void member_told(void *opaque);

/* expected.c */
/** These machines log on in this order: user IDs, with blanks between them. */
void sys_expect(struct sys *sys, const char *users);
/** Are others to log on before it? */
bool sys_must_wait(const struct sys *sys, const char *userid);
/** One that waits and need not, or NULL. */
struct member *sys_next(struct sys *sys);
/** This machine has logged on, or was refused. */
void sys_has_come(struct sys *sys, const char *userid);

/* member.c */
void member_connect(struct member *member, int sock);
/** It has said something: its hello, or what nobody asked for. */
void member_said(struct member *member);
/** Log those on that wait and need not. */
void member_admit_waiting(struct sys *sys);
/** The connection ends, and its machine logs off. */
void member_end(struct member *member);

/* host.c: what the core asks of the machine. */
void member_host(struct member *member, struct cp_host *host);
uint64_t member_absolute(const struct cp_port *port, int cpu, uint64_t addr);
/** Take text of its console, at most @size bytes.  @left: bytes that follow.  Return: its length. */
size_t member_shown(struct cp_port *port, uint8_t *to, size_t size, uint64_t *left);

/** Forget the image. */
void member_drop_image(struct member *member);

/* call.c: what the machine asks of the core. */
void member_called(struct member *member);

/* offer.c: interruptions that machines take without a call (cp_member.h) */
/** An interruption may be pending: it is to be offered when the event has been served. */
void member_hopes(struct member *member);
/** Has a machine taken an offer that CP does not know of? */
bool sys_has_taken(const struct sys *sys);
/** Before an event is served: what has been taken counts, and the rest is withdrawn. */
void sys_settle(struct sys *sys);
/** When it has been: make offers to those that have none; CP does nothing more before sys_settle(). */
void sys_offer(struct sys *sys);
/** Where the machine has stored by itself CP stores nowhere.  Return: NULL if it is somewhere else. */
void *member_stored(struct member *member, int cpu, uint64_t addr);

/* wait.c */
/**
 * Wait for what is to be served next: a machine that has called, in *@caller, else NULL; or an event;
 * or an offer that has been taken.
 *
 * Return: events in *@event, 0 or 1; or -1 with errno.
 */
int sys_wait(struct sys *sys, struct epoll_event *event, struct member **caller);
/** Its CPUs are at work: it is told of its notices in a moment, if it has not looked by then. */
void member_tell_later(struct member *member);
/** Now. */
void member_tell(struct member *member);

/* reply.c */
/** To a call that has none yet: it waits for its turn. */
void member_reply(struct member *member, const struct member_reply *reply);

#endif
