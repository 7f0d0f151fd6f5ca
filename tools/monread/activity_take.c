/* SPDX-License-Identifier: MIT */
/* monread: what sample records add to the activity. */
#include <string.h>

#include "activity.h"
#include "bytes.h"
#include "ebcdic.h"
#include "hash.h"
#include "smaller.h"

/* Of application data in D10R2, as this project has them. */
enum { APLSDT_LENGTH = 92, APLSDT_USER = 52, APLSDT_TIME = 60 };

#define KIND(domain, number) ((uint32_t)(domain) << 16 | (number))
#define APPLICATION KIND(10, 2)
#define DEVICE_ACTIVITY KIND(6, 3)
#define SCSI_ACTIVITY KIND(6, 24)

static uint32_t kind_of(const struct monrec_record *record)
{
	return KIND(record->domain, record->number);
}

static const struct monrec_field *known(const struct monrec_record *record, const char *name)
{
	const struct monrec_layout *layout = monrec_layout(record->domain, record->number);

	return layout ? monrec_field(layout, name, record->release) : NULL;
}

bool activity_number(const struct monrec_record *record, const char *name, uint64_t *value)
{
	const struct monrec_field *field = known(record, name);

	return field && monrec_unsigned(record, field, value) == 0;
}

static struct cpu_activity *cpu_at(struct activity *f, uint64_t address)
{
	for (unsigned int i = 0; i < ACTIVITY_CPUS; i++) {
		struct cpu_activity *cpu = &f->cpu[i];

		if (!cpu->used)
			*cpu = (struct cpu_activity){ .used = true, .address = (uint16_t)address };
		if (cpu->address == address)
			return cpu;
	}
	return NULL;
}

static enum record_use take_processor(struct activity *f, const struct monrec_record *record)
{
	uint64_t address, user_time, system_time, type;
	struct cpu_activity *cpu;

	if (!activity_number(record, "PFXCPUAD", &address) ||
	    !activity_number(record, "PFXUTIME", &user_time) ||
	    !activity_number(record, "PFXTMSYS", &system_time))
		return RECORD_NOT_UNDERSTOOD;
	if (!activity_number(record, "PFXCPUTY", &type))
		type = TYPE_UNKNOWN;
	else if (type > TYPE_OTHER)
		type = TYPE_OTHER;
	cpu = cpu_at(f, address);
	if (!cpu)
		return RECORD_NOT_SHOWN;
	cpu->type = (uint8_t)type;
	/* While it was offline it was neither busy nor idle. */
	if (cpu->tod && f->intervals <= cpu->interval + 1 && record->tod > cpu->tod &&
	    user_time >= cpu->user_time && system_time >= cpu->system_time) {
		const uint64_t users = user_time - cpu->user_time;
		const uint64_t system = system_time - cpu->system_time;
		const uint64_t elapsed = record->tod - cpu->tod;
		const double busy = 100 * ((double)users + (double)system) / (double)elapsed;

		f->now.busy[cpu->type] += users + system;
		f->now.elapsed[cpu->type] += elapsed;
		cpu->users += users;
		cpu->system += system;
		cpu->elapsed += elapsed;
		if (busy > cpu->most) {
			cpu->most = busy;
			cpu->most_at = record->tod;
		}
	}
	cpu->interval = f->intervals;
	cpu->tod = record->tod;
	cpu->user_time = user_time;
	cpu->system_time = system_time;
	return RECORD_USED;
}

static enum record_use take_paging(struct activity *f, const struct monrec_record *record)
{
	uint64_t address, reads, writes;
	struct cpu_activity *cpu;

	if (!activity_number(record, "PFXCPUAD", &address) ||
	    !activity_number(record, "PLSPGDRD", &reads) ||
	    !activity_number(record, "PLSPGDWT", &writes))
		return RECORD_NOT_UNDERSTOOD;
	cpu = cpu_at(f, address);
	if (!cpu)
		return RECORD_NOT_SHOWN;
	if (cpu->paging) {
		f->now.page_reads += (uint32_t)reads - cpu->page_reads;
		f->now.page_writes += (uint32_t)writes - cpu->page_writes;
		f->now.paging_records++;
	}
	cpu->paging = true;
	cpu->page_reads = (uint32_t)reads;
	cpu->page_writes = (uint32_t)writes;
	return RECORD_USED;
}

/* Entries are found by number, from where it would be on.  NULL: there is no room. */
static struct device_activity *device_at(struct activity *f, uint32_t source, uint64_t number,
					 uint64_t starts)
{
	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		struct device_activity *device = &f->device[(number + i) % ACTIVITY_DEVICES];

		if (!device->source)
			*device = (struct device_activity){
				.number = (uint16_t)number, .source = source, .last = (uint32_t)starts,
			};
		if (device->number == number)
			return device;
	}
	f->left_out++;
	return NULL;
}

static void add_starts(struct activity *f, struct device_activity *device, uint32_t more)
{
	device->starts += more;
	f->now.starts += more;
	f->now.device_records++;
}

/* That record of the device which counts: of a SCSI device its own, though D6R3 came first. */
static struct device_activity *take_device(struct activity *f, uint32_t source, uint64_t number,
					   uint64_t starts)
{
	struct device_activity *device = device_at(f, source, number, starts);

	if (!device)
		return NULL;
	if (source == SCSI_ACTIVITY && device->source == DEVICE_ACTIVITY) {
		device->source = source;
		device->last = (uint32_t)starts;
	}
	if (device->source == source) {
		add_starts(f, device, activity_grown((uint32_t)starts, device->last));
		device->last = (uint32_t)starts;
	}
	return device;
}

/* NULL: it was not understood, or there is no room. */
static struct device_activity *take_device_field(struct activity *f,
						 const struct monrec_record *record,
						 const char *name, enum record_use *use)
{
	struct device_activity *device;
	uint64_t number, starts;

	*use = RECORD_NOT_UNDERSTOOD;
	if (!activity_number(record, "RDEVDEV", &number) ||
	    !activity_number(record, name, &starts)) {
		f->now.devices_unknown++;
		return NULL;
	}
	device = take_device(f, kind_of(record), number, starts);
	*use = device ? RECORD_USED : RECORD_NOT_SHOWN;
	return device;
}

static enum record_use take_volume(struct activity *f, const struct monrec_record *record)
{
	enum record_use use;
	struct device_activity *device = take_device_field(f, record, "SCGSSCH", &use);

	return device ? activity_volume(f, device, record) : use;
}

static enum record_use take_scsi(struct activity *f, const struct monrec_record *record)
{
	enum record_use use;

	take_device_field(f, record, "DSKXFERS", &use);
	return use;
}

/* D6R3; SCMSSCH counts where SCGSSCH does not. */
static enum record_use take_device_sample(struct activity *f, const struct monrec_record *record)
{
	uint64_t number, starts, short_starts = 0;
	struct device_activity *device;
	bool first;

	if (!activity_value(f, record, FIELD_D6R3_DEVICE, &number) ||
	    !activity_value(f, record, FIELD_D6R3_STARTS, &starts)) {
		f->now.devices_unknown++;
		return RECORD_NOT_UNDERSTOOD;
	}
	activity_value(f, record, FIELD_D6R3_SHORT_STARTS, &short_starts);
	device = take_device(f, DEVICE_ACTIVITY, number, starts);
	if (!device)
		return RECORD_NOT_SHOWN;
	first = !device->block.counted;
	if (device->source == DEVICE_ACTIVITY && !first && !starts && !device->last)
		add_starts(f, device, (uint16_t)(short_starts - device->last_short));
	device->last_short = (uint32_t)short_starts;
	activity_measured(f, device, record);
	return RECORD_USED;
}

/* A device that is measured has other records that count; it is not to be counted by this one. */
static enum record_use take_response(struct activity *f, const struct monrec_record *record)
{
	uint64_t number;

	if (!activity_value(f, record, FIELD_D6R14_DEVICE, &number))
		return RECORD_NOT_UNDERSTOOD;
	for (unsigned int i = 0; i < ACTIVITY_DEVICES; i++) {
		struct device_activity *device = &f->device[(number + i) % ACTIVITY_DEVICES];

		if (!device->source)
			break;
		if (device->number == number)
			return activity_response(f, device, record);
	}
	return RECORD_NOT_SHOWN;
}

/* The entry of a user's virtual processor. */
static struct user_activity *user_at(struct activity *f, const uint8_t name[8], uint64_t address)
{
	static const uint8_t none[8];
	const uint64_t hash = hash_more(hash_more(HASH_START, name, 8), &address, sizeof(address));

	if (memcmp(name, none, sizeof(none)) == 0)
		return NULL;
	for (unsigned int i = 0; i < ACTIVITY_USERS; i++) {
		struct user_activity *user = &f->user[(hash + i) % ACTIVITY_USERS];

		if (memcmp(user->name, name, sizeof(user->name)) == 0 && user->address == address)
			return user;
		if (memcmp(user->name, none, sizeof(none)) != 0)
			continue;
		memcpy(user->name, name, sizeof(user->name));
		user->address = (uint16_t)address;
		f->users++;
		return user;
	}
	f->left_out++;
	return NULL;
}

/* CP's records have the same counter.  Application data have their own: the first one seen counts. */
static bool same_counter(uint32_t one, uint32_t other)
{
	return one == other || (one != APPLICATION && other != APPLICATION);
}

static void take_time(struct user_activity *user, uint32_t source, uint64_t time)
{
	if (user->counted && !same_counter(user->source, source))
		return;
	/* What another kind of record tells may be older. */
	if (user->counted && user->source != source && time < user->last)
		return;
	/* A counter that begins anew at a logon has all of its time since then. */
	if (user->counted)
		user->time += time >= user->last ? time - user->last : time;
	user->counted = true;
	user->source = source;
	user->last = time;
}

bool activity_is_sampled(const struct user_activity *user)
{
	return user->activity.any || user->source == APPLICATION;
}

static bool is_of_users(uint32_t kind)
{
	return kind == KIND(4, 3) || kind == KIND(4, 4) || kind == KIND(4, 9) || kind == KIND(4, 10);
}

static enum record_use take_user(struct activity *f, const struct monrec_record *record)
{
	const struct monrec_field *name = known(record, "VMDUSER");
	const bool event = kind_of(record) == KIND(4, 9) || kind_of(record) == KIND(4, 10);
	const bool sample = is_of_users(kind_of(record)) && !event;
	struct user_activity *user;
	uint64_t address = 0, time;
	bool counts;

	if (!name || name->len != 8 || name->offset + 8u > record->len)
		return is_of_users(kind_of(record)) ? RECORD_NOT_UNDERSTOOD : RECORD_NOT_SHOWN;
	counts = activity_number(record, "VMDTTIME", &time);
	if (!counts && !is_of_users(kind_of(record)) && kind_of(record) != KIND(4, 1))
		return RECORD_NOT_SHOWN;
	activity_number(record, "VMDCPUAD", &address);
	user = user_at(f, record->data + name->offset, address);
	if (!user)
		return RECORD_NOT_SHOWN;
	if (sample)
		return activity_user_sample(f, user, record);
	if (kind_of(record) == KIND(4, 1))
		user->logon = larger(user->logon, record->tod);
	if (counts && !user->activity.any)
		take_time(user, kind_of(record), time);
	if (event)
		return activity_user_event(f, user, record);
	return counts && !user->activity.any ? RECORD_USED : RECORD_ELSEWHERE;
}

/* Letters, digits and @#$_-+ in EBCDIC, then blanks. */
static bool is_user_id(const uint8_t name[8])
{
	static const char possible[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@#$_-+";
	unsigned int len = 8;

	while (len > 0 && ebcdic_to_latin1(name[len - 1]) == ' ')
		len--;
	for (unsigned int i = 0; i < len; i++) {
		const uint8_t c = ebcdic_to_latin1(name[i]);

		if (!c || !strchr(possible, c))
			return false;
	}
	return len > 0;
}

static enum record_use take_application(struct activity *f, const struct monrec_record *record)
{
	struct user_activity *user;

	if (record->len != APLSDT_LENGTH || !is_user_id(record->data + APLSDT_USER))
		return RECORD_NOT_SHOWN;
	user = user_at(f, record->data + APLSDT_USER, 0);
	if (!user)
		return RECORD_NOT_SHOWN;
	if (user->activity.any)
		return RECORD_ELSEWHERE;
	take_time(user, kind_of(record), get_be64(record->data + APLSDT_TIME));
	return RECORD_USED;
}

enum record_use activity_record(struct activity *f, const struct monrec_record *record)
{
	switch (kind_of(record)) {
	case KIND(0, 12):
	case KIND(0, 15):
	case KIND(1, 4):
	case KIND(1, 9):
		return activity_system(f, record);
	case KIND(0, 2):
		return take_processor(f, record);
	case KIND(3, 2):
		return take_paging(f, record);
	case KIND(3, 4):
		return take_volume(f, record);
	case DEVICE_ACTIVITY:
		return take_device_sample(f, record);
	case KIND(6, 14):
		return take_response(f, record);
	case SCSI_ACTIVITY:
		return take_scsi(f, record);
	case APPLICATION:
		return take_application(f, record);
	default:
		return take_user(f, record);
	}
}
