/* SPDX-License-Identifier: MIT */
/* Machines of a system that go on as one that was alone when it was saved, each under its own name. */
#include <stdlib.h>

#include "command_check.h"
#include "iucv_guest.h"
#include "state_check.h"

enum { ALICE, BOB };

#define ALICE_IS "ALICE    AT ZVMLAB\n"

static uint8_t *image;
static size_t len;
static uint16_t msg_path;
static uint64_t buffer;

static void setup_alone(const char *userid)
{
	fx_setup_with((const char *const[]){
		"userid", userid, "directory", "IUCV *MSG;IUCV *LOGREC;IUCV ANY;NAMESAVE MONDCSS", NULL });
}

static void save(void)
{
	image = fx_save(&len);
	fx_teardown();
}

/* The machine to be saved: it has *MSG, and has set something. */
static void begin(void)
{
	setup_alone(CP_BASE_USERID);
	cp_ipl(fx.cp);
	fx_declare(0);
	ck_assert(iucv_declared(fx.cp, 0, &buffer));
	msg_path = connected_to("*MSG", 255);
	take(IUCV_COMPLETE, msg_path);
	ck_guest("SET SMSG IUCV\nSET WNG OFF\nTERMINAL LINESIZE 100", 0, "");
}

static void logon(unsigned int machine, const char *userid)
{
	fx_logon(machine, userid, (const char *const[]){
		"directory", "IUCV *MSG;IUCV *LOGREC;IUCV ANY;NAMESAVE MONDCSS", NULL });
}

static void begin_system(void)
{
	fx_system(NULL);
	logon(ALICE, "ALICE");
	logon(BOB, "BOB");
}

static void setup(void)
{
	image = NULL;
}

static void teardown(void)
{
	free(image);
	fx_teardown();
}

FX_REPLAY_TRACES;

CASE("state base", setup, teardown);

static void ck_load_machine(unsigned int machine)
{
	char err[512];

	fx_use(machine);
	ck_assert_msg(cp_load_machine(fx.cp, image, len, err, sizeof(err)) == 0, "%s", err);
}

/* It is refused with @why, and the machine is as it was. */
static void ck_not_loaded(const char *why)
{
	char err[512], expected[512];
	uint64_t addr;

	fx_use(ALICE);
	snprintf(expected, sizeof(expected),
		 "the CP's state cannot be loaded from the image: %s", why);
	ck_assert_int_eq(cp_load_machine(fx.cp, image, len, err, sizeof(err)), -1);
	ck_assert_str_eq(err, expected);
	ck_assert(!iucv_declared(fx.cp, 0, &addr));
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY SET", 0), "WNG ON , "));
}

static void ck_arrived(unsigned int machine, const char *from, const char *text)
{
	const uint8_t *event;
	char sender[9];

	fx_use(machine);
	event = take(IUCV_MSG_PENDING, msg_path);
	ck_assert_uint_eq(get_be32(event + IPBFLN1F), 8 + strlen(text));
	ck_cc(message(IUCV_RECEIVE, msg_path, IPFGPID | IPFGMID, get_be32(event + IPMSGID), 0,
		      DATA, 256), 0);
	ebcdic_decode(sender, fx_at(DATA, 8), 8);
	sender[8] = '\0';
	ck_assert_int_eq(strncmp(sender, from, strlen(from)), 0);
}

/* Each under its own name, with what the one that was saved had, and known to the others. */
TEST(go_on)
{
	uint64_t addr;

	begin();
	save();
	begin_system();
	for (unsigned int i = ALICE; i <= BOB; i++) {
		ck_load_machine(i);
		ck_assert(iucv_declared(fx.cp, 0, &addr));
		ck_assert_uint_eq(addr, buffer);
		ck_guest("QUERY USERID", 0, i == ALICE ? ALICE_IS : "BOB      AT ZVMLAB\n");
		ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY SET", 0), "WNG OFF, "));
		ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "QUERY TERMINAL", 0),
					     "LINESIZE 100"));
	}
	ck_guest("SMSG ALICE from BOB", 0, "");
	fx_use(ALICE);
	ck_guest("SMSG BOB from ALICE", 0, "");
	ck_arrived(ALICE, "BOB", "from BOB");
	ck_arrived(BOB, "ALICE", "from ALICE");
	fx_use(ALICE);
	ck_assert_uint_gt(connected_to("BOB", 10), msg_path);
	fx_use(BOB);
	ck_assert_uint_eq(fx_take(0)[IPTYPE], IUCV_PENDING);
}

/* One that has been reset can be loaded again, and has one path to *MSG afterwards. */
TEST(again)
{
	begin();
	save();
	begin_system();
	ck_load_machine(ALICE);
	fx_use(BOB);
	ck_guest("SMSG ALICE lost", 0, "");
	fx_use(ALICE);
	cp_reset(fx.cp);
	ck_load_machine(ALICE);
	ck_assert_ptr_null(fx_take(0));
	fx_use(BOB);
	ck_guest("SMSG ALICE told", 0, "");
	ck_arrived(ALICE, "BOB", "told");
	ck_assert_ptr_null(fx_take(0));
}

/* What the saved one had of a system stays where it is. */
TEST(system_stays)
{
	begin();
	ck_arm(FAULT_IUCV_SEND, FAULT_RC, 3);
	ck_operator("RECORDING ACCOUNT OFF", 0,
		    run_as(CPCMD_OPERATOR, "RECORDING ACCOUNT OFF", 0));
	save();
	begin_system();
	ck_load_machine(ALICE);
	ck_guest("SMSG BOB no", 57, "HCPMFS057I BOB not receiving; disconnected\n");
	ck_load_machine(BOB);
	fx_use(ALICE);
	ck_guest("SMSG BOB sent", 0, "");
	ck_arrived(BOB, "ALICE", "sent");
}

TEST(another_name)
{
	setup_alone("ALICE");
	save();
	begin_system();
	ck_not_loaded("it was saved with another configuration; user ID, classes, level, machine, "
		      "number of CPUs and paths, and SPOOL, MDISK, LINK and CPU statements must be "
		      "the same");
}

TEST(not_alone)
{
	begin();
	connected_to("*LOGREC", 10);
	save();
	begin_system();
	ck_not_loaded("the machine is connected to other users by IUCV");
}

TEST(under_way)
{
	begin();
	ck_operator("SMSG " CP_BASE_USERID " waits", 0, "");
	save();
	begin_system();
	ck_not_loaded("the machine has something of IUCV under way");
}

TEST(has_segment)
{
	begin();
	fx_put_name(0x3000, "MONDCSS");
	fx.gr[2] = 0x3000;
	fx.gr[4] = 0x20;	/* LOADSHR */
	ck_cc(fx_diag(2, 4, 0x64), 0);
	save();
	begin_system();
	ck_not_loaded("the machine has loaded saved segments");
}

TEST(not_reset)
{
	char err[512];

	begin();
	save();
	begin_system();
	ck_load_machine(ALICE);
	ck_assert_int_eq(cp_load_machine(fx.cp, image, len, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "the machine has not been reset"));
}

TEST(has_disks)
{
	char err[512];

	begin();
	save();
	fx_system(NULL);
	fx_logon(ALICE, "ALICE", (const char *const[]){
		"directory", "IUCV *MSG;MDISK 0200 FB-512 V-DISK 100", NULL });
	ck_assert_int_eq(cp_load_machine(fx.cp, image, len, err, sizeof(err)), -1);
	ck_assert_ptr_nonnull(strstr(err, "the machine has virtual disks"));
}

/* Whatever an image says: it is loaded or refused, and the machine can be reset and used. */
TEST(damaged)
{
	char err[512];

	begin();
	save();
	begin_system();
	image[len - 1] ^= 1;
	ck_not_loaded("its checksum is wrong; it is damaged");
	for (size_t at = IMAGE_CONFIG; at + STATE_CHECKSUM < len; at += 131) {
		const uint8_t was = image[at];

		image[at] ^= (uint8_t)(1 + at % 255);
		state_sign(image, len);
		fx_use(ALICE);
		if (cp_load_machine(fx.cp, image, len, err, sizeof(err)) == 0)
			ck_guest("QUERY USERID", 0, ALICE_IS);
		cp_reset(fx.cp);
		image[at] = was;
	}
	state_sign(image, len);
	ck_load_machine(ALICE);
}
