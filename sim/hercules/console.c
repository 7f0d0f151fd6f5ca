/* SPDX-License-Identifier: MIT */
/*
 * The console that CP simulates: a 3215.  What the guest writes goes to the file
 * and the socket of the options, or, without a file, to Hercules' own log.  What
 * is typed comes from the socket, or from Hercules' panel after a slash.
 */
#define _GNU_SOURCE /* accept4 */
#include "port.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ebcdic.h"
#include "zvmlab/file.h"

/* Channel commands of a 3215. */
enum { WRITE = 0x01, NO_OPERATION = 0x03, SENSE = 0x04, WRITE_CR = 0x09, READ_INQUIRY = 0x0a,
       ALARM = 0x0b, SENSE_ID = 0xe4 };

/* Keys that a client may send: Ctrl-C, Ctrl-D, Ctrl-Z. */
enum { INTERRUPT = 0x03, END_OF_FILE = 0x04, SUSPEND = 0x1a };

#define LINE_MAX_3215 150u
#define EBCDIC_NL 0x15
#define NORMAL_END (CSW_CE | CSW_DE)

static struct {
	DEVBLK *dev;
	int log, listening;
	int client;			/* guarded by lock: two threads use it */
	pthread_mutex_t lock;
	/* Of the client's text, for the thread that serves sockets: */
	char typed[LINE_MAX_3215];	/* a line that has not ended yet */
	size_t typed_len;
	char held[256];			/* what comes after a line that the guest has not read */
	size_t held_len;
	uint8_t line[LINE_MAX_3215];	/* for the guest, EBCDIC; guarded by dev->lock */
	size_t line_len;
	bool line_there;
	bool attention;			/* the guest is still to be told of the line; the same */
	bool refused;			/* another line waits for this one to be read; the same */
	uint64_t told_ms;		/* when the guest was told last */
} console = {
	.log = -1, .listening = -1, .client = -1, .lock = PTHREAD_MUTEX_INITIALIZER,
};

static void show(const char *text, size_t len)
{
	if (len == 0)
		return;
	if (console.log < 0)
		logmsg("%.*s", (int)len, text);
	else if (write(console.log, text, len) < 0)
		console.log = -1;	/* a full disk: Hercules' log may be elsewhere */
	/* Whoever does not read fast enough misses something; the guest never waits. */
	pthread_mutex_lock(&console.lock);
	if (console.client >= 0)
		(void)send(console.client, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	pthread_mutex_unlock(&console.lock);
}

static void write_text(const BYTE *data, U16 count, bool carriage_return)
{
	char text[LINE_MAX_3215];
	size_t used = 0;

	for (U16 i = 0; i < count; i++) {
		text[used++] = data[i] == EBCDIC_NL ? '\n' : (char)ebcdic_to_latin1(data[i]);
		if (used == sizeof(text)) {
			show(text, used);
			used = 0;
		}
	}
	show(text, used);
	if (carriage_return)
		show("\n", 1);
}

/* Wait for a line if there is none: the guest has asked before anybody typed. */
static U16 read_line(DEVBLK *dev, BYTE *data, U16 count, BYTE *more)
{
	U16 len;

	obtain_lock(&dev->lock);
	while (!console.line_there && !sysblk.shutdown) {
		dev->iowaiters++;
		wait_condition(&dev->iocond, &dev->lock);
		dev->iowaiters--;
	}
	len = (U16)(console.line_len < count ? console.line_len : count);
	*more = count < console.line_len;
	memcpy(data, console.line, len);
	console.line_there = false;
	console.attention = false;
	console.refused = false;
	release_lock(&dev->lock);
	service_console();
	return (U16)(count - len);
}

static U16 give(BYTE *to, U16 count, const BYTE *from, U32 len, BYTE *more)
{
	U16 given = (U16)(len < count ? len : count);

	*more = count < len;
	memcpy(to, from, given);
	return (U16)(count - given);
}

static void execute_ccw(DEVBLK *dev, BYTE code, BYTE flags, BYTE chained, U16 count,
			BYTE prevcode, int ccwseq, BYTE *iobuf, BYTE *more, BYTE *unitstat,
			U16 *residual)
{
	(void)chained;
	(void)prevcode;
	(void)ccwseq;
	*unitstat = NORMAL_END;
	switch (code) {
	case WRITE:
	case WRITE_CR:
		write_text(iobuf, count, code == WRITE_CR && !(flags & CCW_FLAGS_CD));
		*residual = 0;
		break;
	case READ_INQUIRY:
		*residual = read_line(dev, iobuf, count, more);
		break;
	case NO_OPERATION:
	case ALARM:
		break;
	case SENSE:
		*residual = give(iobuf, count, dev->sense, dev->numsense, more);
		memset(dev->sense, 0, sizeof(dev->sense));
		break;
	case SENSE_ID:
		*residual = give(iobuf, count, dev->devid, dev->numdevid, more);
		break;
	default:
		dev->sense[0] = SENSE_CR;
		*unitstat = NORMAL_END | CSW_UC;
	}
}

/* Return values of device_attention(); busy is a device with another status or command. */
enum { TOLD = 0, DEVICE_BUSY = 1 };

/* Hercules does not tell when a device has become idle. */
#define IDLE_CHECK_MS 1
/*
 * A guest that was not ready yet, or was reset, may have missed the attention.  It is told again
 * if another line waits: one read too many would then find that line.
 */
#define TELL_AGAIN_MS 1000u

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Return: ms until that is to be looked at again, or -1. */
static int tell_guest(void)
{
	DEVBLK *dev = console.dev;
	bool due, again;
	int result;

	if (!dev)
		return -1;
	/* Taken before the guest is told: a line that comes meanwhile asks anew. */
	obtain_lock(&dev->lock);
	again = console.line_there && console.refused;
	due = console.attention || (again && now_ms() - console.told_ms >= TELL_AGAIN_MS);
	console.attention = false;
	if (due)
		console.told_ms = now_ms();
	release_lock(&dev->lock);
	result = due ? device_attention(dev, CSW_ATTN) : TOLD;
	if (result == TOLD)
		return again ? (int)TELL_AGAIN_MS : -1;
	obtain_lock(&dev->lock);
	console.attention = console.line_there;
	release_lock(&dev->lock);
	return result == DEVICE_BUSY ? IDLE_CHECK_MS : (int)TELL_AGAIN_MS;
}

/* One line for the guest.  Return: false if it has not read the last one yet. */
static bool enter(const char *text, size_t len)
{
	DEVBLK *dev = console.dev;
	bool taken, waiting;

	if (!dev)
		return true;
	if (len > sizeof(console.line))
		len = sizeof(console.line);
	obtain_lock(&dev->lock);
	taken = !console.line_there;
	console.refused = !taken;
	waiting = dev->iowaiters > 0;
	if (taken) {
		ebcdic_encode(console.line, text, len);
		console.line_len = len;
		console.line_there = true;
		console.attention = !waiting;
		if (waiting)
			signal_condition(&dev->iocond);
	}
	release_lock(&dev->lock);
	if (taken && !waiting)
		service_console();
	return taken;
}

bool console_command(const char *command)
{
	if (!console.dev || command[0] != '/')
		return false;
	if (enter(command + 1, strlen(command + 1)))
		return true;
	service_console();
	logmsg("zvmlab-cp: the guest has not read the last line yet; type this one again later\n");
	return true;
}

DEVBLK *console_device(void)
{
	return console.dev;
}

bool console_waits(void)
{
	return console.line_there;
}

static bool is_control(char key)
{
	static const char keys[] = { INTERRUPT, END_OF_FILE, SUSPEND };

	return memchr(keys, key, sizeof(keys)) != NULL;
}

/*
 * The keys Ctrl-C, Ctrl-D and Ctrl-Z, which a 3215 does not have.  Linux takes a line of a
 * circumflex and the letter for them, and leaves out the end of a line that ends in ^n.
 * Return: false if the guest is to read the last line before.
 */
static bool enter_control(char key)
{
	char line[] = { '^', (char)(key | 0x60) };
	size_t len = console.typed_len;

	/* What was typed before an end of file comes before it; else it is forgotten. */
	if (key == END_OF_FILE && len > 0) {
		len = len < sizeof(console.typed) - 2 ? len : sizeof(console.typed) - 2;
		memcpy(console.typed + len, "^n", 2);
		if (!enter(console.typed, len + 2))
			return false;
		console.typed_len = 0;
	}
	return enter(line, sizeof(line));
}

/* Return: how many of the bytes, up to one that would end a line while another is unread. */
static size_t take_typed(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		bool control = is_control(text[i]);

		if (control || text[i] == '\n' || text[i] == '\r') {
			if (!(control ? enter_control(text[i])
				      : enter(console.typed, console.typed_len)))
				return i;
			console.typed_len = 0;
		} else if (console.typed_len < sizeof(console.typed)) {
			console.typed[console.typed_len++] = text[i];
		}
	}
	return len;
}

static void set_client(int client)
{
	pthread_mutex_lock(&console.lock);
	if (console.client >= 0)
		close(console.client);
	console.client = client;
	pthread_mutex_unlock(&console.lock);
	console.typed_len = 0;
	console.held_len = 0;
}

static void client_readable(void);

static void watch_client(void)
{
	if (service_watch(console.client, client_readable) != 0)
		set_client(-1);
}

/* Take what the guest can be given, and hold the rest. */
static void take_held(void)
{
	size_t taken = take_typed(console.held, console.held_len);

	console.held_len -= taken;
	memmove(console.held, console.held + taken, console.held_len);
}

static void client_readable(void)
{
	ssize_t len = read(console.client, console.held, sizeof(console.held));

	if (len > 0) {
		console.held_len = (size_t)len;
		take_held();
		/* The client waits as soon as its socket is full. */
		if (console.held_len > 0) {
			service_unwatch(console.client);
			service_console();
		}
	} else if (len == 0 || errno != EAGAIN) {
		set_client(-1);
	}
}

int console_serve(void)
{
	if (console.held_len > 0) {
		take_held();
		if (console.held_len == 0)
			watch_client();
	}
	return tell_guest();
}

/* One at a time: a second one takes the place of the first, and of what that has typed. */
static void client_comes(void)
{
	int client = accept4(console.listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (client < 0)
		return;
	set_client(client);
	watch_client();
}

static int open_log(char *err, size_t errlen)
{
	const char *path = port->log_path, *why;

	if (!path)
		return 0;
	why = file_open_write(path, true, &console.log);
	if (!why)
		return 0;
	snprintf(err, errlen, "the console's log %s cannot be written: %s", path, why);
	return -1;
}

static int open_socket(char *err, size_t errlen)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = port->socket_path;

	if (!path)
		return 0;
	if (strlen(path) >= sizeof(address.sun_path)) {
		snprintf(err, errlen, "the console socket's path %s is longer than %zu bytes", path,
			 sizeof(address.sun_path) - 1);
		return -1;
	}
	strcpy(address.sun_path, path);
	console.listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (console.listening >= 0 &&
	    bind(console.listening, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	    chmod(path, 0600) == 0 && listen(console.listening, 1) == 0 &&
	    service_watch(console.listening, client_comes) == 0)
		return 0;
	snprintf(err, errlen, "the console socket %s cannot be created: %s", path,
		 strerror(errno));
	return -1;
}

int console_open(char *err, size_t errlen)
{
	return open_log(err, errlen) == 0 ? open_socket(err, errlen) : -1;
}

static int init_device(DEVBLK *dev, int argc, char *argv[])
{
	char reason[80];

	if (console.dev) {
		snprintf(reason, sizeof(reason), "a machine has one CP, device %4.4X is a second one",
			 dev->devnum);
		module_refuse(reason);
		return -1;
	}
	console.dev = dev;
	dev->connected = 1;
	dev->devtype = 0x3215;
	dev->bufsize = LINE_MAX_3215;
	dev->numsense = 1;
	/* Sense ID: control unit and device of this type, no model. */
	memcpy(dev->devid, "\xff\x32\x15\x00\x32\x15\x00", 7);
	dev->numdevid = 7;
	module_configure(dev->devnum, argc, argv);
	return port->refused ? -1 : 0;
}

static int close_device(DEVBLK *dev)
{
	(void)dev;
	console.dev = NULL;
	return 0;
}

static void query_device(DEVBLK *dev, char **class, int buflen, char *buffer)
{
	BEGIN_DEVICE_CLASS_QUERY("CON", dev, class, buflen, buffer);
	snprintf(buffer, (size_t)buflen, "*z/VM %s", port->own.config.userid);
}

/* Commands that end as soon as they begin, that is, without data. */
static BYTE immediate[256] = { [NO_OPERATION] = 1, [ALARM] = 1 };

DEVHND console_handler = {
	.init = init_device,
	.exec = execute_ccw,
	.close = close_device,
	.query = query_device,
	.immed = immediate,
};
