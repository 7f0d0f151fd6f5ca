/* SPDX-License-Identifier: MIT */
#include "pass.h"

#include <errno.h>
#include <string.h>

#include "exit_code.h"
#include "keep.h"

/* What is printed of an item.  -1 if that fails. */
static int print_item(const struct options *options, const struct monrec_item *item)
{
	const struct show show = {
		.out = stdout,
		.values = options->values,
		.release = options_release(options),
	};

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

/*
 * Where sets end is not known of saved bytes: each element is then a set of its own for the
 * outputs and for the totals.  True: those were all that are wanted.
 */
static bool between_elements(struct pass *pass, const struct monrec_item *item)
{
	struct monrec_item made = { .at = item->at };

	if (pass->input->format != MONREC_SAVED || item->kind != MONREC_ELEMENT ||
	    item->at.element == 1)
		return false;
	made.kind = MONREC_SET_END;
	tally_item(pass->tally, &made);
	sinks_item(pass->sinks, &made);
	if (enough_sets(pass))
		return true;
	made.kind = MONREC_SET;
	sinks_item(pass->sinks, &made);
	return false;
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
	complain(input->name, *error);
	ret = input_reopen(input);
	*error = -ret;
	if (ret)
		return false;
	pass->tally->severs++;
	monrec_restart(pass->reader);
	return true;
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
	if (input->bad_index)
		fprintf(stderr, "monread: %s.idx is not an index of this file; remove it to read "
			"the file as one set\n", input->name);
	else if (error)
		complain(input->name, error);
	if (input->timed_out)
		return EXIT_TIMEOUT;
	return error || input->bad_index || tally->violations || tally->lost || tally->overflows ||
			       tally->severs || pass->sinks->failed ?
		       EXIT_FAILED :
		       EXIT_PASS;
}

/* The disk may be full: what stands in a file ends with a set. */
static int cannot_print(struct keep *printed, bool regular)
{
	complain("standard output", errno);
	if (regular)
		keep_back(printed);
	return EXIT_FAILED;
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

int pass_run(struct pass *pass)
{
	const bool print = options_print(pass->options);
	struct monrec_item item;
	struct keep printed;
	const bool regular = keep_stream(&printed, stdout);
	int error = 0;

	monrec_set_release(pass->reader, pass->options->release);
	monrec_give_frames(pass->reader, pass->sinks->frames);
	while (monrec_next(pass->reader, &item) != MONREC_END) {
		if (between_elements(pass, &item)) {
			item.kind = MONREC_SET_END;
			if (print)
				print_item(pass->options, &item);
			break;
		}
		tally_item(pass->tally, &item);
		follow(pass, &item);
		if (item.kind == MONREC_ERROR) {
			error = item.error;
			if (go_on(pass, &error))
				continue;
			break;
		}
		if (pass->anonymiser)
			anonymise_item(pass->anonymiser, &item);
		if (print && print_item(pass->options, &item))
			return cannot_print(&printed, regular);
		if (regular && print && item.kind == MONREC_SET_END && keep_mark(&printed))
			return cannot_print(&printed, regular);
		sinks_item(pass->sinks, &item);
		if (ends_here(pass, &item))
			break;
	}
	if (print && fflush(stdout))
		return cannot_print(&printed, regular);
	return exit_code(pass, error);
}

int pass_all(struct pass *pass)
{
	int code;

	pass->reader = monrec_open(pass->input->format, input_read, pass->input);
	if (!pass->reader) {
		complain("no storage", errno);
		return EXIT_CANNOT_RUN;
	}
	code = pass_run(pass);
	monrec_close(pass->reader);
	return code;
}
