/* SPDX-License-Identifier: MIT */
/*
 * An example of libmonrec: what processors did, out of monitor data.
 *
 *	cc example.c $(pkg-config --cflags --libs monrec) -o example
 *	./example FILE			what was read from /dev/monreader
 *	./example --monwrite FILE	a file of MONWRITE
 *
 * Prints a line for each record about a processor (D0R1), of valid sets only, and
 * each violation of the format on standard error.  Exit code: 0, 1 after a
 * violation or a set that was lost, 2 if the file cannot be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <monrec.h>

#define PROCESSORS 64

/* The summary of the current set; printed once the set has turned out to be valid. */
static struct processor {
	uint64_t address, diagnoses;
} processors[PROCESSORS];
static unsigned int count;

static void take(const struct monrec_record *record)
{
	const struct monrec_layout *layout = monrec_layout_named("SYTSYP");
	struct processor *processor = &processors[count];

	if (record->domain != layout->domain || record->number != layout->number ||
	    count == PROCESSORS)
		return;
	if (monrec_unsigned(record, monrec_field(layout, "PFXCPUAD", MONREC_REFERENCE),
			    &processor->address) == 0 &&
	    monrec_unsigned(record, monrec_field(layout, "PLSDIAGT", MONREC_REFERENCE),
			    &processor->diagnoses) == 0)
		count++;
}

static void print_set(uint64_t set)
{
	for (unsigned int i = 0; i < count; i++)
		printf("set %" PRIu64 ": processor %" PRIu64 ": %" PRIu64 " DIAGNOSEs\n", set,
		       processors[i].address, processors[i].diagnoses);
}

/* Returns the exit code. */
static int read_all(struct monrec_reader *reader)
{
	struct monrec_item item;
	char line[256];
	int code = 0;

	while (monrec_next(reader, &item) != MONREC_END) {
		switch (item.kind) {
		case MONREC_SET:
			count = 0;
			break;
		case MONREC_RECORD:
			take(&item.record);
			break;
		case MONREC_SET_END:
			print_set(item.at.set);
			break;
		case MONREC_VIOLATION:
			fprintf(stderr, "%s\n", monrec_describe(&item, line, sizeof(line)));
			code = 1;
			break;
		case MONREC_SET_LOST:
			code = 1;
			break;
		case MONREC_ERROR:
			fprintf(stderr, "cannot read: %s\n", strerror(item.error));
			return 2;
		default:
			break;
		}
	}
	return code;
}

int main(int argc, char **argv)
{
	enum monrec_format format = MONREC_SAVED;
	struct monrec_reader *reader;
	int fd, code = 2;

	if (argc == 3 && strcmp(argv[1], "--monwrite") == 0) {
		format = MONREC_MONWRITE;
	} else if (argc != 2) {
		fprintf(stderr, "usage: %s [--monwrite] FILE\n", argv[0]);
		return 2;
	}
	fd = open(argv[argc - 1], O_RDONLY);
	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", argv[argc - 1], strerror(errno));
		return 2;
	}
	reader = monrec_open(format, monrec_read_fd, &fd);
	if (reader)
		code = read_all(reader);
	monrec_close(reader);
	close(fd);
	return code;
}
