/* SPDX-License-Identifier: MIT */
/*
 * The 3215: its channel commands (IBM 3210/3215, GA24-3550), lines that are typed, and what
 * TERMINAL says of both.
 */
#include "zvmlab/console.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cp_private.h"
#include "ebcdic.h"
#include "zvmlab/command.h"
#include "zvmlab/fault.h"
#include "zvmlab/iucv.h"
#include "zvmlab/state.h"
#include "zvmlab/trace.h"

enum {
	COMMAND_WRITE = 0x01,
	COMMAND_WRITE_CR = 0x09,
	COMMAND_READ = 0x0a,
	COMMAND_ALARM = 0x0b,
};

/* Keys that are lines of their own. */
enum { INTERRUPT = 0x03, END_OF_FILE = 0x04, SUSPEND = 0x1a };

/* Text that is shown at once. */
#define SHOWN 512u

struct line {
	uint8_t len;
	char text[CONSOLE_LINE];	/* ISO 8859-1 */
};

struct console {
	struct line typed;		/* which has not ended */
	struct line line[CONSOLE_LINES];	/* for the guest, the oldest first */
	uint32_t lines;
	uint32_t column;		/* of the printer */
};

bool console_is(const struct cp *cp, uint16_t device)
{
	return cp->config.conmode_3215 && device == cp->config.console;
}

enum cp_unit_way console_way(uint8_t command)
{
	switch (command) {
	case COMMAND_WRITE:
	case COMMAND_WRITE_CR:
		return CP_UNIT_TAKES;
	case COMMAND_READ:
		return CP_UNIT_GIVES;
	case COMMAND_ALARM:
		return CP_UNIT_NO_DATA;
	default:
		return CP_UNIT_REJECT;
	}
}

struct shown {
	struct cp *cp;
	char text[SHOWN];
	size_t len;
};

static void flush(struct shown *shown)
{
	const struct cp *cp = shown->cp;

	if (shown->len > 0 && cp->host.console)
		cp->host.console(cp->host.opaque, shown->text, shown->len);
	shown->len = 0;
}

static void show_one(struct shown *shown, char c)
{
	if (shown->len == SHOWN)
		flush(shown);
	shown->text[shown->len++] = c;
}

/* Lines are broken at LINESIZE. */
static void show(struct cp *cp, const char *text, size_t len)
{
	const uint16_t size = cpcmd_terminal_value(cp, TERM_LINESIZE);
	struct shown shown = { .cp = cp };

	for (size_t i = 0; i < len; i++) {
		const bool ends = text[i] == '\n';

		if (!ends && size > 0 && cp->console->column >= size) {
			show_one(&shown, '\n');
			cp->console->column = 0;
		}
		show_one(&shown, text[i]);
		cp->console->column = ends ? 0 : cp->console->column + 1;
	}
	flush(&shown);
}

static void show_line(struct cp *cp, const char *text, size_t len)
{
	if (cp->console->column > 0)
		show(cp, "\n", 1);
	show(cp, text, len);
	show(cp, "\n", 1);
}

static void console_line(struct cp *cp, const char *text)
{
	if (cp->config.conmode_3215)
		show_line(cp, text, strlen(text));
}

static void ends_with_check(struct cp_unit_io *io, uint32_t sense)
{
	io->status = CP_UNIT_ENDED | CP_UNIT_CHECK;
	io->sense[0] = (uint8_t)sense;
	io->length = 0;
}

/* A fault is the command's, whose text may come in several pieces. */
static void write_text(struct cp *cp, struct cp_unit_io *io)
{
	const bool returns = io->command == COMMAND_WRITE_CR;
	struct fault_action fault = { .kind = FAULT_NONE };
	char text[CP_UNIT_DATA];

	if (!io->again)
		fault = fault_of_guest(cp, FAULT_CONSOLE_WRITE, "");
	if (fault.kind == FAULT_RC) {
		ends_with_check(io, fault.value);
		return;
	}
	if (fault.kind == FAULT_DROP)
		return;
	if (fault.kind == FAULT_CORRUPT && io->length > 0)
		io->data[fault.offset % io->length] ^= (uint8_t)fault.value;
	ebcdic_decode(text, io->data, io->length);
	show(cp, text, io->length);
	/* AUTOCR is for programs that leave it to CP to end their lines. */
	if (!io->more && (returns || (cp->console->column > 0 &&
				      cpcmd_terminal_value(cp, TERM_AUTOCR) != 0)))
		show(cp, "\n", 1);
}

static void drop_line(struct console *console)
{
	assert(console->lines > 0);
	console->lines--;
	memmove(console->line, console->line + 1, console->lines * sizeof(console->line[0]));
}

/* A line that cannot be read is lost: the guest would be told of it again and again. */
static void read_line(struct cp *cp, struct cp_unit_io *io)
{
	struct console *console = cp->console;
	struct fault_action fault;

	if (console->lines == 0) {
		io->status = CP_UNIT_WAITS;
		return;
	}
	fault = fault_of_guest(cp, FAULT_CONSOLE_READ, "");
	if (fault.kind == FAULT_RC) {
		ends_with_check(io, fault.value);
	} else {
		io->length = console->line[0].len;
		ebcdic_encode(io->data, console->line[0].text, io->length);
		if (fault.kind == FAULT_CORRUPT && io->length > 0)
			io->data[fault.offset % io->length] ^= (uint8_t)fault.value;
	}
	drop_line(console);
}

void console_io(struct cp *cp, struct cp_unit_io *io)
{
	switch (io->command) {
	case COMMAND_WRITE:
	case COMMAND_WRITE_CR:
		write_text(cp, io);
		return;
	case COMMAND_READ:
		read_line(cp, io);
		return;
	default:
		show(cp, "\a", 1);
	}
}

static void add(struct line *line, char c)
{
	if (line->len < CONSOLE_LINE)
		line->text[line->len++] = c;
}

static bool push(struct console *console, const struct line *line)
{
	if (console->lines == CONSOLE_LINES)
		return false;
	console->line[console->lines++] = *line;
	return true;
}

static bool is(const struct cp *cp, enum cpcmd_term setting, char c)
{
	return (char)cpcmd_terminal_value(cp, setting) == c && c != '\0';
}

/*
 * What was typed as the guest sees it, or CP: ESCAPE takes its meaning from the next character,
 * CHARDEL deletes one, LINEDEL all.  @end stands for each LINEND, after which lines begin anew.
 */
static struct line edited(const struct cp *cp, const char *text, size_t len, char end)
{
	struct line line = { .len = 0 };
	uint8_t begin = 0;

	for (size_t i = 0; i < len; i++) {
		if (is(cp, TERM_ESCAPE, text[i]) && i + 1 < len) {
			add(&line, text[++i]);
		} else if (is(cp, TERM_CHARDEL, text[i])) {
			line.len = line.len > begin ? line.len - 1 : begin;
		} else if (is(cp, TERM_LINEDEL, text[i])) {
			line.len = begin;
		} else if (is(cp, TERM_LINEND, text[i])) {
			add(&line, end);
			begin = line.len;
		} else {
			add(&line, text[i]);
		}
	}
	return line;
}

/* Characters of "#CP" in front of a command; 0: it is none.  The first is LINEND as it is now. */
static size_t command_prefix(const struct cp *cp, const struct line *line)
{
	const char *text = line->text;

	if (line->len < 3 || !is(cp, TERM_LINEND, text[0]) || (text[1] | 0x20) != 'c' ||
	    (text[2] | 0x20) != 'p')
		return 0;
	return line->len == 3 || text[3] == ' ' || is(cp, TERM_LINEND, text[3]) ? 3 : 0;
}

static void run_command(struct cp *cp, const char *text, size_t len)
{
	const struct line line = edited(cp, text, len, '\n');
	const struct cpcmd_response *response = cpcmd_run(cp, CPCMD_GUEST, line.text, line.len);

	if (response->len > 0)
		show_line(cp, response->text, response->len - 1);
}

/* The guest's lines: one for each LINEND more.  Return: false if there is no room for the first. */
static bool enter_lines(struct cp *cp, const struct line *typed)
{
	const struct line line = edited(cp, typed->text, typed->len, '\n');
	struct line one = { .len = 0 };
	bool lost = false;

	if (cp->console->lines == CONSOLE_LINES)
		return false;
	show_line(cp, typed->text, typed->len);
	for (size_t i = 0; i < line.len; i++) {
		if (line.text[i] != '\n') {
			add(&one, line.text[i]);
			continue;
		}
		lost |= !push(cp->console, &one);
		one.len = 0;
	}
	lost |= !push(cp->console, &one);
	if (lost)
		show_line(cp, "NOT ACCEPTED", strlen("NOT ACCEPTED"));
	return true;
}

/* The line has ended.  Return: false if it is to be ended again later. */
static bool enter(struct cp *cp)
{
	struct line *typed = &cp->console->typed;
	const size_t prefix = command_prefix(cp, typed);

	if (prefix > 0) {
		show_line(cp, typed->text, typed->len);
		run_command(cp, typed->text + prefix, typed->len - prefix);
	} else if (!enter_lines(cp, typed)) {
		return false;
	}
	typed->len = 0;
	return true;
}

/*
 * Linux takes a line of a circumflex and the letter for a key with Ctrl, and leaves out the end of
 * a line that ends in ^n.  What was typed before an end of file comes before it; else it is lost.
 */
static bool enter_key(struct cp *cp, char key)
{
	struct console *console = cp->console;
	const struct line line = { .len = 2, .text = { '^', (char)(key | 0x60) } };
	const bool before = key == END_OF_FILE && console->typed.len > 0;

	if (CONSOLE_LINES - console->lines < 1u + before)
		return false;
	if (before) {
		console->typed.len = (uint8_t)smaller(console->typed.len, CONSOLE_LINE - 2);
		add(&console->typed, '^');
		add(&console->typed, 'n');
		push(console, &console->typed);
	}
	console->typed.len = 0;
	push(console, &line);
	return true;
}

/* Return: false if the guest has to read a line first. */
static bool take_key(struct cp *cp, char key)
{
	switch (key) {
	case '\n':
	case '\r':
		return enter(cp);
	case INTERRUPT:
	case END_OF_FILE:
	case SUSPEND:
		return enter_key(cp, key);
	default:
		add(&cp->console->typed, key);
		return true;
	}
}

size_t console_type(struct cp *cp, const char *keys, size_t len)
{
	size_t taken = 0;

	assert(cp->config.conmode_3215);
	TRACE_INPUT(cp, console_type, .data = { (const uint8_t *)keys, len });
	while (taken < len && take_key(cp, keys[taken]))
		taken++;
	trace_number(cp, "taken", taken);
	trace_end(cp);
	iucv_dispatch(cp);
	return taken;
}

bool console_has_line(const struct cp *cp)
{
	return cp->console->lines > 0;
}

static int console_init(struct cp *cp, char *err, size_t errlen)
{
	cp->console = calloc(1, sizeof(*cp->console));
	if (cp->console)
		return 0;
	snprintf(err, errlen, "not enough memory for the console");
	return -1;
}

static void console_fini(struct cp *cp)
{
	free(cp->console);
	cp->console = NULL;
}

/* What has been typed was for the system that is gone; the paper stays where it is. */
static void console_reset(struct cp *cp)
{
	cp->console->typed.len = 0;
	cp->console->lines = 0;
}

static void line_state(struct state *state, struct line *line)
{
	state_u8(state, &line->len);
	state_require(state, line->len <= CONSOLE_LINE);
	if (!state->failed)
		state_bytes(state, line->text, line->len);
}

static void console_state(struct cp *cp, struct state *state)
{
	struct console *console = cp->console;

	state_tag(state, "CONS");
	state_u32(state, &console->column);
	line_state(state, &console->typed);
	state_u32(state, &console->lines);
	state_require(state, console->lines <= CONSOLE_LINES &&
			     (cp->config.conmode_3215 ||
			      (console->lines == 0 && console->typed.len == 0)));
	for (uint32_t i = 0; i < console->lines && !state->failed; i++)
		line_state(state, &console->line[i]);
	if (state->loading && state->failed)
		*console = (struct console){ .lines = 0 };
}

const struct cp_part console_part = {
	.init = console_init,
	.fini = console_fini,
	.reset = console_reset,
	.state = console_state,
	.console_line = console_line,
};
