/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* crypt_r(), explicit_bzero() */
#include "password.h"

#include <crypt.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exit_code.h"
#include "say.h"

/* All of both is looked at, whatever it is. */
static bool same(const char *a, const char *b, size_t len)
{
	unsigned char difference = 0;

	for (size_t i = 0; i < len; i++)
		difference |= (unsigned char)a[i] ^ (unsigned char)b[i];
	return difference == 0;
}

/* What is wrong with a line, without its end; NULL: nothing, and it is among the users. */
static const char *take_line(struct passwords *passwords, const char *line)
{
	const char *colon = strchr(line, ':');
	struct password_user *user = &passwords->user[passwords->count];

	if (!*line || *line == '#')
		return NULL;
	if (!colon || colon == line)
		return "it is not of the form USER:HASH";
	if (crypt_checksalt(colon + 1) != CRYPT_SALT_OK || colon[1] != '$')
		return "its hash is none of bcrypt or another method that is safe; 'htpasswd -nB USER' makes one";
	if (passwords->count == PASSWORD_USERS_MAX)
		return "there are more than 64 users";
	user->name = strdup(line);
	if (!user->name)
		return "there is not enough memory";
	user->name[colon - line] = '\0';
	user->hash = user->name + (colon - line) + 1;
	passwords->count++;
	return NULL;
}

int passwords_read(struct passwords *passwords, const char *file)
{
	FILE *in = fopen(file, "re");
	char line[PASSWORD_LINE_MAX];
	const char *wrong = NULL;
	unsigned int number = 0;

	*passwords = (struct passwords){ .count = 0 };
	if (!in) {
		say("the password file %s cannot be read: %s", file, strerror(errno));
		return EXIT_USAGE;
	}
	while (!wrong && fgets(line, sizeof(line), in)) {
		const size_t len = strcspn(line, "\n");

		number++;
		wrong = len == sizeof(line) - 1 ? "it is longer than 510 characters" : NULL;
		line[len] = '\0';
		if (!wrong)
			wrong = take_line(passwords, line);
	}
	if (wrong)
		say("line %u of the password file %s cannot be used: %s", number, file, wrong);
	else if (ferror(in))
		say("the password file %s cannot be read: %s", file, strerror(errno));
	else if (!passwords->count)
		say("the password file %s has no user", file);
	number = wrong || ferror(in) || !passwords->count;
	fclose(in);
	return number ? EXIT_USAGE : EXIT_PASS;
}

void passwords_free(struct passwords *passwords)
{
	for (size_t i = 0; i < passwords->count; i++)
		free(passwords->user[i].name);
	explicit_bzero(passwords, sizeof(*passwords));
}

/* Computes, which takes its time. */
static bool matches(const char *password, const char *hash)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	const char *made = data ? crypt_r(password, hash, data) : NULL;
	const size_t len = strlen(hash);
	const bool right = made && strlen(made) == len && same(made, hash, len);

	if (data)
		explicit_bzero(data, sizeof(*data));
	free(data);
	return right;
}

/* "USER:PASSWORD", and zeros behind it.  Return: false if it is too long, or ambiguous. */
static bool join(char *both, const char *user, const char *password)
{
	memset(both, 0, PASSWORD_MAX);
	return (size_t)snprintf(both, PASSWORD_MAX, "%s:%s", user, password) < PASSWORD_MAX &&
	       !strchr(user, ':');
}

bool passwords_known(const struct passwords *passwords, const char *user, const char *password)
{
	char both[PASSWORD_MAX];
	bool known = false, whole = join(both, user, password);

	for (size_t i = 0; i < passwords->count; i++)
		known |= same(both, passwords->user[i].right, PASSWORD_MAX);
	explicit_bzero(both, sizeof(both));
	return known && whole;
}

static size_t find(const struct passwords *passwords, const char *user)
{
	size_t found = passwords->count;

	for (size_t i = 0; i < passwords->count; i++)
		if (strcmp(passwords->user[i].name, user) == 0)
			found = i;
	return found;
}

bool passwords_compute(const struct passwords *passwords, const char *user, const char *password)
{
	const size_t found = find(passwords, user);
	const bool there = found < passwords->count;
	char both[PASSWORD_MAX];
	const bool whole = join(both, user, password);

	explicit_bzero(both, sizeof(both));
	return whole && matches(password, passwords->user[there ? found : 0].hash) && there;
}

void passwords_remember(struct passwords *passwords, const char *user, const char *password)
{
	const size_t found = find(passwords, user);

	if (found < passwords->count)
		(void)join(passwords->user[found].right, user, password);
}
