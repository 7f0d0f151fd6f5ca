/* SPDX-License-Identifier: MIT */
/*
 * Contents of the records *MONITOR writes by itself.
 *
 * Layouts of z/VM 5.3, the last release whose offsets are public in full;
 * names of fields are those of CP's control blocks.  A field that is not
 * filled in is zero.  What the CP knows is genuine (configuration, users); activity comes from a small model with the seeded generator.
 */
#include <string.h>

#include "monitor_private.h"
#include "bytes.h"
#include "ebcdic.h"
#include "smaller.h"
#include "zvmlab/storage.h"

/* The subject of a record. */
struct subject {
	unsigned int cpu;
	unsigned int domain;	/* D1R14 */
	const char *user;
	const struct cp *machine;
};

enum per { PER_SYSTEM, PER_CPU, PER_USER, PER_MACHINE, PER_DOMAIN };

struct shape {
	uint8_t domain;
	uint8_t number;
	uint16_t len;
	enum per per;
	void (*fill)(struct cp *cp, uint8_t *record, const struct subject *subject);
};

/* The real machine has what its virtual machines have together. */
static uint32_t pages(const struct cp *cp)
{
	uint64_t size = 0;

	for (unsigned int i = 0; i < cp->system->machines; i++)
		size += storage_size(cp->system->machine[i]);
	return (uint32_t)smaller(size / CP_PAGE_SIZE, UINT32_MAX);
}

static const struct mon_cpu *model_cpu(const struct cp *cp, const struct subject *subject)
{
	assert(subject->cpu < cp->system->config.cpus);
	return &cp->system->monitor->model.cpu[subject->cpu];
}

/* D0R1 SYTSYP */
static void sytsyp(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	const struct mon_cpu *cpu = model_cpu(cp, subject);

	put_be16(r + 20, (uint16_t)subject->cpu);	/* PFXCPUAD */
	put_be32(r + 28, cpu->diagnoses);		/* PLSDIAGT */
	put_be32(r + 36, cpu->externals);		/* PLSEXTNX */
	put_be32(r + 72, cp->system->monitor->model.page_reads);	/* PLSPIOPR */
	put_be32(r + 76, cp->system->monitor->model.page_writes);	/* PLSPIOPW */
}

/* D0R2 SYTPRP */
static void sytprp(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	const struct mon_cpu *cpu = model_cpu(cp, subject);

	put_be16(r + 20, (uint16_t)subject->cpu);	/* PFXCPUAD */
	put_be64(r + 24, cpu->user_time);		/* PFXPRBTM */
	put_be64(r + 32, cpu->user_time);		/* PFXUTIME */
	put_be64(r + 40, cpu->system_time);		/* PFXTMSYS */
	put_be64(r + 68, cpu->wait_time);		/* PFXTOTWT */
}

/* D0R3 SYTRSG */
static void sytrsg(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	(void)subject;
	put_be32(r + 48, pages(cp) / 64);		/* RSAPGABL */
	put_be32(r + 52, pages(cp) / 4);		/* RSAAVAIL */
}

static bool next_user(struct cp *cp, unsigned int *index, const char **name)
{
	struct iucv_user *user;

	while (*index < IUCV_MAX_USERS && (user = iucv_user_at(cp, *index)) != NULL) {
		++*index;
		*name = iucv_user_name(user);
		if (mon_is_user(cp, user))
			return true;
	}
	return false;
}

/* D0R8 SYTUSR */
static void sytusr(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	unsigned int index = 0;
	uint32_t users = 0;
	const char *name;

	(void)subject;
	while (next_user(cp, &index, &name))
		users++;
	assert(users > 0 && users <= IUCV_MAX_USERS);
	put_be32(r + 20, users);			/* SYSUSRS */
}

/* D1R4 MTRSYS */
static void mtrsys(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	(void)subject;
	ebcdic_name(r + 88, CP_SYSTEM_ID);		/* SYSTMID */
	put_be16(r + 152, (uint16_t)cp->system->config.cpus);	/* CPUCOUNT */
	put_be16(r + 154, (uint16_t)cp->system->config.cpus);	/* CPUCFGCT */
}

/* D1R5 MTRPRP */
static void mtrprp(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	assert(subject->cpu < cp->system->config.cpus);
	put_be16(r + 20, (uint16_t)subject->cpu);	/* PFXCPUAD */
}

static void put_config_size(uint8_t *at, const struct mon_settings *settings)
{
	put_be16(at, (uint16_t)smaller(settings->config_pages, UINT16_MAX));
}

/* D1R9 MTRSPR */
static void mtrspr(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	const struct mon_settings *settings = &cp->system->monitor->settings[false];

	(void)subject;
	put_be32(r + 20, settings->interval_seconds);	/* INTERVAL */
	put_be32(r + 24, settings->rate_hundredths);	/* HFRATE */
	put_be16(r + 28, settings->domains);		/* SDOMAINS */
	put_config_size(r + 32, settings);		/* CONFIG */
}

/* D1R1 MTREPR */
static void mtrepr(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	const struct mon_settings *settings = &cp->system->monitor->settings[true];

	(void)subject;
	put_be16(r + 20, settings->domains);		/* EDOMAINS */
	put_config_size(r + 22, settings);		/* CONFIG */
}

/* D1R14 MTRDDR: profile 'S' or 'E', domain */
static void mtrddr_sample(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	(void)cp;
	r[20] = MCE_SAMPLE;
	r[21] = (uint8_t)subject->domain;
}

static void mtrddr_event(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	(void)cp;
	r[20] = MCE_EVENT;
	r[21] = (uint8_t)subject->domain;
}

/* D1R15 MTRUSR, D4R3 USEACT: of a user */
static void of_user(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	(void)cp;
	assert(subject->user && strlen(subject->user) <= CP_NAME_LEN);
	ebcdic_name(r + 20, subject->user);		/* VMDUSER */
}

/* D3R1 STORSG */
static void storsg(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	(void)subject;
	put_be32(r + 40, pages(cp) / 64);		/* RSAAVLLT */
	put_be32(r + 44, pages(cp) / 32);		/* RSAAVLHT */
}

/* D5R3 PRCPRP */
static void prcprp(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	put_be16(r + 20, (uint16_t)subject->cpu);	/* PFXCPUAD */
	put_be32(r + 84, model_cpu(cp, subject)->diagnoses);	/* PFXDSPCS */
}

/* D6R3 IODDEV: the console */
static void ioddev(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	(void)subject;
	put_be16(r + 52, (uint16_t)cp->system->monitor->model.cpu[0].io);	/* SCMSSCH */
	put_be32(r + 192, cp->system->monitor->model.cpu[0].io);	/* SCGSSCH */
	put_be16(r + 200, cp->system->config.console);		/* RDEVDEV */
}

/* D8R1 VNDSES: the machine's adapter */
static void vndses(struct cp *cp, uint8_t *r, const struct subject *subject)
{
	ebcdic_name(r + 24, subject->machine->config.userid);	/* OWNER */
	put_be64(r + 112, cp->system->monitor->model.cpu[0].io);	/* SESTXPKT */
	put_be64(r + 136, cp->system->monitor->model.cpu[0].externals);	/* SESRXPKT */
}

static const struct shape sample_shapes[] = {
	{ MON_SYSTEM, 1, 116, PER_CPU, sytsyp },
	{ MON_SYSTEM, 2, 108, PER_CPU, sytprp },
	{ MON_SYSTEM, 3, 492, PER_SYSTEM, sytrsg },
	{ MON_SYSTEM, 8, 100, PER_SYSTEM, sytusr },
	{ MON_STORAGE, 1, 352, PER_SYSTEM, storsg },
	{ MON_USER, 3, 440, PER_USER, of_user },
	{ MON_PROCESSOR, 3, 384, PER_CPU, prcprp },
	{ MON_IO, 3, 260, PER_SYSTEM, ioddev },
	{ MON_NETWORK, 1, 316, PER_MACHINE, vndses },
};

static const struct shape sample_config_shapes[] = {
	{ MON_MONITOR, 4, 184, PER_SYSTEM, mtrsys },
	{ MON_MONITOR, 5, 44, PER_CPU, mtrprp },
	{ MON_MONITOR, 9, 36, PER_SYSTEM, mtrspr },
	{ MON_MONITOR, 14, 28, PER_DOMAIN, mtrddr_sample },
	{ MON_MONITOR, 15, 204, PER_USER, of_user },
};

static const struct shape event_config_shapes[] = {
	{ MON_MONITOR, 1, 24, PER_SYSTEM, mtrepr },
	{ MON_MONITOR, 14, 28, PER_DOMAIN, mtrddr_event },
};

#define COUNT(shapes) (sizeof(shapes) / sizeof((shapes)[0]))

static void write_one(struct cp *cp, struct record_writer *w, const struct shape *shape,
		      const struct subject *subject)
{
	uint8_t *record = record_add(w, shape->domain, shape->number, shape->len);

	assert(record || w->overflow);
	if (record)
		shape->fill(cp, record, subject);
}

static void write_shape(struct cp *cp, struct record_writer *w, const struct shape *shape,
			uint16_t domains)
{
	struct subject subject = { .cpu = 0 };
	unsigned int index = 0;

	assert(shape->fill && shape->len >= RECORD_HEADER_SIZE);
	switch (shape->per) {
	case PER_SYSTEM:
		write_one(cp, w, shape, &subject);
		break;
	case PER_CPU:
		for (; subject.cpu < cp->system->config.cpus; subject.cpu++)
			write_one(cp, w, shape, &subject);
		break;
	case PER_USER:
		while (next_user(cp, &index, &subject.user))
			write_one(cp, w, shape, &subject);
		break;
	case PER_MACHINE:
		for (; index < cp->system->machines; index++) {
			subject.machine = cp->system->machine[index];
			write_one(cp, w, shape, &subject);
		}
		break;
	case PER_DOMAIN:
		for (; subject.domain < MON_DOMAINS; subject.domain++)
			if (domains & MON_DOMAIN_BIT(subject.domain))
				write_one(cp, w, shape, &subject);
		break;
	}
}

/* Of each machine, in the order in which they have logged on. */
static void write_appldata(struct cp *cp, struct record_writer *w, enum appldata_kind kind)
{
	for (unsigned int i = 0; i < cp->system->machines; i++)
		appldata_write(cp->system->machine[i], w, kind);
}

void mon_write_sample(struct cp *cp, struct record_writer *w)
{
	const uint16_t domains = cp->system->monitor->settings[false].domains;

	for (size_t i = 0; i < COUNT(sample_shapes); i++)
		if (domains & MON_DOMAIN_BIT(sample_shapes[i].domain))
			write_shape(cp, w, &sample_shapes[i], domains);
	write_appldata(cp, w, APPLDATA_INTERVAL);
	record_close(w, MTREND);
}

void mon_write_sample_config(struct cp *cp, struct record_writer *w)
{
	for (size_t i = 0; i < COUNT(sample_config_shapes); i++)
		write_shape(cp, w, &sample_config_shapes[i],
			    cp->system->monitor->settings[false].domains);
	write_appldata(cp, w, APPLDATA_CONFIG);
	record_close(w, MTREND);
}

void mon_write_event_config(struct cp *cp, struct record_writer *w)
{
	for (size_t i = 0; i < COUNT(event_config_shapes); i++)
		write_shape(cp, w, &event_config_shapes[i],
			    cp->system->monitor->settings[true].domains);
	record_close(w, MTREND);
}
