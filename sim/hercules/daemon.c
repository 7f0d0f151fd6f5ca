/* SPDX-License-Identifier: MIT */
/*
 * Hercules without a panel: commands from standard input, and its end.
 *
 * Hercules ends within its handler of SIGTERM.  If the guest is to be told before, a thread waits
 * for it and then takes the machine apart, while this one does the same because the guest has
 * ended.  So here a signal only wakes the main thread, which ends everything in order: nobody
 * serves, no CPU runs, no channel program runs, devices are closed.
 */
#include "hold.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define CHECK_US 1000
/* CPUs that are new, or were told to stop, do so within microseconds if the host lets them. */
#define SETTLE_CHECKS 60000u
/* A channel program that takes longer is cut off, and its device is not closed. */
#define IDLE_CHECKS 1000u
/* Somebody may read Hercules' log, and not for so long. */
#define LOG_CHECKS 1000u

#define LINE_MAX_STDIN 1024

enum request { GUEST_ENDED = 1, ASKED = 2 };

static struct {
	int wake;		/* eventfd; -1: there is a panel, or no CP */
	uint32_t requested;	/* enum request */
	pid_t sender;		/* of the signal; 0: there was none, or it is unknown */
	bool signalled;
	bool told;		/* the guest is expected to end itself */
	bool ended;		/* it has done so, or on its own */
} own = { .wake = -1 };

/* Also from a signal's handler. */
static void request(enum request what)
{
	const uint64_t one = 1;
	ssize_t written;

	__atomic_fetch_or(&own.requested, (uint32_t)what, __ATOMIC_RELEASE);
	/* Fails only if it is readable in any case. */
	written = write(own.wake, &one, sizeof(one));
	(void)written;
}

static void on_terminate(int number, siginfo_t *info, void *context)
{
	int error = errno;

	(void)number;
	(void)context;
	own.sender = info->si_pid;
	own.signalled = true;
	request(ASKED);
	errno = error;
}

int daemon_prepare(char *err, size_t errlen)
{
	if (!sysblk.daemon_mode)
		return 0;
	own.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* Until daemon_run() nothing has run that would need an end in order. */
	if (own.wake >= 0 && signal(SIGTERM, SIG_DFL) != SIG_ERR)
		return 0;
	snprintf(err, errlen, "the machine cannot be ended in order: %s", strerror(errno));
	return -1;
}

bool daemon_guest_ended(void)
{
	if (own.wake >= 0)
		request(GUEST_ENDED);
	return own.wake >= 0;
}

bool daemon_command(const char *command)
{
	if (own.wake < 0 || (strcasecmp(command, "quit") != 0 && strcasecmp(command, "exit") != 0))
		return false;
	request(ASKED);
	return true;
}

static bool cpus_settled(void)
{
	bool settled = true;

	port_lock(NULL);
	for (unsigned int i = 0; i < MAX_CPUS; i++)
		settled &= !sysblk.regs[i] || sysblk.regs[i]->cpustate != CPUSTATE_STOPPING;
	port_unlock();
	return settled;
}

/*
 * Before CPUs have stopped no machine can be loaded.  Then whoever gives commands is told, on the
 * stream that Hercules does not buffer.
 */
static void ready_for_commands(void)
{
	for (unsigned int i = 0; i < SETTLE_CHECKS && !cpus_settled(); i++)
		usleep(CHECK_US);
	fputs("zvmlab: ready\n", stderr);
}

/* Standard input, line by line.  Return: false at its end. */
static bool commands_from_stdin(void)
{
	static char text[LINE_MAX_STDIN];
	static size_t used;
	ssize_t len = read(STDIN_FILENO, text + used, sizeof(text) - 1 - used);
	char *end;

	if (len <= 0)
		return len < 0 && errno == EINTR;
	used += (size_t)len;
	while (!sysblk.shutdown && (end = memchr(text, '\n', used)) != NULL) {
		size_t line = (size_t)(end + 1 - text);

		*end = '\0';
		panel_command(text);
		ready_for_commands();
		memmove(text, text + line, used - line);
		used -= line;
	}
	return used < sizeof(text) - 1;
}

/* Return: true if the guest knows, and is able to end itself. */
static bool tell_guest(void)
{
	bool runs = false;

	port_lock(NULL);
	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		const REGS *regs = sysblk.regs[i];

		runs |= regs && regs->cpustate == CPUSTATE_STARTED && !hold_has(regs);
	}
	port_unlock();
	return runs && can_signal_quiesce() && signal_quiesce(0, 0) == 0;
}

/* Return: true if the machine is to end now. */
static bool look_at_requests(void)
{
	uint64_t count;
	uint32_t requested;

	if (read(own.wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
		perror("zvmlab-cp: eventfd");
	requested = __atomic_exchange_n(&own.requested, 0, __ATOMIC_ACQ_REL);
	if (requested & GUEST_ENDED) {
		/* Tells its end from one that somebody else has asked for. */
		fputs("zvmlab: the guest has ended\n", stderr);
		own.ended = true;
		return true;
	}
	if (!(requested & ASKED))
		return false;
	/* Whoever asks again does not want to wait for the guest. */
	if (own.told || !tell_guest())
		return true;
	own.told = true;
	return false;
}

/* Return: true if no CPU executes anything; those that do are told to stop. */
static bool cpus_stopped(void)
{
	bool stopped = true;

	port_lock(NULL);
	for (unsigned int i = 0; i < MAX_CPUS; i++) {
		REGS *regs = sysblk.regs[i];

		if (!regs || regs->cpustate == CPUSTATE_STOPPED || hold_has(regs))
			continue;
		regs->cpustate = CPUSTATE_STOPPING;
		ON_IC_INTERRUPT(regs);
		WAKEUP_CPU(regs);
		stopped = false;
	}
	port_unlock();
	return stopped;
}

/* The console has nothing to close, and may wait for a line for ever. */
static bool is_idle(DEVBLK *dev)
{
	bool idle;

	if (dev == console_device())
		return true;
	obtain_lock(&dev->lock);
	idle = !dev->allocated || !dev->busy;
	release_lock(&dev->lock);
	return idle;
}

static bool devices_idle(void)
{
	for (DEVBLK *dev = sysblk.firstdev; dev; dev = dev->nextdev)
		if (!is_idle(dev))
			return false;
	return true;
}

/* A disk may have something to write; a buffer that a channel program uses must stay. */
static void close_devices(void)
{
	for (unsigned int i = 0; i < IDLE_CHECKS && !devices_idle(); i++)
		usleep(CHECK_US);
	for (DEVBLK *dev = sysblk.firstdev; dev; dev = dev->nextdev)
		if (dev->allocated && dev != console_device() && is_idle(dev))
			detach_subchan(SSID_TO_LCSS(dev->ssid), dev->subchan);
}

/* Hercules ends its log without what nobody has read from the pipe yet. */
static void write_log(void)
{
	int left = 0;

	for (unsigned int i = 0; i < LOG_CHECKS; i++) {
		if (ioctl(STDOUT_FILENO, FIONREAD, &left) != 0 || left == 0)
			break;
		usleep(CHECK_US);
	}
}

/* As QEMU says it. */
static void say_who(void)
{
	char path[32], name[32] = "";
	FILE *file;

	if (!own.signalled) {
		if (!own.ended)
			fputs("zvmlab: told to quit\n", stderr);
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)own.sender);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	fprintf(stderr, "zvmlab: terminating on signal %d from pid %d (%s)\n", SIGTERM,
		(int)own.sender, name[0] ? name : "unknown process");
}

/*
 * By _exit(): Hercules' threads (clock, log, operator) are still there, and have no end.  What
 * atexit() has, hdl_shut() does.
 */
static void __attribute__((noreturn)) end_in_order(void)
{
	unsigned int checks = 0;

	service_stop();
	sysblk.shutdown = 1;
	while (!cpus_stopped() && checks++ < SETTLE_CHECKS)
		usleep(CHECK_US);
	if (checks <= SETTLE_CHECKS)
		close_devices();
	else
		fputs("zvmlab-cp: a CPU does not stop; devices are not closed\n", stderr);
	write_log();
	hdl_shut();
	say_who();
	_exit(0);
}

static void catch_terminate(void)
{
	struct sigaction action = { .sa_sigaction = on_terminate, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	if (own.wake >= 0 && sigaction(SIGTERM, &action, NULL) != 0)
		perror("zvmlab-cp: SIGTERM");
}

void daemon_run(void)
{
	struct pollfd fds[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = own.wake, .events = POLLIN },
	};

	catch_terminate();
	ready_for_commands();
	sysblk.panel_init = 1;
	while (!sysblk.shutdown) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents && look_at_requests())
			break;
		if (fds[0].revents && !commands_from_stdin())
			break;
	}
	if (own.wake >= 0)
		end_in_order();
	if (!sysblk.shutdown)
		do_shutdown();
}
