// SPDX-License-Identifier: MIT
/*
 * One system call, exactly as asked for.
 *
 * Output buffers lie in the reply itself, at the place where they will be sent
 * from, followed by a canary; when the call is over they are closed up to what
 * goes back.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent.h"

#define RESULT_HEADER 15u	/* return value, errno, flags, number of buffers */
#define CANARY 8u
#define CANARY_BYTE 0xc3

enum back { BACK_RETURNED, BACK_WHOLE, BACK_NOTHING };

struct buffer {
	uint8_t *at;
	uint32_t len;
	enum back back;
	bool canary;
	bool apart;		/* the call's return value does not count what is here */
	void *map;		/* to be unmapped, with its length */
	size_t map_len;
};

/* struct user_msghdr of include/linux/socket.h; a library's may be another one. */
struct message {
	void *name;
	int32_t name_len;
	struct iovec *iov;
	size_t iov_len;
	void *control;
	size_t control_len;
	uint32_t flags;
};

struct call {
	unsigned int code;
	long arg[ARGS_MAX];
	unsigned int buffers;
	struct buffer buffer[OP_BUFFERS_MAX];
	struct iovec iovec[OP_BUFFERS_MAX];
	bool has_iovec;
	struct message message;
	bool has_message;
	uint8_t *room, *room_end;	/* in the reply */
};

static long number_of(unsigned int code)
{
	static const long table[CALL_END] = {
		[CALL_OPENAT] = SYS_openat, [CALL_CLOSE] = SYS_close,
		[CALL_READ] = SYS_read, [CALL_WRITE] = SYS_write,
		[CALL_READV] = SYS_readv, [CALL_WRITEV] = SYS_writev,
		[CALL_PREAD64] = SYS_pread64, [CALL_PWRITE64] = SYS_pwrite64,
		[CALL_LSEEK] = SYS_lseek, [CALL_IOCTL] = SYS_ioctl,
		[CALL_DUP] = SYS_dup, [CALL_DUP3] = SYS_dup3,
		[CALL_PIPE2] = SYS_pipe2, [CALL_FCNTL] = SYS_fcntl,
		[CALL_MMAP] = SYS_mmap, [CALL_MUNMAP] = SYS_munmap,
		[CALL_MPROTECT] = SYS_mprotect, [CALL_MKNODAT] = SYS_mknodat,
		[CALL_MKDIRAT] = SYS_mkdirat, [CALL_UNLINKAT] = SYS_unlinkat,
		[CALL_FTRUNCATE] = SYS_ftruncate, [CALL_FSYNC] = SYS_fsync,
		[CALL_MOUNT] = SYS_mount, [CALL_UMOUNT2] = SYS_umount2,
		[CALL_SOCKET] = SYS_socket, [CALL_BIND] = SYS_bind,
		[CALL_LISTEN] = SYS_listen, [CALL_CONNECT] = SYS_connect,
		[CALL_ACCEPT4] = SYS_accept4, [CALL_SENDTO] = SYS_sendto,
		[CALL_RECVFROM] = SYS_recvfrom, [CALL_SHUTDOWN] = SYS_shutdown,
		[CALL_SETSOCKOPT] = SYS_setsockopt, [CALL_GETSOCKOPT] = SYS_getsockopt,
		[CALL_GETPID] = SYS_getpid, [CALL_SYNC] = SYS_sync,
		[CALL_CLOCK_GETTIME] = SYS_clock_gettime,
		[CALL_CLOCK_SETTIME] = SYS_clock_settime,
		[CALL_SENDMSG] = SYS_sendmsg, [CALL_RECVMSG] = SYS_recvmsg,
		[CALL_GETSOCKNAME] = SYS_getsockname, [CALL_GETPEERNAME] = SYS_getpeername,
		[CALL_STATX] = SYS_statx,
		[CALL_SCHED_SETAFFINITY] = SYS_sched_setaffinity,
		[CALL_FINIT_MODULE] = SYS_finit_module,
		[CALL_DELETE_MODULE] = SYS_delete_module,
		[CALL_SYMLINKAT] = SYS_symlinkat,
	};

	/* Number 0 is read on some machines: what counts is whether the code is in range. */
	return code && code < CALL_END ? table[code] : -1;
}

uint64_t arg_number(struct rd *in, const struct results *earlier)
{
	uint8_t kind = rd_u8(in);
	unsigned int index;

	if (kind == ARG_IMMEDIATE)
		return rd_u64(in);
	index = rd_u16(in);
	if (kind != ARG_RESULT || index >= earlier->count) {
		in->bad = true;
		return 0;
	}
	return (uint64_t)earlier->ret[index] + rd_u64(in);
}

static struct buffer *new_buffer(struct rd *in, struct call *call)
{
	if (call->buffers == OP_BUFFERS_MAX) {
		in->bad = true;
		return NULL;
	}
	return &call->buffer[call->buffers];
}

/* Take @size bytes of the reply. */
static uint8_t *reserve(struct rd *in, struct call *call, size_t size)
{
	uint8_t *at = call->room;

	if (in->bad || (size_t)(call->room_end - at) < size) {
		in->bad = true;
		return NULL;
	}
	call->room += size;
	return at;
}

static long arg_out(struct rd *in, struct call *call)
{
	struct buffer *b = new_buffer(in, call);
	uint32_t len = rd_u32(in);
	bool whole = rd_u8(in);

	uint8_t *at = reserve(in, call, 4 + (size_t)len + CANARY);

	if (!b || !at)
		return 0;
	*b = (struct buffer){ .at = at + 4, .len = len, .canary = true,
			      .back = whole ? BACK_WHOLE : BACK_RETURNED };
	if (whole)
		memset(b->at, FILL_BYTE, len);
	memset(b->at + len, CANARY_BYTE, CANARY);
	call->buffers++;
	return (long)b->at;
}

static long arg_both(struct rd *in, struct call *call)
{
	struct buffer *b = new_buffer(in, call);
	uint32_t len;
	uint8_t *data = rd_bytes(in, &len);

	/* Where it will be sent from. */
	if (!b || !reserve(in, call, 4 + (size_t)len))
		return 0;
	*b = (struct buffer){ .at = data, .len = len, .back = BACK_WHOLE };
	call->buffers++;
	return (long)data;
}

/* The accessible bytes end where a page without access begins. */
static long arg_bad(struct rd *in, struct call *call)
{
	struct buffer *b = new_buffer(in, call);
	uint8_t kind = rd_u8(in);
	size_t len = rd_u32(in), valid = rd_u32(in), page = (size_t)sysconf(_SC_PAGESIZE), head;
	uint8_t *map;

	if (kind < BAD_UNMAPPED || kind > BAD_PARTIAL || len > REPLY_MAX || valid > len)
		in->bad = true;
	if (!b || !reserve(in, call, 4 + valid))
		return 0;
	if (kind == BAD_READONLY)
		valid = len;
	else if (kind == BAD_UNMAPPED)
		valid = 0;
	head = (valid + page - 1) & ~(page - 1);
	*b = (struct buffer){ .back = BACK_NOTHING,
			      .map_len = head + ((len + page) & ~(page - 1)) };
	map = mmap(NULL, b->map_len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED) {
		in->bad = true;
		return 0;
	}
	b->map = map;
	b->at = map + head - valid;
	call->buffers++;
	if (kind == BAD_READONLY)
		mprotect(map, head, PROT_READ);
	if (kind != BAD_PARTIAL)
		return (long)b->at;
	if (head)
		mprotect(map, head, PROT_READ | PROT_WRITE);
	memset(b->at, FILL_BYTE, valid);
	b->len = (uint32_t)valid;
	b->back = BACK_WHOLE;
	return (long)b->at;
}

static long arg_pointer(struct rd *in, struct call *call, uint8_t kind, uint32_t *len)
{
	unsigned int index = call->buffers;
	struct rd peek = *in;
	long at = 0;

	*len = 0;
	if (kind == ARG_IN) {
		at = (long)rd_bytes(in, len);
	} else if (kind == ARG_OUT) {
		at = arg_out(in, call);
	} else if (kind == ARG_BOTH) {
		at = arg_both(in, call);
	} else if (kind == ARG_BAD) {
		rd_u8(&peek);
		*len = rd_u32(&peek);
		return arg_bad(in, call);
	} else {
		in->bad = true;
	}
	if (kind != ARG_IN && !in->bad)
		*len = call->buffer[index].len;
	return at;
}

static long arg_iovec(struct rd *in, struct call *call)
{
	unsigned int count = rd_u16(in);

	if (call->has_iovec || count > OP_BUFFERS_MAX) {
		in->bad = true;
		return 0;
	}
	call->has_iovec = true;
	for (unsigned int i = 0; i < count && !in->bad; i++) {
		uint8_t kind = rd_u8(in);
		uint32_t len;
		long at = arg_pointer(in, call, kind, &len);

		call->iovec[i] = (struct iovec){ (void *)at, len };
	}
	return (long)call->iovec;
}

/* What may be within a struct msghdr. */
static long arg_plain(struct rd *in, const struct results *earlier, struct call *call)
{
	uint8_t kind = in->at < in->end ? *in->at : 0xff;
	uint32_t len;

	if (kind == ARG_IMMEDIATE || kind == ARG_RESULT)
		return (long)arg_number(in, earlier);
	rd_u8(in);
	if (kind == ARG_IOVEC)
		return arg_iovec(in, call);
	return arg_pointer(in, call, kind, &len);
}

/* A name, or control messages. */
static void *arg_apart(struct rd *in, const struct results *earlier, struct call *call)
{
	unsigned int index = call->buffers;
	long at = arg_plain(in, earlier, call);

	if (call->buffers > index)
		call->buffer[index].apart = true;
	return (void *)at;
}

/* Each pointer has a length of its own: it need not be that of what is there. */
static long arg_message(struct rd *in, const struct results *earlier, struct call *call)
{
	struct message *m = &call->message;

	if (call->has_message) {
		in->bad = true;
		return 0;
	}
	call->has_message = true;
	m->name = arg_apart(in, earlier, call);
	m->name_len = (int32_t)rd_u32(in);
	m->iov = (struct iovec *)arg_plain(in, earlier, call);
	m->iov_len = rd_u32(in);
	m->control = arg_apart(in, earlier, call);
	m->control_len = rd_u32(in);
	m->flags = rd_u32(in);
	return (long)m;
}

static long argument(struct rd *in, const struct results *earlier, struct call *call)
{
	if (in->at < in->end && *in->at == ARG_MESSAGE) {
		rd_u8(in);
		return arg_message(in, earlier, call);
	}
	return arg_plain(in, earlier, call);
}

static long execute(const struct call *call)
{
	const long *a = call->arg;

	/* Some machines take the arguments of mmap in memory: the library knows. */
	if (call->code == CALL_MMAP)
		return (long)mmap((void *)a[0], (size_t)a[1], (int)a[2], (int)a[3], (int)a[4], a[5]);
	return syscall(number_of(call->code), a[0], a[1], a[2], a[3], a[4], a[5]);
}

static bool overrun(const struct buffer *b)
{
	for (unsigned int i = 0; b->canary && i < CANARY; i++)
		if (b->at[b->len + i] != CANARY_BYTE)
			return true;
	return false;
}

/* Close the buffers up behind the result's header. */
static void give_back(struct call *call, int64_t ret, int error, struct wr *out)
{
	uint8_t *header = out->data + out->len, *at = header + RESULT_HEADER;
	uint64_t returned = ret > 0 ? (uint64_t)ret : 0;
	unsigned int count = 0;
	uint8_t flags = 0;

	for (unsigned int i = 0; i < call->buffers; i++)
		if (overrun(&call->buffer[i]))
			flags |= RESULT_OVERRUN;
	for (unsigned int i = 0; i < call->buffers; i++) {
		const struct buffer *b = &call->buffer[i];
		uint32_t len = b->len;

		if (b->back == BACK_NOTHING)
			continue;
		if (b->back == BACK_RETURNED && returned < len)
			len = (uint32_t)returned;
		if (!b->apart)
			returned -= returned < len ? returned : len;
		memmove(at + 4, b->at, len);
		put_be32(at, len);
		at += 4 + len;
		count++;
	}
	put_be64(header, (uint64_t)ret);
	put_be32(header + 8, (uint32_t)error);
	header[12] = flags;
	put_be16(header + 13, (uint16_t)count);
	out->len = (size_t)(at - out->data);
}

enum status op_call(struct rd *in, const struct results *earlier, struct wr *out, int64_t *ret)
{
	struct call call = { .code = rd_u16(in) };
	unsigned int count = rd_u8(in);
	enum status status = ST_OK;

	if (number_of(call.code) < 0 || count > ARGS_MAX)
		return ST_MALFORMED;
	if (out->cap - out->len < RESULT_HEADER)
		return ST_LIMIT;
	call.room = out->data + out->len + RESULT_HEADER;
	call.room_end = out->data + out->cap;
	for (unsigned int i = 0; i < count && !in->bad; i++)
		call.arg[i] = argument(in, earlier, &call);
	if (in->bad) {
		status = ST_MALFORMED;
	} else {
		errno = 0;
		*ret = execute(&call);
		give_back(&call, *ret, *ret == -1 ? errno : 0, out);
	}
	for (unsigned int i = 0; i < call.buffers; i++)
		if (call.buffer[i].map)
			munmap(call.buffer[i].map, call.buffer[i].map_len);
	return status;
}
