/* SPDX-License-Identifier: MIT */
/* Commands about other virtual machines of one system, and what CP says of them. */
#include "command_check.h"
#include "iucv_guest.h"
#include "zvmlab/guests.h"

enum { ALICE, BOB, CAROL };

#define MINUTE (UINT64_C(60000000) << 12)

static void logon(unsigned int machine, const char *userid, const char *cpus)
{
	fx_logon(machine, userid, (const char *const[]){
		"class", "ABCDEFG", "cpus", cpus, "storage", "0.4M", NULL });
}

static void setup(void)
{
	fx_system((const char *const[]){ "cpus", "4", NULL });
	logon(BOB, "BOB", "2");
	logon(ALICE, "ALICE", "1");
}

FX_REPLAY_TRACES;

CASE("command machines", setup, fx_teardown);

/* The issuer first, the others as they have logged on. */
TEST(names)
{
	ck_guest("QUERY NAMES", 0, "ALICE    - DSC , BOB      - DSC , OPERATOR - DSC\n");
	ck_guest("QUERY USERS", 0, "     3 USERS,      0 DIALED,      0 NET\n");
	ck_guest("QUERY BOB", 0, "BOB      - DSC\n");
	fx_use(BOB);
	ck_guest("QUERY NAMES", 0, "BOB      - DSC , ALICE    - DSC , OPERATOR - DSC\n");
	logon(CAROL, "CAROL", "1");
	fx_use(BOB);
	ck_guest("QUERY NAMES", 0,
		 "BOB      - DSC , ALICE    - DSC , CAROL    - DSC , OPERATOR - DSC\n");
	fx_logoff(ALICE);
	ck_guest("QUERY NAMES", 0, "BOB      - DSC , CAROL    - DSC , OPERATOR - DSC\n");
	ck_guest("QUERY USERS ALICE", 53, "HCPCQU053E ALICE not in CP directory\n");
	strcpy(fx_clock.directory, " ALICE DAVE ");
	ck_guest("QUERY ALICE", 45, "HCPCQU045E ALICE not logged on\n");
}

/* Peers are seen by the machine that has them, and described guests by all. */
TEST(names_of_peers_and_described)
{
	const struct guest_description mail = { .name = "MAIL", .cpus = 1, .operating = 1 };
	const struct guest_description bob = { .name = "BOB" };
	char err[256];

	ck_assert_ptr_nonnull(iucv_user_create(fx.cp, "PEER", 4, NULL, NULL));
	ck_assert_int_eq(guests_describe(fx.cp, &mail, err, sizeof(err)), 0);
	ck_guest("QUERY NAMES", 0, "ALICE    - DSC , BOB      - DSC , PEER     - DSC , "
		 "OPERATOR - DSC\nMAIL     - DSC\n");
	ck_assert_int_eq(guests_describe(fx.cp, &bob, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "BOB is another guest, of which CP says what is true");
	fx_use(BOB);
	ck_guest("QUERY NAMES", 0,
		 "BOB      - DSC , ALICE    - DSC , OPERATOR - DSC , MAIL     - DSC\n");
	/* The real one takes its place. */
	logon(CAROL, "MAIL", "1");
	fx_use(BOB);
	ck_guest("QUERY NAMES", 0,
		 "BOB      - DSC , ALICE    - DSC , MAIL     - DSC , OPERATOR - DSC\n");
	ck_assert_ptr_null(guests_name(fx.cp, 0));
}

TEST(messages)
{
	ck_guest("WARNING BOB going down", 0, "");
	fx_use(BOB);
	ck_assert_str_eq(fx.last[CP_EVENT_CONSOLE].name, "BOB");
	ck_assert_ptr_nonnull(strstr(fx.last[CP_EVENT_CONSOLE].text,
				     "  * WNG FROM ALICE   : going down"));
	ck_guest("WNG ALICE no", 0, "");
	ck_guest("WARNING CAROL hello", 45, "HCPWNG045E CAROL not logged on\n");
	ck_guest("WARNING", 20, "HCPWNG020E Userid missing or invalid\n");
	fx_use(ALICE);
	ck_assert_ptr_nonnull(strstr(fx.last[CP_EVENT_CONSOLE].text, "  * WNG FROM BOB     : no"));
}

/* A message has the system's time, whatever the machines' clocks say. */
TEST(time_of_messages)
{
	fx.tod += 5 * MINUTE;
	fx_use(BOB);
	fx.tod += 7 * MINUTE;
	fx_clock.tod = UINT64_C(0xe11d98a129c00000);	/* 2025-06-30 12:34:56 UTC */
	ck_guest("MSG ALICE hello", 0, "");
	fx_use(ALICE);
	ck_assert_str_eq(fx.last[CP_EVENT_CONSOLE].text, "12:34:56  * MSG FROM BOB     : hello");
}

/* The machine that is named is the one that is told, and nobody else. */
TEST(signal)
{
	ck_guest("SIGNAL SHUTDOWN BOB WITHIN 30", 0, "");
	ck_assert_uint_eq(fx.machine[CP_MACHINE_SHUTDOWN], 0);
	ck_assert_uint_eq(fx.events[CP_EVENT_MACHINE], 0);
	fx_use(BOB);
	ck_assert_uint_eq(fx.machine[CP_MACHINE_SHUTDOWN], 1);
	ck_assert_str_eq(fx.last[CP_EVENT_MACHINE].name, "BOB");
	ck_assert_str_eq(fx.last[CP_EVENT_MACHINE].text, "signal-shutdown");
	ck_guest("SIGNAL SHUTDOWN *", 0, "");
	ck_assert_uint_eq(fx.machine[CP_MACHINE_SHUTDOWN], 2);
	ck_guest("SIGNAL SHUTDOWN CAROL", 45, "HCPSIG045E CAROL not logged on\n");
}

/* Whoever is still there when the time has come is forced off; CP's clock counts. */
TEST(signal_within)
{
	const uint64_t start = fx_clock.tod, second = MINUTE / 60;

	ck_guest("SIGNAL SHUTDOWN BOB WITHIN 30", 0, "");
	ck_assert_uint_eq(fx_clock.timer, start + 30 * second + 1);
	ck_guest("SIGNAL SHUTDOWN ALICE WITHIN 20", 0, "");
	ck_assert_uint_eq(fx_clock.timer, start + 20 * second + 1);
	fx_clock.tod = start + 20 * second;
	cp_system_timer(fx_clock.system);
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 0);
	ck_assert_uint_eq(fx_clock.timer, start + 20 * second + 1);
	fx_clock.tod += second;
	cp_system_timer(fx_clock.system);
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 1);
	ck_assert_uint_eq(fx_clock.timer, start + 30 * second + 1);
	fx_use(BOB);
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 0);
	/* A machine's own clock has nothing to do with it. */
	fx.tod += 2 * MINUTE;
	cp_timer(fx.cp);
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 0);
	fx_clock.tod = start + MINUTE;
	cp_system_timer(fx_clock.system);
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 1);
	ck_assert_uint_eq(fx_clock.timer, 0);
	cp_system_timer(fx_clock.system);
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 1);
	ck_assert_ptr_nonnull(strstr(fx.last[CP_EVENT_MACHINE].text, "logoff"));
}

/* One that has logged off in time, whose successor is left alone. */
TEST(signal_in_time)
{
	ck_guest("SIGNAL SHUTDOWN BOB WITHIN 30", 0, "");
	fx_logoff(BOB);
	ck_assert_uint_eq(fx_clock.timer, 0);
	fx_use(ALICE);
	logon(BOB, "BOB", "2");
	fx_clock.tod += 2 * MINUTE;
	cp_system_timer(fx_clock.system);
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 0);
}

/* The operator's console is seen by the observers of every machine. */
TEST(operator_is_told)
{
	static const char *const on = "12:34:56 AUTO LOGON  ***       CAROL    USERS = 4    ";
	static const char *const off =
		"12:34:56 USER DSC   LOGOFF AS  CAROL    USERS = 3     FORCED BY ALICE";

	fx_clock.tod = UINT64_C(0xe11d98a129c00000);	/* 2025-06-30 12:34:56 UTC */
	logon(CAROL, "CAROL", "1");
	for (unsigned int i = ALICE; i <= BOB; i++) {
		fx_use(i);
		ck_assert_str_eq(fx.last[CP_EVENT_CONSOLE].name, "OPERATOR");
		ck_assert_str_eq(fx.last[CP_EVENT_CONSOLE].text, on);
	}
	fx_use(ALICE);
	ck_guest("FORCE CAROL", 0, "");
	ck_guest("XAUTOLOG CAROL", 361, "HCPAUT361E LOGOFF/FORCE pending for user CAROL\n");
	fx_logoff(CAROL);
	for (unsigned int i = ALICE; i <= BOB; i++) {
		fx_use(i);
		ck_assert_str_eq(fx.last[CP_EVENT_CONSOLE].text, off);
	}
	/* One that has ended by itself after a signal was not forced. */
	fx_use(ALICE);
	ck_guest("SIGNAL SHUTDOWN BOB WITHIN 5", 0, "");
	fx_logoff(BOB);
	fx_use(ALICE);
	ck_assert_str_eq(fx.last[CP_EVENT_CONSOLE].text,
			 "12:34:56 USER DSC   LOGOFF AS  BOB      USERS = 2    ");
}

TEST(force)
{
	const struct guest_description mail = { .name = "MAIL", .cpus = 1, .operating = 1 };
	char err[256];

	ck_guest("FORCE BOB", 0, "");
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 0);
	fx_use(BOB);
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 1);
	ck_guest("FORCE *", 0, "");
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 2);
	ck_guest("FORCE CAROL", 45, "HCPFOR045E CAROL not logged on\n");
	ck_guest("FORCE OPERATOR", 45, "HCPFOR045E OPERATOR not logged on\n");
	ck_guest("FORCE", 20, "HCPFOR020E Userid missing or invalid\n");
	ck_guest("FORCE BOB NOW", 3, EXTRA("FOR", "NOW"));
	ck_assert_int_eq(guests_describe(fx.cp, &mail, err, sizeof(err)), 0);
	ck_guest("FORCE MAIL", 0, "");
	ck_guest("QUERY MAIL", 45, "HCPCQU045E MAIL not logged on\n");
	ck_guest("XAUTOLOG MAIL", 0, "Command accepted\n");
	ck_guest("QUERY MAIL", 0, "MAIL     - DSC\n");
	ck_assert_uint_eq(fx.machine[CP_MACHINE_LOGOFF], 2);
}

/* Not of class A: the command does not exist. */
TEST(force_without_class)
{
	fx_logon(CAROL, "CAROL", (const char *const[]){ "class", "BG", NULL });
	ck_guest("FORCE BOB", 1, UNKNOWN("FORCE"));
}

/* The system's host starts it, and it logs on when it is there. */
TEST(autolog)
{
	ck_guest("XAUTOLOG BOB", 54, "HCPAUT054E BOB already logged on\n");
	ck_guest("XAUTOLOG CAROL", 53, "HCPAUT053E CAROL not in CP directory\n");
	ck_assert_str_eq(fx_clock.started, "");
	strcpy(fx_clock.directory, " BOB CAROL ");
	fx_clock.busy = true;
	ck_guest("XAUTOLOG CAROL", 361, "HCPAUT361E LOGOFF/FORCE pending for user CAROL\n");
	fx_clock.busy = false;
	ck_guest("XAUTOLOG CAROL IPL 190", 0, "Command accepted\n");
	ck_assert_str_eq(fx_clock.started, "CAROL");
	ck_guest("QUERY CAROL", 45, "HCPCQU045E CAROL not logged on\n");
	logon(CAROL, "CAROL", "1");
	ck_guest("XAUTOLOG CAROL", 54, "HCPAUT054E CAROL already logged on\n");
}

/* Who has filed a segment, whoever asks; and its users over all. */
TEST(segments)
{
	const char *reply;

	ck_guest("DEFSEG DATA A00-A0F SR", 0,
		 "HCPNSD440I Saved segment DATA was successfully defined in fileid 0002.\n");
	fx_use(BOB);
	reply = run_as(CPCMD_GUEST, "QUERY NSS NAME DATA", 0);
	ck_assert_ptr_nonnull(strstr(reply, "NSS  S"));
	fx_logoff(ALICE);
	reply = run_as(CPCMD_GUEST, "QUERY NSS ALL", 0);
	ck_assert_ptr_nonnull(strstr(reply, "DATA"));
}

/* Real neighbours: their own CPUs, storage and time since they have logged on. */
TEST(data)
{
	struct guest_data data;

	fx_clock.tod += MINUTE;
	logon(CAROL, "CAROL", "3");
	fx_clock.tod += MINUTE;
	guests_data(fx.cp, "BOB", &data);
	ck_assert_str_eq(data.name, "BOB");
	ck_assert_uint_eq(data.online_us, 120000000);
	ck_assert_uint_eq(data.cpu_us, 240000000);
	ck_assert_uint_eq(data.cpus, 2);
	ck_assert_uint_eq(data.physical, 4);
	ck_assert_uint_eq(data.storage_max, 4096);
	fx_use(BOB);
	guests_data(fx.cp, "CAROL", &data);
	ck_assert_uint_eq(data.online_us, 60000000);
	ck_assert_uint_eq(data.cpus, 3);
	ck_assert_uint_eq(data.logical, 4);
}
