/* SPDX-License-Identifier: MIT */
/* Giving commands and comparing replies, for the tests of the command processor. */
#ifndef COMMAND_CHECK_H
#define COMMAND_CHECK_H

#include "fixture.h"
#include "zvmlab/command.h"

/* The reply as a string; valid until the next command. */
static inline const char *run_as(enum cpcmd_issuer issuer, const char *text, int rc)
{
	static char *reply;
	const struct cpcmd_response *r = cpcmd_run(fx.cp, issuer, text, strlen(text));

	if (!reply)
		reply = unit_large(CPCMD_MAX_RESPONSE + 1);
	memcpy(reply, r->text, r->len);
	reply[r->len] = '\0';
	ck_assert_msg(r->rc == rc, "\"%s\": rc %d, not %d: %s", text, r->rc, rc, reply);
	return reply;
}

/* @text by the guest: return code and the whole reply. */
#define ck_guest(text, rc, reply) ck_assert_str_eq(run_as(CPCMD_GUEST, text, rc), reply)
#define ck_operator(text, rc, reply) ck_assert_str_eq(run_as(CPCMD_OPERATOR, text, rc), reply)

#define MISSING(module) "HCP" module "026E Operand missing or invalid\n"
#define INVALID(module, word) "HCP" module "003E Invalid option - " word "\n"
#define EXTRA(module, word) \
	"HCP" module "003E Invalid option - command contains extra option(s) starting with " word \
	"\n"
/* QUERY SET, laid out as in public captures. */
#define SETTINGS(run, smsg) \
	"MSG ON , WNG ON , EMSG ON , ACNT OFF, RUN " run "\n" \
	"LINEDIT ON , TIMER OFF , ISAM OFF, ECMODE ON\n" \
	"ASSIST OFF           , PAGEX OFF, AUTOPOLL OFF\n" \
	"IMSG ON , SMSG " smsg ", AFFINITY NONE   , NOTRANS OFF\n" \
	"VMSAVE OFF, 370E OFF\n" \
	"STBYPASS OFF , STMULTI OFF\n" \
	"MIH OFF , VMCONIO OFF , CPCONIO OFF , SVCACCL OFF , CONCEAL OFF\n" \
	"MACHINE Z, SVC76 CP, NOPDATA OFF, IOASSIST OFF\n" \
	"CCWTRAN ON , 370ACCOM OFF\n"
#define UNKNOWN(word) "HCPCMD001E Unknown CP command: " word "\n"

#endif
