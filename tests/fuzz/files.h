/* SPDX-License-Identifier: MIT */
/*
 * Files for a fuzz target: whatever path is opened lies in this process, so that no input reaches
 * the machine's files.  The target is linked with --wrap=open.
 */
#ifndef FILES_H
#define FILES_H

#include <stddef.h>
#include <stdint.h>

#define FILES 4

/** From now on paths are ours, and all files empty. */
void files_start(void);
/** Paths are the machine's again. */
void files_end(void);
/** The bytes of a file, for a change; NULL if it is empty.  Unmapped by files_give(). */
uint8_t *files_take(unsigned int file, size_t *len);
void files_give(uint8_t *bytes, size_t len);

#endif /* FILES_H */
