/* SPDX-License-Identifier: MIT */
/*
 * zvmlab-system SOCKET [KEY=VALUE…]: one CP for several emulators, which connect to the socket.
 *
 * The keys are those of cp_config_set() that a system has: level, machine, segment; user, which can be
 * repeated: a user ID that the directory has, and below it lines KEY=VALUE of the user's machine, which
 * are checked; and turn: machines take turns of so many microseconds
 * (turns.c).  A line "start NAME" on standard output asks for the machine of a user, by XAUTOLOG.
 * Standard input takes orders (orders.c).  It ends with SIGTERM, SIGINT or SIGHUP, and its members with
 * it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "system_process.h"

#define USER "user"
#define TURN "turn"
/* Shorter ones cost more than they show, and in longer ones nobody hears of anybody. */
#define TURN_MIN_US 10u
#define TURN_MAX_US 1000000u

static int fail(const char *text)
{
	fprintf(stderr, "zvmlab-system: %s\n", text);
	return EXIT_FAILURE;
}

static bool is_known(const char *key)
{
	static const char *const keys[] = { "level", "machine", "segment", USER, TURN };

	for (unsigned int i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* Users are left to add_users(). */
static int configure(struct cp_config *config, char **options, char *err, size_t errlen)
{
	for (; *options; options++) {
		char *value = strchr(*options, '=');

		if (!value) {
			snprintf(err, errlen, "%s is not KEY=VALUE", *options);
			return -1;
		}
		*value = '\0';
		if (!is_known(*options)) {
			snprintf(err, errlen, "a system has no option %s (level, machine, segment, "
				 USER ", " TURN ")", *options);
			return -1;
		}
		if (strcmp(*options, USER) != 0 && strcmp(*options, TURN) != 0 &&
		    cp_config_set(config, *options, value + 1, err, errlen) != 0)
			return -1;
	}
	return 0;
}

/* Keys and values are strings of their own by now. */
static int add_users(struct sys *sys, char **options, char *err, size_t errlen)
{
	for (; *options; options++) {
		char *machine = *options + sizeof(USER), *userid;

		if (strcmp(*options, USER) != 0)
			continue;
		userid = strsep(&machine, "\n");
		if (sys_add_user(sys, userid, machine, err, errlen) != 0)
			return -1;
	}
	return 0;
}

/* Return: 0, or -1 with the reason; *@ns: 0 if none is given. */
static int turn_of(char **options, uint64_t *ns, char *err, size_t errlen)
{
	*ns = 0;
	for (; *options; options++) {
		const char *value = *options + sizeof(TURN);
		unsigned long us;
		char *end;

		if (strcmp(*options, TURN) != 0)
			continue;
		us = strtoul(value, &end, 10);
		if (*end || us < TURN_MIN_US || us > TURN_MAX_US) {
			snprintf(err, errlen, TURN " \"%.32s\": expected microseconds from %u to %u",
				 value, TURN_MIN_US, TURN_MAX_US);
			return -1;
		}
		*ns = us * 1000;
	}
	return 0;
}

/* A machine takes a dozen descriptors, and 32 clients of its socket. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	struct cp_config config;
	struct sys *sys = NULL;
	uint64_t turn_ns;
	char err[512];
	int result, signals;

	if (argc < 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: zvmlab-system SOCKET [KEY=VALUE...]\n");
		return 2;
	}
	allow_descriptors();
	cp_config_init(&config);
	if (configure(&config, argv + 2, err, sizeof(err)) == 0 &&
	    turn_of(argv + 2, &turn_ns, err, sizeof(err)) == 0)
		sys = sys_open(&config, sys_time_of_day, STDOUT_FILENO, turn_ns, err, sizeof(err));
	cp_config_fini(&config);
	if (!sys)
		return fail(err);
	/* Who finds the socket may end us, or close it on us, at once. */
	signals = watch_signals();
	if (add_users(sys, argv + 2, err, sizeof(err)) != 0 ||
	    sys_listen(sys, argv[1], err, sizeof(err)) != 0) {
		sys_close(sys);
		return fail(err);
	}
	/* A file has none, and needs not be refused. */
	(void)sys_take_orders(sys, STDIN_FILENO);
	result = sys_run(sys, signals) == 0 ? EXIT_SUCCESS : fail(strerror(errno));
	close(signals);
	sys_close(sys);
	return result;
}
