/* SPDX-License-Identifier: MIT */
/* The drive as a test sees it, and the part as a whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmc_private.h"
#include "zvmlab/state.h"
#include "zvmlab/trace.h"

/* Files and bytes; requests and what tests have chosen stay. */
static void clear(struct hmc *hmc, uint64_t room, uint8_t *data)
{
	free(hmc->data);
	hmc->data = data;
	hmc->room = room;
	hmc->used = 0;
	hmc->files = 0;
}

int hmc_drive(struct cp *cp, uint64_t bytes, bool read_only, char *err, size_t errlen)
{
	uint8_t *data = NULL;

	assert(bytes <= HMC_MAX_BYTES);
	if (!cp->host.external) {
		snprintf(err, errlen, "this emulator cannot present external interruption X'2603', "
			 "by which CP tells of transfers");
		return -1;
	}
	if (bytes > 0)
		data = calloc(1, bytes);
	if (bytes > 0 && !data) {
		snprintf(err, errlen, "there is not enough memory for a drive of %llu bytes",
			 (unsigned long long)bytes);
		return -1;
	}
	TRACE_INPUT(cp, hmc_drive, .bytes = bytes, .read_only = read_only);
	clear(cp->hmc, bytes, data);
	cp->hmc->read_only = read_only;
	trace_end(cp);
	return 0;
}

int hmc_write(struct cp *cp, const char *name, const void *data, size_t len, char *err,
	      size_t errlen)
{
	const struct hmc *hmc = cp->hmc;
	char plain[HMC_MAX_NAME + 1];
	enum hmc_status status;

	if (!hmc_name(name, plain) || plain[0] == '\0') {
		snprintf(err, errlen, "\"%.64s\" cannot be the name of a file: it has 1 to %u "
			 "characters from blank to ~", name, HMC_MAX_NAME);
		return -1;
	}
	if (hmc->room == 0) {
		snprintf(err, errlen, "no drive is assigned; hmc-drive assigns one");
		return -1;
	}
	TRACE_INPUT(cp, hmc_write, .name = plain, .data = { data, len });
	status = hmc_store(cp, plain, 0, data, NULL, len);
	trace_number(cp, "status", status);
	trace_end(cp);
	if (status == HMC_OK)
		return 0;
	snprintf(err, errlen, "%.64s does not fit: the drive has %llu bytes, of which %llu are used, "
		 "room for %u files, and no directory of a file's name", plain,
		 (unsigned long long)hmc->room, (unsigned long long)hmc->used, HMC_MAX_FILES);
	return -1;
}

bool hmc_remove(struct cp *cp, const char *name)
{
	char plain[HMC_MAX_NAME + 1];
	struct hmc_file *file;

	if (!hmc_name(name, plain) || plain[0] == '\0')
		return false;
	TRACE_INPUT(cp, hmc_remove, .name = plain);
	file = hmc_lookup(cp->hmc, plain);
	if (file)
		hmc_forget(cp->hmc, file);
	trace_end(cp);
	return file != NULL;
}

void hmc_hold(struct cp *cp, bool hold)
{
	TRACE_INPUT(cp, hmc_hold, .hold = hold);
	cp->hmc->hold = hold;
	trace_end(cp);
}

const struct hmc_file *hmc_file(const struct cp *cp, unsigned int index)
{
	return index < cp->hmc->files ? &cp->hmc->file[index] : NULL;
}

const struct hmc_file *hmc_find(const struct cp *cp, const char *name)
{
	char plain[HMC_MAX_NAME + 1];

	return hmc_name(name, plain) ? hmc_lookup(cp->hmc, plain) : NULL;
}

const uint8_t *hmc_bytes(const struct cp *cp, const struct hmc_file *file)
{
	assert(file->at + file->len <= cp->hmc->used);
	return cp->hmc->data + file->at;
}

struct hmc_info hmc_info(const struct cp *cp)
{
	const struct hmc *hmc = cp->hmc;

	return (struct hmc_info){
		.bytes = hmc->room, .used = hmc->used, .read_only = hmc->read_only,
		.hold = hmc->hold, .waits = hmc->waits, .pending = hmc->pending > 0,
		.function = hmc->request.function, .status = hmc->status,
		.requests = hmc->requests,
	};
}

static bool hmc_external_pending(const struct cp *cp, unsigned int cpu)
{
	(void)cpu;
	return cp->hmc->pending > 0;
}

static void hmc_external_take(struct cp *cp, unsigned int cpu, struct cp_external *external)
{
	struct hmc *hmc = cp->hmc;

	(void)cpu;
	assert(hmc->pending > 0);
	hmc->pending--;
	external->subcode = (uint16_t)(HMC_EXT_SUBCODE | hmc->status);
	external->parameter32 = (uint32_t)hmc->request.intparm;
	external->parameter = hmc->request.intparm;
}

static int hmc_init(struct cp *cp, char *err, size_t errlen)
{
	cp->hmc = calloc(1, sizeof(*cp->hmc));
	if (cp->hmc)
		return 0;
	snprintf(err, errlen, "not enough memory for the files of a drive");
	return -1;
}

static void hmc_fini(struct cp *cp)
{
	free(cp->hmc->data);
	free(cp->hmc);
	cp->hmc = NULL;
}

/* The drive is the HMC's; what the guest has asked for is gone with it. */
static void hmc_reset(struct cp *cp)
{
	cp->hmc->waits = false;
	cp->hmc->pending = 0;
}

static void text_state(struct state *s, char text[HMC_MAX_NAME + 1])
{
	state_bytes(s, text, HMC_MAX_NAME + 1);
	state_require(s, memchr(text, '\0', HMC_MAX_NAME + 1) != NULL);
	text[HMC_MAX_NAME] = '\0';
}

static void request_state(const struct cp *cp, struct state *s, struct hmc *hmc)
{
	struct hmc_request *r = &hmc->request;
	uint8_t function = (uint8_t)r->function;

	state_u8(s, &function);
	state_require(s, function < HMC_FUNCTIONS);
	r->function = (enum hmc_function)function;
	state_u16(s, &r->cpu);
	state_require(s, r->cpu < cp->config.cpus);
	state_u64(s, &r->list);
	state_u64(s, &r->buffer);
	state_u64(s, &r->length);
	state_u64(s, &r->offset);
	state_u64(s, &r->intparm);
	text_state(s, r->name);
	state_bool(s, &hmc->waits);
	state_u32(s, &hmc->pending);
	/* An image of another emulator may have what this one cannot do. */
	state_require(s, hmc->pending <= (cp->host.external ? 2 : 0));
	state_require(s, !hmc->waits || (hmc->pending == 0 && cp->host.external));
	state_u8(s, &hmc->status);
	state_u64(s, &hmc->requests);
}

/* Names are as hmc_name() makes them, in order; their bytes fill the drive from its beginning. */
static void file_state(struct state *s, struct hmc *hmc, uint32_t index)
{
	struct hmc_file *file = &hmc->file[index];
	char plain[HMC_MAX_NAME + 1];

	text_state(s, file->name);
	state_u64(s, &file->tod);
	state_u64(s, &file->at);
	state_u64(s, &file->len);
	if (s->failed)
		return;
	state_require(s, hmc_name(file->name, plain) && strcmp(plain, file->name) == 0 &&
			 plain[0] != '\0');
	state_require(s, index == 0 || strcmp(file[-1].name, file->name) < 0);
	state_require(s, file->len <= hmc->used && file->at <= hmc->used - file->len);
}

/* No two files share a byte, and together they are as long as the drive is used. */
static bool without_gaps(const struct hmc *hmc)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < hmc->files; i++) {
		const struct hmc_file *file = &hmc->file[i];
		unsigned int here = 0;
		uint64_t before = 0;

		sum += file->len;
		for (uint32_t j = 0; j < hmc->files; j++) {
			const struct hmc_file *other = &hmc->file[j];

			before += other->at < file->at ? other->len : 0;
			here += other->at == file->at && other->len > 0 ? 1 : 0;
		}
		if (file->len > 0 && (before != file->at || here != 1))
			return false;
	}
	return sum == hmc->used;
}

static void drive_state(struct state *s, struct hmc *hmc)
{
	state_u64(s, &hmc->room);
	state_u64(s, &hmc->used);
	state_bool(s, &hmc->read_only);
	state_bool(s, &hmc->hold);
	state_u32(s, &hmc->files);
	state_require(s, hmc->room <= HMC_MAX_BYTES && hmc->used <= hmc->room &&
			 hmc->files <= HMC_MAX_FILES);
	for (uint32_t i = 0; i < hmc->files && !s->failed; i++)
		file_state(s, hmc, i);
	if (!s->failed)
		state_require(s, without_gaps(hmc));
	if (s->loading && !s->failed && hmc->room > 0) {
		hmc->data = calloc(1, hmc->room);
		s->failed = !hmc->data;
	}
	if (!s->failed)
		state_bytes(s, hmc->data, hmc->used);
}

static void hmc_state(struct cp *cp, struct state *s)
{
	struct hmc *hmc = cp->hmc;

	state_tag(s, "HMC ");
	if (s->loading)
		clear(hmc, 0, NULL);
	drive_state(s, hmc);
	if (!s->failed)
		request_state(cp, s, hmc);
	if (s->loading && s->failed) {
		clear(hmc, 0, NULL);
		memset(hmc, 0, sizeof(*hmc));
	}
}

const struct cp_part hmc_part = {
	.init = hmc_init,
	.fini = hmc_fini,
	.reset = hmc_reset,
	.state = hmc_state,
	.external_pending = hmc_external_pending,
	.external_take = hmc_external_take,
};
