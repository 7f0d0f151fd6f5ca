/* SPDX-License-Identifier: MIT */
/* Replay of the traces of a system: in their common order, and what is wrong with several files. */
#include "iucv_check.h"
#include "iucv_guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command_check.h"
#include "replay.h"
#include "trace_file.h"

enum { ALICE, BOB, CAROL };

/* In the order in which they have logged on: BOB has come twice. */
enum { FIRST_BOB, OF_ALICE, OF_CAROL, SECOND_BOB, TRACES };

#define PAGE 4096u
#define WAITS 40u	/* times that each of two guests gives its time away, in turn */

static char *text[TRACES];
static uint16_t alice, bob;
static char report[16384];
static uint64_t records;

FX_REPLAY_TRACES;

static void log_on(unsigned int machine, const char *userid)
{
	fx_logon(machine, userid, (const char *const[]){
		"directory", "IUCV ANY;IUCV ALLOW", "class", "ABG", "cpus", "2", NULL });
	fx_declare(0);
}

/* The contents of a segment come with the first machine, before it logs on. */
static void start_system(void)
{
	char path[] = "/tmp/zvmlab-replay-XXXXXX", segment[80];
	const int fd = mkstemp(path);
	static uint8_t page[PAGE];

	memset(page, 0x5a, sizeof(page));
	ck_assert_int_eq(write(fd, page, sizeof(page)), (ssize_t)sizeof(page));
	close(fd);
	snprintf(segment, sizeof(segment), "DATA A00-A00 SW FILE=%s", path);
	fx_system((const char *const[]){
		"segment", segment, "cpus", "4", "seed", "77", "console", "0015", NULL });
	strcpy(fx_clock.directory, " CAROL ");
	log_on(BOB, "BOB");
	unlink(path);
}

static void send_and_reply(void)
{
	uint32_t id;

	fx_use(ALICE);
	memcpy(fx_at(DATA, 4), "\x01\x02\x03\x04", 4);
	ck_cc(send(alice, 0, DATA, 4, 8), 0);
	id = get_be32(parm() + IPMSGID);
	fx_use(BOB);
	ck_assert_ptr_nonnull(fx_take(0));
	fx.tod += 0x1000;
	ck_cc(message(IUCV_RECEIVE, bob, IPFGPID | IPFGMID, id, 0, DATA, 4), 0);
	ck_assert_mem_eq(fx_at(DATA, 4), "\x01\x02\x03\x04", 4);
	ck_cc(message(IUCV_REPLY, bob, 0, id, 0x11111111, DATA, 2), 0);
	fx_use(ALICE);
	ck_assert_ptr_nonnull(fx_take(0));
}

/* Two guests that wait: their records alternate, and are the same each time. */
static void wait_for_each_other(void)
{
	for (unsigned int i = 0; i < WAITS; i++) {
		fx_use(i % 2 == 0 ? ALICE : BOB);
		fx_clock.tod += 0x100;
		fx_diag(2, 3, 0x44);
		/* One waits longer. */
		fx_use(BOB);
		fx_diag(2, 3, 0x44);
	}
}

static void record_session(void)
{
	struct note peer;

	start_system();
	log_on(ALICE, "ALICE");
	alice = connected_to("BOB", 0);
	fx_use(BOB);
	bob = get_be16(fx_take(0) + IPPATHID);
	ck_cc(on_path(IUCV_ACCEPT, bob, 0), 0);
	fx_use(ALICE);
	take(IUCV_COMPLETE, alice);
	send_and_reply();
	ck_guest("XAUTOLOG NOBODY", 53, "HCPAUT053E NOBODY not in CP directory\n");
	ck_guest("XAUTOLOG CAROL", 0, "Command accepted\n");
	log_on(CAROL, "CAROL");
	note_user(&peer, "PEER", 4);
	fx_clock.tod += UINT64_C(60) << 32;
	cp_system_timer(fx_clock.system);
	wait_for_each_other();
	fx_logoff(BOB);
	fx_use(ALICE);
	take(IUCV_SEVERED, alice);
	log_on(BOB, "BOB");
	fx_logoff(CAROL);
	for (unsigned int i = 0; i < TRACES; i++)
		text[i] = fx_recorded(i);
	ck_assert_ptr_null(fx_recorded(TRACES));
}

static void drop_session(void)
{
	for (unsigned int i = 0; i < TRACES; i++)
		free(text[i]);
	fx_teardown();
}

CASE("replay machines", record_session, drop_session);

static const char *const names[TRACES] = { "bob", "alice", "carol", "bob2" };

/* Those with text; the next is the first. */
static enum replay_result replay(char *const traces[TRACES], unsigned int first)
{
	struct replay_trace given[TRACES];
	FILE *out = fmemopen(report, sizeof(report) - 1, "w");
	enum replay_result result;
	unsigned int count = 0;

	memset(report, 0, sizeof(report));
	for (unsigned int n = 0; n < TRACES; n++) {
		const unsigned int i = (first + n) % TRACES;

		if (!traces[i])
			continue;
		given[count] = (struct replay_trace){
			fmemopen(traces[i], strlen(traces[i]), "r"), names[i],
		};
		ck_assert_ptr_nonnull(given[count++].in);
	}
	result = replay_run(given, count, out, &records);
	fclose(out);
	while (count-- > 0)
		fclose(given[count].in);
	return result;
}

#define ck_report(traces, expected, sentence) \
	do { \
		ck_assert_msg(replay(traces, 0) == (expected), "%s", report); \
		ck_assert_msg(strncmp(report, sentence, strlen(sentence)) == 0, "%s", report); \
	} while (0)

static unsigned int lines_of(const char *trace)
{
	unsigned int lines = 0;

	for (; *trace; trace++)
		lines += *trace == '\n';
	return lines;
}

/* The beginning of the line that holds @part. */
static char *line_with(char *trace, const char *part)
{
	char *at = strstr(trace, part);

	ck_assert_msg(at != NULL, "%s is not in the trace", part);
	while (at > trace && at[-1] != '\n')
		at--;
	return at;
}

/* Whatever is given first; each record once. */
TEST_LOOP(the_same_again, 0, TRACES)
{
	unsigned int lines = 0;

	for (unsigned int i = 0; i < TRACES; i++)
		lines += lines_of(text[i]);
	ck_assert_msg(replay(text, (unsigned int)_i) == REPLAY_SAME, "%s", report);
	ck_assert_str_eq(report, "");
	ck_assert_uint_eq(records, lines);
	/* All that one machine's trace cannot have. */
	ck_assert_ptr_nonnull(strstr(text[FIRST_BOB], "\"call\":\"segment.write\""));
	ck_assert_ptr_nonnull(strstr(text[FIRST_BOB], "[\"ALICE\",\"10000\",\"01020304\"]"));
	ck_assert_ptr_nonnull(strstr(text[OF_ALICE], "\"in_directory\":0"));
	ck_assert_ptr_nonnull(strstr(text[OF_ALICE], "\"in_directory\":1,\"started\":1"));
	ck_assert_ptr_nonnull(strstr(text[OF_CAROL], "\"call\":\"logoff\""));
}

/* What is done in another machine counts; the sentence names the trace and its line. */
TEST(changes_are_found)
{
	static const struct {
		unsigned int trace;
		const char *part;
		size_t offset;
		char to;
		enum replay_result result;
	} change[] = {
		{ FIRST_BOB, "[\"ALICE\",\"10000\",\"01020304\"]", 2, 'B', REPLAY_DIFFERS },
		{ FIRST_BOB, "[\"ALICE\",\"10000\",\"01020304\"]", 11, '2', REPLAY_DIFFERS },
		{ FIRST_BOB, "[\"ALICE\",\"10000\",\"01020304\"]", 18, 'x', REPLAY_UNUSABLE },
		{ FIRST_BOB, "\"out\":[[\"ALICE\",\"11000\",\"0102\"", 25, '7', REPLAY_DIFFERS },
		{ FIRST_BOB, "\"kicks\":{\"ALICE\":\"1\"}", 18, '3', REPLAY_DIFFERS },
		{ OF_ALICE, "\"in_directory\":1,\"started\":1", 15, '0', REPLAY_DIFFERS },
		{ OF_ALICE, "\"in_directory\":1,\"started\":1", 27, '0', REPLAY_DIFFERS },
		{ OF_ALICE, "\"in_directory\":1,\"started\":1", 15, '2', REPLAY_UNUSABLE },
		{ OF_CAROL, "\"system_timer\":\"", 16, '1', REPLAY_DIFFERS },
		{ FIRST_BOB, "\"system_cpus\":4", 14, '0', REPLAY_UNUSABLE },
		{ FIRST_BOB, "\"clock\":\"", 9, 'x', REPLAY_UNUSABLE },
		{ OF_CAROL, "\"order\":", 2, 'x', REPLAY_UNUSABLE },
	};

	for (size_t i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		char *of = text[change[i].trace], *at = strstr(of, change[i].part), expected[64];
		const char before = at ? at[change[i].offset] : 0;
		unsigned int line = 1;

		ck_assert_msg(at != NULL, "%s", change[i].part);
		for (const char *c = of; c < at; c++)
			line += *c == '\n';
		snprintf(expected, sizeof(expected), "%s, line %u: ", names[change[i].trace], line);
		at[change[i].offset] = change[i].to;
		ck_report(text, change[i].result, expected);
		at[change[i].offset] = before;
	}
}

/* Number of the record in @line. */
static unsigned int order_in(const char *line)
{
	const char *at = strstr(line, "\"order\":");

	ck_assert_ptr_nonnull(at);
	return (unsigned int)strtoul(at + 8, NULL, 10);
}

TEST(a_trace_is_missing)
{
	char *given[TRACES], expected[256];

	for (unsigned int i = 0; i < TRACES; i++) {
		unsigned int first = order_in(text[i]);

		memcpy(given, text, sizeof(given));
		given[i] = NULL;
		ck_assert_int_ne(replay(given, 0), REPLAY_SAME);
		snprintf(expected, sizeof(expected), "and no trace has record %u; give those of all "
			 "machines that have been logged on\n", first);
		ck_assert_msg(strstr(report, expected), "%s%s", expected, report);
	}
	/* That of one machine begins in the middle of the system. */
	ck_report(((char *[TRACES]){ NULL, text[OF_ALICE] }), REPLAY_UNUSABLE,
		  "line 1: it is record ");
}

/* The first trace says of the system what each of the others says as well. */
TEST(another_system)
{
	char *at = strstr(text[FIRST_BOB], "\"system_cpus\":4");

	ck_assert_ptr_nonnull(at);
	at[14] = '3';
	ck_report(text, REPLAY_DIFFERS, "alice, line 1: record 0 (configuration) differs from byte ");
}

/* A record in the middle of a trace that somebody has taken out. */
TEST(a_record_is_missing)
{
	char *line = line_with(text[OF_ALICE], "\"call\":\"iucv.send\""), expected[256];
	const unsigned int order = order_in(line);
	char *next = strchr(line, '\n') + 1;

	memmove(line, next, strlen(next) + 1);
	snprintf(expected, sizeof(expected), ": it is record %u of its system, and no trace has record "
		 "%u; give those of all machines that have been logged on\n", order + 1, order);
	ck_assert_int_eq(replay(text, 0), REPLAY_UNUSABLE);
	ck_assert_msg(strstr(report, expected), "%s%s", expected, report);
}

TEST(traces_of_two_systems)
{
	char *given[TRACES] = { text[FIRST_BOB], text[FIRST_BOB] };

	ck_report(given, REPLAY_UNUSABLE, "alice, line 1: bob has a record 1 of its system as well; give "
		  "the traces of one system, each once\n");
	/* One that has come later. */
	memcpy(given, text, sizeof(given));
	given[SECOND_BOB] = text[OF_CAROL];
	ck_assert_int_eq(replay(given, 0), REPLAY_UNUSABLE);
	ck_assert_ptr_nonnull(strstr(report, "give the traces of one system, each once\n"));
	/* A line that comes once more, of a number that has been. */
	memcpy(given, text, sizeof(given));
	given[SECOND_BOB] = malloc(2 * strlen(text[SECOND_BOB]) + 1);
	strcpy(given[SECOND_BOB], text[SECOND_BOB]);
	strcat(given[SECOND_BOB], text[SECOND_BOB]);
	ck_assert_int_eq(replay(given, 0), REPLAY_UNUSABLE);
	ck_assert_ptr_nonnull(strstr(report, "has been in another trace; give the traces of one "
					     "system, each once\n"));
	free(given[SECOND_BOB]);
}

TEST(damaged)
{
	char *given[TRACES], *line = line_with(text[OF_ALICE], "\"call\":\"command\""), expected[80];
	unsigned int number = 1;

	for (const char *c = text[OF_ALICE]; c < line; c++)
		number += *c == '\n';
	line[0] = '[';
	snprintf(expected, sizeof(expected), "alice, line %u: it is not a record of a CP trace\n",
		 number);
	ck_report(text, REPLAY_UNUSABLE, expected);
	line[0] = '{';
	line[40] = '\0';
	snprintf(expected, sizeof(expected), "alice, line %u: it is cut off; the trace ends in the "
		 "middle of a record\n", number);
	ck_report(text, REPLAY_UNUSABLE, expected);
	memcpy(given, text, sizeof(given));
	given[OF_CAROL] = (char[]){ "\n" };
	ck_report(given, REPLAY_UNUSABLE, "carol, line 1: it is not a record of a CP trace\n");
}

/* A record of a system's, as the next of a trace. */
static void put_next(char *to, size_t size, unsigned int seq, unsigned int order, const char *rest)
{
	snprintf(to, size, "{\"seq\":%u,\"order\":%u,\"tod\":\"1\",\"clock\":\"1\",\"cpu\":null,"
		 "\"call\":%s}\n", seq, order, rest);
}

/* The trace of the first machine up to its configuration, and then another record. */
static void ck_after_configuration(const char *record, const char *sentence)
{
	char *line = strchr(text[FIRST_BOB], '\n') + 1;
	char trace[16384];

	*line = '\0';
	strcpy(trace, text[FIRST_BOB]);
	put_next(trace + strlen(trace), 1024, 1, 2, record);
	ck_report(((char *[TRACES]){ trace }), REPLAY_UNUSABLE, sentence);
}

TEST(before_logon)
{
	ck_after_configuration("\"reset\"",
			       "line 2: a machine of a system logs on before it does anything\n");
}

/* All that a machine does once more. */
TEST(logs_on_and_off)
{
	char *line = line_with(text[FIRST_BOB], "\"call\":\"logon\"");
	char *trace = malloc(strlen(text[FIRST_BOB]) + 4096);
	const unsigned int order = order_in(line);

	*(strchr(line, '\n') + 1) = '\0';
	strcpy(trace, text[FIRST_BOB]);
	put_next(trace + strlen(trace), 1024, order, order + 1, "\"logon\"");
	ck_report(((char *[TRACES]){ trace }), REPLAY_UNUSABLE,
		  "line 4: the machine has logged on already\n");
	strcpy(trace, text[FIRST_BOB]);
	put_next(trace + strlen(trace), 1024, order, order + 1, "\"logoff\"");
	ck_report(((char *[TRACES]){ trace }), REPLAY_UNUSABLE,
		  "line 4: the machine logs off, and has not been reset just before\n");
	free(trace);
}

TEST(goes_on_after_logoff)
{
	char *trace = malloc(strlen(text[OF_CAROL]) + 4096), *given[TRACES], expected[128];
	const unsigned int lines = lines_of(text[OF_CAROL]);
	unsigned int last = 0;

	for (unsigned int i = 0; i < TRACES; i++) {
		char *end = strrchr(text[i], '\n');

		*end = '\0';
		last = order_in(line_with(text[i], strrchr(text[i], '\n') + 1)) > last ?
			order_in(line_with(text[i], strrchr(text[i], '\n') + 1)) : last;
		*end = '\n';
	}
	memcpy(given, text, sizeof(given));
	given[OF_CAROL] = trace;
	strcpy(trace, text[OF_CAROL]);
	put_next(trace + strlen(trace), 1024, lines, last + 1, "\"reset\"");
	snprintf(expected, sizeof(expected), "carol, line %u: its machine has logged off, and the trace "
		 "goes on\n", lines + 1);
	ck_report(given, REPLAY_UNUSABLE, expected);
	free(trace);
}

/* A machine that its system has refused has written its configuration, and is forgotten. */
TEST(refused)
{
	*(strchr(text[FIRST_BOB], '\n') + 1) = '\0';
	ck_report(((char *[TRACES]){ text[FIRST_BOB] }), REPLAY_SAME, "");
	ck_assert_uint_eq(records, 1);
}

/* A guest that is alone has a trace of its own. */
TEST(alone_among_others)
{
	static char alone[] = "{\"seq\":0,\"tod\":\"1\",\"cpu\":null,\"call\":\"configuration\","
			      "\"version\":1}\n";
	char *given[TRACES];

	memcpy(given, text, sizeof(given));
	given[OF_CAROL] = alone;
	ck_report(given, REPLAY_UNUSABLE, "carol, line 1: it is of a guest that is alone, whose trace is "
		  "replayed by itself\n");
}

/* As a file of the process has it: repeats are counted, and the limit ends it. */
static char *as_a_file(const char *trace, uint64_t limit)
{
	char path[] = "/tmp/zvmlab-replay-XXXXXX", err[256];
	const int fd = mkstemp(path);
	struct trace_file *file = trace_file_open(path, limit, err, sizeof(err));
	FILE *stream = fdopen(fd, "r");
	char *folded = NULL;
	size_t size = 0;

	ck_assert_ptr_nonnull(file);
	for (const char *end; (end = strchr(trace, '\n')) != NULL; trace = end + 1)
		trace_file_line(file, trace, (size_t)(end - trace));
	trace_file_close(file);
	ck_assert_int_gt(getdelim(&folded, &size, '\0', stream), 0);
	fclose(stream);
	unlink(path);
	return folded;
}

static void free_all(char *traces[TRACES])
{
	for (unsigned int i = 0; i < TRACES; i++)
		free(traces[i]);
}

/* Which numbers the counted ones have had follows from the other traces. */
TEST(counted_repeats)
{
	static const char repeat[] = "\"call\":\"repeat\",\"times\":";
	unsigned int all, lines = 0;
	char *folded[TRACES], *at;

	ck_assert_int_eq(replay(text, 0), REPLAY_SAME);
	all = (unsigned int)records;
	for (unsigned int i = 0; i < TRACES; i++) {
		folded[i] = as_a_file(text[i], TRACE_LIMIT_DEFAULT);
		lines += lines_of(folded[i]);
	}
	ck_assert_ptr_nonnull(strstr(folded[OF_ALICE], repeat));
	ck_assert_uint_lt(lines, all - WAITS);
	ck_assert_msg(replay(folded, 0) == REPLAY_SAME, "%s", report);
	ck_assert_uint_eq(records, all);
	/* One more or less. */
	at = strstr(folded[OF_ALICE], repeat) + strlen(repeat);
	at[0] = at[0] == '1' ? '2' : '1';
	ck_assert_int_ne(replay(folded, 0), REPLAY_SAME);
	free_all(folded);
}

/* The others go on up to where it has been reached. */
TEST(limit_ends_a_replay)
{
	char *folded[TRACES], expected[128];

	for (unsigned int i = 0; i < TRACES; i++)
		folded[i] = as_a_file(text[i], i == OF_ALICE ? strlen(text[i]) / 2 :
				      TRACE_LIMIT_DEFAULT);
	snprintf(expected, sizeof(expected), "alice, line %u: the trace has reached its limit here; all "
		 "before it is the same\n", lines_of(folded[OF_ALICE]));
	ck_report(folded, REPLAY_SAME, expected);
	ck_assert_uint_gt(records, lines_of(folded[OF_ALICE]));
	free_all(folded);
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* No file brings the replay down; what differs is said. */
TEST_LOOP(mutated, 0, 5)
{
	static const char alphabet[] = "0123456789abcdef\",:[]{}-*\\nul\n";
	uint32_t random = 0x2545f491u + (uint32_t)_i;

	for (unsigned int n = 0; n < 60; n++) {
		const unsigned int which = next_random(&random) % TRACES;
		char *given[TRACES], *copy = strdup(text[which]);

		memcpy(given, text, sizeof(given));
		given[which] = copy;
		for (unsigned int edits = 1 + next_random(&random) % 3; edits > 0; edits--)
			copy[next_random(&random) % strlen(copy)] =
				alphabet[next_random(&random) % (sizeof(alphabet) - 1)];
		if (replay(given, 0) != REPLAY_SAME)
			ck_assert_ptr_nonnull(strstr(report, ", line "));
		free(copy);
	}
}
