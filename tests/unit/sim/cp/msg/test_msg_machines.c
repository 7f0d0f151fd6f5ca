/* SPDX-License-Identifier: MIT */
/* *MSG and messages between the virtual machines of one system. */
#include "command_check.h"
#include "iucv_guest.h"
#include "zvmlab/fault.h"

enum { ALICE, BOB, CAROL };

static uint16_t path[3];

/* SET SMSG IUCV and a path to *MSG. */
static void connect_msg(unsigned int machine, const char *name)
{
	static const char *const directory[] = { "directory", "IUCV *MSG", NULL };

	fx_logon(machine, name, directory);
	fx_declare(0);
	path[machine] = connected_to("*MSG", 255);
	take(IUCV_COMPLETE, path[machine]);
	ck_guest("SET SMSG IUCV", 0, "");
}

static void setup(void)
{
	fx_system(NULL);
	connect_msg(ALICE, "ALICE");
	connect_msg(BOB, "BOB");
	/* The operator's console has told of their log-on. */
	for (unsigned int i = ALICE; i <= BOB; i++) {
		fx_use(i);
		fx.events[CP_EVENT_CONSOLE] = 0;
	}
}

FX_REPLAY_TRACES;

CASE("msg machines", setup, fx_teardown);

static void ck_arrived(unsigned int machine, const char *from, const char *text)
{
	const size_t len = strlen(text);
	uint8_t expected[256];
	const uint8_t *event;

	fx_use(machine);
	event = take(IUCV_MSG_PENDING, path[machine]);
	ck_assert_uint_eq(get_be32(event + IPBFLN1F), MSG_TEXT + len);
	ck_assert_uint_eq(get_be32(event + IPTRGCLS), 4);
	ck_cc(message(IUCV_RECEIVE, path[machine], IPFGPID | IPFGMID, get_be32(event + IPMSGID), 0,
		      DATA, 256), 0);
	ebcdic_name(expected + MSG_SENDER, from);
	ebcdic_encode(expected + MSG_TEXT, text, len);
	ck_assert_mem_eq(fx_at(DATA, MSG_TEXT + len), expected, MSG_TEXT + len);
	ck_assert_ptr_null(fx_take(0));
}

TEST(each_way)
{
	fx_use(ALICE);
	ck_guest("SMSG BOB from one", 0, "");
	ck_assert_ptr_null(fx_take(0));
	fx_use(BOB);
	ck_guest("SMSG ALICE from the other", 0, "");
	ck_arrived(ALICE, "BOB", "from the other");
	ck_arrived(BOB, "ALICE", "from one");
}

/* SET SMSG is each machine's own. */
TEST(settings)
{
	fx_use(BOB);
	ck_guest("SET SMSG OFF", 0, "");
	ck_guest("SMSG ALICE on", 0, "");
	ck_arrived(ALICE, "BOB", "on");
	ck_guest("SMSG BOB off", 57, "HCPMFS057I BOB not receiving; disconnected\n");
	ck_guest("SMSG CAROL nobody", 45, "HCPSMS045E CAROL not logged on\n");
	connect_msg(CAROL, "CAROL");
	fx_use(ALICE);
	ck_guest("SMSG CAROL somebody", 0, "");
	ck_arrived(CAROL, "ALICE", "somebody");
}

/* A line on the console of the machine that it is for, and on no other. */
TEST(consoles)
{
	fx_use(ALICE);
	ck_guest("MSG BOB hello", 0, "");
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 0);
	fx_use(BOB);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_assert_str_eq(fx.last[CP_EVENT_CONSOLE].name, "BOB");
	ck_assert_ptr_nonnull(strstr(fx.last[CP_EVENT_CONSOLE].text, "* MSG FROM ALICE   : hello"));
	ck_guest("SET SMSG ON", 0, "");
	fx_use(ALICE);
	ck_guest("SMSG BOB again", 0, "");
	fx_use(BOB);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 2);
	ck_assert_ptr_nonnull(strstr(fx.last[CP_EVENT_CONSOLE].text, "* SMSG FROM ALICE   : again"));
	ck_assert_ptr_null(fx_take(0));
}

#define NO(what) "HCPMFS057I BOB not receiving; " what " off\n"

/* SET MSG and SET WNG are each machine's own, and each is for its kind. */
TEST(switches)
{
	fx_use(BOB);
	ck_guest("SET MSG OFF", 0, "");
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY SET", 0), "MSG OFF, WNG ON , EMSG"));
	fx_use(ALICE);
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY SET", 0), "MSG ON , WNG ON , EMSG"));
	ck_guest("MSG BOB hello", 57, NO("MSG"));
	ck_operator("MSGNOH BOB hello", 57, NO("MSG"));
	ck_operator("WARNING BOB hello", 0, "");
	ck_guest("SMSG BOB hello", 0, "");
	fx_use(BOB);
	ck_assert_uint_eq(fx.events[CP_EVENT_CONSOLE], 1);
	ck_guest("SET WNG OFF\nSET MSG ON", 0, "");
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY SET", 0), "MSG ON , WNG OFF, EMSG"));
	fx_use(ALICE);
	ck_operator("WNG BOB hello", 57, NO("WNG"));
	ck_guest("MSG BOB hello", 0, "");
	ck_guest("SET MSG IUCV", 3, INVALID("CFS", "IUCV"));
	ck_guest("SET WNG", 26, MISSING("CFS"));
}

/* All buffers of one are in use: the other's are not. */
TEST(buffers)
{
	fx_use(ALICE);
	for (int i = 0; i < 255; i++)
		ck_guest("SMSG BOB A", 0, "");
	ck_guest("SMSG BOB A", 57, "HCPMFS057I BOB not receiving; disconnected\n");
	ck_guest("SMSG ALICE A", 0, "");
	ck_arrived(ALICE, "ALICE", "A");
}

/* The path of one that is reset, or logs off, goes; the other's stays. */
TEST(end)
{
	fx_use(BOB);
	ck_guest("SMSG ALICE early", 0, "");
	cp_reset(fx.cp);
	ck_arrived(ALICE, "BOB", "early");
	/* SMSG stays IUCV: without a path the console shows it. */
	ck_guest("SMSG BOB late", 0, "");
	fx_use(BOB);
	ck_assert_ptr_nonnull(strstr(fx.last[CP_EVENT_CONSOLE].text, "late"));
	ck_guest("SMSG ALICE still", 0, "");
	ck_arrived(ALICE, "BOB", "still");
	fx_logoff(BOB);
	ck_guest("SMSG BOB gone", 45, "HCPSMS045E BOB not logged on\n");
	ck_guest("SMSG ALICE mine", 0, "");
	ck_arrived(ALICE, "ALICE", "mine");
	connect_msg(BOB, "BOB");
	fx_use(ALICE);
	ck_guest("SMSG BOB back", 0, "");
	ck_arrived(BOB, "ALICE", "back");
}

/* A fault for the messages of one user. */
TEST(fault_of_one)
{
	const struct fault_rule rule = {
		.point = FAULT_MSG_MESSAGE, .path = FAULT_ANY_PATH, .kind = FAULT_DROP, .user = "BOB",
	};

	fx_use(ALICE);
	fx_arm(&rule);
	ck_guest("SMSG BOB lost", 0, "");
	ck_guest("SMSG ALICE kept", 0, "");
	ck_arrived(ALICE, "ALICE", "kept");
	fx_use(BOB);
	ck_assert_ptr_null(fx_take(0));
}
