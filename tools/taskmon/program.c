/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

extern char **environ;

int program_start(char **program, const sigset_t *mask, pid_t *child)
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
	posix_spawnattr_setsigmask(&attributes, mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	ret = posix_spawnp(child, program[0], NULL, &attributes, program, environ);
	posix_spawnattr_destroy(&attributes);
	if (ret) {
		complain("%s cannot be run: %s", program[0], strerror(ret));
		return ret == ENOENT ? PROGRAM_NOT_FOUND : PROGRAM_NOT_EXECUTABLE;
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	return 0;
}

bool program_has_exited(pid_t child)
{
	siginfo_t exited = { 0 };

	return !waitid(P_PID, (id_t)child, &exited, WEXITED | WNOHANG | WNOWAIT) &&
	       exited.si_pid == child;
}

int program_end(pid_t child, int code)
{
	siginfo_t exited = { 0 };

	while (waitid(P_PID, (id_t)child, &exited, WEXITED) && errno == EINTR)
		;
	if (exited.si_code != CLD_EXITED)
		return PROGRAM_SIGNAL + exited.si_status;
	return exited.si_status ? exited.si_status : code;
}
