/* SPDX-License-Identifier: MIT */
/*
 * VMDUMP: registers and storage of a machine as a spool file, in 4 KiB records.
 *
 * The layout is that of big-storage dumps, as s390-tools' zgetdump and vmconvert read them; what
 * these do not look at is zero.  Pages of zeros are left out.
 */
#include <string.h>

#include "bytes.h"
#include "ebcdic.h"
#include "spool_private.h"
#include "zvmlab/storage.h"

/* Numbers of records, from 1 on. */
enum { RECORD_SYMPTOM = 1, RECORD_MAP, RECORD_INFO };

/* ADSR: what was dumped, and when. */
enum {
	SYMPTOM_ID = 0,		/* 2: SR */
	SYMPTOM_TOD = 16,	/* 8 */
	SYMPTOM_NODE = 34,	/* 8 */
	SYMPTOM_TYPE = 56,	/* 8 */
	SYMPTOM_NOTE_LEN = 80,	/* 2 */
	SYMPTOM_NOTE_AT = 82,	/* 2 */
	SYMPTOM_NOTE = 88,
};

/* HCPDFMBK: numbers of the first records of what follows. */
enum {
	MAP_ID = 0,		/* 8 */
	MAP_INFO = 8,		/* 4 */
	MAP_ACCESS = 16,	/* 4 */
	MAP_ACCESS_RECORDS = 20, /* 4 */
	MAP_SPACES = 24,	/* 4 */
	MAP_SPACE = 28,		/* 4 */
};

/* HCPDFIR: registers of the first CPU. */
enum {
	INFO_GR = 16,		/* 16 of 8 */
	INFO_PREFIX = 144,	/* 4 */
	INFO_TOD = 153,		/* 8 */
	INFO_CPU_TIMER = 169,	/* 8 */
	INFO_FORMAT = 187,	/* 1 */
	INFO_PSW = 192,		/* 2 of 8 */
	INFO_CR = 208,		/* 16 of 8 */
	INFO_FR = 336,		/* 16 of 8 */
	INFO_COMPARATOR = 465,	/* 8 */
	INFO_TODPR = 476,	/* 4 */
	INFO_AR = 560,		/* 16 of 4 */
	INFO_STORAGE = 640,	/* 8 */
	INFO_OTHERS = 912,	/* 2: other CPUs */
	INFO_CPU = 914,		/* 2: address */
	INFO_FPC = 968,		/* 4 */
	INFO_SIZE = 1104,
};
#define FORMAT_BIG 0x02
/* Records that registers of all CPUs may take. */
#define INFO_MOST 10u

/* The same of each other CPU, one behind the other. */
enum {
	OTHER_CPU = 0,		/* 2 */
	OTHER_FR = 16,
	OTHER_GR = 144,
	OTHER_PSW = 272,
	OTHER_PREFIX = 296,
	OTHER_FPC = 300,
	OTHER_TODPR = 308,
	OTHER_CPU_TIMER = 312,
	OTHER_COMPARATOR = 320,
	OTHER_AR = 336,
	OTHER_CR = 400,
	OTHER_SIZE = 552,
};
static_assert(INFO_SIZE + (CP_MAX_CPUS - 1) * OTHER_SIZE <= INFO_MOST * CP_PAGE_SIZE, "");

/* ASIZBK: the address space, which is the machine's storage. */
enum {
	SPACE_ID = 0,		/* 8 */
	SPACE_WITH_SEGMENTS = 64, /* 8 */
	SPACE_STORAGE = 72,	/* 8 */
	SPACE_RANGES = 216,	/* 4 */
	SPACE_ONLINE = 224,	/* 8 of 8 and 8: first and last byte */
	SPACE_RANGE = 352,	/* 64 of these: what was asked for */
};

/* Of a map of pages: a bit says that a map of 4096 pages follows, a byte there that a page does. */
#define MAP_BITS (CP_PAGE_SIZE * 8u)
#define STORED 0x01

static void put_name(uint8_t *to, const char *text)
{
	memset(to, BLANK, CP_NAME_LEN);
	ebcdic_encode(to, text, strlen(text));
}

static void put_words(uint8_t *to, const uint64_t *words, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		put_be64(to + 8 * i, words[i]);
}

static void put_access_registers(uint8_t *to, const uint32_t *words)
{
	for (unsigned int i = 0; i < 16; i++)
		put_be32(to + 4 * i, words[i]);
}

static void put_first(const struct cp *cp, uint8_t *to, const struct cp_registers *r)
{
	put_words(to + INFO_GR, r->gr, 16);
	put_be32(to + INFO_PREFIX, r->prefix);
	put_be64(to + INFO_CPU_TIMER, r->cpu_timer);
	to[INFO_FORMAT] = FORMAT_BIG;
	put_words(to + INFO_PSW, r->psw, 2);
	put_words(to + INFO_CR, r->cr, 16);
	put_words(to + INFO_FR, r->fr, 16);
	put_be64(to + INFO_COMPARATOR, r->comparator);
	put_be32(to + INFO_TODPR, r->todpr);
	put_access_registers(to + INFO_AR, r->ar);
	put_be64(to + INFO_STORAGE, storage_last(cp) + 1);
	put_be16(to + INFO_OTHERS, (uint16_t)(cp_cpu_count(cp) - 1));
	put_be32(to + INFO_FPC, r->fpc);
}

static void put_other(unsigned int cpu, uint8_t *to, const struct cp_registers *r)
{
	put_be16(to + OTHER_CPU, (uint16_t)cpu);
	put_words(to + OTHER_FR, r->fr, 16);
	put_words(to + OTHER_GR, r->gr, 16);
	put_words(to + OTHER_PSW, r->psw, 2);
	put_be32(to + OTHER_PREFIX, r->prefix);
	put_be32(to + OTHER_FPC, r->fpc);
	put_be32(to + OTHER_TODPR, r->todpr);
	put_be64(to + OTHER_CPU_TIMER, r->cpu_timer);
	put_be64(to + OTHER_COMPARATOR, r->comparator);
	put_access_registers(to + OTHER_AR, r->ar);
	put_words(to + OTHER_CR, r->cr, 16);
}

/* Of all CPUs that the guest has, CPU 0 first; they need so many records. */
static unsigned int info_records(const struct cp *cp)
{
	const size_t size = INFO_SIZE + (size_t)(cp_cpu_count(cp) - 1) * OTHER_SIZE;

	/* As many as CP has for a few CPUs. */
	return (unsigned int)larger(5, (size + CP_PAGE_SIZE - 1) / CP_PAGE_SIZE);
}

static void put_registers(struct cp *cp, uint8_t *to)
{
	struct cp_registers registers;
	uint8_t *other = to + INFO_SIZE;

	for (unsigned int cpu = 0; cpu < cp->config.cpus; cpu++) {
		if (!(cp->cpus >> cpu & 1))
			continue;
		registers = (struct cp_registers){ .prefix = 0 };
		cp->host.registers(cp->host.opaque, cpu, &registers);
		if (cpu == 0) {
			put_first(cp, to, &registers);
			continue;
		}
		put_other(cpu, other, &registers);
		other += OTHER_SIZE;
	}
}

static void put_symptom(struct cp *cp, uint8_t *to, const char *note)
{
	ebcdic_encode(to + SYMPTOM_ID, "SR", 2);
	put_be64(to + SYMPTOM_TOD, cp_tod(cp));
	put_name(to + SYMPTOM_NODE, CP_SYSTEM_ID);
	put_name(to + SYMPTOM_TYPE, "VMDUMP");
	put_be16(to + SYMPTOM_NOTE_LEN, (uint16_t)strlen(note));
	put_be16(to + SYMPTOM_NOTE_AT, SYMPTOM_NOTE);
	ebcdic_encode(to + SYMPTOM_NOTE, note, strlen(note));
}

static void put_map(uint8_t *to, uint32_t access)
{
	put_name(to + MAP_ID, "HCPDFMBK");
	put_be32(to + MAP_INFO, RECORD_INFO);
	put_be32(to + MAP_ACCESS, access);
	put_be32(to + MAP_ACCESS_RECORDS, 1);
	put_be32(to + MAP_SPACES, 1);
	put_be32(to + MAP_SPACE, access + 1);
}

static void put_range(uint8_t *to, uint64_t first, uint64_t last)
{
	put_be64(to, first);
	put_be64(to + 8, last);
}

static void put_space(const struct cp *cp, uint8_t *to, const struct spool_range *ranges,
		      unsigned int count)
{
	put_name(to + SPACE_ID, "ASIZBK");
	put_be64(to + SPACE_WITH_SEGMENTS, larger(storage_last(cp), storage_overlay_last(cp)) + 1);
	put_be64(to + SPACE_STORAGE, storage_last(cp) + 1);
	put_be32(to + SPACE_RANGES, count);
	for (unsigned int i = 0; i < cp->config.extents; i++)
		put_range(to + SPACE_ONLINE + i * 16, cp->config.extent[i].start,
			  cp->config.extent[i].start + cp->config.extent[i].size - 1);
	for (unsigned int i = 0; i < count; i++)
		put_range(to + SPACE_RANGE + i * 16, ranges[i].first, ranges[i].last);
}

/* The guest's page, if it is in a range and not zero; else NULL. */
static const uint8_t *page_of(struct cp *cp, uint64_t number, const struct spool_range *ranges,
			      unsigned int count)
{
	static const uint8_t zeros[CP_PAGE_SIZE];
	const uint64_t addr = number * CP_PAGE_SIZE;
	const uint8_t *page = NULL;

	for (unsigned int i = 0; i < count && !page; i++)
		if (addr + CP_PAGE_SIZE - 1 >= ranges[i].first && addr <= ranges[i].last &&
		    cp_page_access(cp, addr) != CP_ACCESS_NONE)
			page = storage_map(cp, CP_ABSOLUTE, addr, CP_PAGE_SIZE);
	return page && memcmp(page, zeros, CP_PAGE_SIZE) != 0 ? page : NULL;
}

/* Storage that is dumped, and what is known of it. */
struct walk {
	struct cp *cp;
	struct spool_file *file;
	const struct spool_range *ranges;
	unsigned int count;
	uint64_t pages;		/* up to the end of the last range, or of storage */
	uint16_t first;		/* page of the spool: the first map */
};

/* Maps of all pages, those of 4096 pages behind the one that says which of them are there. */
static bool put_maps(struct walk *walk)
{
	struct spool *spool = walk->cp->system->spool;
	uint8_t *index = NULL, *map;

	for (uint64_t at = 0; at < walk->pages; at += CP_PAGE_SIZE) {
		const uint64_t bit = at / CP_PAGE_SIZE % MAP_BITS;

		if (bit == 0)
			index = spool_empty_page(spool, walk->file);
		if (bit == 0 && at == 0)
			walk->first = walk->file->last;
		map = NULL;
		for (uint64_t i = 0; index && i < CP_PAGE_SIZE && at + i < walk->pages; i++) {
			if (!page_of(walk->cp, at + i, walk->ranges, walk->count))
				continue;
			if (!map)
				map = spool_empty_page(spool, walk->file);
			if (!map)
				return false;
			map[i] = STORED;
		}
		if (!index)
			return false;
		if (map)
			index[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
	}
	return true;
}

/* A page that has changed since it was mapped is stored all the same: the map counts. */
static bool put_page(struct walk *walk, uint64_t number)
{
	const uint8_t *from = storage_map(walk->cp, CP_ABSOLUTE, number * CP_PAGE_SIZE, CP_PAGE_SIZE);
	uint8_t *to = spool_empty_page(walk->cp->system->spool, walk->file);

	if (to && from)
		memcpy(to, from, CP_PAGE_SIZE);
	return to != NULL;
}

static bool put_pages(struct walk *walk)
{
	const struct spool *spool = walk->cp->system->spool;
	uint16_t next = walk->first, index = 0;

	for (uint64_t at = 0; at < walk->pages; at += CP_PAGE_SIZE) {
		const uint64_t bit = at / CP_PAGE_SIZE % MAP_BITS;
		const uint8_t *map;

		if (bit == 0) {
			index = next;
			next = spool->next[next - 1];
		}
		if (!(spool->page[index - 1][bit / 8] & 0x80 >> bit % 8))
			continue;
		map = spool->page[next - 1];
		next = spool->next[next - 1];
		for (uint64_t i = 0; i < CP_PAGE_SIZE; i++)
			if (map[i] && !put_page(walk, at + i))
				return false;
	}
	return true;
}

/* All records before the maps.  Return: false if the spool is full. */
static bool put_head(struct walk *walk, const char *note)
{
	uint8_t info[INFO_MOST][CP_PAGE_SIZE] = { { 0 } };
	struct spool *spool = walk->cp->system->spool;
	const unsigned int records = info_records(walk->cp);
	const uint32_t access = RECORD_INFO + records;
	uint8_t *to;

	assert(records <= INFO_MOST);
	for (uint32_t record = 1; record <= access + 1; record++) {
		to = spool_empty_page(spool, walk->file);
		if (!to)
			return false;
		if (record == RECORD_SYMPTOM)
			put_symptom(walk->cp, to, note);
		else if (record == RECORD_MAP)
			put_map(to, access);
		else if (record == RECORD_INFO)
			put_registers(walk->cp, info[0]);
		if (record >= RECORD_INFO && record < access)
			memcpy(to, info[record - RECORD_INFO], CP_PAGE_SIZE);
		else if (record == access)
			put_name(to, "HCPDALBK");
		else if (record == access + 1)
			put_space(walk->cp, to, walk->ranges, walk->count);
	}
	return true;
}

static uint64_t pages_up_to(const struct spool_range *ranges, unsigned int count)
{
	uint64_t last = 0;

	for (unsigned int i = 0; i < count; i++)
		last = larger(last, ranges[i].last);
	return last / CP_PAGE_SIZE + 1;
}

struct spool_file *spool_dump(struct cp *cp, const char *to, const char *type, const char *note,
			      const struct spool_range *ranges, unsigned int count)
{
	struct spool_file *file = spool_new(cp, to, SPOOL_PUN);
	struct walk walk = {
		.cp = cp, .file = file, .ranges = ranges, .count = count,
		.pages = pages_up_to(ranges, count),
	};

	assert(count > 0 && count <= SPOOL_RANGES && strlen(note) <= SPOOL_NOTE_LEN);
	if (!file)
		return NULL;
	file->device = SPOOL_DUMP;
	if (!put_head(&walk, note) || !put_maps(&walk) || !put_pages(&walk)) {
		spool_purge(cp, file);
		return NULL;
	}
	file->records = file->pages;
	file->record_length = SPOOL_CARD;
	file->spool_class = 'V';
	strcpy(file->origin, cp->config.userid);
	strcpy(file->label.name, "VMDUMP");
	strcpy(file->label.type, type);
	spool_enqueue(cp, file, to, SPOOL_RDR);
	return file;
}
