/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* explicit_bzero() */
#include "checks.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define OLDEST_EACH 4u
/* The bytes of an IPv6 address that one client cannot choose. */
#define PREFIX 8u

enum state { FREE, WAITING, UNDER_WAY, DONE, GIVEN };

struct check {
	enum state state;
	uint64_t number;	/* in the order in which they came */
	struct in6_addr from;
	char user[PASSWORD_MAX], password[PASSWORD_MAX];
	bool right;
	void *context;
};

struct checks {
	const struct passwords *passwords;
	struct check check[CHECKS_MAX];
	uint64_t begun, turns;
	struct in6_addr last;	/* whose turn it was */
	pthread_mutex_t lock;
	pthread_cond_t more;
	bool stop;
	pthread_t thread;
	int fd;
};

static int compare(const struct in6_addr *a, const struct in6_addr *b)
{
	return memcmp(a, b, sizeof(*a));
}

/* The key that distinguishes clients. */
static struct in6_addr address_of(const struct sockaddr *from)
{
	struct in6_addr address = { 0 };
	const struct sockaddr_in6 *wide = (const void *)from;

	if (from && from->sa_family == AF_INET)
		memcpy(&address, &((const struct sockaddr_in *)(const void *)from)->sin_addr,
		       sizeof(struct in_addr));
	else if (from && from->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&wide->sin6_addr))
		memcpy(&address, &wide->sin6_addr.s6_addr[12], sizeof(struct in_addr));
	else if (from && from->sa_family == AF_INET6)
		memcpy(&address, &wide->sin6_addr, PREFIX);
	return address;
}

/* Whether the first one comes first: addresses after that of the last turn, then from the first. */
static bool comes_first(const struct checks *checks, const struct check *a, const struct check *b)
{
	const bool a_later = compare(&a->from, &checks->last) > 0;
	const bool b_later = compare(&b->from, &checks->last) > 0;
	const int order = compare(&a->from, &b->from);

	if (a_later != b_later)
		return a_later;
	if (order)
		return order < 0;
	return (checks->turns % OLDEST_EACH == 0) == (a->number < b->number);
}

static struct check *next(struct checks *checks)
{
	struct check *found = NULL;

	for (size_t i = 0; i < CHECKS_MAX; i++) {
		struct check *check = &checks->check[i];

		if (check->state == WAITING && (!found || comes_first(checks, check, found)))
			found = check;
	}
	return found;
}

static void *work(void *context)
{
	struct checks *checks = context;
	struct check *check;

	pthread_mutex_lock(&checks->lock);
	while (!checks->stop) {
		check = next(checks);
		if (!check) {
			pthread_cond_wait(&checks->more, &checks->lock);
			continue;
		}
		check->state = UNDER_WAY;
		checks->last = check->from;
		checks->turns++;
		pthread_mutex_unlock(&checks->lock);
		check->right = passwords_compute(checks->passwords, check->user, check->password);
		pthread_mutex_lock(&checks->lock);
		check->state = DONE;
		/* The only writer, and of few: it cannot fail. */
		(void)eventfd_write(checks->fd, 1);
	}
	pthread_mutex_unlock(&checks->lock);
	return NULL;
}

/* It gets none of the program's signals. */
static int start(struct checks *checks)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&checks->thread, NULL, work, checks);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

struct checks *checks_open(const struct passwords *passwords)
{
	struct checks *checks = calloc(1, sizeof(*checks));

	if (!checks)
		return NULL;
	checks->passwords = passwords;
	pthread_mutex_init(&checks->lock, NULL);
	pthread_cond_init(&checks->more, NULL);
	checks->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (checks->fd >= 0 && !start(checks))
		return checks;
	if (checks->fd >= 0)
		close(checks->fd);
	free(checks);
	return NULL;
}

void checks_stop(struct checks *checks)
{
	if (checks->stop)
		return;
	pthread_mutex_lock(&checks->lock);
	checks->stop = true;
	pthread_cond_signal(&checks->more);
	pthread_mutex_unlock(&checks->lock);
	pthread_join(checks->thread, NULL);
	for (size_t i = 0; i < CHECKS_MAX; i++)
		if (checks->check[i].state == WAITING)
			checks->check[i].state = DONE;
}

void checks_close(struct checks *checks)
{
	if (!checks)
		return;
	checks_stop(checks);
	pthread_cond_destroy(&checks->more);
	pthread_mutex_destroy(&checks->lock);
	close(checks->fd);
	explicit_bzero(checks, sizeof(*checks));
	free(checks);
}

int checks_fd(const struct checks *checks)
{
	return checks->fd;
}

/* A free one, unless there are too many; locked. */
static struct check *find_free(struct checks *checks, const struct in6_addr *from)
{
	struct check *found = NULL;
	unsigned int of_one = 0;

	for (size_t i = 0; i < CHECKS_MAX; i++) {
		struct check *check = &checks->check[i];

		if (check->state == FREE)
			found = check;
		else
			of_one += compare(&check->from, from) == 0;
	}
	return of_one < CHECKS_OF_ONE ? found : NULL;
}

struct check *checks_begin(struct checks *checks, const struct sockaddr *from, const char *user,
			   const char *password, void *context)
{
	const struct in6_addr address = address_of(from);
	const size_t user_len = strlen(user), len = strlen(password);
	struct check *check;

	if (user_len >= PASSWORD_MAX || len >= PASSWORD_MAX)
		return NULL;
	pthread_mutex_lock(&checks->lock);
	check = find_free(checks, &address);
	if (check) {
		memcpy(check->user, user, user_len + 1);
		memcpy(check->password, password, len + 1);
		check->from = address;
		check->context = context;
		check->right = false;
		check->number = checks->begun++;
		check->state = WAITING;
		pthread_cond_signal(&checks->more);
	}
	pthread_mutex_unlock(&checks->lock);
	return check;
}

struct check *checks_next_done(struct checks *checks)
{
	struct check *found = NULL;
	eventfd_t count;

	pthread_mutex_lock(&checks->lock);
	for (size_t i = 0; i < CHECKS_MAX && !found; i++)
		if (checks->check[i].state == DONE)
			found = &checks->check[i];
	if (found)
		found->state = GIVEN;
	else
		(void)eventfd_read(checks->fd, &count);
	pthread_mutex_unlock(&checks->lock);
	return found;
}

void *check_context(const struct check *check)
{
	return check->context;
}

bool check_is_right(const struct check *check)
{
	return check->right;
}

const char *check_user(const struct check *check)
{
	return check->user;
}

const char *check_password(const struct check *check)
{
	return check->password;
}

void check_end(struct checks *checks, struct check *check)
{
	pthread_mutex_lock(&checks->lock);
	explicit_bzero(check, sizeof(*check));
	pthread_mutex_unlock(&checks->lock);
}
