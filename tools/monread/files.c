/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MTRSYS = 4 };

/* What the records of the first set tell together. */
struct look {
	struct file *file;
	struct monrec_evidence evidence;
	struct monrec_record system;	/* D1R4; no data: it has none */
	uint8_t bytes[MONREC_FRAME_SIZE];
};

static void note_record(struct look *look, const struct monrec_record *record)
{
	if (!look->file->tod)
		look->file->tod = record->tod;
	monrec_evidence_add(&look->evidence, record);
	if (record->domain != 1 || record->number != MTRSYS)
		return;
	look->system = *record;
	look->system.data = look->bytes;
	memcpy(look->bytes, record->data, record->len);
}

/* Where the name is, the release tells. */
static void note_system(struct look *look)
{
	const struct monrec_record *record = &look->system;
	const unsigned int release =
		monrec_record_release(record, monrec_evidence_releases(&look->evidence));
	const struct monrec_field *name = monrec_field(monrec_layout(1, MTRSYS), "SYSTMID", release);

	if (name && name->len == sizeof(look->file->system) && name->offset + name->len <= record->len)
		memcpy(look->file->system, record->data + name->offset, name->len);
}

static int look_at(struct file *file, struct input *input)
{
	struct monrec_reader *reader = monrec_open(input->format, input_read, input);
	struct look look = { .file = file };
	struct monrec_item item;

	if (!reader)
		return -ENOMEM;
	while (monrec_next(reader, &item) != MONREC_END && item.kind != MONREC_ERROR &&
	       item.kind != MONREC_AGAIN) {
		if (item.kind == MONREC_RECORD)
			note_record(&look, &item.record);
		if (file->tod && (item.kind == MONREC_SET_END ||
				  (item.kind == MONREC_ELEMENT && input->format == MONREC_SAVED)))
			break;
	}
	monrec_close(reader);
	file->releases = monrec_evidence_possible(&look.evidence);
	if (look.system.data)
		note_system(&look);
	return 0;
}

/* False, having told the user why. */
static bool open_one(struct input *input, bool monwrite)
{
	const int ret = input_open(input, monwrite);

	if (ret)
		complain_about(input->name, -ret);
	return ret == 0;
}

static bool is_regular(struct file *file)
{
	struct stat status;
	const bool standard = strcmp(file->name, "-") == 0;

	if (!standard && stat(file->name, &status)) {
		complain_about(file->name, errno);
		return false;
	}
	if (standard || !S_ISREG(status.st_mode)) {
		fprintf(stderr, "monread: %s is not a regular file: it cannot be one of several\n",
			file->name);
		return false;
	}
	file->device = status.st_dev;
	file->inode = status.st_ino;
	return true;
}

static bool add(struct files *files, const char *name, bool monwrite)
{
	struct input input = { .name = name, .timeout_ms = -1 };
	struct file *file = &files->file[files->count++];
	bool good;

	*file = (struct file){ .name = name };
	if (!is_regular(file) || !open_one(&input, monwrite))
		return false;
	good = input_recognise(&input);
	file->format = input.format;
	if (good && look_at(file, &input)) {
		complain_about(name, ENOMEM);
		good = false;
	}
	input_close(&input);
	return good;
}

static bool same_system(const struct file *one, const struct file *other)
{
	static const uint8_t none[8];

	if (memcmp(one->system, none, sizeof(none)) == 0 ||
	    memcmp(other->system, none, sizeof(none)) == 0 ||
	    memcmp(one->system, other->system, sizeof(none)) == 0)
		return true;
	fprintf(stderr, "monread: %s is of another system than %s: read those of each system by "
		"themselves\n", other->name, one->name);
	return false;
}

static bool same_release(const struct file *one, const struct file *other)
{
	char release[MONREC_RELEASES_TEXT], of[MONREC_RELEASES_TEXT];

	if (!one->releases || !other->releases || one->releases & other->releases)
		return true;
	fprintf(stderr, "monread: %s is of z/VM %s, %s of %s: read those of each release by "
		"themselves\n", one->name, monrec_releases_text(one->releases, release),
		other->name, monrec_releases_text(other->releases, of));
	return false;
}

static bool fits(const struct file *one, const struct file *other)
{
	static const char *const formats[] = {
		[MONREC_DEVICE] = "bytes of the device with an index",
		[MONREC_SAVED] = "bytes of the device without an index",
		[MONREC_MONWRITE] = "a file of MONWRITE",
	};

	if (one->device == other->device && one->inode == other->inode) {
		fprintf(stderr, "monread: %s and %s are the same file: give it once\n", one->name,
			other->name);
		return false;
	}
	if (one->format != other->format) {
		fprintf(stderr, "monread: %s is %s, %s is %s: files of one recording have one format\n",
			one->name, formats[one->format], other->name, formats[other->format]);
		return false;
	}
	return same_system(one, other) && same_release(one, other);
}

/* Those without a record come first, as they are given: nothing comes before them. */
static bool order(struct files *files)
{
	bool ordered = true;

	for (unsigned int i = 1; i < files->count; i++) {
		const struct file file = files->file[i];
		unsigned int at = i;

		for (; at > 0 && files->file[at - 1].tod > file.tod; at--)
			files->file[at] = files->file[at - 1];
		ordered &= at == i;
		files->file[at] = file;
	}
	return ordered;
}

bool files_open(struct files *files, const struct word_list *names, bool monwrite)
{
	files->count = 0;
	files->at = 0;
	for (unsigned int i = 0; i < names->count; i++) {
		if (!add(files, names->word[i], monwrite))
			return false;
		for (unsigned int before = 0; before < i; before++)
			if (!fits(&files->file[before], &files->file[i]))
				return false;
	}
	if (order(files))
		return true;
	fputs("monread: the files are read in the order of their time:", stderr);
	for (unsigned int i = 0; i < files->count; i++)
		fprintf(stderr, " %s", files->file[i].name);
	fputc('\n', stderr);
	return true;
}

bool files_next(struct files *files, struct input *input, bool monwrite)
{
	const struct input before = *input;

	input_close(input);
	*input = (struct input){
		.name = files->file[++files->at].name, .timeout_ms = before.timeout_ms,
		.blocking = before.blocking, .reopen = before.reopen,
		.reopen_wait_ms = before.reopen_wait_ms, .fd = -1,
	};
	return open_one(input, monwrite) && input_recognise(input);
}
