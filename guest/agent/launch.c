// SPDX-License-Identifier: MIT
/* Start one program with pipes. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent.h"

/* Not in every C library's headers yet; include/uapi/linux/close_range.h. */
#define CLOEXEC_RANGE (1U << 2)

enum { IN, OUT, ERR, FAILURE, PIPES };

/* After fork: only what is safe in a child of a program with threads. */
static void child(const struct start *start, const int ends[PIPES]) __attribute__((noreturn));
static void child(const struct start *start, const int ends[PIPES])
{
	sigset_t none;
	int fd[PIPES], error;

	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Out of the way of 0 to 2, which a request may have closed. */
	for (int i = 0; i < PIPES; i++)
		fd[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < FAILURE; i++)
		if (dup2(fd[i], i) < 0)
			goto fail;
	if (!start->inherit)
		syscall(SYS_close_range, 3U, ~0U, CLOEXEC_RANGE);
	if (start->cwd[0] && chdir(start->cwd))
		goto fail;
	execvpe(start->argv[0], start->argv, start->envp);
fail:
	error = errno;
	_exit(write(fd[FAILURE], &error, sizeof(error)) == sizeof(error) ? 127 : 126);
}

static int open_pipes(int pipes[PIPES][2])
{
	for (int i = 0; i < PIPES; i++) {
		if (pipe2(pipes[i], O_CLOEXEC)) {
			int error = errno;

			while (i--) {
				close(pipes[i][0]);
				close(pipes[i][1]);
			}
			return error;
		}
	}
	return 0;
}

/* The pipe ends at exec; an errno comes through it if that fails. */
static int exec_error(int fd)
{
	int error = 0;

	while (read(fd, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	return error;
}

int launch(const struct start *start, struct launched *run)
{
	int pipes[PIPES][2], error = open_pipes(pipes);

	if (error)
		return error;
	run->pid = fork();
	if (run->pid == 0)
		child(start, (const int[PIPES]){ pipes[IN][0], pipes[OUT][1], pipes[ERR][1],
						 pipes[FAILURE][1] });
	error = run->pid < 0 ? errno : 0;
	close(pipes[IN][0]);
	for (int i = OUT; i < PIPES; i++)
		close(pipes[i][1]);
	run->in = pipes[IN][1];
	run->from[0] = pipes[OUT][0];
	run->from[1] = pipes[ERR][0];
	fcntl(run->in, F_SETFL, O_NONBLOCK);
	fcntl(run->from[0], F_SETFL, O_NONBLOCK);
	fcntl(run->from[1], F_SETFL, O_NONBLOCK);
	if (!error) {
		run->exec_errno = exec_error(pipes[FAILURE][0]);
		run->pidfd = (int)syscall(SYS_pidfd_open, run->pid, 0);
		if (run->pidfd < 0) {
			error = errno;
			kill(run->pid, SIGKILL);
		}
		if (run->exec_errno || error)
			waitpid(run->pid, NULL, 0);
	}
	close(pipes[FAILURE][0]);
	return error;
}
