/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* SOCK_CLOEXEC */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "number.h"
#include "say.h"

/* Connections that wait to be taken. */
#define BACKLOG 16
#define HOST_SIZE 48u

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct place {
	union address address;
	socklen_t len;
	bool all;		/* of IPv4, too, if it is of IPv6 */
};

static void set_v4(struct place *place, struct in_addr host, uint16_t port)
{
	place->address.v4 = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = host,
	};
	place->len = sizeof(place->address.v4);
}

static void set_v6(struct place *place, struct in6_addr host, uint16_t port)
{
	place->address.v6 = (struct sockaddr_in6){
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = host,
	};
	place->len = sizeof(place->address.v6);
}

/* @len characters at @word, without the brackets if it has them. */
static bool parse_host(const char *word, size_t len, uint16_t port, struct place *place)
{
	const bool brackets = word[0] == '[' && word[len - 1] == ']';
	struct in_addr v4 = { .s_addr = htonl(INADDR_LOOPBACK) };
	struct in6_addr v6;
	char host[HOST_SIZE];

	if (len >= sizeof(host))
		return false;
	memcpy(host, word + brackets, len - 2 * brackets);
	host[len - 2 * brackets] = '\0';
	if (brackets) {
		if (inet_pton(AF_INET6, host, &v6) != 1)
			return false;
		set_v6(place, v6, port);
		return true;
	}
	if (strcmp(host, "localhost") != 0 && inet_pton(AF_INET, host, &v4) != 1)
		return false;
	set_v4(place, v4, port);
	return true;
}

static bool parse(const char *word, struct place *place)
{
	const char *colon = strrchr(word, ':');
	uint64_t port;

	place->all = colon == word;
	if (!number_parse(colon ? colon + 1 : word, 0, UINT16_MAX, &port))
		return false;
	if (!colon)
		return parse_host("localhost", strlen("localhost"), (uint16_t)port, place);
	if (!place->all)
		return parse_host(word, (size_t)(colon - word), (uint16_t)port, place);
	set_v6(place, in6addr_any, (uint16_t)port);
	return true;
}

bool address_is(const char *word)
{
	struct place place;

	return parse(word, &place);
}

/* Return: a descriptor or -errno. */
static int listen_at(const struct place *place)
{
	const int on = true, only = !place->all;
	int fd = socket(place->address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret = 0;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (place->address.any.sa_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only)))
		ret = -errno;
	if (!ret && (bind(fd, &place->address.any, place->len) || listen(fd, BACKLOG)))
		ret = -errno;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* Explain the errors of bind(2). */
static const char *reason(int error)
{
	switch (error) {
	case EADDRINUSE:
		return "another program listens at this port";
	case EADDRNOTAVAIL:
		return "this machine does not have this address";
	case EACCES:
		return "ports below 1024 need privilege";
	default:
		return strerror(error);
	}
}

int address_listen(const char *word)
{
	struct place place;
	int fd = -EINVAL;

	if (parse(word, &place))
		fd = listen_at(&place);
	/* A machine without IPv6 has all addresses in IPv4. */
	if (place.all && (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)) {
		set_v4(&place, (struct in_addr){ INADDR_ANY },
		       ntohs(place.address.v6.sin6_port));
		fd = listen_at(&place);
	}
	if (fd >= 0)
		return fd;
	say("cannot listen at %s: %s", word, reason(-fd));
	return -1;
}

const char *address_text(int fd, char text[ADDRESS_TEXT_SIZE])
{
	union address address;
	socklen_t len = sizeof(address);
	char host[INET6_ADDRSTRLEN];

	if (getsockname(fd, &address.any, &len)) {
		snprintf(text, ADDRESS_TEXT_SIZE, "?");
	} else if (address.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &address.v6.sin6_addr, host, sizeof(host));
		snprintf(text, ADDRESS_TEXT_SIZE, "[%s]:%u", host, ntohs(address.v6.sin6_port));
	} else {
		inet_ntop(AF_INET, &address.v4.sin_addr, host, sizeof(host));
		snprintf(text, ADDRESS_TEXT_SIZE, "%s:%u", host, ntohs(address.v4.sin_port));
	}
	return text;
}
