/* SPDX-License-Identifier: MIT */
/*
 * Control socket: JSON lines with QMP's manners over a UNIX socket.
 *
 * The port watches ctl_fd() for input and calls ctl_dispatch() with its lock
 * held; nothing here blocks.  docs/control.md describes the protocol,
 * docs/control-schema.json is its schema.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct cp;
struct cp_event;
struct ctl;

/**
 * Create the socket (mode 0600) and listen.  An existing socket that nobody
 * listens on is replaced; anything else at @path is an error.
 * Return: NULL with one sentence in @err.
 */
struct ctl *ctl_open(const char *path, char *err, size_t errlen);
/** Serve @cp from now on; requests before that are answered when it comes. */
void ctl_attach(struct ctl *ctl, struct cp *cp);
/** A descriptor (epoll) that is readable when ctl_dispatch() has work. */
int ctl_fd(const struct ctl *ctl);
/** Accept, read, answer, write; bounded work, never blocks. */
void ctl_dispatch(struct ctl *ctl);
/**
 * cp_load() has replaced the CP's state and kept all users: those of clients are theirs
 * again.  @ctl may be NULL.
 */
void ctl_reattach(struct ctl *ctl);
/** Forward an event of the CP to all clients; may be called with ctl NULL. */
void ctl_event(struct ctl *ctl, const struct cp_event *event);
struct trace_file;
/** One line of the trace; if it ends the trace, clients are told.  @ctl may be NULL. */
void ctl_trace_line(struct ctl *ctl, struct trace_file *file, const char *line, size_t len);
/**
 * Have @call called after each event that is sent to clients, within the call of
 * the core that made it; NULL: no more.
 */
void ctl_on_event(struct ctl *ctl, void (*call)(void *opaque), void *opaque);
/**
 * Since the last call of this, have there been events, while so much waits for a client that
 * its requests do?  Then who makes events waits a moment, or it would never be answered: up to
 * CTL_PAUSES times, unless it reads something.  With the port's lock held; @ctl may be NULL.
 */
bool ctl_needs_pause(struct ctl *ctl);
/** Remove the socket, drop the clients. */
void ctl_close(struct ctl *ctl);

#endif
