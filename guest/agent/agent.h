/* SPDX-License-Identifier: MIT */
/*
 * The agent: serves requests that come over a stream.  One thread at a time reads
 * the requests; up to WORKERS threads execute them, each in the order in which its
 * own requests came, so that a call may sleep while others are served.
 */
#ifndef AGENT_H
#define AGENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "proto.h"
#include "wire.h"

struct agent;
struct processes;

/** A request as it came; @worker is 0 to WORKERS - 1. */
struct request {
	struct request *next;
	uint32_t id, generation;
	uint16_t type, worker;
	uint32_t len;
	uint8_t payload[];
};

/* link.c: the stream, and frames on it */

#define LINK_BUFFER 4096u

struct link {
	int fd;
	/** What has come and belongs to later requests; of the thread that reads. */
	uint8_t in[LINK_BUFFER];
	size_t at, have;
	uint32_t generation;	/**< of the connection: late replies go nowhere */
	pthread_mutex_t lock;	/**< one reply at a time; guards the other fields */
};

/** Connect to application @name of user ID @user.  Return: descriptor or -errno. */
int link_connect(const char *user, const char *name);
void link_attach(struct link *link, int fd);
/** Let what was sent arrive (bounded), then close. */
void link_detach(struct link *link);

enum receive { RECEIVE_OK, RECEIVE_END, RECEIVE_NO_MEMORY };
/**
 * Wait for the next request.  RECEIVE_END: the stream ended, or carried
 * something that is no frame.  RECEIVE_NO_MEMORY: *@out has the header only,
 * the payload was skipped.
 */
enum receive link_receive(struct link *link, struct request **out);
/** @out begins with FRAME_HEADER bytes that this function fills in. */
void link_reply(struct link *link, const struct request *req, enum status status, struct wr *out);

/* limit.c: time limits on system calls of the calling thread */

/** Interrupts system calls; restarts them. */
#define SIG_INTERRUPT SIGUSR1
#define SIG_RESTART SIGUSR2

struct limit {
	timer_t timer;
	uint64_t deadline;	/**< as clock_ns() */
};

uint64_t clock_ns(void);
/** Install the handlers of both signals, once per process. */
void limit_signals(void);
/** For the calling thread. */
bool limit_create(struct limit *limit);
/** From @ms on, system calls of the thread end with EINTR, again and again. */
void limit_start(struct limit *limit, uint32_t ms);
void limit_stop(struct limit *limit);
bool limit_expired(const struct limit *limit);

/* worker.c */

struct worker {
	struct agent *agent;
	bool started, busy;	/**< guarded by the agent's lock, like the queue */
	unsigned int queued;
	unsigned int executed;	/**< operations of the batch, as far as it has come; guarded, too */
	struct request *head, **tail;
	pthread_cond_t wake;
	pthread_t thread;
	struct wr out;
	struct limit limit;
};

/**
 * Send the worker's thread a signal if it is executing a request.  @executed: so many operations of
 * its batch have been executed.
 */
bool worker_interrupt(struct agent *agent, unsigned int worker, int signal,
		      unsigned int *executed);
/** So many operations of the batch have been executed. */
void worker_progress(struct worker *worker, unsigned int executed);
/** The request is executed; called before its reply goes out, so that who has the reply sees it. */
void worker_done(struct worker *worker);
/** Bit n: worker n is executing a request, or has one to execute. */
uint32_t workers_busy(struct agent *agent);

/* reading.c: which thread reads requests */

/** The worker that reads, too, if there is one CPU only. */
#define READING_WORKER 0

/** READER_NONE: that worker executes a request, and who comes first reads on. */
enum reader { READER_MAIN, READER_WORKER, READER_NONE };

/** Guarded by the agent's lock. */
struct reading {
	enum reader who;
	bool shared;		/**< with READING_WORKER; does not change */
	bool ended;		/**< the worker has met the end of the stream */
	pthread_cond_t changed;	/**< the main thread waits for it */
};

/* dispatch.c */

struct agent {
	struct link link;
	pthread_mutex_t lock;
	struct worker workers[WORKERS];
	size_t queued_bytes;
	struct processes *processes;
	struct reading reading;
	struct wr out;		/**< of the thread that reads, as what follows */
	bool served;		/**< a request came by this stream */
	bool machine;		/**< POWER acts on the machine, not on this program */
};

void reading_create(struct reading *reading);
/** A stream begins; the main thread reads it. */
void reading_begin(struct agent *agent);
/** For the main thread: wait until it has to read.  Return: false if the stream has ended. */
bool reading_await(struct agent *agent);
/** The main thread has a request for @worker, which reads then if it can.  With the lock held. */
void reading_hand_over(struct agent *agent, const struct worker *worker);
/** Does @worker read?  It does from now on if it can and nobody else does.  With the lock held. */
bool reading_take(struct agent *agent, const struct worker *worker);
/** @worker executes a request from now on: somebody else has to read.  With the lock held. */
void reading_offer(struct agent *agent, const struct worker *worker);
/** The worker has met the end of the stream. */
void reading_end(struct agent *agent);

/** All handlers: read the whole of @in, append to @out; an error leaves a sentence in @out. */
typedef enum status handler(struct agent *agent, struct worker *worker, struct rd *in,
			    struct wr *out);

/** Can the type be executed at once, by the thread that reads requests? */
bool agent_at_once(uint16_t type);
/** Execute @req on the calling thread (@worker is NULL for the reading thread) and reply. */
void agent_execute(struct agent *agent, struct worker *worker, const struct request *req,
		   struct wr *out);
handler handle_batch, handle_drain, handle_run, handle_spawn, handle_wait, handle_signal,
	handle_insmod, handle_rmmod, handle_klog, handle_read_file, handle_write_file,
	handle_settle;

/* thread.c */

/** Queue @req (taken over if ST_OK) for its worker, and start its thread if need be. */
enum status worker_submit(struct agent *agent, struct request *req);

/* serve.c */

bool agent_create(struct agent *agent, bool machine);
enum read { READ_END, READ_SERVED, READ_OWN };
/**
 * Read a request, and see to it unless it is for the calling thread to execute, which is that of
 * @own (NULL: of no worker).  READ_OWN: it is, and *@request has to be freed.
 */
enum read agent_read(struct agent *agent, const struct worker *own, struct request **request);
/** Serve the stream @fd until it ends.  Return: at least one request came. */
bool agent_serve(struct agent *agent, int fd);

/* launch.c, proc.c: programs started by the agent */

struct start {
	char **argv, **envp;
	char *cwd;
	const uint8_t *input;	/**< copied */
	uint32_t input_len;
	bool inherit;
};

/** Result of launch(); descriptors are -1 or to be closed. */
struct launched {
	pid_t pid;
	int pidfd, in, from[2];	/**< from: its stdout and stderr; none of them blocks */
	int exec_errno;		/**< not 0: the program could not be executed, there is no process */
};

/** launch.c.  Return: 0 or errno; then there is no process. */
int launch(const struct start *start, struct launched *run);

struct processes *processes_create(void);
/** Return: a handle, or -errno. */
int64_t process_start(struct processes *all, const struct start *start);
/** Return: false if there is no such handle or signal (*@error is the errno then). */
bool process_signal(struct processes *all, uint32_t handle, int signal, bool group, int *error);
/**
 * Wait up to @ms; @end: kill it then.  The output is appended to @out when the
 * program has ended, and the handle is gone.  Return: false if unknown.
 */
bool process_wait(struct processes *all, uint32_t handle, uint32_t ms, bool end, struct wr *out);

/* sys.c: one system call with all its arguments */

/** Results of earlier operations of the batch. */
struct results {
	const int64_t *ret;
	unsigned int count;
};

/** Decode a plain number: an immediate or a reference. */
uint64_t arg_number(struct rd *in, const struct results *earlier);
/** Decode, execute and append the result. */
enum status op_call(struct rd *in, const struct results *earlier, struct wr *out, int64_t *ret);

/* own.c */

/**
 * Give a file of the agent's a number that no request has.  Return: that number, or @fd (negative:
 * there is no file, with errno as it is) if there is none.
 */
int own_file(int fd);
/** As open() with O_CLOEXEC, by a number that no request has. */
int own_open(const char *path, int flags, mode_t mode);

/* klog.c */

/** A descriptor that reads what the kernel logs from now on, or -1. */
int klog_mark(void);
/** Append what was logged since as bytes; closes @fd. */
void klog_since(int fd, struct wr *out);
/** Write what the log has from level 0 to @level, as the console shows it. */
void klog_show(int to, unsigned int level);
/**
 * Append errno, the number of the next record, how many records were overwritten before they
 * could be read, whether there are more, and the records from number @from on.
 */
void klog_from(uint64_t from, struct wr *out);

/* module.c */

/** finit_module of @path.  Return: 0 or errno. */
int module_load(const char *path, const char *params, int flags);

/* machine.c */

/** The console's level that shows warnings. */
#define WARNINGS_SHOW 5u

/** Write a line to the console. */
void machine_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Messages of a lower level are shown; 0 if that cannot be read. */
unsigned int machine_console_level(void);
/** Stop or restart the machine; @flags: enum power_flag.  Does not return. */
void machine_power(enum power what, unsigned int flags) __attribute__((noreturn));

/* init.c */

/** Run as the first process; does not return. */
void init_main(struct agent *agent) __attribute__((noreturn));
/** Serve user ID @user again and again; give up when nobody answers for @attach_s seconds. */
int serve_iucv(struct agent *agent, const char *user, const char *name, unsigned int attach_s);

#endif
