/* SPDX-License-Identifier: MIT */
/* How rows bind members of a subject to fields, which are named as the catalogue has them. */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include "model_private.h"

#define FROM(subject, member) ((uint16_t)offsetof(struct subject, member))
#define SYSTEM(field, member) { #field, FROM(system, member), 0, 0 }
#define CPU(field, member) { #field, FROM(cpu, member), 0, 0 }
#define DEVICE(field, member) { #field, FROM(device, member), 0, 0 }
#define USER(field, member) { #field, FROM(user, member), 0, 0 }
/* Where no source tells of a field. */
#define AT(offset, width, subject, member) { NULL, FROM(subject, member), offset, width }
/* @need: flags of the subject; @event: bit of its events; @more: bytes behind the known length. */
#define ROW(domain, number, each, need, event, more, table) \
	{ domain, number, each, need, event, more, table, COUNT(table) }

#endif
