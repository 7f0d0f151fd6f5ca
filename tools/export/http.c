/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "http.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "address.h"
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
#define OPENMETRICS_TYPE "application/openmetrics-text"

struct connection {
	struct MHD_Connection *connection;	/* NULL: the entry is free */
	int64_t since_ms;
};

struct http {
	const struct http_library *library;
	struct MHD_Daemon *daemon;
	const char *tool;
	http_values *values;
	void *context;
	struct passwords passwords;
	struct connection connections[HTTP_CONNECTIONS];
	uint64_t answered[HTTP_ANSWERS];
	char *certificate, *key;
	char said[256];		/* by the library, the first thing of what may be several */
};

const unsigned int http_codes[HTTP_ANSWERS] = {
	[HTTP_OK] = MHD_HTTP_OK, [HTTP_UNAUTHORIZED] = MHD_HTTP_UNAUTHORIZED,
	[HTTP_NOT_FOUND] = MHD_HTTP_NOT_FOUND, [HTTP_NOT_ALLOWED] = MHD_HTTP_METHOD_NOT_ALLOWED,
	[HTTP_FAILED] = MHD_HTTP_INTERNAL_SERVER_ERROR,
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
		return;
	}
}

/* Who sends or takes a byte now and then would stay for ever. */
static void end_slow(struct http *http)
{
	const int64_t now = now_ms();

	for (size_t i = 0; i < HTTP_CONNECTIONS; i++) {
		const struct connection *at = &http->connections[i];
		const union MHD_ConnectionInfo *info;

		if (!at->connection || now - at->since_ms < HTTP_SECONDS * MS_PER_S)
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

static bool may_read(struct http *http, struct MHD_Connection *connection)
{
	char *password = NULL;
	char *user;
	bool right;

	if (!http->passwords.count)
		return true;
	user = http->library->MHD_basic_auth_get_username_password(connection, &password);
	right = user && password && passwords_right(&http->passwords, user, password);
	if (password) {
		explicit_bzero(password, strlen(password));
		http->library->MHD_free(password);
	}
	if (user)
		http->library->MHD_free(user);
	return right;
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	struct http *http = context;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)request;
	if (!may_read(http, connection))
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
	const unsigned int flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG | (tls ? MHD_USE_TLS : 0);
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
		MHD_OPTION_ARRAY, tls ? secret : none, MHD_OPTION_END);
	return http->daemon ? EXIT_PASS : EXIT_FAILED;
}

/* What TLS and the users need.  Return: an exit code; it has complained. */
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
	return options->passwords ? passwords_read(&http->passwords, options->passwords) :
				    EXIT_PASS;
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
	/* Closes the socket, too. */
	if (http->daemon)
		http->library->MHD_stop_daemon(http->daemon);
	passwords_free(&http->passwords);
	forget(http->certificate);
	forget(http->key);
	free(http);
}

int http_fd(const struct http *http)
{
	return http->library->MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
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
	http->library->MHD_run(http->daemon);
	end_slow(http);
}

uint64_t http_answered(const struct http *http, enum http_answer answer)
{
	return http->answered[answer];
}
