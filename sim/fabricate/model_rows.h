/* SPDX-License-Identifier: MIT */
/* How rows bind members of a subject to fields, which are named as the catalogue has them. */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include "model_private.h"

#define FROM(subject, member) ((uint16_t)offsetof(struct subject, member))
#define SYSTEM(field, member) { #field, FROM(system, member), 0, 0, false }
#define CPU(field, member) { #field, FROM(cpu, member), 0, 0, false }
#define DEVICE(field, member) { #field, FROM(device, member), 0, 0, false }
#define USER(field, member) { #field, FROM(user, member), 0, 0, false }
/* The field may be known from a page that was added alone (monrec_add_page()). */
#define OF_PAGE(field, member) { #field, FROM(user, member), 0, 0, true }
/* A field that no source describes. */
#define AT(offset, width, subject, member) { NULL, FROM(subject, member), offset, width, false }
#define AT_8(offset, subject, member) AT(offset, 8, subject, member)
/* Of the system there is one; of others a record for each that has all flags of @need … */
#define ROW_SYSTEM(domain, number, table) ROW(domain, number, EACH_SYSTEM, 0, table)
#define ROW(domain, number, each, need, table) ROW_MORE(domain, number, each, need, 0, table)
/* … with @more bytes behind the known length; or for each that a bit of its events tells of. */
#define ROW_MORE(domain, number, each, need, more, table) \
	{ domain, number, each, need, 0, more, table, COUNT(table) }
#define ROW_EVENT(domain, number, each, event, table) \
	{ domain, number, each, 0, event, 0, table, COUNT(table) }

#endif
