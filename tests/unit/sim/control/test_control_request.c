/* SPDX-License-Identifier: MIT */
/* The control socket: what requests are refused, and how. */
#include "control_client.h"
#include "scratch.h"
#include "storage_fails.h"

CASE("requests", start, stop);

TEST(requests_and_ids)
{
	int fd = new_client();

	ask_is(fd, "{\"execute\":\"query-faults\"}", "{\"return\":{\"rules\":[]}}");
	ask_is(fd, "{\"execute\":\"query-faults\",\"arguments\":{},\"id\":[1,{\"a\":null}]}",
	       "{\"return\":{\"rules\":[]},\"id\":[1,{\"a\":null}]}");
	ask_is(fd, "{\"execute\":\"query-faults\",\"id\":null}",
	       "{\"return\":{\"rules\":[]},\"id\":null}");
	ask_is(fd, "{\"execute\":\"\",\"id\":\"x\"}",
	       "{\"error\":{\"class\":\"CommandNotFound\",\"desc\":\"there is no command \\\"\\\"; "
	       "query-schema lists them\"},\"id\":\"x\"}");
	close(fd);
}

TEST(bad_requests)
{
	int fd = new_client();
	char deep[64];

	ask_is(fd, "", bad("the request is not JSON: unexpected token near end of file"));
	ask_is(fd, "{\"execute\":\"\xff\"}",
	       bad("the request is not JSON: unable to decode byte 0xff near '\\\"'"));
	ask_is(fd, "[]", bad("the request is not a JSON object"));
	ask_is(fd, "17", bad("the request is not a JSON object"));
	ask_is(fd, "{}", bad("the request has no \\\"execute\\\" with a command's name"));
	ask_is(fd, "{\"execute\":1}",
	       bad("the request has no \\\"execute\\\" with a command's name"));
	ask_is(fd, "{\"execute\":\"query-cp\",\"argument\":{}}",
	       bad("\\\"argument\\\" is not a member of a request; those are execute, arguments, "
		   "id and later"));
	ask_is(fd, "{\"execute\":\"query-cp\",\"later\":1}",
	       bad("\\\"later\\\" is neither true nor false"));
	ask_is(fd, "{\"execute\":\"query-cp\",\"execute\":\"query-cp\"}",
	       bad("the request is not JSON: duplicate object key near '\\\"execute\\\"'"));
	memset(deep, '[', 40);
	deep[40] = '\0';
	ask_is(fd, deep, bad("the request has more than 65536 values or more than 16 levels"));
	ask_is(fd, "{\"execute\":\"query-cp\",\"arguments\":[]}",
	       wrong("\\\"arguments\\\" is not an object"));
	close(fd);
}

#define LATER(command, id) "{\"execute\":\"" command "\",\"later\":true,\"id\":" id "}"
#define NO_RULES(id) "{\"return\":{\"rules\":[]},\"id\":" id "}"

/* It comes in front of whatever is sent next; what went wrong is told at once. */
TEST(answers_that_may_come_later)
{
	int fd = new_client();

	ask_is(fd, LATER("query-faults", "1"), "");
	ask_is(fd, LATER("query-faults", "2"), "");
	ask_is(fd, "{\"execute\":\"query-faults\",\"later\":false,\"id\":3}", NO_RULES("1"));
	ck_assert_str_eq(read_line(fd), NO_RULES("2"));
	ck_assert_str_eq(read_line(fd), NO_RULES("3"));
	ask_is(fd, LATER("query-faults", "4"), "");
	ask_is(fd, LATER("query-nothing", "5"), NO_RULES("4"));
	ck_assert_ptr_nonnull(strstr(read_line(fd), "\"CommandNotFound\""));
	ck_assert_str_eq(read_line(fd), "");
	close(fd);
}

/* Answers that nobody asks for do not pile up. */
TEST(answers_that_come_later_are_few)
{
	int fd = new_client();
	unsigned int asked = 0;

	while (*ask(fd, LATER("query-faults", "7")) == '\0')
		ck_assert_uint_lt(++asked, CTL_LATER_LIMIT);
	for (; asked > 0; asked--)
		ck_assert_str_eq(read_line(fd), NO_RULES("7"));
	ck_assert_str_eq(read_line(fd), "");
	close(fd);
}

/* A name is cut after 60 bytes, here within U+0410: then only ASCII is left, U+0400 neither. */
TEST(names_cut_within_a_character)
{
	static const char format[] = "{\"error\":{\"class\":\"CommandNotFound\",\"desc\":"
				     "\"there is no command \\\"%s%s%s\\\"; query-schema "
				     "lists them\"},\"id\":null}";
	int fd = new_client();
	char request[128], answer[256], xs[58];

	memset(xs, 'x', sizeof(xs) - 1);
	xs[sizeof(xs) - 1] = '\0';
	snprintf(request, sizeof(request), "{\"execute\":\"\xd0\x80%s\xd0\x90\"}", xs);
	snprintf(answer, sizeof(answer), format, "??", xs, "?");
	ask_is(fd, request, answer);
	/* Not within one: it is as it was. */
	snprintf(request, sizeof(request), "{\"execute\":\"\xd0\x80%s\xc2\x80\"}", xs + 1);
	snprintf(answer, sizeof(answer), format, "\xd0\x80", xs + 1, "\xc2\x80");
	ask_is(fd, request, answer);
	close(fd);
}

TEST(arguments_are_checked)
{
	static const struct {
		const char *request, *answer;
	} cases[] = {
		{ "query-cp\",\"arguments\":{\"a\":1}", wrong("argument \\\"a\\\" does not exist") },
		{ "cp-command\"", wrong("argument \\\"command\\\" is missing") },
		{ "cp-command\",\"arguments\":{\"command\":1}",
		  wrong("argument \\\"command\\\" is not a string of 1 to 240 bytes") },
		{ "cp-command\",\"arguments\":{\"command\":\"Q\",\"as\":\"me\"}",
		  wrong("argument \\\"as\\\" is none of operator guest") },
		{ "peer-create\",\"arguments\":{\"name\":\"A B\"}",
		  wrong("argument \\\"name\\\" is not a name of 1 to 8 characters (letters, "
			"digits, @#$_*-+:)") },
		{ "peer-create\",\"arguments\":{\"name\":\"AB\",\"max-paths\":65536}",
		  wrong("argument \\\"max-paths\\\" is not an integer from 1 to 65535") },
		{ "peer-create\",\"arguments\":{\"name\":\"AB\",\"max-paths\":1.0}",
		  wrong("argument \\\"max-paths\\\" is not an integer from 1 to 65535") },
		{ "peer-create\",\"arguments\":{\"name\":\"AB\",\"persistent\":0}",
		  wrong("argument \\\"persistent\\\" is neither true nor false") },
		{ "monitor-capture\",\"arguments\":{\"file\":\"\"}",
		  wrong("argument \\\"file\\\" is not a string of 1 to 4095 bytes") },
		{ "monitor-deliver\",\"arguments\":{\"kind\":\"sample\",\"elements\":[]}",
		  wrong("argument \\\"elements\\\" is not a list of 1 to 338 items") },
		{ "monitor-deliver\",\"arguments\":{\"kind\":\"sample\",\"elements\":[{\"domains\":"
		  "1,\"data\":\"AA==\"},{\"domains\":1,\"data\":\"AB==\"}]}",
		  wrong("argument \\\"elements[1].data\\\" is not base64 of 1 to 6291456 bytes") },
		{ "monitor-deliver\",\"arguments\":{\"kind\":\"sample\",\"elements\":[{\"domains\":"
		  "1,\"fill\":{\"length\":0}}]}",
		  wrong("argument \\\"elements[0].fill.length\\\" is not an integer from 1 to "
			"268435456") },
		{ "monitor-deliver\",\"arguments\":{\"kind\":\"sample\",\"elements\":[5]}",
		  wrong("argument \\\"elements[0]\\\" is not an object") },
		{ "monitor-deliver\",\"arguments\":{\"kind\":\"sample\",\"elements\":[{\"domains\":"
		  "1}]}",
		  wrong("argument \\\"elements[0]\\\" must have either \\\"data\\\" or "
			"\\\"fill\\\"") },
		{ "monitor-deliver\",\"arguments\":{\"kind\":\"sample\",\"elements\":[{\"domains\":"
		  "1,\"fill\":{\"length\":1,\"seed\":1,\"pattern\":1}}]}",
		  wrong("argument \\\"elements[0].fill\\\" must have either \\\"seed\\\" or "
			"\\\"pattern\\\"") },
		{ "cp-command\",\"arguments\":{\"command\":\"\xe2\x82\xac\"}",
		  wrong("argument \\\"command\\\" has characters that CP's code page lacks") },
		{ "fault-arm\",\"arguments\":{\"point\":\"iucv.send\",\"kind\":\"delay\","
		  "\"value\":1}",
		  failed("fault point iucv.send cannot carry out delay; it can do cc rc pgm "
			 "drop sever") },
		{ "fault-disarm\",\"arguments\":{\"rule\":3}",
		  failed("no fault rule 3 is armed; query-faults lists them") },
		{ "peer-call\",\"arguments\":{\"peer\":\"BOB\",\"function\":\"query\"}",
		  failed("this connection has no peer BOB; peer-create makes one") },
		{ "peer-create\",\"arguments\":{\"name\":\"*\"}",
		  wrong("* is not a user ID; only a service's name begins with *") },
		{ "peer-create\",\"arguments\":{\"name\":\"*msg\"}",
		  failed("*MSG is logged on already; choose another name") },
		{ "peer-create\",\"arguments\":{\"name\":\"*b*B\"}",
		  wrong("*B*B is not a user ID; only a service's name begins with *") },
		{ "peer-create\",\"arguments\":{\"name\":\"linux001\"}",
		  failed("LINUX001 is logged on already; choose another name") },
		{ "query-paths\",\"arguments\":{\"user\":\"BOB\"}",
		  failed("BOB is not logged on; query-users lists who is") },
		{ "query-set\",\"arguments\":{\"set\":5}",
		  failed("set 5 is not in the segment any more, or never was") },
		{ "segment-read\",\"arguments\":{\"name\":\"NONE\",\"offset\":0,\"length\":1}",
		  failed("there is no segment NONE; query-segments lists them") },
		{ "segment-read\",\"arguments\":{\"name\":\"MONDCSS\",\"offset\":2097151,"
		  "\"length\":2}",
		  failed("2 bytes at offset 2097151 do not lie in segment MONDCSS") },
		{ "segment-read\",\"arguments\":{\"name\":\"MONDCSS\",\"offset\":0,"
		  "\"length\":6291457}",
		  wrong("argument \\\"length\\\" is above 6291456; use "
			"\\\"file\\\" for more") },
		{ "storage-read\",\"arguments\":{\"address\":4194303,\"length\":2}",
		  failed("2 bytes at guest absolute X'3fffff' are not all storage of the guest") },
		{ "state-load\",\"arguments\":{\"file\":\"/\"}", failed("file / cannot be read: it is not a regular file") },
	};
	int fd = new_client();
	char request[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(request, sizeof(request), "{\"execute\":\"%s}", cases[i].request);
		ask_is(fd, request, cases[i].answer);
	}
	ask_is(fd, "{\"execute\":\"query-faults\"}", "{\"return\":{\"rules\":[]}}");
	close(fd);
}

/* Cut in the middle of a character: the sentence is still UTF-8. */
TEST(long_names_in_sentences)
{
	int fd = new_client();
	char request[256] = "{\"execute\":\"";
	json_t *answer;

	for (int i = 0; i < 59; i++)
		strcat(request, "x");
	strcat(request, "\xc3\xbc\"}");
	answer = json_loads(ask(fd, request), 0, NULL);
	ck_assert_ptr_nonnull(answer);
	ck_assert_ptr_nonnull(strstr(
		json_string_value(json_object_get(json_object_get(answer, "error"), "desc")),
		"xxx?\"; query-schema lists them"));
	json_decref(answer);
	close(fd);
}

/* Every request is answered or refused, and the next client is served. */
TEST(noise)
{
	uint64_t random = 1;

	for (int round = 0; round < 200; round++) {
		int fd = new_client();
		char bytes[512];

		for (size_t i = 0; i < sizeof(bytes); i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
			bytes[i] = "{}[]\":,\\u0e-\n\xff\x80 \x00" "execute"[random >> 33 & 15];
			if (round & 1)
				bytes[i] = (char)(random >> 40);
		}
		say(fd, bytes, sizeof(bytes));
		say(fd, "\n", 1);
		ck_assert_int_eq(strncmp(read_line(fd), "{\"error\":", 9), 0);
		close(fd);
	}
	ask_is(new_client(), "{\"execute\":\"query-faults\"}", "{\"return\":{\"rules\":[]}}");
}

TEST(words_fit_the_core)
{
	for (unsigned int i = 1; i < FAULT_KINDS; i++)
		ck_assert_str_eq(ctl_fault_kinds[i - 1], fault_kind_info[i].name);
	ck_assert_ptr_null(ctl_fault_kinds[FAULT_KINDS - 1]);
	for (unsigned int i = 0; i < FAULT_POINTS; i++)
		ck_assert_str_eq(ctl_fault_points[i], fault_point_info[i].name);
	for (unsigned int i = 0; i < IUCV_FUNCTIONS; i++)
		ck_assert_ptr_nonnull(ctl_functions[i]);
	for (size_t i = 0; i < ctl_command_count; i++)
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(ctl_commands[i].name, ctl_commands[j].name);
}

TEST(base64)
{
	static const struct {
		const char *plain, *text;
	} cases[] = { { "", "" }, { "f", "Zg==" }, { "xy", "eHk=" }, { "foo", "Zm9v" },
		      { "foob", "Zm9vYg==" }, { "\xfb\xff", "+/8=" } };
	static const char *const wrong_texts[] = { "A", "AA", "AAA", "====", "A===", "AA=A",
						   "AB==", "AAB=", "AA-A", "AAA\n" };
	uint8_t bytes[8];
	char text[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const size_t len = strlen(cases[i].plain);

		ck_assert_int_eq(ctl_base64_size(cases[i].text, strlen(cases[i].text)),
				 (int64_t)len);
		ctl_base64_decode(bytes, cases[i].text, strlen(cases[i].text));
		ck_assert_int_eq(memcmp(bytes, cases[i].plain, len), 0);
		ctl_base64_encode(text, (const uint8_t *)cases[i].plain, len);
		ck_assert_int_eq(strncmp(text, cases[i].text, CTL_BASE64_LEN(len)), 0);
	}
	for (size_t i = 0; i < sizeof(wrong_texts) / sizeof(wrong_texts[0]); i++)
		ck_assert_int_eq(ctl_base64_size(wrong_texts[i], strlen(wrong_texts[i])), -1);
}

TEST(many_values)
{
	const size_t len = CTL_MAX_VALUES + 64;
	char *list = malloc(len);

	ck_assert_ptr_nonnull(list);
	memset(list, ',', len);
	ck_assert(!ctl_modest(list, len, CTL_MAX_VALUES, CTL_MAX_DEPTH));
	ck_assert(ctl_modest(list, CTL_MAX_VALUES - 1, CTL_MAX_VALUES, CTL_MAX_DEPTH));
	free(list);
}

#define NO_REQUEST failed("not enough memory for the request")
#define NO_ANSWER failed("not enough memory for the answer; what was asked for may have been done")

/* The answer is whole, says that it cannot be made, or there is none and the connection ends. */
TEST(answers_without_memory)
{
	static const char query[] = "{\"execute\":\"query-cp\"}";
	unsigned int no_request = 0, no_answer = 0, dropped = 0;
	char whole[4096];
	int fd = new_client();

	strcpy(whole, ask(fd, query));
	close(fd);
	for (long left = 0; storage_left < 0; left++) {
		const char *line;

		fd = new_client();
		say(fd, query, strlen(query));
		say(fd, "\n", 1);
		storage_left = left;
		while (step())
			;
		if (storage_left >= 0) {
			storage_left = -1;
			ck_assert_str_eq(read_line(fd), whole);
			close(fd);
			break;
		}
		line = read_line(fd);
		if (strcmp(line, NO_REQUEST) == 0)
			no_request++;
		else if (strcmp(line, NO_ANSWER) == 0)
			no_answer++;
		else if (line[0] == '\0')
			dropped++;
		else
			ck_assert_str_eq(line, whole);
		close(fd);
	}
	ck_assert_uint_gt(no_request, 0);
	ck_assert_uint_gt(no_answer, 0);
	ck_assert_uint_gt(dropped, 0);
}

/* An event comes whole or not at all: who should have it is dropped. */
TEST(events_without_memory)
{
	static const char whole[] = "{\"event\":\"segment\",\"data\":{\"name\":\"X\"},\"timestamp\":";
	unsigned int dropped = 0;

	for (long left = 0; storage_left < 0; left++) {
		int fd = new_client();
		const char *line;
		json_t *data;
		bool failed;

		storage_left = left;
		data = json_object();
		json_object_set_new(data, "name", json_string("X"));
		ctl_notify(ctl, NULL, "segment", data);
		failed = storage_left < 0;
		storage_left = -1;
		line = read_line(fd);
		dropped += line[0] == '\0';
		ck_assert_msg(line[0] == '\0' || strncmp(line, whole, strlen(whole)) == 0, "%ld: %s",
			      left, line);
		close(fd);
		while (step())
			;
		if (!failed)
			break;
	}
	ck_assert_uint_gt(dropped, 2);
}

/* All that was configured, in its order. */
TEST(the_guest_as_configured)
{
	static const char *const options[] = {
		"userid", "tester", "class", "BG", "cpus", "3", "directory", "OPTION MAXCONN 77;"
		"ACCOUNT 4711;IUCV ALLOW PRIORITY MSGLIMIT 9;IUCV *MSG;NAMESAVE MONDCSS OTHER", NULL,
	};
	json_t *answer, *value;
	int fd;

	stop();
	fx_setup_with(options);
	folder_make();
	snprintf(path, sizeof(path), "%s/control", folder);
	ctl = ctl_open(path, err, sizeof(err));
	ck_assert_ptr_nonnull(ctl);
	ctl_attach(ctl, fx.cp);
	fd = new_client();
	answer = json_loads(ask(fd, "{\"execute\":\"query-cp\"}"), 0, NULL);
	ck_assert_ptr_nonnull(answer);
	json_object_del(json_object_get(answer, "return"), "level");
	value = json_loads("{\"return\":{\"userid\":\"TESTER\",\"classes\":\"BG\",\"account\":"
			   "\"4711\",\"cpus\":3,\"max-paths\":77,\"applmon\":false,\"console\":9,"
			   "\"seed\":\"0000000000000000\",\"storage\":[{\"start\":0,\"size\":"
			   "4194304},{\"start\":12582912,\"size\":2097152}],\"iucv\":[{\"name\":"
			   "\"ALLOW\",\"msglimit\":9,\"priority\":true},{\"name\":\"*MSG\","
			   "\"msglimit\":0,\"priority\":false}],\"namesave\":[\"MONDCSS\","
			   "\"OTHER\"],\"highest-address\":14680063}}", 0, NULL);
	ck_assert_ptr_nonnull(value);
	ck_assert_msg(json_equal(answer, value), "%s", json_dumps(answer, JSON_COMPACT));
	json_decref(answer);
	json_decref(value);
	close(fd);
}

/* Each point with what it can carry out, as the core's tables have it. */
TEST(fault_points_and_kinds)
{
	int fd = new_client();
	json_t *answer = json_loads(ask(fd, "{\"execute\":\"query-fault-points\"}"), 0, NULL);
	const json_t *points = json_object_get(json_object_get(answer, "return"), "points");
	const json_t *kinds = json_object_get(json_object_get(answer, "return"), "kinds");

	ck_assert_uint_eq(json_array_size(points), FAULT_POINTS);
	ck_assert_uint_eq(json_array_size(kinds), FAULT_KINDS - 1);
	for (unsigned int p = 0; p < FAULT_POINTS; p++) {
		const json_t *point = json_array_get(points, p);
		const json_t *can = json_object_get(point, "kinds");
		const json_t *values = json_object_get(point, "values");
		size_t at = 0;

		ck_assert_str_eq(json_string_value(json_object_get(point, "point")),
				 fault_point_info[p].name);
		for (unsigned int k = 1; k < FAULT_KINDS; k++) {
			const json_t *value = json_array_get(values, at);

			if (!(fault_point_info[p].kinds >> k & 1))
				continue;
			ck_assert_str_eq(json_string_value(json_array_get(can, at++)),
					 fault_kind_info[k].name);
			ck_assert_str_eq(json_string_value(json_object_get(value, "kind")),
					 fault_kind_info[k].name);
			ck_assert_int_eq(json_integer_value(json_object_get(value, "min")),
					 fault_kind_info[k].min);
			ck_assert_int_le(json_integer_value(json_object_get(value, "max")),
					 fault_kind_info[k].max);
		}
		ck_assert_uint_eq(json_array_size(can), at);
		ck_assert_uint_eq(json_array_size(values), at);
	}
	json_decref(answer);
	close(fd);
}
