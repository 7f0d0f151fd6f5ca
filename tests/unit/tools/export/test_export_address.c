/* SPDX-License-Identifier: MIT */
/* Addresses to listen at: what is one, who can connect then, what is said of those in use. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "address.h"
#include "said.h"
#include "unit_test.h"

TEST(forms)
{
	static const char *const right[] = {
		"0", "1", "9811", "65535", ":0", ":65535", "localhost:80", "127.0.0.1:80",
		"0.0.0.0:1", "[::1]:80", "[::]:0", "[2001:db8::1:2]:443",
		"[0000:0000:0000:0000:0000:ffff:255.255.255.255]:1",
	};
	static const char *const wrong[] = {
		"", ":", "65536", ":65536", "-1", "+1", "1 ", " 1", "80x", "localhost", "localhost:",
		"host:80", "1.2.3:80", "1.2.3.4.5:80", "256.1.1.1:80", "::1:80", "[::1]", "[::1]:",
		"[::1:80", "::1]:80", "[]:80", "[1.2.3.4]:80", "[::g]:80", "[:80", "]:80",
		"[00000000:0000:0000:0000:0000:ffff:255.255.255.255]:1", "[::1]:65536",
	};

	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		ck_assert_msg(address_is(right[i]), "%s", right[i]);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_msg(!address_is(wrong[i]), "%s", wrong[i]);
}

static struct sockaddr_in name_of(int fd)
{
	struct sockaddr_in name = { 0 };
	socklen_t len = sizeof(name);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&name, &len), 0);
	return name;
}

/* A port alone is of this machine alone. */
TEST(this_machine_alone)
{
	static const char *const words[] = { "0", "localhost:0", "127.0.0.1:0" };
	char text[ADDRESS_TEXT_SIZE], wanted[ADDRESS_TEXT_SIZE];
	int on = 0;
	socklen_t len = sizeof(on);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		int fd = address_listen(words[i]);
		struct sockaddr_in name;

		ck_assert_int_ge(fd, 0);
		name = name_of(fd);
		ck_assert_int_eq(name.sin_family, AF_INET);
		ck_assert_uint_eq(ntohl(name.sin_addr.s_addr), INADDR_LOOPBACK);
		ck_assert_uint_ne(name.sin_port, 0);
		snprintf(wanted, sizeof(wanted), "127.0.0.1:%u", ntohs(name.sin_port));
		ck_assert_str_eq(address_text(fd, text), wanted);
		ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
		ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &len), 0);
		ck_assert_int_eq(on, 1);
		close(fd);
	}
	ck_assert_str_eq(address_text(-1, text), "?");
}

/* The error with which sockets of IPv6 fail, 0: none. */
static int without_v6;

/* Records the system calls instead of making them; the call of this number fails with EACCES. */
static struct {
	bool on;
	int fails, calls;
	int domain, type, protocol, reuse, only, backlog;
	struct sockaddr_in6 name;
	socklen_t len;
	int fd;
} asked;

static bool call_fails(void)
{
	if (asked.calls++ != asked.fails)
		return false;
	errno = EACCES;
	return true;
}

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol)
{
	if (asked.on) {
		if (call_fails())
			return -1;
		asked.domain = domain;
		asked.type = type;
		asked.protocol = protocol;
		asked.fd = __real_socket(AF_INET, SOCK_STREAM, 0);
		return asked.fd;
	}
	if (domain != AF_INET6 || without_v6 == 0)
		return __real_socket(domain, type, protocol);
	errno = without_v6;
	return -1;
}

int __real_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	int number;

	if (!asked.on)
		return __real_setsockopt(fd, level, name, value, len);
	ck_assert_int_eq(fd, asked.fd);
	ck_assert_uint_eq(len, sizeof(number));
	memcpy(&number, value, sizeof(number));
	if (level == SOL_SOCKET && name == SO_REUSEADDR) {
		asked.reuse = number;
		return 0;
	}
	ck_assert(level == IPPROTO_IPV6 && name == IPV6_V6ONLY);
	asked.only = number;
	return call_fails() ? -1 : 0;
}

int __real_bind(int fd, const struct sockaddr *name, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *name, socklen_t len);
int __wrap_bind(int fd, const struct sockaddr *name, socklen_t len)
{
	if (!asked.on)
		return __real_bind(fd, name, len);
	ck_assert_int_eq(fd, asked.fd);
	ck_assert_uint_le(len, sizeof(asked.name));
	memcpy(&asked.name, name, len);
	asked.len = len;
	return call_fails() ? -1 : 0;
}

int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog)
{
	if (!asked.on)
		return __real_listen(fd, backlog);
	ck_assert_int_eq(fd, asked.fd);
	asked.backlog = backlog;
	return call_fails() ? -1 : 0;
}

/* The name of a socket that is none, if it has a family. */
static struct sockaddr_in6 named;

int __real_getsockname(int fd, struct sockaddr *name, socklen_t *len);
int __wrap_getsockname(int fd, struct sockaddr *name, socklen_t *len);
int __wrap_getsockname(int fd, struct sockaddr *name, socklen_t *len)
{
	if (named.sin6_family == AF_UNSPEC)
		return __real_getsockname(fd, name, len);
	ck_assert_int_eq(fd, 1000);
	ck_assert_uint_ge(*len, sizeof(named));
	memcpy(name, &named, sizeof(named));
	*len = sizeof(named);
	return 0;
}

static int ask(const char *word, int fails)
{
	memset(&asked, 0xff, sizeof(asked));
	asked.on = true;
	asked.calls = 0;
	asked.fails = fails;
	return address_listen(word);
}

/* IPv6 addresses in the order of RFC 4291; IPv4 addresses are in the last four bytes. */
TEST(what_the_kernel_is_asked_for)
{
	static const struct {
		const char *word;
		uint8_t address[16];
		uint16_t port;
		int domain, only;
	} cases[] = {
		{ ":9811", { 0 }, 9811, AF_INET6, 0 },
		{ "[::1]:65535", { [15] = 1 }, 65535, AF_INET6, 1 },
		{ "[2001:db8::a:2]:443", { 0x20, 1, 0x0d, 0xb8, [13] = 10, [15] = 2 }, 443, AF_INET6, 1 },
		{ ":1", { 0 }, 1, AF_INET6, 0 },
		{ "[::]:0", { 0 }, 0, AF_INET6, 1 },
		{ "258", { [12] = 127, 0, 0, 1 }, 258, AF_INET, -1 },
		{ "localhost:80", { [12] = 127, 0, 0, 1 }, 80, AF_INET, -1 },
		{ "10.1.2.3:4", { [12] = 10, 1, 2, 3 }, 4, AF_INET, -1 },
		{ "0.0.0.0:5", { 0 }, 5, AF_INET, -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sockaddr_in *v4 = (const void *)&asked.name;
		const int fd = ask(cases[i].word, -1);

		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(fd, asked.fd);
		ck_assert_int_eq(asked.domain, cases[i].domain);
		ck_assert_int_eq(asked.type, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK);
		ck_assert_int_eq(asked.protocol, 0);
		ck_assert_int_eq(asked.reuse, 1);
		ck_assert_int_eq(asked.only, cases[i].only);
		ck_assert_int_ge(asked.backlog, 1);
		ck_assert_int_eq(asked.name.sin6_family, cases[i].domain);
		ck_assert_uint_eq(ntohs(asked.name.sin6_port), cases[i].port);
		if (cases[i].domain == AF_INET) {
			ck_assert_uint_eq(asked.len, sizeof(*v4));
			ck_assert_mem_eq(&v4->sin_addr, cases[i].address + 12, 4);
		} else {
			ck_assert_uint_eq(asked.len, sizeof(asked.name));
			ck_assert_mem_eq(&asked.name.sin6_addr, cases[i].address, 16);
			ck_assert_uint_eq(asked.name.sin6_scope_id, 0);
		}
		close(fd);
	}
}

/* After any failure nothing stays open, and a message says why. */
TEST(each_error)
{
	static const struct {
		const char *word;
		int calls;
	} cases[] = { { "80", 3 }, { "[::1]:80", 4 }, { ":80", 4 } };
	char wanted[120];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int call = 0; call < cases[i].calls; call++) {
			struct said said = said_begin(2);
			const int fd = ask(cases[i].word, call);

			snprintf(wanted, sizeof(wanted),
				 ": cannot listen at %s: ports below 1024 need privilege\n",
				 cases[i].word);
			ck_assert_str_eq(strchr(said_end(&said), ':'), wanted);
			ck_assert_int_eq(fd, -1);
			/* No further one is made. */
			ck_assert_int_eq(asked.calls, call + 1);
			ck_assert_int_eq(fcntl(asked.fd, F_GETFD), -1);
		}
	}
}

/* A name as long as there is room for. */
TEST(long_names)
{
	char word[80];

	for (int len = 40; len < 60; len++) {
		snprintf(word, sizeof(word), "%0*d:80", len, 0);
		ck_assert(!address_is(word));
		snprintf(word, sizeof(word), "[%0*d]:80", len, 0);
		ck_assert(!address_is(word));
	}
}

/* Zero is a descriptor as any other. */
TEST(descriptor_zero)
{
	char text[ADDRESS_TEXT_SIZE];

	close(0);
	ck_assert_int_eq(address_listen("0"), 0);
	ck_assert_int_eq(strncmp(address_text(0, text), "127.0.0.1:", 10), 0);
	close(0);
}

/* As it is given to "--listen" again; the longest, too. */
TEST(text_of_v6)
{
	char text[ADDRESS_TEXT_SIZE];

	named.sin6_family = AF_INET6;
	named.sin6_port = htons(9811);
	named.sin6_addr = in6addr_loopback;
	ck_assert_str_eq(address_text(1000, text), "[::1]:9811");
	named.sin6_port = htons(65535);
	ck_assert_int_eq(inet_pton(AF_INET6, "2001:db8:1111:2222:3333:4444:5555:6666",
				   &named.sin6_addr), 1);
	ck_assert_str_eq(address_text(1000, text), "[2001:db8:1111:2222:3333:4444:5555:6666]:65535");
	named.sin6_family = AF_UNSPEC;
}

/* Without IPv6, all addresses are those of IPv4. */
TEST(everybody_without_v6)
{
	static const int errors[] = { EAFNOSUPPORT, EADDRNOTAVAIL };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct sockaddr_in name;
		int fd;

		without_v6 = errors[i];
		fd = address_listen(":0");
		ck_assert_int_ge(fd, 0);
		name = name_of(fd);
		ck_assert_int_eq(name.sin_family, AF_INET);
		ck_assert_uint_eq(ntohl(name.sin_addr.s_addr), INADDR_ANY);
		close(fd);
	}
	/* No other error is taken for that. */
	without_v6 = EMFILE;
	ck_assert_int_eq(address_listen(":0"), -1);
	without_v6 = 0;
}

/* Both families, if this machine has both. */
TEST(everybody)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = address_listen(":0"), four = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in name;

	ck_assert_int_ge(fd, 0);
	name = name_of(fd);
	to.sin_port = name.sin_port;
	ck_assert_int_eq(connect(four, (struct sockaddr *)&to, sizeof(to)), 0);
	close(four);
	close(fd);
}

/* One in use, one that the machine has not. */
TEST(refused)
{
	int fd = address_listen("0");
	char word[ADDRESS_TEXT_SIZE], wanted[160];
	struct said said;
	const char *text;

	address_text(fd, word);
	said = said_begin(2);
	ck_assert_int_eq(address_listen(word), -1);
	text = said_end(&said);
	snprintf(wanted, sizeof(wanted),
		 ": cannot listen at %s: another program listens at this port\n", word);
	ck_assert_str_eq(strchr(text, ':'), wanted);
	close(fd);
	said = said_begin(2);
	ck_assert_int_eq(address_listen("192.0.2.1:0"), -1);
	ck_assert_str_eq(strchr(said_end(&said), ':'), ": cannot listen at 192.0.2.1:0: this "
			 "machine does not have this address\n");
	said = said_begin(2);
	ck_assert_int_eq(address_listen("nowhere"), -1);
	ck_assert_str_eq(strchr(said_end(&said), ':'),
			 ": cannot listen at nowhere: Invalid argument\n");
	/* What was closed can be taken again at once. */
	fd = address_listen(word);
	ck_assert_int_ge(fd, 0);
	close(fd);
}
