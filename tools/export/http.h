/* SPDX-License-Identifier: MIT */
/*
 * The values by HTTP or HTTPS, by libmicrohttpd, which is loaded when it is first needed: the
 * tools' other commands begin without it and the TLS library behind it.
 *
 * GET and HEAD of /metrics and of / are answered, anything else with 404 or 405.  A connection is
 * for one request and lasts HTTP_SECONDS at most, without the time that its password is checked;
 * HTTP_CONNECTIONS at a time, half of them from one address.  Not for two threads at once: the caller
 * polls.
 *
 * A password that was right before is known.  Others are checked beside all that is served, as
 * checks.h has it, and answered with 503 if there are too many.
 */
#ifndef TOOLS_HTTP_H
#define TOOLS_HTTP_H

#include "metrics.h"

#define HTTP_CONNECTIONS 32u
#define HTTP_SECONDS 10u
/* Bytes of a request with its headers, and of what else a connection needs. */
#define HTTP_MEMORY 16384u

struct http;

struct http_options {
	const char *tool;		/* name of the tool, for the page at / */
	const char *listen;		/* as address.h has it */
	const char *certificate, *key;	/* PEM files; NULL: no TLS */
	const char *passwords;		/* as password.h has it; NULL: everybody may */
};

/* The text of the values.  Return: false without memory. */
typedef bool http_values(void *context, enum metrics_format format, struct text *out);

/* Requests answered, by what with. */
enum http_answer {
	HTTP_OK, HTTP_UNAUTHORIZED, HTTP_NOT_FOUND, HTTP_NOT_ALLOWED, HTTP_FAILED, HTTP_BUSY,
	HTTP_ANSWERS
};
extern const unsigned int http_codes[HTTP_ANSWERS];

/* Return: an exit code; but for EXIT_PASS it has complained.  http_close() is due in any case. */
int http_open(struct http **http, const struct http_options *options, http_values *values,
	      void *context);
/* NULL is none. */
void http_close(struct http *http);

/* Readable when http_run() has something to do; milliseconds after which it has in any case, or -1. */
int http_fd(const struct http *http);
int http_timeout_ms(const struct http *http);
void http_run(struct http *http);

uint64_t http_answered(const struct http *http, enum http_answer answer);

#endif
