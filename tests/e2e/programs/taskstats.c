// SPDX-License-Identifier: MIT
/*
 * taskstats: does line by line what standard input says with a netlink socket, requests that no
 * library would send included, and prints what came.  Numbers are decimal.
 *
 *	open PORT		a socket; PORT 0: any
 *	close
 *	family			"family HEX": the answer to CTRL_CMD_GETFAMILY, attributes only
 *	send CMD FLAGS HEX	a request to TASKSTATS with these attributes; FLAGS beside
 *				REQUEST and ACK; "reply CMD HEX" for each answer, "ack ERRNO"
 *	read MS			"message CMD FLAGS PORT SEQ LENGTH HEX" for each message, until none
 *				comes for so long, and "overrun" for each ENOBUFS; then "end"
 *	buffer SIZE, force SIZE	SO_RCVBUF(FORCE); "buffer SIZE", as the kernel has it
 *	silent			NETLINK_NO_ENOBUFS
 *	exit COUNT CPU STATUS	so many children, one after the other, exit there (STATUS below 0:
 *				by that signal); "pid PID" of the last
 *	reads COUNT		a child reads so often one byte, and exits; "pid PID"
 *	live COUNT FIRST	a child of so many threads that have worked 20 ms each and then do
 *				nothing, the first one having exited if FIRST; "tids TID… of PID"
 *	end PID			kills and awaits that
 *	threads COUNT FIRST	a child of so many threads that work 20 ms each; if FIRST, the
 *				first one exits before the others; "pid PID"
 *	zombie STATUS		a child that exits and is not waited for; "pid PID"
 *	folder PATH		"fd FD": opened
 *	put PATH TEXT		writes into a file
 *	exec PROGRAM WORD…	becomes that program
 *	user UID, unshare FLAGS	as setuid(2), unshare(2); after CLONE_NEWPID the rest is done by
 *				a child
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MS 5000
#define HEX_MAX 8192

struct message {
	struct nlmsghdr netlink;
	struct genlmsghdr generic;
	unsigned char rest[HEX_MAX / 2];
};

static int fd = -1;
static uint16_t family;
static uint32_t last_number = 1000000;
static unsigned char buffer[16384] __attribute__((aligned(8)));

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	fflush(stdout);
	exit(1);
}

static void print_hex(const void *data, size_t size)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < size; i++)
		printf("%02x", bytes[i]);
	putchar('\n');
}

/* Behind the headers. */
static void print_attributes(const struct nlmsghdr *header)
{
	print_hex((const char *)header + NLMSG_HDRLEN + GENL_HDRLEN,
		  header->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN);
}

static void send_request(uint16_t type, unsigned int command, unsigned int flags,
			 const void *attributes, size_t size)
{
	struct message message = {
		.netlink = { NLMSG_HDRLEN + GENL_HDRLEN + (uint32_t)size, type,
			     (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags), ++last_number, 0 },
		.generic = { (uint8_t)command, 1, 0 },
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	memcpy(message.rest, attributes, size);
	if (sendto(fd, &message, message.netlink.nlmsg_len, 0, (void *)&kernel,
		   sizeof(kernel)) < 0)
		fail("sendto");
}

/* Prints answers up to the acknowledgement; keeps the family's number of the kind "family". */
static void await_answer(bool of_family)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };

	for (;;) {
		struct nlmsghdr *header = (void *)buffer;
		ssize_t size;

		if (poll(&readable, 1, ANSWER_MS) != 1) {
			printf("ack none\n");
			return;
		}
		size = recv(fd, buffer, sizeof(buffer), 0);
		if (size < 0)
			fail("recv");
		for (; NLMSG_OK(header, size); header = NLMSG_NEXT(header, size)) {
			if (header->nlmsg_type == NLMSG_ERROR) {
				printf("ack %d\n", -((struct nlmsgerr *)NLMSG_DATA(header))->error);
				return;
			}
			if (of_family)
				printf("family ");
			else
				printf("reply %d ", ((struct genlmsghdr *)NLMSG_DATA(header))->cmd);
			print_attributes(header);
			if (of_family) /* CTRL_ATTR_FAMILY_ID comes second, a name before it */
				memcpy(&family, (char *)NLMSG_DATA(header) + GENL_HDRLEN + 16 + 4, 2);
		}
	}
}

static void do_family(void)
{
	static const struct {
		struct nlattr header;
		char name[12];
	} attributes = { { 4 + 10, CTRL_ATTR_FAMILY_NAME }, "TASKSTATS" };

	send_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, &attributes, sizeof(attributes));
	await_answer(true);
}

static void do_read(int ms)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };

	while (poll(&readable, 1, ms) == 1) {
		const struct nlmsghdr *header = (void *)buffer;
		ssize_t size = recv(fd, buffer, sizeof(buffer), 0);

		if (size < 0 && errno == ENOBUFS) {
			printf("overrun\n");
			continue;
		}
		if (size < 0)
			fail("recv");
		printf("message %d %d %u %u %u ",
		       ((const struct genlmsghdr *)NLMSG_DATA(header))->cmd, header->nlmsg_flags,
		       header->nlmsg_pid, header->nlmsg_seq, header->nlmsg_len);
		print_attributes(header);
	}
	printf("end\n");
}

static void do_open(uint32_t port)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_pid = port };

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (fd < 0 || bind(fd, (void *)&address, sizeof(address)))
		fail("open");
}

static void do_buffer(int option, int size)
{
	socklen_t len = sizeof(size);

	if (setsockopt(fd, SOL_SOCKET, option, &size, len))
		fail("setsockopt");
	getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len);
	printf("buffer %d\n", size);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("sched_setaffinity");
}

static void do_exit(int count, int cpu, int status)
{
	pid_t child = 0;

	while (count--) {
		child = fork();
		if (child == 0) {
			pin(cpu);
			if (status < 0)
				kill(getpid(), -status);
			_exit(status);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			fail("fork");
	}
	printf("pid %d\n", child);
}

static void *work(void *first)
{
	struct timespec now;

	/* CPU time, not time that passes. */
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec == 0 && now.tv_nsec < 20000000);
	return first;
}

static void do_threads(int count, int first_exits)
{
	pthread_t threads[64];
	pid_t child = fork();

	if (child == 0) {
		for (int i = 1; i < count; i++)
			if (pthread_create(&threads[i], NULL, work, NULL))
				_exit(1);
		if (first_exits)
			pthread_exit(NULL);
		work(NULL);
		for (int i = 1; i < count; i++)
			pthread_join(threads[i], NULL);
		_exit(0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		fail("fork");
	printf("pid %d\n", child);
}

static void do_reads(int count)
{
	pid_t child = fork();
	char byte;

	if (child == 0) {
		int zeros = open("/dev/zero", O_RDONLY);

		while (count-- && read(zeros, &byte, 1) == 1)
			;
		_exit(count >= 0);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		fail("fork");
	printf("pid %d\n", child);
}

static int ready_fd;

static void *work_and_stay(void *first)
{
	pid_t self = gettid();

	work(first);
	if (write(ready_fd, &self, sizeof(self)) != sizeof(self))
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

/* Until that task does nothing any more. */
static void await_sleep(pid_t process, pid_t tid)
{
	char path[64], stat[256] = "";
	const char *state;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, tid);
	for (long tries = 0; tries < 1000000; tries++) {
		FILE *file = fopen(path, "r");

		if (!file)
			fail(path);
		len = fread(stat, 1, sizeof(stat) - 1, file);
		stat[len] = '\0';
		fclose(file);
		state = strrchr(stat, ')');
		if (state && state[1] == ' ' && state[2] == 'S')
			return;
		sched_yield();
	}
	errno = ETIMEDOUT;
	fail(path);
}

static void do_live(int count, int first_exits)
{
	pthread_t thread;
	int ready[2];
	pid_t child, tid;

	if (pipe(ready))
		fail("pipe");
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ready_fd = ready[1];
		for (int i = 1; i < count; i++)
			if (pthread_create(&thread, NULL, work_and_stay, NULL))
				_exit(1);
		if (first_exits)
			pthread_exit(NULL);
		work_and_stay(NULL);
	}
	if (child < 0)
		fail("fork");
	close(ready[1]);
	printf("tids");
	for (int i = !!first_exits; i < count; i++) {
		if (read(ready[0], &tid, sizeof(tid)) != sizeof(tid))
			fail("read");
		await_sleep(child, tid);
		printf(" %d", tid);
	}
	printf(" of %d\n", child);
	close(ready[0]);
}

static void do_end(pid_t child)
{
	if (kill(child, SIGKILL) || waitpid(child, NULL, 0) != child)
		fail("end");
}

static void do_zombie(int status)
{
	siginfo_t info;
	pid_t child = fork();

	if (child == 0)
		_exit(status);
	if (child < 0 || waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT))
		fail("fork");
	printf("pid %d\n", child);
}

/* In a PID namespace only children are in it: one goes on, and this one waits. */
static void do_unshare(int flags)
{
	pid_t child;
	int status;

	if (unshare(flags))
		fail("unshare");
	if (!(flags & CLONE_NEWPID))
		return;
	fflush(stdout);
	child = fork();
	if (child == 0)
		return;
	if (child < 0 || waitpid(child, &status, 0) != child)
		fail("fork");
	_exit(WEXITSTATUS(status));
}

static void do_send(unsigned int command, unsigned int flags, const char *hex)
{
	unsigned char bytes[HEX_MAX / 2] = { 0 };
	size_t size = strlen(hex) / 2;

	for (size_t i = 0; i < size; i++)
		sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
	send_request(family, command, flags, bytes, size);
	await_answer(false);
}

static void do_put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);

	if (file < 0 || write(file, text, strlen(text)) < 0)
		fail(path);
	close(file);
}

static void do_exec(char *line)
{
	char *words[16] = { 0 }, *rest = line;

	strtok_r(line, " \n", &rest);
	for (int i = 0; i < 15 && (words[i] = strtok_r(NULL, " \n", &rest)); i++)
		;
	execv(words[0], words);
	fail(words[0]);
}

static void do_line(char *line)
{
	static char word[16], text[HEX_MAX + 1];
	int a = 0, b = 0, c = 0, words = sscanf(line, "%15s %d %d %d", word, &a, &b, &c);
	int one = 1;

	(void)words;
	if (!strcmp(word, "open"))
		do_open((uint32_t)a);
	else if (!strcmp(word, "close"))
		close(fd);
	else if (!strcmp(word, "family"))
		do_family();
	else if (!strcmp(word, "send"))
		do_send((unsigned int)a, (unsigned int)b,
			sscanf(line, "%*s %*d %*d %8192s", text) == 1 ? text : "");
	else if (!strcmp(word, "read"))
		do_read(a);
	else if (!strcmp(word, "buffer"))
		do_buffer(SO_RCVBUF, a);
	else if (!strcmp(word, "force"))
		do_buffer(SO_RCVBUFFORCE, a);
	else if (!strcmp(word, "silent"))
		setsockopt(fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &one, sizeof(one));
	else if (!strcmp(word, "exit"))
		do_exit(a, b, c);
	else if (!strcmp(word, "threads"))
		do_threads(a, b);
	else if (!strcmp(word, "reads"))
		do_reads(a);
	else if (!strcmp(word, "live"))
		do_live(a, b);
	else if (!strcmp(word, "end"))
		do_end(a);
	else if (!strcmp(word, "zombie"))
		do_zombie(a);
	else if (!strcmp(word, "folder"))
		printf("fd %d\n", sscanf(line, "%*s %4000s", text) == 1 ?
		       open(text, O_RDONLY) : -1);
	else if (!strcmp(word, "put"))
		do_put(sscanf(line, "%*s %4000s", text) == 1 ? text : "",
		       strrchr(line, ' ') ? strrchr(line, ' ') + 1 : "");
	else if (!strcmp(word, "exec"))
		do_exec(line);
	else if (!strcmp(word, "user")) {
		if (setuid((uid_t)a))
			fail("setuid");
	} else if (!strcmp(word, "unshare"))
		do_unshare(a);
	else
		printf("no such word: %s\n", word);
}

int main(void)
{
	static char line[HEX_MAX + 64];

	/* Children of children must not write what this one has written. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin))
		do_line(line);
	return 0;
}
