/* SPDX-License-Identifier: MIT */
/* DEFSEG, SAVESEG, PURGE NSS, QUERY NSS. */
#include "command_check.h"
#include "zvmlab/dcss.h"

#define LIST_HEAD "OWNERID FILE TYPE CL RECS DATE  TIME     FILENAME FILETYPE ORIGINID\n"
#define MAP_HEAD \
	"FILE FILENAME FILETYPE MINSIZE  BEGPAG ENDPAG TYPE CL #USERS PARMREGS VMGROUP\n"
#define MONDCSS_LIST "*NSS    0001 NSS  R  0001 12/15 13:24:57 MONDCSS  DCSS     MAINT\n"
#define MONDCSS_MAP "0001 MONDCSS  CPDCSS     N/A    00800  009FF   SC  R  00000    N/A      N/A\n"
#define DEFINED(name, id) \
	"HCPNSD440I Saved segment " name " was successfully defined in fileid " id ".\n"
#define SAVED(name, id) \
	"HCPNSS440I Saved segment " name " was successfully saved in fileid " id ".\n"
#define HOUR ((UINT64_C(3600) * 1000000) << 12)

CASE("segment", fx_setup, fx_teardown);

TEST(query)
{
	ck_guest("Q NSS", 0, LIST_HEAD MONDCSS_LIST);
	ck_guest("Q NSS ALL", 0, LIST_HEAD MONDCSS_LIST);
	ck_guest("Q NSS 1", 0, LIST_HEAD MONDCSS_LIST);
	ck_guest("Q NSS 0001", 0, LIST_HEAD MONDCSS_LIST);
	ck_guest("Q NSS NAME MONDCSS", 0, LIST_HEAD MONDCSS_LIST);
	ck_guest("Q NSS MAP", 0, MAP_HEAD MONDCSS_MAP);
	ck_guest("Q NSS ALL MAP", 0, MAP_HEAD MONDCSS_MAP);
	ck_guest("q nss name mondcss map", 0, MAP_HEAD MONDCSS_MAP);
	ck_guest("Q NSS 1 MAP", 0, MAP_HEAD MONDCSS_MAP);
	dcss_find(fx.cp, "MONDCSS")->users = 2;
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "Q NSS MAP", 0), " R  00002 "));
	dcss_find(fx.cp, "MONDCSS")->users = 0;
}

TEST(query_bad)
{
	ck_guest("Q NSS NAME", 26, MISSING("QNS"));
	ck_guest("Q NSS NAME TOOLONGNAME", 3, INVALID("QNS", "TOOLONGNAME"));
	ck_guest("Q NSS MONDCSS", 3, INVALID("QNS", "MONDCSS"));
	ck_guest("Q NSS 0", 3, INVALID("QNS", "0"));
	ck_guest("Q NSS 10000", 3, INVALID("QNS", "10000"));
	ck_guest("Q NSS ALL USERS", 3, INVALID("QNS", "USERS"));
	ck_guest("Q NSS MAP X", 3, EXTRA("QNS", "X"));
	ck_guest("Q NSS 2", 0, "NO NSS FILES\n");
	ck_guest("Q NSS NAME NOSUCH", 44, "HCPQNS044E Saved segment NOSUCH does not exist.\n");
	ck_guest("Q NSS NAME NOSUCH MAP", 44, "HCPQNS044E Saved segment NOSUCH does not exist.\n");
}

TEST(define_save)
{
	/* CP's IPL: the time of the files that the configuration defines. */
	cp_reset(fx.cp);
	fx.tod += HOUR;
	ck_guest("defseg data 700-70f sw 710 en 711-711 sr", 0, DEFINED("DATA", "0002"));
	ck_guest("Q NSS NAME DATA", 0,
		 LIST_HEAD
		 "*NSS    0002 NSS  S  0018 12/15 14:24:57 DATA     DCSS     LINUX001\n");
	fx.tod += HOUR;
	ck_operator("SAVESEG DATA", 0, SAVED("DATA", "0002"));
	ck_guest("Q NSS", 0,
		 LIST_HEAD MONDCSS_LIST
		 "*NSS    0002 NSS  A  0018 12/15 15:24:57 DATA     DCSS     OPERATOR\n");
	ck_guest("Q NSS NAME DATA MAP", 0,
		 MAP_HEAD
		 "0002 DATA     DCSS       N/A    00700  0070F   SW  A  00000    N/A      N/A\n"
		 "0002 DATA     DCSS       N/A    00710  00710   EN  A  00000    N/A      N/A\n"
		 "0002 DATA     DCSS       N/A    00711  00711   SR  A  00000    N/A      N/A\n");
}

/* The way Linux saves a segment: the old file goes, unless somebody uses it. */
TEST(redefine)
{
	ck_guest("DEFSEG DATA 700-7FF SN\nSAVESEG DATA", 0,
		 DEFINED("DATA", "0002") SAVED("DATA", "0002"));
	ck_guest("DEFSEG DATA 700-7FF ER RSTD LOADNSHR SECURE", 0, DEFINED("DATA", "0003"));
	ck_guest("Q NSS NAME DATA MAP", 0,
		 MAP_HEAD
		 "0002 DATA     DCSS       N/A    00700  007FF   SN  A  00000    N/A      N/A\n"
		 "0003 DATA     DCSS       N/A    00700  007FF   ER  S  00000    N/A      N/A\n");
	ck_guest("SAVESEG DATA", 0, SAVED("DATA", "0003"));
	ck_guest("Q NSS NAME DATA", 0,
		 LIST_HEAD
		 "*NSS    0003 NSS  R  0257 12/15 13:24:57 DATA     DCSS     LINUX001\n");
}

TEST(records)
{
	/* More pages than RECS has digits for; all types but the saved ones count as none. */
	ck_guest("DEFSEG A 800-803 SW 804 EW 805-806 SR 807 ER 808 SN 809 SC", 0,
		 DEFINED("A", "0002"));
	ck_guest("Q NSS NAME A", 0,
		 LIST_HEAD "*NSS    0002 NSS  S  0009 12/15 13:24:57 A        DCSS     LINUX001\n");
}

TEST_LOOP(define_bad, 0, 16)
{
	static const struct { const char *text; int rc; const char *reply; } cases[] = {
		{ "DEFSEG", 26, MISSING("NSD") },
		{ "DEFSEG A", 26, MISSING("NSD") },
		{ "DEFSEG A 700-7FF", 26, MISSING("NSD") },
		{ "DEFSEG TOOLONGNAME 700-7FF SR", 3, INVALID("NSD", "TOOLONGNAME") },
		{ "DEFSEG A 700-7FF XX", 3, INVALID("NSD", "XX") },
		{ "DEFSEG A 7FF-700 SR", 3, INVALID("NSD", "7FF-700") },
		{ "DEFSEG A 7G0-7FF SR", 3, INVALID("NSD", "7G0-7FF") },
		{ "DEFSEG A -7FF SR", 3, INVALID("NSD", "-7FF") },
		{ "DEFSEG A 700- SR", 3, INVALID("NSD", "700-") },
		{ "DEFSEG A RSTD", 3, INVALID("NSD", "RSTD") },
		{ "DEFSEG A 700-7FF SR SPACE B", 3, INVALID("NSD", "SPACE") },
		{ "DEFSEG A 1FFFFFFFF SR", 3, INVALID("NSD", "1FFFFFFFF") },
		{ "DEFSEG A 1 SR 2 SR 3 SR 4 SR 5 SR 6 SR 7 SR", 3, INVALID("NSD", "7") },
		{ "DEFSEG A 700-7FF SR 7FF-800 SR", 435, NULL },
		{ "DEFSEG A F00-1000 SR", 435, NULL },
		{ "DEFSEG A FFFFFFFF SR", 435, NULL },
	};
	const char *reply = run_as(CPCMD_GUEST, cases[_i].text, cases[_i].rc);

	if (cases[_i].reply)
		ck_assert_str_eq(reply, cases[_i].reply);
	else
		ck_assert_mem_eq(reply, "HCPNSD435E segment A ", 21);
	ck_assert_ptr_null(dcss_find(fx.cp, "A"));
}

TEST(save_bad)
{
	ck_guest("SAVESEG", 26, MISSING("NSS"));
	ck_guest("SAVESEG TOOLONGNAME", 3, INVALID("NSS", "TOOLONGNAME"));
	ck_guest("SAVESEG MONDCSS X", 3, EXTRA("NSS", "X"));
	ck_guest("SAVESEG NOSUCH", 44, "HCPNSS044E Saved segment NOSUCH does not exist.\n");
	ck_guest("SAVESEG MONDCSS", 435,
		 "HCPNSS435E segment MONDCSS cannot be saved: define it first\n");
	ck_guest("DEFSEG A 700 SR", 0, DEFINED("A", "0002"));
	ck_guest("DEFSEG A 700 SR", 435,
		 "HCPNSD435E segment A is defined but not saved: save or purge it first\n");
}

TEST(purge)
{
	ck_guest("PURGE NSS NOSUCH", 0, "NO FILES PURGED\n");
	ck_guest("DEFSEG A 700 SR\nPUR NSS A", 0, DEFINED("A", "0002") "0001 FILE PURGED\n");
	ck_guest("PURGE NSS NAME MONDCSS", 0, "0001 FILE PURGED\n");
	ck_guest("Q NSS", 0, "NO NSS FILES\n");
	ck_guest("Q NSS MAP", 0, "NO NSS FILES\n");
	ck_guest("PURGE", 26, MISSING("PUR"));
	ck_guest("PURGE SYS", 3, INVALID("CSU", "SYS"));
	ck_guest("PURGE NSS", 26, MISSING("PUR"));
	ck_guest("PURGE NSS NAME", 26, MISSING("PUR"));
	ck_guest("PURGE NSS NAME A B", 3, EXTRA("PUR", "B"));
	ck_guest("PURGE NSS TOOLONGNAME", 3, INVALID("PUR", "TOOLONGNAME"));
}

TEST(purge_in_use)
{
	struct dcss *segment = dcss_find(fx.cp, "MONDCSS");

	dcss_use(fx.cp, segment, 1);
	ck_guest("PURGE NSS MONDCSS", 0, "0001 FILE PENDING PURGE\n");
	ck_guest("Q NSS MAP", 0,
		 MAP_HEAD
		 "0001 MONDCSS  CPDCSS     N/A    00800  009FF   SC  P  00001    N/A      N/A\n");
	dcss_use(fx.cp, segment, -1);
	ck_guest("Q NSS", 0, "NO NSS FILES\n");
}

/* Far more files than there are entries for their origin. */
TEST(many)
{
	for (unsigned int i = 0; i < 3 * CP_MAX_SEGMENTS; i++)
		run_as(CPCMD_GUEST, "DEFSEG A 700-7FF SR\nSAVESEG A", 0);
	ck_guest("Q NSS NAME A", 0,
		 LIST_HEAD "*NSS    0097 NSS  A  0257 12/15 13:24:57 A        DCSS     LINUX001\n");
	ck_guest("PURGE NSS MONDCSS", 0, "0001 FILE PURGED\n");
	for (unsigned int i = 1; i < CP_MAX_SEGMENTS; i++) {
		char text[] = "DEFSEG SEG0000 700 SR";

		text[12] = (char)('0' + i / 10);
		text[13] = (char)('0' + i % 10);
		run_as(CPCMD_OPERATOR, text, 0);
	}
	ck_guest("DEFSEG B 700 SR", 435,
		 "HCPNSD435E segment B cannot be defined: 32 segments exist, purge one first\n");
	ck_guest("Q NSS NAME SEG0031", 0,
		 LIST_HEAD "*NSS    0128 NSS  S  0002 12/15 13:24:57 SEG0031  DCSS     OPERATOR\n");
}
