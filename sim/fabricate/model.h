/* SPDX-License-Identifier: MIT */
/*
 * A living system that monitor records are taken of (docs/fabricate.md).
 *
 * The model is given a system and what happens to it, and gives back the data
 * sets that CP would store into the monitor segment, one after the other, in a
 * segment of its own.  The same configuration gives the same bytes, whatever
 * the machine: there is no floating point, no clock and no outside randomness.
 * All storage is allocated by model_open(); its size follows from the
 * configuration alone.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "area.h"

#define MODEL_MAX_PROCESSORS 64u
#define MODEL_MAX_DEVICES 4096u
#define MODEL_MAX_USERS 65536u
#define MODEL_MAX_PATTERNS 32u
#define MODEL_MAX_ACTIONS 65536u
#define MODEL_MAX_SECONDS (366u * 86400u)
/** Types of processors are those of PFXCPUTY: 0 CP, 2 zAAP, 3 IFL, 4 ICF, 5 zIIP. */
#define MODEL_CPU_TYPES 6u
/** Rates are in thousandths of a second's worth, 100,000 a second at most. */
#define MODEL_MAX_RATE 100000000u

struct model_processor {
	uint32_t type;		/**< below MODEL_CPU_TYPES */
};

enum model_device_kind { MODEL_DASD, MODEL_SCSI, MODEL_OSA, MODEL_PAGING, MODEL_DEVICE_KINDS };

struct model_device {
	uint32_t number;	/**< 0 to X'FFFF', ascending, each once */
	uint32_t kind;		/**< enum model_device_kind */
	uint32_t paths;		/**< channel paths, 1 to 8 */
	uint8_t chpid[8];
	char volume[8];		/**< up to 6 characters; "" is none */
	uint32_t slots;		/**< of a paging volume: 4096-byte slots */
};

struct model_user {
	char name[12];		/**< up to 8 characters of EBCDIC's upper case */
	uint32_t type;		/**< of its virtual processors */
	uint32_t processors;	/**< virtual ones, 1 to 64 */
	uint32_t pattern;	/**< index: what it does over the day */
	uint32_t logged_on;	/**< at the beginning; 0 or 1 */
	uint32_t application;	/**< writes application data; 0 or 1 */
	uint32_t network;	/**< has an adapter of the virtual switch; 0 or 1 */
	uint32_t share;		/**< relative share, 1 to 10000 */
	uint32_t pages;		/**< of its storage */
	uint32_t cpu;		/**< at 100 %: thousandths of one processor */
	/* At 100 %, in thousandths of a second's worth, up to MODEL_MAX_RATE: */
	uint32_t io;		/**< START SUBCHANNEL */
	uint32_t paging;	/**< pages read, and as many written, without any shortage */
	uint32_t packets;	/**< sent */
	uint32_t transactions;	/**< ended, one event each; one a step at most */
};

/** Percentage of full load at each full hour; straight lines between them. */
struct model_pattern {
	uint16_t percent[24];	/**< up to 1000 */
};

enum model_action_kind {
	MODEL_LOGON,		/**< users first … first + count - 1 */
	MODEL_LOGOFF,
	MODEL_LOAD,		/**< the same: value percent of their usual load, up to 10000 */
	MODEL_RUNAWAY,		/**< the same: value 1 all the CPU they can get, 0 as usual */
	MODEL_PROCESSOR,	/**< processors: value 1 vary on, 0 off */
	MODEL_DEVICE,		/**< devices: value 1 vary on, 0 off */
	MODEL_PATH,		/**< channel path first: value 1 online, 0 offline */
	MODEL_STORM,		/**< value events of seeks a second, up to 1,000,000; 0: over */
	MODEL_READER,		/**< who reads takes value KB a second; 0: nothing; ~0: all at once */
	MODEL_SAMPLE,		/**< text, after which value is the set of sample domains */
	MODEL_EVENT,		/**< the same of event domains */
	MODEL_ACTIONS
};

#define MODEL_AT_ONCE UINT32_MAX

struct model_action {
	uint32_t second;	/**< since the beginning; ascending */
	uint32_t kind;		/**< enum model_action_kind */
	uint32_t first, count, value;
	char text[64];		/**< the MONITOR command; else "" */
};

struct model_config {
	uint64_t seed;
	uint64_t start;		/**< TOD clock at the beginning */
	uint32_t second_of_day;	/**< at the beginning, below 86400 */
	uint32_t seconds;	/**< how long, 1 to MODEL_MAX_SECONDS */
	uint32_t release;	/**< 530 is z/VM 5.3 */
	uint32_t interval;	/**< seconds, 6 to 3600 */
	uint32_t rate;		/**< high-frequency samples: hundredths of a second, 5 to 3000 */
	uint32_t sample_domains, event_domains;	/**< 16 bits each, domain 0 is the highest */
	uint32_t segment;	/**< page it begins at, below 2 GiB */
	struct area_wish area;
	uint32_t block;		/**< pages of an event block, 1 to 10 */
	uint32_t reader;	/**< as the value of MODEL_READER */
	uint32_t frames;	/**< real storage, 4 KiB each: 1024 to 2^30 */
	char system[12], partition[12], vswitch[12];	/**< names of up to 8 characters */
	uint32_t processors, devices, users, patterns, actions;	/**< how many there are of: */
	const struct model_processor *processor;
	const struct model_device *device;
	const struct model_user *user;
	const struct model_pattern *pattern;
	const struct model_action *action;
};

/** A data set of one control element; @data is valid until the next call of model_next(). */
struct model_set {
	uint64_t number;	/**< from 1 on; of lost sets, too */
	uint64_t tod;		/**< when it was delivered */
	const uint8_t *data;
	uint32_t len;
	uint32_t start;		/**< address of its first byte; a frame begins there */
	uint32_t mca_start;	/**< address of its control element */
	uint32_t kind;		/**< enum area_kind */
	uint16_t domains;	/**< bytes 1 and 2 of the control element */
	uint8_t type;		/**< byte 0 */
};

struct model_totals {
	uint64_t sets, records, bytes;	/**< delivered; bytes of records, framing ones included */
	uint64_t sets_lost;		/**< whoever read was too slow */
	uint64_t records_lost;		/**< of events, while recording was suspended */
	uint64_t suspensions;
};

struct model;

/**
 * Make a model; @config is copied, with all it points to.
 * Return: NULL with one sentence in @err if the configuration makes no sense, its
 * data sets are larger than their areas, or storage is short.
 */
struct model *model_open(const struct model_config *config, char *err, size_t errlen);
void model_close(struct model *model);
/** The next data set that is delivered; false: there are no more. */
bool model_next(struct model *model, struct model_set *set);
void model_totals(const struct model *model, struct model_totals *totals);

#endif
