/* SPDX-License-Identifier: MIT */
/* DETACH of devices: what the guest has no longer, and what becomes of files and disks. */
#include <stdlib.h>

#include "disk/disk_private.h"
#include "spool/spool_private.h"
#include "spool_check.h"
#include "zvmlab/unit.h"

#define DASD 0x0200
#define ENTRY SPOOL_DIRECTORY ";MDISK 0200 FB-512 V-DISK 64 MW;MDISK 0201 FB-512 V-DISK 8 MW"
#define GONE(device) "HCPDTV040E Device " device " does not exist\n"

static unsigned int changes;

static void devices_changed(void *opaque)
{
	(void)opaque;
	changes++;
}

static void setup(void)
{
	fx_setup_with((const char *const[]){ "directory", ENTRY, NULL });
	fx.cp->host.devices_changed = devices_changed;
	changes = 0;
}

static const struct {
	const char *number, *reply;
	uint16_t device;
	uint8_t command;
} each[] = {
	{ "C", "RDR  000C DETACHED\n", READER, 0x02 },
	{ "00D", "PUN  000D DETACHED\n", PUNCH, 0x01 },
	{ "000E", "PRT  000E DETACHED\n", PRINTER, 0x01 },
	{ "200", "DASD 0200 DETACHED\n", DASD, 0x63 },
};

static unsigned int there(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < sizeof(each) / sizeof(each[0]); i++)
		count += cp_has_device(fx.cp, each[i].device);
	return count;
}

FX_REPLAY_TRACES;

CASE("detach", setup, fx_teardown);

TEST_EACH(no_longer_a_device, each)
{
	char command[64];

	ck_assert_uint_eq(there(), 4);
	snprintf(command, sizeof(command), "DETACH %s", each[_i].number);
	ck_guest(command, 0, each[_i].reply);
	ck_assert_uint_eq(changes, 1);
	ck_assert(!cp_has_device(fx.cp, each[_i].device));
	ck_assert_uint_eq(there(), 3);
	ck_assert_int_eq(cp_unit_way(fx.cp, each[_i].device, each[_i].command), CP_UNIT_REJECT);
	run_as(CPCMD_GUEST, command, 40);
	snprintf(command, sizeof(command), "QUERY VIRTUAL %s", each[_i].number);
	run_as(CPCMD_GUEST, command, 40);
	ck_assert_uint_eq(changes, 1);
	/* A reset is no log-on. */
	cp_reset(fx.cp);
	ck_assert_uint_eq(there(), 3);
}

TEST(several)
{
	ck_guest("DETACH C 9 D 1234 200", 40, "RDR  000C DETACHED\n"
					      "HCPDTV006E Invalid device type - 0009\n"
					      "PUN  000D DETACHED\n"
					      GONE("1234")
					      "DASD 0200 DETACHED\n");
	ck_assert_uint_eq(there(), 1);
	ck_guest("DETACH E", 0, "PRT  000E DETACHED\n");
	run_as(CPCMD_GUEST, "QUERY VIRTUAL UR", 3);
	run_as(CPCMD_GUEST, "CLOSE PUNCH", 40);
	run_as(CPCMD_GUEST, "SPOOL PRINTER CLASS B", 40);
	ck_guest("QUERY VIRTUAL DASD", 0,
		 "DASD 0201 9336 (VDSK) R/W          8 BLK ON DASD  VDSK SUBCHANNEL = 0000\n");
}

/* As by CLOSE. */
TEST(file_being_written)
{
	ck_assert_uint_eq(punch("a card"), CP_UNIT_ENDED);
	ck_assert(fx.cp->unit[1].file != 0);
	ck_guest("DETACH D", 0, "PUN  000D DETACHED\n");
	ck_assert_ptr_nonnull(spool_nth(fx.cp, "LINUX001", SPOOL_PUN, 0));
	ck_assert(!spool_nth(fx.cp, "LINUX001", SPOOL_PUN, 0)->open);
}

TEST(saved)
{
	uint8_t *before, *after;
	size_t before_len, after_len;

	fx.cp->disks->disk[0].shared->data[5] = 0x77;
	before = fx_save(&before_len);
	ck_guest("DETACH C 200", 0, "RDR  000C DETACHED\nDASD 0200 DETACHED\n");
	after = fx_save(&after_len);
	fx_load(before, before_len);
	ck_assert_uint_eq(there(), 4);
	ck_assert_uint_eq(fx.cp->disks->disk[0].shared->data[5], 0x77);
	fx_load(after, after_len);
	ck_assert_uint_eq(there(), 2);
	free(before);
	free(after);
}
