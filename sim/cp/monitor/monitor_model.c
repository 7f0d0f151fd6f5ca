/* SPDX-License-Identifier: MIT */
/* The modelled activity of the system, and the records of MONITOR commands. */
#include <string.h>

#include "monitor_private.h"
#include "bytes.h"
#include "zvmlab/command.h"
#include "ebcdic.h"

/* D1R2 MTRECM: length of the text, text. */
enum { MTRECM = 2, MTRECM_CALBYCT = 20, MTRECM_TEXT = 24 };

static void update_cpu(struct cp *cp, struct mon_cpu *cpu, uint64_t elapsed)
{
	const uint64_t random = cp_system_random(cp->system);
	const uint64_t user = elapsed / 100 * (random % 60);
	const uint64_t system = elapsed / 100 * (random >> 8) % (elapsed / 10 + 1);

	assert(user + system <= elapsed);
	cpu->user_time += user;
	cpu->system_time += system;
	cpu->wait_time += elapsed - user - system;
	cpu->diagnoses += (uint32_t)(random >> 16 & 0xff);
	cpu->externals += (uint32_t)(random >> 24 & 0xfff);
	cpu->io += (uint32_t)(random >> 36 & 0xff);
}

void mon_model_update(struct cp *cp)
{
	struct mon_model *model = &cp->system->monitor->model;
	const uint64_t now = cp_system_tod(cp);
	const uint64_t elapsed = model->updated ? now - model->updated : 0;
	const uint64_t random = cp_system_random(cp->system);

	for (unsigned int i = 0; i < cp->system->config.cpus; i++)
		update_cpu(cp, &model->cpu[i], elapsed);
	model->updated = now;
	model->page_reads += (uint32_t)(random & 0x3f);
	model->page_writes += (uint32_t)(random >> 8 & 0x1f);
}

static uint32_t text_length(const char *command)
{
	return (uint32_t)strnlen(command, CPCMD_MAX_COMMAND);
}

void mon_write_sample_change(struct cp *cp, struct record_writer *w, const char *command)
{
	record_sample_change(w, cp_system_tod(cp), command, text_length(command));
	record_close(w, MTREND);
}

uint32_t mon_write_event_change(struct cp *cp, uint8_t *record, const char *command)
{
	const uint32_t len = text_length(command);
	struct record_writer w;
	uint8_t *at;

	record_writer_init(&w, record, RECORD_FRAME_SIZE, cp_system_tod(cp));
	at = record_add(&w, MON_MONITOR, MTRECM, MTRECM_TEXT + len);
	assert(at == record);
	put_be32(at + MTRECM_CALBYCT, len);
	ebcdic_encode(at + MTRECM_TEXT, command, len);
	return MTRECM_TEXT + len;
}
