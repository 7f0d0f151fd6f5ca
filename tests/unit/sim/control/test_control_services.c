/* SPDX-License-Identifier: MIT */
/* The control socket: commands for pages, guests that are described, records, application data. */
#include "control_client.h"
#include "pfault_block.h"
#include "trace_file.h"
#include "zvmlab/appldata.h"
#include "zvmlab/page.h"

#define AREA 0x3000u
#define PAGE 0x200000u
/* {"execute":C,"arguments":{A}} */
#define RUN(command, arguments) \
	"{\"execute\":\"" command "\",\"arguments\":{" arguments "}}"
#define returned(value) "{\"return\":{" value "}}"

#define answer_is(fd, request, wanted) ck_assert_str_eq(answer(fd, request), wanted)

static void ck_part(int fd, const char *request, const char *part)
{
	const char *line = answer(fd, request);

	ck_assert_msg(strstr(line, part) != NULL, "%s\nlacks %s", line, part);
}

#define PAGES(faults, turns) \
	"\"faults\":[" faults "],\"initial\":0,\"completion\":0,\"resolved\":0,\"turns\":" turns "}}"
#define QUERY_PAGES RUN("query-pages", "")

CASE("services", start, stop);

TEST(pages_refused)
{
	int fd = new_client();

	answer_is(fd, QUERY_PAGES, "{\"return\":{\"handshakes\":[],\"pages\":[]," PAGES("", "0"));
	answer_is(fd, RUN("page-out", "\"address\":2097153"),
		  failed("X'200001' and 1 pages: the address must be that of a page, and at most "
			 "1024 pages can be out"));
	answer_is(fd, RUN("page-in", "\"address\":2097152,\"cpu\":1"),
		  failed("there is no CPU 1; the guest has 1"));
	answer_is(fd, RUN("page-release", "\"fault\":7"),
		  failed("no initial interruption of a fault 7 is held; query-pages lists the "
			 "faults"));
	close(fd);
}

static void handshake(void)
{
	struct cp_insn insn = { .cpu = 0, .gr = fx.gr, .amode = 64 };

	pfault_put(AREA, 0);
	fx.gr[2] = AREA;
	ck_assert_int_eq(cp_diagnose(fx.cp, &insn, 2, 4, 0x258).how, CP_DONE);
	ck_assert_uint_eq(fx.gr[4], 0);
	put_be64(fx_at(PFAULT_AT, 8), UINT64_C(0x1122334455667788));
}

#define FAULT(initial, completion) \
	"\"faults\":[{\"fault\":1,\"address\":2097152,\"token\":\"1122334455667788\",\"cpu\":0," \
	"\"initial\":\"" initial "\",\"completion\":\"" completion "\"}]"

/* One page of two, from its fault to the end of it. */
TEST(page_out_and_in)
{
	struct cp_external external;
	int fd = new_client();

	handshake();
	answer_is(fd, RUN("page-out", "\"address\":2097152,\"pages\":2,\"hold\":true"), returned(""));
	answer_is(fd, QUERY_PAGES,
		  "{\"return\":{\"handshakes\":[{\"cpu\":0,\"token\":952,\"select\":"
		  "\"0001000000000000\",\"compare\":\"0001000000000000\"}],\"pages\":[{\"address\":"
		  "2097152,\"out\":true,\"hold\":true},{\"address\":2101248,\"out\":true,\"hold\":"
		  "true}]," PAGES("", "0"));
	ck_assert_int_eq(cp_page_fault(fx.cp, 0, PAGE, PFAULT_PROBLEM, true), CP_PAGE_HELD);
	ck_part(fd, QUERY_PAGES, FAULT("held", "waits"));
	ck_part(fd, QUERY_PAGES, "{\"address\":2097152,\"out\":true,\"hold\":false}");
	answer_is(fd, RUN("page-in", "\"address\":2097152,\"cpu\":0"), returned("\"completed\":1"));
	ck_part(fd, QUERY_PAGES, "\"pages\":[{\"address\":2101248,\"out\":true,\"hold\":true}],"
				 FAULT("held", "pending"));
	answer_is(fd, RUN("page-release", "\"fault\":1"), returned(""));
	ck_part(fd, QUERY_PAGES, FAULT("pending", "pending"));
	ck_assert(cp_external_take(fx.cp, 0, &external));
	ck_part(fd, QUERY_PAGES, FAULT("presented", "pending") ",\"initial\":1,\"completion\":0,");
	ck_assert(cp_external_take(fx.cp, 0, &external));
	ck_part(fd, QUERY_PAGES, "\"faults\":[],\"initial\":1,\"completion\":1,\"resolved\":0,");
	ck_assert_int_eq(cp_page_fault(fx.cp, 0, PAGE + 0x1000, 0, true), CP_PAGE_IN);
	ck_part(fd, QUERY_PAGES, "\"completion\":1,\"resolved\":1,\"turns\":0}}");
	close(fd);
}

/* By default one page, not held, and any CPU. */
TEST(page_defaults)
{
	int fd = new_client();

	handshake();
	answer_is(fd, RUN("page-out", "\"address\":2097152"), returned(""));
	answer_is(fd, RUN("page-out", "\"address\":2101248"), returned(""));
	ck_part(fd, QUERY_PAGES, "\"pages\":[{\"address\":2097152,\"out\":true,\"hold\":false},"
				 "{\"address\":2101248,\"out\":true,\"hold\":false}],");
	ck_assert_int_eq(cp_page_fault(fx.cp, 0, PAGE, PFAULT_PROBLEM, true), CP_PAGE_INITIAL);
	answer_is(fd, RUN("page-in", "\"address\":2097152"), returned("\"completed\":1"));
	ck_assert_uint_eq(page_fault_at(fx.cp, 0)->to, PAGE_ANY_CPU);
	ck_part(fd, QUERY_PAGES, "\"pages\":[{\"address\":2101248,");
	answer_is(fd, RUN("page-thrash", "\"faults\":5,\"depth\":3"), returned(""));
	ck_part(fd, QUERY_PAGES, "\"turns\":5}}");
	answer_is(fd, RUN("page-thrash", "\"faults\":0,\"depth\":3"), returned(""));
	ck_part(fd, QUERY_PAGES, "\"pages\":[],");
	close(fd);
}

#define GUEST(cpu, online) \
	"{\"name\":\"OTHER\",\"group\":\"STAFF\",\"cpu-us\":" cpu ",\"online-us\":" online "," \
	"\"storage-min\":3," \
	"\"storage-max\":4,\"storage-share\":5,\"storage-used\":6,\"cpus\":8,\"operating\":7," \
	"\"share-max\":10,\"share\":9,\"capped\":2,\"dedicated\":true,\"samples\":[11,12,13,14," \
	"15,65]}"

TEST(guests_described_and_forgotten)
{
	int fd = new_client();

	answer_is(fd, RUN("guest-describe",
			  "\"name\":\"other\",\"group\":\"STAFF\",\"cpu-us\":1,"
			  "\"online-us\":2,\"cpu-percent\":150,"
			  "\"storage-min\":3,\"storage-max\":4,\"storage-share\":5,"
			  "\"storage-used\":6,\"operating\":7,\"cpus\":8,\"share\":9,"
			  "\"share-max\":10,\"cpu-use\":11,\"cpu-delay\":12,\"page-wait\":13,"
			  "\"idle\":14,\"other\":15,\"capped\":2,\"dedicated\":true"), returned(""));
	ck_part(fd, RUN("query-guests", ""), GUEST("1", "2"));
	fx.tod += UINT64_C(1000) << 12;
	ck_part(fd, RUN("query-guests", ""), GUEST("1501", "1002"));
	answer_is(fd, RUN("guest-forget", "\"name\":\"OTHER\""), returned(""));
	answer_is(fd, RUN("guest-forget", "\"name\":\"OTHER\""),
		  failed("no guest OTHER is described; query-guests lists all guests"));
	answer_is(fd, RUN("guest-describe", "\"name\":\"LINUX001\""),
		  failed("LINUX001 is the guest itself, of which CP says what is true"));
	/* Nothing but a name: the rest is 0. */
	answer_is(fd, RUN("guest-describe", "\"name\":\"IDLE\""), returned(""));
	ck_part(fd, RUN("query-guests", ""),
		"{\"name\":\"IDLE\",\"group\":\"\",\"cpu-us\":0,\"online-us\":0,"
		"\"storage-min\":0,"
		"\"storage-max\":0,\"storage-share\":0,\"storage-used\":0,\"cpus\":0,"
		"\"operating\":0,\"share-max\":0,\"share\":0,\"capped\":0,\"dedicated\":false,"
		"\"samples\":[0,0,0,0,0,0]}");
	close(fd);
}

#define QUERY_RECORDING RUN("query-recording", "")
#define QUEUE(count, state, path) \
	"{\"service\":\"*ACCOUNT\",\"user\":\"DISKACNT\",\"on\":true,\"count\":" count \
	",\"limit\":20,\"lost\":0,\"state\":\"" state "\",\"path\":" path "}"

/* A record for a user that a peer plays, which is quiesced, resumed, and then severed. */
TEST(records)
{
	static const char record[] = RUN("recording-record",
					 "\"service\":\"*ACCOUNT\",\"record\":\"QUJD\"");
	int fd = new_client();
	bool told = false;
	const char *line;

	ck_part(fd, QUERY_RECORDING, QUEUE("0", "inactive", "0"));
	ask(fd, RUN("cp-command", "\"command\":\"RECORDING SYMPTOM OFF\""));
	ck_part(fd, QUERY_RECORDING, "\"user\":\"OPERSYMP\",\"on\":false,");
	answer_is(fd, record, returned("\"queues\":1"));
	ck_part(fd, QUERY_RECORDING, QUEUE("1", "inactive", "0"));
	ask(fd, RUN("peer-create", "\"name\":\"DISKACNT\""));
	/* Paths 0 and 1 are between itself. */
	answer(fd, RUN("peer-call", "\"peer\":\"DISKACNT\",\"function\":\"connect\","
				    "\"vmid\":\"DISKACNT\""));
	answer(fd, RUN("peer-call", "\"peer\":\"DISKACNT\",\"function\":\"connect\","
				    "\"vmid\":\"*ACCOUNT\""));
	ck_part(fd, QUERY_RECORDING, QUEUE("1", "pending", "2"));
	answer_is(fd, RUN("recording-quiesce", "\"service\":\"*ACCOUNT\",\"quiesced\":true,"
					       "\"user\":\"EREP\""), returned("\"paths\":0"));
	answer_is(fd, RUN("recording-quiesce", "\"service\":\"*LOGREC\",\"quiesced\":true"),
		  returned("\"paths\":0"));
	answer_is(fd, RUN("recording-quiesce", "\"service\":\"*ACCOUNT\",\"quiesced\":true"),
		  returned("\"paths\":1"));
	ck_part(fd, RUN("query-paths", "\"user\":\"DISKACNT\""), "\"quiesced-there\":true");
	answer_is(fd, RUN("recording-quiesce", "\"service\":\"*ACCOUNT\",\"quiesced\":false,"
					       "\"user\":\"DISKACNT\""), returned("\"paths\":1"));
	ck_assert(!strstr(answer(fd, RUN("query-paths", "\"user\":\"DISKACNT\"")),
			  "\"quiesced-there\":true"));
	answer_is(fd, RUN("recording-sever", "\"service\":\"*ACCOUNT\",\"code\":77,"
					     "\"user\":\"EREP\""), returned("\"severed\":0"));
	ck_part(fd, QUERY_RECORDING, QUEUE("1", "pending", "2"));
	/* 77 in bytes 0 and 8. */
	line = ask(fd, RUN("recording-sever", "\"service\":\"*ACCOUNT\",\"code\":77"));
	for (; strncmp(line, "{\"event\"", 8) == 0; line = read_line(fd))
		told |= strstr(line, "TQAAAAAAAABNAAAAAAAAAA==") != NULL;
	ck_assert_str_eq(line, returned("\"severed\":1"));
	ck_assert(told);
	ck_part(fd, QUERY_RECORDING, QUEUE("1", "inactive", "0"));
	close(fd);
}

/* The bytes of the request, as the user gets them. */
TEST(a_record_reaches_its_user)
{
	int fd = new_client();

	answer_is(fd, RUN("recording-record", "\"service\":\"*ACCOUNT\",\"record\":\"QUJD\""),
		  returned("\"queues\":1"));
	ask(fd, RUN("peer-create", "\"name\":\"DISKACNT\""));
	answer(fd, RUN("peer-call", "\"peer\":\"DISKACNT\",\"function\":\"connect\","
				    "\"vmid\":\"*ACCOUNT\""));
	ck_part(fd, RUN("peer-call", "\"peer\":\"DISKACNT\",\"function\":\"receive\","
				     "\"path\":0,\"length\":80"), "\"data\":\"QUJD\"");
	close(fd);
}

TEST(buffers_of_application_data)
{
	struct appldata_buffer buffer = {
		.product = { 'L', 'N', 'X', 'A', 'P', 'P', 'L', 1, 2, 3, 4, 5, 6, 7, 8, 9 },
		.address = PAGE, .length = 300,
	};
	int fd = new_client();

	answer_is(fd, RUN("query-appldata", ""), returned("\"buffers\":[]"));
	ck_assert_int_eq(appldata_start(fx.cp, &buffer, APPLDATA_CONFIG), APPLDATA_OK);
	buffer.length = 7;
	ck_assert_int_eq(appldata_start(fx.cp, &buffer, APPLDATA_INTERVAL), APPLDATA_OK);
	answer_is(fd, RUN("query-appldata", ""),
		  returned("\"buffers\":[{\"product\":\"LNXAPPL\",\"product-id\":"
			   "\"TE5YQVBQTAECAwQFBgcICQ==\",\"kind\":\"config\",\"address\":2097152,"
			   "\"length\":300,\"records\":0},{\"product\":\"LNXAPPL\",\"product-id\":"
			   "\"TE5YQVBQTAECAwQFBgcICQ==\",\"kind\":\"interval\",\"address\":2097152,"
			   "\"length\":7,\"records\":0}]"));
	close(fd);
}

/* As X'288' has set it: the interval, and the command. */
TEST(time_bomb)
{
	static const char command[] = "MSG * BANG";
	int fd = new_client();

	answer_is(fd, RUN("query-watchdog", ""),
		  returned("\"active\":false,\"conceal\":false,\"seconds\":0,\"command\":\"\""));
	answer_is(fd, RUN("watchdog-expire", ""), returned("\"expired\":false"));
	ebcdic_encode(fx_at(AREA, sizeof(command)), command, strlen(command));
	fx.gr[2] = 0x80000000;
	fx.gr[3] = 77;
	fx.gr[4] = AREA;
	fx.gr[5] = strlen(command);
	ck_assert_int_eq(fx_diag(2, 4, 0x288).how, CP_DONE);
	answer_is(fd, RUN("query-watchdog", ""),
		  returned("\"active\":true,\"conceal\":true,\"seconds\":77,"
			   "\"command\":\"MSG * BANG\""));
	answer_is(fd, RUN("watchdog-expire", ""), returned("\"expired\":true"));
	ck_assert_uint_eq(fx.events[CP_EVENT_WATCHDOG], 1);
	ck_part(fd, RUN("query-watchdog", ""), "\"active\":false");
	close(fd);
}

/* Users whose application data are in the samples, or are not. */
TEST(selected_users)
{
	struct mon_selection *selection = &monitor_settings(fx.cp, false)->appldata;
	int fd = new_client();

	ck_part(fd, RUN("query-monitor", ""), "\"appldata-users\":[],\"appldata-except\":true");
	selection->except = false;
	selection->count = 2;
	strcpy(selection->name[0], "TUX");
	strcpy(selection->name[1], "WEB");
	ck_part(fd, RUN("query-monitor", ""),
		"\"appldata-users\":[\"TUX\",\"WEB\"],\"appldata-except\":false");
	close(fd);
}

/* Why the trace ends before the machine is told once, and known from then on. */
TEST(end_of_the_trace)
{
	static const char line[] = "{\"seq\":1,\"tod\":\"0\",\"cpu\":0,\"call\":\"test\"}";
	static const char why[] = "its limit of 0 MiB is reached (trace-limit)";
	char name[96], expected[160];
	struct trace_file *file;
	unsigned int lines = 0;
	const char *told;
	int fd = new_client();

	snprintf(name, sizeof(name), "%s/trace", folder);
	file = trace_file_open(name, 1024, err, sizeof(err));
	ck_assert_msg(file != NULL, "%s", err);
	for (; !trace_file_ended(file); lines++)
		ctl_trace_line(ctl, file, line, sizeof(line) - 1);
	ck_assert_uint_gt(lines, 1);
	ck_assert_str_eq(trace_file_ended(file), why);
	for (unsigned int i = 0; i < 2; i++) {
		ctl_trace_line(ctl, file, line, sizeof(line) - 1);
		ctl_trace_line(NULL, file, line, sizeof(line) - 1);
	}
	snprintf(expected, sizeof(expected), "\"reason\":\"%s\"", why);
	told = read_line(fd);
	ck_assert_ptr_nonnull(strstr(told, "\"event\":\"trace-ended\""));
	ck_assert_ptr_nonnull(strstr(told, expected));
	ck_assert_uint_eq(ctl->events, 1);
	snprintf(expected, sizeof(expected), "\"trace-ended\":\"%s\"", why);
	ck_part(fd, RUN("query-counters", ""), expected);
	trace_file_close(file);
	ck_assert_int_eq(unlink(name), 0);
	close(fd);
}
