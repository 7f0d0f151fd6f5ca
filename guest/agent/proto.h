/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the agent's protocol; docs/agent-protocol.md describes it and
 * harness/zvmlab/agent/wire.py has the same numbers.
 */
#ifndef PROTO_H
#define PROTO_H

#define PROTO_VERSION 3

/** Length, id, type, worker or status: four integers in front of every payload. */
#define FRAME_HEADER 12u
/** Bytes that the length field counts besides the payload. */
#define FRAME_COUNTED 8u
#define REQUEST_MAX (16u << 20)		/**< bytes of a request's payload */
#define REPLY_MAX ((64u << 20) + (1u << 20))
#define QUEUED_MAX (32u << 20)		/**< bytes of all requests that wait for a worker */
#define WORKERS 17		/**< the last one is the harness's own: it looks at the guest */
#define WORKER_QUEUE 64			/**< requests that may wait for one worker */
#define LIMIT_MAX_MS 3600000u

/** Set in the type of a reply. */
#define REPLY_BIT 0x8000u

enum request_type {
	REQ_HELLO = 1,
	REQ_BATCH = 2,
	REQ_RUN = 3,
	REQ_SPAWN = 4,
	REQ_WAIT = 5,
	REQ_SIGNAL = 6,
	REQ_DRAIN = 7,
	REQ_INSMOD = 8,
	REQ_RMMOD = 9,
	REQ_READ_FILE = 10,
	REQ_WRITE_FILE = 11,
	REQ_KLOG = 12,
	REQ_POWER = 13,
	REQ_INTERRUPT = 14,
	REQ_SETTLE = 15,
};

enum status {
	ST_OK = 0,
	ST_MALFORMED = 1,	/**< the payload is not what the type asks for */
	ST_UNKNOWN = 2,		/**< no such request type */
	ST_LIMIT = 3,		/**< a stated limit is exceeded */
	ST_BUSY = 4,		/**< the worker's queue is full */
	ST_NO_MEMORY = 5,
	ST_NO_PROCESS = 6,	/**< no such process handle */
};

enum batch_flag { BATCH_STOP = 1 };

enum op_code {
	OP_CALL = 1,
	OP_POLL = 2,
	OP_READS = 3,
};
#define OPS_MAX 1024u
#define ARGS_MAX 6u
#define OP_BUFFERS_MAX 64u
#define POLL_MAX 64u
#define READS_MAX 65536u

enum call_code {
	CALL_OPENAT = 1,
	CALL_CLOSE,
	CALL_READ,
	CALL_WRITE,
	CALL_READV,
	CALL_WRITEV,
	CALL_PREAD64,
	CALL_PWRITE64,
	CALL_LSEEK,
	CALL_IOCTL,
	CALL_DUP,
	CALL_DUP3,
	CALL_PIPE2,
	CALL_FCNTL,
	CALL_MMAP,
	CALL_MUNMAP,
	CALL_MPROTECT,
	CALL_MKNODAT,
	CALL_MKDIRAT,
	CALL_UNLINKAT,
	CALL_FTRUNCATE,
	CALL_FSYNC,
	CALL_MOUNT,
	CALL_UMOUNT2,
	CALL_SOCKET,
	CALL_BIND,
	CALL_LISTEN,
	CALL_CONNECT,
	CALL_ACCEPT4,
	CALL_SENDTO,
	CALL_RECVFROM,
	CALL_SHUTDOWN,
	CALL_SETSOCKOPT,
	CALL_GETSOCKOPT,
	CALL_GETPID,
	CALL_SYNC,
	CALL_CLOCK_GETTIME,
	CALL_CLOCK_SETTIME,
	CALL_SENDMSG,
	CALL_RECVMSG,
	CALL_GETSOCKNAME,
	CALL_GETPEERNAME,
	CALL_STATX,
	CALL_SCHED_SETAFFINITY,
	CALL_FINIT_MODULE,
	CALL_DELETE_MODULE,
	CALL_SYMLINKAT,
	CALL_END,
};

enum arg_kind {
	ARG_IMMEDIATE = 0,
	ARG_RESULT = 1,		/**< return value of an earlier operation, plus an addend */
	ARG_IN = 2,		/**< pointer to bytes of the request */
	ARG_OUT = 3,		/**< pointer to memory, of which the first "return value" bytes go back */
	ARG_BOTH = 4,		/**< pointer to bytes of the request, which go back in full */
	ARG_BAD = 5,		/**< pointer to memory that is not as it should be */
	ARG_IOVEC = 6,		/**< pointer to an array of struct iovec */
	ARG_MESSAGE = 7,	/**< pointer to a struct msghdr */
};

enum bad_kind {
	BAD_UNMAPPED = 1,
	BAD_READONLY = 2,
	BAD_PARTIAL = 3,	/**< the first bytes are there, what follows is not mapped */
};

enum result_flag {
	RESULT_OVERRUN = 1,	/**< bytes behind an output buffer were changed */
	RESULT_FULL = 2,	/**< OP_READS stopped because the reply is full */
};

/** The fill byte of a buffer that goes back in full. */
#define FILL_BYTE 0xa5

enum process_state { PROC_RUNNING = 0, PROC_EXITED = 1, PROC_SIGNALLED = 2, PROC_NO_EXEC = 3 };
enum process_flag { PROC_INHERIT = 1 };		/**< keep the agent's open files */
enum output_flag { OUT_TIMED_OUT = 1, OUT_STDOUT_CUT = 2, OUT_STDERR_CUT = 4 };
#define PROCESSES 64
#define STRINGS_MAX 1024u			/**< arguments, and environment strings */
#define OUTPUT_MAX (8u << 20)			/**< bytes kept of stdout, and of stderr */

enum drain_flag { DRAIN_CRC = 1 };

enum write_flag { WRITE_CREATE = 1, WRITE_TRUNCATE = 2, WRITE_APPEND = 4 };
#define CHUNK_MAX (4u << 20)			/**< bytes of a file in one request or reply */

enum power { POWER_OFF = 0, POWER_REBOOT = 1, POWER_HALT = 2 };
/** Ways to let the kernel panic while the machine ends. */
enum power_flag { POWER_PANIC_ON_WARN = 1, POWER_PANIC_ON_OOPS = 2 };
#define POWER_FLAGS (POWER_PANIC_ON_WARN | POWER_PANIC_ON_OOPS)

#endif
