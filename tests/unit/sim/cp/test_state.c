/* SPDX-License-Identifier: MIT */
/* Images of the whole CP: primitives, the frame around the parts, damage. */
#include "cp_private.h"
#include "state_check.h"

#define PAYLOAD 28u

static char err[256];

static uint8_t *save(size_t *len)
{
	uint8_t *image = fx_save(len);

	return image;
}

CASE("primitives", NULL, NULL);

TEST(primitives)
{
	struct state s = { .loading = false };
	uint8_t u8 = 0x12, bytes[3] = { 7, 8, 9 };
	uint16_t u16 = 0x3456;
	uint32_t u32 = 0x789abcde;
	uint64_t u64 = UINT64_C(0x0123456789abcdef);
	bool yes = true;

	state_tag(&s, "TEST");
	state_u8(&s, &u8);
	state_u16(&s, &u16);
	state_u32(&s, &u32);
	state_u64(&s, &u64);
	state_bool(&s, &yes);
	state_bytes(&s, bytes, sizeof(bytes));
	state_bytes(&s, NULL, 0);
	ck_assert(!s.failed);
	ck_assert_uint_eq(s.len, 4 + 1 + 2 + 4 + 8 + 1 + 3);
	ck_assert_mem_eq(s.data, "TEST\x12\x34\x56\x78\x9a\xbc\xde\x01\x23\x45\x67\x89\xab\xcd\xef"
			 "\x01\x07\x08\x09", 23);
	u8 = 0;
	u16 = 0;
	u32 = 0;
	u64 = 0;
	yes = false;
	memset(bytes, 0, sizeof(bytes));
	s.loading = true;
	state_tag(&s, "TEST");
	state_u8(&s, &u8);
	state_u16(&s, &u16);
	state_u32(&s, &u32);
	state_u64(&s, &u64);
	state_bool(&s, &yes);
	state_bytes(&s, bytes, sizeof(bytes));
	ck_assert(!s.failed);
	ck_assert_uint_eq(s.pos, s.len);
	ck_assert_uint_eq(u8, 0x12);
	ck_assert_uint_eq(u16, 0x3456);
	ck_assert_uint_eq(u32, 0x789abcde);
	ck_assert_uint_eq(u64, UINT64_C(0x0123456789abcdef));
	ck_assert(yes);
	ck_assert_uint_eq(bytes[2], 9);
	/* Past the end: failed for good, nothing changed. */
	state_u16(&s, &u16);
	ck_assert(s.failed);
	ck_assert_uint_eq(u16, 0x3456);
	s.pos = 0;
	state_u8(&s, &u8);
	ck_assert_uint_eq(u8, 0x12);
	free(s.data);
}

TEST(wrong_values)
{
	uint8_t data[4] = { 'A', 'B', 'C', 2 };
	struct state s = { .loading = true, .data = data, .len = 4 };
	bool value = true;

	state_tag(&s, "ABCD");
	ck_assert(s.failed);
	s = (struct state){ .loading = true, .data = data, .len = 4, .pos = 3 };
	state_bool(&s, &value);
	ck_assert(s.failed);
	ck_assert(value);
	s.failed = false;
	state_require(&s, true);
	ck_assert(!s.failed);
	state_require(&s, false);
	ck_assert(s.failed);
}

TEST(large)
{
	struct state s = { .loading = false };
	static uint8_t block[100000];

	memset(block, 0xa5, sizeof(block));
	for (unsigned int i = 0; i < 10; i++)
		state_bytes(&s, block, sizeof(block));
	ck_assert_uint_eq(s.len, 1000000);
	ck_assert_uint_eq(s.data[999999], 0xa5);
	free(s.data);
}

/* A name is shown to people and goes into JSON. */
TEST(names_can_be_shown)
{
	char name[9] = "ALICE", long_name[9] = { 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I' };
	static const char *const others[] = { "A B", "\303\204", "\033[1m", "\177" };
	struct state s = { .loading = false };

	state_name(&s, name);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		memset(s.data, 0, s.len);
		strcpy((char *)s.data, others[i]);
		s.loading = true;
		s.failed = false;
		s.pos = 0;
		state_name(&s, name);
		ck_assert_msg(s.failed, "%s", others[i]);
	}
	memcpy(s.data, long_name, 9);
	s.failed = false;
	s.pos = 0;
	state_name(&s, name);
	ck_assert(s.failed);
	ck_assert_str_eq(name, "ABCDEFGH");
	free(s.data);
}

CASE("image", fx_setup, fx_teardown);

TEST(header)
{
	size_t len;
	uint8_t *image = save(&len);

	ck_assert_mem_eq(image + IMAGE_MAGIC, "ZVMLABCP", 8);
	ck_assert_uint_eq(get_be32(image + IMAGE_VERSION), 9);
	ck_assert_uint_eq(get_be64(image + IMAGE_LENGTH), len);
	ck_assert_mem_eq(image + PAYLOAD, "CORE", 4);
	ck_assert_mem_eq(image + len - 12, "END.", 4);
	ck_assert_uint_eq(get_be64(image + len - 8), state_checksum(image, len - 8));
	free(image);
}

TEST(same_again)
{
	size_t len, again_len;
	uint8_t *image, *again;

	cp_ipl(fx.cp);
	fx_declare(0);
	image = save(&len);
	ck_assert_uint_eq(image[PAYLOAD + 4], 1);
	fx_teardown();
	fx_setup();
	fx_load(image, len);
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"refused\":0"));
	again = save(&again_len);
	ck_assert_uint_eq(again_len, len);
	ck_assert_mem_eq(again, image, len);
	free(image);
	free(again);
}

/* Every single byte that is wrong is noticed. */
TEST(damaged)
{
	size_t len;
	uint8_t *image = save(&len);

	for (size_t i = 0; i < len; i += i < 64 ? 1 : len / 50) {
		image[i] ^= 0x10;
		ck_refused(image, len, err, sizeof(err));
		image[i] ^= 0x10;
	}
	fx_load(image, len);
	free(image);
}

TEST(truncated)
{
	size_t len;
	uint8_t *image = save(&len);

	for (size_t i = 0; i < len; i += i < 64 ? 1 : len / 50)
		ck_refused(image, i, err, sizeof(err));
	ck_refused(NULL, 0, err, sizeof(err));
	ck_assert_ptr_nonnull(strstr(fx.trace, "\"refused\":1"));
	ck_assert_ptr_null(strstr(fx.trace, "\"refused\":0"));
	free(image);
}

static void ck_load_fails(uint8_t *image, size_t len, const char *text)
{
	static const char start[] = "the CP's state cannot be loaded from the image: ";

	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	ck_assert_mem_eq(err, start, sizeof(start) - 1);
	ck_assert_str_eq(err + sizeof(start) - 1, text);
}

TEST(sentences)
{
	size_t len;
	uint8_t *image = save(&len);

	image[IMAGE_MAGIC] = 'X';
	ck_load_fails(image, len, "it is not a saved CP");
	image[IMAGE_MAGIC] = 'Z';
	image[IMAGE_VERSION + 3] ^= 1;
	ck_load_fails(image, len,
		      "it has the format of another version; save it again with this one");
	image[IMAGE_VERSION + 3] ^= 1;
	image[IMAGE_LENGTH + 7] ^= 1;
	ck_load_fails(image, len, "its length is not what its header says; it is incomplete");
	image[IMAGE_LENGTH + 7] ^= 1;
	image[IMAGE_CONFIG] ^= 1;
	ck_load_fails(image, len, "it was saved with another configuration; user ID, classes, "
		      "level, machine, number of CPUs and paths, and SPOOL, MDISK, LINK and CPU "
		      "statements must be the same");
	image[IMAGE_CONFIG] ^= 1;
	image[PAYLOAD + 4] = 2;
	ck_load_fails(image, len, "its contents contradict each other");
	free(image);
}

/* To the last character: "LINUX001", "EG" and 7.3.0 are the defaults. */
TEST_LOOP(other_configuration, 0, 6)
{
	static const char *const all[][3] = {
		{ "cpus", "2", NULL }, { "userid", "LINUX002", NULL }, { "userid", "LINUX00", NULL },
		{ "class", "EB", NULL }, { "class", "E", NULL }, { "level", "7.3.1", NULL },
	};
	const char *const *options = all[_i];
	size_t len;
	uint8_t *image = save(&len);

	fx_teardown();
	fx_setup_with(options);
	ck_refused(image, len, err, sizeof(err));
	ck_assert_ptr_nonnull(strstr(err, "saved with another configuration"));
	free(image);
}

/* Each field of a SPOOL statement, and how many of them there are. */
TEST_LOOP(other_spool_statements, 0, 7)
{
	static const char *const others[] = {
		"", "SPOOL C 2540 READER A", "SPOOL D 2540 READER A;SPOOL E 1403 A",
		"SPOOL C 2540 READER B;SPOOL E 1403 A", "SPOOL C 2540 PUNCH A;SPOOL E 1403 A",
		"SPOOL C 2540 READER A;SPOOL E 1403 B",
		"SPOOL C 2540 READER A;SPOOL E 1403 A;SPOOL F 1403 A",
	};
	const char *options[] = { "directory", "SPOOL C 2540 READER A;SPOOL E 1403 A", NULL };
	size_t len;
	uint8_t *image;

	fx_teardown();
	fx_setup_with(options);
	image = save(&len);
	fx_teardown();
	fx_setup_with(options);
	fx_load(image, len);
	options[1] = others[_i];
	fx_teardown();
	fx_setup_with(options);
	ck_refused(image, len, err, sizeof(err));
	ck_assert_ptr_nonnull(strstr(err, "saved with another configuration"));
	free(image);
}

/* The last of as many statements as there may be counts, and nothing behind it is read. */
TEST(eight_spool_statements)
{
	char text[CP_MAX_UNITS * 24] = "";
	const char *options[] = { "directory", text, NULL };
	uint8_t *image;
	size_t len;

	for (unsigned int i = 0; i < CP_MAX_UNITS; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 "SPOOL %X 2540 READER A;", 16 + i);
	fx_teardown();
	fx_setup_with(options);
	image = save(&len);
	fx_teardown();
	fx_setup_with(options);
	fx_load(image, len);
	text[strlen(text) - 2] = 'B';
	fx_teardown();
	fx_setup_with(options);
	ck_refused(image, len, err, sizeof(err));
	ck_assert_ptr_nonnull(strstr(err, "saved with another configuration"));
	free(image);
}

/* A CP in use goes on unchanged, whichever part of the image contradicts itself. */
TEST(refused_changes_nothing)
{
	static const char *const tags[] = {
		"CORE", "TRAC", "RULE", "STOR", "DCSS", "IUCV", "CMSG", "MON.", "CCMD", "END.",
	};
	struct iucv_user *peer = iucv_user_create(fx.cp, "PEER", 4, NULL, NULL);
	struct iucv_parm parm = { .vmid = "LINUX001" };
	size_t len, at;
	uint8_t *image;

	fx_put_name(0x3000, "MONDCSS");
	image = save(&len);
	fx_declare(0);
	ck_assert_int_eq(iucv_call(fx.cp, peer, IUCV_CONNECT, &parm).cc, 0);
	fx.gr[2] = 0x3000;
	fx.gr[3] = 0x20;
	ck_cc(fx_diag(2, 3, 0x64), 0);
	fx_at(FX_SEGMENT_START, 1)[0] = 0x77;
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		at = state_find(image, len, tags[i]);
		image[at] ^= 1;
		ck_load_fails(image, len, "its contents contradict each other");
		image[at] ^= 1;
	}
	ck_assert_uint_eq(fx_at(FX_SEGMENT_START, 1)[0], 0x77);
	ck_assert(cp_interrupt_pending(fx.cp, 0));
	state_sign(image, len);
	fx_load(image, len);
	ck_assert(!cp_interrupt_pending(fx.cp, 0));
	ck_assert_uint_eq(fx_at(FX_SEGMENT_START, 1)[0], 0);
	free(image);
}

/* What has been loaded before is looked at again if it, or who is logged on, is another. */
TEST(refused_although_loaded_before)
{
	struct iucv_user *peer = iucv_user_create(fx.cp, "PEER", 4, NULL, NULL);
	size_t len, at;
	uint8_t *image;

	image = save(&len);
	for (unsigned int times = 0; times < 2; times++) {
		fx_declare(0);
		fx_load(image, len);
		ck_assert(!iucv_declared(fx.cp, 0, &(uint64_t){ 0 }));
	}
	at = state_find(image, len, "IUCV");
	image[at] ^= 1;
	ck_load_fails(image, len, "its contents contradict each other");
	image[at] ^= 1;
	state_sign(image, len);
	fx_load(image, len);
	iucv_user_destroy(fx.cp, iucv_user_find(fx.cp, "PEER"));
	peer = iucv_user_create(fx.cp, "PEER", 5, NULL, NULL);
	ck_assert_ptr_nonnull(peer);
	ck_load_fails(image, len, "its contents contradict each other");
	free(image);
}

/* The guest has 12 to 14 MiB as its second extent, and the emulator 16 MiB. */
TEST(storage_that_the_emulator_lacks)
{
	/* After the tag: number of extents (4); start and size of each (8 + 8). */
	enum { SECOND_START = 4 + 4 + 16, SECOND_SIZE = SECOND_START + 8 };
	const uint64_t mib = 1u << 20;
	uint8_t *image, *at;
	size_t len;

	image = save(&len);
	at = image + state_find(image, len, "STOR");
	ck_assert_uint_eq(get_be64(at + SECOND_START), 12 * mib);
	put_be64(at + SECOND_SIZE, 5 * mib);
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	put_be64(at + SECOND_SIZE, 4 * mib);
	state_sign(image, len);
	fx_load(image, len);
	put_be64(at + SECOND_START, 1000 * mib);
	state_sign(image, len);
	ck_refused(image, len, err, sizeof(err));
	free(image);
}

/* An interruption that waits is announced again, and what the guest may touch. */
TEST(port_is_told)
{
	struct iucv_user *peer = iucv_user_create(fx.cp, "PEER", 4, NULL, NULL);
	struct iucv_parm parm = { .vmid = "LINUX001" };
	size_t len;
	uint8_t *image;

	fx_declare(0);
	ck_assert_int_eq(iucv_call(fx.cp, peer, IUCV_CONNECT, &parm).cc, 0);
	ck_assert(cp_interrupt_pending(fx.cp, 0));
	image = save(&len);
	fx_teardown();
	fx_setup();
	fx_load(image, len);
	ck_assert(cp_interrupt_pending(fx.cp, 0));
	ck_assert_uint_ge(fx.kicks[0], 1);
	ck_assert_uint_ge(fx.storage_changes, 1);
	free(image);
}

/* SplitMix64 from 1234567 on, as others have published it; where it is, is a part of the state. */
TEST(random_as_published)
{
	static const uint64_t published[] = {
		UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
		UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
		UINT64_C(16408922859458223821),
	};
	uint8_t *images[5];
	size_t len[5];

	fx.cp->random = 1234567;
	for (unsigned int i = 0; i < 5; i++) {
		images[i] = save(&len[i]);
		ck_assert_uint_eq(cp_random(fx.cp), published[i]);
	}
	for (unsigned int i = 5; i-- > 0;) {
		fx_load(images[i], len[i]);
		ck_assert_uint_eq(cp_random(fx.cp), published[i]);
		free(images[i]);
	}
}
