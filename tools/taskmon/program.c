/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

extern char **environ;

int program_init(struct program *program, char **words)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD };
	sigset_t set;

	*program = (struct program){ .words = words };
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sigaddset(&set, all[i]);
	sigprocmask(SIG_BLOCK, &set, &program->before);
	signal(SIGPIPE, SIG_IGN);
	program->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return program->signals < 0 ? -errno : 0;
}

int program_start(struct program *program)
{
	posix_spawnattr_t attributes;
	sigset_t defaults;
	int ret;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGQUIT);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setsigmask(&attributes, &program->before);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	ret = posix_spawnp(&program->pid, program->words[0], NULL, &attributes, program->words,
			   environ);
	posix_spawnattr_destroy(&attributes);
	if (!ret)
		return 0;
	program->pid = 0;
	complain("%s cannot be run: %s", program->words[0], strerror(ret));
	return ret == ENOENT ? PROGRAM_NOT_FOUND : PROGRAM_NOT_EXECUTABLE;
}

/* Whether the program has exited; other children that have are waited for. */
static bool has_exited(struct program *program)
{
	siginfo_t exited;

	for (;;) {
		exited = (siginfo_t){ 0 };
		if (waitid(P_ALL, 0, &exited, WEXITED | WNOHANG | WNOWAIT) || !exited.si_pid)
			return false;
		if (exited.si_pid == program->pid) {
			program->status = exited.si_code == CLD_EXITED ? exited.si_status << 8 :
									 exited.si_status;
			return true;
		}
		waitid(P_PID, (id_t)exited.si_pid, &exited, WEXITED | WNOHANG);
	}
}

static void take_signal(struct program *program, const struct signalfd_siginfo *signal)
{
	program->last = (int)signal->ssi_signo;
	/* Those of the kernel, which is the terminal, have a code above 0. */
	if (!program->pid || signal->ssi_code > 0)
		return;
	program->passed++;
	kill(program->pid, program->last);
}

enum program_news program_news(struct program *program)
{
	enum program_news news = PROGRAM_GOES_ON;
	struct signalfd_siginfo signal;

	while (read(program->signals, &signal, sizeof(signal)) == sizeof(signal)) {
		if (signal.ssi_signo == SIGCHLD)
			continue;
		take_signal(program, &signal);
		news = program->passed > 1 ? PROGRAM_GIVEN_UP : PROGRAM_INTERRUPTED;
	}
	/* One SIGCHLD may stand for several. */
	return program->pid && has_exited(program) ? PROGRAM_HAS_EXITED : news;
}

int program_end(struct program *program, int code)
{
	struct pollfd signals = { .fd = program->signals, .events = POLLIN };
	enum program_news news = program_news(program);
	siginfo_t exited = { 0 };

	if (news != PROGRAM_HAS_EXITED && program->passed < 2)
		complain("waiting for %s, which still runs", program->words[0]);
	while (news != PROGRAM_HAS_EXITED && program->passed < 2) {
		poll(&signals, 1, -1);
		news = program_news(program);
	}
	if (news != PROGRAM_HAS_EXITED) {
		complain("%s still runs; taskmon ends because of a second signal",
			 program->words[0]);
		return PROGRAM_SIGNAL + program->last;
	}
	waitid(P_PID, (id_t)program->pid, &exited, WEXITED);
	if (WIFSIGNALED(program->status))
		return PROGRAM_SIGNAL + WTERMSIG(program->status);
	return program->status ? WEXITSTATUS(program->status) : code;
}

bool program_left_some(void)
{
	siginfo_t exited;

	do
		exited = (siginfo_t){ 0 };
	while (!waitid(P_ALL, 0, &exited, WEXITED | WNOHANG) && exited.si_pid);
	/* No child at all is an error; none that has exited is not. */
	return !waitid(P_ALL, 0, &exited, WEXITED | WNOHANG | WNOWAIT);
}
