/* SPDX-License-Identifier: MIT */
/*
 * STHYI, Store Hypervisor Information: what capacity of CPUs there is at each level, from
 * the machine to this guest.
 *
 * The layout is that of INFBK in z/VM 7.3's HCPGPI; names of fields are given beside it.
 * What is not listed is zero.
 */
#include <string.h>

#include "cp_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "text.h"
#include "zvmlab/input.h"

/* Function codes in bits 48-63 of R1.  Those after the first are for users with an OPTION. */
enum { CODE_CAPACITY = 0, CODE_LAST = 6 };

/* In R2+1. */
enum { RC_SUCCESS = 0, RC_UNSUPPORTED = 4, RC_UNAUTHORIZED = 8 };

/* A bit for each function code, the leftmost for 0. */
#define CODES_INSTALLED 0xfe
#define CODES_AUTHORIZED 0x80

/* Header; offsets are from the beginning of the response. */
enum {
	HEADER_LEVELS = 7,		/* INFHYGCT 1: hypervisors and guests */
	HEADER_TOTAL = 8,		/* INFHTOTL 2 */
	HEADER_LENGTH = 10,		/* INFHDLN 2 */
	HEADER_SECTIONS = 12,		/* 2 and 2 each: offset and length */
	HEADER_SIZE = 48,
};

/* INF0MAC: the machine. */
enum {
	MACHINE_VALID = 2,		/* INFMVAL1 1 */
	MACHINE_SHARED = 4,		/* INFMSCPS 2: CPs */
	MACHINE_DEDICATED = 6,		/* INFMDCPS 2 */
	MACHINE_TYPE = 20,		/* INFMTYPE 4 */
	MACHINE_MANUFACTURER = 24,	/* INFMMANU 16 */
	MACHINE_SEQUENCE = 40,		/* INFMSEQ 16 */
	MACHINE_PLANT = 56,		/* INFMPMAN 4 */
	MACHINE_SIZE = 80,
	MACHINE_VALID_COUNTS = 0x80,
	MACHINE_VALID_ID = 0x40,
	MACHINE_VALID_ZIIPS = 0x08,
};

/* INF0PAR: the logical partition. */
enum {
	PARTITION_VALID = 2,		/* INFPVAL1 1 */
	PARTITION_NUMBER = 4,		/* INFPPNUM 2 */
	PARTITION_SHARED = 6,		/* INFPSCPS 2: CPs */
	PARTITION_DEDICATED = 8,	/* INFPDCPS 2 */
	PARTITION_NAME = 16,		/* INFPPNAM 8 */
	PARTITION_SIZE = 80,
	PARTITION_VALID_COUNTS = 0x80,
	PARTITION_VALID_WEIGHT = 0x40,	/* caps, none here: zero */
	PARTITION_VALID_ABSOLUTE = 0x20,
	PARTITION_VALID_ID = 0x10,
	PARTITION_VALID_GROUP = 0x08,	/* in no group: zero */
	PARTITION_VALID_ZIIPS = 0x02,
};

/* INF0HYP: the hypervisor. */
enum {
	HYPERVISOR_VALID = 2,		/* INFYVAL1 1 */
	HYPERVISOR_TYPE = 4,		/* INFYTYPE 1 */
	HYPERVISOR_SYSTEM = 8,		/* INFYSYID 8 */
	HYPERVISOR_CLUSTER = 16,	/* INFYCLNM 8: blank without SSI */
	HYPERVISOR_SHARED = 24,		/* INFYSCPS 2: CPs shared by guests */
	HYPERVISOR_INSTALLED = 32,	/* INFYINSF 8 */
	HYPERVISOR_AUTHORIZED = 40,	/* INFYAUTF 8 */
	HYPERVISOR_SIZE = 56,
	HYPERVISOR_VALID_ZIIPS = 0x80,
	HYPERVISOR_IS_VM = 1,
};

/* INF0GST: the guest. */
enum {
	GUEST_VALID = 2,		/* INFGVAL1 1 */
	GUEST_USERID = 4,		/* INFGUSID 8 */
	GUEST_SHARED = 12,		/* INFGSCPS 2: virtual CPs; not capped: INFGCPCC is zero */
	GUEST_POOL = 40,		/* INFGPNAM 8: blank, in no pool */
	GUEST_SIZE = 72,
	GUEST_VALID_ZIIPS = 0x80,
};

static void put_machine(const struct cp *cp, uint8_t *to)
{
	const struct cp_machine *machine = &cp->config.machine;

	to[MACHINE_VALID] = MACHINE_VALID_COUNTS | MACHINE_VALID_ID | MACHINE_VALID_ZIIPS;
	/* The one partition has all CPUs of the machine. */
	put_be16(to + (machine->dedicated ? MACHINE_DEDICATED : MACHINE_SHARED),
		 (uint16_t)cp->system->config.cpus);
	text_field(to + MACHINE_TYPE, machine->type, 4);
	text_field(to + MACHINE_MANUFACTURER, machine->manufacturer, 16);
	text_field(to + MACHINE_SEQUENCE, machine->sequence, 16);
	text_field(to + MACHINE_PLANT, machine->plant, 4);
}

static void put_partition(const struct cp *cp, uint8_t *to)
{
	const struct cp_machine *machine = &cp->config.machine;

	to[PARTITION_VALID] = PARTITION_VALID_COUNTS | PARTITION_VALID_WEIGHT |
			      PARTITION_VALID_ABSOLUTE | PARTITION_VALID_ID |
			      PARTITION_VALID_GROUP | PARTITION_VALID_ZIIPS;
	put_be16(to + PARTITION_NUMBER, machine->partition);
	put_be16(to + (machine->dedicated ? PARTITION_DEDICATED : PARTITION_SHARED),
		 (uint16_t)cp->system->config.cpus);
	text_field(to + PARTITION_NAME, machine->partition_name, 8);
}

static void put_hypervisor(const struct cp *cp, uint8_t *to)
{
	to[HYPERVISOR_VALID] = HYPERVISOR_VALID_ZIIPS;
	to[HYPERVISOR_TYPE] = HYPERVISOR_IS_VM;
	ebcdic_name(to + HYPERVISOR_SYSTEM, CP_SYSTEM_ID);
	ebcdic_name(to + HYPERVISOR_CLUSTER, "");
	/* However the partition has its CPUs, CP's guests share them. */
	put_be16(to + HYPERVISOR_SHARED, (uint16_t)cp->system->config.cpus);
	to[HYPERVISOR_INSTALLED] = CODES_INSTALLED;
	to[HYPERVISOR_AUTHORIZED] = CODES_AUTHORIZED;
}

static void put_guest(const struct cp *cp, uint8_t *to)
{
	assert(cp->config.cpus > 0 && cp->config.cpus <= CP_MAX_CPUS);
	to[GUEST_VALID] = GUEST_VALID_ZIIPS;
	ebcdic_name(to + GUEST_USERID, cp->config.userid);
	put_be16(to + GUEST_SHARED, (uint16_t)cp_cpu_count(cp));
	ebcdic_name(to + GUEST_POOL, "");
}

/* Return: the length of the response. */
static size_t build(const struct cp *cp, uint8_t *response)
{
	static const uint16_t sizes[] = {
		MACHINE_SIZE, PARTITION_SIZE, HYPERVISOR_SIZE, GUEST_SIZE,
	};
	uint8_t *section[sizeof(sizes) / sizeof(sizes[0])], *entry = response + HEADER_SECTIONS;
	uint16_t at = HEADER_SIZE;

	memset(response, 0, CP_PAGE_SIZE);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++, entry += 4) {
		section[i] = response + at;
		put_be16(entry, at);
		put_be16(entry + 2, sizes[i]);
		at += sizes[i];
	}
	assert(at <= CP_PAGE_SIZE);
	response[HEADER_LEVELS] = 1;
	put_be16(response + HEADER_TOTAL, at);
	put_be16(response + HEADER_LENGTH, HEADER_SIZE);
	put_machine(cp, section[0]);
	put_partition(cp, section[1]);
	put_hypervisor(cp, section[2]);
	put_guest(cp, section[3]);
	return at;
}

static struct cp_result refused(const struct cp_insn *insn, unsigned int r2, uint64_t rc)
{
	assert(r2 < 15 && rc != RC_SUCCESS);
	insn->gr[r2 + 1] = rc;
	return cp_cc(3);
}

static struct cp_result sthyi(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			      unsigned int r2, uint8_t *response)
{
	const uint16_t code = (uint16_t)insn->gr[r1];
	size_t len;

	if (r1 == r2 || r1 % 2 != 0 || r2 % 2 != 0)
		return cp_program(PGM_SPECIFICATION);
	if (code > CODE_LAST)
		return refused(insn, r2, RC_UNSUPPORTED);
	if (code != CODE_CAPACITY)
		return refused(insn, r2, RC_UNAUTHORIZED);
	if (insn->gr[r2] % CP_PAGE_SIZE != 0)
		return cp_program(PGM_SPECIFICATION);
	len = build(cp, response);
	trace_bytes(cp, "response", response, len);
	insn->gr[r2 + 1] = RC_SUCCESS;
	return cp_cc(0);
}

struct cp_result cp_sthyi(struct cp *cp, const struct cp_insn *insn, unsigned int r1,
			  unsigned int r2, uint8_t response[CP_PAGE_SIZE])
{
	struct cp_result result;

	assert(insn->cpu < cp->config.cpus && r1 < 16 && r2 < 16);
	TRACE_INPUT(cp, sthyi, .cpu = insn->cpu, .r1 = r1, .r2 = r2, .gr = insn->gr);
	result = sthyi(cp, insn, r1, r2, response);
	if (result.how == CP_CC)
		trace_number(cp, "rc", insn->gr[r2 + 1]);
	trace_end_result(cp, &result);
	return result;
}
