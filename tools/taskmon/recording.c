/* SPDX-License-Identifier: MIT */
#include "recording.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "cpus.h"

#define FORMAT 1u
#define HEADER_SIZE 96u
#define FRAME_SIZE 32u
#define ALIGNMENT 8u

static const char magic[8] = "taskmon";

/* Bytes of zeros behind a payload. */
static size_t padding(uint32_t size)
{
	return (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT;
}

static int write_all(FILE *file, const void *bytes, size_t size)
{
	if (!size)
		return 0;
	errno = 0;
	if (fwrite(bytes, 1, size, file) != size)
		return errno ? -errno : -EIO;
	return 0;
}

int recording_write_header(FILE *file, const struct recording_header *header)
{
	uint8_t bytes[HEADER_SIZE] = { 0 };

	memcpy(bytes, magic, sizeof(magic));
	bytes[8] = FORMAT;
	bytes[9] = STATS_OWN_ORDER == STATS_BIG ? 'B' : 'L';
	memcpy(bytes + 16, &header->time_ns, sizeof(header->time_ns));
	bytes[24] = header->delayacct;
	bytes[25] = header->lacks;
	memcpy(bytes + 32, header->release, strnlen(header->release, RECORDING_RELEASE_MAX - 1));
	return write_all(file, bytes, sizeof(bytes));
}

int recording_write_frame(FILE *file, const struct recording_frame *frame)
{
	static const uint8_t zeros[ALIGNMENT];
	uint32_t words[] = { frame->type, frame->cpu, frame->number, frame->size };
	uint64_t longs[] = { frame->time_ns, frame->dropped };
	int ret;

	_Static_assert(sizeof(words) + sizeof(longs) == FRAME_SIZE, "as the format says");
	assert(frame->size <= RECORDING_PAYLOAD_MAX);
	ret = write_all(file, words, sizeof(words));
	if (!ret)
		ret = write_all(file, longs, sizeof(longs));
	if (!ret)
		ret = write_all(file, frame->payload, frame->size);
	return ret ? ret : write_all(file, zeros, padding(frame->size));
}

static enum recording_result read_all(FILE *file, void *bytes, size_t size)
{
	if (fread(bytes, 1, size, file) == size)
		return RECORDING_FRAME;
	return ferror(file) ? RECORDING_UNREADABLE : RECORDING_CUT;
}

enum recording_result recording_read_header(FILE *file, struct recording_header *header)
{
	uint8_t bytes[HEADER_SIZE] = { 0 };
	enum recording_result result = read_all(file, bytes, sizeof(bytes));

	if (result == RECORDING_UNREADABLE)
		return result;
	if (memcmp(bytes, magic, sizeof(magic)) != 0)
		return RECORDING_BAD;
	if (result != RECORDING_FRAME)
		return result;
	if (bytes[8] != FORMAT || (bytes[9] != 'L' && bytes[9] != 'B'))
		return RECORDING_BAD;
	header->order = bytes[9] == 'B' ? STATS_BIG : STATS_LITTLE;
	header->time_ns = stats_u64(bytes + 16, header->order);
	header->delayacct = bytes[24];
	header->lacks = bytes[25];
	memcpy(header->release, bytes + 32, RECORDING_RELEASE_MAX);
	header->release[RECORDING_RELEASE_MAX - 1] = '\0';
	return RECORDING_FRAME;
}

enum recording_result recording_read_frame(FILE *file, const struct recording_header *header,
					   struct recording_frame *frame, uint8_t *buffer)
{
	uint8_t bytes[FRAME_SIZE], zeros[ALIGNMENT];
	enum recording_result result = read_all(file, bytes, sizeof(bytes));
	uint32_t type;

	if (result != RECORDING_FRAME)
		return result;
	type = stats_u32(bytes, header->order);
	frame->cpu = stats_u32(bytes + 4, header->order);
	frame->number = stats_u32(bytes + 8, header->order);
	frame->size = stats_u32(bytes + 12, header->order);
	frame->time_ns = stats_u64(bytes + 16, header->order);
	frame->dropped = stats_u64(bytes + 24, header->order);
	if (type < RECORDING_MESSAGE || type > RECORDING_DELAYACCT || frame->cpu >= CPUS_MAX ||
	    frame->size > RECORDING_PAYLOAD_MAX)
		return RECORDING_BAD;
	frame->type = (enum recording_type)type;
	frame->payload = buffer;
	result = read_all(file, buffer, frame->size);
	if (result == RECORDING_FRAME)
		result = read_all(file, zeros, padding(frame->size));
	if (result == RECORDING_FRAME && frame->type == RECORDING_END)
		return fgetc(file) == EOF ? RECORDING_OVER : RECORDING_BAD;
	return result;
}
