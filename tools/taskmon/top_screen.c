/* SPDX-License-Identifier: MIT */
/* The screen of 'taskmon top', and its keys. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "keys.h"
#include "number.h"
#include "writer.h"
#include "scale.h"
#include "top.h"

#define NS_PER_S 1e9
#define PER_CENT 100.0
/* To the end of the line nothing, to the end of the screen nothing; turned round. */
#define CLEAR_LINE "\033[K"
#define CLEAR_REST "\033[J"
#define HOME "\033[H"
#define REVERSE "\033[7m"
#define PLAIN "\033[m"
/* Lines around the tasks: two of the title, the heading, the last one; and a notice, if any. */
#define LINES_AROUND 4u

static const char *const help[] = {
	"q  F10       quit",
	"left  right  sort by the column before, or after",
	"P  M  T      sort by CPU, most resident storage, CPU time",
	"r  I         reverse the order",
	"o            only what did anything",
	"a            since top began, or in the last interval",
	"p  H         tasks (threads), or processes",
	"t  F5        processes below their parents",
	"g            add up by user, cgroup, command, or not",
	"u            only of a user",
	"/  F4        only with a text in the name",
	"c            only in a cgroup, and below it",
	"C            command lines, or names of programs",
	"f            only a process, and all processes below it",
	"space  Z     pause, and go on",
	"up  down  page up  page down  home  end    other rows",
	"h  ?  F1     this list; any other key: look again now",
};
#define HELP_LINES (sizeof(help) / sizeof(help[0]))

static void put(struct text *text, const char *word)
{
	text_append(text, word, strlen(word));
}

static void put_visible(struct text *text, const char *word)
{
	text_append_visible(text, word, strlen(word));
}

/* A value as a table with scaled values has it; without an interval a rate is not finite. */
static void put_value(struct text *text, enum top_column column, struct cell cell)
{
	char value[32];

	if (cell.present && scale_value(&top_columns[column], &cell, value, sizeof(value)))
		put(text, value);
	else
		put(text, "-");
}

/* Title. */

static const char *const counted[][2] = {	/* one, any other number */
	[BY_TASK] = { "task", "tasks" }, [BY_PROCESS] = { "process", "processes" },
	[BY_USER] = { "user", "users" }, [BY_CGROUP] = { "cgroup", "cgroups" },
	[BY_COMMAND] = { "command", "commands" },
};

static void put_filters(const struct top *top, struct text *line)
{
	const struct filter *filter = &top->wanted.filter;

	for (unsigned int i = 0; i < filter->pid_count; i++) {
		put(line, i ? "," : ", process ");
		text_append_number(line, filter->pids[i]);
	}
	if (filter->has_user) {
		put(line, ", user ");
		put_visible(line, wanted_user_name(filter->user));
	}
	if (filter->name) {
		put(line, ", name with '");
		put_visible(line, filter->name);
		put(line, "'");
	}
	if (filter->tree) {
		put(line, ", tree of ");
		text_append_number(line, filter->tree);
	}
	if (filter->cgroup) {
		put(line, ", cgroup ");
		put_visible(line, filter->cgroup);
	}
	if (filter->active)
		put(line, ", active");
}

void top_title(const struct top *top, const char *now, struct text *line)
{
	const struct cell length = cell_unsigned(top->length_ns);

	put(line, "taskmon top, ");
	put(line, now);
	put(line, top->accumulated ? ", in the last " : ", interval ");
	if (top->length_ns)
		put_value(line, TOP_CPU_TIME, length);
	else
		put(line, "-");
	put(line, "; ");
	text_append_number(line, top->shown.count);
	put(line, " ");
	put(line, counted[top->wanted.by][top->shown.count != 1]);
	put_filters(top, line);
	put(line, ", by ");
	put(line, top_columns[top->sort].name);
	if (top->reverse)
		put(line, " reversed");
	if (top->paused)
		put(line, "; PAUSED");
}

static struct cell total_rate(const struct top *top, const struct top_total *total)
{
	if (!total->known)
		return cell_absent();
	return cell_real((double)total->value * NS_PER_S / (double)top->length_ns);
}

static void put_without(struct text *line, const char *what, size_t processes)
{
	if (!processes)
		return;
	put(line, what);
	text_append_number(line, processes);
	put(line, processes == 1 ? " process" : " processes");
}

void top_totals(const struct top *top, struct text *line)
{
	char cpu[32] = "-";

	if (top->length_ns && top->cpu.known)
		snprintf(cpu, sizeof(cpu), "%.1f",
			 PER_CENT * (double)top->cpu.value / (double)top->length_ns);
	text_append_number(line, top->tasks);
	put(line, top->tasks == 1 ? " task in all: CPU " : " tasks in all: CPU ");
	put(line, cpu);
	put(line, " %, read ");
	put_value(line, TOP_READ_RATE, total_rate(top, &top->read));
	put(line, ", write ");
	put_value(line, TOP_WRITE_RATE, total_rate(top, &top->write));
	if (!top->length_ns)
		return;
	put_without(line, "; without CPU time of ", top->cpu.unknown);
	if (top->lost) {
		put(line, "; exits lost: ");
		text_append_number(line, top->lost);
	}
	put_without(line, "; without I/O of ", top->read.unknown > top->write.unknown ?
						       top->read.unknown : top->write.unknown);
}

bool top_notice(const struct top *top, struct text *line)
{
	static const char how[] = "'sysctl kernel.task_delayacct=1' turns it on for programs that "
				  "begin afterwards";
	const struct snapshot *shown = &top->shown;
	size_t unknown = 0;

	for (size_t i = 0; i < shown->count; i++)
		unknown += !shown->tasks[i].record.stats.present[STATS_BLKIO_DELAY];
	if (!unknown)
		return false;
	if (top->now.delays == DELAYACCT_OFF) {
		put(line, "Waits for I/O and storage are unknown: delays are not accounted; ");
		put(line, how);
	} else {
		put(line, "Waits for I/O and storage of ");
		text_append_number(line, unknown);
		put(line, " rows are unknown: their programs began before delays were accounted");
	}
	return true;
}

/* Keys. */

static const char *const asked[] = {
	[TOP_ASK_USER] = "user (name or number; nothing for all): ",
	[TOP_ASK_NAME] = "text in the name (nothing for all): ",
	[TOP_ASK_CGROUP] = "path of a cgroup, as /user.slice (nothing for all): ",
	[TOP_ASK_TREE] = "number of a process (nothing for all): ",
};

static enum top_action ask(struct top *top, int prompt)
{
	top->prompt = prompt;
	top->typed_len = 0;
	top->typed[0] = '\0';
	return TOP_DRAW;
}

/* Keeps what was typed.  Return: the copy, NULL for nothing. */
static const char *keep(const struct top *top, char *kept)
{
	memcpy(kept, top->typed, sizeof(top->typed));
	return *kept ? kept : NULL;
}

static void refuse(struct top *top, const char *what, const char *possible)
{
	snprintf(top->note, sizeof(top->note), "%s: '%s' (%s)", what, top->typed, possible);
}

static void take_user(struct top *top)
{
	struct filter *filter = &top->wanted.filter;
	uint32_t user = filter->user;

	if (*top->typed && !wanted_user(top->typed, &user)) {
		refuse(top, "no such user", "a name or a number");
		return;
	}
	filter->user = user;
	filter->has_user = *top->typed != '\0';
}

static void take_tree(struct top *top)
{
	uint64_t number = 0;

	if (*top->typed && !number_parse(top->typed, 1, UINT32_MAX, &number))
		refuse(top, "invalid number", "that of a process");
	else
		top->wanted.filter.tree = (uint32_t)number;
}

static void take_cgroup(struct top *top)
{
	if (*top->typed && *top->typed != '/')
		refuse(top, "invalid cgroup", "a path that begins with /");
	else
		top->wanted.filter.cgroup = keep(top, top->cgroup);
}

static enum top_action answer(struct top *top)
{
	int prompt = top->prompt;

	top->prompt = TOP_NO_PROMPT;
	switch (prompt) {
	case TOP_ASK_USER:
		take_user(top);
		break;
	case TOP_ASK_TREE:
		take_tree(top);
		break;
	case TOP_ASK_CGROUP:
		take_cgroup(top);
		/* The last look may not know the cgroups. */
		return TOP_LOOK;
	default:
		top->wanted.filter.name = keep(top, top->name);
	}
	return TOP_DRAW;
}

/* One character back, all its bytes. */
static void erase(struct top *top)
{
	while (top->typed_len && text_continues(top->typed[--top->typed_len]))
		;
	top->typed[top->typed_len] = '\0';
}

static enum top_action type(struct top *top, int key)
{
	switch (key) {
	case KEY_ENTER:
		return answer(top);
	case KEY_ESCAPE:
		top->prompt = TOP_NO_PROMPT;
		return TOP_DRAW;
	case KEY_BACKSPACE:
		erase(top);
		return TOP_DRAW;
	default:
		if (key < ' ' || key > 0xff || top->typed_len == TOP_TYPED_MAX)
			return TOP_DRAW;
		top->typed[top->typed_len++] = (char)key;
		top->typed[top->typed_len] = '\0';
		return TOP_DRAW;
	}
}

/* Sorts by the next column shown in this direction. */
static void move_sort(struct top *top, bool right)
{
	const struct selection *selection = &top->selection;
	size_t count = selection->shown_count, at = 0;

	while (at < count && selection->shown[at] != top->sort)
		at++;
	if (at == count)
		at = 0;
	else if (right)
		at = at + 1 < count ? at + 1 : at;
	else
		at = at ? at - 1 : 0;
	top->sort = selection->shown[at];
}

static void scroll(struct top *top, int key)
{
	int64_t page = top->page ? (int64_t)top->page : 1, count = (int64_t)top->shown.count;
	int64_t row = (int64_t)top->scrolled;

	switch (key) {
	case KEY_UP:
		row--;
		break;
	case KEY_DOWN:
		row++;
		break;
	case KEY_PAGE_UP:
		row -= page;
		break;
	case KEY_PAGE_DOWN:
		row += page;
		break;
	case KEY_HOME:
		row = 0;
		break;
	default:
		row = count - page;
	}
	row = row < count ? row : count - 1;
	top->scrolled = row > 0 ? (size_t)row : 0;
}

/* A field that is no longer shown is no longer sorted by. */
static void mend_sort(struct top *top)
{
	static const enum top_column twins[][2] = {
		{ TOP_READ_RATE, TOP_READ }, { TOP_WRITE_RATE, TOP_WRITE },
	};
	bool there = false;

	top_select(top);
	for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++)
		if (top->sort == twins[i][0] || top->sort == twins[i][1])
			top->sort = twins[i][top->accumulated];
	for (size_t i = 0; i < top->selection.shown_count; i++)
		there |= top->selection.shown[i] == top->sort;
	if (!there)
		top->sort = TOP_CPU;
}

static enum top_action add_up(struct top *top)
{
	enum snapshot_by by = top->wanted.by;

	top->wanted.by = by == BY_USER ? BY_CGROUP : by == BY_CGROUP ? BY_COMMAND :
			 by == BY_COMMAND ? BY_PROCESS : BY_USER;
	top->scrolled = 0;
	mend_sort(top);
	return wanted_cgroups(&top->wanted) ? TOP_LOOK : TOP_DRAW;
}

/* Keys that change how it is shown.  Return: whether it is one. */
static bool change(struct top *top, int key)
{
	switch (key) {
	case 'P':
		top->sort = TOP_CPU;
		return true;
	case 'M':
		top->sort = TOP_RESIDENT;
		return true;
	case 'T':
		top->sort = TOP_CPU_TIME;
		return true;
	case 'r':
	case 'I':
		top->reverse = !top->reverse;
		return true;
	case 'o':
		top->wanted.filter.active = !top->wanted.filter.active;
		return true;
	case 'a':
		top->accumulated = !top->accumulated;
		mend_sort(top);
		return true;
	case 'p':
	case 'H':
		top->wanted.by = top->wanted.by == BY_PROCESS ? BY_TASK : BY_PROCESS;
		mend_sort(top);
		return true;
	case 't':
	case KEY_F5:
		top->forest = !top->forest || top->wanted.by != BY_PROCESS;
		top->wanted.by = BY_PROCESS;
		mend_sort(top);
		return true;
	default:
		return false;
	}
}

enum top_action top_key(struct top *top, int key)
{
	top->note[0] = '\0';
	if (top->prompt)
		return type(top, key);
	if (top->help) {
		top->help = false;
		return key == 'q' || key == KEY_F10 ? TOP_QUIT : TOP_DRAW;
	}
	if (change(top, key))
		return TOP_DRAW;
	switch (key) {
	case 'q':
	case KEY_F10:
		return TOP_QUIT;
	case 'h':
	case '?':
	case KEY_F1:
		top->help = true;
		return TOP_DRAW;
	case ' ':
	case 'Z':
		top->paused = !top->paused;
		return TOP_DRAW;
	case 'g':
		return add_up(top);
	case 'u':
		return ask(top, TOP_ASK_USER);
	case '/':
	case '\\':
	case KEY_F4:
		return ask(top, TOP_ASK_NAME);
	case 'C':
		top->arguments = !top->arguments;
		mend_sort(top);
		return top->paused ? TOP_DRAW : TOP_LOOK;
	case 'c':
		return ask(top, TOP_ASK_CGROUP);
	case 'f':
		return ask(top, TOP_ASK_TREE);
	case KEY_LEFT:
	case KEY_RIGHT:
		move_sort(top, key == KEY_RIGHT);
		return TOP_DRAW;
	case KEY_UP:
	case KEY_DOWN:
	case KEY_PAGE_UP:
	case KEY_PAGE_DOWN:
	case KEY_HOME:
	case KEY_END:
		scroll(top, key);
		return TOP_DRAW;
	default:
		return top->paused ? TOP_DRAW : TOP_LOOK;
	}
}

/* Drawing. */

/* A screen that is filled line by line. */
struct canvas {
	struct text *screen;
	unsigned int rows, columns;	/* of the terminal */
	unsigned int row;		/* lines begun */
};

/* The bytes of as many whole characters as there are columns. */
static size_t fitting(const char *line, size_t len, size_t columns)
{
	size_t at = 0;

	while (at < len && columns--) {
		at++;
		while (at < len && text_continues(line[at]))
			at++;
	}
	return at;
}

static void put_line(struct canvas *canvas, const char *line, size_t len, const char *before)
{
	if (canvas->row == canvas->rows)
		return;
	if (canvas->row++)
		put(canvas->screen, "\r\n");
	/* First, lest it take a character in the last column away. */
	put(canvas->screen, before);
	put(canvas->screen, CLEAR_LINE);
	text_append(canvas->screen, line, fitting(line, len, canvas->columns));
	put(canvas->screen, PLAIN);
}

/* A line that is complete, and freed then. */
static void put_text(struct canvas *canvas, struct text *line)
{
	put_line(canvas, line->bytes, line->len, "");
	canvas->screen->failed |= line->failed;
	text_free(line);
}

/* The table: the heading, and the rows from the first one shown on. */
static int put_table(struct top *top, struct canvas *canvas)
{
	struct cell cells[TOP_COLUMNS];
	char *table = NULL;
	size_t size = 0, first = top->scrolled;
	FILE *out = open_memstream(&table, &size);
	struct writer *writer = out ? writer_open(out, WRITER_TABLE, true, &top->selection) : NULL;
	int ret = writer ? 0 : -ENOMEM;

	for (size_t i = first; !ret && i < top->shown.count && i - first < top->page; i++) {
		top_cells(top, &top->shown.tasks[i], cells);
		ret = writer_put(writer, cells);
	}
	if (!ret)
		ret = writer_flush(writer);
	writer_close(writer);
	if (out && fclose(out) && !ret)
		ret = -ENOMEM;
	for (const char *line = table, *end;
	     !ret && (end = memchr(line, '\n', (size_t)(table + size - line))); line = end + 1)
		put_line(canvas, line, (size_t)(end - line), line == table ? REVERSE : "");
	free(table);
	return ret;
}

static void put_help(struct canvas *canvas)
{
	for (size_t i = 0; i < HELP_LINES && canvas->row + 1 < canvas->rows; i++)
		put_line(canvas, help[i], strlen(help[i]), "");
}

static void put_last(const struct top *top, struct canvas *canvas)
{
	struct text line = { 0 };

	while (canvas->row + 1 < canvas->rows)
		put_line(canvas, "", 0, "");
	if (top->prompt) {
		put(&line, asked[top->prompt]);
		put_visible(&line, top->typed);
		put(&line, "_");
	} else if (*top->note) {
		put_visible(&line, top->note);
	} else {
		put(&line, top->help ? "any key: back" :
		    "q quit  h help  left/right sort  r reverse  o active  u user  / name  space pause");
	}
	put_text(canvas, &line);
}

/* How wide a column is: its heading is not wider. */
static size_t width_of(const struct selection *selection, size_t i)
{
	const struct column *column = &selection->columns[selection->shown[i]];
	const char *heading;
	size_t len = scale_heading(column, &heading);

	return len > column->width ? len : column->width;
}

static size_t width_of_all(const struct selection *selection)
{
	size_t width = 0;

	for (size_t i = 0; i < selection->shown_count; i++)
		width += width_of(selection, i) + (i ? 2 : 0);
	return width;
}

/* Leaves out what is missed least, so that names of programs are seen. */
static void fit(struct top *top, size_t columns)
{
	static const enum top_column missed_least[] = {
		TOP_CPU_TIME, TOP_RESIDENT, TOP_USER, TOP_CPU_WAIT, TOP_STATE,
	};
	struct selection *selection = &top->selection;
	size_t count = sizeof(missed_least) / sizeof(missed_least[0]);

	for (size_t i = 0; i < count && width_of_all(selection) > columns; i++) {
		size_t kept = 0;

		for (size_t j = 0; j < selection->shown_count; j++)
			if (selection->shown[j] != missed_least[i] || selection->shown[j] == top->sort)
				selection->shown[kept++] = selection->shown[j];
		selection->shown_count = kept;
	}
}

int top_draw(struct top *top, const char *now, unsigned int rows, unsigned int columns,
	     struct text *screen)
{
	struct canvas canvas = { .screen = screen, .rows = rows, .columns = columns };
	struct text line = { 0 }, notice = { 0 };
	bool noticed = top_notice(top, &notice);
	unsigned int around = LINES_AROUND + noticed;
	int ret = 0;

	top->page = rows > around ? rows - around : 0;
	top_select(top);
	if (!top->named)
		fit(top, columns);
	put(screen, HOME);
	top_title(top, now, &line);
	put_text(&canvas, &line);
	top_totals(top, &line);
	put_text(&canvas, &line);
	if (noticed)
		put_text(&canvas, &notice);
	if (top->help)
		put_help(&canvas);
	else
		ret = put_table(top, &canvas);
	put_last(top, &canvas);
	put(screen, CLEAR_REST);
	return screen->failed ? -ENOMEM : ret;
}
