/* SPDX-License-Identifier: MIT */
/* INDICATE, as far as the core sees a load; DETACH. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command_spool.h"
#include "zvmlab/disk.h"
#include "zvmlab/guests.h"
#include "zvmlab/storage.h"

#define MODULE "IND"

int cpcmd_indicate(struct cpcmd_args *args)
{
	static const struct cpcmd_word options[] = {
#define CP_INDICATE(name, min, classes, function) { name, min, classes, function },
#include "words.def"
		{ NULL, 0, NULL, NULL },
	};

	return *cpcmd_rest(args) ? cpcmd_option(args, options, MODULE) : cpcmd_indicate_load(args);
}

static void count_user(void *opaque, const char *name)
{
	unsigned int *count = opaque;

	assert(strlen(name) <= CP_NAME_LEN);
	(*count)++;
}

/* Two processors to a line; the core sees no processor time. */
static void show_processors(struct cp *cp)
{
	char line[80] = "";

	for (unsigned int cpu = 0; cpu < cp->system->config.cpus; cpu++) {
		const size_t at = strlen(line);

		snprintf(line + at, sizeof(line) - at, "%sPROC %04X-000%% CP   HZ",
			 at ? "     " : "", cpu);
		if (cpu % 2 == 0 && cpu + 1 < cp->system->config.cpus)
			continue;
		cpcmd_line(cp, "%s", line);
		line[0] = '\0';
	}
}

/* A virtual machine here always runs, which is in the end class 3; other users have none. */
int cpcmd_indicate_load(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	const unsigned int running = cp->system->machines;
	unsigned int users = 0;
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	guests_all(cp, count_user, &users);
	cpcmd_line(cp, "AVGPROC-000%% %02u", cp->system->config.cpus);
	cpcmd_line(cp, "MDC READS-000000/SEC WRITES-000000/SEC HIT RATIO-000%%");
	cpcmd_line(cp, "PAGING-0/SEC");
	cpcmd_line(cp, "Q0-00000(00000)                           DORMANT-%05u",
		   users > running ? users - running : 0);
	cpcmd_line(cp, "Q1-00000(00000)           E1-00000(00000)");
	cpcmd_line(cp, "Q2-00000(00000) EXPAN-001 E2-00000(00000)");
	cpcmd_line(cp, "Q3-%05u(00000) EXPAN-001 E3-00000(00000)", running);
	cpcmd_line(cp, "%s", "");
	show_processors(cp);
	cpcmd_line(cp, "%s", "");
	cpcmd_line(cp, "LIMITED-00000");
	return 0;
}

static unsigned int files_of(const struct cp *cp, enum spool_queue queue)
{
	const struct spool *spool = cp->system->spool;
	unsigned int count = 0;

	for (unsigned int i = 0; i < spool->lines; i++) {
		const struct spool_file *file = &spool->file[spool->line[i]];

		count += file->queue == queue && strcmp(file->owner, cp->config.userid) == 0;
	}
	return count;
}

/* All pages are in storage: CP pages none of them out. */
int cpcmd_indicate_user(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	const uint64_t pages = storage_size(cp) / CP_PAGE_SIZE;
	unsigned int devices = 1;
	char size[CPCMD_SIZE_LEN];
	int rc;

	if (cpcmd_next(args) && strcmp(args->word, "*") != 0 &&
	    strcmp(args->word, cp->config.userid) != 0)
		return cpcmd_invalid(args, MODULE);
	for (unsigned int i = 0; i < cp->config.units; i++)
		devices += cpcmd_has_device(cp, cp->config.unit[i].device);
	for (unsigned int i = 0; i < cp->config.disks; i++)
		devices += cpcmd_has_device(cp, cp->config.disk[i].device);
	rc = cpcmd_end(args, MODULE);
	if (rc != 0)
		return rc;
	cpcmd_line(cp, "USERID=%-8s MACH=Z   STOR=%s VIRT=V XSTORE=NONE", cp->config.userid,
		   cpcmd_size(storage_size(cp), size));
	cpcmd_line(cp, "IPLSYS=NONE     DEVNUM=%05u", devices);
	cpcmd_line(cp, "PAGES: RES=%" PRIu64 "  WS=%" PRIu64 "  LOCKEDREAL=0  RESVD=0", pages, pages);
	cpcmd_line(cp, "       INSTAN=%" PRIu64, pages);
	cpcmd_line(cp, "NPREF=0  PREF=0  READS=0  WRITES=0");
	for (unsigned int cpu = 0; cpu < cp->config.cpus; cpu++) {
		if (!(cp->cpus >> cpu & 1))
			continue;
		cpcmd_line(cp, "CPU %02X: CTIME=00:00 VTIME=000:00 TTIME=000:00 IO=000000", cpu);
		cpcmd_line(cp, "        RDR=%06u PRT=%06u PCH=%06u TYPE=CP   CPUAFFIN=ON",
			   cpu == 0 ? files_of(cp, SPOOL_RDR) : 0,
			   cpu == 0 ? files_of(cp, SPOOL_PRT) : 0,
			   cpu == 0 ? files_of(cp, SPOOL_PUN) : 0);
	}
	return 0;
}

int cpcmd_indicate_spaces(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	const uint64_t pages = storage_size(cp) / CP_PAGE_SIZE;
	char size[CPCMD_SIZE_LEN];
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	cpcmd_line(cp, "Spaceid=%s:BASE", cp->config.userid);
	cpcmd_line(cp, "Owned size=%s PRV", cpcmd_size(storage_size(cp), size));
	cpcmd_line(cp, "Pages: Main=%" PRIu64 ", Xstore=0, Dasd=0, Instan=%" PRIu64 ", Locked=0",
		   pages, pages);
	cpcmd_line(cp, "Private paging:");
	cpcmd_line(cp, "  Xstore: Reads=0, Writes=0, Migrates=0");
	cpcmd_line(cp, "  Dasd:   Reads=0, Writes=0");
	return 0;
}

static int nobody(struct cpcmd_args *args, const char *waits)
{
	const int rc = cpcmd_end(args, MODULE);

	if (rc == 0)
		cpcmd_line(args->cp, "No users in %s wait", waits);
	return rc;
}

int cpcmd_indicate_paging(struct cpcmd_args *args)
{
	return nobody(args, "page");
}

int cpcmd_indicate_io(struct cpcmd_args *args)
{
	return nobody(args, "I/O");
}

/* Return: what CP calls the device that has gone; NULL if the guest has none that can go. */
static const char *detach(struct cp *cp, uint16_t device)
{
	const int unit = spool_unit(cp, device);
	const char *kind = "DASD";

	if (unit >= 0) {
		kind = spool_queue_name[spool_unit_queue(cp, (unsigned int)unit)];
		spool_detach(cp, (unsigned int)unit);
	} else if (!disk_unlink(cp, device)) {
		return NULL;
	}
	if (cp->host.devices_changed)
		cp->host.devices_changed(cp->host.opaque);
	return kind;
}

/* DETACH vdev …: all but the console. */
int cpcmd_detach(struct cpcmd_args *args)
{
	uint64_t number;
	const char *kind;
	int rc = 0;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, "DTV");
	if (cpcmd_is(args->word, KEYWORD_CPU))
		return cpcmd_detach_cpu(args);
	do {
		if (!cpcmd_number(args->word, 16, 0, UINT16_MAX, &number))
			return cpcmd_invalid(args, "DTV");
		kind = detach(args->cp, (uint16_t)number);
		if (kind)
			cpcmd_line(args->cp, "%-4s %04X DETACHED", kind, (unsigned int)number);
		else if (!cpcmd_has_device(args->cp, number))
			rc = cpcmd_message(args->cp, "DTV", CPCMD_NO_DEVICE, 'E',
					   "Device %04X does not exist", (unsigned int)number);
		else
			rc = cpcmd_message(args->cp, "DTV", CPCMD_DEVICE_TYPE, 'E',
					   "Invalid device type - %04X", (unsigned int)number);
	} while (cpcmd_next(args));
	return rc;
}
