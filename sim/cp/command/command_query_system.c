/* SPDX-License-Identifier: MIT */
/* QUERY of CP's system: the real machine, and what CP does with it. */
#include <inttypes.h>
#include <stdio.h>

#include "command_private.h"
#include "zvmlab/guests.h"
#include "zvmlab/storage.h"

#define MODULE "CQV"
#define MEGABYTE (UINT64_C(1) << 20)

/* One line that answers a QUERY without operands. */
static int one_line(struct cpcmd_args *args, const char *text)
{
	const int rc = cpcmd_end(args, MODULE);

	if (rc == 0)
		cpcmd_line(args->cp, "%s", text);
	return rc;
}

/* The real machine has what its virtual machines need. */
static uint64_t real_storage(const struct cp *cp)
{
	uint64_t size = 0;

	assert(cp->system->machines > 0);
	for (unsigned int i = 0; i < cp->system->machines; i++)
		size += storage_most(cp->system->machine[i]);
	return (size + MEGABYTE - 1) / MEGABYTE * MEGABYTE;
}

int cpcmd_query_real_storage(struct cpcmd_args *args)
{
	char size[CPCMD_SIZE_LEN];
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	cpcmd_size(real_storage(args->cp), size);
	cpcmd_line(args->cp, "STORAGE = %s CONFIGURED = %s INC = 1M STANDBY = 0  RESERVED = 0",
		   size, size);
	return 0;
}

/* All frames are the virtual machines', so that none is available. */
int cpcmd_query_frames(struct cpcmd_args *args)
{
	const uint64_t frames = real_storage(args->cp) / CP_PAGE_SIZE;
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	cpcmd_line(args->cp, "All Frames:");
	cpcmd_line(args->cp, "Configured=%" PRIu64 " Real=%" PRIu64 " Usable=%" PRIu64 " Offline=0",
		   frames, frames, frames);
	cpcmd_line(args->cp, "Pageable=%" PRIu64 " NotInitialized=0 GlobalClearedAvail=0", frames);
	cpcmd_line(args->cp, "LocalClearedAvail=0 LocalUnclearedAvail=0 GlobalUnclearedAvail=0");
	return 0;
}

/* As many as STSI gives the real machine. */
int cpcmd_query_processors(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	for (unsigned int cpu = 0; cpu < args->cp->system->config.cpus; cpu++)
		cpcmd_line(args->cp, "PROCESSOR %02X %s CP", cpu,
			   cpu == 0 ? "MASTER" : "ALTERNATE");
	return 0;
}

int cpcmd_query_srm(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	cpcmd_line(args->cp, "IABIAS : INTENSITY=90%%; DURATION=2");
	cpcmd_line(args->cp, "LDUBUF : Q1=100%% Q2=75%% Q3=60%%");
	cpcmd_line(args->cp, "STORBUF: Q1=300%% Q2=250%% Q3=200%%");
	cpcmd_line(args->cp, "DSPBUF : Q1=32767 Q2=32767 Q3=32767");
	cpcmd_line(args->cp, "DISPATCHING MINOR TIMESLICE = 5 MS");
	cpcmd_line(args->cp, "MAXWSS : LIMIT=9999%%");
	cpcmd_line(args->cp, "...... : PAGES=999999");
	cpcmd_line(args->cp, "LIMITHARD METHOD: DEADLINE");
	cpcmd_line(args->cp, "POLARIZATION: HORIZONTAL");
	return 0;
}

/* Virtual disks are in storage already. */
int cpcmd_query_mdcache(struct cpcmd_args *args)
{
	return one_line(args, "Minidisk cache OFF for system");
}

int cpcmd_query_multithread(struct cpcmd_args *args)
{
	return one_line(args, "Multithreading is disabled.");
}

int cpcmd_query_ssi(struct cpcmd_args *args)
{
	return one_line(args, "This system is not a member of an SSI cluster.");
}

int cpcmd_query_vmrelocate(struct cpcmd_args *args)
{
	return one_line(args, "No active relocations found");
}

int cpcmd_query_chpidv(struct cpcmd_args *args)
{
	return one_line(args, "CHPID Virtualization is off");
}

/* No device has a channel path that CP knows. */
int cpcmd_query_chpid(struct cpcmd_args *args)
{
	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	return cpcmd_message(args->cp, "QPA", CPCMD_NO_CHANNEL_PATH, 'E',
			     "Invalid channel path identifier");
}

int cpcmd_query_timezones(struct cpcmd_args *args)
{
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	cpcmd_line(args->cp, "Zone  Direction  Offset   Status");
	cpcmd_line(args->cp, "UTC     ----    00.00.00  Active");
	cpcmd_line(args->cp, "GMT     ----    00.00.00  Inactive");
	return 0;
}

int cpcmd_query_quickdsp(struct cpcmd_args *args)
{
	char name[sizeof(args->word)];
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_message(args->cp, MODULE, CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	strcpy(name, strcmp(args->word, "*") == 0 ? args->userid : args->word);
	rc = cpcmd_end(args, MODULE);
	if (rc != 0)
		return rc;
	if (!parts_logged_on(args->cp, name))
		return cpcmd_message(args->cp, MODULE, CPCMD_NOT_LOGGED_ON, 'E',
				     "%s not logged on", name);
	cpcmd_line(args->cp, "USER %-8s: QUICKDSP = OFF", name);
	return 0;
}

/* The user that [FOR] *, userid or USER userid name, the issuer's own without; others need class B. */
static int read_for_user(struct cpcmd_args *args, char *name, size_t size)
{
	bool given = cpcmd_next(args);
	const bool preposition = given && cpcmd_is(args->word, KEYWORD_FOR);
	bool keyword;

	if (preposition)
		given = cpcmd_next(args);
	snprintf(name, size, "%s", args->userid);
	if (given && strcmp(args->word, "*") == 0)
		return cpcmd_end(args, MODULE);
	if (given && !strchr(args->classes, 'B'))
		return cpcmd_invalid(args, MODULE);
	keyword = given && cpcmd_is(args->word, KEYWORD_USER);
	if (keyword)
		given = cpcmd_next(args);
	if (!given && (preposition || keyword))
		return cpcmd_message(args->cp, MODULE, CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	if (given)
		snprintf(name, size, "%s", args->word);
	return cpcmd_end(args, MODULE);
}

/*
 * All may use the assist, and nobody does: no machine has the instruction, without which a
 * user's own setting is OFF at first.
 */
int cpcmd_query_memassist(struct cpcmd_args *args)
{
	char name[sizeof(args->word)];
	const int rc = read_for_user(args, name, sizeof(name));

	if (rc != 0)
		return rc;
	if (!parts_logged_on(args->cp, name))
		return cpcmd_message(args->cp, MODULE, CPCMD_NOT_LOGGED_ON, 'E',
				     "%s not logged on", name);
	cpcmd_line(args->cp, "ALL USERS SET - ON");
	cpcmd_line(args->cp, "USER      SETTING   STATUS");
	cpcmd_line(args->cp, "%-8s  OFF       INACTIVE", name);
	return 0;
}

/* Neither SET LOADDEV nor SET DUMPDEV has been given: nothing is set. */
int cpcmd_query_loaddev(struct cpcmd_args *args)
{
	return one_line(args, "PORTNAME 00000000 00000000    LUN  00000000 00000000    "
			      "BOOTPROG 0     BR_LBA   00000000 00000000");
}

/* The primary space is the only one. */
int cpcmd_query_spaces(struct cpcmd_args *args)
{
	char size[CPCMD_SIZE_LEN];
	const int rc = cpcmd_end(args, MODULE);

	if (rc != 0)
		return rc;
	cpcmd_line(args->cp, "ASIT             STORAGE  P/S ACC SPACE IDENTIFICATION");
	cpcmd_line(args->cp, "%016" PRIX64 " %-8s PRV R/W %s:BASE", UINT64_C(0),
		   cpcmd_size(storage_size(args->cp), size), args->cp->config.userid);
	return 0;
}

/* No volume is CP's. */
int cpcmd_query_alloc(struct cpcmd_args *args)
{
	int rc;

	if (!cpcmd_next(args))
		return cpcmd_missing(args, MODULE);
	if (!cpcmd_is(args->word, KEYWORD_PAGE) && !cpcmd_is(args->word, KEYWORD_SPOOL))
		return cpcmd_invalid(args, MODULE);
	rc = cpcmd_end(args, MODULE);
	if (rc != 0)
		return rc;
	cpcmd_line(args->cp, "                EXTENT     EXTENT  TOTAL  PAGES   HIGH    %%");
	cpcmd_line(args->cp, "VOLID  RDEV      START        END  PAGES IN USE   PAGE USED");
	cpcmd_line(args->cp, "------ ---- ---------- ---------- ------ ------ ------ ----");
	cpcmd_line(args->cp, "                                  ------ ------        ----");
	cpcmd_line(args->cp, "SUMMARY                                0      0          0%%");
	cpcmd_line(args->cp, "USABLE                                 0      0          0%%");
	return 0;
}

/* Real devices of one type: there is none.  args->word has the type. */
int cpcmd_query_real_devices(struct cpcmd_args *args)
{
	static const struct {
		enum cpcmd_keyword keyword;
		const char *kind;
	} kinds[] = {
		{ KEYWORD_ACTIVE, "active" }, { KEYWORD_FREE, "free" },
		{ KEYWORD_OFFLINE, "offline" },
	};
	const size_t count = sizeof(kinds) / sizeof(kinds[0]);
	char type[sizeof(args->word)];
	unsigned int shown = 0;
	int rc;

	memcpy(type, args->word, sizeof(type));
	if (!cpcmd_next(args))
		shown = 1;
	else if (cpcmd_is(args->word, KEYWORD_ALL))
		shown = (1u << count) - 1;
	for (unsigned int i = 0; args->word[0] != '\0' && i < count; i++)
		if (cpcmd_is(args->word, kinds[i].keyword))
			shown = 1u << i;
	if (shown == 0)
		return cpcmd_invalid(args, MODULE);
	rc = cpcmd_end(args, MODULE);
	for (unsigned int i = 0; rc == 0 && i < count; i++)
		if (shown & 1u << i)
			cpcmd_line(args->cp, "%s %s %s was not found.", i == 0 || i == 2 ? "An" : "A",
				   kinds[i].kind, type);
	return rc;
}
