/* SPDX-License-Identifier: MIT */
/* The file for node_exporter, the file of passwords, and what is said of them. */
#define _GNU_SOURCE /* fopencookie() */
#include <crypt.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "exit_code.h"
#include "longest_file.h"
#include "password.h"
#include "said.h"
#include "say.h"
#include "scratch.h"
#include "storage_fails.h"
#include "textfile.h"
#include "unit_test.h"

static char path[64], beside[64];
static struct passwords passwords;

/* The error with which each fails, 0: none; bytes that a call of write(2) takes; flags of open(2). */
static int write_error, close_error, print_error, read_error;
static size_t write_most = SIZE_MAX, writes_before_error;
static int opened_with;
static bool write_nothing;
/* Hashes that were computed; what one is, in place of computing it. */
static unsigned int computed;
static char *hash_is;
static bool no_hash;
/* Bytes that were wiped. */
static size_t wiped;

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	opened_with = flags;
	return __real_open(name, flags, mode);
}

ssize_t __real_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len);
ssize_t __wrap_write(int fd, const void *bytes, size_t len)
{
	if (write_nothing) {
		write_nothing = false;
		errno = 0;
		return 0;
	}
	if (write_error && writes_before_error-- == 0) {
		errno = write_error;
		return -1;
	}
	return __real_write(fd, bytes, len < write_most ? len : write_most);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	const int ret = __real_close(fd);

	if (!close_error)
		return ret;
	errno = close_error;
	close_error = 0;
	return -1;
}

int __wrap_asprintf(char **made, const char *format, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **made, const char *format, ...)
{
	va_list arguments;
	int len;

	if (print_error)
		return -1;
	va_start(arguments, format);
	len = vasprintf(made, format, arguments);
	va_end(arguments);
	return len;
}

char *__real_crypt_r(const char *password, const char *hash, struct crypt_data *data);
char *__wrap_crypt_r(const char *password, const char *hash, struct crypt_data *data);
char *__wrap_crypt_r(const char *password, const char *hash, struct crypt_data *data)
{
	computed++;
	if (no_hash || hash_is)
		return hash_is;
	return __real_crypt_r(password, hash, data);
}

void __real_explicit_bzero(void *bytes, size_t len);
void __wrap_explicit_bzero(void *bytes, size_t len);
void __wrap_explicit_bzero(void *bytes, size_t len)
{
	wiped += len;
	__real_explicit_bzero(bytes, len);
}

/* A line, and then an error. */
static ssize_t read_one_line(void *cookie, char *bytes, size_t len)
{
	const char **line = cookie;
	size_t line_len;

	if (!*line) {
		errno = read_error;
		return -1;
	}
	line_len = strlen(*line);
	ck_assert_uint_le(line_len, len);
	memcpy(bytes, *line, line_len);
	*line = NULL;
	return (ssize_t)line_len;
}

FILE *__real_fopen(const char *name, const char *how);
FILE *__wrap_fopen(const char *name, const char *how);
FILE *__wrap_fopen(const char *name, const char *how)
{
	static const char *line;

	if (!read_error || strcmp(how, "re") != 0)
		return __real_fopen(name, how);
	line = "bob:$2y$05$aaaaaaaaaaaaaaaaaaaaaeSbtCjow3Cq0UmJMn54x1VhZFBwGT/IK\n";
	return fopencookie(&line, "r", (cookie_io_functions_t){ .read = read_one_line });
}

static void start(void)
{
	folder_make();
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

CASE("export_files", start, stop);

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

/* A reader that has the old file open still sees all of it. */
TEST(textfile_is_replaced)
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

TEST(textfile_that_cannot_be_written)
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

/* A disk takes a part at a time. */
TEST(textfile_in_parts)
{
	FILE *left;

	ck_assert_int_eq(write_text("old\n"), 0);
	write_most = 3;
	write_nothing = true;
	ck_assert_int_eq(write_text("0123456789\n"), 0);
	ck_file("0123456789\n");
	write_error = EIO;
	writes_before_error = 2;
	ck_assert_int_eq(write_text("new new new\n"), -EIO);
	write_error = 0;
	ck_file("0123456789\n");
	/* What was left beside it, by one that was killed. */
	left = fopen(beside, "w");
	fputs("much more than there will be\n", left);
	fclose(left);
	ck_assert_int_eq(write_text("short\n"), 0);
	ck_file("short\n");
}

/* Some errors come only with the end; the first one counts. */
TEST(textfile_whose_end_fails)
{
	ck_assert_int_eq(write_text("old\n"), 0);
	close_error = EDQUOT;
	ck_assert_int_eq(write_text("new\n"), -EDQUOT);
	ck_file("old\n");
	close_error = EDQUOT;
	write_error = ENOSPC;
	writes_before_error = 0;
	ck_assert_int_eq(write_text("new\n"), -ENOSPC);
	write_error = 0;
	ck_file("old\n");
	print_error = ENOMEM;
	ck_assert_int_eq(write_text("new\n"), -ENOMEM);
	ck_file("old\n");
}

/* Zero is a descriptor as any other. */
TEST(textfile_with_descriptor_zero)
{
	close(0);
	ck_assert_int_eq(write_text("new\n"), 0);
	ck_file("new\n");
	ck_assert_int_eq(fcntl(0, F_GETFD), -1);
}

/* Others may read it, and no program that is started has it open. */
TEST(mode_of_the_textfile)
{
	const mode_t before = umask(0);
	struct stat stat;

	ck_assert_int_eq(write_text("new\n"), 0);
	umask(before);
	ck_assert(opened_with & O_CLOEXEC);
	ck_assert_int_eq(lstat(path, &stat), 0);
	ck_assert_int_eq(stat.st_mode, S_IFREG | 0644);
}

/* "se:cret" by bcrypt, in the three ways that it is marked as, and by SHA-512. */
#define BCRYPT "05$aaaaaaaaaaaaaaaaaaaaaeSbtCjow3Cq0UmJMn54x1VhZFBwGT/IK"
#define SHA512 "$6$abcdefgh$x0o6yD48j5ARRWoAMCR7LyNAWftPgohpTO.7j6t6LpTHU7.o.QoRxMMr0cKvnus44//Pxz.RElGv2Bdbw0Kmz1"

static int read_passwords(const char *text, const char **said_text)
{
	/* No assertion: Check takes storage for each, which may have run out. */
	FILE *file = fopen(path, "w");
	struct said said;
	int code;

	fputs(text, file);
	fclose(file);
	said = said_begin(2);
	code = passwords_read(&passwords, path);
	*said_text = said_end(&said);
	return code;
}

/* As who asks for values finds it: known, or computed and known from then on. */
static bool passwords_right(struct passwords *of, const char *user, const char *password)
{
	if (passwords_known(of, user, password))
		return true;
	if (!passwords_compute(of, user, password))
		return false;
	passwords_remember(of, user, password);
	return true;
}

TEST(right_passwords)
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

/* User and password together have room for 255 bytes. */
TEST(long_passwords)
{
	struct crypt_data *data = calloc(1, sizeof(*data));
	char password[300], line[600];
	const char *text;

	memset(password, 'a', sizeof(password));
	password[251] = '\0';
	snprintf(line, sizeof(line), "bob:%s\n",
		 __real_crypt_r(password, "$6$rounds=1000$abcdefgh", data));
	free(data);
	ck_assert_int_eq(read_passwords(line, &text), EXIT_PASS);
	ck_assert(!passwords_right(&passwords, "bob", "a"));
	ck_assert(passwords_right(&passwords, "bob", password));
	ck_assert(passwords_right(&passwords, "bob", password));
	password[251] = 'a';
	password[252] = '\0';
	computed = 0;
	ck_assert(!passwords_right(&passwords, "bob", password));
	password[252] = 'a';
	password[299] = '\0';
	ck_assert(!passwords_right(&passwords, "bob", password));
	ck_assert_uint_eq(computed, 0);
}

/* Each byte counts, also after the right ones were remembered. */
TEST(each_byte_of_a_password)
{
	static const char user[] = "bob", password[] = "se:cret";
	const char *text;

	ck_assert_int_eq(read_passwords("bob:$2y$" BCRYPT "\n", &text), EXIT_PASS);
	for (size_t i = 0; i < 3 + 7; i++) {
		char other_user[sizeof(user)], other_password[sizeof(password)];

		strcpy(other_user, user);
		strcpy(other_password, password);
		if (i < 3)
			other_user[i] ^= 1;
		else
			other_password[i - 3] ^= 1;
		ck_assert(passwords_right(&passwords, user, password));
		ck_assert_msg(!passwords_right(&passwords, other_user, other_password), "%zu", i);
	}
}

/* One hash is computed, whether there is such a user or not; none for what was right before. */
TEST(hashes_are_computed)
{
	const char *text;

	ck_assert_int_eq(read_passwords("bob:$2y$" BCRYPT "\n", &text), EXIT_PASS);
	ck_assert(!passwords_right(&passwords, "bob", "secret"));
	ck_assert_uint_eq(computed, 1);
	ck_assert(!passwords_right(&passwords, "carol", "se:cret"));
	ck_assert_uint_eq(computed, 2);
	ck_assert(passwords_right(&passwords, "bob", "se:cret"));
	ck_assert_uint_eq(computed, 3);
	wiped = 0;
	ck_assert(passwords_right(&passwords, "bob", "se:cret"));
	ck_assert_uint_eq(wiped, PASSWORD_MAX);
	ck_assert_uint_eq(computed, 3);
	ck_assert(!passwords_right(&passwords, "bob:se", "cret"));
	ck_assert_uint_eq(computed, 3);
	/* Nothing of it stays in storage. */
	wiped = 0;
	ck_assert(!passwords_right(&passwords, "bob", "x"));
	ck_assert_uint_eq(wiped, 2 * PASSWORD_MAX + sizeof(struct crypt_data));
}

/* An error token of libcrypt is not taken for a hash. */
TEST(hashes_that_are_none)
{
	static char begin[] = "$2y$05$aaaaaaaaaaaaaaaaaaaaaeSbtCjow3Cq0UmJMn54x1VhZFBwGT/I";
	static char failed[] = "*0", empty[] = "", longer[] = "$2y$" BCRYPT "a";
	char *const hashes[] = { begin, failed, empty, longer };
	const char *text;

	ck_assert_int_eq(read_passwords("bob:$2y$" BCRYPT "\n", &text), EXIT_PASS);
	no_hash = true;
	ck_assert(!passwords_right(&passwords, "bob", "se:cret"));
	for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
		hash_is = hashes[i];
		ck_assert(!passwords_right(&passwords, "bob", "se:cret"));
	}
	no_hash = false;
	hash_is = NULL;
	ck_assert(passwords_right(&passwords, "bob", "se:cret"));
}

/* As many users as there may be; afterwards nothing of them is left. */
TEST(all_users)
{
	static const struct passwords none;
	static char text[64 * 80];
	const char *said_text;
	char *at = text;

	for (int i = 0; i < 64; i++)
		at += sprintf(at, "u%d:$2y$" BCRYPT "\n", i);
	memset(&passwords, 0x55, sizeof(passwords));
	ck_assert_int_eq(read_passwords(text, &said_text), EXIT_PASS);
	ck_assert_uint_eq(passwords.count, 64);
	ck_assert(passwords_right(&passwords, "u0", "se:cret"));
	ck_assert(passwords_right(&passwords, "u63", "se:cret"));
	ck_assert(!passwords_right(&passwords, "u64", "se:cret"));
	passwords_free(&passwords);
	ck_assert_mem_eq(&passwords, &none, sizeof(none));
}

/* A correct password is remembered: without storage no hash can be computed. */
TEST(remembered_password)
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

TEST(wrong_files)
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
	ck_wrong("bob:$2y$" BCRYPT "\ncarol\n", 2, FORM);
	ck_wrong("bob:$2y$" BCRYPT "\ncarol:x\n", 2, UNSAFE);
	said = said_begin(2);
	ck_assert_int_eq(passwords_read(&passwords, "/no/such"), EXIT_USAGE);
	ck_assert_str_eq(strchr(said_end(&said), ':'), ": the password file /no/such cannot be read: "
			 "No such file or directory\n");
	said = said_begin(2);
	ck_assert_int_eq(passwords_read(&passwords, "/tmp"), EXIT_USAGE);
	ck_assert_str_eq(strchr(said_end(&said), ':'), ": the password file /tmp cannot be read: Is a "
			 "directory\n");
}

/* A file that ends with an error has none of its users; nor has one that there is no storage for. */
TEST(files_that_cannot_be_read)
{
	char wanted[160];
	const char *text;

	read_error = EIO;
	snprintf(wanted, sizeof(wanted), ": the password file %s cannot be read: Input/output error\n",
		 path);
	ck_assert_int_eq(read_passwords("", &text), EXIT_USAGE);
	ck_assert_str_eq(strchr(text, ':'), wanted);
	passwords_free(&passwords);
	read_error = 0;
	storage_left = 0;
	snprintf(wanted, sizeof(wanted), ": line 1 of the password file %s cannot be used: there is not "
		 "enough memory\n", path);
	ck_assert_int_eq(read_passwords("bob:$2y$" BCRYPT "\n", &text), EXIT_USAGE);
	ck_assert_str_eq(strchr(text, ':'), wanted);
	ck_assert_uint_eq(passwords.count, 0);
}

/* After what was printed before; a sentence has room for 1,023 characters. */
TEST(sentences)
{
	static char longest[1200], wanted[1200];
	struct said out = said_begin(1), said;
	int before;

	/* Both to one file. */
	before = dup(2);
	dup2(1, 2);
	printf("first ");
	say("%s%d", "then ", 2);
	printf("last\n");
	fflush(stdout);
	dup2(before, 2);
	close(before);
	ck_assert_str_eq(said_end(&out), "first test_export_files: then 2\nlast\n");
	memset(longest, 'x', sizeof(longest) - 1);
	said = said_begin(2);
	say("%s", longest);
	snprintf(wanted, sizeof(wanted), "test_export_files: %.1023s\n", longest);
	ck_assert_str_eq(said_end(&said), wanted);
}
