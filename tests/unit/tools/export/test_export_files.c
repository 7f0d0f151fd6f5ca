/* SPDX-License-Identifier: MIT */
/* The file for node_exporter, and the file of passwords. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check_run.h"
#include "exit_code.h"
#include "longest_file.h"
#include "password.h"
#include "said.h"
#include "storage_fails.h"
#include "textfile.h"

static char folder[] = "/tmp/test_export_XXXXXX", path[64], beside[64];
static struct passwords passwords;

static void start(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	snprintf(beside, sizeof(beside), "%s/file.%ld", folder, (long)getpid());
	passwords = (struct passwords){ 0 };
}

static void stop(void)
{
	storage_left = -1;
	passwords_free(&passwords);
	unlink(path);
	unlink(beside);
	ck_assert_int_eq(rmdir(folder), 0);
}

static void ck_file(const char *wanted)
{
	char bytes[256] = "";
	int fd = open(path, O_RDONLY);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, bytes, sizeof(bytes) - 1), (ssize_t)strlen(wanted));
	ck_assert_str_eq(bytes, wanted);
	close(fd);
	ck_assert_int_eq(access(beside, F_OK), -1);
}

static int write_text(const char *words)
{
	char bytes[64];
	const struct text text = { .bytes = bytes, .len = strlen(words) };

	strcpy(bytes, words);
	return textfile_write(path, &text);
}

/* Whoever has the old file open keeps it whole. */
START_TEST(textfile_is_replaced)
{
	char bytes[16] = "";
	int fd;

	ck_assert_int_eq(write_text("one\n"), 0);
	ck_file("one\n");
	fd = open(path, O_RDONLY);
	ck_assert_int_eq(write_text("two\n"), 0);
	ck_file("two\n");
	ck_assert_int_eq(read(fd, bytes, sizeof(bytes)), 4);
	ck_assert_str_eq(bytes, "one\n");
	close(fd);
	ck_assert_int_eq(write_text(""), 0);
	ck_file("");
}
END_TEST

START_TEST(textfile_that_cannot_be_written)
{
	ck_assert_int_eq(write_text("old\n"), 0);
	longest_file(4);
	ck_assert_int_eq(write_text("too long\n"), -EFBIG);
	ck_file("old\n");
	ck_assert_int_eq(write_text("new\n"), 0);
	ck_file("new\n");
	longest_file(RLIM_INFINITY);
	/* A link beside it leads nowhere else. */
	ck_assert_int_eq(symlink("/dev/null", beside), 0);
	ck_assert_int_eq(write_text("other\n"), -ELOOP);
	ck_assert_int_eq(unlink(beside), 0);
	ck_file("new\n");
	/* A folder of this name is not replaced. */
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(write_text("x\n"), -EISDIR);
	ck_assert_int_eq(access(beside, F_OK), -1);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

/* "se:cret" by bcrypt, in the three ways that it is marked as, and by SHA-512. */
#define BCRYPT "05$aaaaaaaaaaaaaaaaaaaaaeSbtCjow3Cq0UmJMn54x1VhZFBwGT/IK"
#define SHA512 "$6$abcdefgh$x0o6yD48j5ARRWoAMCR7LyNAWftPgohpTO.7j6t6LpTHU7.o.QoRxMMr0cKvnus44//Pxz.RElGv2Bdbw0Kmz1"

static int read_passwords(const char *text, const char **said_text)
{
	struct said said;
	FILE *file = fopen(path, "w");
	int code;

	fputs(text, file);
	fclose(file);
	said = said_begin(2);
	code = passwords_read(&passwords, path);
	*said_text = said_end(&said);
	return code;
}

START_TEST(right_passwords)
{
	const char *text;

	ck_assert_int_eq(read_passwords("# who\n\nbob:$2y$" BCRYPT "\ncarol:$2b$" BCRYPT
					"\ndave:" SHA512, &text), EXIT_PASS);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(passwords.count, 3);
	for (int again = 0; again < 2; again++) {
		ck_assert(passwords_right(&passwords, "bob", "se:cret"));
		ck_assert(passwords_right(&passwords, "carol", "se:cret"));
		ck_assert(passwords_right(&passwords, "dave", "se:cret"));
	}
	ck_assert(!passwords_right(&passwords, "bob", "se:cre"));
	ck_assert(!passwords_right(&passwords, "bob", "se:crett"));
	ck_assert(!passwords_right(&passwords, "bob", ""));
	ck_assert(!passwords_right(&passwords, "", "se:cret"));
	ck_assert(!passwords_right(&passwords, "erin", "se:cret"));
	/* The same bytes, divided otherwise. */
	ck_assert(passwords_right(&passwords, "bob", "se:cret"));
	ck_assert(!passwords_right(&passwords, "bob:se", "cret"));
}
END_TEST

/* User and password together have room for 255 bytes. */
START_TEST(long_passwords)
{
	char password[300];
	const char *text;

	ck_assert_int_eq(read_passwords("bob:$2y$" BCRYPT "\n", &text), EXIT_PASS);
	memset(password, 'a', sizeof(password));
	password[299] = '\0';
	ck_assert(!passwords_right(&passwords, "bob", password));
	ck_assert(passwords_right(&passwords, "bob", "se:cret"));
}
END_TEST

/* What was right is remembered: without storage no hash can be computed. */
START_TEST(remembered_password)
{
	const char *text;
	bool right;

	ck_assert_int_eq(read_passwords("bob:$2y$" BCRYPT "\n", &text), EXIT_PASS);
	storage_left = 0;
	right = passwords_right(&passwords, "bob", "se:cret");
	ck_assert(!right);
	ck_assert(passwords_right(&passwords, "bob", "se:cret"));
	storage_left = 0;
	right = passwords_right(&passwords, "bob", "se:cret");
	ck_assert(right && storage_left == 0);
	storage_left = -1;
}
END_TEST

/* "line NUMBER of the password file FILE cannot be used: WHAT"; of line 0 "the password file FILE WHAT" */
static void ck_wrong(const char *text, unsigned int number, const char *what)
{
	char sentence[300];
	const char *said_text;

	ck_assert_int_eq(read_passwords(text, &said_text), EXIT_USAGE);
	if (number)
		snprintf(sentence, sizeof(sentence),
			 ": line %u of the password file %s cannot be used: %s\n", number, path, what);
	else
		snprintf(sentence, sizeof(sentence), ": the password file %s %s\n", path, what);
	ck_assert_str_eq(strchr(said_text, ':'), sentence);
	passwords_free(&passwords);
}

#define FORM "it is not of the form USER:HASH"
#define UNSAFE \
	"its hash is none of bcrypt or another method that is safe; 'htpasswd -nB USER' makes one"

START_TEST(wrong_files)
{
	static char text[66 * 80], line[600];
	struct said said;
	char *at = text;

	ck_wrong("bob\n", 1, FORM);
	ck_wrong("#\n:$2y$" BCRYPT "\n", 2, FORM);
	ck_wrong("a:secret\n", 1, UNSAFE);
	ck_wrong("a:$1$abcdefgh$G//4keteveJp0qb8z2DxG/\n", 1, UNSAFE);
	ck_wrong("a:_J9..rasmBYk8r9AiWNc\n", 1, UNSAFE);
	ck_wrong("a:abJnggxhB/yWI\n", 1, UNSAFE);
	ck_wrong("\n# nobody\n", 0, "has no user");
	memset(line, '#', 511);
	ck_wrong(line, 1, "it is longer than 510 characters");
	line[510] = '\n';
	line[511] = '\0';
	ck_wrong(line, 0, "has no user");
	for (int i = 0; i < 65; i++)
		at += sprintf(at, "u%d:$2y$" BCRYPT "\n", i);
	ck_wrong(text, 65, "there are more than 64 users");
	said = said_begin(2);
	ck_assert_int_eq(passwords_read(&passwords, "/no/such"), EXIT_USAGE);
	ck_assert_str_eq(strchr(said_end(&said), ':'), ": the password file /no/such cannot be read: "
			 "No such file or directory\n");
	said = said_begin(2);
	ck_assert_int_eq(passwords_read(&passwords, "/tmp"), EXIT_USAGE);
	ck_assert_str_eq(strchr(said_end(&said), ':'), ": the password file /tmp cannot be read: Is a "
			 "directory\n");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		textfile_is_replaced, textfile_that_cannot_be_written, right_passwords, long_passwords,
		remembered_password, wrong_files,
	};

	return check_run("export_files", start, stop, tests, sizeof(tests) / sizeof(tests[0]));
}
