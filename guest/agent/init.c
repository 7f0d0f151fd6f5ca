// SPDX-License-Identifier: MIT
/*
 * The first process.  It sets up the system, starts the agent (and a shell, if
 * asked for) as children, and turns the machine off when they have ended: a
 * fault of the agent ends the guest in order, not with a kernel panic.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

#define MODULE_LIST "/etc/zvmlab/modules"
#define SHELL "/bin/busybox"
#define USER "ZVMLAB"
#define NAME "AGENT"
#define ATTACH_S 120u
#define RETRY_MIN_MS 10
#define RETRY_MAX_MS 200
/* Between two looks whether the machine has another name. */
#define LOOK_MS 1
/* The number of terminals that hvc_iucv has. */
#define TERMINALS 8u

enum agent_end { END_NO_IUCV = 3, END_NOBODY = 4 };

struct settings {
	bool shell;
	/* The guest stays when its shell ends: there is something to ask it yet. */
	bool stays;
	unsigned int attach_s;
	/* Of the machine, until it goes on as another one; "": it need not. */
	char base[9];
};

static void mounts(void)
{
	static const struct {
		const char *type, *where;
	} table[] = {
		{ "devtmpfs", "/dev" },
		{ "proc", "/proc" },
		{ "sysfs", "/sys" },
		{ "debugfs", "/sys/kernel/debug" },
		{ "tmpfs", "/tmp" },
		{ "tmpfs", "/run" },
	};
	int fd;

	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		mkdir(table[i].where, 0755);
		if (mount(table[i].type, table[i].where, table[i].type, 0, NULL) && errno != EBUSY)
			machine_say("mounting %s failed: %s", table[i].where, strerror(errno));
	}
	chmod("/tmp", 01777);
	/* The kernel could not open the console if the image has no node for it. */
	fd = open("/dev/console", O_RDWR);
	for (int i = 0; fd >= 0 && i <= 2; i++)
		if (fcntl(i, F_GETFD) < 0)
			dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static struct settings settings_read(void)
{
	struct settings set = { .attach_s = ATTACH_S };
	char line[4097], *word, *rest = line;
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (fd >= 0)
		close(fd);
	line[got < 0 ? 0 : got] = '\0';
	while ((word = strsep(&rest, " \n"))) {
		if (!strcmp(word, "zvmlab.shell=1"))
			set.shell = true;
		else if (!strcmp(word, "zvmlab.stays=1"))
			set.stays = true;
		else if (!strncmp(word, "zvmlab.attach=", 14))
			set.attach_s = (unsigned int)strtoul(word + 14, NULL, 10);
		else if (!strncmp(word, "zvmlab.base=", 12))
			snprintf(set.base, sizeof(set.base), "%s", word + 12);
	}
	return set;
}

/* The kernel asks CP whenever this file is read. */
static bool is_named(const char *name)
{
	FILE *info = fopen("/proc/sysinfo", "re");
	char line[256], found[16] = "";

	while (info && fgets(line, sizeof(line), info))
		if (sscanf(line, "VM00 Name: %15s", found) == 1)
			break;
	if (info)
		fclose(info);
	return !strcmp(found, name);
}

/*
 * What is loaded from here on asks CP for the user ID: af_iucv above all.  A machine that is saved
 * now can go on under any name.
 */
static void await_name(const char *base)
{
	if (!base[0] || !is_named(base))
		return;
	machine_say("waits for a name of its own");
	while (is_named(base))
		poll(NULL, 0, LOOK_MS);
}

/* One module a line: the file, and behind a blank its parameters. */
static void modules(void)
{
	FILE *list = fopen(MODULE_LIST, "re");
	char line[1024];

	if (!list)
		return;
	while (fgets(line, sizeof(line), list)) {
		char *params = line, *path;
		int error;

		line[strcspn(line, "\n")] = '\0';
		path = strsep(&params, " ");
		if (!*path)
			continue;
		error = module_load(path, params ? params : "", 0);
		if (error && error != EEXIST)
			machine_say("%s cannot be loaded: %s", path, strerror(error));
	}
	fclose(list);
}

static bool without_iucv(int error)
{
	return error == ENODEV || error == EPROTO || error == EAFNOSUPPORT;
}

int serve_iucv(struct agent *agent, const char *user, const char *name, unsigned int attach_s)
{
	uint64_t deadline = clock_ns() + attach_s * 1000000000ull;
	int pause_ms = RETRY_MIN_MS, fd;

	do {
		fd = link_connect(user, name);
		if (fd >= 0) {
			/* A partner that only connects and goes does not keep the guest alive. */
			if (agent_serve(agent, fd)) {
				deadline = clock_ns() + attach_s * 1000000000ull;
				pause_ms = RETRY_MIN_MS;
			}
		} else if (without_iucv(-fd)) {
			machine_say("no IUCV here: %s", strerror(-fd));
			return END_NO_IUCV;
		}
		poll(NULL, 0, pause_ms);
		pause_ms = pause_ms * 2 < RETRY_MAX_MS ? pause_ms * 2 : RETRY_MAX_MS;
	} while (clock_ns() < deadline);
	machine_say("nobody answered as %s %s for %u s", user, name, attach_s);
	return END_NOBODY;
}

static pid_t start_agent(struct agent *agent, const struct settings *set)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (!agent_create(agent, true)) {
		machine_say("no memory for the agent");
		_exit(1);
	}
	_exit(serve_iucv(agent, USER, NAME, set->attach_s));
}

/*
 * The terminal behind /dev/console, which cannot be a controlling terminal itself:
 * the last one that the kernel names.
 */
static int open_terminal(void)
{
	char active[128] = "", path[sizeof(active) + 8], *last;
	int fd = open("/sys/class/tty/console/active", O_RDONLY);
	int tty;

	if (fd >= 0) {
		if (read(fd, active, sizeof(active) - 1) < 0)
			active[0] = '\0';
		close(fd);
	}
	active[strcspn(active, "\n")] = '\0';
	last = strrchr(active, ' ');
	snprintf(path, sizeof(path), "/dev/%s", last ? last + 1 : active);
	tty = open(path, O_RDWR);
	return tty < 0 ? open("/dev/console", O_RDWR) : tty;
}

/* @terminal: its path, or NULL for the console.  The shell is its process group's leader. */
static pid_t start_shell(const char *terminal, unsigned int pause_s)
{
	static char name[] = "sh", command[] = "-c",
		    script[] = SHELL " --install -s /bin; exec " SHELL " sh -i",
		    path[] = "PATH=/bin:/sbin:/usr/bin:/usr/sbin", home[] = "HOME=/",
		    term[] = "TERM=dumb", prompt[] = "PS1=guest# ";
	static char *const argv[] = { name, command, script, NULL };
	static char *const envp[] = { path, home, term, prompt, NULL };
	pid_t pid = fork();
	int tty;

	if (pid)
		return pid;
	setsid();
	sleep(pause_s);
	tty = terminal ? open(terminal, O_RDWR) : open_terminal();
	if (terminal && tty < 0)
		_exit(127);
	ioctl(tty, TIOCSCTTY, 1);
	for (int i = 0; i <= 2; i++)
		dup2(tty, i);
	if (tty > 2)
		close(tty);
	execve(SHELL, argv, envp);
	machine_say("%s: %s", SHELL, strerror(errno));
	_exit(127);
}

/*
 * A shell on each terminal that another z/VM user can connect to (hvc_iucv), as getty would
 * start it: again when it ends, and so when the other one goes.
 */
static void start_on_terminal(pid_t shells[TERMINALS], unsigned int n, unsigned int pause_s)
{
	char path[16];

	snprintf(path, sizeof(path), "/dev/hvc%u", n);
	shells[n] = access(path, F_OK) ? -1 : start_shell(path, pause_s);
}

static void restart_on_terminal(pid_t shells[TERMINALS], pid_t ended)
{
	for (unsigned int n = 0; n < TERMINALS; n++)
		if (shells[n] == ended)
			start_on_terminal(shells, n, 1);
}

static void report(const char *who, int status, bool stays)
{
	const char *then = stays ? "the guest stays" : "turning off";

	if (WIFSIGNALED(status))
		machine_say("the %s was ended by signal %d; %s", who, WTERMSIG(status), then);
	else
		machine_say("the %s ended with status %d; %s", who, WEXITSTATUS(status), then);
}

/* Nobody has asked for the log since; what the console did not show is shown now. */
static void turn_off(void)
{
	if (machine_console_level() < WARNINGS_SHOW)
		klog_show(STDERR_FILENO, WARNINGS_SHOW - 1);
	machine_power(POWER_OFF, POWER_FLAGS);
}

void init_main(struct agent *agent)
{
	struct settings set;
	pid_t first, shell = -1, on_terminal[TERMINALS] = { 0 };

	mounts();
	set = settings_read();
	await_name(set.base);
	modules();
	machine_say("the agent starts");
	first = start_agent(agent, &set);
	if (set.shell)
		shell = start_shell(NULL, 0);
	for (unsigned int n = 0; set.shell && n < TERMINALS; n++)
		start_on_terminal(on_terminal, n, 0);
	for (;;) {
		int status;
		pid_t pid = waitpid(-1, &status, 0);

		if (pid < 0 && errno == EINTR)
			continue;
		/* With a shell the guest lives as long as the shell does. */
		if (pid > 0 && pid == shell && set.stays) {
			report("shell", status, true);
			shell = -1;
			continue;
		}
		if (pid > 0 && pid == (shell < 0 ? first : shell))
			report(pid == shell ? "shell" : "agent", status, false);
		else if (pid > 0)
			restart_on_terminal(on_terminal, pid);
		if (pid < 0 || pid == (shell < 0 ? first : shell))
			turn_off();
	}
}
