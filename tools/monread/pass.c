/* SPDX-License-Identifier: MIT */
#include "pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "exit_code.h"

/* What is printed of an item.  -1 if that fails. */
static int print_item(const struct options *options, const struct monrec_item *item)
{
	const struct show show = { .out = stdout, .values = options->values };

	if (options->check && item->kind != MONREC_VIOLATION && item->kind != MONREC_SET_LOST)
		return 0;
	if (options->json)
		return json_item(&show, item);
	/* Without the lines around it, the line that a set is lost tells nothing. */
	if (options->check && item->kind == MONREC_SET_LOST && !item->error)
		return 0;
	return text_item(&show, item);
}

static bool enough_sets(const struct pass *pass)
{
	const uint64_t sets = pass->options->sets;

	return sets && pass->tally->sets + pass->tally->lost == sets;
}

static void follow(struct pass *pass, struct monrec_item *item)
{
	struct input *input = pass->input;

	switch (item->kind) {
	case MONREC_SET:
		/* Saved bytes have no end of a set to be waited for. */
		input->in_set = input->format != MONREC_SAVED;
		if (input->entry.has_interrupt)
			item->interrupt = input->entry.interrupt;
		break;
	case MONREC_SET_END:
		input->tried = 0;
		input->in_set = false;
		break;
	case MONREC_SET_LOST:
		input->in_set = false;
		break;
	default:
		break;
	}
}

/* Reading failed between sets.  True: it can go on. */
static bool go_on(struct pass *pass, int *error)
{
	struct input *input = pass->input;
	int ret;

	if (input->ended && !input->bad_index)
		*error = 0;
	if (input->format != MONREC_DEVICE || input->index || *error != EIO || !input->reopen)
		return false;
	complain_about(input->name, *error);
	ret = input_reopen(input);
	*error = -ret;
	if (ret)
		return false;
	pass->tally->severs++;
	monrec_restart(pass->reader);
	return true;
}

static bool has_next_file(const struct pass *pass)
{
	return pass->files && pass->files->at + 1 < pass->files->count && !input_signal();
}

/* The next file; those that cannot be read are left out. */
static bool next_file(struct pass *pass)
{
	struct files *files = pass->files;

	while (has_next_file(pass)) {
		const bool good = files_next(files, pass->input, pass->options->monwrite);

		selection_next_file(&pass->selection, pass->input->name);
		pass->releases->input = pass->input->name;
		if (good) {
			monrec_restart(pass->reader);
			return true;
		}
		pass->failed = true;
	}
	return false;
}

/* Why a file was not read to its end. */
static void tell_error(const struct input *input, int error)
{
	if (input->bad_index)
		fprintf(stderr, "monread: %s.idx is not an index of this file; remove it to read "
			"the file as one set\n", input->name);
	else if (error)
		complain_about(input->name, error);
}

/* Nothing comes any more; why. */
static int exit_code(const struct pass *pass, int error)
{
	const struct input *input = pass->input;
	const struct tally *tally = pass->tally;

	if (input_signal())
		return 128 + input_signal();
	if (input->timed_out)
		error = ETIMEDOUT;
	tell_error(input, error);
	if (input->timed_out)
		return EXIT_TIMEOUT;
	return error || input->bad_index || tally->violations || tally->lost || tally->overflows ||
			       tally->severs || pass->sinks->failed || pass->releases->contradicted || pass->failed ?
		       EXIT_FAILED :
		       EXIT_PASS;
}

/* The disk may be full: what stands in a file ends with a set. */
static int cannot_print(struct pass *pass)
{
	complain_about("standard output", errno);
	if (pass->regular)
		keep_back(&pass->printed);
	return EXIT_FAILED;
}

static void give_earlier(struct pass *pass)
{
	struct held *held;

	while ((held = hold_take(&pass->earlier))) {
		releases_set(pass->releases, &held->item.record);
		if (pass->anonymiser)
			anonymise_item(pass->anonymiser, &held->item);
		sinks_earlier(pass->sinks, &held->item.record);
		free(held);
	}
}

/* To all outputs.  False if it cannot be printed. */
static bool give(struct pass *pass, struct monrec_item *item, bool print)
{
	give_earlier(pass);
	if (item->kind == MONREC_RECORD)
		releases_set(pass->releases, &item->record);
	if (pass->anonymiser)
		anonymise_item(pass->anonymiser, item);
	if (print && print_item(pass->options, item))
		return false;
	if (print && pass->regular && item->kind == MONREC_SET_END && keep_mark(&pass->printed))
		return false;
	sinks_item(pass->sinks, item);
	return true;
}

/* What has waited is given now, and nothing waits any more. */
static bool let_go(struct pass *pass, bool print)
{
	struct held *held;
	bool good = true;

	pass->holding = false;
	while ((held = hold_take(&pass->hold))) {
		good = good && give(pass, &held->item, print);
		free(held);
	}
	return good;
}

/* The first set waits for its end; whatever else comes than what it consists of ends the waiting. */
static bool give_or_hold(struct pass *pass, struct monrec_item *item, bool print)
{
	const bool part = item->kind == MONREC_SET || item->kind == MONREC_ELEMENT ||
			  item->kind == MONREC_RECORD || item->kind == MONREC_FRAME ||
			  item->kind == MONREC_VIOLATION;

	releases_note(pass->releases, item);
	if (pass->holding && part && !pass->releases->contradicted && hold_add(&pass->hold, item))
		return true;
	return (!pass->holding || let_go(pass, print)) && give(pass, item, print);
}

/*
 * Where sets end is not known of saved bytes: each element is then a set of its own for the
 * outputs and for the totals.
 */
static bool is_between_elements(const struct pass *pass, const struct monrec_item *item)
{
	return pass->input->format == MONREC_SAVED && item->kind == MONREC_ELEMENT &&
	       item->at.element > 1;
}

/* True: those were all that are wanted. */
static bool between_elements(struct pass *pass, const struct monrec_item *item)
{
	struct monrec_item made = { .at = item->at };

	made.kind = MONREC_SET_END;
	if (pass->open) {
		tally_item(pass->tally, &made);
		sinks_item(pass->sinks, &made);
	}
	if (enough_sets(pass))
		return true;
	made.kind = MONREC_SET;
	sinks_item(pass->sinks, &made);
	pass->open = true;
	return false;
}

static bool ends_here(const struct pass *pass, const struct monrec_item *item)
{
	const struct options *options = pass->options;

	if (item->kind == MONREC_AGAIN && input_signal())
		return true;
	if (enough_sets(pass))
		return true;
	return pass->sinks->failed && pass->sinks->count == 0 && !options_print(options);
}

/* Do outputs need to know the release? */
static bool needs_release(const struct options *options)
{
	return options->anonymise || options->values || options->csv || options->html ||
	       options->tables || options->activity || options->exporting;
}

bool pass_tells_release(const struct options *options)
{
	return needs_release(options) || (options_print(options) && !options->check);
}

static void begin(struct pass *pass)
{
	pass->releases->input = pass->input->name;
	pass->releases->given = pass->options->release;
	pass->selection = (struct selection){
		.span = pass->options->span, .name = pass->input->name,
		.several = pass->files && pass->files->count > 1,
		.saved = pass->input->format == MONREC_SAVED,
	};
	pass->holding = !pass->options->release && needs_release(pass->options);
	pass->regular = keep_stream(&pass->printed, stdout);
	monrec_set_release(pass->reader, pass->options->release);
	monrec_give_frames(pass->reader, pass->sinks->frames);
}

/* False: those were all that are wanted, or what is printed cannot be. */
static bool take_item(struct pass *pass, struct monrec_item *item, bool *good)
{
	const bool print = options_print(pass->options);

	if (is_between_elements(pass, item)) {
		*good = let_go(pass, print);
		if (*good && between_elements(pass, item)) {
			item->kind = MONREC_SET_END;
			if (print)
				print_item(pass->options, item);
			return false;
		}
	}
	if (item->kind == MONREC_SET_END && pass->input->format == MONREC_SAVED && !pass->open)
		return true;
	if (item->kind == MONREC_SET || item->kind == MONREC_SET_END || item->kind == MONREC_SET_LOST)
		pass->open = item->kind == MONREC_SET;
	tally_item(pass->tally, item);
	*good = *good && give_or_hold(pass, item, print);
	return *good && !ends_here(pass, item);
}

/*
 * A set that is not wanted tells the release, and may have the configuration, which comes only
 * once.  It waits until the release is known.
 */
static void note_earlier(struct pass *pass, struct monrec_item *item)
{
	releases_note(pass->releases, item);
	if (item->kind == MONREC_RECORD && activity_is_of_system(&item->record))
		hold_add(&pass->earlier, item);
}

/* False as of take_item(). */
static bool select_item(struct pass *pass, struct monrec_item *item, bool *good)
{
	struct held *held;
	bool on = true;

	switch (selection_item(&pass->selection, item)) {
	case SELECTED:
		while ((held = hold_take(&pass->selection.waiting))) {
			on = on && take_item(pass, &held->item, good);
			free(held);
		}
		return on && take_item(pass, item, good);
	case SELECTED_EARLIER:
		note_earlier(pass, item);
		return true;
	case SELECTED_BEHIND:
		return next_file(pass);
	default:
		return true;
	}
}

/* False: nothing more is to be read; @error: why, if there is a reason. */
static bool next_item(struct pass *pass, int *error, bool *good)
{
	struct monrec_item item;

	if (monrec_next(pass->reader, &item) == MONREC_END)
		return next_file(pass);
	follow(pass, &item);
	if (item.kind != MONREC_ERROR)
		return select_item(pass, &item, good);
	*error = item.error;
	if (go_on(pass, error))
		return true;
	if (!has_next_file(pass))
		return false;
	tell_error(pass->input, *error);
	pass->failed |= *error || pass->input->bad_index;
	*error = 0;
	return next_file(pass);
}

int pass_run(struct pass *pass)
{
	const bool print = options_print(pass->options);
	int error = 0;
	bool good = true;

	begin(pass);
	while (next_item(pass, &error, &good))
		;
	good = let_go(pass, print) && good;
	give_earlier(pass);
	if (!good || (print && fflush(stdout)))
		return cannot_print(pass);
	if (!selection_end(&pass->selection))
		pass->failed = true;
	return exit_code(pass, error);
}

int pass_all(struct pass *pass)
{
	int code;

	pass->reader = monrec_open(pass->input->format, input_read, pass->input);
	if (!pass->reader) {
		complain_about("no storage", errno);
		return EXIT_CANNOT_RUN;
	}
	code = pass_run(pass);
	monrec_close(pass->reader);
	return code;
}
