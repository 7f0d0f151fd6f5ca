/* SPDX-License-Identifier: MIT */
/* monread: what an interval's JSON line says of users, volumes, processors and the partition. */
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

#include "activity_line.h"
#include "ebcdic.h"

static struct activity now, before;

static void start(void)
{
	memset(&now, 0, sizeof(now));
	memset(&before, 0, sizeof(before));
}

CASE("monread_json", start, NULL);

/* The line ends with these members, as JSON; those before are of the interval. */
static void ck_line(const char *expected)
{
	static const char before_them[] = "\"overflows\":0,";
	json_t *line = activity_line(&now, &before, 0);
	char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9));
	const char *at = text ? strstr(text, before_them) : NULL;

	ck_assert_ptr_nonnull(at);
	ck_assert_str_eq(at + strlen(before_them), expected + 1);
	free(text);
	json_decref(line);
}

static struct user_activity *user(unsigned int place, const char *name)
{
	ebcdic_name(now.user[place].name, name);
	return &now.user[place];
}

TEST(nothing)
{
	ck_line("{\"processors\":[],\"waits\":[],\"paging-users\":[],\"volumes\":[]}");
}

/* States found since the previous line, of all users and of each, in the order of entries. */
TEST(waits)
{
	struct user_activity *first = user(0, "FIRST"), *last = user(ACTIVITY_USERS - 1, "LAST");

	now.system.states.counted = true;
	before.system.states.found[STATE_IDLE] = 90;
	now.system.states.found[STATE_IDLE] = 91;
	now.system.states.found[STATE_RUNNING] = 3;
	first->states = (struct state_counts){ .counted = true, .found = { [STATE_OTHER] = 5 } };
	before.user[ACTIVITY_USERS - 1].states.found[STATE_DORMANT] = 7;
	last->address = 2;
	last->states = (struct state_counts){ .counted = true, .found = { [STATE_DORMANT] = 8 } };
	/* One that was not found again, one whose samples do not count. */
	before.user[3].states.found[STATE_IDLE] = 4;
	user(3, "GONE")->states =
		(struct state_counts){ .counted = true, .found = { [STATE_IDLE] = 4 } };
	user(4, "NEVER")->states.found[STATE_IDLE] = 9;
	ck_line("{\"processors\":[],\"waits\":["
		"{\"samples\":4,\"running\":75.0,\"cpu-wait\":0.0,\"io-wait\":0.0,"
		"\"page-wait\":0.0,\"simulation\":0.0,\"idle\":25.0,\"dormant\":0.0,\"other\":0.0},"
		"{\"user\":\"FIRST\",\"samples\":5,\"running\":0.0,\"cpu-wait\":0.0,"
		"\"io-wait\":0.0,\"page-wait\":0.0,\"simulation\":0.0,\"idle\":0.0,\"dormant\":0.0,"
		"\"other\":100.0},"
		"{\"user\":\"LAST, processor 2\",\"samples\":1,\"running\":0.0,\"cpu-wait\":0.0,"
		"\"io-wait\":0.0,\"page-wait\":0.0,\"simulation\":0.0,\"idle\":0.0,"
		"\"dormant\":100.0,\"other\":0.0}],\"paging-users\":[],\"volumes\":[]}");
}

/* Users that read or wrote pages since the line before. */
TEST(paging)
{
	struct user_activity *first = user(0, "FIRST"), *last = user(ACTIVITY_USERS - 1, "LAST");

	first->pages = (struct user_pages){ .reads = 5, .resident = 70 };
	before.user[ACTIVITY_USERS - 1].pages = (struct user_pages){ .reads = 11, .writes = 20 };
	last->pages = (struct user_pages){ .reads = 11, .writes = 22, .slots = 80 };
	before.user[7].pages = (struct user_pages){ .reads = 3, .writes = 4 };
	user(7, "IDLE")->pages = before.user[7].pages;
	ck_line("{\"processors\":[],\"waits\":[],\"paging-users\":["
		"{\"user\":\"FIRST\",\"read\":5,\"written\":0,\"resident\":70,\"slots\":0},"
		"{\"user\":\"LAST\",\"read\":0,\"written\":2,\"resident\":0,\"slots\":80}],"
		"\"volumes\":[]}");
}

/* Volumes with their slots; pages a second, where time has passed. */
TEST(volumes)
{
	struct device_activity *first = &now.device[0], *last = &now.device[ACTIVITY_DEVICES - 1];

	*first = (struct device_activity){
		.number = 0x1f, .is_paging = true,
		.pages = { .slots = 100, .slots_used = 40, .reads = 30, .writes = 60 },
	};
	ebcdic_encode(first->volume, "PAGE00", 6);
	*last = (struct device_activity){ .number = 0xabcd, .is_paging = true };
	last->pages.writes = before.device[ACTIVITY_DEVICES - 1].pages.writes = 8;
	now.device[5] = (struct device_activity){ .number = 5, .pages = { .reads = 1 } };
	now.last.time = 20 * TOD_SECOND;
	ck_line("{\"processors\":[],\"waits\":[],\"paging-users\":[],\"volumes\":["
		"{\"device\":\"001F\",\"slots\":100,\"slots-used\":40,\"volume\":\"PAGE00\","
		"\"page-reads\":1.5,\"page-writes\":3.0},"
		"{\"device\":\"ABCD\",\"slots\":0,\"slots-used\":0,\"page-reads\":0.0,"
		"\"page-writes\":0.0}]}");
}

TEST(volumes_without_time)
{
	now.device[1] = (struct device_activity){ .is_paging = true, .pages = { .reads = 3 } };
	ck_line("{\"processors\":[],\"waits\":[],\"paging-users\":[],\"volumes\":["
		"{\"device\":\"0000\",\"slots\":0,\"slots-used\":0}]}");
}

/* Values of the time since the previous line. */
TEST(processors)
{
	before.cpu[0] = (struct cpu_activity){ .users = 50, .system = 10, .elapsed = 100 };
	now.cpu[0] = (struct cpu_activity){ .users = 100, .system = 11, .elapsed = 300 };
	now.cpu[ACTIVITY_CPUS - 1] = (struct cpu_activity){
		.address = 127, .type = 3, .users = 3, .system = 1, .elapsed = 8,
	};
	before.cpu[2].elapsed = now.cpu[2].elapsed = 8;
	now.cpu[2].users = 4;
	ck_line("{\"processors\":[{\"processor\":0,\"type\":\"CP\",\"users\":25.0,\"system\":0.5},"
		"{\"processor\":127,\"type\":\"IFL\",\"users\":37.5,\"system\":12.5}],"
		"\"waits\":[],\"paging-users\":[],\"volumes\":[]}");
}

TEST(partition)
{
	ebcdic_name(now.system.name, "VMSYS");
	ebcdic_name(now.system.partition, "LPAR1");
	now.system.has_partition = true;
	now.system.number = 4;
	now.system.configured = 5;
	now.system.standby = 6;
	now.system.shared = 3;
	now.system.dedicated = 2;
	now.system.machine = 12;
	ck_line("{\"system\":\"VMSYS\",\"partition\":{\"number\":4,\"configured\":5,\"standby\":6,"
		"\"shared\":3,\"dedicated\":2,\"machine\":12,\"name\":\"LPAR1\"},"
		"\"processors\":[],\"waits\":[],\"paging-users\":[],\"volumes\":[]}");
}

/* A partition without a name has none. */
TEST(partition_without_a_name)
{
	now.system.has_partition = true;
	ck_line("{\"partition\":{\"number\":0,\"configured\":0,\"standby\":0,\"shared\":0,"
		"\"dedicated\":0,\"machine\":0},"
		"\"processors\":[],\"waits\":[],\"paging-users\":[],\"volumes\":[]}");
}

/*
 * Two seconds between samples, ten of which found users waiting in the interval, and 40 I/Os since
 * the line before: half a second each.  That of a paging volume is none of theirs.
 */
TEST(response)
{
	now.system.states.counted = true;
	now.system.hf_rate = 200;
	now.last.found[STATE_IO_WAIT] = 10;
	before.device[0].starts = 60;
	now.device[0].starts = 100;
	now.device[ACTIVITY_DEVICES - 1] =
		(struct device_activity){ .is_paging = true, .starts = 9 };
	ck_line("{\"processors\":[],\"waits\":[],\"paging-users\":[],\"volumes\":["
		"{\"device\":\"0000\",\"slots\":0,\"slots-used\":0}],\"response\":500.0}");
}
