/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "http.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "address.h"
#include "checks.h"
#include "exit_code.h"
#include "http_library.h"
#include "password.h"
#include "say.h"

#define NS_PER_MS 1000000
#define MS_PER_S 1000
/* How exact the limit of a connection is. */
#define LOOK_MS 500
/* A certificate with its chain, or a key, and a NUL. */
#define PEM_SIZE (65536u + 1)
#define CIPHERS "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
/* After which a client may try again that there was no room for. */
#define RETRY_SECONDS "1"
#define OPENMETRICS_TYPE "application/openmetrics-text"

struct connection {
	struct MHD_Connection *connection;	/* NULL: the entry is free */
	int64_t since_ms;
	bool is_checked;	/* its password, which lasts as long as it does */
};

struct http {
	const struct http_library *library;
	struct MHD_Daemon *daemon;
	const char *tool;
	http_values *values;
	void *context;
	struct passwords passwords;
	struct checks *checks;	/* NULL: everybody may */
	int fd;			/* of the library and the checks together; -1 without checks */
	struct connection connections[HTTP_CONNECTIONS];
	uint64_t answered[HTTP_ANSWERS];
	char *certificate, *key;
	char said[256];		/* by the library, the first thing of what may be several */
};

const unsigned int http_codes[HTTP_ANSWERS] = {
	[HTTP_OK] = MHD_HTTP_OK, [HTTP_UNAUTHORIZED] = MHD_HTTP_UNAUTHORIZED,
	[HTTP_NOT_FOUND] = MHD_HTTP_NOT_FOUND, [HTTP_NOT_ALLOWED] = MHD_HTTP_METHOD_NOT_ALLOWED,
	[HTTP_FAILED] = MHD_HTTP_INTERNAL_SERVER_ERROR, [HTTP_BUSY] = MHD_HTTP_SERVICE_UNAVAILABLE,
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NS_PER_MS;
}

/* A connection has begun or ended. */
static void notified(void *context, struct MHD_Connection *connection, void **socket_context,
		     enum MHD_ConnectionNotificationCode what)
{
	struct http *http = context;
	struct MHD_Connection *wanted = what == MHD_CONNECTION_NOTIFY_STARTED ? NULL : connection;

	(void)socket_context;
	for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
		struct connection *at = &http->connections[i];

		if (at->connection != wanted)
			continue;
		at->connection = wanted ? NULL : connection;
		at->since_ms = now_ms();
		at->is_checked = false;
		return;
	}
}

/* A client that sends or takes a byte now and then would stay forever. */
static void end_slow(struct http *http)
{
	const int64_t now = now_ms();

	for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
		const struct connection *at = &http->connections[i];
		const union MHD_ConnectionInfo *info;

		if (!at->connection || at->is_checked || now - at->since_ms < HTTP_SECONDS * MS_PER_S)
			continue;
		info = http->library->MHD_get_connection_info(at->connection,
							      MHD_CONNECTION_INFO_CONNECTION_FD);
		if (info)
			shutdown(info->connect_fd, SHUT_RDWR);
	}
}

static enum MHD_Result queue(struct http *http, struct MHD_Connection *connection,
			     enum http_answer answer, const char *type, char *body, size_t len,
			     enum MHD_ResponseMemoryMode mode)
{
	const struct http_library *library = http->library;
	struct MHD_Response *response = library->MHD_create_response_from_buffer(len, body, mode);
	enum MHD_Result result;

	if (!response) {
		if (mode == MHD_RESPMEM_MUST_FREE)
			free(body);
		return MHD_NO;
	}
	http->answered[answer]++;
	library->MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	library->MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (answer == HTTP_NOT_ALLOWED)
		library->MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (answer == HTTP_BUSY)
		library->MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER,
						 RETRY_SECONDS);
	if (answer == HTTP_UNAUTHORIZED)
		result = library->MHD_queue_basic_auth_fail_response(connection, http->tool,
								     response);
	else
		result = library->MHD_queue_response(connection, http_codes[answer], response);
	library->MHD_destroy_response(response);
	return result;
}

static enum MHD_Result tell(struct http *http, struct MHD_Connection *connection,
			    enum http_answer answer, const char *sentence)
{
	return queue(http, connection, answer, "text/plain; charset=utf-8",
		     (char *)(uintptr_t)sentence, strlen(sentence), MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result give_page(struct http *http, struct MHD_Connection *connection)
{
	char text[256];
	const int len = snprintf(text, sizeof(text),
				 "<!DOCTYPE html>\n<html lang=\"en\"><head><title>%s</title></head>"
				 "<body><h1>%s</h1><p><a href=\"metrics\">Values</a></p></body></html>\n",
				 http->tool, http->tool);

	return queue(http, connection, HTTP_OK, "text/html; charset=utf-8", text, (size_t)len,
		     MHD_RESPMEM_MUST_COPY);
}

static enum MHD_Result give_values(struct http *http, struct MHD_Connection *connection)
{
	const char *accept = http->library->MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	const bool open = accept && strcasestr(accept, OPENMETRICS_TYPE);
	struct text out = { 0 };

	if (!http->values(http->context, open ? METRICS_OPENMETRICS : METRICS_TEXT, &out)) {
		text_free(&out);
		return tell(http, connection, HTTP_FAILED, "There is not enough memory.\n");
	}
	return queue(http, connection, HTTP_OK,
		     open ? OPENMETRICS_TYPE "; version=1.0.0; charset=utf-8" :
			    "text/plain; version=0.0.4; charset=utf-8",
		     out.bytes, out.len, MHD_RESPMEM_MUST_FREE);
}

/* The result of checking who asks. */
enum who { WHO_MAY, WHO_MAY_NOT, WHO_IS_CHECKED, WHO_HAS_TO_WAIT };

/* A check of its password begins or ends; then the connection has all its time again. */
static void set_checked(struct http *http, const struct MHD_Connection *connection, bool is)
{
	for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
		struct connection *at = &http->connections[i];

		if (at->connection != connection)
			continue;
		at->is_checked = is;
		at->since_ms = now_ms();
	}
}

/* Begins a check; the connection waits for it. */
static enum who begin_check(struct http *http, struct MHD_Connection *connection, const char *user,
			    const char *password, struct check **check)
{
	const union MHD_ConnectionInfo *info = http->library->MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	*check = checks_begin(http->checks, info ? info->client_addr : NULL, user, password,
			      connection);
	if (!*check)
		return WHO_HAS_TO_WAIT;
	set_checked(http, connection, true);
	http->library->MHD_suspend_connection(connection);
	return WHO_IS_CHECKED;
}

/* *@check: NULL, or what checks.h has had of it. */
static enum who find_out(struct http *http, struct MHD_Connection *connection, struct check **check)
{
	char *password = NULL;
	enum who who = WHO_MAY_NOT;
	char *user;

	if (!http->checks)
		return WHO_MAY;
	if (*check)
		return check_is_right(*check) ? WHO_MAY : WHO_MAY_NOT;
	user = http->library->MHD_basic_auth_get_username_password(connection, &password);
	if (user && password && passwords_known(&http->passwords, user, password))
		who = WHO_MAY;
	else if (user && password && strlen(user) + strlen(password) + 1 < PASSWORD_MAX)
		who = begin_check(http, connection, user, password, check);
	if (password) {
		explicit_bzero(password, strlen(password));
		http->library->MHD_free(password);
	}
	if (user)
		http->library->MHD_free(user);
	return who;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	struct http *http = context;
	struct check *check = *request;
	const enum who who = find_out(http, connection, &check);

	(void)version;
	(void)upload;
	(void)upload_size;
	*request = check;
	if (who == WHO_IS_CHECKED)
		return MHD_YES;
	if (who == WHO_HAS_TO_WAIT)
		return tell(http, connection, HTTP_BUSY,
			    "Too many passwords are being checked.\n");
	if (who == WHO_MAY_NOT)
		return tell(http, connection, HTTP_UNAUTHORIZED, "User or password is wrong.\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return tell(http, connection, HTTP_NOT_ALLOWED,
			    "Only GET and HEAD are possible.\n");
	if (strcmp(url, "/metrics") == 0)
		return give_values(http, connection);
	if (strcmp(url, "/") == 0)
		return give_page(http, connection);
	return tell(http, connection, HTTP_NOT_FOUND, "There are only / and /metrics.\n");
}

/* A request is over, however it ended. */
static void completed(void *context, struct MHD_Connection *connection, void **request,
		      enum MHD_RequestTerminationCode how)
{
	struct http *http = context;

	(void)connection;
	(void)how;
	if (*request)
		check_end(http->checks, *request);
	*request = NULL;
}

/* Goes on with those that waited for a check. */
static void end_checks(struct http *http)
{
	struct check *check;

	while (http->checks && (check = checks_next_done(http->checks))) {
		struct MHD_Connection *connection = check_context(check);

		if (check_is_right(check))
			passwords_remember(&http->passwords, check_user(check),
					   check_password(check));
		set_checked(http, connection, false);
		http->library->MHD_resume_connection(connection);
	}
}

/* Why it does not begin, if it does not; nobody reads what it says of clients. */
static void listen_to_library(void *context, const char *format, va_list arguments)
{
	struct http *http = context;

	if (*http->said)
		return;
	vsnprintf(http->said, sizeof(http->said), format, arguments);
	http->said[strcspn(http->said, "\n")] = '\0';
}

/* A PEM file, to be freed; NULL, having complained. */
static char *read_pem(const char *name, const char *what)
{
	FILE *file = fopen(name, "re");
	char *text = calloc(PEM_SIZE, sizeof(*text));
	size_t len = 0;
	int error = errno;

	if (file && text) {
		len = fread(text, sizeof(*text), PEM_SIZE - 1, file);
		error = ferror(file) ? errno : 0;
	}
	if (file)
		fclose(file);
	if (len && strstr(text, "-----BEGIN"))
		return text;
	if (error)
		say("the %s %s cannot be read: %s", what, name, strerror(error));
	else
		say("the %s %s is no PEM file", what, name);
	free(text);
	return NULL;
}

static int start(struct http *http, int fd, bool tls)
{
	const unsigned int flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG | (tls ? MHD_USE_TLS : 0) |
				   (http->checks ? MHD_ALLOW_SUSPEND_RESUME : 0);
	const struct MHD_OptionItem secret[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, http->certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, http->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (char *)(intptr_t)CIPHERS },
		{ MHD_OPTION_END, 0, NULL },
	};
	const struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

	http->daemon = http->library->MHD_start_daemon(
		flags, 0, NULL, NULL, answer, http, MHD_OPTION_EXTERNAL_LOGGER, listen_to_library,
		http, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, HTTP_CONNECTIONS,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, HTTP_CONNECTIONS / 2,
		MHD_OPTION_CONNECTION_TIMEOUT, HTTP_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_MEMORY, MHD_OPTION_NOTIFY_CONNECTION, notified, http,
		MHD_OPTION_NOTIFY_COMPLETED, completed, http, MHD_OPTION_ARRAY, tls ? secret : none, MHD_OPTION_END);
	return http->daemon ? EXIT_PASS : EXIT_FAILED;
}

static int prepare_checks(struct http *http, const char *passwords)
{
	int code = passwords_read(&http->passwords, passwords);

	if (code)
		return code;
	http->checks = checks_open(&http->passwords);
	if (http->checks)
		return EXIT_PASS;
	say("not enough memory to check passwords");
	return EXIT_FAILED;
}

static bool watch(const struct http *http, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return !epoll_ctl(http->fd, EPOLL_CTL_ADD, fd, &event);
}

static int library_fd(const struct http *http)
{
	return http->library->MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

/* One descriptor for what the library waits for and for the checks. */
static int join(struct http *http)
{
	if (!http->checks)
		return EXIT_PASS;
	http->fd = epoll_create1(EPOLL_CLOEXEC);
	if (http->fd >= 0 && watch(http, library_fd(http)) && watch(http, checks_fd(http->checks)))
		return EXIT_PASS;
	say("cannot wait for clients: %s", strerror(errno));
	return EXIT_FAILED;
}

/* Prepare TLS and the users.  Return: an exit code; it has complained. */
static int prepare(struct http *http, const struct http_options *options)
{
	http->library = http_library();
	if (!http->library)
		return EXIT_CANNOT_RUN;
	if (options->certificate) {
		if (http->library->MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
			say("the library %s has no TLS", HTTP_LIBRARY);
			return EXIT_CANNOT_RUN;
		}
		http->certificate = read_pem(options->certificate, "certificate");
		http->key = http->certificate ? read_pem(options->key, "key") : NULL;
		if (!http->key)
			return EXIT_USAGE;
	}
	return options->passwords ? prepare_checks(http, options->passwords) : EXIT_PASS;
}

static int begin(struct http *http, const struct http_options *options)
{
	char text[ADDRESS_TEXT_SIZE];
	int code = prepare(http, options), fd;

	if (code)
		return code;
	fd = address_listen(options->listen);
	if (fd < 0)
		return EXIT_USAGE;
	address_text(fd, text);
	code = start(http, fd, options->certificate);
	if (!code) {
		code = join(http);
		if (code)
			return code;
		say("values at http%s://%s/metrics", options->certificate ? "s" : "", text);
		return EXIT_PASS;
	}
	close(fd);
	if (!options->certificate) {
		say("libmicrohttpd does not start: %s", http->said);
		return EXIT_FAILED;
	}
	say("the certificate %s and the key %s cannot be used together: %s",
		 options->certificate, options->key, http->said);
	return EXIT_USAGE;
}

int http_open(struct http **http, const struct http_options *options, http_values *values,
	      void *context)
{
	*http = calloc(1, sizeof(**http));
	if (!*http) {
		say("not enough memory to listen");
		return EXIT_FAILED;
	}
	(*http)->tool = options->tool;
	(*http)->values = values;
	(*http)->context = context;
	(*http)->fd = -1;
	return begin(*http, options);
}

/* Files with a key in them leave nothing behind. */
static void forget(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

void http_close(struct http *http)
{
	if (!http)
		return;
	/* The library ends no connection that waits. */
	if (http->checks) {
		checks_stop(http->checks);
		end_checks(http);
	}
	/* Closes the socket, too. */
	if (http->daemon)
		http->library->MHD_stop_daemon(http->daemon);
	checks_close(http->checks);
	if (http->fd >= 0)
		close(http->fd);
	passwords_free(&http->passwords);
	forget(http->certificate);
	forget(http->key);
	free(http);
}

int http_fd(const struct http *http)
{
	return http->fd >= 0 ? http->fd : library_fd(http);
}

int http_timeout_ms(const struct http *http)
{
	unsigned long long ms;
	bool busy = false;

	for (size_t i = 0; i < HTTP_CONNECTIONS; i++)
		busy |= http->connections[i].connection != NULL;
	if (http->library->MHD_get_timeout(http->daemon, &ms) == MHD_YES && ms < LOOK_MS)
		return (int)ms;
	return busy ? LOOK_MS : -1;
}

void http_run(struct http *http)
{
	end_checks(http);
	http->library->MHD_run(http->daemon);
	end_slow(http);
}

uint64_t http_answered(const struct http *http, enum http_answer answer)
{
	return http->answered[answer];
}
