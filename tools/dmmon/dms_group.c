// SPDX-License-Identifier: MIT
/* Groups of dmstats, as far as they must not be broken unasked. */
#include "dms_group.h"

#include <string.h>

#define TAG "DMS_GROUP="

/*
 * Where the members begin, and in *@end where they end: at the sign that begins the user's own
 * data, which dmstats does without, too.  NULL if @aux describes no group.
 */
static const char *members(const char *aux, const char **end)
{
	const char *list;

	if (strncmp(aux, TAG, strlen(TAG)) != 0)
		return NULL;
	list = strchr(aux, ':');
	if (!list)
		return NULL;
	*end = strchr(list, '#');
	if (!*end && !memchr(aux, '#', (size_t)(list - aux)))
		*end = aux + strlen(aux);
	return *end ? list + 1 : NULL;
}

bool dms_group_has(const struct dms_region *leader, int id)
{
	const char *end, *at = members(leader->aux, &end);
	uint64_t first, last;

	if (!at)
		return false;
	/* Also if what follows cannot be read. */
	if (id == leader->id)
		return true;
	while (dms_number(&at, end, &first)) {
		last = first;
		if (*at == '-') {
			at++;
			if (!dms_number(&at, end, &last))
				return false;
		}
		if ((uint64_t)id >= first && (uint64_t)id <= last)
			return true;
		if (*at != ',')
			return false;
		at++;
	}
	return false;
}

const struct dms_region *dms_group_of(const struct dms_regions *all, int id)
{
	/* Who asks for each of thousands of regions need not have a call for each pair of them. */
	for (size_t i = 0; i < all->count; i++)
		if (all->region[i].aux[0] == TAG[0] && dms_group_has(&all->region[i], id))
			return &all->region[i];
	return NULL;
}

const char *dms_group_alias(const struct dms_region *leader, size_t *len)
{
	const char *end, *list = members(leader->aux, &end);

	*len = list ? (size_t)(list - 1 - (leader->aux + strlen(TAG))) : 0;
	return leader->aux + (list ? strlen(TAG) : 0);
}

void dms_group_write(struct text *text, const char *alias, const int *ids, size_t count,
		     const char *aux)
{
	text_append(text, TAG, strlen(TAG));
	for (; *alias; alias++)
		text_append(text, (unsigned char)*alias > ' ' && !strchr(":#\\\x7f", *alias) ?
					  alias : "_", 1);
	for (size_t i = 0, last; i < count; i = last + 1) {
		for (last = i; last + 1 < count && ids[last + 1] == ids[last] + 1; last++)
			;
		text_append(text, i ? "," : ":", 1);
		text_append_number(text, (uint64_t)ids[i]);
		if (last > i) {
			text_append(text, "-", 1);
			text_append_number(text, (uint64_t)ids[last]);
		}
	}
	text_append(text, "#", 1);
	text_append(text, aux, strlen(aux) + 1);
}

struct dms_group_sum *dms_group_sum_of(struct dms_group_sums *sums,
				       const struct dms_region *leader)
{
	size_t i = 0;

	while (i < sums->count && sums->sum[i].leader != leader)
		i++;
	if (i == sums->count)
		sums->sum[sums->count++] = (struct dms_group_sum){ .leader = leader };
	return &sums->sum[i];
}

struct dms_region dms_group_as_region(const struct dms_group_sum *sum)
{
	return (struct dms_region){
		.id = sum->leader->id, .length = sum->sectors, .step = sum->sectors,
		.precise = true,
	};
}

void dms_group_add(struct dms_group_sum *sum, const struct dms_region *r, uint64_t sectors,
		   const uint64_t *row, unsigned int doubt)
{
	static const bool is_time[DMS_COUNTERS] = {
		[DMS_READ_TIME] = true, [DMS_WRITE_TIME] = true, [DMS_IO_TIME] = true,
		[DMS_QUEUE_TIME] = true, [DMS_READING_TIME] = true, [DMS_WRITING_TIME] = true,
	};

	sum->sectors += sectors;
	sum->doubt |= doubt;
	for (unsigned int i = 0; i < DMS_COUNTERS; i++)
		sum->row[i] += is_time[i] ? dms_time_ns(r, row[i]) : row[i];
}

/* Does the group that @leader describes have members in @deleted, and others that stay? */
static bool breaks(const struct dms_region *leader, const struct dms_regions *all,
		   const struct dms_regions *deleted)
{
	size_t go = 0, stay = 0;

	for (size_t i = 0; i < all->count; i++) {
		int id = all->region[i].id;

		if (!dms_group_has(leader, id))
			continue;
		if (dms_regions_find(deleted, id))
			go++;
		else
			stay++;
	}
	return go && stay;
}

const struct dms_region *dms_group_broken(const struct dms_regions *all,
					  const struct dms_regions *deleted)
{
	for (size_t i = 0; i < all->count; i++)
		if (breaks(&all->region[i], all, deleted))
			return &all->region[i];
	return NULL;
}

bool dms_group_replaced(const struct dms_region *r, const char *aux)
{
	const char *end;
	size_t length;

	if (!members(r->aux, &end))
		return false;
	length = (size_t)(end - r->aux);
	return strncmp(r->aux, aux, length) != 0 || (aux[length] && aux[length] != '#');
}
