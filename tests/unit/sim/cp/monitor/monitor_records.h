/* SPDX-License-Identifier: MIT */
/* Walking the records of a message as a reader would, frame by frame. */
#ifndef MONITOR_RECORDS_H
#define MONITOR_RECORDS_H

#include "monitor_peer.h"

#define SECOND (UINT64_C(1000000) << 12)
#define RECORDS_MAX 2048

struct record {
	unsigned int domain, number;
	uint32_t len;
	const uint8_t *at;
};

static struct record record[RECORDS_MAX];
static unsigned int records;

/* All records of element 0 of the message, D1R13 left out. */
static inline void read_records(const struct iucv_event *m)
{
	const uint8_t *mce = peer_mce(m, 0);
	const uint32_t domains = get_be16(mce + MCE_DOMAINS), end = get_be32(mce + MCE_END);
	uint32_t at = get_be32(mce + MCE_START);

	records = 0;
	while (at <= end) {
		const uint8_t *r = fx_at(at, HEADER_SIZE);
		const uint32_t len = get_be16(r + HEADER_LENGTH);
		const unsigned int domain = r[HEADER_DOMAIN];
		const unsigned int number = get_be16(r + HEADER_RECORD);

		ck_assert_uint_ge(len, HEADER_SIZE);
		ck_assert_uint_le(at + len - 1, end);
		ck_assert_uint_eq(at / 4096, (at + len - 1) / 4096);
		ck_assert_uint_eq(domains & MON_DOMAIN_BIT(domain), MON_DOMAIN_BIT(domain));
		if (domain == MON_MONITOR && number == 13) {
			at = (at / 4096 + 1) * 4096;
			continue;
		}
		ck_assert_uint_lt(records, RECORDS_MAX);
		record[records++] = (struct record){ domain, number, len, r };
		at += len;
	}
}

static inline unsigned int count_records(unsigned int domain, unsigned int number)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < records; i++)
		count += record[i].domain == domain && record[i].number == number;
	return count;
}

static inline void ck_record(unsigned int index, unsigned int domain, unsigned int number,
			     uint32_t len)
{
	ck_assert_uint_lt(index, records);
	ck_assert_uint_eq(record[index].domain, domain);
	ck_assert_uint_eq(record[index].number, number);
	ck_assert_uint_eq(record[index].len, len);
}

#endif
