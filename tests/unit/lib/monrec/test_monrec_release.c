/* SPDX-License-Identifier: MIT */
/* libmonrec: the release of data by the lengths of their records, as IBM's pages have them. */
#include "fixture.h"

#include "monrec.h"

static struct monrec_evidence evidence;

static void start(void)
{
	memset(&evidence, 0, sizeof(evidence));
}

CASE("release", start, NULL);

static struct monrec_record made(unsigned int domain, unsigned int number, uint32_t len)
{
	return (struct monrec_record){
		.len = len, .domain = (uint8_t)domain, .number = (uint16_t)number,
	};
}

static void comes(unsigned int domain, unsigned int number, uint32_t len)
{
	const struct monrec_record record = made(domain, number, len);

	monrec_evidence_add(&evidence, &record);
}

static void ck_text(uint32_t releases, const char *expected)
{
	char text[MONREC_RELEASES_TEXT];

	ck_assert_str_eq(monrec_releases_text(releases, text), expected);
}

static void ck_found(const char *expected)
{
	ck_text(monrec_evidence_releases(&evidence), expected);
}

TEST(texts)
{
	uint32_t all = 0, every_other = 0;

	for (unsigned int i = 0; i < MONREC_RELEASES; i++) {
		const uint32_t bit = monrec_release_bit(monrec_release(i));

		ck_assert_uint_eq(bit, UINT32_C(1) << i);
		all |= bit;
		every_other |= i % 2 ? 0 : bit;
	}
	ck_assert_uint_eq(monrec_release(MONREC_RELEASES), 0);
	ck_assert_uint_eq(monrec_release_bit(0), 0);
	ck_assert_uint_eq(monrec_release_bit(550), 0);
	ck_text(0, "");
	ck_text(monrec_release_bit(530), "5.3");
	ck_text(monrec_release_bit(530) | monrec_release_bit(540), "5.3, 5.4");
	ck_text(all, "4.1 to 7.5");
	ck_text(every_other, "4.1, 4.3, 5.1, 5.3, 6.1, 6.3, 7.1, 7.3, 7.5");
	ck_text(all & ~monrec_release_bit(610), "4.1 to 5.4, 6.2 to 7.5");
}

/* D1R4 of 184 bytes is of 5.1 to 5.3, D0R2 of 104 of 4.3 to 5.1; of 5.2 its length is not known. */
TEST(by_lengths)
{
	ck_found("");
	comes(1, 4, 184);
	ck_found("5.1 to 5.3");
	comes(0, 2, 104);
	ck_found("5.1");
	ck_text(monrec_evidence_possible(&evidence), "5.1, 5.2");
	start();
	comes(3, 2, 720);
	ck_found("6.3");
	comes(3, 1, 780);
	ck_found("6.3");
	start();
	comes(1, 4, 428);
	ck_found("6.2");
	comes(0, 2, 140);
	ck_found("6.2");
}

/* No length, a header alone, a length of no release, records of any length and unknown ones. */
TEST(what_tells_nothing)
{
	comes(0, 9, 100);
	comes(1, 11, 20);
	comes(1, 4, 185);
	comes(10, 2, 52);
	comes(4, 250, 40);
	comes(200, 4, 184);
	ck_assert_uint_eq(evidence.types, 0);
	ck_found("");
	ck_assert_uint_eq(monrec_evidence_possible(&evidence), 0);
}

/* Many lengths that are also of 5.3 do not outweigh two that are of another release. */
TEST(fewest_against)
{
	comes(0, 1, 116);
	comes(0, 22, 88);
	comes(5, 3, 384);
	comes(5, 12, 800);
	comes(0, 2, 140);
	comes(1, 4, 428);
	ck_found("6.2");
}

TEST(conflicts)
{
	struct monrec_record record = made(3, 2, 720);
	uint32_t len;

	ck_assert_uint_eq(monrec_evidence_conflict(&evidence, &record, &len), 0);
	comes(3, 2, 364);
	ck_text(monrec_evidence_conflict(&evidence, &record, &len), "6.3");
	ck_assert_uint_eq(len, 364);
	record.len = 364;
	ck_assert_uint_eq(monrec_evidence_conflict(&evidence, &record, &len), 0);
	/* Of no release that is known. */
	record.len = 365;
	ck_assert_uint_eq(monrec_evidence_conflict(&evidence, &record, &len), 0);
}

/* A record's layout is that of a release in which it is so long, not just of one that is possible. */
TEST(layouts)
{
	const uint32_t both = monrec_release_bit(530) | monrec_release_bit(630);
	struct monrec_record record = made(3, 2, 364);

	ck_assert_uint_eq(monrec_record_release(&record, both), 530);
	ck_assert_uint_eq(monrec_record_release(&record, 0), 530);
	record.len = 720;
	ck_assert_uint_eq(monrec_record_release(&record, both), 630);
	ck_assert_uint_eq(monrec_record_release(&record, monrec_release_bit(530)), 0);
	ck_assert_uint_eq(monrec_record_release(&record, monrec_release_bit(640)), 640);
	ck_text(monrec_record_releases(&record), "6.3");
	record.len = 722;
	ck_assert_uint_eq(monrec_record_release(&record, both), 0);
	ck_assert_uint_eq(monrec_record_releases(&record), 0);
	/* 116 bytes from 5.3 on, of which 5.3 has more fields than they have in common. */
	record = made(0, 1, 116);
	ck_assert_uint_eq(monrec_record_release(&record, monrec_release_bit(530)), 530);
	ck_assert_uint_ne(monrec_record_release(&record, 0), 530);
	/* Data follow the fixed part. */
	record = made(10, 2, 92);
	ck_assert_uint_eq(monrec_record_release(&record, monrec_release_bit(530)), 530);
	record.len = 51;
	ck_assert_uint_eq(monrec_record_release(&record, monrec_release_bit(530)), 0);
	record = made(4, 250, 60);
	ck_assert_uint_eq(monrec_record_release(&record, both), 0);
}

TEST(lengths_that_fit)
{
	const struct monrec_layout *fixed = monrec_layout(3, 2), *more = monrec_layout(10, 2);

	ck_assert(monrec_length_fits(fixed, 630, 720));
	ck_assert(!monrec_length_fits(fixed, 630, 719));
	ck_assert(!monrec_length_fits(fixed, 530, 720));
	ck_assert(!monrec_length_fits(fixed, 640, 720));
	ck_assert(!monrec_length_fits(fixed, 0, 720));
	ck_assert(monrec_length_fits(more, 530, 52) && monrec_length_fits(more, 530, 4000));
	ck_assert(!monrec_length_fits(more, 530, 51));
}
