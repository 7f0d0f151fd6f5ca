/* SPDX-License-Identifier: MIT */
/*
 * What an emulator and the process that has CP for a system say to each other.  Both are of one
 * build and one machine; what comes from the other side is checked all the same.
 *
 * The emulator connects to the system's socket (SOCK_SEQPACKET) and sends a struct member_hello,
 * with a descriptor of guest storage.  The answer is a struct member_welcome: one sentence, or the
 * descriptors of enum member_fd.  From then on the socket tells of the end of either side, and by a
 * struct member_window, with the descriptor of its pages, of a segment that is in the machine's
 * storage now, or no more.  That happens in the machine's own calls, which load so many and no more,
 * and it is there before the reply.
 *
 * A call: the emulator fills in page->call, counts it, and waits until as many are replied to; there
 * is one at a time, for the emulator has its lock.  Both sides look at the other one's count, and a
 * descriptor is made readable only for a side that has said that it waits for it.
 *
 * A notice: the process sets bits in page->notices, and makes MEMBER_NOTICE readable unless the machine
 * is waiting for a reply, after which it looks by itself, or looks anyway because its CPU has nothing
 * else to do.  If its CPUs are at work, that has a moment's time: the next call may come before.
 * Nothing of it can overflow, so the process never waits for a machine.
 *
 * An offer: the interruption that the machine would get if it asked for one, and nothing else has
 * happened since.  It takes it by changing the offer's state, which is a call without a reply: the
 * process looks at that before anything else happens in the system, and withdraws what is not taken.
 *
 * Whoever has a call's reply, or has taken an offer, applies the notices that are there before it
 * goes on: what CP has stored into the machine's storage is known before the interruption that tells
 * the guest of it.
 */
#ifndef CP_MEMBER_H
#define CP_MEMBER_H

#include <stdint.h>

#include "zvmlab/config.h"
#include "zvmlab/cp.h"
#include "zvmlab/host.h"

/** The last character is the version. */
#define MEMBER_MAGIC "ZVMLMEM9"
#define MEMBER_MAGIC_LEN 8u
/** Longest hello: all options. */
#define MEMBER_HELLO_MAX (128u << 10)
/** Longest sentence, its NUL included. */
#define MEMBER_SENTENCE_MAX 512u
/** Stored ranges and changed pages that wait for the machine; a power of 2. */
#define MEMBER_RING 1024u

/** In member_hello.can: what of struct cp_host an emulator need not have. */
enum {
	MEMBER_CAN_PAGE = 1,	/**< page_changed, external */
	MEMBER_CAN_CPUS = 2,
	MEMBER_CAN_MACHINE = 4,
	MEMBER_CAN_DEVICES = 8,	/**< devices_changed, reader_ready */
	MEMBER_CAN_SCLP = 16,
	MEMBER_CAN_CONSOLE = 32
};

struct member_hello {
	char magic[MEMBER_MAGIC_LEN];
	uint64_t ram_size;	/**< bytes of guest storage, whole pages */
	uint64_t tod;		/**< of the machine, which stands still until MEMBER_CLOCK */
	uint64_t can;		/**< MEMBER_CAN_…; CP asks for nothing else */
	char options[];		/**< key, NUL, value, NUL; as cp_port_set() takes them */
};

struct member_welcome {
	char magic[MEMBER_MAGIC_LEN];
	uint64_t highest;		/**< cp_highest_address() */
	uint64_t turn_ns;		/**< machines take turns of that length: MEMBER_TURN; 0: none */
	char refused[MEMBER_SENTENCE_MAX];	/**< why, with a NUL; "": welcome */
};

struct member_window {
	uint64_t addr, len, offset;	/**< as in struct cp_window */
	uint32_t shown;			/**< a descriptor has come with it */
	uint32_t stored;
};

enum member_fd {
	MEMBER_PAGE,		/**< memfd: struct member_page */
	MEMBER_CALL,		/**< eventfds: member_sides.process_waits … */
	MEMBER_REPLY,		/**< … and machine_waits */
	MEMBER_NOTICE,
	MEMBER_FDS
};

enum member_function {
	MEMBER_IUCV,
	MEMBER_DIAGNOSE,	/**< r1, r3, code */
	MEMBER_STSI,		/**< block */
	MEMBER_STHYI,		/**< r1, r3: second operand; block */
	MEMBER_CPU_ID,		/**< value */
	MEMBER_INCREMENTS,	/**< value, end: struct cp_increments */
	MEMBER_SCLP,		/**< code: command, length: a page, block; block */
	MEMBER_PENDING,		/**< value */
	MEMBER_TAKE,		/**< value, more */
	MEMBER_EXTERNAL,	/**< value, more, external */
	MEMBER_PAGE_ACCESS,	/**< address; value: enum cp_access, more: it is out, end */
	MEMBER_PAGE_FAULT,	/**< address, psw, enabled; value: enum cp_paging */
	MEMBER_PAGE_HELD,	/**< value */
	MEMBER_RESET,
	MEMBER_RESET_CPU,
	MEMBER_CPU_ORDERED,	/**< r1: enum cp_order, device: the CPU that gives it */
	MEMBER_CPU_WAITS,	/**< gr: halves of the PSW */
	MEMBER_IPL,
	MEMBER_TIMER,
	MEMBER_HAS_DEVICE,	/**< device; value */
	MEMBER_UNIT_WAY,	/**< device, code: command; value: enum cp_unit_way */
	MEMBER_UNIT_LENGTH,	/**< device, code; value */
	/** device, code, length: or room, block, enabled: enum member_unit; value: status, sense: its
	 * bytes, the first in front, more: it has more, length, block */
	MEMBER_UNIT,
	MEMBER_TYPE,		/**< length, block; value: how many were taken */
	MEMBER_HAS_LINE,	/**< value */
	MEMBER_SHOWN,		/**< value: bytes that follow these, length, block */
	MEMBER_CLOCK,		/**< enabled: the machine runs */
	MEMBER_ENDS,		/**< the emulator is about to end: until then nobody else has a turn */
	/** Its turn is over, or has not begun: the reply, which may be late, is the next one, and value
	 * how many ns that has. */
	MEMBER_TURN,
	MEMBER_IMAGE,		/**< length, block: the next bytes of an image, for … */
	MEMBER_LOAD,		/**< … cp_load_machine(); value: 0, or minus its result; block: why */
	MEMBER_FUNCTIONS
};

/** Of struct cp_unit_io. */
enum member_unit { MEMBER_UNIT_CHAINED = 1, MEMBER_UNIT_AGAIN = 2, MEMBER_UNIT_MORE = 4 };

struct member_call {
	uint32_t function, cpu;
	uint64_t tod;			/**< of the machine, now */
	uint64_t gr[16];
	uint64_t asce, address, psw;
	uint32_t r1, r3, code, device, length;
	uint8_t problem, amode, dat, enabled;
	uint32_t prefix[CP_MAX_CPUS];	/**< counts until the machine's next call */
};

/** Apart from each other: each side writes its own. */
struct member_sides {
	/** By the machine: its calls, modulo 2^32. */
	uint32_t called __attribute__((aligned(64)));
	uint32_t machine_waits;		/**< make MEMBER_REPLY readable for the next reply */
	/** By the process: what was called when it took the call of the last reply. */
	uint32_t replied __attribute__((aligned(64)));
	uint32_t process_waits;		/**< make MEMBER_CALL readable for the next call */
};

struct member_reply {
	uint32_t how;			/**< enum cp_disposition … */
	uint32_t cc, pgm;		/**< … and the rest of struct cp_result */
	uint32_t pause;			/**< cp_calls.needs_pause() */
	uint64_t gr[16];
	uint64_t value, end;
	uint32_t more, length, sense;
	uint32_t external_code, external_subcode, external_parameter32;
	uint64_t external_parameter;
};

/** In member_notices.flags. */
enum {
	MEMBER_TIMER_SET = 1,		/**< member_notices.timer */
	MEMBER_STORAGE_CHANGED = 2,	/**< rights, and which segments are in storage */
	MEMBER_ALL_STORED = 4,		/**< the ring was full: all of storage may have changed */
	MEMBER_CPUS_CHANGED = 8,	/**< member_notices.cpus */
	MEMBER_CONSOLE = 16,		/**< its console has something to show: MEMBER_SHOWN */
	MEMBER_DEVICES_CHANGED = 32,	/**< MEMBER_HAS_DEVICE says which there are */
	MEMBER_READER_READY = 64,	/**< device end at its readers */
	MEMBER_REQUEST = 128,		/**< shifted left by enum cp_machine_request */
};

enum member_change { MEMBER_STORED, MEMBER_PAGE_OUT, MEMBER_PAGE_IN };

struct member_range {
	uint64_t address;		/**< guest absolute */
	uint32_t length;
	uint32_t what;			/**< enum member_change */
};

/** Written by the process while the machine reads; the two numbers by one side each. */
struct member_notices {
	uint64_t kicks, externals;	/**< CPUs, bit 0 is CPU 0 */
	uint64_t cpus;			/**< that the guest has, bit 0 is CPU 0 */
	uint64_t timer;			/**< TOD; 0: none */
	uint32_t flags;
	uint32_t looks;			/**< by the machine: it looks by itself … */
	uint64_t busy;			/**< … and so do these CPUs, before they wait for anything */
	uint32_t put, taken;		/**< ranges, since the beginning; modulo 2^32 */
	struct member_range ring[MEMBER_RING];
};

/** In member_offer.state, below the offer's number. */
enum { MEMBER_NO_OFFER, MEMBER_OFFERED, MEMBER_TAKEN, MEMBER_OFFER_STATES = 4 };

/**
 * Written by the process while there is none; the machine changes the state from offered to taken,
 * and writes the time before that.
 */
struct member_offer {
	/** The number, which each one has for itself, times MEMBER_OFFER_STATES, and MEMBER_OFFERED … */
	uint32_t state __attribute__((aligned(64)));
	uint32_t cpu;			/**< whose interruption it is */
	uint64_t address;		/**< absolute and real */
	uint8_t image[CP_INTERRUPTION_SIZE];	/**< what the machine stores there, within a page */
	uint32_t more;			/**< another one is pending for the CPU then */
	uint64_t tod;			/**< by the machine: of its clock */
};

struct member_page {
	struct member_sides sides;
	struct member_offer offer;
	struct member_call call;
	struct member_reply reply;
	uint8_t block[CP_PAGE_SIZE];	/**< of call or reply */
	struct member_notices notices;
};

#endif
