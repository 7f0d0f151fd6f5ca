/* SPDX-License-Identifier: MIT */
/* Shared by the commands that read a recording: replay, export. */
#ifndef TASKMON_REPLAYING_H
#define TASKMON_REPLAYING_H

#include <stdio.h>

#include "collector.h"

/*
 * Gives the collector all that is in the file, until rows cannot be written.  Says on standard
 * error where it was recorded.
 * Return: false if it does not even begin as a recording; @result: why there is no more.
 */
bool replaying_take(FILE *file, const char *path, struct collector *collector,
		    enum recording_result *result);

/* Return: an exit code; what is wrong with the file has been said. */
int replaying_judge(enum recording_result result, const char *path);

#endif
