/* SPDX-License-Identifier: MIT */
/* QUERY CPUID, VIRTUAL CPUS, VIRTUAL devices, SHARE; CPU; XAUTOLOG: exact replies. */
#include <stdlib.h>

#include "command_check.h"
#include "zvmlab/guests.h"

static const struct iucv_user_ops no_ops;

static void setup(void)
{
	fx_setup_with((const char *const[]){ "cpus", "3", NULL });
}

CASE("users", setup, fx_teardown);

static void describe(const char *name, uint32_t share, uint32_t share_max, uint8_t capped)
{
	const struct guest_description guest = {
		.name = name, .share = share, .share_max = share_max, .capped = capped,
	};
	char err[256] = "";

	ck_assert_msg(guests_describe(fx.cp, &guest, err, sizeof(err)) == 0, "%s", err);
}

/* CP Commands and Utilities Reference, QUERY CPUID: aassssssccccdddd, aa = FF, dddd = 8000. */
TEST(cpuid)
{
	const char *reply = run_as(CPCMD_GUEST, "QUERY CPUID", 0);

	ck_assert_uint_eq(strlen(reply), 7 + 16 + 1);
	ck_assert_mem_eq(reply, "CPUID= FF", 9);
	ck_assert_str_eq(reply + 7 + 12, "8000\n");
	ck_assert_str_eq(run_as(CPCMD_GUEST, "Q CPU", 0), "CPUID= FF065AB885618000\n");
	ck_guest("Q CP", 3, INVALID("CQV", "CP"));
	ck_guest("Q CPUID 1", 3, EXTRA("CQV", "1"));
}

#define CPU_LINE(cpu, id, base) "CPU " cpu "  ID  FF" id "65AB885618000 " base "CP  CPUAFF ON\n"

TEST(cpus)
{
	const char *const all = CPU_LINE("00", "0", "(BASE) ") CPU_LINE("01", "1", "")
				CPU_LINE("02", "2", "");

	ck_guest("QUERY VIRTUAL CPUS", 0, all);
	ck_guest("Q CPUS", 0, all);
	ck_guest("Q V CPUS X", 3, EXTRA("CQV", "X"));
}

TEST(devices)
{
	const char *const console = "CONS 0009 ON LDEV L0009 TERM STOP\n";

	ck_guest("QUERY VIRTUAL DASD", 40, "HCPQVD040E Device DASD does not exist\n");
	ck_guest("Q V NIC", 40, "HCPQVD040E Device NIC does not exist\n");
	ck_guest("Q V OSA", 40, "HCPQVD040E Device OSA does not exist\n");
	ck_guest("Q V 191", 40, "HCPQVD040E Device 0191 does not exist\n");
	ck_guest("Q V FFFF", 40, "HCPQVD040E Device FFFF does not exist\n");
	ck_guest("Q V 10000", 3, INVALID("CQV", "10000"));
	ck_guest("Q V 19G", 3, INVALID("CQV", "19G"));
	ck_guest("Q V DASD X", 3, EXTRA("CQV", "X"));
	ck_guest("Q V 191 X", 3, EXTRA("CQV", "X"));
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "Q V 9", 0), console, strlen(console));
	ck_guest("Q V 0009 X", 3, EXTRA("CQV", "X"));
}

#define DISK_LINE(device, mode, blocks) \
	"DASD " device " 9336 (VDSK) " mode " " blocks " BLK ON DASD  VDSK SUBCHANNEL = 0000\n"

TEST(disks)
{
	fx_teardown();
	fx_setup_with((const char *const[]){
		"directory", "MDISK 0200 FB-512 V-DISK 131072 MW;MDISK 191 FB-512 V-DISK 8 R", NULL });
	ck_guest("QUERY VIRTUAL DASD", 0, DISK_LINE("0200", "R/W", "    131072")
					  DISK_LINE("0191", "R/O", "         8"));
	ck_guest("Q V 191", 0, DISK_LINE("0191", "R/O", "         8"));
	ck_guest("Q V 0200", 0, DISK_LINE("0200", "R/W", "    131072"));
	ck_guest("Q V 192", 40, "HCPQVD040E Device 0192 does not exist\n");
	ck_guest("Q V DASD X", 3, EXTRA("CQV", "X"));
	ck_guest("Q V 191 X", 3, EXTRA("CQV", "X"));
}

TEST(share)
{
	const char *const own = "USER LINUX001:  CP   RELATIVE SHARE = 100\n"
				"                MAXIMUM SHARE = NOLIMIT\n";

	ck_operator("QUERY SHARE LINUX001", 0, own);
	ck_operator("Q SHA OPERATOR", 0,
		    "USER OPERATOR:  CP   RELATIVE SHARE = 100\n"
		    "                MAXIMUM SHARE = NOLIMIT\n");
	describe("WEB", 250, 400, 2);
	ck_operator("Q SHARE WEB", 0,
		    "USER WEB     :  CP   RELATIVE SHARE = 250\n"
		    "                MAXIMUM SHARE = LIMITHARD RELATIVE 400\n");
	describe("WEB", 250, 300, 1);
	ck_operator("Q SHARE WEB", 0,
		    "USER WEB     :  CP   RELATIVE SHARE = 250\n"
		    "                MAXIMUM SHARE = LIMITSOFT RELATIVE 300\n");
	ck_operator("Q SHARE", 20, "HCPQSH020E Userid missing or invalid\n");
	ck_operator("Q SHARE NINECHARS", 20, "HCPQSH020E Userid missing or invalid\n");
	ck_operator("Q SHARE NOBODY", 45, "HCPQSH045E NOBODY not logged on\n");
	ck_operator("Q SHARE WEB X", 3, EXTRA("QSH", "X"));
	fx_teardown();
	fx_setup_with((const char *const[]){ "class", "E", NULL });
	ck_guest("Q SHARE *", 0, own);
	fx_teardown();
	fx_setup_with((const char *const[]){ "class", "G", NULL });
	ck_guest("Q SHARE *", 3, INVALID("CQV", "SHARE"));
}

/*
 * Feilong's check_userid_exist tells a user of the directory who is not logged on, 045E, from
 * one that is not in it, 003E.
 */
TEST(users_in_the_directory)
{
	const struct guest_description off = { .name = "WEB", .cpu_us = 7, .logged_off = true };
	char err[256] = "";

	ck_guest("QUERY WEB", 3, INVALID("CQV", "WEB"));
	ck_guest("QUERY USERS WEB", 53, "HCPCQU053E WEB not in CP directory\n");
	ck_assert_int_eq(guests_describe(fx.cp, &off, err, sizeof(err)), 0);
	ck_guest("QUERY WEB", 45, "HCPCQU045E WEB not logged on\n");
	ck_guest("QUERY USERS WEB", 45, "HCPCQU045E WEB not logged on\n");
	ck_guest("MSG WEB HELLO", 45, "HCPMSG045E WEB not logged on\n");
	ck_operator("QUERY SHARE WEB", 45, "HCPQSH045E WEB not logged on\n");
	ck_guest("QUERY NAMES", 0, "LINUX001 - DSC , OPERATOR - DSC\n");
	ck_operator("XAUTOLOG WEB", 0, "Command accepted\n");
	ck_operator("XAUTOLOG WEB", 54, "HCPAUT054E WEB already logged on\n");
	ck_guest("QUERY WEB", 0, "WEB      - DSC\n");
	ck_guest("QUERY NAMES", 0, "LINUX001 - DSC , OPERATOR - DSC , WEB      - DSC\n");
	/* A peer of that name is logged on, and off again when it goes. */
	ck_assert_int_eq(guests_describe(fx.cp, &off, err, sizeof(err)), 0);
	iucv_user_create(fx.cp, "WEB", 4, &no_ops, NULL);
	ck_guest("QUERY WEB", 0, "WEB      - DSC\n");
	iucv_user_destroy(fx.cp, iucv_user_find(fx.cp, "WEB"));
	ck_guest("QUERY WEB", 45, "HCPCQU045E WEB not logged on\n");
}

/* The user that carries the channel to the agent is none of the modelled system's. */
TEST(nobody_sees_the_agent)
{
	const struct guest_description guest = { .name = CP_AGENT_USERID };
	struct cp_config config;
	char err[256] = "";

	iucv_user_create(fx.cp, CP_AGENT_USERID, 4, &no_ops, NULL);
	ck_guest("QUERY NAMES", 0, "LINUX001 - DSC , OPERATOR - DSC\n");
	ck_guest("QUERY ZVMLAB", 3, INVALID("CQV", "ZVMLAB"));
	ck_guest("QUERY USERS ZVMLAB", 53, "HCPCQU053E ZVMLAB not in CP directory\n");
	ck_guest("MSG ZVMLAB HELLO", 45, "HCPMSG045E ZVMLAB not logged on\n");
	ck_operator("XAUTOLOG ZVMLAB", 53, "HCPAUT053E ZVMLAB not in CP directory\n");
	ck_operator("SIGNAL SHUTDOWN ZVMLAB", 45, "HCPSIG045E ZVMLAB not logged on\n");
	ck_operator("QUERY SHARE ZVMLAB", 45, "HCPQSH045E ZVMLAB not logged on\n");
	ck_assert_int_eq(guests_describe(fx.cp, &guest, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "ZVMLAB is the harness' own user ID; choose another name");
	cp_config_init(&config);
	ck_assert_int_eq(cp_config_set(&config, "userid", "zvmlab", err, sizeof(err)), -1);
	ck_assert_str_eq(err, "userid \"zvmlab\": expected another user ID: this one is the "
			 "harness' own");
	cp_config_fini(&config);
}

TEST(cpu)
{
	ck_guest("CPU ALL Q USERID", 0,
		 "LINUX001 AT ZVMLAB\nLINUX001 AT ZVMLAB\nLINUX001 AT ZVMLAB\n");
	ck_guest("cpu 2 q cpuid", 0, "CPUID= FF065AB885618000\n");
	ck_guest("CPU 01 XYZ", 1, UNKNOWN("XYZ"));
	ck_guest("CPU ALL Q XYZ", 3,
		 INVALID("CQV", "XYZ") INVALID("CQV", "XYZ") INVALID("CQV", "XYZ"));
	/* One line of the guest's is one command, whatever it makes of it. */
	ck_assert_uint_eq(fx.events[CP_EVENT_COMMAND], 4);
	ck_guest("CPU", 26, MISSING("CPU"));
	ck_guest("CPU ALL", 26, MISSING("CPU"));
	ck_guest("CPU 00  ", 26, MISSING("CPU"));
	ck_guest("CPU 3 Q USERID", 3, INVALID("CPU", "3"));
	ck_guest("CPU SOME Q USERID", 3, INVALID("CPU", "SOME"));
	ck_guest("CP Q USERID", 1, UNKNOWN("CP"));
}

/* 3 to the power of 28 commands would never end. */
TEST(cpu_nested)
{
	char text[CPCMD_MAX_COMMAND + 1] = "";
	const char *refused = INVALID("CPU", "CPU");
	size_t len;

	while (strlen(text) + 8 + 1 < sizeof(text))
		strcat(text, "CPU ALL ");
	len = strlen(run_as(CPCMD_GUEST, text, 3));
	ck_assert_uint_eq(len, 3 * strlen(refused));
	ck_guest("CPU 0 CPU 1 Q USERID", 3, refused);
}

TEST(cpu_is_the_virtual_machines)
{
	const struct cpcmd_response *r;

	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "PEER", 1, &no_ops, NULL));
	r = cpcmd_run_peer(fx.cp, "PEER", "G", "CPU ALL Q TIME", 14);
	ck_assert_int_eq(r->rc, 1);
	r = cpcmd_run_peer(fx.cp, "PEER", "G", "Q CPUID", 7);
	ck_assert_int_eq(r->rc, 3);
	fx_teardown();
	fx_setup_with((const char *const[]){ "class", "E", NULL });
	ck_guest("CPU ALL Q USERID", 1, UNKNOWN("CPU"));
}

TEST(xautolog)
{
	describe("WEB", 100, 100, 0);
	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "PEER", 1, &no_ops, NULL));
	ck_guest("XAUTOLOG WEB", 54, "HCPAUT054E WEB already logged on\n");
	ck_guest("XAUTOL PEER", 54, "HCPAUT054E PEER already logged on\n");
	ck_guest("XAUTOLOG *", 54, "HCPAUT054E LINUX001 already logged on\n");
	ck_guest("XAUTOLOG NOBODY IPL 190 ACCOUNT 1 MACH ESA STORAGE 1G SYNCH", 53,
		 "HCPAUT053E NOBODY not in CP directory\n");
	ck_guest("XAUTOLOG NOBODY NOI SYN", 53, "HCPAUT053E NOBODY not in CP directory\n");
	ck_guest("XAUTOLOG NOBODY I 190 AC 1 S 1G", 53, "HCPAUT053E NOBODY not in CP directory\n");
	ck_guest("XAUTOLOG NOBODY NO", 3, INVALID("AUT", "NO"));
	ck_guest("XAUTOLOG NOBODY A 1", 3, INVALID("AUT", "A"));
	ck_guest("XAUTOLOG NOBODY MAC ESA", 3, INVALID("AUT", "MAC"));
	ck_guest("XAUTOLOG NOBODY SY", 3, INVALID("AUT", "SY"));
	ck_guest("XAUTOLOG NOBODY AC", 26, MISSING("AUT"));
	ck_guest("XAUTOLOG NOBODY MACH", 26, MISSING("AUT"));
	ck_guest("XAUTOLOG NOBODY STOR", 26, MISSING("AUT"));
	ck_guest("XAUTOLOG", 20, "HCPAUT020E Userid missing or invalid\n");
	ck_guest("XAUTOLOG NINECHARS", 20, "HCPAUT020E Userid missing or invalid\n");
	ck_guest("XAUTOLOG WEB NOW", 3, INVALID("AUT", "NOW"));
	ck_guest("XAUTOLOG WEB IPL", 26, MISSING("AUT"));
	ck_guest("XAUTO WEB", 1, UNKNOWN("XAUTO"));
	fx_teardown();
	fx_setup_with((const char *const[]){ "class", "CDEF", NULL });
	ck_guest("XAUTOLOG WEB", 1, UNKNOWN("XAUTOLOG"));
}
