/* SPDX-License-Identifier: MIT */
#include "foreign.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "bytes.h"
#include "ebcdic.h"
#include "monrec.h"

/* Where the first control element of a file of MONWRITE is, and its reserved byte. */
#define ELEMENT_AT MONREC_INTERRUPT_SIZE
#define RESERVED 3u

/* A header of tar, POSIX.1-1988 and later, says so here. */
#define TAR_AT 257u
#define TAR "ustar"

static const struct {
	const char *begin, *by, *mend;
	size_t len;
} compressed[] = {
	{ "\x1f\x8b", "gzip", "gzip -dc", 2 }, { "\x1f\x9d", "compress", "gzip -dc", 2 },
	{ "BZh", "bzip2", "bzip2 -dc", 3 }, { "\xfd" "7zXZ", "xz", "xz -dc", 5 },
	{ "\x28\xb5\x2f\xfd", "zstd", "zstd -dc", 4 }, { "\x04\x22\x4d\x18", "lz4", "lz4 -dc", 4 },
	{ "PK\x03\x04", "zip", "unzip -p", 4 },
	/* ":CFF" in EBCDIC */
	{ "\x7a\xc3\xc6\xc6", "VMARC", "VMARC UNPK on CMS", 4 },
};

static bool is_compressed(const uint8_t *bytes, size_t len, char what[FOREIGN_TEXT])
{
	for (size_t i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++) {
		if (len < compressed[i].len ||
		    memcmp(bytes, compressed[i].begin, compressed[i].len) != 0)
			continue;
		snprintf(what, FOREIGN_TEXT, "compressed by %s: decompress it first, with %s",
			 compressed[i].by, compressed[i].mend);
		return true;
	}
	return false;
}

static bool is_archive(const uint8_t *bytes, size_t len)
{
	return len >= TAR_AT + strlen(TAR) && memcmp(bytes + TAR_AT, TAR, strlen(TAR)) == 0;
}

/* Characters U+0080 to U+00FF of UTF-8 as bytes of ISO 8859-1; false: there are others. */
static bool from_utf8(uint8_t *to, size_t *count, const uint8_t *bytes, size_t len)
{
	*count = 0;
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = bytes[i];

		if (byte >= 0x80) {
			if ((byte != 0xc2 && byte != 0xc3) || i + 1 == len)
				return i + 1 == len;
			byte = (uint8_t)((byte & 3) << 6 | (bytes[++i] & 0x3f));
		}
		to[(*count)++] = byte;
	}
	return true;
}

/* Would it be monitor data if a transfer had not made ISO 8859-1 of its EBCDIC? */
static bool was_translated(const uint8_t *bytes, size_t len)
{
	uint8_t back[MONREC_LOOK_AHEAD];

	if (len < MONREC_LOOK_AHEAD)
		return false;
	for (size_t i = 0; i < sizeof(back); i++)
		back[i] = ebcdic_from_latin1(bytes[i]);
	/* Zeros are the same in both. */
	if (monrec_is_monwrite(back) && (get_be32(back) || get_be32(back + 4)))
		return true;
	/* Tables of transfers differ, but not in letters and zeros. */
	if ((bytes[0] == 'S' || bytes[0] == 'E') && bytes[RESERVED] == 0)
		return true;
	return len > ELEMENT_AT + RESERVED && bytes[0] == 0 &&
	       (bytes[ELEMENT_AT] == 'S' || bytes[ELEMENT_AT] == 'E') &&
	       bytes[ELEMENT_AT + RESERVED] == 0;
}

static bool is_text(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isprint(bytes[i]) && !isspace(bytes[i]))
			return false;
	return len >= MONREC_LOOK_AHEAD;
}

bool foreign(const uint8_t *bytes, size_t len, char what[FOREIGN_TEXT])
{
	uint8_t plain[64];
	const size_t begin = len < sizeof(plain) ? len : sizeof(plain);
	size_t count;

	if (is_compressed(bytes, len, what))
		return true;
	if (is_archive(bytes, len))
		snprintf(what, FOREIGN_TEXT, "an archive of tar: unpack it first, with tar -xf");
	else if (was_translated(bytes, len) || (from_utf8(plain, &count, bytes, begin) &&
						was_translated(plain, count)))
		snprintf(what, FOREIGN_TEXT, "it was transferred as text: transfer it again, in binary "
			 "mode");
	else if (is_text(bytes, len))
		snprintf(what, FOREIGN_TEXT, "it is text, not monitor data");
	else
		return false;
	return true;
}
