/* SPDX-License-Identifier: MIT */
/*
 * Where connections to *MONITOR, its messages, their control areas and monitor records have their
 * fields.  Written down here from what Linux's monreader sends and reads, and from IBM's record
 * descriptions (zvmlab records names the pages), so that the tests do not take them from the
 * code under test.
 */
#ifndef MONITOR_FIELDS_H
#define MONITOR_FIELDS_H

/* IPUSER of CONNECT. */
enum {
	WANTED_VERSION = 0,
	WANTED_DATA = 1,	/* enum below */
	WANTED_SEGMENT = 8,	/* 8 */
};

enum { WANT_SAMPLE = 0x80, WANT_EVENT = 0x40, WANT_BOTH = 0xc0 };

/* IPUSER of connection complete; of sever. */
enum {
	STATE_VERSION = 0,
	STATE_EVENT = 1,	/* started? */
	STATE_SAMPLE = 2,
	SEVER_REASON = 0,
};

/* IPRMMSG of a message: its control area. */
enum {
	MCA_START = 0,		/* 4 */
	MCA_END = 4,		/* 4: the last byte */
};

/* An element of a control area. */
enum {
	MCE_TYPE = 0,
	MCE_DOMAINS = 1,	/* 2 */
	MCE_RESERVED = 3,
	MCE_START = 4,		/* 4: of its records */
	MCE_END = 8,		/* 4: the last byte */
};

/* Header of a record (MRRECHDR). */
enum {
	HEADER_LENGTH = 0,	/* 2 */
	HEADER_DOMAIN = 4,
	HEADER_RECORD = 6,	/* 2 */
	HEADER_TOD = 8,		/* 8 */
	HEADER_SIZE = 20,
};

/* Fields of records: domain and number, then the field's name. */
enum {
	D0R2_PFXUTIME = 32,	/* 8: CPU time of users, D0R2_PFXTMSYS of the system */
	D0R2_PFXTMSYS = 40,	/* 8 */
	D0R2_PFXTOTWT = 68,	/* 8: wait time */
	D0R8_SYSUSRS = 20,	/* 4: users logged on */
	D1R1_EDOMAINS = 20,	/* 2: domains enabled for events */
	D1R1_CONFIG = 22,	/* 2: pages of the configuration area */
	D1R2_LENGTH = 20,	/* 4: of the command, which follows */
	D1R2_COMMAND = 24,
	D1R3_LOSTRCCT = 20,	/* 4: records lost */
	D1R4_CPUCOUNT = 152,	/* 2 */
	D1R4_CPUCFGCT = 154,	/* 2 */
	D1R5_PFXCPUAD = 20,	/* 2: CPU address */
	D1R9_INTERVAL = 20,	/* 4: seconds */
	D1R9_SDOMAINS = 28,	/* domains enabled for samples */
	D1R9_CONFIG = 32,	/* 2: pages of the configuration area */
	D1R10_CALTOD = 20,	/* 8: when the command was given */
	D1R10_CALBYCT = 28,	/* 4: length of the command, which follows */
	D1R10_COMMAND = 32,
	D1R14_PROFILE = 20,	/* E or S in EBCDIC */
	D1R14_DMNUMBER = 21,	/* domain */
	D4R3_VMDUSER = 20,	/* 8: user ID */
};

#endif
