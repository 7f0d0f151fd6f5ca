/* SPDX-License-Identifier: MIT */
/* QUERY of the virtual machine and CP, TERMINAL, SET: exact replies. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "command_check.h"

/* The fixture's TOD is Tuesday 15 December 2015, 13:24:57.238528. */
#define SECOND (UINT64_C(1000000) << 12)

static const struct iucv_user_ops no_ops;

CASE("query", fx_setup, fx_teardown);

TEST(console)
{
	const char *reply = run_as(CPCMD_GUEST, "QUERY CONSOLE", 0), *subchannel;

	ck_assert_str_eq(reply,
			 "CONS 0009 ON LDEV L0009 TERM STOP\n"
			 "     0009 CL T NOCONT NOHOLD COPY 001    READY FORM STANDARD\n"
			 "     0009 TO LINUX001 PRT DIST LINUX001 FLASHC 000 DEST OFF\n"
			 "     0009 FLASH      CHAR      MDFY      0 FCB      LPP OFF\n"
			 "     0009 3215 NOEOF CLOSED    NOKEEP NOMSG NONAME\n"
			 "     0009 SUBCHANNEL = 0000\n");
	/* As Linux reads it. */
	ck_assert_uint_eq(strtoul(reply + 5, NULL, 16), 9);
	subchannel = strstr(reply, "SUBCHANNEL =");
	ck_assert_ptr_nonnull(subchannel);
	ck_assert_int_eq(subchannel[12], ' ');
	ck_assert_str_eq(subchannel + 13, "0000\n");
	ck_guest("Q CONS X", 3, EXTRA("CQV", "X"));
}

TEST(userid)
{
	ck_guest("QUERY USERID", 0, "LINUX001 AT ZVMLAB\n");
	ck_operator("QUERY USERID", 0, "LINUX001 AT ZVMLAB\n");
	ck_guest("QUERY USERID X", 3, EXTRA("CQV", "X"));
}

TEST(cplevel)
{
	const char *const reply = "z/VM Version 7 Release 3.0, service level 0000 (64-bit)\n"
				  "Generated at 2015-12-15 13:24:57 UTC\n"
				  "IPL at 2015-12-15 13:24:57 UTC\n";

	ck_guest("Q CPLEVEL", 0, reply);
	/* The guest's resets are not IPLs of CP. */
	fx.tod += 3600 * SECOND;
	cp_reset(fx.cp);
	ck_guest("Q CPLEVEL", 0, reply);
	ck_guest("Q CPLEVEL X", 3, EXTRA("CQV", "X"));
}

TEST(time)
{
	ck_guest("Q TIME", 0,
		 "TIME IS 13:24:57 UTC TUESDAY 12/15/15\n"
		 "CONNECT= 00:00:00 VIRTCPU= 000:00.00 TOTCPU= 000:00.00\n");
	fx.tod += (100 * 3600 + 61) * SECOND;
	ck_guest("Q T", 0,
		 "TIME IS 17:25:58 UTC SATURDAY 12/19/15\n"
		 "CONNECT= 100:01:01 VIRTCPU= 000:00.00 TOTCPU= 000:00.00\n");
	/* A clock that was set back. */
	fx.tod -= 200 * 3600 * SECOND;
	ck_guest("Q T", 0,
		 "TIME IS 09:25:58 UTC FRIDAY 12/11/15\n"
		 "CONNECT= 00:00:00 VIRTCPU= 000:00.00 TOTCPU= 000:00.00\n");
	ck_guest("Q TIME NOW", 3, INVALID("CQV", "NOW"));
}

/* "q time full" of s390-tools' dbginfo.sh. */
TEST(time_in_other_formats)
{
	const char *const rest = "\nCONNECT= 00:00:00 VIRTCPU= 000:00.00 TOTCPU= 000:00.00\n";
	char reply[160];

	snprintf(reply, sizeof(reply), "TIME IS 13:24:57 UTC TUESDAY 12/15/2015%s", rest);
	ck_guest("Q TIME FULLDATE", 0, reply);
	ck_guest("q time full", 0, reply);
	snprintf(reply, sizeof(reply), "TIME IS 13:24:57 UTC TUESDAY 2015-12-15%s", rest);
	ck_guest("Q TIME ISO", 0, reply);
	snprintf(reply, sizeof(reply), "TIME IS 13:24:57 UTC TUESDAY 12/15/15%s", rest);
	ck_guest("Q TIME SHORTDATE", 0, reply);
	ck_guest("Q TIME FULL X", 3, EXTRA("CQV", "X"));
}

/* The layouts are those of IBM's pages on QUERY VTOD and QUERY TRACE. */
TEST(vtod)
{
	char time[128], reply[512], sync[544];

	snprintf(time, sizeof(time), "2015-12-15 13:24:57 (%016" PRIX64 ")\n", fx.tod);
	snprintf(reply, sizeof(reply),
		 "System TOD: %sUser TOD:   %sDelta:      0000000000000000\n", time, time);
	ck_guest("Q VTOD", 0, reply);
	ck_operator("QUERY VTOD FOR LINUX001", 0, reply);
	snprintf(sync, sizeof(sync), "%sSynchronized with:\nSystem TOD\n", reply);
	ck_guest("Q VTOD SYNC", 0, sync);
	ck_operator("QUERY VTOD SYNC FOR LINUX001", 0, sync);
	ck_operator("QUERY VTOD FOR LINUX001 SYNC", 0, sync);
	ck_guest("Q VTOD SYNC X", 3, INVALID("CQV", "X"));
	ck_guest("Q VTOD NOW", 3, INVALID("CQV", "NOW"));
	/* Class A or B for others. */
	ck_guest("Q VTOD FOR LINUX001", 3, INVALID("CQV", "FOR"));
	ck_operator("Q VTOD FOR", 26, MISSING("CQV"));
	ck_operator("Q VTOD FOR LINUX001 X", 3, INVALID("CQV", "X"));
	ck_operator("Q VTOD FOR NOBODY", 53, "HCPCQV053E NOBODY not in CP directory\n");
}

TEST(trace)
{
	ck_guest("Q TRACE", 0, "No trace sets defined\n");
	ck_guest("Q TR ALL", 0, "No trace sets defined\n");
	ck_guest("Q PER RETURNS", 0, "No trace sets defined\n");
	ck_guest("Q TRACE ALL X", 3, EXTRA("CQV", "X"));
}

TEST(privclass)
{
	ck_guest("Q PRIVCLASS", 0,
		 "Privilege classes for user LINUX001\n"
		 "          Currently: EG\n"
		 "          Directory: EG\n"
		 "The privilege classes are not locked against changes.\n");
	ck_operator("Q PRIV", 0,
		    "Privilege classes for user OPERATOR\n"
		    "          Currently: ABCDEFG\n"
		    "          Directory: ABCDEFG\n"
		    "The privilege classes are not locked against changes.\n");
	ck_guest("Q PRIV LINUX001", 3, EXTRA("CQV", "LINUX001"));
}

TEST(names)
{
	char peer[] = "PEER0";

	ck_guest("Q NAMES", 0, "LINUX001 - DSC , OPERATOR - DSC\n");
	for (; peer[4] < '3'; peer[4]++)
		ck_assert_ptr_nonnull(iucv_user_create(fx.cp, peer, 1, &no_ops, NULL));
	ck_guest("Q NAMES", 0,
		 "LINUX001 - DSC , PEER0    - DSC , PEER1    - DSC , PEER2    - DSC\n"
		 "OPERATOR - DSC\n");
	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "OPERATOR", 1, &no_ops, NULL));
	ck_guest("Q NAMES", 0,
		 "LINUX001 - DSC , PEER0    - DSC , PEER1    - DSC , PEER2    - DSC\n"
		 "OPERATOR - DSC\n");
	ck_guest("Q NAMES X", 3, EXTRA("CQU", "X"));
}

TEST(users)
{
	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "PEER", 1, &no_ops, NULL));
	ck_guest("Q USER PEER", 0, "PEER     - DSC\n");
	ck_guest("q peer", 0, "PEER     - DSC\n");
	ck_guest("Q LINUX001", 0, "LINUX001 - DSC\n");
	ck_guest("Q OPERATOR", 0, "OPERATOR - DSC\n");
	ck_guest("Q U NOBODY", 53, "HCPCQU053E NOBODY not in CP directory\n");
	ck_guest("Q U NOBODYATALL", 53, "HCPCQU053E NOBODYATALL not in CP directory\n");
	ck_guest("Q U *MSG", 53, "HCPCQU053E *MSG not in CP directory\n");
	ck_guest("Q NOBODY", 3, INVALID("CQV", "NOBODY"));
	ck_guest("Q *MSG", 3, INVALID("CQV", "*MSG"));
	ck_guest("Q U", 0, "     3 USERS,      0 DIALED,      0 NET\n");
	ck_guest("Q PEER X", 3, EXTRA("CQU", "X"));
}

TEST(operands)
{
	ck_guest("QUERY", 26, MISSING("CQV"));
	ck_guest("QUERY V", 26, MISSING("CQV"));
	ck_guest("QUERY V X", 3, INVALID("CQV", "X"));
}

#define TERM_1 "LINEND # , LINEDEL [ , CHARDEL @ , ESCAPE \" , TABCHAR OFF\n"
#define TERM_2 "LINESIZE 080, ATTN OFF, APL OFF, TEXT OFF, MODE CP , HILIGHT OFF\n"
#define TERM_3 "BREAKIN IMMED, BRKKEY PA1, SCRNSAVE OFF\n"
#define TERM_4 "AUTOCR ON , MORE 050 010, HOLD ON , TIMESTAMP OFF, SYS3270 OFF, PROMPT VM \n"

TEST(terminal)
{
	ck_guest("QUERY TERM", 0, TERM_1 TERM_2 TERM_3 TERM_4);
	/* What Linux does at boot; the word would change its console driver. */
	ck_guest("TERM CONMODE 3215", 0, "");
	ck_guest("TERM CONMODE 3270", 0, "");
	ck_guest("TERM AUTOCR ON", 0, "");
	ck_guest("QUERY TERM", 0, TERM_1 TERM_2 TERM_3 TERM_4);
	ck_assert_ptr_null(strstr(run_as(CPCMD_GUEST, "QUERY TERM", 0), "CONMODE"));
	ck_guest("QUERY TERM X", 3, EXTRA("CQT", "X"));
}

TEST(terminal_set)
{
	ck_guest("TERMINAL LINEND OFF LINEDEL ! CHARDEL ON ESCAPE \\ TABCHAR %", 0, "");
	ck_guest("TERM LINESIZE OFF ATTN ON APL ON TEXT ON MODE VM HILIGHT ON", 0, "");
	ck_guest("TERM BREAKIN GUESTCTL BRKKEY NONE SCRNSAVE ON", 0, "");
	ck_guest("TERM AUTOCR OFF MORE 0 255 HOLD OFF TIMESTAMP ON SYS3270 ON PROMPT TSO", 0, "");
	ck_guest("Q TERM", 0,
		 "LINEND OFF, LINEDEL ! , CHARDEL @ , ESCAPE \\ , TABCHAR % \n"
		 "LINESIZE OFF, ATTN ON , APL ON , TEXT ON , MODE VM , HILIGHT ON \n"
		 "BREAKIN GUESTCTL, BRKKEY NONE, SCRNSAVE ON \n"
		 "AUTOCR OFF, MORE 000 255, HOLD OFF, TIMESTAMP ON , SYS3270 ON , PROMPT TSO\n");
	/* They are the user's, not the virtual machine's. */
	cp_reset(fx.cp);
	ck_guest("TERM LINESIZE 132 LINEND ON", 0, "");
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "Q TERM", 0), "LINEND # ,", 10);
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "Q TERM", 0), "LINESIZE 132,"));
}

/* Each setting is shown in its own place. */
TEST(terminal_one_by_one)
{
	static const char *const switches[] = {
		"ATTN", "APL", "TEXT", "HILIGHT", "SCRNSAVE", "AUTOCR", "HOLD", "TIMESTAMP", "SYS3270",
	};
	const size_t count = sizeof(switches) / sizeof(switches[0]);
	char text[64];

	for (size_t on = 0; on < count; on++) {
		for (size_t i = 0; i < count; i++) {
			snprintf(text, sizeof(text), "TERM %s %s", switches[i], i == on ? "ON" : "OFF");
			run_as(CPCMD_GUEST, text, 0);
		}
		for (size_t i = 0; i < count; i++) {
			snprintf(text, sizeof(text), "%s %s", switches[i], i == on ? "ON " : "OFF");
			ck_assert_msg(strstr(run_as(CPCMD_GUEST, "Q TERM", 0), text), "%s", text);
		}
	}
}

/* The capitals are the shortest form; one letter less is another word. */
TEST(terminal_abbreviated)
{
	static const struct { const char *name, *value; } words[] = {
		{ "LINENd", "#" }, { "LINEDel", "[" }, { "CHARDel", "@" }, { "ESCape", "X" },
		{ "TABChar", "X" }, { "LINESize", "80" }, { "BREAKin", "IMMED" },
		{ "BRKKey", "PA1" }, { "SCRNSave", "OFF" }, { "MORE", "50 10" },
		{ "CONMode", "3215" }, { "HILIght", "OFF" }, { "TIMEStamp", "OFF" },
		{ "SYS3270", "OFF" }, { "PROMPT", "VM" }, { "AUTOCR", "ON" }, { "ATTN", "ON" },
		{ "APL", "ON" }, { "TEXT", "ON" }, { "MODE", "CP" }, { "HOLD", "ON" },
	};
	char word[16], text[64], reply[64];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t shortest = strspn(words[i].name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

		for (size_t len = 1; len <= strlen(words[i].name); len++) {
			memset(word, 0, sizeof(word));
			for (size_t at = 0; at < len; at++)
				word[at] = (char)toupper((unsigned char)words[i].name[at]);
			snprintf(text, sizeof(text), "TERM %s %s", word, words[i].value);
			snprintf(reply, sizeof(reply), INVALID("TRM", "%s"), word);
			ck_guest(text, len < shortest ? 3 : 0, len < shortest ? reply : "");
		}
	}
}

TEST(terminal_bad)
{
	ck_guest("TERM", 26, MISSING("TRM"));
	ck_guest("TERM HOLD", 26, MISSING("TRM"));
	ck_guest("TERM MORE 5", 26, MISSING("TRM"));
	ck_guest("TERM COLOUR RED", 3, INVALID("TRM", "COLOUR"));
	ck_guest("TERM HOLD MAYBE", 3, INVALID("TRM", "MAYBE"));
	ck_guest("TERM CONMODE 3290", 3, INVALID("TRM", "3290"));
	ck_guest("TERM LINEND ##", 3, INVALID("TRM", "##"));
	ck_guest("TERM LINEND \x01", 3, INVALID("TRM", "."));
	ck_guest("TERM LINESIZE 0", 3, INVALID("TRM", "0"));
	ck_guest("TERM LINESIZE 256", 3, INVALID("TRM", "256"));
	ck_guest("TERM MORE OFF", 3, INVALID("TRM", "OFF"));
	ck_guest("TERM MORE 1 256", 3, INVALID("TRM", "256"));
	/* What stands before the error holds. */
	ck_guest("TERM APL ON TEXT MAYBE", 3, INVALID("TRM", "MAYBE"));
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "Q TERM", 0), "APL ON , TEXT OFF,"));
}

TEST(set)
{
	ck_guest("Q SET", 0, SETTINGS("OFF", "OFF"));
	ck_guest("SET SMSG IUCV", 0, "");
	ck_guest("SET RUN ON", 0, "");
	ck_guest("Q SET", 0, SETTINGS("ON", "IUCV"));
	ck_guest("set smsg on", 0, "");
	ck_guest("Q SET", 0, SETTINGS("ON", "ON"));
	ck_guest("SET SMSG OFF\nSET RUN OFF", 0, "");
	ck_guest("Q SET", 0, SETTINGS("OFF", "OFF"));
	ck_guest("Q SET X", 3, EXTRA("CQS", "X"));
	ck_guest("SET", 26, MISSING("CFS"));
	ck_guest("SET SMSG", 26, MISSING("CFS"));
	ck_guest("SET RUN", 26, MISSING("CFS"));
	ck_guest("SET SMS ON", 3, INVALID("CFS", "SMS"));
	ck_guest("SET SMSG MAYBE", 3, INVALID("CFS", "MAYBE"));
	ck_guest("SET RUN IUCV", 3, INVALID("CFS", "IUCV"));
	ck_guest("SET SMSG ON X", 3, EXTRA("CFS", "X"));
	ck_guest("Q SET", 0, SETTINGS("OFF", "OFF"));
}

CASE("configured", NULL, NULL);

TEST(short_userid)
{
	static const char *const with[] = { "userid", "ME", "console", "01F", "level", "6.4.0",
					    NULL };

	fx_setup_with(with);
	/* Linux takes the first eight characters. */
	ck_guest("QUERY USERID", 0, "ME       AT ZVMLAB\n");
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "QUERY CONSOLE", 0), "CONS 001F ON", 12);
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "QUERY CPLEVEL", 0), "z/VM Version 6 Release 4.0,",
			 27);
	ck_guest("QUERY NAMES", 0, "ME       - DSC , OPERATOR - DSC\n");
	fx_teardown();
}
