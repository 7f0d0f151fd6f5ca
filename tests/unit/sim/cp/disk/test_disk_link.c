/* SPDX-License-Identifier: MIT */
/* Virtual disks that other machines have linked: who may, what they share, and when it ends. */
#include "command_check.h"
#include "disk_check.h"

enum { ALICE, BOB, CAROL };

#define BOBS 0x0200
#define LINKED 0x0300

/* BOB's own is 0200; the others have statements for it. */
static void logon(unsigned int machine, const char *name, const char *directory)
{
	fx_logon(machine, name, (const char *const[]){ "directory", directory, "storage", "0.4M",
						       NULL });
}

static void setup(void)
{
	fx_system(NULL);
	logon(BOB, "BOB", "MDISK 0200 FB-512 V-DISK 64 MW");
	logon(ALICE, "ALICE", "LINK BOB 0200 0300 RR;LINK BOB 0201 0301 R");
}

FX_REPLAY_TRACES;

CASE("disk link", setup, fx_teardown);

/* By DIAGNOSE X'250': one block, as the guest has it. */
static uint8_t transfer(uint16_t device, uint8_t type)
{
	new_list(device, true);
	diag250(TERM_BIO);
	set_up(device, 512, 0);
	diag250(INIT_BIO);
	put_entry(0, type, 3);
	put_request(device, 1, false);
	diag250(RW_BIO);
	return entry_status(0);
}

TEST(one_writes_the_other_reads)
{
	fx_use(BOB);
	memset(fx_at(DATA, 512), 0x5a, 512);
	ck_assert_uint_eq(transfer(BOBS, WRITE_BLOCK), 0);
	fx_use(ALICE);
	ck_assert_uint_eq(transfer(LINKED, READ_BLOCK), 0);
	for (unsigned int i = 0; i < 512; i++)
		ck_assert_uint_eq(*fx_at(DATA + i, 1), 0x5a);
	/* By its mode; status 3 of an entry is "read-only". */
	ck_assert_uint_eq(transfer(LINKED, WRITE_BLOCK), 3);
	ck_assert(info_of(0).read_only);
	ck_assert_uint_eq(info_of(0).blocks, 64);
	ck_assert_uint_eq(info_of(0).device, LINKED);
	ck_guest("QUERY VIRTUAL DASD", 0,
		 "DASD 0300 9336 (VDSK) R/O         64 BLK ON DASD  VDSK SUBCHANNEL = 0000\n");
}

/* Environments are each machine's own. */
TEST(environments)
{
	fx_use(BOB);
	established(BOBS, 4096);
	fx_use(ALICE);
	set_up(LINKED, 512, 0);
	ck_250(INIT_BIO, 0, 4);
	ck_assert_uint_eq(info_of(0).block_size, 512);
	ck_guest("DETACH 300", 0, "DASD 0300 DETACHED\n");
	set_up(LINKED, 512, 0);
	ck_250(INIT_BIO, 2, 16);
	ck_guest("DETACH 300", 40, "HCPDTV040E Device 0300 does not exist\n");
	ck_guest("LINK BOB 200 300 RR", 0, "DASD 0300 LINKED R/O; R/W by BOB\n");
	set_up(LINKED, 4096, 0);
	ck_250(INIT_BIO, 0, 4);
	fx_use(BOB);
	ck_assert_uint_eq(info_of(0).block_size, 4096);
}

/* Modes: BOB has it read/write, CAROL not at all, read-only, or read/write, too. */
static const struct {
	const char *mode;
	int alone, reader, writer;	/* 0: read-only, 1: read/write, or the message's number */
} modes[] = {
	{ "R", 0, 0, 104 }, { "RR", 0, 0, 0 }, { "W", 1, 105, 104 }, { "WR", 1, 0, 0 },
	{ "M", 1, 1, 104 }, { "MR", 1, 1, 0 }, { "MW", 1, 1, 1 },
};

static void ck_link(const char *mode, int expected)
{
	char command[64];
	int rc;

	ck_guest("DETACH 300", 0, "DASD 0300 DETACHED\n");
	snprintf(command, sizeof(command), "LINK TO CAROL 0400 AS 0300 %s", mode);
	rc = cpcmd_run(fx.cp, CPCMD_GUEST, command, strlen(command))->rc;
	ck_assert_int_eq(rc, expected > 1 ? expected : 0);
	if (rc == 0)
		ck_assert_int_eq(info_of(0).read_only, expected == 0);
	else
		run_as(CPCMD_GUEST, "LINK CAROL 0400 0300 RR", 0);
}

TEST_EACH(mode, modes)
{
	const char *mode = modes[_i].mode;

	logon(CAROL, "CAROL", "MDISK 0400 FB-512 V-DISK 64 R;LINK CAROL 0400 0401 RR");
	fx_use(ALICE);
	ck_link(mode, modes[_i].reader);
	fx_logoff(CAROL);
	logon(CAROL, "CAROL", "MDISK 0400 FB-512 V-DISK 64 MW;LINK CAROL 0400 0401 RR");
	fx_use(ALICE);
	ck_link(mode, modes[_i].writer);
}

TEST(not_linked)
{
	fx_use(ALICE);
	ck_guest("LINK BOB 200 300", 110, "HCPLNM110E BOB 200 not linked; 0300 is defined already\n");
	ck_guest("LINK BOB 200 301", 104, "HCPLNM104E BOB 200 not linked; R/W by BOB\n");
	ck_guest("LINK BOB 200 302", 110, "HCPLNM110E BOB 200 not linked; 0302 is in no LINK "
		 "statement\n");
	ck_guest("LINK BOB 201 301", 107, "HCPLNM107E BOB 201 not linked; no device\n");
	ck_guest("LINK CAROL 200 301", 53, "HCPLNM053E CAROL not in CP directory\n");
	ck_guest("LINK BOB 200 301 XX", 3, INVALID("LNM", "XX"));
	ck_guest("LINK BOB 200 301 RR NOW", 3, EXTRA("LNM", "NOW"));
	ck_guest("LINK BOB 200 30X", 22,
		 "HCPLNM022E A virtual device number was not supplied or it was invalid.\n");
	ck_guest("LINK BOB 200 301 RR", 0, "DASD 0301 LINKED R/O; R/W by BOB\n");
}

/* The disk is there while anybody has it linked. */
TEST(owner_logs_off)
{
	fx_use(BOB);
	put_blocks(BOBS, 0, 64, 0x11);
	fx_logoff(BOB);
	fx_use(ALICE);
	ck_blocks(LINKED, 0, 64, 0x11);
	logon(BOB, "BOB", "MDISK 0200 FB-512 V-DISK 64 MW");
	fx_use(BOB);
	ck_blocks(BOBS, 0, 64, 0x11);
	fx_logoff(ALICE);
	fx_logoff(BOB);
	logon(BOB, "BOB", "MDISK 0200 FB-512 V-DISK 64 MW");
	fx_use(BOB);
	ck_blocks(BOBS, 0, 64, 0);
	/* One that was not there at log-on. */
	logon(ALICE, "ALICE", "LINK CAROL 0200 0300 RR");
	fx_use(ALICE);
	ck_guest("QUERY VIRTUAL 300", 40, "HCPQVD040E Device 0300 does not exist\n");
	ck_guest("LINK BOB 200 300 WR", 0, "DASD 0300 LINKED R/O; R/W by BOB\n");
}

/* As it was when it was saved, whatever has been linked since. */
TEST(saved)
{
	uint8_t *image;
	size_t len;

	fx_use(ALICE);
	put_blocks(LINKED, 0, 8, 0x22);
	image = fx_save(&len);
	ck_guest("DETACH 300\nLINK BOB 200 301 MW", 0,
		 "DASD 0300 DETACHED\nDASD 0301 LINKED R/W; R/W by BOB\n");
	put_blocks(0x0301, 0, 8, 0x33);
	fx_load(image, len);
	free(image);
	ck_assert_uint_eq(info_of(0).device, LINKED);
	ck_assert(info_of(0).read_only);
	ck_blocks(LINKED, 0, 8, 0x22);
	fx_use(BOB);
	ck_blocks(BOBS, 0, 8, 0x22);
}
