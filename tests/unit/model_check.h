/* SPDX-License-Identifier: MIT */
/* A small system for tests of the model. */
#ifndef MODEL_CHECK_H
#define MODEL_CHECK_H

#include "fixture.h"

#include "model_private.h"

#define MC_USERS 6u
#define MC_CPUS 3u
#define MC_DEVICES 4u
#define MC_ACTIONS 8u

/* Two CPs and an IFL; a disk, a SCSI disk, a paging volume, an adapter; users of both types. */
struct mc_system {
	struct model_config config;
	struct model_processor processor[MC_CPUS];
	struct model_device device[MC_DEVICES];
	struct model_user user[MC_USERS];
	struct model_pattern pattern[1];
	struct model_action action[MC_ACTIONS];
};

static inline void mc_fill(struct mc_system *s)
{
	*s = (struct mc_system){
		.config = {
			.seed = 5, .start = UINT64_C(0xe250f8f200000000), .seconds = 600,
			.release = 530, .interval = 60, .rate = 200,
			.sample_domains = 0xdea0, .event_domains = 0x7fa0,
			.segment = 0x9000, .area = { 2048, 0, 241, 68, 241 }, .block = 4,
			.reader = MODEL_AT_ONCE, .frames = 65536,
			.system = "TEST", .partition = "LPAR", .vswitch = "SWITCH",
			.processors = MC_CPUS, .devices = MC_DEVICES, .users = MC_USERS,
			.patterns = 1,
		},
		.processor = { { 0 }, { 0 }, { 3 } },
		.device = {
			{ 0x600, MODEL_OSA, 1, { 0x60 }, "", 0 },
			{ 0x1000, MODEL_DASD, 2, { 0x40, 0x41 }, "DISK00", 0 },
			{ 0x1001, MODEL_SCSI, 1, { 0x40 }, "DISK01", 0 },
			{ 0x3000, MODEL_PAGING, 1, { 0x41 }, "PAGE00", 500000 },
		},
	};
	for (uint32_t i = 0; i < MC_USERS; i++) {
		s->user[i] = (struct model_user){
			.type = i % 2 ? 3 : 0, .processors = 1, .logged_on = 1, .application = 1,
			.network = 1, .share = 100 * (i + 1), .pages = 20000, .cpu = 300,
			.io = 100000, .paging = 1000, .packets = 50000, .transactions = 1000,
		};
		snprintf(s->user[i].name, sizeof(s->user[i].name), "USER%u", i);
	}
	for (unsigned int hour = 0; hour < 24; hour++)
		s->pattern[0].percent[hour] = 100;
	s->config.processor = s->processor;
	s->config.device = s->device;
	s->config.user = s->user;
	s->config.pattern = s->pattern;
	s->config.action = s->action;
}

static inline struct model *mc_open(const struct mc_system *s)
{
	char err[256] = "";
	struct model *m = model_open(&s->config, err, sizeof(err));

	ck_assert_msg(m != NULL, "%s", err);
	return m;
}

static inline void mc_act(struct mc_system *s, uint32_t second, uint32_t kind, uint32_t first,
			  uint32_t count, uint32_t value)
{
	ck_assert_uint_lt(s->config.actions, MC_ACTIONS);
	s->action[s->config.actions++] =
		(struct model_action){ second, kind, first, count, value, "" };
}

/* The @nth record of a kind in a set; NULL after the last.  D1R13, which ends a frame, is none. */
static inline const uint8_t *mc_record(const struct model_set *set, unsigned int domain,
				       unsigned int number, unsigned int nth)
{
	for (uint32_t at = 0; at < set->len;) {
		const uint8_t *r = set->data + at;

		ck_assert_uint_ge(get_be16(r), 20);
		ck_assert_uint_le(at + get_be16(r), set->len);
		if (r[4] == 1 && get_be16(r + 6) == 13)
			at = (at / AREA_PAGE_SIZE + 1) * AREA_PAGE_SIZE;
		else if (r[4] == domain && get_be16(r + 6) == number && nth-- == 0)
			return r;
		else
			at += get_be16(r);
	}
	return NULL;
}

static inline unsigned int mc_count(const struct model_set *set, unsigned int domain,
				    unsigned int number)
{
	unsigned int n = 0;

	while (mc_record(set, domain, number, n))
		n++;
	return n;
}

#endif
