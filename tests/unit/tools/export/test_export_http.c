/* SPDX-License-Identifier: MIT */
/*
 * What is asked of libmicrohttpd, and what is answered to clients.  The library here is one that
 * writes down what it is asked for; tests/harness/test_export_monread.py has the real one.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "exit_code.h"
#include "http.h"
#include "http_library.h"
#include "password.h"
#include "said.h"
#include "scratch.h"
#include "storage_fails.h"
#include "unit_test.h"

/* "se:cret" by bcrypt. */
#define USERS "bob:$2y$05$aaaaaaaaaaaaaaaaaaaaaeSbtCjow3Cq0UmJMn54x1VhZFBwGT/IK\n"
#define CERTIFICATE "-----BEGIN CERTIFICATE-----\n"
#define KEY "-----BEGIN PRIVATE KEY-----\n"

/* The options with which the library was started. */
static struct {
	unsigned int flags, connections, of_one, seconds;
	uint16_t port;
	bool accept_policy;
	MHD_AccessHandlerCallback answer;
	MHD_NotifyConnectionCallback notify;
	MHD_RequestCompletedCallback completed;
	void *answer_context, *notify_context;
	size_t memory;
	int fd;
	char certificate[64], key[64], ciphers[64];
	size_t certificate_len;
} began;

static struct MHD_Response {
	char type[64], connection[16], allow[16], body[512], realm[32], retry[8];
	size_t len;
	char *owned;
	unsigned int code, queued, destroyed;
} response;

static struct http *http;
static struct timespec now;
static bool begins, without_tls, responds, no_library;
static const char *log_text[2], *accept_header, *user_given, *password_given;
static enum MHD_Result queue_result, timeout_known;
static unsigned long long timeout_left;
static unsigned int stopped, runs, freed, asked_for_fd[40];
static union MHD_ConnectionInfo connection_info[40];
static bool info_known;
static char places[40], daemon_place;
static size_t wiped;
static int daemon_fd = 77;
static uint32_t clients[40];
/* Connections that wait, and how often each has gone on. */
static bool suspended[40];
static unsigned int resumed[40];

static struct MHD_Connection *connection(size_t number)
{
	return (struct MHD_Connection *)&places[number];
}

static struct MHD_Daemon *the_daemon(void)
{
	return (struct MHD_Daemon *)&daemon_place;
}

/* libcheck asks it, too: between beginning and end of a test there must not be an hour. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
	ck_assert_int_eq(clock, CLOCK_MONOTONIC);
	*time = now;
	return 0;
}

void __real_explicit_bzero(void *bytes, size_t len);
void __wrap_explicit_bzero(void *bytes, size_t len);
void __wrap_explicit_bzero(void *bytes, size_t len)
{
	wiped += len;
	__real_explicit_bzero(bytes, len);
}

static void log_one(MHD_LogCallback log, void *context, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	log(context, format, arguments);
	va_end(arguments);
}

static void copy(char *to, size_t size, const char *from)
{
	ck_assert_uint_lt((size_t)snprintf(to, size, "%s", from), size);
}

static void take_items(const struct MHD_OptionItem *item)
{
	for (; item->option != MHD_OPTION_END; item++) {
		ck_assert_int_eq(item->value, 0);
		switch (item->option) {
		case MHD_OPTION_HTTPS_MEM_CERT:
			began.certificate_len = strlen(item->ptr_value);
			snprintf(began.certificate, sizeof(began.certificate), "%s",
				 (char *)item->ptr_value);
			break;
		case MHD_OPTION_HTTPS_MEM_KEY:
			copy(began.key, sizeof(began.key), item->ptr_value);
			break;
		case MHD_OPTION_HTTPS_PRIORITIES:
			copy(began.ciphers, sizeof(began.ciphers), item->ptr_value);
			break;
		default:
			ck_abort_msg("item %d", item->option);
		}
	}
	ck_assert_int_eq(item->value, 0);
	ck_assert_ptr_null(item->ptr_value);
}

static struct MHD_Daemon *start_daemon(unsigned int flags, uint16_t port,
				       MHD_AcceptPolicyCallback accepts, void *accept_context,
				       MHD_AccessHandlerCallback answer, void *context, ...)
{
	MHD_LogCallback log = NULL;
	void *log_context = NULL;
	enum MHD_OPTION option;
	va_list arguments;

	began.flags = flags;
	began.port = port;
	began.accept_policy = accepts || accept_context;
	began.answer = answer;
	began.answer_context = context;
	va_start(arguments, context);
	while ((option = va_arg(arguments, enum MHD_OPTION)) != MHD_OPTION_END) {
		switch (option) {
		case MHD_OPTION_EXTERNAL_LOGGER:
			log = va_arg(arguments, MHD_LogCallback);
			log_context = va_arg(arguments, void *);
			break;
		case MHD_OPTION_LISTEN_SOCKET:
			began.fd = va_arg(arguments, int);
			break;
		case MHD_OPTION_CONNECTION_LIMIT:
			began.connections = va_arg(arguments, unsigned int);
			break;
		case MHD_OPTION_PER_IP_CONNECTION_LIMIT:
			began.of_one = va_arg(arguments, unsigned int);
			break;
		case MHD_OPTION_CONNECTION_TIMEOUT:
			began.seconds = va_arg(arguments, unsigned int);
			break;
		case MHD_OPTION_CONNECTION_MEMORY_LIMIT:
			began.memory = va_arg(arguments, size_t);
			break;
		case MHD_OPTION_NOTIFY_CONNECTION:
			began.notify = va_arg(arguments, MHD_NotifyConnectionCallback);
			began.notify_context = va_arg(arguments, void *);
			break;
		case MHD_OPTION_NOTIFY_COMPLETED:
			began.completed = va_arg(arguments, MHD_RequestCompletedCallback);
			ck_assert_ptr_eq(va_arg(arguments, void *), context);
			break;
		case MHD_OPTION_ARRAY:
			take_items(va_arg(arguments, const struct MHD_OptionItem *));
			break;
		default:
			ck_abort_msg("option %d", option);
		}
	}
	va_end(arguments);
	for (size_t i = 0; i < 2 && log_text[i]; i++)
		log_one(log, log_context, "%s", log_text[i]);
	return begins ? the_daemon() : NULL;
}

static void stop_daemon(struct MHD_Daemon *which)
{
	ck_assert_ptr_eq(which, the_daemon());
	close(began.fd);
	stopped++;
}

static enum MHD_Result run_daemon(struct MHD_Daemon *which)
{
	ck_assert_ptr_eq(which, the_daemon());
	runs++;
	return MHD_YES;
}

static enum MHD_Result get_timeout(struct MHD_Daemon *which, unsigned long long *ms)
{
	ck_assert_ptr_eq(which, the_daemon());
	if (timeout_known == MHD_YES)
		*ms = timeout_left;
	return timeout_known;
}

static const union MHD_DaemonInfo *get_daemon_info(struct MHD_Daemon *which,
						   enum MHD_DaemonInfoType what, ...)
{
	static union MHD_DaemonInfo info;

	info.epoll_fd = daemon_fd;
	ck_assert_ptr_eq(which, the_daemon());
	ck_assert_int_eq(what, MHD_DAEMON_INFO_EPOLL_FD);
	return &info;
}

static const union MHD_ConnectionInfo *get_connection_info(struct MHD_Connection *which,
							   enum MHD_ConnectionInfoType what, ...)
{
	const size_t number = (size_t)((char *)which - places);
	static struct sockaddr_in client = { .sin_family = AF_INET };
	static union MHD_ConnectionInfo address = { .client_addr = (void *)&client };

	ck_assert_uint_lt(number, sizeof(places));
	client.sin_addr.s_addr = clients[number];
	if (what == MHD_CONNECTION_INFO_CLIENT_ADDRESS)
		return &address;
	ck_assert_int_eq(what, MHD_CONNECTION_INFO_CONNECTION_FD);
	asked_for_fd[number]++;
	return info_known ? &connection_info[number] : NULL;
}

static void suspend(struct MHD_Connection *which)
{
	const size_t number = (size_t)((char *)which - places);

	ck_assert(!suspended[number]);
	suspended[number] = true;
}

static void resume(struct MHD_Connection *which)
{
	const size_t number = (size_t)((char *)which - places);

	ck_assert(suspended[number]);
	suspended[number] = false;
	resumed[number]++;
}

static struct MHD_Response *create_response(size_t len, void *bytes,
					    enum MHD_ResponseMemoryMode mode)
{
	if (!responds)
		return NULL;
	ck_assert_uint_lt(len, sizeof(response.body));
	response = (struct MHD_Response){ .len = len };
	memcpy(response.body, bytes, len);
	ck_assert(mode == MHD_RESPMEM_MUST_FREE || mode == MHD_RESPMEM_MUST_COPY);
	response.owned = mode == MHD_RESPMEM_MUST_FREE ? bytes : NULL;
	return &response;
}

static enum MHD_Result add_header(struct MHD_Response *to, const char *name, const char *value)
{
	ck_assert_ptr_eq(to, &response);
	if (strcmp(name, "Content-Type") == 0)
		copy(response.type, sizeof(response.type), value);
	else if (strcmp(name, "Connection") == 0)
		copy(response.connection, sizeof(response.connection), value);
	else if (strcmp(name, "Allow") == 0)
		copy(response.allow, sizeof(response.allow), value);
	else if (strcmp(name, "Retry-After") == 0)
		copy(response.retry, sizeof(response.retry), value);
	else
		ck_abort_msg("header %s", name);
	return MHD_YES;
}

static enum MHD_Result queue_response(struct MHD_Connection *to, unsigned int code,
				      struct MHD_Response *what)
{
	ck_assert((char *)to >= places && (char *)to < places + sizeof(places));
	ck_assert_ptr_eq(what, &response);
	response.code = code;
	response.queued++;
	return queue_result;
}

static enum MHD_Result queue_auth_fail(struct MHD_Connection *to, const char *realm,
				       struct MHD_Response *what)
{
	copy(response.realm, sizeof(response.realm), realm);
	return queue_response(to, 401, what);
}

static void destroy_response(struct MHD_Response *which)
{
	ck_assert_ptr_eq(which, &response);
	free(response.owned);
	response.destroyed++;
}

static const char *lookup(struct MHD_Connection *of, enum MHD_ValueKind kind, const char *key)
{
	ck_assert((char *)of >= places && (char *)of < places + sizeof(places));
	ck_assert_int_eq(kind, MHD_HEADER_KIND);
	ck_assert_str_eq(key, "Accept");
	return accept_header;
}

static char *get_username(struct MHD_Connection *of, char **password)
{
	ck_assert((char *)of >= places && (char *)of < places + sizeof(places));
	*password = password_given ? strdup(password_given) : NULL;
	return user_given ? strdup(user_given) : NULL;
}

/* Nothing of a password is left in what is freed. */
static void library_free(void *bytes)
{
	ck_assert_ptr_nonnull(bytes);
	ck_assert(!*(char *)bytes || (user_given && strcmp(bytes, user_given) == 0));
	freed++;
	free(bytes);
}

static enum MHD_Result is_supported(enum MHD_FEATURE feature)
{
	return feature == MHD_FEATURE_TLS && !without_tls ? MHD_YES : MHD_NO;
}

static const struct http_library library = {
	.MHD_start_daemon = start_daemon, .MHD_stop_daemon = stop_daemon, .MHD_run = run_daemon,
	.MHD_get_timeout = get_timeout, .MHD_get_daemon_info = get_daemon_info,
	.MHD_get_connection_info = get_connection_info,
	.MHD_suspend_connection = suspend, .MHD_resume_connection = resume,
	.MHD_create_response_from_buffer = create_response, .MHD_add_response_header = add_header,
	.MHD_queue_response = queue_response, .MHD_destroy_response = destroy_response,
	.MHD_lookup_connection_value = lookup,
	.MHD_basic_auth_get_username_password = get_username,
	.MHD_queue_basic_auth_fail_response = queue_auth_fail,
	.MHD_is_feature_supported = is_supported, .MHD_free = library_free,
};

const struct http_library *__real_http_library(void);
const struct http_library *__wrap_http_library(void);
const struct http_library *__wrap_http_library(void)
{
	return no_library ? NULL : &library;
}

/* http_values */
static bool has_values;
static int values_context;

static bool values(void *context, enum metrics_format format, struct text *out)
{
	static const char *const words[] = { [METRICS_OPENMETRICS] = "open", [METRICS_TEXT] = "text" };

	ck_assert_ptr_eq(context, &values_context);
	text_append(out, words[format], 4);
	return has_values;
}

static char file_names[3][64];
enum { FIRST_FILE, SECOND_FILE, USERS_FILE };

static const char *file(size_t number, const char *text)
{
	file_write(file_names[number], text);
	return file_names[number];
}

static void start(void)
{
	folder_make();
	for (size_t i = 0; i < 3; i++)
		snprintf(file_names[i], sizeof(file_names[i]), "%s/%zu", folder, i);
	memset(&began, 0, sizeof(began));
	memset(&response, 0, sizeof(response));
	began.fd = -1;
	begins = responds = has_values = info_known = true;
	queue_result = MHD_YES;
	timeout_known = MHD_NO;
	now = (struct timespec){ .tv_sec = 1000 };
}

static void stop(void)
{
	storage_left = -1;
	http_close(http);
	for (size_t i = 0; i < 3; i++)
		unlink(file_names[i]);
	ck_assert_int_eq(rmdir(folder), 0);
}

CASE("export_http", start, stop);

/* Opens; what it has said, without the program's name. */
static const char *opened(const struct http_options *options, int code)
{
	struct said said = said_begin(2);
	const int got = http_open(&http, options, values, &values_context);
	const char *text = said_end(&said);
	const char *colon = strstr(text, ": ");

	ck_assert_msg(got == code, "%d: %s", got, text);
	return colon ? colon + 2 : text;
}

static const struct http_options plain = { .tool = "tool", .listen = "0" };

static void open_plain(void)
{
	opened(&plain, EXIT_PASS);
}

/* docs/export.md: 32 connections, 16 of one address, for 10 seconds; 16 KiB for a request. */
TEST(what_the_library_is_asked_for)
{
	const char *text = opened(&plain, EXIT_PASS);
	struct sockaddr_in name = { 0 };
	socklen_t len = sizeof(name);
	char wanted[80];

	ck_assert_int_eq(getsockname(began.fd, (struct sockaddr *)&name, &len), 0);
	snprintf(wanted, sizeof(wanted), "values at http://127.0.0.1:%u/metrics\n",
		 ntohs(name.sin_port));
	ck_assert_str_eq(text, wanted);
	ck_assert_uint_eq(began.flags, MHD_USE_EPOLL | MHD_USE_ERROR_LOG);
	ck_assert_uint_eq(began.port, 0);
	ck_assert(!began.accept_policy);
	ck_assert_uint_eq(began.connections, 32);
	ck_assert_uint_eq(began.of_one, 16);
	ck_assert_uint_eq(began.seconds, 10);
	ck_assert_uint_eq(began.memory, 16384);
	ck_assert_str_eq(began.certificate, "");
	ck_assert_str_eq(began.ciphers, "");
	ck_assert_int_eq(http_fd(http), 77);
	http_close(http);
	http = NULL;
	ck_assert_uint_eq(stopped, 1);
	http_close(NULL);
	ck_assert_uint_eq(stopped, 1);
}

/* Zero is a descriptor as any other. */
TEST(descriptor_zero)
{
	struct said said = said_begin(2);

	close(0);
	ck_assert_int_eq(http_open(&http, &plain, values, &values_context), EXIT_PASS);
	said_end(&said);
	ck_assert_int_eq(began.fd, 0);
}

static struct http_options secret_options(const char *certificate, const char *key)
{
	return (struct http_options){ .tool = "tool", .listen = "0", .certificate = certificate,
				      .key = key };
}

TEST(with_tls)
{
	const struct http_options options = secret_options(file(FIRST_FILE, CERTIFICATE),
							   file(SECOND_FILE, KEY));

	ck_assert_int_eq(strncmp(opened(&options, EXIT_PASS), "values at https://127.0.0.1:", 28), 0);
	ck_assert_uint_eq(began.flags, MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_USE_TLS);
	ck_assert_str_eq(began.certificate, CERTIFICATE);
	ck_assert_str_eq(began.key, KEY);
	ck_assert_ptr_nonnull(strstr(began.ciphers, ":-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"));
	/* Both are forgotten. */
	wiped = 0;
	http_close(http);
	http = NULL;
	ck_assert_uint_eq(wiped, strlen(CERTIFICATE) + strlen(KEY) + sizeof(struct passwords));
}

static void ck_closed(int fd)
{
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_int_eq(errno, EBADF);
}

/* The first thing that the library said, up to the line's end and to 255 characters. */
TEST(library_that_does_not_begin)
{
	const struct http_options secret = secret_options(file(FIRST_FILE, CERTIFICATE),
							  file(SECOND_FILE, KEY));
	char longest[301], wanted[512];

	begins = false;
	log_text[0] = "no epoll\nat all";
	log_text[1] = "something else";
	ck_assert_str_eq(opened(&plain, EXIT_FAILED), "libmicrohttpd does not start: no epoll\n");
	ck_closed(began.fd);
	http_close(http);
	snprintf(wanted, sizeof(wanted), "the certificate %s and the key %s cannot be used together: "
		 "no epoll\n", file_names[FIRST_FILE], file_names[SECOND_FILE]);
	ck_assert_str_eq(opened(&secret, EXIT_USAGE), wanted);
	ck_closed(began.fd);
	http_close(http);
	memset(longest, 'x', 300);
	longest[300] = '\0';
	log_text[0] = longest;
	snprintf(wanted, sizeof(wanted), "libmicrohttpd does not start: %.255s\n", longest);
	ck_assert_str_eq(opened(&plain, EXIT_FAILED), wanted);
	ck_assert_uint_eq(stopped, 0);
}

TEST(what_is_missing)
{
	const struct http_options secret = secret_options("/no/certificate", "/no/key");
	struct http_options options = plain;

	no_library = true;
	ck_assert_str_eq(opened(&plain, EXIT_CANNOT_RUN), "");
	http_close(http);
	no_library = false;
	without_tls = true;
	ck_assert_str_eq(opened(&secret, EXIT_CANNOT_RUN), "the library libmicrohttpd.so.12 has no TLS\n");
	http_close(http);
	options.listen = "192.0.2.1:0";
	ck_assert_str_eq(opened(&options, EXIT_USAGE),
			 "cannot listen at 192.0.2.1:0: this machine does not have this address\n");
	http_close(http);
	options = plain;
	options.passwords = "/no/users";
	ck_assert_str_eq(opened(&options, EXIT_USAGE),
			 "the password file /no/users cannot be read: No such file or directory\n");
	ck_assert_int_eq(began.fd, -1);
}

/* Opens with @certificate and a key that is right; what is said of the certificate. */
static void ck_certificate(const char *certificate, const char *said)
{
	const struct http_options options = secret_options(certificate, file(SECOND_FILE, KEY));
	char wanted[200] = "";

	if (said)
		snprintf(wanted, sizeof(wanted), "the certificate %s %s\n", certificate, said);
	ck_assert_str_eq(opened(&options, EXIT_USAGE), wanted);
	ck_assert_int_eq(began.fd, -1);
	http_close(http);
	http = NULL;
}

TEST(wrong_certificates)
{
	const struct http_options wrong_key = secret_options(file(FIRST_FILE, CERTIFICATE), "/no/key");

	ck_assert_str_eq(opened(&wrong_key, EXIT_USAGE),
			 "the key /no/key cannot be read: No such file or directory\n");
	http_close(http);
	ck_certificate("/no/such", "cannot be read: No such file or directory");
	ck_certificate("/tmp", "cannot be read: Is a directory");
	ck_certificate(file(FIRST_FILE, ""), "is no PEM file");
	ck_certificate(file(FIRST_FILE, "x"), "is no PEM file");
	ck_certificate(file(FIRST_FILE, "BEGIN-----"), "is no PEM file");
}

/* Only the first 64 KiB of a file are read. */
TEST(longest_certificate)
{
	static const char begin[] = "-----BEGIN";
	static char text[65536 + 16];
	struct http_options options = secret_options(NULL, file(SECOND_FILE, KEY));

	memset(text, '#', sizeof(text) - 1);
	memcpy(text + 65536 - strlen(begin) + 1, begin, strlen(begin));
	ck_certificate(file(FIRST_FILE, text), "is no PEM file");
	memset(text, '#', sizeof(text) - 1);
	memcpy(text + 65536 - strlen(begin), begin, strlen(begin));
	options.certificate = file(FIRST_FILE, text);
	opened(&options, EXIT_PASS);
	ck_assert_uint_eq(began.certificate_len, 65536);
}

/* Any failing allocation gives one sentence, and leaks nothing. */
TEST(without_storage)
{
	const struct http_options options = secret_options(file(FIRST_FILE, CERTIFICATE),
							   file(SECOND_FILE, KEY));
	char wanted[200];

	storage_left = 0;
	ck_assert_str_eq(opened(&plain, EXIT_FAILED), "not enough memory to listen\n");
	ck_assert_ptr_null(http);
	storage_left = 1;
	snprintf(wanted, sizeof(wanted), "the certificate %s cannot be read: Cannot allocate memory\n",
		 file_names[FIRST_FILE]);
	ck_assert_str_eq(opened(&options, EXIT_USAGE), wanted);
	http_close(http);
	storage_left = 2;
	snprintf(wanted, sizeof(wanted), "the key %s cannot be read: Cannot allocate memory\n",
		 file_names[SECOND_FILE]);
	ck_assert_str_eq(opened(&options, EXIT_USAGE), wanted);
}

static enum MHD_Result ask(const char *method, const char *url)
{
	size_t upload = 0;
	void *request = NULL;

	return began.answer(began.answer_context, connection(0), url, method, "HTTP/1.1", NULL,
			    &upload, &request);
}

static void ck_answer(unsigned int code, const char *type, const char *body)
{
	ck_assert_uint_eq(response.code, code);
	ck_assert_str_eq(response.type, type);
	ck_assert_str_eq(response.connection, "close");
	ck_assert_str_eq(response.body, body);
	ck_assert_uint_eq(response.len, strlen(body));
	ck_assert_uint_eq(response.queued, 1);
	ck_assert_uint_eq(response.destroyed, 1);
	ck_assert_str_eq(response.allow, code == 405 ? "GET, HEAD" : "");
	ck_assert_str_eq(response.realm, code == 401 ? "tool" : "");
	ck_assert_str_eq(response.retry, code == 503 ? "1" : "");
}

#define OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TEXT "text/plain; version=0.0.4; charset=utf-8"
#define SENTENCE "text/plain; charset=utf-8"
#define PAGE \
	"<!DOCTYPE html>\n<html lang=\"en\"><head><title>tool</title></head>" \
	"<body><h1>tool</h1><p><a href=\"metrics\">Values</a></p></body></html>\n"

/* The number of answers by code: 200, 401, 404, 405, 500, 503. */
static void ck_answered(const unsigned int *wanted)
{
	static const unsigned int codes[] = { 200, 401, 404, 405, 500, 503 };

	for (unsigned int i = 0; i < HTTP_ANSWERS; i++) {
		ck_assert_uint_eq(http_codes[i], codes[i]);
		ck_assert_uint_eq(http_answered(http, i), wanted[i]);
	}
}

TEST(answers)
{
	static const struct {
		const char *method, *url, *accept;
		unsigned int code;
		const char *type, *body;
	} cases[] = {
		{ "GET", "/metrics", NULL, 200, TEXT, "text" },
		{ "HEAD", "/metrics", "text/plain", 200, TEXT, "text" },
		{ "GET", "/metrics", "application/openmetrics-text;version=1.0.0,*/*", 200,
		  OPENMETRICS, "open" },
		{ "HEAD", "/metrics", "text/plain, Application/OpenMetrics-Text", 200, OPENMETRICS,
		  "open" },
		{ "GET", "/", NULL, 200, "text/html; charset=utf-8", PAGE },
		{ "HEAD", "/", NULL, 200, "text/html; charset=utf-8", PAGE },
		{ "GET", "", NULL, 404, SENTENCE, "There are only / and /metrics.\n" },
		{ "GET", "/metric", NULL, 404, SENTENCE, "There are only / and /metrics.\n" },
		{ "GET", "/metrics/", NULL, 404, SENTENCE, "There are only / and /metrics.\n" },
		{ "POST", "/metrics", NULL, 405, SENTENCE, "Only GET and HEAD are possible.\n" },
		{ "get", "/", NULL, 405, SENTENCE, "Only GET and HEAD are possible.\n" },
		{ "HEADER", "/", NULL, 405, SENTENCE, "Only GET and HEAD are possible.\n" },
		{ "PUT", "/other", NULL, 405, SENTENCE, "Only GET and HEAD are possible.\n" },
	};

	open_plain();
	ck_answered((const unsigned int[]){ 0, 0, 0, 0, 0, 0 });
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		accept_header = cases[i].accept;
		ck_assert_int_eq(ask(cases[i].method, cases[i].url), MHD_YES);
		ck_answer(cases[i].code, cases[i].type, cases[i].body);
	}
	ck_answered((const unsigned int[]){ 6, 0, 3, 4, 0, 0 });
	has_values = false;
	ck_assert_int_eq(ask("GET", "/metrics"), MHD_YES);
	ck_answer(500, SENTENCE, "There is not enough memory.\n");
	ck_answered((const unsigned int[]){ 6, 0, 3, 4, 1, 0 });
	/* Nobody is asked for a password. */
	ck_assert_uint_eq(freed, 0);
	queue_result = MHD_NO;
	ck_assert_int_eq(ask("GET", "/"), MHD_NO);
	ck_assert_uint_eq(response.destroyed, 1);
}

/* The library ends the connection then; what it was not given is freed. */
TEST(no_response)
{
	open_plain();
	responds = false;
	ck_assert_int_eq(ask("GET", "/metrics"), MHD_NO);
	ck_assert_int_eq(ask("GET", "/"), MHD_NO);
	ck_assert_int_eq(ask("GET", "/other"), MHD_NO);
	ck_answered((const unsigned int[]){ 0, 0, 0, 0, 0, 0 });
}

/* The library's storage for a request. */
static void *requests[40];

static enum MHD_Result ask_by(size_t number, const char *method, const char *url)
{
	size_t upload = 0;

	return began.answer(began.answer_context, connection(number), url, method, "HTTP/1.1", NULL,
			    &upload, &requests[number]);
}

/* The request is over. */
static void complete(size_t number)
{
	began.completed(began.answer_context, connection(number), &requests[number],
			MHD_REQUEST_TERMINATED_COMPLETED_OK);
	ck_assert_ptr_null(requests[number]);
}

/* Runs until this connection has gone on; a hash takes as long as it does. */
static void run_until_checked(size_t number)
{
	struct pollfd news = { .fd = http_fd(http), .events = POLLIN };

	while (suspended[number]) {
		ck_assert_int_eq(poll(&news, 1, 60000), 1);
		http_run(http);
	}
}

static void open_with_users(void)
{
	struct http_options options = plain;

	/* What is never ready stands for the library. */
	daemon_fd = epoll_create1(EPOLL_CLOEXEC);
	memset(requests, 0, sizeof(requests));
	memset(suspended, 0, sizeof(suspended));
	memset(resumed, 0, sizeof(resumed));
	memset(clients, 0, sizeof(clients));
	options.passwords = file(USERS_FILE, "#\n" USERS);
	opened(&options, EXIT_PASS);
	ck_assert_uint_eq(began.flags & MHD_ALLOW_SUSPEND_RESUME, MHD_ALLOW_SUSPEND_RESUME);
	ck_assert_int_ne(http_fd(http), daemon_fd);
}

static void close_with_users(void)
{
	http_close(http);
	http = NULL;
	close(daemon_fd);
	daemon_fd = 77;
}

TEST(users)
{
	static const struct {
		const char *user, *password;
		unsigned int freed;
		bool checked;
	} wrong[] = {
		{ NULL, NULL, 0, false }, { "bob", NULL, 1, false }, { NULL, "se:cret", 1, false },
		{ "bob", "", 2, true }, { "bob", "secret", 2, true }, { "carol", "se:cret", 2, true },
		{ "", "se:cret", 2, true },
	};
	static const char *const paths[] = { "/metrics", "/", "/other" };

	open_with_users();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const char *method = i % 2 ? "GET" : "PUT";

		user_given = wrong[i].user;
		password_given = wrong[i].password;
		freed = 0;
		ck_assert_int_eq(ask_by(0, method, paths[i % 3]), MHD_YES);
		ck_assert(suspended[0] == wrong[i].checked);
		ck_assert_uint_eq(freed, wrong[i].freed);
		if (suspended[0]) {
			run_until_checked(0);
			ck_assert_int_eq(ask_by(0, method, paths[i % 3]), MHD_YES);
		}
		ck_answer(401, SENTENCE, "User or password is wrong.\n");
		complete(0);
	}
	ck_answered((const unsigned int[]){ 0, 7, 0, 0, 0, 0 });
	user_given = "bob";
	password_given = "se:cret";
	ck_assert_int_eq(ask_by(0, "GET", "/metrics"), MHD_YES);
	run_until_checked(0);
	ck_assert_int_eq(ask_by(0, "GET", "/metrics"), MHD_YES);
	ck_answer(200, TEXT, "text");
	complete(0);
	/* Now it is known. */
	ck_assert_int_eq(ask_by(0, "GET", "/metrics"), MHD_YES);
	ck_assert(!suspended[0]);
	ck_answer(200, TEXT, "text");
	ck_answered((const unsigned int[]){ 2, 7, 0, 0, 0, 0 });
	close_with_users();
}

/* A right one is known although nobody has waited for it; and it is answered beside those that wait. */
TEST(right_password_beside_wrong_ones)
{
	open_with_users();
	user_given = "bob";
	password_given = "se:cret";
	ck_assert_int_eq(ask_by(1, "GET", "/metrics"), MHD_YES);
	run_until_checked(1);
	complete(1);
	password_given = "wrong";
	for (size_t i = 2; i < 10; i++)
		ck_assert_int_eq(ask_by(i, "GET", "/metrics"), MHD_YES);
	password_given = "se:cret";
	ck_assert_int_eq(ask_by(0, "GET", "/metrics"), MHD_YES);
	ck_assert(!suspended[0]);
	ck_answer(200, TEXT, "text");
	ck_answered((const unsigned int[]){ 1, 0, 0, 0, 0, 0 });
	/* Nobody waits any more after the end. */
	close_with_users();
	for (size_t i = 2; i < 10; i++)
		ck_assert(!suspended[i] && resumed[i] == 1);
}

/* So many of one address, and so many of all; who ends makes room. */
TEST(too_many_checks)
{
	open_with_users();
	user_given = "bob";
	password_given = "wrong";
	for (size_t i = 0; i < 13; i++)
		ck_assert_int_eq(ask_by(i, "GET", "/metrics"), MHD_YES);
	ck_assert(suspended[11] && !suspended[12]);
	ck_answer(503, SENTENCE, "Too many passwords are being checked.\n");
	for (size_t i = 13; i < 35; i++) {
		clients[i] = htonl(i < 24 ? 1 : 2);
		ck_assert_int_eq(ask_by(i, "GET", "/metrics"), MHD_YES);
	}
	/* 12, 11 and 9 of three addresses. */
	ck_assert(suspended[32] && !suspended[33] && !suspended[34]);
	ck_answered((const unsigned int[]){ 0, 0, 0, 0, 0, 3 });
	run_until_checked(0);
	complete(0);
	ck_assert_int_eq(ask_by(34, "GET", "/metrics"), MHD_YES);
	ck_assert(suspended[34]);
	close_with_users();
}

static void notify(size_t number, enum MHD_ConnectionNotificationCode what)
{
	void *socket_context = NULL;

	began.notify(began.notify_context, connection(number), &socket_context, what);
}

static void begin_at(size_t number, time_t seconds, long ms)
{
	now = (struct timespec){ .tv_sec = seconds, .tv_nsec = ms * 1000000 };
	notify(number, MHD_CONNECTION_NOTIFY_STARTED);
}

/* Runs then; the numbers of the connections that are ended, by 'a' to 'z', '0' to '9'. */
static const char *ended_at(time_t seconds, long ms)
{
	static char ended[sizeof(places) + 1];
	size_t len = 0;

	now = (struct timespec){ .tv_sec = seconds, .tv_nsec = ms * 1000000 };
	memset(asked_for_fd, 0, sizeof(asked_for_fd));
	http_run(http);
	for (size_t i = 0; i < sizeof(places); i++) {
		ck_assert_uint_le(asked_for_fd[i], 1);
		if (asked_for_fd[i])
			ended[len++] = "abcdefghijklmnopqrstuvwxyz0123456789"[i];
	}
	ended[len] = '\0';
	return ended;
}

/* A connection lasts ten seconds, whatever comes. */
TEST(connections_that_wait_for_a_check)
{
	open_with_users();
	info_known = false;
	user_given = "bob";
	password_given = "wrong";
	begin_at(0, 1000, 0);
	ck_assert_int_eq(ask_by(0, "GET", "/metrics"), MHD_YES);
	now.tv_sec = 1100;
	run_until_checked(0);
	ck_assert_uint_eq(asked_for_fd[0], 0);
	ck_assert_str_eq(ended_at(1109, 999), "");
	ck_assert_str_eq(ended_at(1110, 0), "a");
	close_with_users();
}

TEST(slow_connections)
{
	open_plain();
	info_known = false;
	ck_assert_str_eq(ended_at(1500, 0), "");
	begin_at(0, 1000, 999);
	begin_at(1, 1001, 0);
	ck_assert_str_eq(ended_at(1010, 998), "");
	ck_assert_str_eq(ended_at(1010, 999), "a");
	ck_assert_str_eq(ended_at(1011, 0), "ab");
	/* One that is not known changes nothing; one that has gone is not ended, and its place is free. */
	notify(7, MHD_CONNECTION_NOTIFY_CLOSED);
	notify(0, MHD_CONNECTION_NOTIFY_CLOSED);
	ck_assert_str_eq(ended_at(1012, 0), "b");
	begin_at(2, 1012, 500);
	notify(1, MHD_CONNECTION_NOTIFY_CLOSED);
	ck_assert_str_eq(ended_at(1022, 499), "");
	ck_assert_str_eq(ended_at(1022, 500), "c");
	ck_assert_uint_eq(runs, 7);
}

/* As many as there may be, and one that there is no room for. */
TEST(all_connections)
{
	open_plain();
	info_known = false;
	for (size_t i = 0; i < 33; i++)
		begin_at(i, 1100 + (time_t)i, 0);
	ck_assert_str_eq(ended_at(1140, 0), "abcdefghijklmnopqrstuvwxyz01234");
	ck_assert_str_eq(ended_at(1500, 0), "abcdefghijklmnopqrstuvwxyz012345");
	for (size_t i = 0; i < 33; i++) {
		ck_assert_int_eq(http_timeout_ms(http), i < 32 ? 500 : -1);
		notify(i, MHD_CONNECTION_NOTIFY_CLOSED);
	}
	ck_assert_str_eq(ended_at(1600, 0), "");
}

/* Ended in both directions; the library finds out and closes it. */
TEST(ended_connection)
{
	int pair[2];
	char byte;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	open_plain();
	connection_info[0].connect_fd = pair[0];
	begin_at(0, 1000, 0);
	ended_at(1009, 999);
	ck_assert_int_eq(send(pair[1], "x", 1, MSG_NOSIGNAL), 1);
	ck_assert_int_eq(recv(pair[0], &byte, 1, 0), 1);
	ended_at(1010, 0);
	ck_assert_int_eq(recv(pair[1], &byte, 1, 0), 0);
	ck_assert_int_eq(send(pair[1], "x", 1, MSG_NOSIGNAL), -1);
	close(pair[0]);
	close(pair[1]);
}

/* The time-out that the library asks for: half a second while there is a connection. */
TEST(timeouts)
{
	open_plain();
	ck_assert_int_eq(http_timeout_ms(http), -1);
	timeout_known = MHD_YES;
	timeout_left = 0;
	ck_assert_int_eq(http_timeout_ms(http), 0);
	timeout_left = 499;
	ck_assert_int_eq(http_timeout_ms(http), 499);
	timeout_left = 500;
	ck_assert_int_eq(http_timeout_ms(http), -1);
	begin_at(0, 1000, 0);
	ck_assert_int_eq(http_timeout_ms(http), 500);
	timeout_left = UINT64_C(1) << 40;
	ck_assert_int_eq(http_timeout_ms(http), 500);
	timeout_left = 20;
	ck_assert_int_eq(http_timeout_ms(http), 20);
	timeout_known = MHD_NO;
	ck_assert_int_eq(http_timeout_ms(http), 500);
	notify(0, MHD_CONNECTION_NOTIFY_CLOSED);
	ck_assert_int_eq(http_timeout_ms(http), -1);
}

/* The names of the functions, as <microhttpd.h> has them. */
static const char *const functions[] = {
	"MHD_start_daemon", "MHD_stop_daemon", "MHD_run", "MHD_get_timeout", "MHD_get_daemon_info",
	"MHD_get_connection_info", "MHD_suspend_connection", "MHD_resume_connection",
	"MHD_create_response_from_buffer", "MHD_add_response_header",
	"MHD_queue_response", "MHD_destroy_response", "MHD_lookup_connection_value",
	"MHD_basic_auth_get_username_password", "MHD_queue_basic_auth_fail_response",
	"MHD_is_feature_supported", "MHD_free",
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))
static char function_places[FUNCTIONS], handle_place;
static bool no_file;
static size_t missing;

void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
	ck_assert_str_eq(name, "libmicrohttpd.so.12");
	ck_assert_int_eq(flags, RTLD_NOW | RTLD_LOCAL);
	return no_file ? NULL : &handle_place;
}

void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name)
{
	ck_assert_ptr_eq(handle, &handle_place);
	for (size_t i = 0; i < FUNCTIONS; i++)
		if (strcmp(name, functions[i]) == 0)
			return i == missing ? NULL : &function_places[i];
	ck_abort_msg("%s", name);
	return NULL;
}

char *__wrap_dlerror(void);
char *__wrap_dlerror(void)
{
	static char reason[] = "so it is";

	return reason;
}

#define NEEDED \
	"--listen needs the library libmicrohttpd (Debian: libmicrohttpd12 or libmicrohttpd12t64): " \
	"so it is\n"

static const struct http_library *loaded(const char *wanted)
{
	struct said said = said_begin(2);
	const struct http_library *found = __real_http_library();
	const char *text = said_end(&said), *colon = strstr(text, ": ");

	ck_assert_str_eq(colon ? colon + 2 : text, wanted);
	return found;
}

/* All of its functions, or none. */
TEST(functions_of_the_library)
{
	const struct http_library *found;
	const char *where;

	missing = FUNCTIONS;
	no_file = true;
	ck_assert_ptr_null(loaded(NEEDED));
	no_file = false;
	for (missing = 0; missing < FUNCTIONS; missing++)
		ck_assert_ptr_null(loaded(NEEDED));
	found = loaded("");
	ck_assert_ptr_nonnull(found);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		memcpy(&where, (const char *)found + i * sizeof(where), sizeof(where));
		ck_assert_ptr_eq(where, &function_places[i]);
	}
}
