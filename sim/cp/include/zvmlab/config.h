/* SPDX-License-Identifier: MIT */
/*
 * Configuration of a CP: what on a real system the user directory, the system
 * configuration file and the operator decide.
 *
 * Ports hand over textual options one by one (cp_config_set), so that every
 * emulator understands the same words and reports the same errors.
 */
#ifndef ZVMLAB_CONFIG_H
#define ZVMLAB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CP_MAX_CPUS 64
#define CP_MAX_EXTENTS 8	/* DIAG 260 reports at most 8 to Linux */
#define CP_MAX_SEGMENTS 32
#define CP_MAX_INCREMENTS 1024u	/* as many as z/VM shows in public captures */
#define CP_MAX_ELEMENT 1020u	/* increments that SCLP can name in a block of 4 KiB */
#define CP_MAX_RANGES 6		/* ranges per segment that DIAG 64 SEGEXTX lists */
#define CP_MAX_DIRECTORY 64	/* IUCV and NAMESAVE statements, each */
#define CP_MAX_UNITS 8		/* SPOOL statements */
#define CP_MAX_DISKS 8		/* MDISK and LINK statements */
#define CP_MAX_DISK_BLOCKS 131072u	/* of 512 bytes: 64 MiB */
#define CP_MAX_PATHS 65535
#define CP_NAME_LEN 8

/** Type of a saved-segment page range, as DIAG 64 reports it. */
enum dcss_type {
	DCSS_SW = 0, DCSS_EW = 1, DCSS_SR = 2, DCSS_ER = 3, DCSS_SN = 4, DCSS_EN = 5, DCSS_SC = 6,
};

struct cp_extent {
	uint64_t start;		/**< first byte */
	uint64_t size;		/**< bytes, a multiple of 1 MiB */
};

struct cp_segment_range {
	uint32_t first, last;	/**< page numbers, inclusive */
	enum dcss_type type;
};

struct cp_segment_config {
	char name[CP_NAME_LEN + 1];
	struct cp_segment_range range[CP_MAX_RANGES];
	unsigned int ranges;
	bool restricted;	/**< RSTD: needs NAMESAVE */
	char *file;		/**< saved contents to start with, or NULL; owned */
};

/** IUCV statement of the user directory. */
struct cp_iucv_statement {
	char name[CP_NAME_LEN + 1];	/**< user ID, service, ALLOW or ANY */
	uint16_t msglimit;		/**< 0: not given */
	bool priority;
};

enum cp_unit_kind { CP_UNIT_READER, CP_UNIT_PUNCH, CP_UNIT_PRINTER };

/** SPOOL statement of the user directory: a virtual unit record device. */
struct cp_unit_config {
	uint16_t device;
	uint8_t kind;		/**< enum cp_unit_kind */
	char spool_class;	/**< A to Z, 0 to 9; of a reader also '*' */
};

/** MDISK statement of the user directory: a virtual disk in storage (V-DISK). */
/** How a disk is linked, if others have links: see docs/choices.md. */
enum cp_link_mode {
	CP_LINK_R, CP_LINK_RR, CP_LINK_W, CP_LINK_WR, CP_LINK_M, CP_LINK_MR, CP_LINK_MW,
	CP_LINK_MODES
};
/** "R", "RR", … */
extern const char *const cp_link_mode_name[CP_LINK_MODES];

struct cp_disk_config {
	uint16_t device;
	uint8_t mode;		/**< enum cp_link_mode */
	/** MDISK: of 512 bytes, 8 to CP_MAX_DISK_BLOCKS, a multiple of 8. */
	uint32_t blocks;
	/** LINK: whose disk it is, and the device that it is there. */
	char owner[CP_NAME_LEN + 1];
	uint16_t owner_device;
};

/** The machine that CP runs on, and CP's partition of it, as STSI tells of them. */
struct cp_machine {
	char manufacturer[17], type[5], model[17];
	char capacity[17];		/**< model-capacity identifier */
	char sequence[17];		/**< sequence code: 16 hexadecimal digits */
	char plant[5];
	uint32_t capability;		/**< of a CPU; a faster one has less */
	uint16_t partition;		/**< number, 1 to CP_MAX_PARTITION */
	char partition_name[CP_NAME_LEN + 1];
	bool dedicated;			/**< has the partition its CPUs for itself? */
};
#define CP_MAX_PARTITION 255
/** Above it a capability would be read as a floating-point number (PoP, ch. 10). */
#define CP_MAX_CAPABILITY 0x7fffffu

/** Privilege classes there are: A to Z, 1 to 6. */
#define CP_CLASSES 32

struct cp_config {
	char userid[CP_NAME_LEN + 1];
	char classes[CP_CLASSES + 1];	/**< privilege classes, e.g. "EG" */
	struct cp_machine machine;
	char level[17];			/**< control-program id, e.g. "z/VM    7.3.0   " */
	char account[CP_NAME_LEN + 1];
	char group[CP_NAME_LEN + 1];	/**< ACIGROUP: access-control group, "": none */
	unsigned int cpus;		/**< 1 to CP_MAX_CPUS: of the emulator's machine */
	uint64_t logon_cpus;		/**< CPU statements: bit n is CPU n; 0: all, for ever */
	uint32_t max_paths;		/**< OPTION MAXCONN, 1 to CP_MAX_PATHS */
	bool applmon;			/**< OPTION APPLMON */
	struct cp_iucv_statement iucv[CP_MAX_DIRECTORY];
	unsigned int iucv_statements;
	char namesave[CP_MAX_DIRECTORY][CP_NAME_LEN + 1];
	unsigned int namesaves;
	struct cp_unit_config unit[CP_MAX_UNITS];	/**< each with another number */
	unsigned int units;
	struct cp_disk_config disk[CP_MAX_DISKS];	/**< likewise, and than any unit */
	unsigned int disks;
	struct cp_extent extent[CP_MAX_EXTENTS];
	unsigned int extents;
	uint64_t standby, reserved;	/**< bytes behind a single extent (cp_config_increment) */
	struct cp_segment_config segment[CP_MAX_SEGMENTS];
	unsigned int segments;
	uint16_t console;		/**< virtual device number of the console */
	bool conmode_3215;		/**< it is a 3215 of CP's, not the emulator's own console */
	uint64_t seed;
	uint32_t max_messages;		/**< message blocks in the whole system */
	bool trace_full;		/**< the trace holds all that a replay needs */
};

/**
 * Fill in the defaults: user LINUX001, classes EG, z/VM 7.3.0 on a z15, one CPU, one
 * extent of 128 MiB, MONDCSS at 144-152 MiB SC RSTD with its NAMESAVE,
 * IUCV ALLOW, IUCV ANY, IUCV *MSG and IUCV *MONITOR MSGLIMIT 255.
 */
void cp_config_init(struct cp_config *config);

/** Copy with everything it owns.  Return: 0, or -1 without memory. */
int cp_config_copy(struct cp_config *to, const struct cp_config *from);

/** Release what cp_config_set allocated. */
void cp_config_fini(struct cp_config *config);

/**
 * Set one option.
 *
 * Keys and values (lists are separated by ';', words by blanks; a list
 * replaces the default):
 *   userid     1 to 8 characters
 *   class      privilege classes, A to Z and 1 to 6
 *   level      version.release.modification, e.g. 7.3.0
 *   machine    "8561 T01 MANUFACTURER IBM CAPACITY 703 SEQUENCE 65AB8 PLANT 02
 *              CAPABILITY 416 LPAR 1 ZVMLP1 SHARED" (or DEDICATED): type and model are
 *              needed, and all else is as here if it is left out
 *   cpus       1 to 64
 *   storage    "0.140M 200M.200M" (start.size, K M or G), or "0.256M STANDBY 256M RESERVED 1G"
 *   directory  "IUCV *MONITOR MSGLIMIT 255;NAMESAVE MONDCSS;OPTION MAXCONN 64;
 *              SPOOL 00C 2540 READER *;SPOOL 00D 2540 PUNCH A;SPOOL 00E 1403 A;
 *              MDISK 0200 FB-512 V-DISK 16384 MW;CPU 00;CPU 01;ACIGROUP STAFF"
 *   segment    "MONDCSS 9000-97FF SC RSTD;DATA 10000-100FF EN 10100-101FF SW
 *              FILE=path" (pages in hexadecimal); empty: none
 *   console    virtual device number in hexadecimal
 *   conmode    3215: CP has the console; none: the emulator has it
 *   seed       number
 *   trace-data short or full: are long data in the trace hashed, or whole?
 *
 * Return: 0, or -1 with one sentence in @err that names key and value.
 */
int cp_config_set(struct cp_config *config, const char *key, const char *value, char *err,
		  size_t errlen);

/** Room that every value of cp_config_get() has enough of. */
#define CP_CONFIG_TEXT_MAX 8192u

/**
 * Write the value of @key, as cp_config_set would take it, to @text of @size
 * bytes, 1 or more; files of segments are left out.
 * Return: its length, or -1 if there is no such key or no room.
 */
int cp_config_get(const struct cp_config *config, const char *key, char *text, size_t size);

/** The keys that cp_config_set knows, ended by NULL. */
extern const char *const cp_config_keys[];

/**
 * Bytes of a storage increment: a power of 2, of which there are at most CP_MAX_INCREMENTS, and
 * at most CP_MAX_ELEMENT in initial, and in standby storage.  0: no storage is standby or reserved.
 */
uint64_t cp_config_increment(const struct cp_config *config);

/** A size with K, M, G or T, as the value of storage has them; 0 needs no unit. */
bool cp_config_size(const char *text, uint64_t *bytes);

/** Parse the value of storage, which DEF STOR's operands become; same return as cp_config_set. */
int cp_config_parse_storage(struct cp_config *config, const char *text, char *err, size_t errlen);

/** Each privilege class in @text once, in upper case; false if there are others, or none. */
bool cp_config_classes(const char *text, char classes[CP_CLASSES + 1]);

#endif
