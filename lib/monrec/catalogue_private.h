/* SPDX-License-Identifier: MIT */
/*
 * How the tables of the catalogue are written.
 *
 * A row says where its offset is from: SEEN() on IBM's pages of the releases from
 * first to last, where also its meaning was read; ZPMD() among the members that
 * zpmd declares for z/VM 5.3, with a type or a meaning told there or by the name
 * that another record's page explains; BARE() the same with nothing told but
 * offset and length.  Bytes without a row are reserved or not known.
 */
#ifndef CATALOGUE_PRIVATE_H
#define CATALOGUE_PRIVATE_H

#include "monrec_catalogue.h"

#define CATALOGUE_ROW(first_, last_, from, name_, offset_, len_, type_, nature_, unit_, text)      \
	{                                                                                          \
		.name = #name_, .meaning = (text), .offset = (offset_), .len = (len_),             \
		.first = (first_), .last = (last_), .type = MONREC_##type_,                        \
		.nature = MONREC_##nature_, .unit = MONREC_UNIT_##unit_, .source = MONREC_##from        \
	}
#define SEEN(first_, last_, name_, offset_, len_, type_, nature_, unit_, text) \
	CATALOGUE_ROW(first_, last_, IBM, name_, offset_, len_, type_, nature_, unit_, text)
#define ZPMD(name_, offset_, len_, type_, nature_, unit_, text) \
	CATALOGUE_ROW(530, 530, ZPMD, name_, offset_, len_, type_, nature_, unit_, text)
/* A field on IBM's page of another release in which the record has the same length. */
#define SAME(first_, last_, name_, offset_, len_, type_, nature_, unit_, text) \
	CATALOGUE_ROW(first_, last_, SAME, name_, offset_, len_, type_, nature_, unit_, text)
#define BARE_AS(name_, offset_, len_, type_) \
	ZPMD(name_, offset_, len_, type_, UNSTATED, UNKNOWN, NULL)
/* zpmd declares numbers of up to 4 bytes; other members are arrays of bytes unless told. */
#define BARE(name_, offset_, len_)                                                         \
	{                                                                                  \
		.name = #name_, .offset = (offset_), .len = (len_), .first = 530,          \
		.last = 530, .type = BARE_TYPE(len_), .nature = MONREC_UNSTATED,           \
		.unit = MONREC_UNIT_UNKNOWN, .source = MONREC_ZPMD                         \
	}
#define BARE_TYPE(len) \
	((len) == 1 || (len) == 2 || (len) == 4 ? MONREC_UNSIGNED : MONREC_BYTES)

/* Lengths: L() of IBM's pages, Z() of zpmd's members in 5.3. */
#define L(first_, last_, len_) { (first_), (last_), (len_), MONREC_IBM }
#define Z(len_) { 530, 530, (len_), MONREC_ZPMD }
#define LENGTHS(...)                                                                       \
	.lengths = (const struct monrec_length[]){ __VA_ARGS__ },                          \
	.length_count = sizeof((const struct monrec_length[]){ __VA_ARGS__ }) /            \
			sizeof(struct monrec_length)
#define FIELDS(table) .fields = (table), .field_count = sizeof(table) / sizeof((table)[0])
/* All of 5.3 is known. */
#define WHOLE(table) FIELDS(table), .complete = true
/* An entry of a domain's table, at the record's number. */
#define RECORD(domain_, number_, name_, kind_, title_, ...)                                \
	[number_] = { .name = #name_, .title = (title_), .number = (number_),              \
		      .domain = (domain_), .kind = MONREC_##kind_, __VA_ARGS__ }

/* A domain's records, indexed by number; an entry without a name is a hole. */
struct catalogue_domain {
	const struct monrec_layout *layouts;
	unsigned int count;
};

#define CATALOGUE_DOMAIN(table) { (table), sizeof(table) / sizeof((table)[0]) }

extern const struct catalogue_domain catalogue_system, catalogue_monitor, catalogue_scheduler,
	catalogue_storage, catalogue_user, catalogue_processor, catalogue_io, catalogue_seeks,
	catalogue_network, catalogue_isfc, catalogue_appldata, catalogue_ssi;

#endif
