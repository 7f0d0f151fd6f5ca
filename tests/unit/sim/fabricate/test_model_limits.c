/* SPDX-License-Identifier: MIT */
/* Every number of a configuration at its least and at its greatest (model.h), and one beyond. */
#include "model_check.h"

static struct mc_system s;
static struct model_processor processors[MODEL_MAX_PROCESSORS + 1];
static struct model_device devices[MODEL_MAX_DEVICES + 1];
static struct model_user users[MODEL_MAX_USERS + 1];
static struct model_pattern patterns[MODEL_MAX_PATTERNS + 1];
static struct model_action actions[MODEL_MAX_ACTIONS + 1];

/* The small system, with room for as much of everything as there can be. */
static void setup(void)
{
	mc_fill(&s);
	memset(processors, 0, sizeof(processors));
	memset(actions, 0, sizeof(actions));
	for (uint32_t i = 0; i < COUNT(devices); i++) {
		devices[i] = s.device[1];
		devices[i].number = i;
	}
	for (uint32_t i = 0; i < COUNT(users); i++)
		users[i] = s.user[0];
	for (uint32_t i = 0; i < COUNT(patterns); i++)
		patterns[i] = s.pattern[0];
	for (uint32_t i = 0; i < COUNT(actions); i++)
		actions[i].kind = MODEL_STORM;
	s.config.processor = processors;
	s.config.device = devices;
	s.config.user = users;
	s.config.pattern = patterns;
	s.config.action = actions;
}

CASE("limits", setup, NULL);

/* The sentence about a configuration; "" if it is good. */
static const char *said(void)
{
	static char text[256];
	struct model *m;

	text[0] = '\0';
	m = model_open(&s.config, text, sizeof(text));
	ck_assert((m == NULL) == (text[0] != '\0'));
	model_close(m);
	return text;
}

struct limit {
	size_t at;		/* of the number, which has 32 bits */
	uint32_t least, most;
	const char *before, *behind;	/* what is said of a number between them */
};

#define LIMIT(member, least, most, before, behind) \
	{ offsetof(struct mc_system, member), least, most, before, behind }

/* So many are allowed, but there may still be too little room for them. */
static const struct limit counts[] = {
	LIMIT(config.processors, 1, 64, "", " processors: 1 to 64 are possible"),
	LIMIT(config.devices, 0, 4096, "", " devices: at most 4096 are possible"),
	LIMIT(config.users, 0, 65536, "", " users: at most 65536 are possible"),
	LIMIT(config.patterns, 1, 32, "", " patterns: 1 to 32 are possible"),
	LIMIT(config.actions, 0, 65536, "", " actions: at most 65536 are possible"),
	LIMIT(config.area.pages, 1, 16384, "a segment of ", " pages at page 9000: up to 64 MiB "
	      "below 2 GiB are possible"),
};

static const struct limit numbers[] = {
	LIMIT(config.seconds, 1, 366 * 24 * 60 * 60, "", " seconds from second 0 of the day on: "
	      "1 to 31622400 seconds are possible"),
	LIMIT(config.second_of_day, 0, 24 * 60 * 60 - 1, "600 seconds from second ", " of the day "
	      "on: 1 to 31622400 seconds are possible"),
	LIMIT(config.interval, 6, 3600, "an interval of ", " s and a rate of 200/100 s: 6 to 3600 "
	      "and 5 to 3000 are possible"),
	LIMIT(config.rate, 5, 3000, "an interval of 60 s and a rate of ", "/100 s: 6 to 3600 and "
	      "5 to 3000 are possible"),
	LIMIT(config.block, 1, 10, "blocks of ", " pages and 65536 frames of storage: 1 to 10 and "
	      "1024 to 1073741824 are possible"),
	LIMIT(config.frames, 1024, 1u << 30, "blocks of 4 pages and ", " frames of storage: 1 to "
	      "10 and 1024 to 1073741824 are possible"),
};

/* At its limits it is not what is refused; beyond them it is. */
static void ck_limit(const struct limit *limit)
{
	const int64_t tried[] = { limit->least, limit->most, (int64_t)limit->least - 1,
				  (int64_t)limit->most + 1 };

	for (unsigned int i = 0; i < COUNT(tried); i++) {
		const uint32_t value = (uint32_t)tried[i];
		char wanted[256];

		if (tried[i] < 0)
			continue;
		memcpy((uint8_t *)&s + limit->at, &value, sizeof(value));
		snprintf(wanted, sizeof(wanted), "%s%u%s", limit->before, value, limit->behind);
		if (i < 2)
			ck_assert_str_ne(said(), wanted);
		else
			ck_assert_str_eq(said(), wanted);
	}
}

TEST_EACH(as_many_as_there_can_be, counts)
{
	ck_limit(&counts[_i]);
}

TEST_EACH(good_at_its_limits, numbers)
{
	const struct limit *limit = &numbers[_i];
	const uint32_t values[] = { limit->least, limit->most };

	mc_fill(&s);
	ck_limit(limit);
	/* Users cannot have more than 16 times the storage that there is. */
	for (uint32_t i = 0; i < MC_USERS; i++)
		s.user[i].pages = 1000;
	for (unsigned int i = 0; i < COUNT(values); i++) {
		memcpy((uint8_t *)&s + limit->at, &values[i], sizeof(values[i]));
		ck_assert_str_eq(said(), "");
	}
}

TEST(below_2_gib)
{
	s.config.segment = 0x80000 - 2048;
	ck_assert_str_eq(said(), "");
	s.config.segment++;
	ck_assert_str_eq(said(), "a segment of 2048 pages at page 7F801: up to 64 MiB below 2 GiB "
			 "are possible");
}

#define USER_LIMIT(member, least, most) \
	LIMIT(user[2].member, least, most, "user 2 is out of the bounds of model.h", NULL)
#define DEVICE_LIMIT(member, least, most) \
	LIMIT(device[2].member, least, most, "device 2 is out of the bounds of model.h", NULL)

static const struct limit parts[] = {
	USER_LIMIT(type, 0, 5), USER_LIMIT(processors, 1, 64), USER_LIMIT(pattern, 0, 0),
	USER_LIMIT(share, 1, 10000), USER_LIMIT(pages, 1, 65536 * 16), USER_LIMIT(cpu, 0, 64000),
	USER_LIMIT(io, 0, 100000000), USER_LIMIT(paging, 0, 100000000),
	USER_LIMIT(packets, 0, 100000000), USER_LIMIT(transactions, 0, 100000000),
	DEVICE_LIMIT(kind, 0, 3), DEVICE_LIMIT(paths, 1, 8),
	LIMIT(processor[1].type, 0, 5, "processor 1 has the type 6", NULL),
};

TEST_EACH(parts_one_by_one, parts)
{
	const struct limit *limit = &parts[_i];
	const int64_t tried[] = { limit->least, limit->most, (int64_t)limit->least - 1,
				  (int64_t)limit->most + 1 };

	for (unsigned int i = 0; i < COUNT(tried); i++) {
		const uint32_t value = (uint32_t)tried[i];

		mc_fill(&s);
		if (tried[i] < 0)
			continue;
		memcpy((uint8_t *)&s + limit->at, &value, sizeof(value));
		ck_assert_str_eq(said(), i < 2 ? "" : limit->before);
	}
}

/* They ascend, each is there once, and has four digits. */
TEST(device_numbers)
{
	mc_fill(&s);
	s.device[0].number = 0;
	s.device[1].number = 1;
	s.device[3].number = 0xffff;
	ck_assert_str_eq(said(), "");
	s.device[3].number = 0x10000;
	ck_assert_str_eq(said(), "device 3 is out of the bounds of model.h");
	mc_fill(&s);
	s.device[2].number = s.device[1].number;
	ck_assert_str_eq(said(), "device 2 is out of the bounds of model.h");
	s.device[2].number = s.device[1].number + 1;
	ck_assert_str_eq(said(), "");
}

TEST(names)
{
	mc_fill(&s);
	memcpy(s.user[1].name, "EIGHTCHR", 9);
	ck_assert_str_eq(said(), "");
	memcpy(s.user[1].name, "NINECHARS", 10);
	ck_assert_str_eq(said(), "user 1 is out of the bounds of model.h");
	mc_fill(&s);
	memcpy(s.device[1].volume, "SIXCHR", 7);
	ck_assert_str_eq(said(), "");
	memcpy(s.device[1].volume, "SEVENCH", 8);
	ck_assert_str_eq(said(), "device 1 is out of the bounds of model.h");
}

TEST(percentages)
{
	for (unsigned int hour = 0; hour < 24; hour++) {
		char wanted[64];

		mc_fill(&s);
		s.pattern[0].percent[hour] = 1000;
		ck_assert_str_eq(said(), "");
		s.pattern[0].percent[hour] = 1001 + hour;
		snprintf(wanted, sizeof(wanted), "pattern 0 has %u %%; 1000 is the most",
			 1001 + hour);
		ck_assert_str_eq(said(), wanted);
	}
}

/* The value of an action, by its kind; a processor and so on is on or off. */
static const struct {
	uint32_t kind, most;
} values[] = {
	{ MODEL_LOGON, 10000 }, { MODEL_LOGOFF, 10000 }, { MODEL_LOAD, 10000 },
	{ MODEL_RUNAWAY, 10000 }, { MODEL_PROCESSOR, UINT32_MAX }, { MODEL_DEVICE, UINT32_MAX },
	{ MODEL_PATH, UINT32_MAX }, { MODEL_STORM, 1000000 }, { MODEL_READER, UINT32_MAX },
	{ MODEL_SAMPLE, 0xffff }, { MODEL_EVENT, 0xffff },
};

TEST_EACH(values_of_actions, values)
{
	const uint32_t most = values[_i].most;

	mc_fill(&s);
	mc_act(&s, 1, values[_i].kind, 0, 1, most);
	ck_assert_str_eq(said(), "");
	if (most == UINT32_MAX)
		return;
	s.action[0].value++;
	ck_assert_str_eq(said(), "action 0 is out of the bounds of model.h");
}

TEST(text_of_a_command)
{
	mc_fill(&s);
	mc_act(&s, 1, MODEL_SAMPLE, 0, 0, 0);
	memset(s.action[0].text, 'A', 63);
	ck_assert_str_eq(said(), "");
	s.action[0].text[63] = 'A';
	ck_assert_str_eq(said(), "action 0 is out of the bounds of model.h");
}

TEST(order_of_actions)
{
	static const struct {
		uint32_t kind[2], second[2];
		bool good;
	} pairs[] = {
		{ { MODEL_LOGON, MODEL_LOGON }, { 5, 5 }, true },
		{ { MODEL_LOGON, MODEL_LOGON }, { 5, 6 }, true },
		{ { MODEL_LOGON, MODEL_LOGON }, { 6, 5 }, false },
		{ { MODEL_LOGON, MODEL_EVENT }, { 5, 5 }, true },
		{ { MODEL_EVENT, MODEL_SAMPLE }, { 5, 5 }, true },
		{ { MODEL_SAMPLE, MODEL_EVENT }, { 5, 5 }, true },
		{ { MODEL_SAMPLE, MODEL_LOGON }, { 5, 5 }, false },
		{ { MODEL_EVENT, MODEL_LOGON }, { 5, 5 }, false },
		{ { MODEL_EVENT, MODEL_LOGON }, { 5, 6 }, true },
	};

	for (unsigned int i = 0; i < COUNT(pairs); i++) {
		mc_fill(&s);
		for (unsigned int k = 0; k < 2; k++)
			mc_act(&s, pairs[i].second[k], pairs[i].kind[k], 0, 0, 0);
		ck_assert_str_eq(said(), pairs[i].good ? "" :
				 "action 1 comes too late: actions are in order, commands the last "
				 "of their second");
	}
}

/* An error about a lack of room says how much there is. */
TEST(too_little_room)
{
	mc_fill(&s);
	s.config.area = (struct area_wish){ 16, 8, 2, 2, 241 };
	s.user[0].processors = 64;
	ck_assert_str_eq(said(), "the configuration of 6 users and 3 processors does not fit into "
			 "its area, of 1 pages for samples: CP would sever with X'2C'");
	s.config.area = (struct area_wish){ 32, 16, 6, 2, 241 };
	ck_assert_str_eq(said(), "a sample of 6 users does not fit into the 9 pages that the "
			 "segment has for it");
	mc_fill(&s);
	s.config.area = (struct area_wish){ 7, 0, 2, 2, 2 };
	ck_assert_str_eq(said(), "a segment of 7 pages is too small for four areas");
	mc_fill(&s);
	s.config.area.sample_config = 1024;
	ck_assert_str_eq(said(), "the configuration areas do not fit into the segment of 2048 "
			 "pages");
}

/* Users that log on later count: there must be room for all of them. */
TEST(room_for_all_users)
{
	struct model *m;

	mc_fill(&s);
	s.config.area = (struct area_wish){ 32, 16, 6, 2, 241 };
	for (uint32_t i = 0; i < MC_USERS; i++) {
		s.user[i].processors = 20;
		s.user[i].logged_on = 0;
	}
	ck_assert_str_eq(said(), "the configuration of 6 users and 3 processors does not fit into "
			 "its area, of 5 pages for samples: CP would sever with X'2C'");
	mc_fill(&s);
	s.user[1].logged_on = 0;
	m = mc_open(&s);
	for (uint32_t i = 0; i < MC_USERS; i++)
		ck_assert_uint_eq((m->user[i].s.flags & IS_ON) != 0, i != 1);
	model_close(m);
}
