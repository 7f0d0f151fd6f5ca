/* SPDX-License-Identifier: MIT */
/* SYSTEM, LOGOFF and SIGNAL SHUTDOWN. */
#include "command_check.h"
#include "cp_private.h"
#include "zvmlab/fault.h"

static void with_classes(const char *classes)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "class", classes, NULL });
}

static const char *const requests[CP_MACHINE_REQUESTS] = {
	[CP_MACHINE_RESTART] = "restart",
	[CP_MACHINE_SHUTDOWN] = "signal-shutdown",
	[CP_MACHINE_LOGOFF] = "logoff",
};

/* So often have the emulator and who watches been asked, of that only. */
static void ck_asked(unsigned int count, const char *what)
{
	ck_assert_uint_eq(fx.events[CP_EVENT_MACHINE], count);
	for (unsigned int i = 0; i < CP_MACHINE_REQUESTS; i++)
		ck_assert_uint_eq(fx.machine[i], strcmp(requests[i], what) == 0 ? count : 0);
	if (count > 0) {
		ck_assert_str_eq(fx.last_name, "LINUX001");
		ck_assert_str_eq(fx.last_text, what);
	}
}

CASE("command_machine", fx_setup, fx_teardown);

TEST(restart)
{
	ck_operator("SYSTEM RESTART", 0, "");
	ck_asked(1, "restart");
	ck_operator("SYS RES", 0, "");
	ck_operator("SYSTEM", 26, MISSING("SYS"));
	ck_operator("SYSTEM BREAK", 3, INVALID("SYS", "BREAK"));
	ck_operator("SYSTEM RESTART NOW", 3, EXTRA("SYS", "NOW"));
	ck_assert_uint_eq(fx.events[CP_EVENT_MACHINE], 2);
	with_classes("E");
	ck_guest("SYSTEM RESTART", 1, UNKNOWN("SYSTEM"));
	ck_asked(0, "");
}

TEST(logoff)
{
	ck_operator("LOGOFF", 0, "");
	ck_asked(1, "logoff");
	ck_operator("LOGOFF HOLD", 3, EXTRA("LOG", "HOLD"));
	ck_assert_uint_eq(fx.events[CP_EVENT_MACHINE], 1);
}

/* The commands behind it are nobody's any more. */
TEST(nothing_after_logoff)
{
	ck_guest("QUERY USERID\nLOGOFF\nQUERY USERID\nBOGUS", 0, "LINUX001 AT ZVMLAB\n");
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 1);
	ck_guest("QUERY USERID\nLOGOFF HOLD\nQUERY USERID", 3,
		 "LINUX001 AT ZVMLAB\n" EXTRA("LOG", "HOLD") "LINUX001 AT ZVMLAB\n");
}

/* As public captures of consoles have it (the kernel's mailing lists). */
TEST(cpu_that_stops)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "cpus", "2", NULL });
	cp_cpu_ordered(fx.cp, 1, 0, CP_ORDER_STOP);
	ck_assert_str_eq(fx.last_text, "01: HCPGSP2629I The virtual machine is placed in CP mode "
			 "due to a SIGP stop from CPU 00.");
	cp_cpu_ordered(fx.cp, 1, 0, CP_ORDER_INITIAL_RESET);
	ck_assert_str_eq(fx.last_text, "01: HCPGSP2627I The virtual machine is placed in CP mode "
			 "due to a SIGP initial CPU reset from CPU 00.");
	cp_cpu_waits(fx.cp, 0, UINT64_C(0x0002000180000000), 0x302a66ee);
	ck_assert_str_eq(fx.last_text, "00: HCPGIR450W CP entered; disabled wait PSW 00020001 "
			 "80000000 00000000 302A66EE");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 3);
	ck_assert_str_eq(fx.last_name, "LINUX001");
}

TEST(only_cpu_that_waits)
{
	fx_teardown();
	fx_setup_with((const char *const[]){ "cpus", "1", NULL });
	cp_cpu_waits(fx.cp, 0, UINT64_C(0x0002000180000000), UINT64_C(0x25e10630b56));
	ck_assert_str_eq(fx.last_text, "HCPGIR450W CP entered; disabled wait PSW 00020001 80000000 "
			 "0000025E 10630B56");
}

TEST(signal_shutdown)
{
	ck_guest("SIGNAL SHUTDOWN *", 1, UNKNOWN("SIGNAL"));
	ck_operator("SIGNAL SHUTDOWN LINUX001", 0, "");
	ck_asked(1, "signal-shutdown");
	ck_operator("SIG SHUT LINUX001 WITHIN 300", 0, "");
	ck_asked(2, "signal-shutdown");
	ck_operator("SIGNAL SHUTDOWN LINUX001 WITHIN 1", 0, "");
	ck_operator("SIGNAL SHUTDOWN LINUX001 WITHIN 65535", 0, "");
	ck_asked(4, "signal-shutdown");
	ck_operator("SIGNAL", 26, MISSING("SIG"));
	ck_operator("SIGNAL STOP", 3, INVALID("SIG", "STOP"));
	ck_operator("SIGNAL SHUTDOWN", 20, "HCPSIG020E Userid missing or invalid\n");
	ck_operator("SIGNAL SHUTDOWN NOBODY", 45, "HCPSIG045E NOBODY not logged on\n");
	ck_operator("SIGNAL SHUTDOWN OPERATOR", 57, "HCPSIG057E OPERATOR not receiving; SIGNAL\n");
	ck_operator("SIGNAL SHUTDOWN LINUX001 SOON", 3, INVALID("SIG", "SOON"));
	ck_operator("SIGNAL SHUTDOWN LINUX001 WITHIN", 26, MISSING("SIG"));
	ck_operator("SIGNAL SHUTDOWN LINUX001 WITHIN 0", 3, INVALID("SIG", "0"));
	ck_operator("SIGNAL SHUTDOWN LINUX001 WITHIN 65536", 3, INVALID("SIG", "65536"));
	ck_operator("SIGNAL SHUTDOWN LINUX001 WITHIN 5 X", 3, EXTRA("SIG", "X"));
	ck_assert_uint_eq(fx.events[CP_EVENT_MACHINE], 4);
	with_classes("C");
	ck_guest("SIGNAL SHUTDOWN *", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_MACHINE], 1);
}

/* An emulator need not be able to do it: who watches is told of it. */
TEST(emulator_that_cannot)
{
	fx.cp->host.machine = NULL;
	ck_operator("LOGOFF", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_MACHINE], 1);
	ck_assert_str_eq(fx.last_text, "logoff");
}

TEST(fault)
{
	ck_arm(FAULT_MACHINE_REQUEST, FAULT_DROP, .times = 1);
	ck_operator("LOGOFF", 0, "");
	ck_asked(0, "");
	ck_operator("LOGOFF", 0, "");
	ck_asked(1, "logoff");
}
