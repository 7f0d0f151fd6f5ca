/* SPDX-License-Identifier: MIT */
/*
 * The one way to open a file that somebody has named: the machine stands still
 * meanwhile, so nothing may be waited for, as a FIFO without its other end would be.
 */
#ifndef ZVMLAB_FILE_H
#define ZVMLAB_FILE_H

#include <stdbool.h>

/** Read a regular file.  Return: NULL with *@fd, or why not. */
const char *file_open_read(const char *path, int *fd);
/**
 * Write a file: new, or emptied.  Regular files, and devices such as /dev/full;
 * @append: every write goes to its end.  Return: as above.
 */
const char *file_open_write(const char *path, bool append, int *fd);

#endif
