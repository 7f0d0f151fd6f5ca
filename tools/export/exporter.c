/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "exporter.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "address.h"
#include "exit_code.h"
#include "http.h"
#include "json_lines.h"
#include "say.h"
#include "textfile.h"

#define NS_PER_S UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)
#define DAY_NS (UINT64_C(86400) * NS_PER_S)
#define NAME_MAX_LEN 48u

/* Values about the exporter itself; their names begin with the tool's. */
enum { OWN_REQUESTS, OWN_LINES, OWN_LINES_LOST, OWN_FILE_ERRORS, OWN_FAMILIES };

/* The entries for poll(); those of json_lines.h come last. */
enum { STOP_FD, HTTP_FD, LINES_FD, ALL_FDS = LINES_FD + JSON_LINES_FDS };

struct exporter {
	const struct export_options *options;
	const struct export_source *source;
	struct http *http;
	struct json_lines *lines;
	FILE *lines_file;
	char names[OWN_FAMILIES][NAME_MAX_LEN];
	struct metric_family own[OWN_FAMILIES];
	uint64_t file_errors;
	int file_error;		/* of the last time, -errno */
	uint64_t next_ns;	/* when the interval ends */
	pthread_t thread;
	bool running;
	int stop_fd;
};

static void check_address(struct argp_state *state, const char *option, const char *word)
{
	if (!address_is(word))
		argp_error(state, "invalid %s: '%s' (PORT for this machine alone, :PORT for all, or "
			   "ADDRESS:PORT, for example 9811, :9811, 10.0.0.1:9811 or [::1]:9811)",
			   option, word);
}

static void set_listen(void *target, char *word, struct argp_state *state)
{
	check_address(state, "--listen", word);
	((struct export_options *)target)->listen = word;
}

static void set_json_lines(void *target, char *word, struct argp_state *state)
{
	check_address(state, "--json-lines", word);
	((struct export_options *)target)->json_lines = word;
}

#define WORD(member) TO_WORD(struct export_options, member)

static const struct option_row option_rows[] = {
	{ .help = "Destinations:", .group = 3 },
	{ "listen", 'l', "ADDRESS", "serve the values by HTTP at this PORT, :PORT or "
	  "ADDRESS:PORT, under "
	  "/metrics", TO_CALL(set_listen), .group = 3 },
	{ "textfile", '\0', "FILE", "write the values to this file, for node_exporter", WORD(textfile),
	  .group = 3 },
	{ "interval", '\0', "TIME", "interval between writes (default: 15s)",
	  TO_TIME(struct export_options, interval_ns, NS_PER_MS * 100, DAY_NS), .group = 3,
	  .wrong = "invalid --interval: '%s' (100ms to 24h, for example 15s)" },
	{ "json-lines", '\0', "ADDRESS", "send JSON lines to every client that connects to this "
	  "address by TCP", TO_CALL(set_json_lines), .group = 3 },
	{ .help = "Access to --listen:", .group = 4 },
	{ "certificate", '\0', "FILE", "use TLS with the certificate of this PEM file",
	  WORD(certificate), .group = 4 },
	{ "key", '\0', "FILE", "the certificate's private key, a PEM file", WORD(key),
	  .group = 4 },
	{ "passwords", '\0', "FILE", "require a user and password from this file, in the format "
	  "of 'htpasswd -B'", WORD(passwords), .group = 4 },
	{ 0 }
};

static void check(const void *target, const struct argp_state *state)
{
	const struct export_options *options = target;

	if (!options->listen && !options->textfile && !options->json_lines)
		argp_error(state, "nowhere to export to; use --listen, --textfile or --json-lines");
	if (!options->certificate != !options->key)
		argp_error(state, "--certificate and --key can only be used together");
	if (!options->listen && (options->certificate || options->passwords))
		argp_error(state, "--certificate and --passwords can only be used with --listen");
}

const struct option_table export_option_table = { .rows = option_rows, .check = check };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void name_own(struct exporter *exporter)
{
	static const struct metric_family own[OWN_FAMILIES] = {
		[OWN_REQUESTS] = { "export_requests", METRIC_COUNTER, NULL,
				   "HTTP requests that were answered", { "code" } },
		[OWN_LINES] = { "export_lines", METRIC_COUNTER, NULL,
				"JSON lines for clients of --json-lines", { NULL } },
		[OWN_LINES_LOST] = { "export_lines_lost", METRIC_COUNTER, NULL,
				     "JSON lines that a client was too slow for, of all clients",
				     { NULL } },
		[OWN_FILE_ERRORS] = { "export_textfile_errors", METRIC_COUNTER, NULL,
				      "times that the file of --textfile could not be written",
				      { NULL } },
	};

	for (size_t i = 0; i < OWN_FAMILIES; i++) {
		snprintf(exporter->names[i], NAME_MAX_LEN, "%s_%s", exporter->source->tool,
			 own[i].name);
		exporter->own[i] = own[i];
		exporter->own[i].name = exporter->names[i];
	}
}

static void collect_own(const struct exporter *exporter, struct metrics *metrics)
{
	struct json_lines_counts counts;
	char code[sizeof("4294967295")];

	for (unsigned int i = 0; exporter->http && i < HTTP_ANSWERS; i++) {
		snprintf(code, sizeof(code), "%u", http_codes[i]);
		metrics_unsigned(metrics, OWN_REQUESTS, (const char *const[]){ code },
				 http_answered(exporter->http, i));
	}
	if (exporter->lines) {
		json_lines_count(exporter->lines, &counts);
		metrics_unsigned(metrics, OWN_LINES, NULL, counts.lines);
		metrics_unsigned(metrics, OWN_LINES_LOST, NULL, counts.lost);
	}
	if (exporter->options->textfile)
		metrics_unsigned(metrics, OWN_FILE_ERRORS, NULL, exporter->file_errors);
}

/* http_values */
static bool write_values(void *context, enum metrics_format format, struct text *out)
{
	struct exporter *exporter = context;
	struct metrics metrics, own;
	bool made = metrics_open(&metrics, exporter->source->families, exporter->source->count);

	made = metrics_open(&own, exporter->own, OWN_FAMILIES) && made;
	if (made) {
		exporter->source->collect(exporter->source->context, &metrics);
		collect_own(exporter, &own);
		metrics_write(&metrics, format, out);
		metrics_write(&own, format, out);
		metrics_end(format, out);
	}
	metrics_close(&own);
	metrics_close(&metrics);
	return made && !out->failed;
}

/* 0 or -errno */
static int write_file(struct exporter *exporter)
{
	struct text out = { 0 };
	int ret = -ENOMEM;

	if (!exporter->options->textfile)
		return 0;
	if (write_values(exporter, METRICS_TEXT, &out))
		ret = textfile_write(exporter->options->textfile, &out);
	text_free(&out);
	if (ret)
		exporter->file_errors++;
	/* Said once, and not in each interval, as long as it is so. */
	if (ret && ret != exporter->file_error)
		say("%s cannot be written: %s", exporter->options->textfile, strerror(-ret));
	exporter->file_error = ret;
	return ret;
}

static int timeout_ms(const struct exporter *exporter)
{
	const uint64_t now = now_ns();
	int interval = 0, http;

	/* Rounded up: what is not over yet is waited for. */
	if (exporter->next_ns > now)
		interval = (int)((exporter->next_ns - now + NS_PER_MS - 1) / NS_PER_MS);
	if (!exporter->http)
		return interval;
	http = http_timeout_ms(exporter->http);
	return http >= 0 && http < interval ? http : interval;
}

static void end_interval(struct exporter *exporter)
{
	const uint64_t now = now_ns();

	if (now < exporter->next_ns)
		return;
	if (exporter->source->tick)
		exporter->source->tick(exporter->source->context);
	write_file(exporter);
	/* Those that have passed meanwhile are left out. */
	exporter->next_ns += (1 + (now - exporter->next_ns) / exporter->options->interval_ns) *
			     exporter->options->interval_ns;
}

static void *serve(void *context)
{
	struct exporter *exporter = context;
	struct pollfd fds[ALL_FDS];

	do {
		fds[STOP_FD] = (struct pollfd){ .fd = exporter->stop_fd, .events = POLLIN };
		for (size_t i = HTTP_FD; i < ALL_FDS; i++)
			fds[i] = (struct pollfd){ .fd = -1 };
		if (exporter->http)
			fds[HTTP_FD] = (struct pollfd){ .fd = http_fd(exporter->http),
							.events = POLLIN };
		if (exporter->lines)
			json_lines_poll(exporter->lines, &fds[LINES_FD]);
		/* If it fails, for lack of memory, nothing is ready. */
		(void)poll(fds, ALL_FDS, timeout_ms(exporter));
		if (exporter->http)
			http_run(exporter->http);
		if (exporter->lines)
			json_lines_run(exporter->lines, &fds[LINES_FD]);
		end_interval(exporter);
	} while (!(fds[STOP_FD].revents & POLLIN));
	return NULL;
}

/* The thread that serves gets none of the program's signals. */
static int start(struct exporter *exporter)
{
	sigset_t all, before;
	int ret;

	exporter->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (exporter->stop_fd < 0) {
		say("cannot export: %s", strerror(errno));
		return EXIT_FAILED;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&exporter->thread, NULL, serve, exporter);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	exporter->running = ret == 0;
	if (ret)
		say("cannot export: %s", strerror(ret));
	return ret ? EXIT_FAILED : EXIT_PASS;
}

static int open_all(struct exporter *exporter)
{
	const struct export_options *options = exporter->options;
	const struct http_options http = {
		.tool = exporter->source->tool, .listen = options->listen,
		.certificate = options->certificate, .key = options->key,
		.passwords = options->passwords,
	};
	int code = EXIT_PASS;

	if (options->json_lines)
		code = json_lines_open(&exporter->lines, options->json_lines);
	if (!code && exporter->lines)
		exporter->lines_file = json_lines_file(exporter->lines);
	if (!code && exporter->lines && !exporter->lines_file) {
		say("not enough memory for lines");
		code = EXIT_FAILED;
	}
	if (!code && exporter->lines && exporter->source->open_lines)
		exporter->source->open_lines(exporter->source->context, exporter->lines_file);
	if (!code && options->listen)
		code = http_open(&exporter->http, &http, write_values, exporter);
	/* What is wrong with the file's name is known at once. */
	if (!code && write_file(exporter))
		code = EXIT_USAGE;
	exporter->next_ns = now_ns() + options->interval_ns;
	return code ? code : start(exporter);
}

int exporter_open(struct exporter **made, const struct export_options *options,
		  const struct export_source *source)
{
	struct exporter *exporter = calloc(1, sizeof(*exporter));
	int code;

	*made = NULL;
	if (!exporter) {
		say("not enough memory to export");
		return EXIT_FAILED;
	}
	/* Whoever closes a connection ends nothing else. */
	signal(SIGPIPE, SIG_IGN);
	exporter->options = options;
	exporter->source = source;
	exporter->stop_fd = -1;
	name_own(exporter);
	code = open_all(exporter);
	if (code)
		exporter_close(exporter);
	else
		*made = exporter;
	return code;
}

FILE *exporter_lines(struct exporter *exporter)
{
	return exporter->lines_file;
}

int exporter_close(struct exporter *exporter)
{
	int code = EXIT_PASS;

	if (exporter->running) {
		/* The only writer: it cannot fail. */
		(void)eventfd_write(exporter->stop_fd, 1);
		pthread_join(exporter->thread, NULL);
		if (write_file(exporter))
			code = EXIT_FAILED;
	}
	if (exporter->lines_file)
		fclose(exporter->lines_file);
	json_lines_close(exporter->lines);
	http_close(exporter->http);
	if (exporter->stop_fd >= 0)
		close(exporter->stop_fd);
	free(exporter);
	return code;
}
