/* SPDX-License-Identifier: MIT */
/*
 * Every byte of every kind of record, against a table that does not come from the model's own.
 *
 * Lengths and places are those that zpmd declares for z/VM 5.3, and for the records that it does
 * not have those of IBM's pages; which figure of the model stands there is what the field's name
 * says.  Bytes that no line names are zero.
 */
#include "model_check.h"
#include "model_rows.h"
#include "random.h"

#define MAX_FIELDS 13u

enum whose { OF_SYSTEM, OF_CPU, OF_DEVICE, OF_USER, OF_VIRTUAL_CPU };

struct field {
	uint16_t at;
	uint8_t width;
	uint16_t from;		/* offset of the figure in its subject */
};

struct contract {
	unsigned int domain, number, len;
	enum whose whose;
	uint32_t needs;		/* flags of the subjects that have it */
	struct field field[MAX_FIELDS];
};

#define Y(at, width, member) { at, width, offsetof(struct system, member) }
#define C(at, width, member) { at, width, offsetof(struct cpu, member) }
#define D(at, width, member) { at, width, offsetof(struct device, member) }
#define U(at, width, member) { at, width, offsetof(struct user, member) }

static const struct contract samples[] = {
	{ 0, 1, 116, OF_CPU, IS_ON,
	  { C(20, 2, address), C(28, 4, diagnose), C(32, 4, simulated), C(36, 4, externals),
	    C(40, 4, sigp), C(48, 4, starts), C(72, 4, page_reads), C(76, 4, page_writes),
	    C(112, 1, type) } },
	{ 0, 2, 108, OF_CPU, IS_ON,
	  { C(20, 2, address), C(24, 8, emulation), C(32, 8, user_time), C(40, 8, system_time),
	    C(68, 8, wait), C(76, 4, dispatches), C(104, 1, type) } },
	{ 0, 3, 492, OF_SYSTEM, 0, { Y(48, 4, pageable), Y(52, 4, available) } },
	{ 0, 4, 72, OF_CPU, IS_ON, { C(20, 2, address), C(60, 1, type) } },
	{ 0, 6, 84, OF_SYSTEM, 0, { Y(28, 4, slots_free), Y(32, 4, slots_used) } },
	{ 0, 8, 100, OF_SYSTEM, 0, { Y(20, 4, users), Y(24, 4, dormant_users) } },
	{ 0, 11, 272, OF_CPU, IS_ON, { C(20, 2, address), C(220, 1, type) } },
	{ 0, 12, 160, OF_SYSTEM, 0,
	  { Y(20, 4, idle), Y(28, 4, io_wait), Y(32, 4, page_wait), Y(44, 4, cpu_wait),
	    Y(48, 4, running), Y(52, 4, dormant), Y(56, 4, active_users),
	    Y(64, 2, eligible_users) } },
	{ 0, 13, 40, OF_CPU, IS_ON, { C(20, 2, address), C(32, 4, dispatches), C(36, 1, type) } },
	{ 0, 15, 56, OF_SYSTEM, 0,
	  { Y(20, 1, partition_number), Y(26, 2, cpu_count), Y(28, 2, partition_number),
	    Y(32, 2, cpu_count), Y(34, 2, cpu_online), Y(36, 2, cpu_standby), Y(40, 8, partition),
	    Y(54, 2, cpu_count) } },
	{ 0, 19, 112, OF_SYSTEM, 0,
	  { Y(20, 8, elapsed), Y(64, 2, cpu_count), Y(66, 2, cpu_online), Y(68, 2, cpu_standby) } },
	{ 3, 1, 352, OF_SYSTEM, 0, { Y(40, 4, available) } },
	{ 3, 2, 364, OF_CPU, IS_ON,
	  { C(20, 2, address), C(236, 4, page_reads), C(240, 4, page_writes), C(360, 1, type) } },
	{ 3, 4, 172, OF_DEVICE, IS_ON | IS_PAGING,
	  { D(20, 6, volume), D(26, 2, number), D(28, 4, subchannel), D(36, 4, slots),
	    D(48, 4, page_reads), D(52, 4, page_writes), D(64, 4, slots_used), D(68, 2, starts),
	    D(168, 4, starts) } },
	{ 4, 3, 440, OF_VIRTUAL_CPU, IS_ON, { U(20, 8, name), U(28, 2, address) } },
	/* Its fields are in no source. */
	{ 4, 4, 228, OF_VIRTUAL_CPU, IS_ON, { { 0, 0, 0 } } },
	{ 5, 3, 384, OF_CPU, IS_ON, { C(20, 2, address), C(96, 4, samples), C(380, 1, type) } },
	{ 5, 12, 800, OF_CPU, IS_ON,
	  { C(20, 2, address), C(32, 4, dg08), C(36, 4, dg0c), C(92, 4, dg44), C(180, 4, dg9c),
	    C(372, 4, dg258), C(796, 4, diagnose) } },
	{ 6, 3, 260, OF_DEVICE, IS_ON,
	  { D(21, 1, available), D(24, 4, subchannel), D(28, 8, chpids), D(36, 6, volume),
	    D(52, 2, starts), D(54, 2, starts), D(56, 4, connect), D(60, 4, pending),
	    D(64, 4, disconnect), D(192, 4, starts), D(196, 4, starts), D(200, 2, number) } },
	{ 6, 24, 316, OF_DEVICE, IS_ON | IS_SCSI,
	  { D(20, 2, number), D(36, 4, block_size), D(40, 4, starts), D(44, 4, blocks_read),
	    D(48, 4, blocks_written) } },
	{ 6, 26, 348, OF_DEVICE, IS_ON | IS_OSA,
	  { D(20, 2, number), D(48, 8, buffers_out), D(56, 8, bytes_out), D(64, 8, buffers_in),
	    D(72, 8, bytes_in) } },
	{ 8, 1, 316, OF_USER, IS_ON | HAS_NETWORK,
	  { U(24, 8, name), U(34, 2, adapter), U(36, 6, mac), U(44, 8, lan), U(60, 1, switched),
	    U(96, 8, bytes_out), U(104, 8, bytes_in), U(112, 8, packets_out),
	    U(136, 8, packets_in) } },
	/* Behind 52 bytes: user ID, CPU time, START SUBCHANNEL, bytes sent, bytes received. */
	{ 10, 2, 92, OF_USER, IS_ON | HAS_APPLICATION,
	  { U(52, 8, name), U(60, 8, total_time), U(68, 8, starts), U(76, 8, bytes_out),
	    U(84, 8, bytes_in) } },
};

static const struct contract configuration[] = {
	{ 1, 4, 184, OF_SYSTEM, 0,
	  { Y(36, 8, ipl), Y(88, 8, name), Y(108, 4, machine), Y(148, 2, partition_number),
	    Y(152, 2, cpu_count), Y(154, 2, cpu_online), Y(156, 2, cpu_standby),
	    Y(160, 8, partition), Y(174, 2, cpu_count) } },
	{ 1, 5, 44, OF_CPU, IS_ON, { C(20, 2, address), C(40, 1, type) } },
	{ 1, 7, 100, OF_SYSTEM, 0, { Y(20, 4, bytes) } },
	{ 1, 9, 36, OF_SYSTEM, 0,
	  { Y(20, 4, interval), Y(24, 4, rate), Y(28, 2, sample_domains),
	    Y(32, 2, sample_config) } },
	{ 1, 15, 204, OF_VIRTUAL_CPU, IS_ON, { U(20, 8, name), U(28, 2, address) } },
};

static const struct contract event_profile[] = {
	{ 1, 1, 24, OF_SYSTEM, 0, { Y(20, 2, event_domains), Y(22, 2, event_config) } },
};

/* Events have no flags. */
static const struct contract events[] = {
	{ 2, 4, 232, OF_USER, 0,
	  { U(20, 8, name), U(66, 2, address), U(72, 4, resident), U(76, 8, virtual_time),
	    U(84, 8, total_time), U(148, 4, share) } },
	{ 2, 5, 196, OF_USER, 0,
	  { U(20, 8, name), U(52, 4, resident), U(56, 8, virtual_time), U(64, 8, total_time),
	    U(118, 2, address), U(124, 4, share) } },
	{ 2, 6, 136, OF_USER, 0,
	  { U(20, 8, name), U(34, 2, address), U(68, 4, resident), U(80, 4, share) } },
	{ 4, 1, 96, OF_USER, 0, { U(20, 8, name), U(28, 2, address) } },
	{ 4, 2, 444, OF_USER, 0, { U(20, 8, name), U(28, 2, address) } },
	{ 4, 9, 360, OF_USER, 0,
	  { U(20, 8, name), U(28, 2, address), U(32, 8, total_time), U(40, 8, virtual_time),
	    U(64, 4, resident), U(92, 4, slots), U(104, 4, page_reads), U(108, 4, page_writes),
	    U(128, 4, starts), U(208, 4, share), U(240, 8, logon), U(324, 1, type) } },
	{ 4, 10, 200, OF_USER, 0,
	  { U(20, 8, name), U(28, 2, address), U(48, 4, samples), U(84, 4, samples), U(88, 4, idle),
	    U(96, 4, io_wait), U(108, 4, page_wait), U(112, 4, cpu_wait), U(116, 4, running),
	    U(128, 4, dormant), U(196, 1, type) } },
	{ 5, 1, 32, OF_CPU, 0, { C(20, 2, address), C(28, 1, type) } },
	{ 5, 2, 24, OF_CPU, 0, { C(20, 2, address) } },
	{ 6, 1, 388, OF_DEVICE, 0,
	  { D(25, 1, available), D(26, 2, number), D(28, 4, subchannel), D(32, 8, chpids),
	    D(46, 6, volume) } },
	{ 6, 2, 28, OF_DEVICE, 0, { D(20, 4, subchannel), D(24, 2, number) } },
	{ 6, 16, 36, OF_DEVICE, 0,
	  { D(20, 4, subchannel), D(24, 2, number), D(26, 1, installed), D(27, 1, available),
	    D(28, 8, chpids) } },
	{ 7, 1, 64, OF_SYSTEM, 0,
	  { Y(20, 4, seek_subchannel), Y(24, 2, cylinder), Y(26, 2, next_cylinder),
	    Y(32, 8, seek_user), Y(60, 2, seek_device) } },
	{ 8, 2, 56, OF_USER, 0,
	  { U(20, 8, lan_owner), U(28, 8, lan), U(36, 8, name), U(44, 2, adapter) } },
	{ 8, 3, 56, OF_USER, 0,
	  { U(20, 8, lan_owner), U(28, 8, lan), U(36, 8, name), U(44, 2, adapter) } },
};

static struct mc_system s;

/* Nothing about one subject is what it is about the next, and little is nothing. */
static void setup(void)
{
	mc_fill(&s);
	s.config.frames = 40000;
	s.user[0].application = 0;
	s.user[1].processors = 3;
	s.user[3].network = 0;
	s.user[4].logged_on = 0;
}

CASE("fields", setup, NULL);

static void put(uint8_t *at, unsigned int width, uint64_t value)
{
	for (unsigned int i = width; i > 0; i--, value >>= 8)
		at[i - 1] = (uint8_t)value;
}

static void expect(uint8_t *record, const struct contract *c, const void *subject, uint64_t tod,
		   uint64_t address)
{
	memset(record, 0, c->len);
	put_be16(record, (uint16_t)c->len);
	record[4] = (uint8_t)c->domain;
	put_be16(record + 6, (uint16_t)c->number);
	put_be64(record + 8, tod);
	for (unsigned int i = 0; i < MAX_FIELDS && c->field[i].width; i++) {
		const struct field *f = &c->field[i];
		uint64_t value;

		memcpy(&value, (const uint8_t *)subject + f->from, sizeof(value));
		if (c->whose == OF_VIRTUAL_CPU && f->from == offsetof(struct user, address))
			value = address;
		put(record + f->at, f->width, value);
	}
}

static void ck_record(const uint8_t *record, const struct contract *c, const void *subject,
		      uint64_t tod, uint64_t address)
{
	uint8_t wanted[AREA_PAGE_SIZE];

	expect(wanted, c, subject, tod, address);
	ck_assert_msg(record != NULL, "D%uR%u is missing", c->domain, c->number);
	ck_assert_uint_eq(get_be16(record), c->len);
	for (unsigned int i = 0; i < c->len; i++)
		ck_assert_msg(record[i] == wanted[i], "D%uR%u: byte %u is %02X, not %02X",
			      c->domain, c->number, i, record[i], wanted[i]);
}

/* The records of a kind in the set, subject by subject; not one more. */
static void ck_all(const struct model *m, const struct model_set *set, const struct contract *c)
{
	unsigned int nth = 0;

	if (c->whose == OF_SYSTEM)
		ck_record(mc_record(set, c->domain, c->number, nth++), c, &m->system, set->tod, 0);
	for (uint32_t i = 0; c->whose == OF_CPU && i < m->config.processors; i++)
		if ((m->cpu[i].s.flags & c->needs) == c->needs)
			ck_record(mc_record(set, c->domain, c->number, nth++), c, &m->cpu[i],
				  set->tod, 0);
	for (uint32_t i = 0; c->whose == OF_DEVICE && i < m->config.devices; i++)
		if ((m->device[i].s.flags & c->needs) == c->needs)
			ck_record(mc_record(set, c->domain, c->number, nth++), c, &m->device[i],
				  set->tod, 0);
	for (uint32_t i = 0; c->whose >= OF_USER && i < m->config.users; i++) {
		const uint32_t each = c->whose == OF_USER ? 1 : s.user[i].processors;

		if ((m->user[i].s.flags & c->needs) != c->needs)
			continue;
		for (uint32_t address = 0; address < each; address++)
			ck_record(mc_record(set, c->domain, c->number, nth++), c, &m->user[i],
				  set->tod, address);
	}
	ck_assert_uint_gt(nth, 0);
	ck_assert_msg(mc_record(set, c->domain, c->number, nth) == NULL, "another D%uR%u",
		      c->domain, c->number);
}

/* Records that are in no table: D1R11, D1R14. */
static unsigned int others(const struct model_set *set)
{
	return mc_count(set, 1, 11) + mc_count(set, 1, 14);
}

static unsigned int all_records(const struct model_set *set)
{
	unsigned int n = 0;

	for (unsigned int domain = 0; domain < MONREC_DOMAINS; domain++)
		for (unsigned int number = 0; number < 40; number++)
			n += mc_count(set, domain, number);
	return n;
}

TEST(samples_field_by_field)
{
	struct model_set set;
	struct model *m;
	unsigned int sets = 0;

	mc_act(&s, 100, MODEL_PROCESSOR, 1, 1, 0);
	mc_act(&s, 200, MODEL_DEVICE, 0, 1, 0);
	mc_act(&s, 300, MODEL_LOGOFF, 2, 1, 0);
	m = mc_open(&s);
	while (model_next(m, &set)) {
		unsigned int records = others(&set);

		if (set.kind != AREA_SAMPLE)
			continue;
		for (unsigned int i = 0; i < COUNT(samples); i++) {
			if (samples[i].number == 26 && !(m->device[0].s.flags & IS_ON))
				continue;
			ck_all(m, &set, &samples[i]);
			records += mc_count(&set, samples[i].domain, samples[i].number);
		}
		ck_assert_uint_eq(records, all_records(&set));
		sets++;
	}
	ck_assert_uint_eq(sets, 11);
	model_close(m);
}

/* D1R14: one of each domain that is enabled, S or E, its number. */
static void ck_domains(const struct model_set *set, uint32_t domains, uint8_t profile)
{
	unsigned int nth = 0;

	for (unsigned int domain = 0; domain < 16; domain++) {
		const uint8_t *r;

		if (!(domains & 0x8000u >> domain))
			continue;
		r = mc_record(set, 1, 14, nth++);
		ck_assert_ptr_nonnull(r);
		ck_assert_uint_eq(get_be16(r), 28);
		ck_assert_uint_eq(r[20], profile);
		ck_assert_uint_eq(r[21], domain);
		for (unsigned int i = 22; i < 28; i++)
			ck_assert_uint_eq(r[i], 0);
	}
	ck_assert_uint_eq(mc_count(set, 1, 14), nth);
}

TEST(configurations_field_by_field)
{
	struct model_set set;
	struct model *m;
	unsigned int records;

	m = mc_open(&s);
	ck_assert(model_next(m, &set));
	ck_assert_uint_eq(set.kind, AREA_SAMPLE_CONFIG);
	records = others(&set);
	for (unsigned int i = 0; i < COUNT(configuration); i++) {
		ck_all(m, &set, &configuration[i]);
		records += mc_count(&set, configuration[i].domain, configuration[i].number);
	}
	ck_assert_uint_eq(records, all_records(&set));
	ck_domains(&set, 0xdea0, 0xe2);
	ck_assert(model_next(m, &set));
	ck_assert_uint_eq(set.kind, AREA_EVENT_CONFIG);
	ck_all(m, &set, &event_profile[0]);
	ck_domains(&set, 0x7fa0, 0xc5);
	/* The last of the initial configuration records is D1R11 (IBM, MRMTREND), of events, too. */
	ck_assert_uint_eq(get_be16(set.data + set.len - 20), 20);
	ck_assert_uint_eq(set.data[set.len - 16], 1);
	ck_assert_uint_eq(get_be16(set.data + set.len - 14), 11);
	ck_assert_uint_eq(all_records(&set), 1 + others(&set));
	model_close(m);
}

/* A page of the user's, with offsets of this test's own. */
static const char activity_page[] =
	" DSECT NAME - USEACT\n Domain 4 - User\n Record 3 - Activity\n 0 0 Structure 300 USEACT\n"
	" 20 14 Character 8 USEACT_VMDUSER\n 28 1C Unsigned 2 USEACT_VMDCPUAD\n"
	" 64 40 Bitstring 8 USEACT_VMDTTIME\n 72 48 Bitstring 8 USEACT_VMDVTIME\n"
	" 100 64 Unsigned 4 USEACT_CALCPPGR\n 104 68 Unsigned 4 USEACT_CALCPPGW\n"
	" 108 6C Unsigned 4 USEACT_VMDCTPVR\n 112 70 Unsigned 4 USEACT_CALCTPGS\n"
	" 116 74 Unsigned 4 USEACT_VMDVDSCT\n 292 124 Character 8 USEACT_CALTODON\n"
	"based on z/VM V5R3.0.\n";
static const char interaction_page[] =
	" DSECT NAME - USEINT\n Domain 4 - User\n Record 4 - Interaction\n 0 0 Structure 120 USEINT\n"
	" 20 14 Character 8 USEINT_VMDUSER\n 40 28 Unsigned 4 USEINT_HFSTCT\n"
	" 44 2C Unsigned 4 USEINT_HFIOWT\n 48 30 Unsigned 4 USEINT_HFDORM\n"
	"based on z/VM V5R3.0.\n";

static void ck_first_processor(const struct user *u, const uint8_t *r, const uint8_t *interaction)
{
	ck_assert_uint_eq(get_be32(r + 100), (uint32_t)u->page_reads);
	ck_assert_uint_eq(get_be32(r + 104), (uint32_t)u->page_writes);
	ck_assert_uint_eq(get_be32(r + 108), (uint32_t)u->resident);
	ck_assert_uint_eq(get_be32(r + 112), (uint32_t)u->slots);
	ck_assert_uint_eq(get_be32(r + 116), (uint32_t)u->starts);
	ck_assert_uint_eq(get_be32(interaction + 40), (uint32_t)u->samples);
	ck_assert_uint_eq(get_be32(interaction + 44), (uint32_t)u->io_wait);
	ck_assert_uint_eq(get_be32(interaction + 48), (uint32_t)u->dormant);
}

/* Times of virtual processors add up to the user's, each only grows; the rest is the first one's. */
static void ck_activity(const struct model *m, const struct model_set *set, uint64_t *last)
{
	static const uint8_t none[20];
	unsigned int nth = 0;

	for (uint32_t i = 0; i < m->config.users; i++) {
		const struct user *u = &m->user[i];
		uint64_t total = 0, virtual = 0;

		for (uint32_t k = 0; (u->s.flags & IS_ON) && k < s.user[i].processors; k++, nth++) {
			const uint8_t *r = mc_record(set, 4, 3, nth);
			const uint8_t *interaction = mc_record(set, 4, 4, nth);

			ck_assert_uint_eq(get_be16(r), 300);
			ck_assert_uint_eq(get_be16(interaction), 120);
			ck_assert_uint_eq(get_be64(r + 20), u->name);
			ck_assert_uint_eq(get_be16(r + 28), k);
			ck_assert_uint_ge(get_be64(r + 64), last[nth]);
			last[nth] = get_be64(r + 64);
			total += last[nth];
			virtual += get_be64(r + 72);
			ck_assert_uint_eq(get_be64(r + 292), u->logon);
			if (k == 0)
				ck_first_processor(u, r, interaction);
			else
				ck_assert_mem_eq(r + 100, none, sizeof(none));
		}
		ck_assert_uint_eq(total, u->total_time);
		ck_assert_uint_eq(virtual, u->virtual_time);
	}
}

TEST(samples_of_users_by_page)
{
	uint64_t last[16] = { 0 };
	unsigned int taken = 0;
	struct model_set set;
	struct model *m;
	char err[128];

	ck_assert_uint_eq(monrec_add_page(activity_page, sizeof(activity_page), err, sizeof(err)), 530);
	ck_assert_uint_eq(monrec_add_page(interaction_page, sizeof(interaction_page), err,
					  sizeof(err)), 530);
	m = mc_open(&s);
	monrec_forget_pages();
	while (model_next(m, &set))
		if (set.kind == AREA_SAMPLE) {
			ck_activity(m, &set, last);
			taken++;
		}
	ck_assert_uint_eq(taken, s.config.seconds / s.config.interval + 1);
	ck_assert_uint_gt(last[1], 0);
	model_close(m);
}

/* The subject of an event, by the field that has its name or number. */
static const void *subject_of(const struct model *m, const struct contract *c, const uint8_t *r)
{
	if (c->whose == OF_SYSTEM)
		return &m->system;
	for (uint32_t i = 0; c->whose == OF_CPU && i < m->config.processors; i++)
		if (get_be16(r + 20) == m->cpu[i].address)
			return &m->cpu[i];
	for (uint32_t i = 0; c->whose == OF_DEVICE && i < m->config.devices; i++)
		if (get_be16(r + (c->number == 1 ? 26 : 24)) == m->device[i].number)
			return &m->device[i];
	for (uint32_t i = 0; c->whose == OF_USER && i < m->config.users; i++)
		if (get_be64(r + (c->domain == 8 ? 36 : 20)) == m->user[i].name)
			return &m->user[i];
	ck_abort_msg("D%uR%u tells of nobody", c->domain, c->number);
	return NULL;
}

/* 2 ms before the end of a step; of users one after the other, 64 units of the TOD clock apart. */
static uint64_t moment(const struct model *m, const struct contract *c, const void *subject)
{
	const uint64_t end = s.config.start + m->now * TOD_MILLISECOND;

	if (c->whose == OF_USER)
		return end - (m->config.users - ((const struct user *)subject)->index) * 64u;
	return end - 2 * TOD_MILLISECOND;
}

TEST(events_field_by_field)
{
	unsigned int seen[COUNT(events)] = { 0 };
	struct model_set set;
	struct model *m;

	mc_act(&s, 60, MODEL_PROCESSOR, 1, 1, 0);
	mc_act(&s, 60, MODEL_DEVICE, 1, 2, 0);
	mc_act(&s, 60, MODEL_LOGOFF, 2, 1, 0);
	mc_act(&s, 120, MODEL_PROCESSOR, 1, 1, 1);
	mc_act(&s, 120, MODEL_DEVICE, 1, 2, 1);
	mc_act(&s, 120, MODEL_PATH, 0x40, 0, 0);
	mc_act(&s, 120, MODEL_LOGON, 4, 1, 0);
	mc_act(&s, 180, MODEL_RUNAWAY, 1, 5, 1);
	s.config.sample_domains = 0;
	m = mc_open(&s);
	while (model_next(m, &set)) {
		unsigned int records = 0;

		if (set.kind != AREA_EVENT)
			continue;
		for (unsigned int i = 0; i < COUNT(events); i++) {
			const struct contract *c = &events[i];
			const uint8_t *r;

			for (unsigned int n = 0; (r = mc_record(&set, c->domain, c->number, n)); n++) {
				const void *subject = subject_of(m, c, r);

				ck_record(r, c, subject, moment(m, c, subject), 0);
				seen[i]++;
				records++;
			}
		}
		ck_assert_uint_eq(records, all_records(&set));
	}
	for (unsigned int i = 0; i < COUNT(events); i++)
		ck_assert_msg((seen[i] > 0) == (events[i].domain != 7), "D%uR%u", events[i].domain,
			      events[i].number);
	model_close(m);
}

/* The last seek of a block is the last for which a number was drawn: it decides all of it. */
static void ck_drawn(const uint8_t *seek, const struct model *m)
{
	/* SplitMix64 adds this each time. */
	uint64_t before = m->random - UINT64_C(0x9e3779b97f4a7c15);
	const uint64_t drawn = random_next(&before);

	ck_assert_uint_eq(before, m->random);
	ck_assert_uint_eq(get_be64(seek + 32), m->user[(drawn & 0xffffffff) % MC_USERS].name);
	ck_assert_uint_eq(get_be32(seek + 20), 0x10001 + (drawn >> 32) % 2);
	ck_assert_uint_eq(get_be16(seek + 26), (drawn >> 16) % 3339);
}

/* Seeks of a storm: one after the other, of users on disks, each from where the last one went. */
TEST(seeks_field_by_field)
{
	const struct contract *c = &events[12];
	uint64_t before = 0, count = 0;
	struct model_set set;
	struct model *m;

	ck_assert_uint_eq(c->domain, 7);
	s.config.event_domains = 0x4100;
	s.config.area.pages = 16384;
	mc_act(&s, 60, MODEL_STORM, 0, 0, 700);
	mc_act(&s, 120, MODEL_STORM, 0, 0, 0);
	m = mc_open(&s);
	while (model_next(m, &set)) {
		const uint8_t *r, *last = NULL;

		for (unsigned int n = 0; set.kind == AREA_EVENT && (r = mc_record(&set, 7, 1, n)); n++) {
			const uint64_t name = get_be64(r + 32);
			const uint32_t disk = get_be32(r + 20) - 0x10000;

			/* Its first device is an adapter, its last a paging volume. */
			ck_assert(disk == 1 || disk == 2);
			ck_assert_uint_eq(get_be16(r + 60), s.device[disk].number);
			ck_assert_uint_ge(name, m->user[0].name);
			ck_assert_uint_le(name, m->user[MC_USERS - 1].name);
			ck_assert_uint_eq(get_be16(r + 24), before);
			before = get_be16(r + 26);
			ck_assert_uint_lt(before, 3339);
			last = r;
			count++;
		}
		if (last)
			ck_drawn(last, m);
		if (last && count == 60 * 700)
			ck_record(last, c, &m->system, get_be64(last + 8), 0);
	}
	ck_assert_uint_eq(count, 60 * 700);
	model_close(m);
}

static void ck_bytes(uint64_t value, unsigned int width, const char *text)
{
	uint8_t bytes[8], wanted[8];

	put(bytes, width, value);
	memset(wanted, 0x40, sizeof(wanted));
	ebcdic_encode(wanted, text, (uint32_t)strlen(text));
	ck_assert_mem_eq(bytes, wanted, width);
}

/* At the beginning the figures are those of the configuration. */
TEST(devices_as_configured)
{
	static const uint32_t kind[] = { IS_OSA, 0, IS_SCSI, IS_PAGING };
	static const uint8_t mask[] = { 0x80, 0xc0, 0x80, 0x80 };
	static const char *const volume[] = { "", "DISK00", "DISK01", "PAGE00" };
	struct model *m = mc_open(&s);

	for (uint32_t i = 0; i < MC_DEVICES; i++) {
		const struct device *d = &m->device[i];

		ck_assert_uint_eq(d->s.flags, IS_ON | kind[i]);
		ck_assert_uint_eq(d->s.events, 0);
		ck_assert_uint_eq(d->number, s.device[i].number);
		ck_assert_uint_eq(d->subchannel, 0x10000 + i);
		ck_bytes(d->volume, 6, volume[i]);
		ck_assert_uint_eq(d->chpids, get_be64(s.device[i].chpid));
		ck_assert_uint_eq(d->installed, mask[i]);
		ck_assert_uint_eq(d->available, mask[i]);
		ck_assert_uint_eq(d->block_size, 512);
		ck_assert_uint_eq(d->slots, i == 3 ? 500000 : 0);
	}
	ck_assert_uint_eq(m->disks, 2);
	ck_assert_uint_eq(m->disk[0], 1);
	ck_assert_uint_eq(m->disk[1], 2);
	model_close(m);
}

TEST(users_as_configured)
{
	struct model *m = mc_open(&s);

	for (uint32_t i = 0; i < MC_USERS; i++) {
		const struct user *u = &m->user[i];
		const uint32_t flags = IS_ON | (i != 3 ? HAS_NETWORK : 0) | (i ? HAS_APPLICATION : 0);

		ck_assert_uint_eq(u->s.flags, i == 4 ? 0 : flags);
		ck_assert_uint_eq(u->s.events, 0);
		ck_bytes(u->name, 8, s.user[i].name);
		ck_bytes(u->lan, 8, "SWITCH");
		ck_bytes(u->lan_owner, 8, "SYSTEM");
		ck_assert_uint_eq(u->type, i % 2 ? 3 : 0);
		ck_assert_uint_eq(u->adapter, 0x600);
		/* 02-00-00-00-00-01 and so on. */
		ck_assert_uint_eq(u->mac, UINT64_C(0x020000000001) + i);
		ck_assert_uint_eq(u->share, 100 * (i + 1));
		ck_assert_uint_eq(u->percent, 100);
		ck_assert_uint_eq(u->device, i % 2);
		ck_assert_uint_eq(u->index, i);
		ck_assert_uint_eq(u->logon, i == 4 ? 0 : s.config.start);
		ck_assert_uint_eq(u->switched, i != 4);
		ck_assert_uint_eq(u->address + u->resident + u->total_time + u->samples, 0);
	}
	model_close(m);
}

TEST(system_as_configured)
{
	struct model *m = mc_open(&s);
	const struct system *y = &m->system;

	for (uint32_t i = 0; i < MC_CPUS; i++) {
		ck_assert_uint_eq(m->cpu[i].s.flags, IS_ON);
		ck_assert_uint_eq(m->cpu[i].address, i);
		ck_assert_uint_eq(m->cpu[i].type, i == 2 ? 3 : 0);
	}
	ck_bytes(y->name, 8, "TEST");
	ck_bytes(y->partition, 8, "LPAR");
	ck_bytes(y->machine, 4, "2097");
	ck_assert_uint_eq(y->partition_number, 1);
	ck_assert_uint_eq(y->ipl, s.config.start);
	/* CP keeps the 50th part for itself. */
	ck_assert_uint_eq(y->pageable, 40000 - 800);
	ck_assert_uint_eq(y->available, 40000 - 800);
	ck_assert_uint_eq(y->bytes, 40000 * 4096);
	ck_assert_uint_eq(y->interval, 60);
	ck_assert_uint_eq(y->rate, 200);
	ck_assert_uint_eq(y->sample_domains, 0xdea0);
	ck_assert_uint_eq(y->event_domains, 0x7fa0);
	ck_assert_uint_eq(y->sample_config, 241);
	ck_assert_uint_eq(y->event_config, 68);
	model_close(m);
	/* Of 4 GiB and more the field has no room to tell. */
	s.config.frames = 0x100000;
	m = mc_open(&s);
	ck_assert_uint_eq(m->system.bytes, UINT32_MAX);
	model_close(m);
	s.config.frames = 0xfffff;
	m = mc_open(&s);
	ck_assert_uint_eq(m->system.bytes, 0xfffff000);
	model_close(m);
}

/* Names of the greatest length. */
TEST(names_of_8_characters)
{
	struct model *m;

	memcpy(s.config.system, "SYSTEMNM", 9);
	memcpy(s.user[0].name, "ABCDEFGH", 9);
	memcpy(s.device[1].volume, "VOLUME", 7);
	m = mc_open(&s);
	ck_bytes(m->system.name, 8, "SYSTEMNM");
	ck_bytes(m->user[0].name, 8, "ABCDEFGH");
	ck_bytes(m->device[1].volume, 6, "VOLUME");
	model_close(m);
}

/* D0R3 has 492 bytes in z/VM 5.3.  What is first stays; neighbours touch it; the header is no field's. */
TEST(fields_that_overlap)
{
	static const struct binding bindings[] = {
		AT(40, 8, system, now), AT(47, 1, system, users), AT(47, 8, system, users),
		AT(33, 8, system, users), AT(41, 2, system, users), AT(36, 16, system, users),
		AT(40, 8, system, users), AT(32, 8, system, idle), AT(48, 4, system, bytes),
		AT(19, 1, system, users), AT(16, 8, system, users), AT(20, 4, system, name),
		AT(489, 4, system, users), AT(492, 1, system, users), AT(488, 4, system, lost),
		/* Of 20 bytes the first 8. */
		AT(472, 20, system, rate), AT(100, 20, system, rate), AT(108, 1, system, ipl),
	};
	static const struct { uint16_t offset, from; uint8_t width; } placed[] = {
		{ 40, FROM(system, now), 8 }, { 32, FROM(system, idle), 8 },
		{ 48, FROM(system, bytes), 4 }, { 20, FROM(system, name), 4 },
		{ 488, FROM(system, lost), 4 }, { 472, FROM(system, rate), 8 },
		{ 100, FROM(system, rate), 8 }, { 108, FROM(system, ipl), 1 },
	};
	static const struct row row = ROW_SYSTEM(0, 3, bindings);
	const struct rows rows = { &row, 1 };
	struct plans plans;

	plans_make(&plans, &rows, 530);
	ck_assert_uint_eq(plans.count, 1);
	ck_assert_uint_eq(plans.plan[0].len, 492);
	ck_assert_uint_eq(plans.plan[0].puts, COUNT(placed));
	for (unsigned int i = 0; i < COUNT(placed); i++) {
		ck_assert_uint_eq(plans.plan[0].put[i].offset, placed[i].offset);
		ck_assert_uint_eq(plans.plan[0].put[i].from, placed[i].from);
		ck_assert_uint_eq(plans.plan[0].put[i].width, placed[i].width);
	}
}
