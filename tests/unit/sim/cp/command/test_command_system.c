/* SPDX-License-Identifier: MIT */
/*
 * QUERY of CP's system, INDICATE and DETACH.
 *
 * INDICATE, QUERY PROCESSORS, STORAGE and DASD are as captured on a z/VM 6.3 system (z/VM
 * Bootcamp), QUERY VMLAN as on IBM's page about maintenance levels; Feilong tests for the texts of
 * SSI, CHPIDV, CHPID and DETACH and takes its numbers from FRAMES.
 */
#include <stdlib.h>

#include "command_check.h"

CASE("system", fx_setup, fx_teardown);

#define GENERAL ((const char *const[]){ "class", "G", NULL })
#define SYSTEM ((const char *const[]){ "class", "ABCDEFG", "storage", "0.256M", "cpus", "5", NULL })

static void as_general_user(void)
{
	fx_teardown();
	fx_setup_with(GENERAL);
}

static void as_system_programmer(void)
{
	fx_teardown();
	fx_setup_with(SYSTEM);
}

#define STORAGE "STORAGE = 256M CONFIGURED = 256M INC = 1M STANDBY = 0  RESERVED = 0\n"

TEST(storage)
{
	as_system_programmer();
	ck_guest("QUERY STORAGE", 0, STORAGE);
	ck_guest("q st", 0, STORAGE);
	ck_guest("q store", 0, STORAGE);
	ck_guest("q v store", 0, "STORAGE = 256M\n");
	ck_guest("q v st", 0, "STORAGE = 256M\n");
	ck_guest("Q ST X", 3, EXTRA("CQV", "X"));
	/* Of the virtual machine only, for whoever may ask for no more. */
	as_general_user();
	ck_guest("Q STOR", 0, run_as(CPCMD_GUEST, "Q V STOR", 0));
	ck_assert_ptr_null(strstr(run_as(CPCMD_GUEST, "Q STOR", 0), "CONFIGURED"));
}

/* 256 MiB are 65,536 frames, of which the guest has all. */
TEST(frames)
{
	const char *reply;
	unsigned long available = 0;

	as_system_programmer();
	reply = run_as(CPCMD_GUEST, "Q FRAMES", 0);
	ck_assert_ptr_nonnull(strstr(reply, "Configured=65536 "));
	for (const char *at = strstr(reply, "Avail="); at; at = strstr(at + 6, "Avail="))
		available += strtoul(at + 6, NULL, 10);
	ck_assert_uint_eq(available, 0);
}

TEST(processors)
{
	as_system_programmer();
	ck_guest("q proc", 0,
		 "PROCESSOR 00 MASTER CP\nPROCESSOR 01 ALTERNATE CP\nPROCESSOR 02 ALTERNATE CP\n"
		 "PROCESSOR 03 ALTERNATE CP\nPROCESSOR 04 ALTERNATE CP\n");
	ck_guest("q proc topology", 3, EXTRA("CQV", "TOPOLOGY"));
	as_general_user();
	ck_guest("Q PROC", 3, INVALID("CQV", "PROC"));
}

TEST(indicate_load)
{
	static const char *const reply =
		"AVGPROC-000% 05\n"
		"MDC READS-000000/SEC WRITES-000000/SEC HIT RATIO-000%\n"
		"PAGING-0/SEC\n"
		"Q0-00000(00000)                           DORMANT-00001\n"
		"Q1-00000(00000)           E1-00000(00000)\n"
		"Q2-00000(00000) EXPAN-001 E2-00000(00000)\n"
		"Q3-00001(00000) EXPAN-001 E3-00000(00000)\n"
		"\n"
		"PROC 0000-000% CP   HZ     PROC 0001-000% CP   HZ\n"
		"PROC 0002-000% CP   HZ     PROC 0003-000% CP   HZ\n"
		"PROC 0004-000% CP   HZ\n"
		"\n"
		"LIMITED-00000\n";

	as_system_programmer();
	ck_guest("ind load", 0, reply);
	ck_guest("IND", 0, reply);
	ck_guest("IND LOAD X", 3, EXTRA("IND", "X"));
	ck_guest("IND NOTHING", 3, INVALID("IND", "NOTHING"));
	ck_guest("IN LOAD", 1, UNKNOWN("IN"));
}

TEST(indicate_user)
{
	const char *const reply =
		"USERID=LINUX001 MACH=Z   STOR=256M VIRT=V XSTORE=NONE\n"
		"IPLSYS=NONE     DEVNUM=00003\n"
		"PAGES: RES=65536  WS=65536  LOCKEDREAL=0  RESVD=0\n"
		"       INSTAN=65536\n"
		"NPREF=0  PREF=0  READS=0  WRITES=0\n"
		"CPU 00: CTIME=00:00 VTIME=000:00 TTIME=000:00 IO=000000\n"
		"        RDR=000000 PRT=000000 PCH=000000 TYPE=CP   CPUAFFIN=ON\n";

	fx_teardown();
	fx_setup_with((const char *const[]){ "storage", "0.256M", "directory",
		"SPOOL 000C 2540 READER *;MDISK 191 FB-512 V-DISK 8 R", NULL });
	ck_guest("ind user", 0, reply);
	ck_guest("IND USER *", 0, reply);
	ck_guest("IND USER LINUX001", 0, reply);
	ck_guest("IND USER OPERATOR", 3, INVALID("IND", "OPERATOR"));
	ck_guest("IND USER * X", 3, EXTRA("IND", "X"));
}

TEST(indicate_others)
{
	ck_guest("ind paging", 0, "No users in page wait\n");
	ck_guest("ind i/o", 0, "No users in I/O wait\n");
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "ind sp", 0), "Spaceid=LINUX001:BASE\n", 22);
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "Q SPACES", 0), " LINUX001:BASE\n"));
	ck_guest("IND SP X", 3, EXTRA("IND", "X"));
	as_general_user();
	ck_guest("IND PAGING", 3, INVALID("IND", "PAGING"));
}

/* CP has none; a general user's own answer without VIRTUAL as with it. */
TEST(real_devices)
{
	as_system_programmer();
	ck_guest("q fcp", 0, "An active FCP was not found.\n");
	ck_guest("Q DASD ALL", 0,
		 "An active DASD was not found.\nA free DASD was not found.\n"
		 "An offline DASD was not found.\n");
	ck_guest("Q OSA FREE", 0, "A free OSA was not found.\n");
	ck_guest("Q OSA FREE X", 3, EXTRA("CQV", "X"));
	ck_guest("Q DASD NOW", 3, INVALID("CQV", "NOW"));
	ck_guest("q nic", 40, "HCPQVD040E Device NIC does not exist\n");
	ck_guest("Q 0100", 40, "HCPQVD040E Device 0100 does not exist\n");
	fx_teardown();
	fx_setup_with((const char *const[]){
		"class", "G", "directory", "MDISK 191 FB-512 V-DISK 8 R", NULL });
	ck_guest("q dasd", 0,
		 "DASD 0191 9336 (VDSK) R/O          8 BLK ON DASD  VDSK SUBCHANNEL = 0000\n");
	ck_guest("Q 191", 0, run_as(CPCMD_GUEST, "Q V 191", 0));
	ck_guest("q fcp", 40, "HCPQVD040E Device FCP does not exist\n");
}

TEST(all_devices)
{
	const char *reply;

	fx_teardown();
	fx_setup_with((const char *const[]){ "storage", "0.256M", "directory",
		"SPOOL 000C 2540 READER *;MDISK 191 FB-512 V-DISK 8 R", NULL });
	reply = run_as(CPCMD_GUEST, "Q V ALL", 0);
	ck_assert_mem_eq(reply, "STORAGE = 256M\nCPU 00  ID  ", 26);
	ck_assert_ptr_nonnull(strstr(reply, "\nCONS 0009 ON "));
	ck_assert_ptr_nonnull(strstr(reply, "\nRDR  000C CL "));
	ck_assert_ptr_nonnull(strstr(reply, "\nDASD 0191 9336 "));
	ck_guest("Q V ALL X", 3, EXTRA("CQV", "X"));
}

TEST(networks)
{
	as_system_programmer();
	ck_guest("query vmlan", 0,
		 "VMLAN maintenance level:\n"
		 "  Latest Service: Base\n"
		 "VMLAN MAC address assignment:\n"
		 "  System MAC Protection: OFF\n"
		 "  MACADDR Prefix: 020000 USER Prefix: 020000\n"
		 "  MACIDRANGE SYSTEM: 000001-FFFFFF\n"
		 "             USER:   000000-000000\n"
		 "VMLAN default accounting status:\n"
		 "  SYSTEM Accounting: OFF       USER Accounting: OFF\n"
		 "VMLAN general activity:\n"
		 "  PERSISTENT Limit: INFINITE   Current: 0\n"
		 "  TRANSIENT  Limit: INFINITE   Current: 0\n"
		 "Trace Pages: 8\n"
		 "VMLAN Directory Network Authorization: ENABLED\n"
		 "IVL Domain: None\n");
	ck_guest("Q VMLAN X", 3, EXTRA("CQV", "X"));
	ck_guest("q vswitch access", 0, "");
	ck_guest("q lan all details", 0, "");
	ck_guest("q controller all", 0, "");
	ck_guest("q port group all active details", 0, "");
	ck_guest("Q VSWITCH VSW1", 3, INVALID("CQV", "VSW1"));
	ck_guest("Q PORT", 26, MISSING("CQV"));
	ck_guest("Q PORT 1", 3, INVALID("CQV", "1"));
}

static const struct {
	const char *command, *reply;
} lines[] = {
	{ "q ssi", "This system is not a member of an SSI cluster.\n" },
	{ "q chpidv", "CHPID Virtualization is off\n" },
	{ "q mt", "Multithreading is disabled.\n" },
	{ "q mdcache", "Minidisk cache OFF for system\n" },
	{ "q vmrelocate", "No active relocations found\n" },
	{ "q quickdsp *", "USER LINUX001: QUICKDSP = OFF\n" },
	{ "q quickdsp linux001", "USER LINUX001: QUICKDSP = OFF\n" },
};

TEST_EACH(one_line, lines)
{
	char more[64], extra[128];

	as_system_programmer();
	ck_guest(lines[_i].command, 0, lines[_i].reply);
	snprintf(more, sizeof(more), "%s X", lines[_i].command);
	snprintf(extra, sizeof(extra), EXTRA("CQV", "%s"), "X");
	ck_guest(more, 3, extra);
}

TEST(others)
{
	const char *summary;

	as_system_programmer();
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "q srm", 0), "IABIAS : INTENSITY=90%; DURATION=2\n", 35);
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "q timezone", 0), "\nUTC     ----    00.00.00  "));
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "q loaddev", 0), "PORTNAME 00000000 00000000 ", 27);
	summary = strstr(run_as(CPCMD_GUEST, "q alloc page", 0), "\nSUMMARY ");
	ck_assert_ptr_nonnull(summary);
	ck_assert_str_eq(summary + 1,
			 "SUMMARY                                0      0          0%\n"
			 "USABLE                                 0      0          0%\n");
	ck_guest("Q ALLOC", 26, MISSING("CQV"));
	ck_guest("Q ALLOC TDISK", 3, INVALID("CQV", "TDISK"));
	ck_guest("Q CHPID", 26, MISSING("CQV"));
	ck_guest("query chpid 5A pchid", 846, "HCPQPA846E Invalid channel path identifier\n");
	ck_guest("Q QUICKDSP", 20, "HCPCQV020E Userid missing or invalid\n");
	ck_guest("Q QUICKDSP NOBODY", 45, "HCPCQV045E NOBODY not logged on\n");
	/* Expanded storage is no more since z/VM 6.4. */
	ck_guest("q xstore", 3, INVALID("CQV", "XSTORE"));
}

static const char MEMASSIST[] = "ALL USERS SET - ON\n"
				"USER      SETTING   STATUS\n"
				"LINUX001  OFF       INACTIVE\n";

static const char *const memassist[] = { "q memassist", "QUERY MEMA *", "Q MEMASSIST FOR *",
					 "q mema linux001", "Q MEMASSIST USER LINUX001",
					 "Q MEMASSIST FOR USER LINUX001" };

TEST_EACH(memory_assist, memassist)
{
	as_system_programmer();
	ck_guest(memassist[_i], 0, MEMASSIST);
}

TEST(memory_assist_of_others)
{
	as_system_programmer();
	ck_guest("Q MEMASSIST NOBODY", 45, "HCPCQV045E NOBODY not logged on\n");
	ck_guest("Q MEMASSIST FOR", 20, "HCPCQV020E Userid missing or invalid\n");
	ck_guest("Q MEMASSIST USER", 20, "HCPCQV020E Userid missing or invalid\n");
	ck_guest("Q MEMASSIST * X", 3, EXTRA("CQV", "X"));
	/* Only class B may ask for a user by name. */
	as_general_user();
	ck_guest("Q MEMASSIST", 0, MEMASSIST);
	ck_guest("Q MEMASSIST USER LINUX001", 3, INVALID("CQV", "USER"));
}

TEST(detach)
{
	ck_guest("DETACH 260C", 40, "HCPDTV040E Device 260C does not exist\n");
	ck_guest("DET 9", 6, "HCPDTV006E Invalid device type - 0009\n");
	ck_guest("DET 9 1", 40, "HCPDTV006E Invalid device type - 0009\n"
				"HCPDTV040E Device 0001 does not exist\n");
	ck_guest("DETACH", 26, MISSING("DTV"));
	ck_guest("DETACH X", 3, INVALID("DTV", "X"));
	ck_guest("DETACH 10000", 3, INVALID("DTV", "10000"));
}

/* A peer has no virtual machine. */
TEST(peer)
{
	const struct cpcmd_response *r;

	r = cpcmd_run_peer(fx.cp, "PEER", "ABCDEFG", "IND USER", 8);
	ck_assert_int_eq(r->rc, 3);
	r = cpcmd_run_peer(fx.cp, "PEER", "ABCDEFG", "Q 0009", 6);
	ck_assert_int_eq(r->rc, 3);
	r = cpcmd_run_peer(fx.cp, "PEER", "ABCDEFG", "DETACH 9", 8);
	ck_assert_int_eq(r->rc, 1);
}
