/* SPDX-License-Identifier: MIT */
/*
 * Saving and loading the CP's state.
 *
 * Each part describes its state once, by a function that serves both
 * directions: when saving, the value is appended; when loading, it is read and
 * replaces the variable.  The image is big-endian, tagged and versioned; one
 * that cannot be loaded is found out on another CP, and changes nothing.
 */
#ifndef ZVMLAB_STATE_H
#define ZVMLAB_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cp;

struct state {
	bool loading;
	bool trial;		/**< loading into a CP that has no storage of its own */
	bool failed;		/**< sticky: image too short, bad tag, value out of range */
	uint8_t *data;		/**< saving: grown with realloc, owned by the caller */
	size_t len, pos, capacity;
};

void state_u8(struct state *s, uint8_t *v);
void state_u16(struct state *s, uint16_t *v);
void state_u32(struct state *s, uint32_t *v);
void state_u64(struct state *s, uint64_t *v);
void state_bool(struct state *s, bool *v);
void state_bytes(struct state *s, void *bytes, size_t len);
/** A name of up to 8 printable ASCII characters, or none. */
void state_name(struct state *s, char name[9]);
/** Start of a part: four characters that must match on loading. */
void state_tag(struct state *s, const char tag[4]);
/** Loading: pass over @len bytes. */
void state_skip(struct state *s, size_t len);
/** Loading: fail unless the condition holds.  Saving: assert it. */
void state_require(struct state *s, bool condition);

/**
 * Save the whole CP.  Return: malloc'd image of *@len bytes, or NULL if there
 * is no memory.
 */
uint8_t *cp_save(struct cp *cp, size_t *len);

/**
 * Load an image into a CP created from the same configuration.  Peers come
 * back detached (iucv_user_attach gives them their owner again).
 *
 * Return: 0; -1 with one sentence in @err if the image is refused, and nothing
 * has changed; -2 likewise if memory has run out half-way, and the CP is reset.
 */
int cp_load(struct cp *cp, const uint8_t *image, size_t len, char *err, size_t errlen);

/**
 * Load into a machine of a system, which has just been reset, what an image has of a machine alone
 * whose user ID was CP_BASE_USERID, and whose configuration was the same otherwise.  What the image
 * has of a system stays behind.  An image is refused in which others had to do with the machine: of
 * services, it may be connected to *MSG only.
 *
 * Return: as cp_load(); with -2 the machine is reset.
 */
int cp_load_machine(struct cp *cp, const uint8_t *image, size_t len, char *err, size_t errlen);

#endif
