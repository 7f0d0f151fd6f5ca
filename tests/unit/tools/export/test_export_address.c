/* SPDX-License-Identifier: MIT */
/* Addresses to listen at: what is one, who can connect then, what is said of those in use. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "address.h"
#include "check_run.h"
#include "said.h"

START_TEST(forms)
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
END_TEST

static struct sockaddr_in name_of(int fd)
{
	struct sockaddr_in name = { 0 };
	socklen_t len = sizeof(name);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&name, &len), 0);
	return name;
}

/* A port alone is of this machine alone. */
START_TEST(this_machine_alone)
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
END_TEST

/* The error with which sockets of IPv6 fail, 0: none. */
static int without_v6;

int __real_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol);
int __wrap_socket(int domain, int type, int protocol)
{
	if (domain != AF_INET6 || without_v6 == 0)
		return __real_socket(domain, type, protocol);
	errno = without_v6;
	return -1;
}

/* Without IPv6, all addresses are those of IPv4. */
START_TEST(everybody_without_v6)
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
END_TEST

/* Both families, if this machine has both. */
START_TEST(everybody)
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
END_TEST

/* One in use, one that the machine has not. */
START_TEST(refused)
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
END_TEST

int main(void)
{
	const TTest *const tests[] = { forms, this_machine_alone, everybody,
				       everybody_without_v6, refused };

	return check_run("export_address", NULL, NULL, tests, sizeof(tests) / sizeof(tests[0]));
}
