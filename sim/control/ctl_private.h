/* SPDX-License-Identifier: MIT */
/* Shared by the files of the control socket. */
#ifndef CTL_PRIVATE_H
#define CTL_PRIVATE_H

#include <assert.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control.h"
#include "text.h"
#include "zvmlab/command.h"
#include "zvmlab/cp.h"
#include "zvmlab/input.h"
#include "zvmlab/iucv.h"

#define CTL_MAX_CLIENTS 32u
/** Longest request, its newline included. */
#define CTL_MAX_LINE (8u << 20)
/** A request is read on only while less than this waits to be sent. */
#define CTL_OUT_PAUSE (1u << 20)
/** The guest is held up so often for a client that reads nothing. */
#define CTL_PAUSES 10000u
/** Answers that wait for another message; one more is sent with all of them. */
#define CTL_LATER_LIMIT (16u << 10)
/** A client for which more than this waits to be sent is dropped. */
#define CTL_OUT_LIMIT (64u << 20)
/** Longest data of one request or answer: as base64 it fits into a line. */
#define CTL_MAX_DATA (6u << 20)
/** Nesting and number of values in one request. */
#define CTL_MAX_DEPTH 16u
#define CTL_MAX_VALUES 65536u

#define CTL_MAX_PEERS 128u
/** Events kept for a persistent peer while it has no owner. */
#define CTL_MAX_KEPT 1024u
/** Bytes of the elements of one data set, whether given or filled. */
#define CTL_MAX_SET (256u << 20)

struct ctl_buffer {
	char *data;
	size_t start, len, capacity;	/* contents are data[start … start + len) */
};

struct ctl_client {
	uint64_t id;		/* never used again */
	int fd;
	uint32_t watched;	/* epoll events asked for */
	struct ctl_buffer in, out;
	struct ctl_buffer later;	/* goes out in front of the next message */
	size_t scanned;		/* bytes of @in without a newline */
	unsigned int pauses;	/* of the guest, since it has read something */
	bool ended;		/* no more requests will come */
	bool serving;		/* in ctl_client_serve() */
	bool dropped;		/* to be removed … */
	const char *reason;	/* … and why, or NULL if it went by itself */
};

struct ctl_peer;

struct ctl_machine;

struct ctl_capture {
	int fd, index_fd;	/* -1: none */
	uint64_t last_set;	/* number of the last set captured */
	uint64_t sets, bytes;
};

struct ctl {
	char *path;
	uint64_t inode;		/* of the socket, so that nobody else's is removed */
	int listen_fd, epoll_fd, wake_fd;
	struct cp *cp;		/* NULL until ctl_attach() */
	struct ctl_client *client[CTL_MAX_CLIENTS];
	bool behind;		/* a client may be: ctl_needs_pause() looks … */
	uint64_t paced;		/* … if there are more events than these */
	uint64_t last_client;
	uint64_t requests, events;
	uint64_t failures;	/* ctl_memory_failures() after the last message */
	void (*on_event)(void *opaque);		/* told of each event, or NULL */
	void *on_event_opaque;
	const struct ctl_machine *machine;	/* what the port does with it, or NULL */
	void *machine_opaque;
	struct ctl_peer *peers;
	struct ctl_capture capture;
	char trace_ended[96];	/* why, "": it goes on, or there is none */
};

/* Schema: what a command takes and returns. */
enum ctl_type {
	CTL_INT,	/* min to max */
	CTL_BOOL,
	CTL_STRING,	/* min to max bytes */
	CTL_NAME,	/* user ID, service or segment: 1 to 8 characters */
	CTL_DATA,	/* base64 of min to max bytes */
	CTL_FILE,	/* path of a file on the emulator's machine */
	CTL_ENUM,	/* one of choices */
	CTL_OBJECT,	/* with members; any if there are none */
	CTL_ARRAY,	/* min to max items: objects with members, or members[0] if it has no name */
	CTL_OF_INPUT,	/* what zvmlab/inputs.def says of the member of an input */
};

enum { CTL_OPTIONAL = 1, CTL_NULLABLE = 2 };

struct ctl_member {
	const char *name;	/* NULL ends a list */
	enum ctl_type type;
	unsigned int flags;
	int64_t min, max;
	const char *const *choices;	/* ended by NULL */
	const struct ctl_member *members;
	const char *text;
	enum input input;	/* CTL_OF_INPUT: … */
	size_t offset;		/* … and where its structure has the member */
};

struct ctl_call {
	struct ctl *ctl;
	struct cp *cp;
	struct ctl_client *client;
	const struct ctl_command *commands;	/* all of them */
	size_t command_count;
	const json_t *args;	/* checked against the schema */
	bool later;		/* the answer, if all went well, goes out with the next message */
	const char *error_class;
	char err[512];		/* one sentence */
};

struct ctl_command {
	const char *name;
	const char *text;
	const struct ctl_member *args, *returns;	/* NULL: none */
	/* Return: new reference, or NULL with ctl_fail(). */
	json_t *(*run)(struct ctl_call *call);
};

struct ctl_event_info {
	const char *name;
	const char *text;
	const struct ctl_member *data;
};

/* table.c */
extern const struct ctl_command ctl_commands[];
extern const size_t ctl_command_count;
/* event.c */
extern const struct ctl_event_info ctl_events[];
extern const size_t ctl_event_count;

/** Longest name of a file. */
#define CTL_MAX_FILE_NAME 4095

/* check.c */
/** @member without CTL_OF_INPUT: with the type and range of the input's member. */
struct ctl_member ctl_plain(const struct ctl_member *member);
bool ctl_check(const struct ctl_member *members, const json_t *args, char *err, size_t errlen);

/* schema.c */
json_t *ctl_schema(const struct ctl_command *commands, size_t count);

/* Lists of names that the schema takes from the core, ended by NULL. */
extern const char *const ctl_fault_points[];
extern const char *const ctl_fault_kinds[];
extern const char *const ctl_functions[];
extern const char *const ctl_recordings[];
extern const char *const ctl_rec_states[];
extern const char *const ctl_spool_queues[];
extern const char *const ctl_spool_devices[];
extern const char *const ctl_mon_kinds[];
extern const char *const ctl_mon_fates[];
extern const char *const ctl_appldata_kinds[];
extern const char *const ctl_path_states[];
extern const char *const ctl_segment_types[];
extern const char *const ctl_when[];
extern const char *const ctl_fault_types[];
extern const char *const ctl_issuers[];
extern const char *const ctl_user_kinds[];
extern const char *const ctl_page_initial[];
extern const char *const ctl_page_completion[];
/** Index of @name, which the schema has checked. */
unsigned int ctl_index(const char *const *list, const char *name);

/* value.c: JSON values of checked arguments, and what goes out. */
__attribute__((format(printf, 3, 4)))
json_t *ctl_fail(struct ctl_call *call, const char *error_class, const char *format, ...);
/** An argument that is there; one that may be absent. */
int64_t ctl_int(const json_t *args, const char *name);
int64_t ctl_int_or(const json_t *args, const char *name, int64_t otherwise);
bool ctl_bool(const json_t *args, const char *name);
bool ctl_bool_or(const json_t *args, const char *name, bool otherwise);
/** NULL if absent or null. */
const char *ctl_string(const json_t *args, const char *name);

/* cmd_cp.c: for every command that takes CP commands. */
/** The argument "command" in CP's characters; false with the error given. */
bool ctl_command_text(struct ctl_call *call, char text[CPCMD_MAX_COMMAND], size_t *len);
/** Response and return code. */
json_t *ctl_command_json(const struct cpcmd_response *response);
/** Copies a CTL_NAME in upper case; "" if absent. */
void ctl_name(const json_t *args, const char *name, char to[9]);
/** Bytes of a CTL_DATA into @to; absent: 0. */
size_t ctl_data(const json_t *args, const char *name, void *to, size_t max);
/** Bytes that a CTL_DATA has. */
size_t ctl_data_len(const json_t *args, const char *name);
json_t *ctl_json_data(const void *bytes, size_t len);
/** Text in ISO 8859-1. */
json_t *ctl_json_text(const char *text, size_t len);
/** Counter; those that JSON integers cannot hold stay at the largest. */
json_t *ctl_json_u64(uint64_t value);

/* base64.c */
#define CTL_BASE64_LEN(len) (((len) + 2) / 3 * 4)
/** Bytes that @text stands for, or -1 if it is not base64. */
int64_t ctl_base64_size(const char *text, size_t len);
/** @text has been checked by ctl_base64_size(). */
void ctl_base64_decode(uint8_t *to, const char *text, size_t len);
void ctl_base64_encode(char *to, const uint8_t *bytes, size_t len);

/* memory.c */
/** Have jansson's allocations counted that fail, from now on. */
void ctl_memory_watch(void);
/** How many have; what was made meanwhile may lack a part. */
uint64_t ctl_memory_failures(void);

/* client.c */
/** Make ctl_fd() readable, whatever the clients do. */
void ctl_wake(struct ctl *ctl);
struct ctl_client *ctl_client_new(struct ctl *ctl, int fd);
json_t *ctl_greeting(void);
/** Carries out one request, a line of @len bytes, and sends its answer. */
typedef void ctl_serve(struct ctl *ctl, struct ctl_client *client, const char *line, size_t len);
/** Read, let @request answer, write: a bounded part of it. */
void ctl_client_serve(struct ctl *ctl, struct ctl_client *client, ctl_serve *request);
/** Steals the reference to @message.  @later: it goes out with the next one that is not. */
void ctl_client_send(struct ctl *ctl, struct ctl_client *client, json_t *message, bool later);
/** Is there nothing more to do for it? */
bool ctl_client_done(const struct ctl_client *client);
void ctl_client_free(struct ctl *ctl, struct ctl_client *client);

/* request.c */
ctl_serve ctl_request;

/* notify.c */
/** An event of any name to one client, or to all (NULL); steals @data. */
void ctl_notify(struct ctl *ctl, struct ctl_client *to, const char *name, json_t *data);

/* peer.c */
void ctl_peers_left(struct ctl *ctl, const struct ctl_client *client);
void ctl_peers_free(struct ctl *ctl);

/* capture.c */
void ctl_capture_init(struct ctl_capture *capture);
void ctl_capture_set(struct ctl *ctl, uint64_t number);
void ctl_capture_end(struct ctl *ctl);

/* file.c: whole files.  Return: 0, or -1 with one sentence in @err. */
int ctl_file_read(const char *path, uint8_t **data, size_t *len, char *err, size_t errlen);
int ctl_file_write(const char *path, const void *data, size_t len, char *err, size_t errlen);
/** -1: there is none. */
void ctl_file_close(int fd);
/** write(2) until all is written; 0 or -1 with errno. */
int ctl_write_all(int fd, const void *data, size_t len);

/* The commands. */
json_t *ctl_query_version(struct ctl_call *call);
json_t *ctl_query_schema(struct ctl_call *call);
json_t *ctl_query_cp(struct ctl_call *call);
json_t *ctl_cp_command(struct ctl_call *call);
json_t *ctl_query_buffers(struct ctl_call *call);
json_t *ctl_query_digests(struct ctl_call *call);
json_t *ctl_storage_read(struct ctl_call *call);
json_t *ctl_kasan_watch(struct ctl_call *call);
json_t *ctl_state_save(struct ctl_call *call);
json_t *ctl_state_load(struct ctl_call *call);
json_t *ctl_query_counters(struct ctl_call *call);
json_t *ctl_peer_create(struct ctl_call *call);
json_t *ctl_peer_destroy(struct ctl_call *call);
json_t *ctl_peer_call(struct ctl_call *call);
json_t *ctl_peer_command(struct ctl_call *call);
json_t *ctl_query_users(struct ctl_call *call);
json_t *ctl_query_paths(struct ctl_call *call);
json_t *ctl_fault_arm(struct ctl_call *call);
json_t *ctl_fault_disarm(struct ctl_call *call);
json_t *ctl_query_faults(struct ctl_call *call);
json_t *ctl_query_fault_points(struct ctl_call *call);
/** Points, kinds and the fields of a rule; new. */
json_t *ctl_fault_tables(void);
json_t *ctl_monitor_deliver(struct ctl_call *call);
json_t *ctl_monitor_raw(struct ctl_call *call);
json_t *ctl_monitor_repeat(struct ctl_call *call);
json_t *ctl_monitor_tick(struct ctl_call *call);
json_t *ctl_monitor_manual(struct ctl_call *call);
json_t *ctl_monitor_event(struct ctl_call *call);
json_t *ctl_monitor_sever(struct ctl_call *call);
json_t *ctl_monitor_quiesce(struct ctl_call *call);
json_t *ctl_query_monitor(struct ctl_call *call);
json_t *ctl_query_set(struct ctl_call *call);
json_t *ctl_query_appldata(struct ctl_call *call);
json_t *ctl_watchdog_expire(struct ctl_call *call);
json_t *ctl_query_watchdog(struct ctl_call *call);
json_t *ctl_recording_record(struct ctl_call *call);
json_t *ctl_recording_sever(struct ctl_call *call);
json_t *ctl_recording_quiesce(struct ctl_call *call);
json_t *ctl_query_recording(struct ctl_call *call);
json_t *ctl_spool_put(struct ctl_call *call);
json_t *ctl_spool_limits(struct ctl_call *call);
json_t *ctl_spool_read(struct ctl_call *call);
json_t *ctl_query_spool(struct ctl_call *call);
json_t *ctl_monitor_capture(struct ctl_call *call);
json_t *ctl_query_segments(struct ctl_call *call);
json_t *ctl_segment_read(struct ctl_call *call);
json_t *ctl_segment_write(struct ctl_call *call);
json_t *ctl_segment_load(struct ctl_call *call);
json_t *ctl_segment_save(struct ctl_call *call);
json_t *ctl_guest_describe(struct ctl_call *call);
json_t *ctl_guest_forget(struct ctl_call *call);
json_t *ctl_query_guests(struct ctl_call *call);
json_t *ctl_page_out(struct ctl_call *call);
json_t *ctl_page_in(struct ctl_call *call);
json_t *ctl_page_release(struct ctl_call *call);
json_t *ctl_page_thrash(struct ctl_call *call);
json_t *ctl_query_pages(struct ctl_call *call);
json_t *ctl_hmc_drive(struct ctl_call *call);
json_t *ctl_hmc_write(struct ctl_call *call);
json_t *ctl_hmc_read(struct ctl_call *call);
json_t *ctl_hmc_remove(struct ctl_call *call);
json_t *ctl_hmc_hold(struct ctl_call *call);
json_t *ctl_hmc_complete(struct ctl_call *call);
json_t *ctl_query_hmc(struct ctl_call *call);
json_t *ctl_disk_read(struct ctl_call *call);
json_t *ctl_disk_write(struct ctl_call *call);
json_t *ctl_disk_hold(struct ctl_call *call);
json_t *ctl_disk_complete(struct ctl_call *call);
json_t *ctl_query_disks(struct ctl_call *call);
json_t *ctl_machine_pause(struct ctl_call *call);
json_t *ctl_machine_continue(struct ctl_call *call);
json_t *ctl_machine_restore(struct ctl_call *call);
json_t *ctl_machine_pass(struct ctl_call *call);
json_t *ctl_query_machine(struct ctl_call *call);

#endif
