/* SPDX-License-Identifier: MIT */
/* Saving and restoring a machine by commands of the panel. */
#include "checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cp_machine_file.h"
#include "hold.h"

#define COMMAND "zvmcp"
/* Instead of -1: another moment may be better. */
#define NOT_NOW (-2)

/* All of the machine but guest storage. */
struct image {
	struct saved_machine machine;
	struct saved_console console;
	struct saved_cpu cpu[MAX_CPUS];
	uint8_t *keys, *cp;	/* keys: one per STORAGE_KEY_UNITSIZE; to be freed */
	uint64_t cp_len;
};

static size_t keys_len(void)
{
	return port->own.ram_size / STORAGE_KEY_UNITSIZE;
}

static REGS *regs_of(unsigned int cpu)
{
	REGS *regs = sysblk.regs[cpu];

	assert(regs && regs->cpuad == cpu);
	return regs;
}

static void image_state(struct state *s, struct image *image)
{
	saved_machine_state(s, &image->machine);
	saved_console_state(s, &image->console);
	for (unsigned int i = 0; i < port->own.config.cpus; i++)
		saved_cpu_state(s, &image->cpu[i]);
	state_tag(s, "KEYS");
	state_bytes(s, image->keys, keys_len());
	state_tag(s, "CP..");
	state_u64(s, &image->cp_len);
	state_require(s, s->failed || !s->loading || image->cp_len <= s->len - s->pos);
	if (s->loading && !s->failed)
		image->cp = malloc(image->cp_len + 1);
	state_require(s, s->failed || image->cp);
	state_bytes(s, image->cp, image->cp_len);
}

static void image_free(struct image *image)
{
	free(image->keys);
	free(image->cp);
}

/* Describe the values that two machines must share for one to continue where the other stood. */
static void describe_machine(char text[CP_MACHINE_NAME_LEN])
{
	int len = snprintf(text, CP_MACHINE_NAME_LEN,
			   "Hercules %s, REGS %zu, SYSBLK %zu, DEVBLK %zu, ORB %zu, PMCW %zu, "
			   "SCSW %zu, ESW %zu, CPUs %u", VERSION, sizeof(REGS), sizeof(SYSBLK),
			   sizeof(DEVBLK), sizeof(ORB), sizeof(PMCW), sizeof(SCSW), sizeof(ESW),
			   port->own.config.cpus);

	assert(len > 0 && (size_t)len < CP_MACHINE_NAME_LEN);
}

/* Return: NULL, or why not. */
static const char *image_take(struct image *image)
{
	const char *reason = saved_machine_take(&image->machine);

	if (!reason)
		reason = saved_console_take(&image->console);
	if (reason)
		return reason;
	for (unsigned int i = 0; i < port->own.config.cpus; i++) {
		const REGS *regs = regs_of(i);

		if (regs->checkstop || regs->sigpreset || regs->sigpireset || regs->loadstate)
			return "a CPU is about to be reset";
		saved_cpu_take(&image->cpu[i], regs_of(i));
	}
	image->keys = malloc(keys_len());
	image->cp = port->own.calls->save(&port->own, &image->cp_len);
	if (!image->keys || !image->cp)
		return "there is not enough memory";
	memcpy(image->keys, sysblk.storkeys, keys_len());
	return NULL;
}

static int write_image(const char *path, struct image *image, char *err, size_t errlen)
{
	char machine[CP_MACHINE_NAME_LEN];
	struct cp_machine_file file = { .machine = machine };
	struct state s = { .loading = false };
	int result = -1;

	describe_machine(machine);
	image_state(&s, image);
	if (s.failed) {
		snprintf(err, errlen, "there is not enough memory");
	} else {
		file.head = s.data;
		file.head_len = s.len;
		file.ram = port->own.ram;
		file.ram_size = port->own.ram_size;
		result = cp_machine_write(path, &file, err, errlen);
	}
	free(s.data);
	return result;
}

static int save(const char *path, char *err, size_t errlen)
{
	struct image image = { .keys = NULL };
	const char *reason;
	int result = -1;

	port_lock(NULL);
	reason = hold_complete() && sysblk.arch_mode == ARCH_900 && port->used
			 ? image_take(&image)
			 : "no guest is held; load one, and say " COMMAND " hold";
	if (reason) {
		snprintf(err, errlen, "the machine cannot be saved now: %s", reason);
		result = NOT_NOW;
	} else {
		result = write_image(path, &image, err, errlen);
	}
	port_unlock();
	image_free(&image);
	return result;
}

/* Return: 0 if all of it is there and may become Hercules' own. */
static int parse_image(struct image *image, const struct cp_machine_file *file)
{
	struct state s = { .loading = true, .data = file->head, .len = file->head_len };
	bool valid;

	image->keys = malloc(keys_len());
	if (!image->keys)
		return -1;
	image_state(&s, image);
	valid = !s.failed && s.pos == s.len && saved_machine_valid(&image->machine) &&
		saved_console_valid(&image->console);
	for (unsigned int i = 0; valid && i < port->own.config.cpus; i++)
		valid = saved_cpu_valid(&image->cpu[i], regs_of(i));
	return valid ? 0 : -1;
}

/* The CP's storage rights come with its state, its keys before the guest's. */
static int image_apply(const struct image *image, char *err, size_t errlen)
{
	const uint64_t before = hold_tod();
	int result;

	saved_machine_apply_clock(&image->machine);
	result = port->own.calls->load(&port->own, image->cp, image->cp_len, err, errlen);
	if (result != 0) {
		hold_set_tod(before);
		return -1;
	}
	if (sclp_masks_apply(image->machine.sclp_receive, image->machine.sclp_send) != 0) {
		snprintf(err, errlen, "the service processor's masks cannot be restored");
		return -1;
	}
	memcpy(sysblk.storkeys, image->keys, keys_len());
	saved_machine_apply(&image->machine);
	saved_console_apply(&image->console);
	for (unsigned int i = 0; i < port->own.config.cpus; i++) {
		saved_cpu_apply(&image->cpu[i], regs_of(i));
		if (port->own.calls->interrupt_pending(&port->own, i))
			interrupt_kick(i);
	}
	port->used = true;
	return 0;
}

/* Storage is zero, and the file is open. */
static int take_image(const char *path, const struct cp_machine_file *file, char *err,
		      size_t errlen)
{
	struct image image = { .keys = NULL };
	int result = cp_machine_read(path, file, port->own.ram, err, errlen);

	if (result == 0) {
		result = parse_image(&image, file);
		if (result == 0)
			result = image_apply(&image, err, errlen);
		else
			snprintf(err, errlen, "the checkpoint %s cannot be used: its contents "
				 "contradict each other", path);
	}
	image_free(&image);
	return result;
}

static int read_image(const char *path, char *err, size_t errlen)
{
	char machine[CP_MACHINE_NAME_LEN];
	struct cp_machine_file file = { .machine = machine, .ram_size = port->own.ram_size };
	int result = -1;

	describe_machine(machine);
	if (storage_clear_all() != 0) {
		snprintf(err, errlen, "guest storage cannot be cleared: %s", strerror(errno));
	} else if (cp_machine_open(path, &file, err, errlen) == 0) {
		result = take_image(path, &file, err, errlen);
		free(file.head);
		close(file.fd);
	}
	if (result != 0)
		storage_clear_all();
	return result;
}

static int restore(const char *path, char *err, size_t errlen)
{
	int result;

	if (port->used) {
		snprintf(err, errlen, "a guest has run in this Hercules; restore into a new one");
		return -1;
	}
	if (hold_and_start(err, errlen) != 0)
		return -1;
	port_lock(NULL);
	result = read_image(path, err, errlen);
	if (result != 0)
		hold_stop();
	port_unlock();
	return result;
}

static int go(char *err, size_t errlen)
{
	int result = -1;

	port_lock(NULL);
	if (hold_complete()) {
		hold_end();
		result = 0;
	} else {
		snprintf(err, errlen, "no guest is held");
	}
	port_unlock();
	return result;
}

static int execute(char *words[3], int count, char *err, size_t errlen)
{
	if (count == 2 && strcmp(words[1], "hold") == 0)
		return hold_cpus(err, errlen);
	if (count == 2 && strcmp(words[1], "go") == 0)
		return go(err, errlen);
	if (count == 3 && strcmp(words[1], "save") == 0)
		return save(words[2], err, errlen);
	if (count == 3 && strcmp(words[1], "restore") == 0)
		return restore(words[2], err, errlen);
	snprintf(err, errlen,
		 COMMAND " takes hold, go, save FILE or restore FILE; a path has no blanks");
	return -1;
}

bool checkpoint_command(const char *command)
{
	char text[1024], err[1024], *words[4], *rest = text;
	int count = 0, result;

	if (!port_has_cp() || strncmp(command, COMMAND, strlen(COMMAND)) != 0 ||
	    (command[strlen(COMMAND)] != ' ' && command[strlen(COMMAND)] != '\0'))
		return false;
	snprintf(text, sizeof(text), "%s", command);
	while (count < 4 && (words[count] = strsep(&rest, " ")) != NULL)
		count += *words[count] != '\0';
	result = execute(words, count, err, sizeof(err));
	if (result != 0)
		fprintf(stderr, COMMAND ": %s%s\n", result == NOT_NOW ? "not now: " : "", err);
	return true;
}
