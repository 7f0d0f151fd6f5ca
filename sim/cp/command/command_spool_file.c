/* SPDX-License-Identifier: MIT */
/* PURGE, ORDER, CHANGE, TRANSFER and QUERY of spool files. */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "command_spool.h"
#include "zvmlab/guests.h"

/* The classes that may name other users. */
#define ANY_USER "D"

/* The files: of one user, on one queue or all, and further conditions. */
struct selection {
	char owner[CP_NAME_LEN + 1];
	enum spool_queue queue;
	bool all_queues;
	bool chosen;		/* anything that chooses files, or ALL */
	uint16_t id[16];
	unsigned int ids;
	char spool_class;	/* 0: any */
	char form[CP_NAME_LEN + 1], dest[CP_NAME_LEN + 1];
};

typedef void file_function(struct cpcmd_args *args, struct spool_file *file, void *opaque);

static bool selects(const struct selection *s, const struct spool_file *file)
{
	bool found = s->ids == 0;

	for (unsigned int i = 0; i < s->ids; i++)
		found = found || s->id[i] == file->id;
	return found && strcmp(file->owner, s->owner) == 0 &&
	       (s->all_queues || file->queue == s->queue) &&
	       (s->spool_class == 0 || s->spool_class == file->spool_class) &&
	       (s->form[0] == '\0' || strcmp(s->form, file->label.form) == 0) &&
	       (s->dest[0] == '\0' || strcmp(s->dest, file->label.dest) == 0);
}

/* A file that a device has open is nobody else's; queries see it. */
static unsigned int for_each(struct cpcmd_args *args, const struct selection *s, bool open,
			     file_function *function, void *opaque)
{
	struct spool *spool = args->cp->system->spool;
	uint16_t line[SPOOL_MAX_FILES];
	const unsigned int lines = spool->lines;
	unsigned int count = 0;

	/* Files go to other places meanwhile, or are no more. */
	for (unsigned int i = 0; i < lines; i++)
		line[i] = spool->line[i];
	for (unsigned int i = 0; i < lines; i++) {
		struct spool_file *file = &spool->file[line[i]];

		if (!selects(s, file) || (file->open && !open))
			continue;
		function(args, file, opaque);
		count++;
	}
	return count;
}

static void show_count(struct cp *cp, unsigned int files, const char *what)
{
	if (files == 0)
		cpcmd_line(cp, "NO FILES %s", what);
	else
		cpcmd_line(cp, "%04u FILE%s %s", files, files > 1 ? "S" : "", what);
}

/* The owner in args->word. */
static int take_owner(struct cpcmd_args *args, const char *module, struct selection *s)
{
	if (strcmp(args->word, "*") != 0 && strcmp(args->word, args->userid) != 0 &&
	    !strpbrk(args->classes, ANY_USER))
		return cpcmd_invalid(args, module);
	if (strlen(args->word) > CP_NAME_LEN)
		return cpcmd_message(args->cp, module, CPCMD_BAD_USERID, 'E',
				     "Userid missing or invalid");
	snprintf(s->owner, sizeof(s->owner), "%.*s", CP_NAME_LEN,
		 strcmp(args->word, "*") == 0 ? args->userid : args->word);
	return 0;
}

/* [user] queue, where ALL stands for all three. */
static int next_queue(struct cpcmd_args *args, const char *module, struct selection *s)
{
	int rc;

	*s = (struct selection){ .spool_class = 0 };
	snprintf(s->owner, sizeof(s->owner), "%s", args->userid);
	if (!cpcmd_next(args))
		return cpcmd_missing(args, module);
	if (!cpcmd_is_queue(args, &s->queue) && !cpcmd_is(args->word, KEYWORD_ALL)) {
		rc = take_owner(args, module, s);
		if (rc != 0)
			return rc;
		if (!cpcmd_next(args))
			return cpcmd_missing(args, module);
	}
	if (cpcmd_is(args->word, KEYWORD_ALL))
		s->all_queues = s->chosen = true;
	else if (!cpcmd_is_queue(args, &s->queue))
		return cpcmd_invalid(args, module);
	return 0;
}

/*
 * What chooses files, in args->word.  Return: 0 if it was that, -1 if it is something else, or the
 * message's number.
 */
static int choose(struct cpcmd_args *args, const char *module, struct selection *s)
{
	uint64_t id;

	s->chosen = true;
	if (cpcmd_is(args->word, KEYWORD_ALL))
		return 0;
	if (cpcmd_number(args->word, 10, 0, SPOOL_MAX_ID, &id)) {
		if (s->ids == sizeof(s->id) / sizeof(s->id[0]))
			return cpcmd_invalid(args, module);
		s->id[s->ids++] = (uint16_t)id;
		return 0;
	}
	if (cpcmd_is(args->word, KEYWORD_CLASS))
		return cpcmd_next_class(args, module, false, &s->spool_class);
	if (cpcmd_is(args->word, KEYWORD_FORM))
		return cpcmd_next_field(args, module, s->form);
	if (cpcmd_is(args->word, KEYWORD_DEST))
		return cpcmd_next_field(args, module, s->dest);
	return -1;
}

static void purge_file(struct cpcmd_args *args, struct spool_file *file, void *opaque)
{
	(void)opaque;
	spool_purge(args->cp, file);
}

int cpcmd_purge_files(struct cpcmd_args *args)
{
	struct selection s;
	int rc = next_queue(args, "CSU", &s);

	while (rc == 0 && cpcmd_next(args)) {
		rc = choose(args, "CSU", &s);
		if (rc < 0)
			rc = cpcmd_invalid(args, "CSU");
	}
	if (rc != 0)
		return rc;
	if (!s.chosen)
		return cpcmd_missing(args, "CSU");
	show_count(args->cp, for_each(args, &s, false, purge_file, NULL), "PURGED");
	return 0;
}

/* Is the @index-th number one that was given before? */
static bool named_before(const struct selection *s, unsigned int index)
{
	for (unsigned int i = 0; i < index; i++)
		if (s->id[i] == s->id[index])
			return true;
	return false;
}

/* Files come to the front in the order in which they are named first. */
int cpcmd_order(struct cpcmd_args *args)
{
	struct spool_file *file;
	unsigned int count = 0;
	struct selection s;
	int rc = next_queue(args, "CSO", &s);

	if (rc == 0 && s.all_queues)
		return cpcmd_invalid(args, "CSO");
	while (rc == 0 && cpcmd_next(args)) {
		rc = choose(args, "CSO", &s);
		if (rc < 0)
			rc = cpcmd_invalid(args, "CSO");
	}
	if (rc != 0)
		return rc;
	if (s.ids == 0)
		return cpcmd_missing(args, "CSO");
	for (unsigned int i = s.ids; i-- > 0;) {
		file = spool_find(args->cp, s.owner, s.queue, s.id[i]);
		if (!file || file->open || named_before(&s, i))
			continue;
		spool_to_front(args->cp, file);
		count++;
	}
	show_count(args->cp, count, "ORDERED");
	return 0;
}

struct change {
	bool hold, nohold, named, given;
	char spool_class;
	char form[CP_NAME_LEN + 1], name[CP_NAME_LEN + 1], type[CP_NAME_LEN + 1];
};

static void change_file(struct cpcmd_args *args, struct spool_file *file, void *opaque)
{
	const struct change *change = opaque;

	(void)args;
	if (change->hold || change->nohold)
		file->user_hold = change->hold;
	if (change->spool_class)
		file->spool_class = change->spool_class;
	if (change->form[0])
		strcpy(file->label.form, change->form);
	if (change->named) {
		strcpy(file->label.name, change->name);
		strcpy(file->label.type, change->type);
	}
}

/* The change in args->word: behind the file's number a class is a new one. */
static int change_option(struct cpcmd_args *args, struct change *change)
{
	int rc = 0;

	change->given = true;
	if (cpcmd_is(args->word, KEYWORD_HOLD))
		change->hold = true;
	else if (cpcmd_is(args->word, KEYWORD_NOHOLD))
		change->nohold = true;
	else if (cpcmd_is(args->word, KEYWORD_CLASS))
		rc = cpcmd_next_class(args, "CSG", false, &change->spool_class);
	else if (cpcmd_is(args->word, KEYWORD_FORM))
		rc = cpcmd_next_field(args, "CSG", change->form);
	else if (cpcmd_is(args->word, KEYWORD_NAME)) {
		rc = cpcmd_next_name(args, "CSG", change->name, change->type);
		change->named = rc == 0;
	} else
		return cpcmd_invalid(args, "CSG");
	if (rc == 0 && change->hold && change->nohold)
		return cpcmd_message(args->cp, "CSG", CPCMD_CONFLICT, 'E',
				     "Conflicting option - %s", args->word);
	return rc;
}

int cpcmd_change(struct cpcmd_args *args)
{
	struct change change = { 0 };
	struct selection s;
	int rc = next_queue(args, "CSG", &s);

	if (rc != 0)
		return rc;
	if (!s.chosen) {
		if (!cpcmd_next(args))
			return cpcmd_missing(args, "CSG");
		rc = choose(args, "CSG", &s);
		if (rc < 0)
			return cpcmd_invalid(args, "CSG");
	}
	while (rc == 0 && cpcmd_next(args))
		rc = change_option(args, &change);
	if (rc != 0)
		return rc;
	if (!change.given)
		return cpcmd_missing(args, "CSG");
	show_count(args->cp, for_each(args, &s, false, change_file, &change), "CHANGED");
	return 0;
}

struct transfer {
	char to[CP_NAME_LEN + 1];
	uint8_t queue;
	unsigned int refused, moved;
};

static void transfer_file(struct cpcmd_args *args, struct spool_file *file, void *opaque)
{
	struct transfer *transfer = opaque;

	if (strcmp(file->owner, transfer->to) != 0 && !spool_has_room(args->cp, transfer->to)) {
		transfer->refused++;
		return;
	}
	transfer->moved++;
	spool_enqueue(args->cp, file, transfer->to, (enum spool_queue)transfer->queue);
}

int cpcmd_transfer(struct cpcmd_args *args)
{
	struct transfer transfer = { 0 };
	struct selection s;
	int rc = next_queue(args, "CST", &s);

	if (rc == 0 && s.all_queues)
		return cpcmd_invalid(args, "CST");
	while (rc == 0 && cpcmd_next(args) && !cpcmd_is(args->word, KEYWORD_TO)) {
		rc = choose(args, "CST", &s);
		if (rc < 0)
			rc = cpcmd_invalid(args, "CST");
	}
	if (rc == 0 && (!s.chosen || args->word[0] == '\0'))
		return cpcmd_missing(args, "CST");
	if (rc == 0)
		rc = cpcmd_next_to(args, "CST", transfer.to, &transfer.queue);
	if (rc == 0)
		rc = cpcmd_end(args, "CST");
	if (rc != 0)
		return rc;
	for_each(args, &s, false, transfer_file, &transfer);
	if (transfer.refused > 0)
		rc = cpcmd_message(args->cp, "CST", CPCMD_TOO_MANY_FILES, 'E',
				   "User %s spool fileid limit exceeded", transfer.to);
	show_count(args->cp, transfer.moved, "TRANSFERRED");
	return rc;
}

struct listing {
	enum { SHORT_DATE, FULL_DATE, ISO_DATE } date;
	bool names;
	unsigned int lines;
};

/* Linux' vmur relies on where the columns begin. */
static void list_file(struct cpcmd_args *args, struct spool_file *file, void *opaque)
{
	struct listing *listing = opaque;
	const struct clock_time t = clock_time(file->tod);
	const char *user = file->queue == SPOOL_RDR ? file->origin : file->owner;
	const char *hold = file->system_hold ? file->user_hold ? "US" : "SYS"
					     : file->user_hold ? "USER" : "NONE";
	char date[16];

	if (listing->lines++ == 0)
		cpcmd_line(args->cp, "%s FILE CLASS RECORDS  CPY HOLD %s",
			   file->queue == SPOOL_RDR ? "ORIGINID" : "OWNERID ",
			   !listing->names ? "FORM     DEST     KEEP MSG" :
			   listing->date == SHORT_DATE ?
			   "DATE  TIME     NAME      TYPE     DIST" :
			   "DATE       TIME     NAME      TYPE     DIST");
	if (listing->date == ISO_DATE)
		snprintf(date, sizeof(date), "%04u-%02u-%02u", t.year % 10000, t.month % 100,
			 t.day % 100);
	else if (listing->date == FULL_DATE)
		snprintf(date, sizeof(date), "%02u/%02u/%04u", t.month % 100, t.day % 100,
			 t.year % 10000);
	else
		snprintf(date, sizeof(date), "%02u/%02u", t.month % 100, t.day % 100);
	if (listing->names)
		cpcmd_line(args->cp,
			   "%-8s %04u %c %s %08u %03u %-4s %s %02u:%02u:%02u %-8s  %-8s %s", user,
			   file->id, file->spool_class, spool_queue_name[file->device],
			   file->records, file->copies, hold, date, t.hour, t.minute, t.second,
			   file->label.name, file->label.type, file->label.dist);
	else
		cpcmd_line(args->cp, "%-8s %04u %c %s %08u %03u %-4s %-8s %-8s %-4s OFF", user,
			   file->id, file->spool_class, spool_queue_name[file->device],
			   file->records, file->copies, hold, file->label.form, file->label.dest,
			   file->keep ? "ON" : "OFF");
}

static int query_option(struct cpcmd_args *args, struct selection *s, struct listing *listing)
{
	int rc;

	if (cpcmd_is(args->word, KEYWORD_ALL))
		listing->names = true;
	else if (cpcmd_is(args->word, KEYWORD_SHORTDATE))
		listing->date = SHORT_DATE;
	else if (cpcmd_is(args->word, KEYWORD_FULLDATE))
		listing->date = FULL_DATE;
	else if (cpcmd_is(args->word, KEYWORD_ISODATE))
		listing->date = ISO_DATE;
	else {
		rc = choose(args, "CSQ", s);
		return rc < 0 ? cpcmd_invalid(args, "CSQ") : rc;
	}
	return 0;
}

/* [USERID] user, of whose files the query is; the rest stays for the options. */
static int query_owner(struct cpcmd_args *args, struct selection *s)
{
	struct cpcmd_args owner = *args;
	uint64_t id;
	int rc;

	snprintf(s->owner, sizeof(s->owner), "%s", args->userid);
	if (!cpcmd_next(&owner))
		return 0;
	/* IBM has no other abbreviation of it, and a user may have the name of an option there. */
	if (cpcmd_is(owner.word, KEYWORD_USERID) || cpcmd_is(owner.word, KEYWORD_U)) {
		rc = cpcmd_next_user(&owner, "CSQ", s->owner);
		if (rc != 0)
			return rc;
	} else if (strcmp(owner.word, "*") != 0 &&
		   (cpcmd_number(owner.word, 10, 0, SPOOL_MAX_ID, &id) ||
		    !guests_in_directory(args->cp, owner.word))) {
		return 0; /* a number or an option */
	}
	rc = take_owner(&owner, "CSQ", s);
	*args = owner;
	return rc;
}

static int query_files(struct cpcmd_args *args, enum spool_queue queue)
{
	struct selection s = { .queue = queue };
	struct listing listing = { .names = false };
	int rc = query_owner(args, &s);

	while (rc == 0 && cpcmd_next(args))
		rc = query_option(args, &s, &listing);
	if (rc != 0)
		return rc;
	for (unsigned int i = 0; i < s.ids; i++)
		if (!spool_find(args->cp, s.owner, queue, s.id[i]))
			return cpcmd_message(args->cp, "CSQ", CPCMD_NO_FILE, 'E',
					     "Spool file %04u does not exist", s.id[i]);
	if (for_each(args, &s, true, list_file, &listing) == 0)
		cpcmd_line(args->cp, "NO %s FILES", spool_queue_name[queue]);
	return 0;
}

int cpcmd_query_reader(struct cpcmd_args *args)
{
	return query_files(args, SPOOL_RDR);
}

int cpcmd_query_punch(struct cpcmd_args *args)
{
	return query_files(args, SPOOL_PUN);
}

int cpcmd_query_printer(struct cpcmd_args *args)
{
	return query_files(args, SPOOL_PRT);
}
