/* SPDX-License-Identifier: MIT */
/* MONITOR and QUERY MONITOR. */
#include <stdio.h>

#include "command_check.h"
#include "monitor_fields.h"
#include "zvmlab/monitor.h"

#define NO_DOMAINS_EVENT \
	"MONITOR   DOMAIN ENABLED\n" \
	"PROCESSOR DOMAIN DISABLED\n" \
	"STORAGE   DOMAIN DISABLED\n" \
	"SCHEDULER DOMAIN DISABLED\n" \
	"SEEKS     DOMAIN DISABLED\n" \
	"USER      DOMAIN DISABLED\n" \
	"I/O       DOMAIN DISABLED\n" \
	"NETWORK   DOMAIN DISABLED\n" \
	"ISFC      DOMAIN DISABLED\n" \
	"APPLDATA  DOMAIN DISABLED\n" \
	"SSI       DOMAIN DISABLED\n"
#define DOMAINS_SAMPLE(state) \
	"MONITOR   DOMAIN ENABLED\n" \
	"SYSTEM    DOMAIN ENABLED\n" \
	"PROCESSOR DOMAIN " state "\n" \
	"STORAGE   DOMAIN " state "\n" \
	"USER      DOMAIN " state "\n" \
	"I/O       DOMAIN " state "\n" \
	"NETWORK   DOMAIN " state "\n" \
	"ISFC      DOMAIN " state "\n" \
	"APPLDATA  DOMAIN " state "\n" \
	"SSI       DOMAIN " state "\n"
#define NO_SEGMENT "MONITOR DCSS NAME - NO DCSS NAME DEFINED\n"
#define NO_USERS \
	"CONFIGURATION AREA IS FREE\n" \
	"USERS CONNECTED TO *MONITOR - NO USERS CONNECTED\n"
#define EVENT_INACTIVE \
	"MONITOR EVENT INACTIVE BLOCK    4 PARTITION        0\n" NO_SEGMENT \
	"CONFIGURATION SIZE       68 LIMIT          1 MINUTES\n" NO_USERS NO_DOMAINS_EVENT
#define SAMPLE_INACTIVE \
	"MONITOR SAMPLE INACTIVE\n" \
	"           INTERVAL    0 MINUTES PENDING INTERVAL    1 MINUTES\n" \
	"           RATE STOP PENDING RATE STOP\n" NO_SEGMENT \
	"CONFIGURATION SIZE     4096 LIMIT          1 MINUTES\n" NO_USERS \
	DOMAINS_SAMPLE("DISABLED")

#define PENDING(kind, Kind) \
	"Monitor " kind " started -- recording is pending\n" \
	"HCPMNC6224I " Kind " recording is pending because there are no users connected to " \
	"*MONITOR for this type of data.\n"

static void ignore(struct cp *cp, struct iucv_user *user, void *opaque,
		   const struct iucv_event *event)
{
	(void)cp;
	(void)user;
	(void)opaque;
	(void)event;
}

static const struct iucv_user_ops ops = { .event = ignore };

/* A peer that connects to *MONITOR. */
static struct iucv_user *connect_peer(const char *name, uint8_t wants)
{
	struct iucv_user *user = iucv_user_create(fx.cp, name, 4, &ops, NULL);
	struct iucv_parm parm = { .vmid = MON_SERVICE, .msglim = 255, .flags = IPRMDATA };

	ck_assert_ptr_nonnull(user);
	parm.ipuser[WANTED_VERSION] = 1;
	parm.ipuser[WANTED_DATA] = wants;
	ebcdic_name(parm.ipuser + WANTED_SEGMENT, "MONDCSS");
	ck_assert_int_eq(iucv_call(fx.cp, user, IUCV_CONNECT, &parm).cc, 0);
	iucv_dispatch(fx.cp);
	return user;
}

FX_REPLAY_TRACES;

CASE("monitor", fx_setup, fx_teardown);

TEST(inactive)
{
	ck_guest("QUERY MONITOR", 0, EVENT_INACTIVE SAMPLE_INACTIVE);
	ck_guest("Q MON EVENT", 0, EVENT_INACTIVE);
	ck_guest("Q MON SAMPLE", 0, SAMPLE_INACTIVE);
	ck_guest("Q MON X", 3, INVALID("MOQ", "X"));
	ck_guest("Q MON EVENT X", 3, EXTRA("MOQ", "X"));
}

TEST(start_pending)
{
	struct iucv_user *user;

	ck_guest("MONITOR EVENT START", 0, PENDING("event", "Event"));
	ck_guest("MONITOR SAMPLE START", 0, PENDING("sample", "Sample"));
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "Q MON EVENT", 0),
			 "MONITOR EVENT PENDING  BLOCK    4 PARTITION        0\n", 52);
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "Q MON SAMPLE", 0), "MONITOR SAMPLE PENDING\n", 23);
	user = connect_peer("PERFSVM", 0xc0);
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "Q MON EVENT", 0),
			 "MONITOR EVENT ACTIVE   BLOCK    4 PARTITION        0\n", 52);
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "Q MON SAMPLE", 0), "MONITOR SAMPLE ACTIVE\n", 22);
	iucv_user_destroy(fx.cp, user);
}

TEST(start_active)
{
	struct iucv_user *user[2];

	user[0] = connect_peer("PERFSVM", WANT_SAMPLE);
	user[1] = connect_peer("SECOND", WANT_BOTH);
	ck_guest("MONITOR SAMPLE CONFIG LIMIT 90 SECONDS\nMONITOR SAMPLE INTERVAL 90 SEC\n"
		 "MONITOR SAMPLE RATE 2\nMONITOR SAMPLE ENABLE ALL\nMONITOR SAMPLE START", 0,
		 "Monitor sample started\n");
	ck_guest("Q MON SAMPLE", 0,
		 "MONITOR SAMPLE ACTIVE\n"
		 "           INTERVAL   90 SECONDS PENDING INTERVAL   90 SECONDS\n"
		 "           RATE 2.00 SECONDS PENDING RATE 2.00 SECONDS\n"
		 "MONITOR DCSS NAME - MONDCSS\n"
		 "CONFIGURATION SIZE     4096 LIMIT         90 SECONDS\n"
		 "CONFIGURATION AREA IS IN USE\n"
		 "USERS CONNECTED TO *MONITOR - PERFSVM SECOND\n"
		 DOMAINS_SAMPLE("ENABLED"));
	ck_assert_ptr_nonnull(strstr(run_as(CPCMD_GUEST, "Q MON EVENT", 0),
				     "USERS CONNECTED TO *MONITOR - SECOND\n"));
	ck_guest("MONITOR SAMPLE START", 13,
		 "HCPMNC013E Conflicting option - monitor sample is active already\n");
	ck_guest("MONITOR EVENT START PARTITION 128 BLOCK 2", 0, "Monitor event started\n");
	ck_guest("MONITOR EVENT START BLOCK 3", 13,
		 "HCPMNC013E Conflicting option - monitor event is active already\n");
	ck_assert_mem_eq(run_as(CPCMD_GUEST, "Q MON EVENT", 0),
			 "MONITOR EVENT ACTIVE   BLOCK    2 PARTITION      128\n", 52);
	ck_guest("MONITOR SAMPLE STOP", 0, "Monitor sample stopped\n");
	ck_guest("MONITOR EVENT STOP", 0, "Monitor event stopped\n");
	ck_guest("MONITOR SAMPLE STOP", 13,
		 "HCPMNC013E Conflicting option - monitor sample is not active\n");
	ck_guest("MONITOR EVENT STOP", 13,
		 "HCPMNC013E Conflicting option - monitor event is not active\n");
	iucv_user_destroy(fx.cp, user[1]);
	iucv_user_destroy(fx.cp, user[0]);
}

/* Every domain by its shortest abbreviation; one character less is refused. */
static const struct {
	const char *name, *operands;
	enum mon_domain domain;
	bool sample, event;
} domains[] = {
	{ "APPL", " ALL", MON_APPLDATA, true, true },
	{ "I/O", " ALL", MON_IO, true, true },
	{ "ISFC", "", MON_ISFC, true, true },
	{ "NET", "", MON_NETWORK, true, true },
	{ "PROC", "", MON_PROCESSOR, true, true },
	{ "SCHED", " ALL", MON_SCHEDULER, false, true },
	{ "SEEKS", " DEVICE 200-2FF", MON_SEEKS, false, true },
	{ "SSI", "", MON_SSI, true, true },
	{ "STOR", "", MON_STORAGE, true, true },
	{ "USER", " USERID A B C", MON_USER, true, true },
};

/* The same as QUERY MONITOR lists them. */
static const char *const listed[] = {
	"APPLDATA", "I/O", "ISFC", "NETWORK", "PROCESSOR", "SCHEDULER", "SEEKS", "SSI", "STORAGE",
	"USER",
};

/* The domain @name is enabled, of those that can be; NULL: none is. */
static void ck_enabled(bool event, const char *name)
{
	const char *reply = run_as(CPCMD_GUEST, event ? "Q MON EVENT" : "Q MON SAMPLE", 0);
	unsigned int enabled = 0;
	char line[64];

	snprintf(line, sizeof(line), "\n%-9s DOMAIN ENABLED\n", name ? name : "MONITOR");
	ck_assert_msg(strstr(reply, line) != NULL, "no %s in %s", line, reply);
	for (const char *at = reply; (at = strstr(at, " ENABLED\n")) != NULL; at++)
		enabled++;
	/* MONITOR always is, and for samples SYSTEM. */
	ck_assert_uint_eq(enabled, (name ? 1u : 0u) + (event ? 1u : 2u));
}

static void domain_command(char text[64], const char *verb, bool event, const char *name,
			   const char *operands)
{
	snprintf(text, 64, "MONITOR %s %s %s%s", event ? "EVENT" : "SAMPLE", verb, name, operands);
}

TEST_EACH(domain, domains)
{
	const char *name = domains[_i].name;
	char text[64], less[16];

	for (int event = 0; event <= 1; event++) {
		const struct mon_settings *settings = monitor_settings(fx.cp, event);
		const bool known = event ? domains[_i].event : domains[_i].sample;
		const uint16_t always = settings->domains;

		domain_command(text, "ENA", event, name, domains[_i].operands);
		run_as(CPCMD_GUEST, text, known ? 0 : 3);
		ck_assert_uint_eq(settings->domains,
				  known ? always | MON_DOMAIN_BIT(domains[_i].domain) : always);
		ck_enabled(event, known ? listed[_i] : NULL);
		domain_command(text, "DIS", event, name, domains[_i].operands);
		run_as(CPCMD_GUEST, text, known ? 0 : 3);
		ck_assert_uint_eq(settings->domains, always);
		snprintf(less, sizeof(less), "%.*s", (int)strlen(name) - 1, name);
		domain_command(text, "ENABLE", event, less, domains[_i].operands);
		run_as(CPCMD_GUEST, text, 3);
		domain_command(text, "ENABLE", event, name, " X");
		run_as(CPCMD_GUEST, text, 3);
		if (domains[_i].operands[0] && known) {
			domain_command(text, "ENABLE", event, name, "");
			run_as(CPCMD_GUEST, text, 26);
		}
		ck_assert_uint_eq(settings->domains, always);
	}
}

TEST(domains_all)
{
	const struct mon_settings *sample = monitor_settings(fx.cp, false);
	const struct mon_settings *event = monitor_settings(fx.cp, true);
	const uint16_t both_on = MON_DOMAIN_BIT(MON_MONITOR);
	const uint16_t sample_on = both_on | MON_DOMAIN_BIT(MON_SYSTEM);
	const uint16_t both = MON_DOMAIN_BIT(MON_STORAGE) | MON_DOMAIN_BIT(MON_USER) |
			      MON_DOMAIN_BIT(MON_PROCESSOR) | MON_DOMAIN_BIT(MON_IO) |
			      MON_DOMAIN_BIT(MON_NETWORK) | MON_DOMAIN_BIT(MON_ISFC) |
			      MON_DOMAIN_BIT(MON_APPLDATA) | MON_DOMAIN_BIT(MON_SSI);

	ck_guest("MON SAMPLE ENABLE ALL\nMON EVENT ENABLE ALL", 0, "");
	ck_assert_uint_eq(sample->domains, sample_on | both);
	ck_assert_uint_eq(event->domains, both_on | both | MON_DOMAIN_BIT(MON_SEEKS) |
						  MON_DOMAIN_BIT(MON_SCHEDULER));
	ck_guest("MON SAMPLE DISABLE USER ALL", 0, "");
	ck_assert_uint_eq(sample->domains,
			  sample_on | (both & ~MON_DOMAIN_BIT(MON_USER)));
	ck_guest("MON SAMPLE DISABLE ALL\nMON EVENT DISABLE ALL", 0, "");
	ck_assert_uint_eq(sample->domains, sample_on);
	ck_assert_uint_eq(event->domains, both_on);
	ck_guest("MON SAMPLE ENABLE ALL X", 3, EXTRA("MNC", "X"));
	ck_guest("MON SAMPLE ENABLE USER ALL X", 3, EXTRA("MNC", "X"));
	ck_guest("MON SAMPLE ENABLE USER USERID", 26, MISSING("MNC"));
	ck_guest("MON SAMPLE ENABLE USER USER X", 3, INVALID("MNC", "USER"));
	ck_guest("MON SAMPLE ENABLE STOR ALL", 3, EXTRA("MNC", "ALL"));
	ck_assert_uint_eq(sample->domains, sample_on);
}

TEST(settings)
{
	const struct mon_settings *sample = monitor_settings(fx.cp, false);
	const struct mon_settings *event = monitor_settings(fx.cp, true);

	ck_guest("MONITOR SAMPLE INTERVAL 5", 0, "");
	ck_assert_uint_eq(sample->pending_interval_seconds, 300);
	ck_guest("MONITOR SAMPLE INT 6 SEC", 0, "");
	ck_assert_uint_eq(sample->pending_interval_seconds, 6);
	ck_guest("MONITOR SAMPLE INTERVAL 60 MINUTES", 0, "");
	ck_assert_uint_eq(sample->pending_interval_seconds, 3600);
	ck_guest("MONITOR SAMPLE RATE 2.5 SECONDS", 0, "");
	ck_assert_uint_eq(sample->rate_hundredths, 250);
	ck_guest("MONITOR SAMPLE RATE .05", 0, "");
	ck_assert_uint_eq(sample->rate_hundredths, 5);
	ck_guest("MONITOR SAMPLE RATE 30", 0, "");
	ck_assert_uint_eq(sample->rate_hundredths, 3000);
	ck_guest("MONITOR SAMPLE RATE STOP", 0, "");
	ck_assert_uint_eq(sample->rate_hundredths, 0);
	ck_guest("MONITOR SAMPLE CONFIG SIZE 241", 0, "");
	ck_assert_uint_eq(sample->config_pages, 241);
	ck_guest("MONITOR EVENT CONF SIZE 1", 0, "");
	ck_assert_uint_eq(event->config_pages, 1);
	ck_guest("MONITOR EVENT CONFIG LIMIT 1 SECONDS", 0, "");
	ck_assert_uint_eq(event->config_limit_seconds, 1);
	ck_guest("MONITOR EVENT CONFIG LIMIT 2", 0, "");
	ck_assert_uint_eq(event->config_limit_seconds, 120);
	ck_guest("MONITOR EVENT BLOCK 10", 0, "");
	ck_assert_uint_eq(event->block, 10);
	ck_guest("MONITOR EVENT PARTITION 300 BLOCK 1", 0, "");
	ck_assert_uint_eq(event->partition_pages, 300);
	ck_assert_uint_eq(event->block, 1);
}

#define RANGE(from, to) \
	"HCPMNC026E Operand missing or invalid - from " from " to " to " seconds are possible\n"

static const struct {
	const char *text;
	int rc;
	const char *reply;
} bad[] = {
	{ "MONITOR", 26, MISSING("MNC") },
	{ "MONITOR X", 3, INVALID("MNC", "X") },
	{ "MONITOR SAMPLE", 26, MISSING("MNC") },
	{ "MONITOR SAMPLE X", 3, INVALID("MNC", "X") },
	{ "MONITOR SAMPLE EN ALL", 3, INVALID("MNC", "EN") },
	{ "MONITOR SAMPLE DI ALL", 3, INVALID("MNC", "DI") },
	{ "MONITOR SAMPLE CON SIZE 1", 3, INVALID("MNC", "CON") },
	{ "MONITOR SAMPLE IN 1", 3, INVALID("MNC", "IN") },
	{ "MONITOR SAMPLE ENABLE", 26, MISSING("MNC") },
	{ "MONITOR SAMPLE ENABLE MONITOR", 3, INVALID("MNC", "MONITOR") },
	{ "MONITOR SAMPLE BLOCK 4", 3, INVALID("MNC", "BLOCK") },
	{ "MONITOR SAMPLE PARTITION 4", 3, INVALID("MNC", "PARTITION") },
	{ "MONITOR SAMPLE START PARTITION 4", 3, INVALID("MNC", "PARTITION") },
	{ "MONITOR SAMPLE STOP X", 3, EXTRA("MNC", "X") },
	{ "MONITOR SAMPLE INTERVAL", 26, MISSING("MNC") },
	{ "MONITOR SAMPLE INTERVAL X", 3, INVALID("MNC", "X") },
	{ "MONITOR SAMPLE INTERVAL 0", 26, RANGE("6", "3600") },
	{ "MONITOR SAMPLE INTERVAL 61", 26, RANGE("6", "3600") },
	{ "MONITOR SAMPLE INTERVAL 5 SECONDS", 26, RANGE("6", "3600") },
	{ "MONITOR SAMPLE INTERVAL 3601 SECONDS", 3, INVALID("MNC", "3601") },
	{ "MONITOR SAMPLE INTERVAL 10 HOURS", 3, INVALID("MNC", "HOURS") },
	{ "MONITOR SAMPLE INTERVAL 10 SE", 3, INVALID("MNC", "SE") },
	{ "MONITOR SAMPLE INTERVAL 10 MINUTES X", 3, EXTRA("MNC", "X") },
	{ "MONITOR SAMPLE RATE", 26, MISSING("MNC") },
	{ "MONITOR SAMPLE RATE .04", 3, INVALID("MNC", ".04") },
	{ "MONITOR SAMPLE RATE 30.01", 3, INVALID("MNC", "30.01") },
	{ "MONITOR SAMPLE RATE 31", 3, INVALID("MNC", "31") },
	{ "MONITOR SAMPLE RATE 1.", 3, INVALID("MNC", "1.") },
	{ "MONITOR SAMPLE RATE 1.123", 3, INVALID("MNC", "1.123") },
	{ "MONITOR SAMPLE RATE 1.X", 3, INVALID("MNC", "1.X") },
	{ "MONITOR SAMPLE RATE .", 3, INVALID("MNC", ".") },
	{ "MONITOR SAMPLE RATE 1 MINUTES", 3, INVALID("MNC", "MINUTES") },
	{ "MONITOR SAMPLE RATE STOP X", 3, EXTRA("MNC", "X") },
	{ "MONITOR SAMPLE RATE 2 SECONDS X", 3, EXTRA("MNC", "X") },
	{ "MONITOR SAMPLE INTERVAL 10 SECONDS X", 3, EXTRA("MNC", "X") },
	{ "MONITOR EVENT INTERVAL 10", 3, INVALID("MNC", "INTERVAL") },
	{ "MONITOR EVENT RATE 2", 3, INVALID("MNC", "RATE") },
	{ "MONITOR EVENT CONFIG", 26, MISSING("MNC") },
	{ "MONITOR EVENT CONFIG X", 3, INVALID("MNC", "X") },
	{ "MONITOR EVENT CONFIG SIZE", 26, MISSING("MNC") },
	{ "MONITOR EVENT CONFIG SIZE 0", 3, INVALID("MNC", "0") },
	{ "MONITOR EVENT CONFIG SIZE 524288", 3, INVALID("MNC", "524288") },
	{ "MONITOR EVENT CONFIG SIZE 1 X", 3, EXTRA("MNC", "X") },
	{ "MONITOR EVENT CONFIG LIMIT 0", 26, RANGE("1", "3600") },
	{ "MONITOR EVENT BLOCK", 26, MISSING("MNC") },
	{ "MONITOR EVENT BLOCK 0", 3, INVALID("MNC", "0") },
	{ "MONITOR EVENT BLOCK 11", 3, INVALID("MNC", "11") },
	{ "MONITOR EVENT BLOCK 4 X", 3, INVALID("MNC", "X") },
	{ "MONITOR EVENT PARTITION 0", 3, INVALID("MNC", "0") },
	{ "MONITOR EVENT START PARTITION", 26, MISSING("MNC") },
	{ "MONITOR EVENT START X", 3, INVALID("MNC", "X") },
};

TEST_EACH(refused, bad)
{
	ck_guest(bad[_i].text, bad[_i].rc, bad[_i].reply);
	ck_guest("QUERY MONITOR", 0, EVENT_INACTIVE SAMPLE_INACTIVE);
}
