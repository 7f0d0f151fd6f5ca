/* SPDX-License-Identifier: MIT */
/*
 * Who the guest takes itself for: STSI, and the number that STIDP stores.  The guest runs on
 * level 3, and level 3 is z/VM; levels 1 and 2 are the machine and CP's partition of it.
 *
 * SYSIBs: z/Architecture PoP, ch. 10.  What is not listed is zero.
 */
#include <stdlib.h>
#include <string.h>

#include "cp_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "text.h"
#include "zvmlab/input.h"

/* GR0: function code in bits 32-35, selector 1 in 56-63; GR1: selector 2 in 48-63. */
#define GR0_FUNCTION UINT64_C(0xf0000000)
#define GR0_RESERVED UINT64_C(0x0fffff00)
#define GR1_RESERVED UINT64_C(0xffff0000)
#define LOW_HALF UINT64_C(0xffffffff)


enum { STSI_CURRENT_LEVEL = 0, STSI_MACHINE = 1, STSI_PARTITION = 2, STSI_VM = 3 };

/* SYSIB 1.1.1: the machine. */
enum {
	MACHINE_ADJUSTMENT = 3,		/* 1: capacity-adjustment indication, percent */
	MACHINE_MANUFACTURER = 32,	/* 16 */
	MACHINE_TYPE = 48,		/* 4 */
	MACHINE_CAPACITY = 64,		/* 16: model-capacity identifier */
	MACHINE_SEQUENCE = 80,		/* 16 */
	MACHINE_PLANT = 96,		/* 4 */
	MACHINE_MODEL = 100,		/* 16 */
	MACHINE_PERMANENT = 116,	/* 16: the same, as bought … */
	MACHINE_TEMPORARY = 132,	/* 16: … and as lent */
};

/* SYSIBs 1.2.1 and 2.2.1: a CPU of the machine, of the partition. */
enum {
	CPU_SEQUENCE = 80,		/* 16 */
	CPU_PLANT = 96,			/* 4 */
	CPU_ID = 100,			/* 2: of the partition's */
	CPU_ADDRESS = 102,		/* 2 */
};

/* SYSIB 1.2.2: the machine's CPUs. */
enum {
	CPUS_SECONDARY = 28,		/* 4: secondary CPU capability */
	CPUS_CAPABILITY = 32,		/* 4 */
	CPUS_TOTAL = 36,		/* 2 */
	CPUS_CONFIGURED = 38,		/* 2 */
	CPUS_FACTORS = 44,		/* 2 each: of 2 CPUs, 3, … */
};

/* SYSIB 2.2.2: the partition. */
enum {
	PARTITION_NUMBER = 32,		/* 2 */
	PARTITION_KIND = 35,		/* 1 */
	PARTITION_CPUS = 36,		/* 2 */
	PARTITION_CONFIGURED = 38,	/* 2 */
	PARTITION_NAME = 44,		/* 8 */
	PARTITION_CAPABILITY = 52,	/* 4: thousandths of the machine's */
	PARTITION_DEDICATED = 72,	/* 2: CPUs */
	PARTITION_SHARED = 74,		/* 2: CPUs */
	KIND_DEDICATED = 0x80,
	KIND_SHARED = 0x40,
};

/* SYSIB 3.2.2: one descriptor of 64 bytes at 32. */
enum {
	SYSIB_COUNT = 31,		/* low four bits: descriptors */
	SYSIB_CPUS = 32 + 4,		/* 2 */
	SYSIB_CONFIGURED = 32 + 6,	/* 2 */
	SYSIB_NAME = 32 + 12,		/* 8 */
	SYSIB_CAPABILITY = 32 + 20,	/* 4: thousandths of the level below */
	SYSIB_PROGRAM = 32 + 24,	/* 16: control-program identifier */
	SYSIB_SIZE = 4096,
};

/*
 * What a CPU of n does of one alone, of 65536: the first by IBM's numbers for a z13, each
 * further one a fiftieth less than the one before (docs/choices.md).
 */
#define FACTOR_OF_TWO 61470u
#define FACTOR_LOSS 50u

/* STIDP stores version, serial number, type and these digits, which all servers have. */
#define ID_VERSION_GUEST UINT64_C(0xff)
#define ID_FORMAT 0x8000u
#define SERIAL_DIGITS 5u

bool cp_stsi_stores(uint64_t gr0)
{
	return (gr0 & GR0_FUNCTION) >> 28 != STSI_CURRENT_LEVEL;
}

uint64_t cp_cpu_id(const struct cp *cp, unsigned int cpu)
{
	const struct cp_machine *machine = &cp->config.machine;
	const size_t len = strlen(machine->sequence);
	uint64_t serial, type;

	assert(cpu < cp->config.cpus && len > SERIAL_DIGITS);
	serial = strtoull(machine->sequence + len - SERIAL_DIGITS, NULL, 16);
	type = strtoull(machine->type, NULL, 16);
	assert(serial < 1u << 4 * SERIAL_DIGITS && type <= UINT16_MAX);
	/* The first of six digits is the CPU's address. */
	return ID_VERSION_GUEST << 56 | (uint64_t)(cpu % 16) << 52 | serial << 32 | type << 16 |
	       ID_FORMAT;
}

static void put_machine(const struct cp *cp, unsigned int cpu, uint8_t *sysib)
{
	const struct cp_machine *machine = &cp->config.machine;

	(void)cpu;
	sysib[MACHINE_ADJUSTMENT] = 100;
	text_field(sysib + MACHINE_MANUFACTURER, machine->manufacturer, 16);
	text_field(sysib + MACHINE_TYPE, machine->type, 4);
	text_field(sysib + MACHINE_CAPACITY, machine->capacity, 16);
	text_field(sysib + MACHINE_SEQUENCE, machine->sequence, 16);
	text_field(sysib + MACHINE_PLANT, machine->plant, 4);
	text_field(sysib + MACHINE_MODEL, machine->model, 16);
	text_field(sysib + MACHINE_PERMANENT, machine->capacity, 16);
	text_field(sysib + MACHINE_TEMPORARY, machine->capacity, 16);
}

static void put_cpu(const struct cp *cp, unsigned int cpu, uint8_t *sysib)
{
	text_field(sysib + CPU_SEQUENCE, cp->config.machine.sequence, 16);
	text_field(sysib + CPU_PLANT, cp->config.machine.plant, 4);
	put_be16(sysib + CPU_ADDRESS, (uint16_t)cpu);
}

static void put_logical_cpu(const struct cp *cp, unsigned int cpu, uint8_t *sysib)
{
	put_cpu(cp, cpu, sysib);
	put_be16(sysib + CPU_ID, (uint16_t)cpu);
}

static void put_cpus(const struct cp *cp, unsigned int cpu, uint8_t *sysib)
{
	uint32_t factor = FACTOR_OF_TWO;

	(void)cpu;
	put_be32(sysib + CPUS_SECONDARY, cp->config.machine.capability);
	put_be32(sysib + CPUS_CAPABILITY, cp->config.machine.capability);
	put_be16(sysib + CPUS_TOTAL, (uint16_t)cp->system->config.cpus);
	put_be16(sysib + CPUS_CONFIGURED, (uint16_t)cp->system->config.cpus);
	for (unsigned int n = 2; n <= cp->system->config.cpus; n++, factor -= factor / FACTOR_LOSS)
		put_be16(sysib + CPUS_FACTORS + 2 * (n - 2), (uint16_t)factor);
}

static void put_partition(const struct cp *cp, unsigned int cpu, uint8_t *sysib)
{
	const struct cp_machine *machine = &cp->config.machine;
	const uint16_t cpus = (uint16_t)cp->system->config.cpus;

	(void)cpu;
	put_be16(sysib + PARTITION_NUMBER, machine->partition);
	sysib[PARTITION_KIND] = machine->dedicated ? KIND_DEDICATED : KIND_SHARED;
	put_be16(sysib + PARTITION_CPUS, cpus);
	put_be16(sysib + PARTITION_CONFIGURED, cpus);
	text_field(sysib + PARTITION_NAME, machine->partition_name, 8);
	put_be32(sysib + PARTITION_CAPABILITY, 1000);
	put_be16(sysib + (machine->dedicated ? PARTITION_DEDICATED : PARTITION_SHARED), cpus);
}

static void put_vm(const struct cp *cp, unsigned int cpu, uint8_t *sysib)
{
	(void)cpu;
	sysib[SYSIB_COUNT] = 1;
	put_be16(sysib + SYSIB_CPUS, (uint16_t)cp_cpu_count(cp));
	put_be16(sysib + SYSIB_CONFIGURED, (uint16_t)cp_cpu_count(cp));
	ebcdic_name(sysib + SYSIB_NAME, cp->config.userid);
	put_be32(sysib + SYSIB_CAPABILITY, 1000);
	assert(strlen(cp->config.level) == 16);
	ebcdic_encode(sysib + SYSIB_PROGRAM, cp->config.level, 16);
}

static const struct {
	uint8_t function, selector1, selector2;
	void (*put)(const struct cp *cp, unsigned int cpu, uint8_t *sysib);
} sysibs[] = {
	{ STSI_MACHINE, 1, 1, put_machine },	{ STSI_MACHINE, 2, 1, put_cpu },
	{ STSI_MACHINE, 2, 2, put_cpus },	{ STSI_PARTITION, 2, 1, put_logical_cpu },
	{ STSI_PARTITION, 2, 2, put_partition },	{ STSI_VM, 2, 2, put_vm },
};

static struct cp_result stsi(struct cp *cp, const struct cp_insn *insn, uint8_t sysib[SYSIB_SIZE])
{
	const uint64_t function = (insn->gr[0] & GR0_FUNCTION) >> 28;

	/* Nothing else is looked at then.  Under z/VM there is no topology, X'F', either. */
	if (function > STSI_VM)
		return cp_cc(3);
	if (insn->gr[0] & GR0_RESERVED || insn->gr[1] & GR1_RESERVED)
		return cp_program(PGM_SPECIFICATION);
	if (function == STSI_CURRENT_LEVEL) {
		insn->gr[0] = (insn->gr[0] & ~LOW_HALF) | (uint64_t)STSI_VM << 28;
		return cp_cc(0);
	}
	assert(cp->config.cpus > 0 && cp->config.cpus <= CP_MAX_CPUS);
	for (size_t i = 0; i < sizeof(sysibs) / sizeof(sysibs[0]); i++) {
		if (function != sysibs[i].function || (insn->gr[0] & 0xff) != sysibs[i].selector1 ||
		    (insn->gr[1] & 0xffff) != sysibs[i].selector2)
			continue;
		memset(sysib, 0, SYSIB_SIZE);
		sysibs[i].put(cp, insn->cpu, sysib);
		trace_bytes(cp, "sysib", sysib, SYSIB_SIZE);
		return cp_cc(0);
	}
	return cp_cc(3);
}

struct cp_result cp_stsi(struct cp *cp, const struct cp_insn *insn, uint8_t sysib[SYSIB_SIZE])
{
	struct cp_result result;
	uint64_t operands[2];

	assert(insn->cpu < cp->config.cpus && !cp->system->recording);
	/* The upper halves are no operands: what a program left there is not CP's to tell. */
	operands[0] = insn->gr[0] & LOW_HALF;
	operands[1] = insn->gr[1] & LOW_HALF;
	TRACE_INPUT(cp, stsi, .cpu = insn->cpu, .gr = operands);
	result = stsi(cp, insn, sysib);
	trace_end_result(cp, &result);
	return result;
}
