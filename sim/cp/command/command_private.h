/* SPDX-License-Identifier: MIT */
/*
 * What the files of the command processor share.
 *
 * A command is a row of a table and a function that reads its operands one by
 * one, writes lines, and returns 0 or the number of CP's message.
 */
#ifndef COMMAND_PRIVATE_H
#define COMMAND_PRIVATE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "cp_private.h"
#include "message_numbers.h"
#include "zvmlab/command.h"
#include "zvmlab/dcss.h"

/** Classes of the system operator (CP defines A to G). */
#define CPCMD_ALL_CLASSES "ABCDEFG"
/** For commands and options that need no certain class. */
#define CPCMD_ANY NULL
/** In front of the classes: acts on the issuer's virtual machine, which no peer has. */
#define CPCMD_MACHINE "="
/** Longest line of a response; a command echoed in a message is shorter. */
#define CPCMD_MAX_LINE 512u

/** The user who filed a segment, and when, for QUERY NSS. */
struct cpcmd_file {
	uint16_t id;		/**< struct dcss.fileid; 0: free */
	uint64_t tod;
	char origin[CP_NAME_LEN + 1];
};

struct cpcmd {
	struct cpcmd_response response;
	bool truncated;			/**< a line found no room: no later one is stored */
	bool run;			/**< SET RUN */
	bool logged_off;		/**< by the command that runs: none follows */
	bool ends;			/**< LOGOFF or FORCE: the emulator has been asked to end */
	uint64_t forced_at;		/**< system TOD, by SIGNAL SHUTDOWN WITHIN; 0: not at all */
	char forced_by[CP_NAME_LEN + 1];	/**< whoever has given that command */
	uint16_t term[TERM_SETTINGS];
};

struct cpcmd_word;

/** One command line being worked on. */
struct cpcmd_args {
	struct cp *cp;
	const struct cpcmd_word *commands;	/**< all that there are */
	enum cpcmd_issuer issuer;
	const char *userid, *classes;	/**< of the issuer */
	bool directed;			/**< by CPU to some virtual CPUs */
	const char *next;		/**< what has not been read of the line */
	/** Last operand, in upper case; "" at the end of the line. */
	char word[CPCMD_MAX_COMMAND + 1];
};

typedef int cpcmd_function(struct cpcmd_args *args);

/* Those in the tables of words. */
#define CP_COMMAND(name, min, classes, function) cpcmd_function function;
#define CP_QUERY(name, min, classes, function) cpcmd_function function;
#define CP_QUERY_VIRTUAL(name, min, classes, function) cpcmd_function function;
#define CP_INDICATE(name, min, classes, function) cpcmd_function function;
#define CP_SET(name, min, classes, function) cpcmd_function function;
#define CP_DEFINE(name, min, classes, function) cpcmd_function function;
#include "words.def"

/** Operands that several commands know. */
enum cpcmd_keyword {
#define CP_KEYWORD(name, min) KEYWORD_##name,
#include "words.def"
	KEYWORDS
};

/** A command or an option of one; tables end with a NULL name. */
struct cpcmd_word {
	const char *name;
	uint8_t min;		/**< characters of the shortest abbreviation */
	const char *classes;	/**< any one of them is enough; CPCMD_ANY: needs none */
	cpcmd_function *run;
};

/** One command without its newline; blank lines do nothing.  Return: 0 or CP's number. */
int cpcmd_run_line(const struct cpcmd_args *issuer, const char *line);
/** Is @word @name or an abbreviation of at least @min characters? */
bool cpcmd_abbreviates(const char *word, const char *name, unsigned int min);
/** Is @word this keyword, or short for it? */
bool cpcmd_is(const char *word, enum cpcmd_keyword keyword);
/** Entry for @word that the issuer's classes allow, or NULL. */
const struct cpcmd_word *cpcmd_find(const struct cpcmd_args *args, const struct cpcmd_word *table,
				    const char *word);
/** Run the option of @table that the next word names. */
int cpcmd_option(struct cpcmd_args *args, const struct cpcmd_word *table, const char *module);
/** A response on the guest's console, long lines in pieces. */
void cpcmd_to_console(struct cp *cp, const struct cpcmd_response *response);
/** One line of the response; what is not printable becomes '.'. */
__attribute__((format(printf, 2, 3))) void cpcmd_line(struct cp *cp, const char *format, ...);
/** "HCPmmmnnns text"; return: @number. */
__attribute__((format(printf, 5, 6))) int cpcmd_message(struct cp *cp, const char *module,
							unsigned int number, char severity,
							const char *format, ...);
/** 026E; 003E for the operand in @args->word. */
int cpcmd_missing(struct cpcmd_args *args, const char *module);
int cpcmd_invalid(struct cpcmd_args *args, const char *module);
/** Next operand into @args->word; false at the end of the line. */
bool cpcmd_next(struct cpcmd_args *args);
/** 0 at the end of the line, 003E if there is another operand. */
int cpcmd_end(struct cpcmd_args *args, const char *module);
/** The rest of the line without leading blanks. */
const char *cpcmd_rest(struct cpcmd_args *args);
/** Whole @text as a number from @min to @max in @base. */
bool cpcmd_number(const char *text, unsigned int base, uint64_t min, uint64_t max, uint64_t *out);
/** Storage size as CP writes it: "0", "4K", "256M", "2G". */
#define CPCMD_SIZE_LEN 24
const char *cpcmd_size(uint64_t bytes, char out[CPCMD_SIZE_LEN]);

/** Unit record devices that args->word names, for QUERY VIRTUAL; false if it names none. */
bool cpcmd_query_units(struct cpcmd_args *args, int *rc);
/** Is there a virtual device of this number? */
bool cpcmd_has_device(const struct cp *cp, uint64_t number);
/** DETACH of virtual CPUs. */
cpcmd_function cpcmd_detach_cpu;
/** PURGE of spool files. */
cpcmd_function cpcmd_purge_files;

/** SIGNAL SHUTDOWN WITHIN: the time has come, as for struct cp_part.system_timer. */
bool cpcmd_force_timer(struct cp *cp);
/** Ask for that time once more, after a state has been loaded. */
void cpcmd_arm_force(struct cp *cp);
/** The operator learns of a machine that logs on or off: as for struct cp_part. */
void cpcmd_logon(struct cp *cp, const char *userid);
void cpcmd_logged_off(struct cp *cp, const char *userid);

/** Default terminal settings. */
void cpcmd_terminal_init(const struct cp *cp, struct cpcmd *command);
/** Are the settings ones that TERMINAL could have made? */
bool cpcmd_terminal_valid(const struct cpcmd *command);
/** Note issuer and time of a segment that was defined or saved. */
void cpcmd_file_stamp(struct cpcmd_args *args, uint16_t fileid);
/** Entry of a segment's file, NULL if the configuration defined it. */
const struct cpcmd_file *cpcmd_file(const struct cp *cp, uint16_t fileid);

/** "SW", "EW", … in the order of enum dcss_type. */
#define CPCMD_TYPES 7u
extern const char *const cpcmd_types[CPCMD_TYPES];

#endif
