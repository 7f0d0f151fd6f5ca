/* SPDX-License-Identifier: MIT */
/*
 * Where IUCV's parameter list and interruption buffer have their fields, by the names of CP
 * Programming Services.  Written down here from the forms that Linux gives them, so that the
 * tests do not take them from the code under test.
 */
#ifndef IUCV_FIELDS_H
#define IUCV_FIELDS_H

enum {
	IPMASK = 0,	/* SET MASK, SET CONTROL MASK */
	IPPATHID = 0,	/* 2 */
	IPFLAGS1 = 2,
	IPRCODE = 3,
	IPTYPE = 3,	/* interruption */
	IPMSGLIM = 4,	/* 2, of connections */
	IPMSGID = 4,	/* 4 */
	IPVMID = 8,	/* 8, of connections */
	IPTRGCLS = 8,	/* 4 */
	IPAUDIT = 8,	/* 3, of what is complete */
	IPRMMSG = 12,	/* 8, with IPRMDATA */
	IPBFADR1 = 12,	/* 4 */
	IPBFLN1F = 16,	/* 4 */
	IPUSER = 16,	/* 16, of connections */
	IPSRCCLS = 20,	/* 4 */
	IPMSGTAG = 24,	/* 4 */
	IPBFADR2 = 28,	/* 4 */
	IPTARGET = 32,	/* 8, of CONNECT */
	IPBFLN2F = 32,	/* 4 */
	IPPOLLFG = 36,	/* interruption */
};

/* An entry of a list of areas (IPBUFLST). */
enum {
	AREA_ADDRESS = 0,	/* 4 */
	AREA_LENGTH = 4,	/* 4 */
	AREA_ENTRY = 8,		/* size */
};

/* A message of *MSG, as Linux's smsgiucv reads it. */
enum {
	MSG_SENDER = 0,	/* 8: user ID */
	MSG_TEXT = 8,
};

#endif
