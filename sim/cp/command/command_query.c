/* SPDX-License-Identifier: MIT */
/* QUERY: its options, and those that show the virtual machine and CP themselves. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "command_private.h"
#include "zvmlab/disk.h"
#include "zvmlab/guests.h"

#define MODULE "CQV"

int cpcmd_query_console(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	const unsigned int device = cp->config.console;
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	/* Linux takes the device number from offset 5 and what follows "SUBCHANNEL = ". */
	cpcmd_line(cp, "CONS %04X ON LDEV L%04X TERM STOP", device, device);
	cpcmd_line(cp, "     %04X CL T NOCONT NOHOLD COPY 001    READY FORM STANDARD", device);
	cpcmd_line(cp, "     %04X TO %-8s PRT DIST %-8s FLASHC 000 DEST OFF", device,
		   cp->config.userid, cp->config.userid);
	cpcmd_line(cp, "     %04X FLASH      CHAR      MDFY      0 FCB      LPP OFF", device);
	cpcmd_line(cp, "     %04X 3215 NOEOF CLOSED    NOKEEP NOMSG NONAME", device);
	cpcmd_line(cp, "     %04X SUBCHANNEL = 0000", device);
	return 0;
}

int cpcmd_query_userid(struct cpcmd_args *args)
{
	/* The operator of this CP sits at the guest's console. */
	const bool peer = args->issuer == CPCMD_PEER;
	const int rc = cpcmd_end(args, MODULE);

	assert(strlen(args->userid) <= CP_NAME_LEN);
	if (rc == 0)
		cpcmd_line(args->cp, "%-8s AT %s", peer ? args->userid : args->cp->config.userid,
			   CP_SYSTEM_ID);
	return rc;
}

int cpcmd_query_cplevel(struct cpcmd_args *args)
{
	struct cp *cp = args->cp;
	const struct clock_time t = clock_time(cp->system->ipl_tod);
	/* "z/VM    7.3.0   ": the numbers stand behind the eight characters of the name. */
	const char *level = strlen(cp->config.level) > 8 ? cp->config.level + 8 : "";
	unsigned int version = 0, release = 0, modification = 0;
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	sscanf(level, "%3u.%3u.%3u", &version, &release, &modification);
	cpcmd_line(cp, "z/VM Version %u Release %u.%u, service level 0000 (64-bit)", version,
		   release, modification);
	cpcmd_line(cp, "Generated at %04u-%02u-%02u %02u:%02u:%02u UTC", t.year, t.month, t.day,
		   t.hour, t.minute, t.second);
	cpcmd_line(cp, "IPL at %04u-%02u-%02u %02u:%02u:%02u UTC", t.year, t.month, t.day, t.hour,
		   t.minute, t.second);
	return 0;
}

#define DATE_LEN 16

/* The date in the format that the last operand names; 0, or the message's number. */
static int time_format(struct cpcmd_args *args, const struct clock_time *t, char date[DATE_LEN])
{
	const bool given = cpcmd_next(args);

	if (given && cpcmd_is(args->word, KEYWORD_FULLDATE))
		snprintf(date, DATE_LEN, "%02u/%02u/%04u", t->month % 100, t->day % 100,
			 t->year % 10000);
	else if (given && cpcmd_is(args->word, KEYWORD_ISODATE))
		snprintf(date, DATE_LEN, "%04u-%02u-%02u", t->year % 10000, t->month % 100,
			 t->day % 100);
	else if (!given || cpcmd_is(args->word, KEYWORD_SHORTDATE))
		snprintf(date, DATE_LEN, "%02u/%02u/%02u", t->month % 100, t->day % 100,
			 t->year % 100);
	else
		return cpcmd_invalid(args, MODULE);
	return cpcmd_end(args, MODULE);
}

int cpcmd_query_time(struct cpcmd_args *args)
{
	static const char *const days[7] = { "SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY",
					     "THURSDAY", "FRIDAY", "SATURDAY" };
	char date[DATE_LEN];
	struct cp *cp = args->cp;
	const struct clock_time t = clock_time(cp_tod(cp));
	const uint64_t connected = clock_connected(cp) / 1000000u;
	const int rc = time_format(args, &t, date);

	if (rc != 0)
		return rc;
	assert(t.weekday < 7);
	cpcmd_line(cp, "TIME IS %02u:%02u:%02u UTC %s %s", t.hour, t.minute, t.second,
		   days[t.weekday], date);
	cpcmd_line(cp, "CONNECT= %02" PRIu64 ":%02u:%02u VIRTCPU= 000:00.00 TOTCPU= 000:00.00",
		   connected / 3600u, (unsigned int)(connected / 60u % 60u),
		   (unsigned int)(connected % 60u));
	return 0;
}

/* The user whose clock is asked for: it has to be logged on. */
static int vtod_for(struct cpcmd_args *args)
{
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (!guests_in_directory(args->cp, args->word))
		return cpcmd_message(args->cp, MODULE, CPCMD_NOT_IN_DIRECTORY, 'E',
				     "%s not in CP directory", args->word);
	if (!parts_logged_on(args->cp, args->word))
		return cpcmd_message(args->cp, MODULE, CPCMD_NOT_LOGGED_ON, 'E',
				     "%s not logged on", args->word);
	return 0;
}

static int vtod_sync(struct cpcmd_args *args)
{
	(void)args;
	return 0;
}

static void vtod_line(struct cp *cp, const char *what, uint64_t tod)
{
	const struct clock_time t = clock_time(tod);

	cpcmd_line(cp, "%-11s %04u-%02u-%02u %02u:%02u:%02u (%016" PRIX64 ")", what, t.year,
		   t.month, t.day, t.hour, t.minute, t.second, tod);
}

/* Nobody has a clock of his own: all users' are the system's. */
int cpcmd_query_vtod(struct cpcmd_args *args)
{
	static const struct cpcmd_word options[] = {
		{ "SYNC", 4, CPCMD_ANY, vtod_sync },
		{ "FOR", 3, "AB", vtod_for },
		{ NULL, 0, NULL, NULL },
	};
	const uint64_t tod = cp_tod(args->cp);
	bool sync = false;

	while (*cpcmd_rest(args) != '\0') {
		const int rc = cpcmd_option(args, options, MODULE);

		if (rc != 0)
			return rc;
		sync |= cpcmd_is(args->word, KEYWORD_SYNC);
	}
	vtod_line(args->cp, "System TOD:", tod);
	vtod_line(args->cp, "User TOD:", tod);
	cpcmd_line(args->cp, "%-11s %016" PRIX64, "Delta:", UINT64_C(0));
	if (sync) {
		cpcmd_line(args->cp, "Synchronized with:");
		cpcmd_line(args->cp, "System TOD");
	}
	return 0;
}

/* There is no TRACE, so all forms of it have the same answer. */
int cpcmd_query_trace(struct cpcmd_args *args)
{
	const bool form = cpcmd_next(args);
	const int rc = form ? cpcmd_end(args, MODULE) : 0;

	if (rc == 0)
		cpcmd_line(args->cp, "No trace sets defined");
	return rc;
}

int cpcmd_query_privclass(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	assert(strlen(args->classes) <= CP_CLASSES);
	cpcmd_line(args->cp, "Privilege classes for user %s", args->userid);
	cpcmd_line(args->cp, "          Currently: %s", args->classes);
	cpcmd_line(args->cp, "          Directory: %s", args->classes);
	cpcmd_line(args->cp, "The privilege classes are not locked against changes.");
	return 0;
}

/* The console, unit record devices and disks are all that CP knows of the virtual machine's. */
int cpcmd_query_no_device(struct cpcmd_args *args)
{
	char name[sizeof(args->word)];
	int rc;

	memcpy(name, args->word, sizeof(name));
	rc = cpcmd_end(args, MODULE);
	if (rc != 0)
		return rc;
	return cpcmd_message(args->cp, "QVD", CPCMD_NO_DEVICE, 'E', "Device %s does not exist",
			     name);
}

static void disk_line(struct cp *cp, const struct disk_info *disk)
{
	/* Which subchannel it has is the emulator's business. */
	cpcmd_line(cp, "DASD %04X 9336 (VDSK) %s %10u BLK ON DASD  VDSK SUBCHANNEL = 0000",
		   disk->device, disk->read_only ? "R/O" : "R/W", disk->blocks);
}

int cpcmd_query_dasd(struct cpcmd_args *args)
{
	struct disk_info disk;
	int rc;

	if (!disk_info(args->cp, 0, &disk))
		return cpcmd_query_no_device(args);
	rc = cpcmd_end(args, MODULE);
	for (unsigned int i = 0; rc == 0 && disk_info(args->cp, i, &disk); i++)
		disk_line(args->cp, &disk);
	return rc;
}

/* Is there a disk of this number?  Then @rc is how the command ends. */
static bool query_disk(struct cpcmd_args *args, uint64_t number, int *rc)
{
	struct disk_info disk;

	for (unsigned int i = 0; disk_info(args->cp, i, &disk); i++) {
		if (disk.device != number)
			continue;
		*rc = cpcmd_end(args, MODULE);
		if (*rc == 0)
			disk_line(args->cp, &disk);
		return true;
	}
	return false;
}

bool cpcmd_has_device(const struct cp *cp, uint64_t number)
{
	return number == cp->config.console ||
	       (number <= UINT16_MAX && (spool_unit(cp, (uint16_t)number) >= 0 ||
					 disk_index(cp, (uint16_t)number) >= 0));
}

/* Storage, CPUs and all devices. */
int cpcmd_query_all(struct cpcmd_args *args)
{
	static cpcmd_function *const shown[] = { cpcmd_query_virtual_storage, cpcmd_query_cpus,
						 cpcmd_query_console };
	struct cpcmd_args units = *args;
	int rc = cpcmd_end(args, MODULE);
	struct disk_info disk;

	for (size_t i = 0; rc == 0 && i < sizeof(shown) / sizeof(shown[0]); i++)
		rc = shown[i](args);
	if (rc != 0)
		return rc;
	strcpy(units.word, "UR");
	cpcmd_query_units(&units, &rc);
	for (unsigned int i = 0; disk_info(args->cp, i, &disk); i++)
		disk_line(args->cp, &disk);
	return rc;
}

static const struct cpcmd_word virtual_words[] = {
#define CP_QUERY_VIRTUAL(name, min, classes, function) { name, min, classes, function },
#include "words.def"
	{ NULL, 0, NULL, NULL },
};

int cpcmd_query_virtual(struct cpcmd_args *args)
{
	struct cpcmd_args device = *args, units = *args;
	uint64_t number;
	int rc;

	if (cpcmd_next(&units) && cpcmd_query_units(&units, &rc))
		return rc;
	/* What is no option may be the number of a device. */
	if (!cpcmd_next(&device) || cpcmd_find(args, virtual_words, device.word) ||
	    !cpcmd_number(device.word, 16, 0, UINT16_MAX, &number))
		return cpcmd_option(args, virtual_words, MODULE);
	if (number == args->cp->config.console)
		return cpcmd_query_console(&device);
	if (query_disk(&device, number, &rc))
		return rc;
	snprintf(device.word, sizeof(device.word), "%04X", (unsigned int)number);
	return cpcmd_query_no_device(&device);
}

/* Does QUERY VIRTUAL answer @word: an option, or the number of a device? */
static bool is_virtual(const struct cpcmd_args *args, const char *word)
{
	uint64_t number;

	return cpcmd_find(args, virtual_words, word) ||
	       (cpcmd_find(args, virtual_words, "ALL") &&
		cpcmd_number(word, 16, 0, UINT16_MAX, &number));
}

int cpcmd_query(struct cpcmd_args *args)
{
	static const struct cpcmd_word options[] = {
#define CP_QUERY(name, min, classes, function) { name, min, classes, function },
#include "words.def"
		{ NULL, 0, NULL, NULL },
	};
	struct cpcmd_args next = *args;

	/* What is no option may be a user ID, or an operand of QUERY VIRTUAL without that word. */
	if (!cpcmd_next(&next) || cpcmd_find(args, options, next.word))
		return cpcmd_option(args, options, MODULE);
	if (guests_in_directory(args->cp, next.word))
		return cpcmd_query_user(args);
	if (is_virtual(args, next.word))
		return cpcmd_query_virtual(args);
	return cpcmd_option(args, options, MODULE);
}
