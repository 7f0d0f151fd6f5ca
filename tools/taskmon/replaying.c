/* SPDX-License-Identifier: MIT */
#include "replaying.h"

#include <errno.h>
#include <string.h>

#include "command.h"
#include "delayacct.h"

/* A file may contain anything. */
static enum delayacct_state state_of(uint32_t number)
{
	return number < DELAYACCT_STATES ? (enum delayacct_state)number : DELAYACCT_UNKNOWN;
}

static void take(struct collector *collector, const struct recording_frame *frame)
{
	switch (frame->type) {
	case RECORDING_MESSAGE:
		collector_message(collector, frame);
		break;
	case RECORDING_COUNTERS:
		collector_counters(collector, frame);
		break;
	case RECORDING_OWN:
		collector_own(collector, frame);
		break;
	case RECORDING_DELAYACCT:
		collector_look(collector, state_of(frame->number), frame->time_ns);
		break;
	case RECORDING_END:
		break;
	}
}

int replaying_judge(enum recording_result result, const char *path)
{
	switch (result) {
	case RECORDING_OVER:
		return EXIT_PASS;
	case RECORDING_CUT:
		complain("%s is incomplete: the end of the recording is missing", path);
		return EXIT_FAILED;
	case RECORDING_UNREADABLE:
		complain("%s cannot be read: %s", path, strerror(errno));
		return EXIT_USAGE;
	case RECORDING_FRAME:
	case RECORDING_BAD:
		break;
	}
	complain("%s is not a recording of taskmon, or it is damaged", path);
	return EXIT_USAGE;
}

bool replaying_take(FILE *file, const char *path, struct collector *collector,
		    enum recording_result *result)
{
	static uint8_t buffer[RECORDING_PAYLOAD_MAX];
	struct recording_header header;
	struct recording_frame frame;

	*result = recording_read_header(file, &header);
	if (*result != RECORDING_FRAME)
		return false;
	collector->order = header.order;
	collector->accounting.order = header.order;
	collector->accounting.lacks = header.lacks;
	collector_look(collector, state_of(header.delayacct), header.time_ns);
	complain("%s was recorded on Linux %s; %s", path, header.release,
		 delayacct_sentence(state_of(header.delayacct)));
	while (!collector->rows_error) {
		*result = recording_read_frame(file, &header, &frame, buffer);
		if (*result != RECORDING_FRAME)
			break;
		take(collector, &frame);
	}
	return true;
}
