/* SPDX-License-Identifier: MIT */
/* The control socket's small parts, each against a plainer way to the same: texts, data, lists. */
#define _GNU_SOURCE /* posix_openpt */
#include "control_client.h"
#include "held.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "zvmlab/file.h"
#include "scratch.h"

/* A file has so many bytes fewer than it had when its length was asked for. */
static off_t gone_bytes;

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
	const int result = __real_fstat(fd, st);

	st->st_size += gone_bytes;
	return result;
}

/* RFC 4648, section 4, bit by bit. */
static size_t plain_base64(char *to, const uint8_t *bytes, size_t len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t at = 0;

	for (size_t bit = 0; bit < 8 * len; bit += 6) {
		unsigned int digit = 0;

		for (size_t i = bit; i < bit + 6; i++)
			digit = 2 * digit + (i < 8 * len ? bytes[i / 8] >> (7 - i % 8) & 1 : 0);
		to[at++] = digits[digit];
	}
	while (at % 4 != 0)
		to[at++] = '=';
	to[at] = '\0';
	return at;
}

CASE("values", NULL, NULL);

TEST(base64_of_all_bytes)
{
	uint8_t bytes[256] = { 0 }, back[256];
	char text[400], wanted[400];

	for (size_t len = 0; len <= sizeof(bytes); len++) {
		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)(i * 37 + len * 11);
		memset(text, '!', sizeof(text));
		ctl_base64_encode(text, bytes, len);
		ck_assert_uint_eq(plain_base64(wanted, bytes, len), CTL_BASE64_LEN(len));
		ck_assert_mem_eq(text, wanted, CTL_BASE64_LEN(len));
		ck_assert_int_eq(text[CTL_BASE64_LEN(len)], '!');
		ck_assert_int_eq(ctl_base64_size(wanted, strlen(wanted)), (int64_t)len);
		memset(back, 0xa5, sizeof(back));
		ctl_base64_decode(back, wanted, strlen(wanted));
		ck_assert_mem_eq(back, bytes, len);
		ck_assert(len == sizeof(back) || back[len] == 0xa5);
	}
}

/* Every character at every place, of texts without and with one and two fillers. */
TEST(characters_of_base64)
{
	static const char *const texts[] = { "AAAABBBB", "AAAAABA=", "AAAABA==" };

	for (unsigned int t = 0; t < 3; t++)
		for (unsigned int at = 0; at < 8 - t; at++)
			for (unsigned int c = 1; c < 256; c++) {
				const char *const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijkl"
							   "mnopqrstuvwxyz0123456789+/";
				const char *digit = strchr(digits, (int)c);
				/* The last digit before fillers has bits that belong to no byte. */
				const unsigned int spare = at == 7 - t ? (1u << 2 * t) - 1 : 0;
				bool good = digit && ((unsigned int)(digit - digits) & spare) == 0;
				char text[9];

				memcpy(text, texts[t], 9);
				text[at] = (char)c;
				/* A filler more, where the rest allows it. */
				if (c == '=' && at == 7 - t && t < 2)
					continue;
				ck_assert_msg((ctl_base64_size(text, 8) >= 0) == good, "%s", text);
			}
	ck_assert_int_eq(ctl_base64_size("AAAAAAA=", 8), 5);
	ck_assert_int_eq(ctl_base64_size("AAAAAA==", 8), 4);
	ck_assert_int_eq(ctl_base64_size("AAAAA===", 8), -1);
	ck_assert_int_eq(ctl_base64_size("====", 4), -1);
	for (size_t len = 0; len < 9; len++)
		ck_assert_int_eq(ctl_base64_size("AAAAAAAA", len), len % 4 ? -1 : (int64_t)len / 4 * 3);
}

/* ISO 8859-1 goes out as UTF-8 and comes back; above U+00FF there is nothing. */
TEST(characters_of_texts)
{
	char all[255], back[512];
	json_t *value;
	size_t len;

	for (unsigned int c = 1; c < 256; c++)
		all[c - 1] = (char)c;
	value = ctl_json_text(all, sizeof(all));
	ck_assert_ptr_nonnull(value);
	/* jansson checks that it is UTF-8. */
	ck_assert_uint_eq(json_string_length(value), 127 + 2 * 128);
	for (unsigned int c = 0x80; c < 0x100; c++) {
		const char *at = json_string_value(value) + 127 + 2 * (c - 0x80);

		ck_assert_uint_eq((uint8_t)at[0], c < 0xc0 ? 0xc2 : 0xc3);
		ck_assert_uint_eq((uint8_t)at[1], c < 0xc0 ? c : c - 0x40);
	}
	len = json_string_length(value);
	memcpy(back, json_string_value(value), len);
	ck_assert(ctl_latin1(back, &len));
	ck_assert_uint_eq(len, sizeof(all));
	ck_assert_mem_eq(back, all, sizeof(all));
	json_decref(value);
	len = 3;
	memcpy(back, "a\xc4\x80", 3);
	ck_assert(!ctl_latin1(back, &len));
	len = 2;
	memcpy(back, "\xc3\xbf", 2);
	ck_assert(ctl_latin1(back, &len));
	ck_assert_uint_eq(len, 1);
	ck_assert_uint_eq((uint8_t)back[0], 0xff);
}

TEST(numbers_that_json_has)
{
	static const struct {
		uint64_t value;
		json_int_t wanted;
	} numbers[] = {
		{ 0, 0 }, { 1, 1 }, { INT64_MAX - 1, INT64_MAX - 1 }, { INT64_MAX, INT64_MAX },
		{ (uint64_t)INT64_MAX + 1, INT64_MAX }, { UINT64_MAX, INT64_MAX },
	};

	for (unsigned int i = 0; i < 6; i++) {
		json_t *value = ctl_json_u64(numbers[i].value);

		ck_assert_int_eq(json_integer_value(value), numbers[i].wanted);
		json_decref(value);
	}
}

/* Depth and number of elements, by brackets and commas outside of strings. */
TEST(modest)
{
	static const struct {
		const char *text;
		size_t values, depth;
	} texts[] = {
		{ "", 0, 0 }, { "1", 0, 0 }, { "[]", 1, 1 }, { "{}", 1, 1 }, { "[[],[]]", 4, 2 },
		{ "[1,2,3]", 3, 1 }, { "{\"a\":[{}]}", 3, 3 }, { "[\"[[,,{\"]", 1, 1 },
		{ "[\"\\\"[,\",1]", 2, 1 }, { "[\"\\\\\",1]", 2, 1 }, { "]]][", 1, 1 },
		{ "}[{", 2, 2 }, { "\"[", 0, 0 }, { "\"\\", 0, 0 }, { "[[]][[]]", 4, 2 },
	};

	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		for (size_t values = 0; values < 6; values++)
			for (size_t depth = 0; depth < 5; depth++)
				ck_assert_msg(ctl_modest(texts[i].text, strlen(texts[i].text), values,
							 depth) == (texts[i].values <= values &&
								    texts[i].depth <= depth),
					      "%s: %zu values, %zu levels", texts[i].text, values,
					      depth);
}

/* The members of an enumeration in its order. */
static void ck_words(const char *const *list, const char *words)
{
	char text[512] = "";

	for (unsigned int i = 0; list[i]; i++) {
		ck_assert_uint_eq(ctl_index(list, list[i]), i);
		strcat(strcat(text, list[i]), " ");
	}
	ck_assert_str_eq(text, words);
}

/* As docs/control.md names them. */
TEST(words)
{
	ck_words(ctl_mon_kinds, "sample-config sample event-config event ");
	ck_words(ctl_mon_fates, "delivered lost-limit lost-space lost-quiesced no-user ");
	ck_words(ctl_path_states, "free connecting pending open severed ");
	ck_words(ctl_segment_types, "SW EW SR ER SN EN SC ");
	ck_words(ctl_when, "always nth every probability ");
	ck_words(ctl_issuers, "operator guest ");
	ck_words(ctl_user_kinds, "guest service peer ");
	ck_assert_str_eq(ctl_functions[IUCV_SEND], "send");
	ck_assert_str_eq(ctl_functions[IUCV_SEVER], "sever");
	ck_assert_str_eq(ctl_functions[IUCV_PURGE], "purge");
}

#define HELD 12u

/* The model: held values in the order of sending, as a plain list of pointers. */
static struct {
	struct ctl_held *held[HELD];
	uint16_t paths[HELD];
	unsigned int count;
} plain;

static void ck_held(const struct ctl_held_list *list)
{
	const struct ctl_held *before = NULL, *h = list->first;
	size_t bytes = 0;

	for (unsigned int i = 0; i < plain.count; i++, before = h, h = h->next) {
		ck_assert_ptr_eq(h, plain.held[i]);
		ck_assert_ptr_eq(h->prev, before);
		bytes += h->len + h->answer_len;
	}
	ck_assert_ptr_null(h);
	ck_assert_ptr_eq(list->last, before);
	ck_assert_uint_eq(list->bytes, bytes);
}

static struct ctl_held *forget(unsigned int at)
{
	struct ctl_held *held = plain.held[at];

	plain.count--;
	for (unsigned int i = at; i < plain.count; i++) {
		plain.held[i] = plain.held[i + 1];
		plain.paths[i] = plain.paths[i + 1];
	}
	return held;
}

static void add(struct ctl_held_list *list, uint16_t number, uint32_t msgid)
{
	const struct iucv_result done = { 0 };
	const struct iucv_parm parm = { .path = number, .msgid = msgid };
	struct ctl_held *held = ctl_hold(list, number, msgid % 5, msgid % 3);
	struct iucv_parm areas = { 0 };

	ck_assert_ptr_nonnull(held);
	ck_assert_uint_eq(held->path, number);
	ctl_held_areas(held, &areas);
	ck_assert(areas.buffer.host && areas.answer.host);
	ck_assert_ptr_eq(areas.buffer.ptr, held->bytes);
	ck_assert_uint_eq(areas.buffer.len, msgid % 5);
	ck_assert_ptr_eq(areas.answer.ptr, held->bytes + msgid % 5);
	ck_assert_uint_eq(areas.answer.len, msgid % 3);
	/* Before it is sent its id means nothing. */
	ck_assert_ptr_null(ctl_take(list, number, 0));
	ctl_settle(list, IUCV_SEND, &parm, &done, held);
	plain.paths[plain.count] = number;
	plain.held[plain.count++] = held;
	ck_held(list);
}

/* Messages of three paths, taken away in every way there is. */
TEST(held_in_order)
{
	static const enum iucv_function others[] = { IUCV_QUERY, IUCV_RECEIVE, IUCV_REPLY };
	struct iucv_result result = { 0 };
	struct iucv_parm parm = { 0 };
	struct ctl_held_list list = { 0 };

	for (uint32_t i = 0; i < HELD; i++)
		add(&list, (uint16_t)(i % 3), i + 1);
	ck_assert_ptr_null(ctl_take(&list, 0, 2));
	free(ctl_take(&list, 1, 2));
	ck_assert_ptr_null(ctl_take(&list, 1, 2));
	forget(1);
	ck_held(&list);
	ck_assert_ptr_eq(ctl_take_answer(&list, plain.held[0]->bytes + plain.held[0]->len),
			 plain.held[0]);
	free(forget(0));
	ck_held(&list);
	/* A function that failed, or has to do with none of them, leaves them. */
	for (unsigned int i = 0; i < 3; i++) {
		ctl_settle(&list, others[i], &parm, &result, ctl_hold(&list, 0, 9, 9));
		ck_held(&list);
	}
	parm.path = 2;
	result.cc = 1;
	ctl_settle(&list, IUCV_SEVER, &parm, &result, ctl_hold(&list, 2, 1, 1));
	ctl_settle(&list, IUCV_SEND, &parm, &result, ctl_hold(&list, 2, 1, 1));
	result.cc = 0;
	result.pgm = 6;
	ctl_settle(&list, IUCV_RETRIEVE_BUFFER, &parm, &result, ctl_hold(&list, 2, 1, 1));
	result.pgm = 0;
	ck_held(&list);
	/* The last one, of path 2, is purged, then what is left of the path goes with it. */
	parm.msgid = HELD;
	ctl_settle(&list, IUCV_PURGE, &parm, &result, ctl_hold(&list, 2, 0, 0));
	forget(plain.count - 1);
	ck_held(&list);
	ctl_settle(&list, IUCV_SEVER, &parm, &result, ctl_hold(&list, 2, 0, 0));
	for (unsigned int i = plain.count; i-- > 0;)
		if (plain.paths[i] == 2)
			forget(i);
	ck_held(&list);
	ctl_release(&list, &parm.path);
	ck_held(&list);
	parm.path = 0;
	parm.flags = IPALL;
	ctl_settle(&list, IUCV_SEVER, &parm, &result, ctl_hold(&list, 0, 0, 0));
	plain.count = 0;
	ck_held(&list);
	add(&list, 1, 1);
	ctl_settle(&list, IUCV_RETRIEVE_BUFFER, &parm, &result, ctl_hold(&list, 0, 0, 0));
	plain.count = 0;
	ck_held(&list);
}

/* A call may make an end of what it was given: a reply that came at once, a SEVER inside it. */
TEST(held_is_gone_already)
{
	const struct iucv_result done = { 0 }, refused = { .cc = 1 };
	const struct iucv_parm parm = { .path = 1, .msgid = 3 };
	struct ctl_held_list list = { 0 };

	for (unsigned int i = 0; i < 3; i++) {
		struct ctl_held *held = ctl_hold(&list, 1, 4, 4);

		ctl_release(&list, NULL);
		ctl_settle(&list, i == 2 ? IUCV_REPLY : IUCV_SEND, &parm, i ? &done : &refused, held);
		ck_assert_ptr_null(list.first);
		ck_assert_uint_eq(list.bytes, 0);
	}
}

static void file_setup(void)
{
	folder_make();
	snprintf(path, sizeof(path), "%s/file", folder);
}

static void file_teardown(void)
{
	unlink(path);
	ck_assert_int_eq(rmdir(folder), 0);
}

CASE("files", file_setup, file_teardown);

TEST(files_there_and_back)
{
	static uint8_t bytes[100000];
	uint8_t *data;
	size_t len;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t size = 0; size <= sizeof(bytes); size += sizeof(bytes) / 4) {
		ck_assert_int_eq(ctl_file_write(path, bytes, size, err, sizeof(err)), 0);
		ck_assert_int_eq(ctl_file_read(path, &data, &len, err, sizeof(err)), 0);
		ck_assert_uint_eq(len, size);
		ck_assert_mem_eq(data, bytes, size);
		free(data);
	}
}

TEST(files_that_cannot_be)
{
	char wanted[256];
	uint8_t *data;
	size_t len;

	snprintf(wanted, sizeof(wanted), "file %s cannot be read: No such file or directory", path);
	ck_assert_int_eq(ctl_file_read(path, &data, &len, err, sizeof(err)), -1);
	ck_assert_ptr_null(data);
	ck_assert_str_eq(err, wanted);
	/* One that has become shorter before it was read. */
	ck_assert_int_eq(ctl_file_write(path, "ab", 2, err, sizeof(err)), 0);
	gone_bytes = 1;
	ck_assert_int_eq(ctl_file_read(path, &data, &len, err, sizeof(err)), -1);
	gone_bytes = 0;
	ck_assert_ptr_null(data);
	snprintf(wanted, sizeof(wanted), "file %s cannot be read: No data available", path);
	ck_assert_str_eq(err, wanted);
	ck_assert_int_eq(ctl_file_write("/dev/full", "x", 1, err, sizeof(err)), -1);
	ck_assert_str_eq(err, "file /dev/full cannot be written: No space left on device");
}

/* Opened by name, a terminal does not become that of a process without one. */
TEST(terminals_stay_others)
{
	int master, fd;
	char *name;
	pid_t child;
	int status;

	master = posix_openpt(O_RDWR | O_NOCTTY);
	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	name = ptsname(master);
	ck_assert_ptr_nonnull(name);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		bool good = setsid() > 0;

		good &= strcmp(file_open_read(name, &fd), "it is not a regular file") == 0;
		good &= open("/dev/tty", O_RDWR) < 0;
		good &= file_open_write(name, false, &fd) == NULL;
		good &= open("/dev/tty", O_RDWR) < 0;
		_exit(good ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	close(master);
}
