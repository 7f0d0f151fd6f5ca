/* SPDX-License-Identifier: MIT */
/* Shared by the files that load images: nothing of one is used before all of it has been tried. */
#ifndef SAVE_PRIVATE_H
#define SAVE_PRIVATE_H

#include "cp_private.h"

#define SAVE_NO_MEMORY "there is not enough memory"
#define SAVE_CONTRADICTS "its contents contradict each other"

/** What is wrong with the image as a whole, NULL if nothing. */
const char *save_image_defect(const struct cp_system *system, const uint8_t *image, size_t len);
/** Load all parts.  @trial: as in struct state.  Return: false if that fails. */
bool save_load_parts(struct cp_system *system, const uint8_t *image, size_t len, bool trial);
/** A system like this one, without machines, on which images are tried; NULL without memory. */
struct cp_system *save_trial_system(struct cp_system *system);
/** A machine of it like @cp, with that configuration; NULL without memory. */
struct cp *save_trial_machine(struct cp_system *system, struct cp *cp,
			      const struct cp_config *config);
/** What an image has brought is told to the emulator. */
void save_show(struct cp *cp);
/** The sentence about an image that is refused. */
void save_say(char *err, size_t errlen, const char *defect);

#endif
