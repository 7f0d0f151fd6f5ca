/* SPDX-License-Identifier: MIT */
/* Replay of traces: the same again, the first difference, and whatever a file may hold. */
#include "iucv_check.h"
#include "monitor_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "replay.h"
#include "trace_file.h"
#include "zvmlab/command.h"
#include "zvmlab/dcss.h"
#include "zvmlab/monitor.h"
#include "zvmlab/state.h"

/* Mutated traces: enough to reach every reader of a member, few enough for a unit test. */
#define MUTATIONS 1000

#define REPEATS 25u	/* of a call that a guest waits with */

/* Members that records need, in the tests of those that come after them. */
#define REGISTERS "\"0\",\"0\",\"0\",\"0\",\"0\",\"0\",\"0\",\"0\"," \
		  "\"0\",\"0\",\"0\",\"0\",\"0\",\"0\",\"0\",\"0\""
#define LIST "\"user\":\"A\",\"path\":0,\"flags\":\"0\",\"vmid\":\"\",\"msglim\":0,\"msgid\":0," \
	     "\"trgcls\":\"0\",\"srccls\":\"0\",\"msgtag\":\"0\","
#define BYTES "\"ipuser\":\"00000000000000000000000000000000\",\"rmmsg\":\"0000000000000000\","

static struct note a;
static char err[256];
static char *text;
static size_t text_len;
static char report[16384];
static uint64_t records;

static enum replay_result replay(const char *trace, size_t len)
{
	FILE *in = fmemopen((void *)(uintptr_t)trace, len, "r");
	FILE *out = fmemopen(report, sizeof(report), "w");
	const struct replay_trace given = { in, "trace" };
	enum replay_result result;

	ck_assert_ptr_nonnull(in);
	ck_assert_ptr_nonnull(out);
	memset(report, 0, sizeof(report));
	result = replay_run(&given, 1, out, &records);
	fclose(in);
	fclose(out);
	return result;
}

static void connect_monitor(void)
{
	uint8_t *p = parm_zero();

	p[IPFLAGS1] = IPRMDATA;
	put_be16(p + IPMSGLIM, 255);
	ebcdic_name(p + IPVMID, MON_SERVICE);
	p[IPUSER + WANTED_VERSION] = 1;
	p[IPUSER + WANTED_DATA] = WANT_BOTH;
	ebcdic_name(p + IPUSER + WANTED_SEGMENT, "MONDCSS");
	ck_cc(guest(IUCV_CONNECT), 0);
	ck_assert_ptr_nonnull(fx_take(0));
}

static void messages(void)
{
	static uint8_t data[3000], answer[3000];
	struct iucv_parm q = {
		.flags = IPFGMID | IPFGPID | IPFGMCL,
		.buffer = { .host = true, .ptr = answer, .len = sizeof(answer) },
	};
	uint16_t path;
	uint32_t id;

	memset(data, 0x5a, sizeof(data));
	note_user(&a, "ALPHA", 8);
	path = open_path(&a, IPRMDATA, IPRMDATA, 10);
	id = peer_send(&a, a.event[0].path, 0, data, sizeof(data), answer, sizeof(answer));
	ck_assert_ptr_nonnull(fx_take(0));
	ck_cc(message(IUCV_RECEIVE, path, IPFGMID | IPFGPID | IPFGMCL, id, 0x44444444, DATA,
		      sizeof(data)), 0);
	memset(fx_at(DATA, 2000), 0x77, 2000);
	ck_cc(message(IUCV_REPLY, path, IPFGMID | IPFGPID | IPFGMCL, id, 0x44444444, DATA, 2000),
	      0);
	ck_cc(send(path, IPNORPY, DATA, 700, 0), 0);
	q.msgid = last(&a, IUCV_MSG_PENDING)->msgid;
	q.path = last(&a, IUCV_MSG_PENDING)->path;
	q.trgcls = 0x11111111;
	ck_call(iucv_call(fx.cp, a.user, IUCV_RECEIVE, &q), 0, 0);
	ck_assert_uint_eq(q.received, 700);
}

/* A service that a peer plays: what it calls comes from outside like any peer's. */
static void service(void)
{
	struct iucv_parm q = { .msglim = 3 };
	static struct note service;

	note_user(&service, "*RPI", 2);
	ck_cc(connect_to("*RPI", 0, 0), 0);
	q.path = last(&service, IUCV_PENDING)->path;
	ck_call(iucv_call(fx.cp, service.user, IUCV_ACCEPT, &q), 0, 0);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"iucv.logon\",\"user\":\"*RPI\""));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"call\":\"iucv.accept\",\"user\":\"*RPI\""));
	iucv_user_destroy(fx.cp, service.user);
	ck_assert_ptr_nonnull(fx_take(0));
}

static void sets(void)
{
	static uint8_t data[9000];
	const struct mon_element element[2] = {
		{ .type = MCE_SAMPLE, .data = data, .len = sizeof(data), .phase = 100 },
		{ .type = MCE_SAMPLE, .data = data, .len = 1, .domains = 0x8000 },
	};
	enum mon_fate fate;

	memset(data, 0xa5, sizeof(data));
	connect_monitor();
	ck_assert_int_gt(monitor_deliver(fx.cp, MON_SAMPLE, element, 2, &fate, err, sizeof(err)), 0);
	ck_assert_int_eq(fate, MON_DELIVERED);
	ck_assert_int_eq(monitor_deliver(fx.cp, MON_SAMPLE, element, 0, &fate, err, sizeof(err)),
			 -1);
	arm(FAULT_SEGMENT_CONTENT, FAULT_CORRUPT, 0xff, 3);
	ck_assert_int_gt(monitor_deliver(fx.cp, MON_EVENT, element, 1, &fate, err, sizeof(err)), 0);
	fx.tod += UINT64_C(60) << 32;
	cpcmd_run(fx.cp, CPCMD_OPERATOR, "MONITOR SAMPLE START", 20);
	fx.tod += UINT64_C(600) << 32;
	cp_timer(fx.cp);
	monitor_set_manual(fx.cp, true);
	monitor_tick(fx.cp);
	ck_assert_ptr_nonnull(fx_take(0));
}

static void state(void)
{
	const struct dcss *segment = dcss_find(fx.cp, "MONDCSS");
	static uint8_t data[500];
	uint8_t *image;
	size_t len;

	ck_assert(dcss_write(fx.cp, segment, 0x1000, data, sizeof(data)));
	image = fx_save(&len);
	fx_load(image, len);
	free(image);
	a.user = iucv_user_find(fx.cp, "ALPHA");
	iucv_user_attach(a.user, &note_ops, &a);
	iucv_dispatch_rest(fx.cp);
	ck_assert_int_eq(fault_disarm(fx.cp, 0), 1);
}

/* A scripted session of all that can come from outside; its trace is in text. */
static void record_session(void)
{
	static const char *const options[] = {
		"cpus", "2", "trace-data", "full", "seed", "77", "directory",
		"IUCV ANY;IUCV ALLOW;IUCV *RPI;IUCV *MONITOR MSGLIMIT 255;NAMESAVE MONDCSS", NULL,
	};
	uint8_t sysib[4096] = { 0 };
	struct cp_insn insn = { .cpu = 1, .gr = fx.gr, .amode = 64 };
	const size_t old = fx.trace_len;

	fx_messages = 64;
	fx_setup_with(options);
	cp_reset(fx.cp);
	cp_ipl(fx.cp);
	fx.gr[0] = 0x30000002;
	fx.gr[1] = 2;
	cp_stsi(fx.cp, &insn, sysib);
	fx.gr[4] = 0x5000;
	cp_sthyi(fx.cp, &insn, 2, 4, sysib);
	fx_declare(0);
	fx_declare(1);
	messages();
	service();
	sets();
	state();
	for (unsigned int i = 0; i < REPEATS; i++) {
		fx.gr[5] = i;
		fx_diag(2, 3, 0x44);
	}
	/* There the emulator has no storage. */
	ck_assert_int_ne(cpcmd_run(fx.cp, CPCMD_OPERATOR, "DEFSEG HIGH 4000-40FF SC", 24)->rc, 0);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"in\":[[\"4000000\",null]]"));
	cp_reset_cpu(fx.cp, 1);
	cp_cpu_ordered(fx.cp, 1, 0, CP_ORDER_STOP);
	cp_cpu_waits(fx.cp, 0, 0x20001, 0x80000000);
	iucv_user_destroy(fx.cp, a.user);
	text_len = strlen(fx.head) + fx.trace_len - old;
	text = malloc(text_len + 1);
	ck_assert_ptr_nonnull(text);
	strcpy(text, fx.head);
	strcat(text, fx.trace);
}

static void drop_session(void)
{
	free(text);
	fx_teardown();
}

CASE("session", record_session, drop_session);

/* Number of the line that holds @part. */
static unsigned int line_of(const char *part)
{
	const char *at = strstr(text, part);
	unsigned int number = 1;

	ck_assert_msg(at != NULL, "%s is not in the trace", part);
	for (const char *c = text; c < at; c++)
		number += *c == '\n';
	return number;
}

TEST(the_same_again)
{
	unsigned int lines = 0;

	for (size_t i = 0; i < text_len; i++)
		lines += text[i] == '\n';
	ck_assert_msg(replay(text, text_len) == REPLAY_SAME, "%s", report);
	ck_assert_uint_eq(records, lines);
	ck_assert_str_eq(report, "");
}

/* The trace as a file of the emulator has it: repeats are counted, and the limit ends it. */
static void as_a_file(uint64_t limit, char **folded, size_t *len)
{
	char path[] = "/tmp/zvmlab-replay-XXXXXX";
	const int fd = mkstemp(path);
	struct trace_file *file = trace_file_open(path, limit, err, sizeof(err));
	FILE *stream = fdopen(fd, "r");

	ck_assert_ptr_nonnull(file);
	for (const char *at = text, *end; (end = strchr(at, '\n')) != NULL; at = end + 1)
		trace_file_line(file, at, (size_t)(end - at));
	trace_file_close(file);
	*folded = malloc(text_len + 1024);
	ck_assert_ptr_nonnull(*folded);
	*len = fread(*folded, 1, text_len + 1023, stream);
	(*folded)[*len] = '\0';
	fclose(stream);
	unlink(path);
}

TEST(counted_repeats)
{
	/* In what at points to: the count, and the call. */
	static const size_t offsets[] = { 24, 8 };
	char *folded, *at;
	size_t len;

	as_a_file(TRACE_LIMIT_DEFAULT, &folded, &len);
	at = strstr(folded, "\"call\":\"repeat\",\"times\":");
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(strtoul(at + 24, NULL, 10), REPEATS - TRACE_SAME_LINES);
	ck_assert_uint_lt(len, text_len - 1000);
	ck_assert_msg(replay(folded, len) == REPLAY_SAME, "%s", report);
	ck_assert_str_eq(report, "");
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		const char before = at[offsets[i]];

		at[offsets[i]] = before == '1' ? '2' : '1';
		ck_assert_int_ne(replay(folded, len), REPLAY_SAME);
		at[offsets[i]] = before;
	}
	free(folded);
}

TEST(limit_ends_a_replay)
{
	char *folded, expected[80];
	unsigned int lines = 1;
	size_t len;

	as_a_file(text_len / 3, &folded, &len);
	for (const char *at = folded; at < folded + len - 1; at++)
		lines += *at == '\n';
	snprintf(expected, sizeof(expected), "line %u: the trace has reached its limit here; all "
		 "before it is the same\n", lines);
	ck_assert_msg(replay(folded, len) == REPLAY_SAME, "%s", report);
	ck_assert_str_eq(report, expected);
	free(folded);
}

/* A change of what the core did is found in that line of the file. */
TEST(changes_are_found)
{
	static const struct {
		const char *part;
		size_t offset;
		char to;
	} change[] = {
		{ "\"received\":[700,\"", 17, 'x' }, { "\"call\":\"interrupt\"", 8, 'I' },
		{ "\"fate\":\"delivered\"", 8, 'D' }, { "\"kick\":\"3\"", 8, '2' },
		{ "\"timer\":\"0\"", 9, '1' }, { "\"refused\":0", 10, '1' },
		{ "\"sysib\":[4096,\"", 15, 'g' },
	};

	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		char *at = strstr(text, change[i].part), expected[64];
		const char before = at ? at[change[i].offset] : 0;

		snprintf(expected, sizeof(expected), "line %u: ", line_of(change[i].part));
		at[change[i].offset] = change[i].to;
		ck_assert_msg(replay(text, text_len) == REPLAY_DIFFERS, "%s: %s", change[i].part,
			      report);
		ck_assert_msg(strncmp(report, expected, strlen(expected)) == 0, "%s%s", expected,
			      report);
		at[change[i].offset] = before;
	}
}

/* After a change of an input, the core differs in that line or a later one. */
TEST(changed_inputs_are_found)
{
	static const char *const part[] = { "\"seed\":\"77\"", "\"domains\":", "\"paths\":8",
					    "\"text\":\"MONITOR SAMPLE START\"" };

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		char *at = strstr(text, part[i]);

		if (!at)
			continue;
		at += strlen(part[i]) - 2;
		*at = *at == '7' ? '8' : '7';
		ck_assert_int_ne(replay(text, text_len), REPLAY_SAME);
		*at = *at == '8' ? '7' : 'T';
	}
}

static void ck_unusable(const char *trace, const char *expected)
{
	ck_assert_msg(replay(trace, strlen(trace)) == REPLAY_UNUSABLE, "%s", report);
	ck_assert_msg(strncmp(report, expected, strlen(expected)) == 0, "%s", report);
}

TEST(no_trace)
{
	ck_unusable("\n", "line 1: it is not a record of a CP trace\n");
	ck_unusable("x", "line 1: it is cut off; the trace ends in the middle of a record\n");
	ck_unusable("[[[[[[]]]]]]\n", "line 1: it is not a record of a CP trace\n");
	ck_unusable("{\"seq\":1,\"tod\":\"1\",\"cpu\":null,\"call\":\"ipl\"}\n",
		    "line 1: a trace begins with the configuration, not with \"ipl\"\n");
	ck_unusable("{\"seq\":0,\"tod\":\"1\",\"cpu\":null,\"call\":\"configuration\"}\n",
		    "line 1: it lacks \"version\", which a replay needs\n");
}

/* After "seq" and "tod"; what is wrong with it. */
static const struct {
	const char *record, *expected;
} bad[] = {
	{ "\"cpu\":null,\"call\":\"logoff\"", "a guest that is alone does not log off" },
	{ "\"cpu\":null,\"call\":\"monitor.message\",\"kind\":1,\"start\":\"0\"",
	  "it lacks \"end\", which a replay needs" },
	{ "\"cpu\":null,\"call\":\"monitor.message\",\"kind\":2147483648,\"start\":\"0\",\"end\":\"0\"",
	  "\"kind\" is not a number from 0 to 2147483647" },
	{ "\"cpu\":null,\"call\":\"monitor.message\",\"kind\":1,\"start\":\"100000000\"",
	  "\"start\" is not a hexadecimal number up to ffffffff" },
	{ "\"cpu\":2,\"call\":\"interrupt\"", "\"cpu\" is not a number from 0 to 1" },
	{ "\"cpu\":null,\"call\":\"reset.cpu\"", "\"cpu\" is not a number from 0 to 1" },
	{ "\"cpu\":0,\"call\":\"iucv.query\",\"gr0\":\"0\",\"gr1\":\"0\",\"amode\":32",
	  "\"amode\" is not 24, 31 or 64" },
	{ "\"call\":\"iucv.query\"", "it lacks \"cpu\", which a replay needs" },
	{ "\"cpu\":0,\"call\":\"stsi\",\"gr\":[\"1\"]", "\"gr\" is not a list of 2 registers" },
	{ "\"cpu\":0,\"call\":\"diag.44\",\"r1\":16", "\"r1\" is not a number from 0 to 15" },
	{ "\"cpu\":0,\"call\":\"diag.xy\",\"r1\":0,\"r3\":0,\"amode\":64,\"gr\":[" REGISTERS "]",
	  "\"xy\" is not a code of DIAGNOSE" },
	{ "\"cpu\":null,\"call\":\"iucv.logon\",\"user\":\"\",\"paths\":1", "\"user\" is empty" },
	{ "\"cpu\":null,\"call\":\"iucv.logon\",\"user\":\"NINELONGX\"",
	  "\"user\" is not a text of at most 8 characters" },
	{ "\"cpu\":null,\"call\":\"iucv.logon\",\"user\":\"A\",\"paths\":0",
	  "\"paths\" is not a number from 1 to 65535" },
	{ "\"cpu\":null,\"call\":\"iucv.logon\",\"user\":\"*MSG\",\"paths\":1",
	  "user *MSG cannot log on; it is there already" },
	{ "\"cpu\":null,\"call\":\"iucv.logoff\",\"user\":\"A\",\"paths\":1",
	  "no user A is logged on" },
	{ "\"cpu\":null,\"call\":\"iucv.attach\",\"user\":\"A\",\"paths\":1",
	  "no user A came with a saved state" },
	{ "\"cpu\":null,\"call\":\"iucv.send\"," LIST "\"ipuser\":\"00\"",
	  "\"ipuser\" has 1 bytes instead of 16" },
	{ "\"cpu\":null,\"call\":\"iucv.send\"," LIST BYTES "\"answer\":0",
	  "it lacks \"length\", which a replay needs" },
	{ "\"cpu\":null,\"call\":\"iucv.send\"," LIST BYTES "\"buffer\":[300,\"0\"],\"answer\":0",
	  "\"buffer\" is shortened; a replay needs it as a whole" },
	{ "\"cpu\":null,\"call\":\"iucv.send\"," LIST BYTES "\"length\":0,\"answer\":0",
	  "no user A is logged on" },
	{ "\"cpu\":null,\"call\":\"iucv.dance\"," LIST BYTES "\"length\":0,\"answer\":0",
	  "\"iucv.dance\" is not a function of IUCV" },
	{ "\"cpu\":null,\"call\":\"command\",\"issuer\":\"peer\",\"user\":\"A\",\"text\":\"Q\",\"length\":1",
	  "it lacks \"classes\", which a replay needs" },
	{ "\"cpu\":null,\"call\":\"command\",\"issuer\":\"peer\",\"text\":\"Q\",\"length\":1",
	  "it lacks \"user\", which a replay needs" },
	{ "\"cpu\":null,\"call\":\"monitor.deliver\",\"kind\":1,\"elements\":2,\"heads\":\"0000\"",
	  "the 2 elements of its data set contradict their length" },
	{ "\"cpu\":null,\"call\":\"monitor.deliver\",\"kind\":1,\"elements\":2,\"lost\":1",
	  "its data set is too long for a trace that replays" },
	{ "\"cpu\":null,\"call\":\"segment.write\",\"name\":\"MONDCSS\",\"offset\":\"0\",\"data\":\"0g\"",
	  "\"data\" is not a string of bytes in hexadecimal" },
};

/* A record whose members do not fit its input. */
TEST_EACH(bad_members, bad)
{
	const char *first = strchr(text, '\n');
	char trace[8192], expected[160];

	snprintf(trace, sizeof(trace), "%.*s\n{\"seq\":1,\"tod\":\"1\",%s}\n", (int)(first - text), text,
		 bad[_i].record);
	snprintf(expected, sizeof(expected), "line 2: %s\n", bad[_i].expected);
	ck_unusable(trace, expected);
}

TEST(short_data)
{
	char *at = strstr(text, "\"trace-data\":\"full\""), *rest = strchr(at, '}');
	char *shortened = malloc(text_len);

	snprintf(shortened, text_len, "%.*s\"trace-data\":\"short\"%s", (int)(at - text), text, rest);
	ck_unusable(shortened, "line 1: the trace was made with trace-data=short and has not all");
	free(shortened);
}

/* A read whose bytes are only hashed, as other tools may shorten a trace. */
TEST(hashed_read)
{
	char *at = strstr(text, "\"in\":[[\""), *data = strchr(strchr(at, ',') + 1, '"');
	char *end = strchr(data + 1, '"'), expected[80];
	char *shortened = malloc(text_len + 100);

	snprintf(expected, sizeof(expected), "line %u: what was read at ", line_of("\"in\":[[\""));
	snprintf(shortened, text_len + 100, "%.*s40,\"0123456789abcdef\"%s", (int)(data - text), text,
		 end + 1);
	ck_unusable(shortened, expected);
	ck_assert_ptr_nonnull(strstr(report, "is shortened; a replay needs it as a whole"));
	free(shortened);
}

/* Bytes of a fixed number, two digits less; then another machine, which the guest has seen. */
TEST(short_bytes_and_another_machine)
{
	char *at = strstr(text, "\"rmmsg\":\""), expected[80];
	char *shortened = malloc(text_len);

	at += strlen("\"rmmsg\":\"");
	snprintf(shortened, text_len, "%.*s%s", (int)(at - text), text, at + 2);
	snprintf(expected, sizeof(expected), "line %u: \"rmmsg\" has 7 bytes instead of 8\n",
		 line_of("\"rmmsg\""));
	ck_unusable(shortened, expected);
	free(shortened);
	at = strstr(text, "\"machine\":\"8561");
	at[strlen("\"machine\":\"")] = '9';
	ck_assert_int_eq(replay(text, text_len), REPLAY_DIFFERS);
}

/* The end may come at any line: the file ends there, or the core has more to say. */
TEST(every_beginning)
{
	for (size_t len = 1; len < text_len; len++) {
		enum replay_result result;

		if (text[len - 1] != '\n' || len % 7 != 0)
			continue;
		result = replay(text, len);
		if (result != REPLAY_SAME) {
			ck_assert_int_eq(result, REPLAY_DIFFERS);
			ck_assert_ptr_nonnull(strstr(report, "the trace ends before it;"));
		}
	}
	ck_assert_int_eq(replay(text, text_len - 1), REPLAY_UNUSABLE);
}

/* xorshift: the same mutations in every run. */
static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* No file brings the replay down; what differs is said. */
TEST_LOOP(mutated, 0, 10)
{
	static const char alphabet[] = "0123456789abcdef\",:[]{}-*\\nul\n";
	uint32_t random = 0x2545f491u + (uint32_t)_i;
	unsigned int same = 0;

	for (unsigned int n = 0; n < MUTATIONS / 10; n++) {
		char *copy = malloc(text_len);

		memcpy(copy, text, text_len);
		for (unsigned int edits = 1 + next_random(&random) % 3; edits > 0; edits--)
			copy[next_random(&random) % text_len] =
				alphabet[next_random(&random) % (sizeof(alphabet) - 1)];
		if (replay(copy, text_len) == REPLAY_SAME)
			same++;
		else
			ck_assert_int_eq(strncmp(report, "line ", 5), 0);
		free(copy);
	}
	/* Only an edit that changes nothing can go unnoticed, or one of the time of day. */
	ck_assert_uint_lt(same, MUTATIONS / 10);
}
