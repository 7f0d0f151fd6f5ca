// SPDX-License-Identifier: MIT
/*
 * taskstats [FILE]: does line by line what standard input or a file says with a netlink socket,
 * requests that no library would send included, and prints what came, but for a file.  Numbers
 * are decimal.
 *
 *	open PORT		a socket; PORT 0: any
 *	close
 *	family			"family HEX": the answer to CTRL_CMD_GETFAMILY, attributes only
 *	ask KIND WHO		the same for a PID (KIND 1) or TGID (2): WHO is pid or tid, what the
 *				last child and a thread of it that is not the first are numbered, or
 *				other, a second thread that is not
 *	send CMD FLAGS HEX	a request to TASKSTATS with these attributes; FLAGS beside
 *				REQUEST and ACK; "reply CMD HEX" for each answer, "ack ERRNO"
 *	read MS			"message CMD FLAGS PORT SEQ LENGTH HEX" for each message, until none
 *				comes for so long, and "overrun" for each ENOBUFS; then "end"
 *	buffer SIZE, force SIZE	SO_RCVBUF(FORCE); "buffer SIZE", as the kernel has it
 *	silent			NETLINK_NO_ENOBUFS
 *	exit COUNT CPU STATUS	so many children, one after the other, exit there (STATUS below 0:
 *				by that signal); "pid PID" of the last
 *	reads COUNT		a child reads so often one byte, and exits; "pid PID"
 *	live COUNT FIRST [MS]	a child of so many threads that have worked 20 ms each and then do
 *				nothing, the first one having exited if FIRST, the others having begun
 *				so much later; "tids TID… of PID"
 *	end PID			kills and awaits that; 0: the last child
 *	threads COUNT FIRST	a child of so many threads that work 20 ms each; if FIRST, the
 *				first one exits before the others; "pid PID"
 *	exiting			a child with a thread that has worked 200 ms, and is held where it has
 *				exited for the kernel's sums, and not yet for others; "tids TID of PID"
 *	let			lets that thread go; when it has gone, "gone"
 *	orphan			a grandchild, whose parent exits, works 20 ms then and exits
 *	stay			a child that outlives this process, but not the next parent
 *	wait IGNORES		this process says "ready" on standard error, waits for a signal, or not
 *				even for that, and dies with its parent
 *	thread			a thread of this process that works 20 ms
 *	zombie STATUS		a child that exits and is not waited for; "pid PID"
 *	folder PATH		"fd FD": opened
 *	put PATH TEXT		writes into a file; the text may stand for a number, as words of exec may
 *	exec PROGRAM WORD…	becomes that program; PID, TID and STARTED among the words stand for
 *				numbers
 *	start PROGRAM WORD…	has it run as a child, with standard error in /tmp/stderr
 *	await TEXT		until there is that text in /tmp/stderr
 *	asleep, stopped		until that child sleeps, is stopped
 *	tasks COUNT		until it has so many tasks; "task TID CPUS", where each may run
 *	signal NUMBER		sends it a signal
 *	parent NUMBER		sends this process' parent a signal
 *	reap			until it has ended; "status STATUS", as wait(2) has it
 *	run PROGRAM WORD…	start and reap; STARTED is what it was
 *	nice VALUE		sets its own
 *	user UID, unshare FLAGS	as setuid(2), unshare(2); after CLONE_NEWPID the rest is done by
 *				a child
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MS 60000
#define LIMIT_S 60
#define STDERR "/tmp/stderr"
#define HEX_MAX 8192

struct message {
	struct nlmsghdr netlink;
	struct genlmsghdr generic;
	unsigned char rest[HEX_MAX / 2];
};

/* What PID and TID stand for, and the program that was started. */
static pid_t last_child, last_tid, other_tid, started;

/* Standard error of what is started; none of our own where we were started that way. */
static int errors = -1;

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
	last_child = child;
	printf("pid %d\n", child);
}

/* CPU time, not time that passes. */
static void work_for(long ms)
{
	struct timespec now;

	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while (now.tv_sec == 0 && now.tv_nsec < ms * 1000000);
}

static void *work(void *first)
{
	work_for(20);
	return first;
}

static void do_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
		fail("thread");
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
	last_child = child;
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
	last_child = child;
	printf("pid %d\n", child);
}

static int ready_fd;

/* Whether the time is up that tests wait for anything. */
static bool is_late(time_t begin)
{
	return time(NULL) > begin + LIMIT_S;
}

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

/* State and flags of a task; false if there is none. */
static bool read_stat(pid_t process, pid_t tid, char *state, unsigned int *flags)
{
	char path[64], stat[512] = "";
	const char *after;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	stat[fread(stat, 1, sizeof(stat) - 1, file)] = '\0';
	fclose(file);
	after = strrchr(stat, ')');
	return after && sscanf(after, ") %c %*d %*d %*d %*d %*d %u", state, flags) == 2;
}

/* Until that task is in a state: 'S', it does nothing any more; 'T', it is stopped. */
static void await_state(pid_t process, pid_t tid, char wanted)
{
	time_t begin = time(NULL);
	unsigned int flags;
	char state = 'X';

	while (read_stat(process, tid, &state, &flags) && state != wanted) {
		if (is_late(begin)) {
			errno = ETIMEDOUT;
			fail("await_state");
		}
		sched_yield();
	}
	if (state != wanted)
		fail("await_state");
}

static void do_live(int count, int first_exits, int later_ms)
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
		usleep(later_ms * 1000u);
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
		await_state(child, tid, 'S');
		printf(" %d", tid);
		if (tid == child)
			continue;
		other_tid = last_tid;
		last_tid = tid;
	}
	if (first_exits)
		await_state(child, child, 'Z');
	last_child = child;
	printf(" of %d\n", child);
	close(ready[0]);
}

/*
 * The thread's last act is to close a pipe that nobody else has open, and that is locked: another
 * thread writes to it, and waits within for a page of memory that comes when userfaultfd(2) says
 * so.  By then the kernel has counted the thread as one that has exited.
 */
static int hold_pipe[2];
static void *hold_page;
static int hold_go[2];

static void *write_held(void *unused)
{
	pid_t self = gettid();

	(void)!write(ready_fd, &self, sizeof(self));
	(void)!write(hold_pipe[1], hold_page, 1);
	return unused;
}

static void *exit_held(void *unused)
{
	pid_t self = gettid();
	char path[32], go;

	/* Its own table of files: what is open there is closed when the thread exits. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", hold_pipe[0]);
	if (unshare(CLONE_FILES) || open(path, O_RDONLY | O_NONBLOCK) < 0)
		_exit(1);
	work_for(200);
	(void)!write(ready_fd, &self, sizeof(self));
	(void)!read(hold_go[0], &go, 1);
	return unused;
}

/* Memory that is not there before somebody gives it. */
static int make_held_page(size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int user = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	hold_page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)hold_page;
	range.range.len = size;
	if (user < 0 || ioctl(user, UFFDIO_API, &api) || ioctl(user, UFFDIO_REGISTER, &range))
		_exit(2);
	return user;
}

/* In the child; @told: a pipe to the parent, @let: one from it. */
static void hold(int told, int let)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int user = make_held_page(size);
	struct uffdio_zeropage page = { .range = { (uintptr_t)hold_page, size } };
	unsigned int flags = 0;
	int ready[2];
	struct uffd_msg fault;
	pthread_t writer, exiter;
	pid_t held[2];
	char state = 'R', go;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pipe(hold_pipe) || pipe(hold_go) || pipe(ready))
		_exit(3);
	ready_fd = ready[1];
	if (pthread_create(&exiter, NULL, exit_held, NULL) ||
	    read(ready[0], &held[0], sizeof(held[0])) != sizeof(held[0]))
		_exit(3);
	if (pthread_create(&writer, NULL, write_held, NULL) ||
	    read(ready[0], &held[1], sizeof(held[1])) != sizeof(held[1]) ||
	    read(user, &fault, sizeof(fault)) != sizeof(fault))
		_exit(4);
	/* 4: on its way out.  'D': it waits for the pipe. */
	if (write(hold_go[1], "", 1) != 1)
		_exit(5);
	while (!(flags & 4) || state != 'D') {
		usleep(1000);
		read_stat(getpid(), held[0], &state, &flags);
	}
	if (write(told, held, sizeof(held)) != sizeof(held) || read(let, &go, 1) != 1 ||
	    ioctl(user, UFFDIO_ZEROPAGE, &page))
		_exit(6);
	while (read_stat(getpid(), held[0], &state, &flags))
		usleep(1000);
	(void)!write(told, "", 1);
	for (;;)
		pause();
}

static int held_told[2], held_let[2];

static void do_exiting(void)
{
	pid_t child, held[2];

	if (pipe(held_told) || pipe(held_let))
		fail("pipe");
	child = fork();
	if (child == 0)
		hold(held_told[1], held_let[0]);
	close(held_told[1]);
	if (child < 0 || read(held_told[0], held, sizeof(held)) != sizeof(held))
		fail("exiting");
	last_child = child;
	last_tid = held[0];
	other_tid = held[1];
	printf("tids %d of %d\n", last_tid, child);
}

static void do_let(void)
{
	char word;

	if (write(held_let[1], "", 1) != 1 || read(held_told[0], &word, 1) != 1)
		fail("let");
	await_state(last_child, last_child, 'S');
	printf("gone\n");
}

/* The grandchild has the pipe open as long as it is there. */
static void do_orphan(void)
{
	int gone[2];
	char byte;

	if (pipe(gone))
		fail("pipe");
	last_child = fork();
	if (last_child == 0) {
		pid_t parent = getpid();

		if (fork())
			_exit(0);
		while (getppid() == parent)
			sched_yield();
		work(NULL);
		_exit(0);
	}
	close(gone[1]);
	if (waitpid(last_child, NULL, 0) != last_child || read(gone[0], &byte, 1) != 0)
		fail("orphan");
}

static void do_stay(void)
{
	pid_t parent = getpid();

	last_child = fork();
	if (last_child)
		return;
	while (getppid() == parent)
		usleep(1000);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() != 1)
		pause();
	_exit(0);
}

static void do_wait(int ignores)
{
	if (ignores) {
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fprintf(stderr, "ready\n");
	for (;;)
		pause();
}

static void do_end(pid_t child)
{
	child = child ? child : last_child;
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
	last_child = child;
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

/* The word, or the number that it stands for. */
static char *number_of(char *word)
{
	static char numbers[3][16];
	const struct {
		const char *word;
		pid_t pid;
	} all[] = { { "PID", last_child }, { "TID", last_tid }, { "STARTED", started } };

	for (int i = 0; i < 3; i++) {
		if (strcmp(word, all[i].word))
			continue;
		snprintf(numbers[i], sizeof(numbers[i]), "%d", all[i].pid);
		return numbers[i];
	}
	return word;
}

static void do_put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);

	if (file < 0 || write(file, text, strlen(text)) < 0)
		fail(path);
	close(file);
}

/* The last word, without the line's end. */
static char *last_word(char *line)
{
	char *last = strrchr(line, ' ');

	line[strcspn(line, "\n")] = '\0';
	return number_of(last ? last + 1 : line);
}

static void do_exec(char *line)
{
	char *words[32] = { 0 }, *rest = line;

	strtok_r(line, " \n", &rest);
	for (int i = 0; i < 31 && (words[i] = strtok_r(NULL, " \n", &rest)); i++)
		words[i] = number_of(words[i]);
	execv(words[0], words);
	fail(words[0]);
}

static void do_start(char *line)
{
	if (errors >= 0 && ftruncate(errors, 0))
		fail(STDERR);
	started = fork();
	if (started == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(open("/dev/null", O_RDONLY), 0);
		if (errors >= 0)
			dup2(errors, 2);
		setenv("STARTED", "", 1);
		do_exec(line);
	}
	if (started < 0)
		fail("fork");
}

static void do_reap(void)
{
	int status;

	if (waitpid(started, &status, 0) != started)
		fail("reap");
	printf("status %d\n", status);
}

static void do_await(const char *text)
{
	static char found[65536];
	time_t begin = time(NULL);

	do {
		FILE *file = fopen(STDERR, "r");

		if (file) {
			found[fread(found, 1, sizeof(found) - 1, file)] = '\0';
			fclose(file);
		}
		if (is_late(begin)) {
			errno = ETIMEDOUT;
			fail(text);
		}
		usleep(1000);
	} while (!strstr(found, text));
}

/* Prints where each task of the started program may run.  Return: how many there are. */
static int print_tasks(FILE *out)
{
	char path[320], line[256], cpus[128];
	struct dirent *entry;
	int count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", started);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", started, entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "Cpus_allowed_list: %127s", cpus) == 1)
				fprintf(out, "task %s %s\n", entry->d_name, cpus);
		if (file)
			fclose(file);
		count += file != NULL;
	}
	if (folder)
		closedir(folder);
	return count;
}

static void do_tasks(int count)
{
	FILE *nowhere = fopen("/dev/null", "w");
	time_t begin = time(NULL);

	while (print_tasks(nowhere) != count) {
		if (is_late(begin)) {
			errno = ETIMEDOUT;
			fail("tasks");
		}
		usleep(1000);
	}
	fclose(nowhere);
	print_tasks(stdout);
}

static void do_ask(int kind, const char *who)
{
	struct {
		struct nlattr header;
		int32_t id;
	} attribute = { { 8, (uint16_t)kind }, last_child };

	if (!strcmp(who, "tid"))
		attribute.id = last_tid;
	else if (!strcmp(who, "other"))
		attribute.id = other_tid;

	send_request(family, 1, 0, &attribute, sizeof(attribute));
	await_answer(false);
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
		do_live(a, b, c);
	else if (!strcmp(word, "exiting"))
		do_exiting();
	else if (!strcmp(word, "let"))
		do_let();
	else if (!strcmp(word, "orphan"))
		do_orphan();
	else if (!strcmp(word, "stay"))
		do_stay();
	else if (!strcmp(word, "wait"))
		do_wait(a);
	else if (!strcmp(word, "thread"))
		do_thread();
	else if (!strcmp(word, "end"))
		do_end(a);
	else if (!strcmp(word, "zombie"))
		do_zombie(a);
	else if (!strcmp(word, "folder"))
		printf("fd %d\n", sscanf(line, "%*s %4000s", text) == 1 ?
		       open(text, O_RDONLY) : -1);
	else if (!strcmp(word, "put"))
		do_put(sscanf(line, "%*s %4000s", text) == 1 ? text : "", last_word(line));
	else if (!strcmp(word, "exec"))
		do_exec(line);
	else if (!strcmp(word, "start"))
		do_start(line);
	else if (!strcmp(word, "reap"))
		do_reap();
	else if (!strcmp(word, "run")) {
		const pid_t other = started;

		do_start(line);
		do_reap();
		started = other;
	} else if (!strcmp(word, "await")) {
		do_await(sscanf(line, "await %4000[^\n]", text) == 1 ? text : "");
	} else if (!strcmp(word, "asleep"))
		await_state(started, started, 'S');
	else if (!strcmp(word, "stopped"))
		await_state(started, started, 'T');
	else if (!strcmp(word, "tasks"))
		do_tasks(a);
	else if (!strcmp(word, "signal"))
		kill(started, a);
	else if (!strcmp(word, "parent"))
		kill(getppid(), a);
	else if (!strcmp(word, "ask"))
		do_ask(a, sscanf(line, "ask %*d %15s", text) == 1 ? text : "");
	else if (!strcmp(word, "nice"))
		setpriority(PRIO_PROCESS, 0, a);
	else if (!strcmp(word, "user")) {
		if (setuid((uid_t)a))
			fail("setuid");
	} else if (!strcmp(word, "unshare"))
		do_unshare(a);
	else
		printf("no such word: %s\n", word);
}

int main(int argc, char **argv)
{
	static char line[HEX_MAX + 64];
	int one;

	/* Children of children must not write what this one has written. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* What a file says is work for somebody to look at, whose output nothing must stand in. */
	if (argc > 1 && (!freopen(argv[1], "r", stdin) || !freopen("/dev/null", "w", stdout)))
		fail(argv[1]);
	/* While that is possible, whoever this will be; out of the way of the script's own files. */
	if (!getenv("STARTED")) {
		one = open(STDERR, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
		errors = fcntl(one, F_DUPFD_CLOEXEC, 100);
		close(one);
	}
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin))
		do_line(line);
	return 0;
}
