/* SPDX-License-Identifier: MIT */
/* monread: one pass through the data: what is printed, how the outputs follow, the exit code. */
#include "scratch.h"
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "longest_file.h"
#include "bytes.h"
#include "exit_code.h"
#include "pass.h"
#include "signals.h"

/* 2026-03-02, midnight; docs/monread.1 says how it is shown. */
#define MIDNIGHT ((UINT64_C(2208988800) + 1772409600) * 1000000 * 4096)
#define TIME "2026-03-02T00:00:00.000000Z"
#define RECORD_SIZE 24u
#define SET_SIZE (MONREC_ELEMENT_SIZE + RECORD_SIZE)

static char printed[96], said[96], data[96];
static struct options options;
static struct input input;
static struct sinks sinks;
static struct tally tally;
static char complaints[400];

/* Stands in for main.c. */
void complain_about(const char *what, int error)
{
	const size_t len = strlen(complaints);

	snprintf(complaints + len, sizeof(complaints) - len, "%s: %s\n", what, strerror(error));
}

/* Results of reading, step by step; then the device is gone. */
struct step {
	const uint8_t *bytes;	/* NULL: an error or an end */
	ssize_t ret;
	int number;		/* of a signal that comes before; 0: none */
};
static const struct step *steps;
static unsigned int step, step_count;

static ssize_t give(void *context, void *buffer, size_t len)
{
	const struct step *now = &steps[step];

	(void)context;
	if (step == step_count)
		return -ENODEV;
	step++;
	if (now->number) {
		raise(now->number);
		ck_assert_uint_ge(signals_count(), 1);
	}
	if (!now->bytes)
		return now->ret;
	ck_assert_uint_ge(len, (size_t)now->ret);
	memcpy(buffer, now->bytes, (size_t)now->ret);
	return now->ret;
}

static uint8_t good[SET_SIZE], wrong[SET_SIZE];

/* A set with one event record D1R3, which counts lost records. */
static void make_set(uint8_t *set)
{
	memset(set, 0, SET_SIZE);
	set[0] = 0xc5;
	put_be16(set + 1, 0x4000);
	put_be32(set + 4, 0x9000000);
	put_be32(set + 8, 0x9000000 + RECORD_SIZE - 1);
	put_be16(set + 12, RECORD_SIZE);
	set[16] = 1;
	put_be16(set + 18, 3);
	put_be64(set + 20, MIDNIGHT);
	set[35] = 77;
}

static void start(void)
{
	folder_make();
	snprintf(printed, sizeof(printed), "%s/printed", folder);
	snprintf(said, sizeof(said), "%s/said", folder);
	snprintf(data, sizeof(data), "%s/data", folder);
	ck_assert_ptr_nonnull(freopen(printed, "w", stdout));
	ck_assert_ptr_nonnull(freopen(said, "w", stderr));
	setvbuf(stderr, NULL, _IONBF, 0);
	options = (struct options){ .timeout_ms = -1 };
	input = (struct input){ .name = data, .fd = -1, .timeout_ms = -1, .format = MONREC_DEVICE };
	sinks = (struct sinks){ 0 };
	tally = (struct tally){ 0 };
	complaints[0] = '\0';
	make_set(good);
	make_set(wrong);
	wrong[14] = 1;		/* MRHDRZER */
	signals_catch();
}

static void stop(void)
{
	unlink(printed);
	unlink(said);
	unlink(data);
	ck_assert_int_eq(rmdir(folder), 0);
}

CASE("monread pass", start, stop);

static int run(const struct step *given, unsigned int count)
{
	struct releases releases = { 0 };
	struct pass pass = {
		.options = &options, .input = &input, .releases = &releases, .sinks = &sinks,
		.tally = &tally,
	};
	int code;

	steps = given;
	step = 0;
	step_count = count;
	tally = (struct tally){ 0 };
	complaints[0] = '\0';
	pass.reader = monrec_open(input.format, give, NULL);
	ck_assert_ptr_nonnull(pass.reader);
	code = pass_run(&pass);
	monrec_close(pass.reader);
	return code;
}

#define RUN(given) run(given, sizeof(given) / sizeof((given)[0]))
#define BYTES(set, len) { (set), (len), 0 }
#define ALL(set) BYTES(set, MONREC_ELEMENT_SIZE), { (set) + MONREC_ELEMENT_SIZE, RECORD_SIZE, 0 }
#define RET(value) { NULL, (value), 0 }
#define END RET(0)

/* The file has this text; it is empty afterwards. */
static void ck_text(FILE *file, const char *name, const char *wanted)
{
	fflush(file);
	ck_assert_str_eq(file_text(name), wanted);
	ck_assert_int_eq(ftruncate(fileno(file), 0), 0);
	rewind(file);
}

#define PRINTED(wanted) ck_text(stdout, printed, wanted)
#define SAID(wanted) ck_text(stderr, said, wanted)

/* Complete; with a broken rule; lost to an error; cut, so that a rule says it. */
static const struct step four[] = {
	ALL(good), END, ALL(wrong), END, BYTES(good, MONREC_ELEMENT_SIZE), RET(-EIO),
	BYTES(good, MONREC_ELEMENT_SIZE), END,
};

#define ELEMENT_TEXT "  element 1: event, 09000000-09000017, monitor\n"
#define RECORD_TEXT "    D1R3 MTRSUS, 24 bytes, " TIME "\n"
#define ZERO "set 2, offset 12, element 1, record 1 (D1R3 MTRSUS): bytes 2 and 3 of the header are " \
	"X'0100' [record-zero]"
#define CUT "set 4, offset 12, element 1: the set ends 0 bytes into a frame of the element's records " \
	"[records-cut]"

#define PLACE(set, offset) "\"set\":" #set ",\"offset\":" #offset

TEST(prints_text)
{
	ck_assert_int_eq(RUN(four), EXIT_FAILED);
	PRINTED("set 1\n" ELEMENT_TEXT RECORD_TEXT "  complete\n"
		"set 2\n" ELEMENT_TEXT ZERO "\n" RECORD_TEXT "  complete\n"
		"set 3\n" ELEMENT_TEXT "  lost: Input/output error\n"
		"set 4\n" ELEMENT_TEXT CUT "\n  lost: the rest cannot be read\n");
	ck_assert_uint_eq(tally.sets, 2);
	ck_assert_uint_eq(tally.lost, 2);
	ck_assert_uint_eq(tally.violations, 2);
	ck_assert_str_eq(strchr(complaints, ':'), ": No such device\n");
	SAID("");
}

/* Only what is wrong; of a lost set, why, if that is not said by then. */
TEST(prints_what_is_wrong)
{
	options.check = true;
	RUN(four);
	PRINTED(ZERO "\n  lost: Input/output error\n" CUT "\n");
	options.json = true;
	RUN(four);
	PRINTED("{\"item\":\"violation\"," PLACE(2, 12) ",\"element\":1,\"record\":1,"
		"\"rule\":\"record-zero\",\"text\":\"" ZERO "\"}\n"
		"{\"item\":\"lost\"," PLACE(3, 12) ",\"element\":1,\"error\":\"Input/output error\"}\n"
		"{\"item\":\"violation\"," PLACE(4, 12) ",\"element\":1,\"rule\":\"records-cut\","
		"\"text\":\"" CUT "\"}\n"
		"{\"item\":\"lost\"," PLACE(4, 12) ",\"element\":1}\n");
}

TEST(prints_values)
{
	static const struct step one[] = { ALL(good), END };

	options.values = true;
	ck_assert_int_eq(RUN(one), EXIT_FAILED);
	PRINTED("set 1\n" ELEMENT_TEXT RECORD_TEXT "      LOSTRCCT         77 records\n  complete\n");
	options.json = true;
	RUN(one);
	PRINTED("{\"item\":\"set\"," PLACE(1, 0) "}\n"
		"{\"item\":\"element\"," PLACE(1, 0) ",\"element\":1,\"type\":\"event\",\"domains\":[1],"
		"\"start\":150994944,\"end\":150994967}\n"
		"{\"item\":\"record\"," PLACE(1, 12) ",\"element\":1,\"record\":1,\"domain\":1,"
		"\"number\":3,\"name\":\"MTRSUS\",\"length\":24,\"time\":\"" TIME "\","
		"\"fields\":{\"LOSTRCCT\":77}}\n"
		"{\"item\":\"complete\"," PLACE(1, 36) ",\"element\":1,\"record\":1}\n");
}

/* Lengths are checked if a release was named. */
TEST(lengths_of_a_release)
{
	static uint8_t longer[SET_SIZE + 4];
	static const struct step one[] = {
		BYTES(longer, MONREC_ELEMENT_SIZE), { longer + MONREC_ELEMENT_SIZE, 28, 0 }, END,
	};

	memcpy(longer, good, sizeof(good));
	longer[11] = 27;
	longer[13] = 28;
	options.check = true;
	RUN(one);
	ck_assert_uint_eq(tally.violations, 0);
	options.release = 530;
	RUN(one);
	ck_assert_uint_eq(tally.broken[MONREC_RULE_RECORD_LENGTH], 1);
	ck_assert_uint_eq(tally.violations, 1);
}

/* A sink that writes down what comes. */
static char noted[200];
static int fails_at = -1;
static const uint8_t *interrupt;

static int note_item(struct sink *sink, const struct monrec_item *item)
{
	const size_t len = strlen(noted);

	(void)sink;
	if (item->kind == MONREC_SET)
		interrupt = item->interrupt;
	snprintf(noted + len, sizeof(noted) - len, "%c", "-SERelo!~xF"[item->kind]);
	return (int)item->kind == fails_at ? -ENOSPC : 0;
}

static int note_nothing(struct sink *sink)
{
	(void)sink;
	return 0;
}

static const struct sink_ops note_ops = { note_item, note_nothing, note_nothing, note_nothing, false };
static const struct sink_ops frame_ops = { note_item, note_nothing, note_nothing, note_nothing, true };
static struct sink note = { .ops = &note_ops }, frames = { .ops = &frame_ops };

static void add(struct sink *sink)
{
	noted[0] = '\0';
	sinks = (struct sinks){ 0 };
	ck_assert(sinks_add(&sinks, sink, "output"));
}

/* In saved bytes each element is a set of its own; in those of the device it is not. */
TEST(elements_of_saved_bytes)
{
	static const struct step two[] = { ALL(good), ALL(good), END };

	add(&note);
	RUN(two);
	ck_assert_str_eq(noted, "SERERe");
	ck_assert_uint_eq(tally.sets, 1);
	input.format = MONREC_SAVED;
	add(&note);
	ck_assert_int_eq(RUN(two), EXIT_PASS);
	ck_assert_str_eq(noted, "SEReSERe");
	ck_assert_uint_eq(tally.sets, 2);
	ck_assert_uint_eq(tally.elements, 2);
}

TEST(frames_if_an_output_wants_them)
{
	static const struct step one[] = { ALL(good), END };

	add(&frames);
	RUN(one);
	ck_assert_str_eq(noted, "SERFe");
}

/* The index's set, if it has one. */
TEST(interruptions_of_an_index)
{
	static const struct step one[] = { ALL(good), END };

	add(&note);
	RUN(one);
	ck_assert_ptr_null(interrupt);
	input.entry.has_interrupt = true;
	add(&note);
	RUN(one);
	ck_assert_ptr_eq(interrupt, input.entry.interrupt);
}

/* A signal within a set waits for its end, if it has one. */
TEST(where_a_set_is)
{
	static const struct step begun[] = { BYTES(good, MONREC_ELEMENT_SIZE), { NULL, -EINTR, SIGTERM } };
	static const struct step ended[] = { ALL(good), END };
	static const struct step lost[] = { BYTES(good, MONREC_ELEMENT_SIZE), RET(-EIO) };

	RUN(ended);
	ck_assert(!input.in_set);
	RUN(lost);
	ck_assert(!input.in_set);
	ck_assert_int_eq(RUN(begun), 128 + SIGTERM);
	ck_assert(input.in_set);
	ck_assert_str_eq(complaints, "");
	input.format = MONREC_SAVED;
	RUN(begun);
	ck_assert(!input.in_set);
}

/* Reading that would have to wait goes on where it was; a signal ends it. */
TEST(waits)
{
	static const struct step waiting[] = {
		BYTES(good, MONREC_ELEMENT_SIZE), RET(-EAGAIN), { good + MONREC_ELEMENT_SIZE, RECORD_SIZE, 0 },
		RET(-EINTR), END,
	};

	RUN(waiting);
	ck_assert_uint_eq(tally.sets, 1);
}

/* Reading ends after the requested number of sets; lost sets count. */
TEST(as_many_sets_as_asked_for)
{
	for (unsigned int sets = 1; sets <= 4; sets++) {
		options.sets = sets;
		ck_assert_int_eq(RUN(four), sets == 1 ? EXIT_PASS : EXIT_FAILED);
		ck_assert_uint_eq(tally.sets + tally.lost, sets);
		ck_assert_str_eq(complaints, "");
	}
}

static void make_data(void)
{
	const int fd = open(data, O_WRONLY | O_CREAT, 0600);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

#define SEVERED "data: Input/output error\n"

static const char *complained(void)
{
	static char without[400];
	const char *at = complaints;

	without[0] = '\0';
	while (strncmp(at, folder, strlen(folder)) == 0) {
		const size_t len = strcspn(at, "\n") + 1;

		strncat(without, at + strlen(folder) + 1, len - strlen(folder) - 1);
		at += len;
	}
	return without;
}

/* EIO between sets of a device: it is opened anew, and sets are counted on. */
TEST(severs)
{
	static const struct step severed[] = { ALL(good), END, RET(-EIO), ALL(good), END, RET(-EIO),
					       RET(-EIO), ALL(good), END };

	make_data();
	options.sets = 3;
	input.reopen = 2;
	ck_assert_int_eq(RUN(severed), EXIT_FAILED);
	ck_assert_str_eq(complained(), SEVERED SEVERED SEVERED);
	ck_assert_uint_eq(tally.sets, 3);
	ck_assert_uint_eq(tally.severs, 3);
	ck_assert_uint_eq(tally.lost + tally.violations, 0);
	ck_assert_uint_eq(input.tried, 0);
	ck_assert_int_ge(input.fd, 0);
	close(input.fd);
	/* One try for two severs without a set in between. */
	input.fd = -1;
	input.reopen = 1;
	ck_assert_int_eq(RUN(severed), EXIT_FAILED);
	ck_assert_str_eq(complained(), SEVERED SEVERED SEVERED SEVERED);
	ck_assert_uint_eq(tally.sets, 2);
	ck_assert_uint_eq(tally.severs, 2);
}

/* Not: other errors, other formats, a file with an index, if no try is to be made. */
TEST(errors_that_are_no_sever)
{
	static const struct step eio[] = { ALL(good), END, RET(-EIO), ALL(good), END };
	static const struct step other[] = { ALL(good), END, RET(-ENXIO), ALL(good), END };
	static const struct step saved[] = { RET(-EIO), ALL(good), END };

	make_data();
	input.reopen = 3;
	ck_assert_int_eq(RUN(other), EXIT_FAILED);
	ck_assert_str_eq(complained(), "data: No such device or address\n");
	ck_assert_uint_eq(tally.sets, 1);
	input.reopen = 0;
	ck_assert_int_eq(RUN(eio), EXIT_FAILED);
	ck_assert_str_eq(complained(), SEVERED);
	input.reopen = 3;
	input.index = stdin;
	ck_assert_int_eq(RUN(eio), EXIT_FAILED);
	ck_assert_str_eq(complained(), SEVERED);
	input.index = NULL;
	input.format = MONREC_SAVED;
	ck_assert_int_eq(RUN(saved), EXIT_FAILED);
	ck_assert_str_eq(complained(), SEVERED);
	ck_assert_uint_eq(tally.sets + tally.severs, 0);
}

/* The last error is told if the device cannot be opened any more. */
TEST(severs_for_good)
{
	static const struct step severed[] = { RET(-EIO), ALL(good), END };

	input.reopen = 2;
	ck_assert_int_eq(RUN(severed), EXIT_FAILED);
	ck_assert_str_eq(complained(), SEVERED "data: No such file or directory\n");
	ck_assert_uint_eq(tally.sets + tally.severs, 0);
}

/* Each of what makes a pass fail, and nothing else. */
TEST(exit_codes)
{
	static const struct step one[] = { ALL(good), END };
	static const struct step broken[] = { ALL(wrong), END };
	static const struct step lost[] = { BYTES(good, MONREC_ELEMENT_SIZE), RET(-EIO) };
	static const struct step overflow[] = { RET(-EOVERFLOW), ALL(good), END };
	char sentence[200];

	options.sets = 1;
	ck_assert_int_eq(RUN(one), EXIT_PASS);
	ck_assert_int_eq(RUN(broken), EXIT_FAILED);
	ck_assert_int_eq(RUN(lost), EXIT_FAILED);
	ck_assert_int_eq(RUN(overflow), EXIT_FAILED);
	ck_assert_str_eq(complaints, "");
	options.sets = 0;
	/* The end of a file with an index is no error, unless the index was wrong. */
	input.ended = true;
	ck_assert_int_eq(RUN(one), EXIT_PASS);
	ck_assert_str_eq(complaints, "");
	SAID("");
	input.bad_index = true;
	ck_assert_int_eq(RUN(one), EXIT_FAILED);
	ck_assert_str_eq(complaints, "");
	snprintf(sentence, sizeof(sentence), "monread: %s.idx is not an index of this file; "
		 "remove it to read the file as one set\n", data);
	SAID(sentence);
	input.ended = false;
	input.bad_index = false;
	input.timed_out = true;
	ck_assert_int_eq(RUN(one), EXIT_TIMEOUT);
	ck_assert_str_eq(complained(), "data: Connection timed out\n");
}

/* Reading stops if nothing is printed and no output is left. */
TEST(outputs_that_fail)
{
	static const struct step two[] = { ALL(good), END, ALL(good), END };

	fails_at = MONREC_SET_END;
	options.csv = "output";
	add(&note);
	ck_assert_int_eq(RUN(two), EXIT_FAILED);
	ck_assert_str_eq(complaints, "output: No space left on device\n");
	ck_assert_uint_eq(tally.sets, 1);
	/* Beside another one, or what is printed, it goes on. */
	add(&note);
	options.json = true;
	ck_assert_int_eq(RUN(two), EXIT_FAILED);
	ck_assert_uint_eq(tally.sets, 2);
	options.json = false;
	fails_at = -1;
	add(&note);
	ck_assert_int_eq(RUN(two), EXIT_FAILED);
	ck_assert_uint_eq(tally.sets, 2);
	sinks = (struct sinks){ 0 };
	ck_assert_int_eq(RUN(two), EXIT_FAILED);
	ck_assert_uint_eq(tally.sets, 2);
}

/* The output ends with a whole set, wherever the disk becomes full. */
TEST(full_disk)
{
	static const char set[] = "set 1\n" ELEMENT_TEXT RECORD_TEXT "  complete\n";
	static const struct step two[] = { ALL(good), END, ALL(good), END };

	longest_file(sizeof(set) + 20);
	ck_assert_int_eq(RUN(two), EXIT_FAILED);
	ck_assert_str_eq(complaints, "standard output: File too large\n");
	PRINTED(set);
	/* A set that has not come to its end is told, and taken back. */
	longest_file(20);
	ck_assert_int_eq(RUN(two), EXIT_FAILED);
	ck_assert_str_eq(complaints, "standard output: File too large\n");
	PRINTED("");
	longest_file(RLIM_INFINITY);
}

/* At the end, too, and where nothing can be taken back. */
TEST(full_device)
{
	static const struct step two[] = { ALL(good), END, ALL(good), END };
	static const struct step none[] = { RET(-ENXIO) };

	ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
	ck_assert_int_eq(RUN(two), EXIT_FAILED);
	ck_assert_str_eq(complaints + strlen(complaints) - 41,
			 "standard output: No space left on device\n");
	clearerr(stdout);
	ck_assert_int_eq(RUN(none), EXIT_FAILED);
	ck_assert_str_eq(complained(), "data: No such device or address\n");
	/* Who prints nothing needs no room. */
	options.csv = "output";
	fputs("something of an output", stdout);
	options.sets = 1;
	ck_assert_int_eq(RUN(two), EXIT_PASS);
	ck_assert_str_eq(complaints, "");
}
