/* SPDX-License-Identifier: MIT */
/* The 40 bytes of an interruption, at the places where Linux's IUCV reads them. */
#include "iucv_check.h"

#include "iucv/iucv_private.h"

struct place {
	uint8_t at, width;
	uint64_t value;		/* what stands there; of 8 bytes and less */
};

#define USER UINT64_C(0x0102030405060708)
#define RMMSG UINT64_C(0xb1b2b3b4b5b6b7b8)

/* ALPHA in EBCDIC. */
#define NAME UINT64_C(0xc1d3d7c8c1404040)

static const struct {
	enum iucv_type type;
	uint8_t flags;
	struct place place[8];
} images[] = {
	{ IUCV_PENDING, IPRMDATA,
	  { { IPMSGLIM, 2, 0x3344 }, { IPVMID, 8, NAME }, { IPUSER, 8, USER },
	    { IPUSER + 8, 8, USER + 1 } } },
	{ IUCV_COMPLETE, IPPRTY,
	  { { IPMSGLIM, 2, 0x3344 }, { IPUSER, 8, USER }, { IPUSER + 8, 8, USER + 1 } } },
	{ IUCV_SEVERED, 0,
	  { { IPUSER, 8, USER }, { IPUSER + 8, 8, USER + 1 } } },
	{ IUCV_PATH_QUIESCED, 0,
	  { { IPUSER, 8, USER }, { IPUSER + 8, 8, USER + 1 } } },
	{ IUCV_PATH_RESUMED, 0,
	  { { IPUSER, 8, USER }, { IPUSER + 8, 8, USER + 1 } } },
	{ IUCV_PRIO_COMPLETE, IPPRTY,
	  { { IPMSGID, 4, 0xa1a2a3a4 }, { IPAUDIT, 3, 0x515253 }, { IPSRCCLS, 4, 0xc1c2c3c4 },
	    { IPMSGTAG, 4, 0xd1d2d3d4 }, { IPBFLN2F, 4, 0x71727374 } } },
	{ IUCV_MSG_COMPLETE, IPRMDATA,
	  { { IPMSGID, 4, 0xa1a2a3a4 }, { IPAUDIT, 3, 0x515253 }, { IPRMMSG, 8, RMMSG },
	    { IPSRCCLS, 4, 0xc1c2c3c4 }, { IPMSGTAG, 4, 0xd1d2d3d4 },
	    { IPBFLN2F, 4, 0x71727374 } } },
	{ IUCV_PRIO_PENDING, IPPRTY,
	  { { IPMSGID, 4, 0xa1a2a3a4 }, { IPTRGCLS, 4, 0xe1e2e3e4 },
	    { IPBFLN1F, 4, 0x61626364 }, { IPBFLN2F, 4, 0x71727374 } } },
	{ IUCV_MSG_PENDING, IPRMDATA,
	  { { IPMSGID, 4, 0xa1a2a3a4 }, { IPTRGCLS, 4, 0xe1e2e3e4 }, { IPRMMSG, 8, RMMSG },
	    { IPBFLN2F, 4, 0x71727374 } } },
	{ IUCV_MSG_PENDING, 0,
	  { { IPMSGID, 4, 0xa1a2a3a4 }, { IPTRGCLS, 4, 0xe1e2e3e4 },
	    { IPBFLN1F, 4, 0x61626364 }, { IPBFLN2F, 4, 0x71727374 } } },
	{ IUCV_MSG_COMPLETE, 0,
	  { { IPMSGID, 4, 0xa1a2a3a4 }, { IPAUDIT, 3, 0x515253 }, { IPSRCCLS, 4, 0xc1c2c3c4 },
	    { IPMSGTAG, 4, 0xd1d2d3d4 }, { IPBFLN2F, 4, 0x71727374 } } },
};
#define IMAGES (int)(sizeof(images) / sizeof(images[0]))

/* Every member is something else, whether the type has it or not. */
static struct iucv_event full(enum iucv_type type, uint8_t flags)
{
	struct iucv_event event = {
		.type = type, .path = 0x1122, .flags = flags, .msglim = 0x3344, .vmid = "ALPHA",
		.msgid = 0xa1a2a3a4, .trgcls = 0xe1e2e3e4, .srccls = 0xc1c2c3c4,
		.msgtag = 0xd1d2d3d4, .audit = 0x515253, .length = 0x61626364,
		.answer_length = 0x71727374,
	};

	put_be64(event.ipuser, USER);
	put_be64(event.ipuser + 8, USER + 1);
	put_be64(event.rmmsg, RMMSG);
	return event;
}

static void put(uint8_t *at, unsigned int width, uint64_t value)
{
	for (unsigned int i = width; i > 0; i--, value >>= 8)
		at[i - 1] = (uint8_t)value;
}

TEST_LOOP(encoded, 0, IMAGES)
{
	const struct iucv_event event = full(images[_i].type, images[_i].flags);
	uint8_t image[IUCV_EVENT_SIZE], wanted[IUCV_EVENT_SIZE] = { 0x11, 0x22 };

	/* Flags where there are some. */
	wanted[IPFLAGS1] = images[_i].flags;
	wanted[IPTYPE] = (uint8_t)images[_i].type;
	wanted[IPPOLLFG] = 0x80;
	for (const struct place *p = images[_i].place; p->width > 0; p++)
		put(wanted + p->at, p->width, p->value);
	memset(image, 0xff, sizeof(image));
	iucv_event_encode(&event, image);
	for (unsigned int i = 0; i < sizeof(image); i++)
		ck_assert_msg(image[i] == wanted[i], "type %d: byte %u is %02X, not %02X",
			      images[_i].type, i, image[i], wanted[i]);
}

/* The stored bytes come back, and nothing else. */
TEST_LOOP(decoded, 0, IMAGES)
{
	const enum iucv_type type = images[_i].type;
	const bool message = type >= IUCV_PRIO_COMPLETE, pending = type >= IUCV_PRIO_PENDING;
	const bool short_one = images[_i].flags & IPRMDATA;
	struct iucv_event event = full(type, images[_i].flags), back;
	uint8_t image[IUCV_EVENT_SIZE];

	iucv_event_encode(&event, image);
	/* What its type does not have is 0. */
	if (message) {
		memset(event.ipuser, 0, sizeof(event.ipuser));
		event.msglim = 0;
		event.length = pending && !short_one ? event.length : 8;
		event.trgcls = pending ? event.trgcls : 0;
		event.audit = pending ? 0 : event.audit;
		event.srccls = pending ? 0 : event.srccls;
		event.msgtag = pending ? 0 : event.msgtag;
	} else {
		event.msgid = event.trgcls = event.srccls = event.msgtag = event.audit = 0;
		event.length = event.answer_length = 0;
		event.msglim = type <= IUCV_COMPLETE ? event.msglim : 0;
	}
	if (!message || !short_one)
		memset(event.rmmsg, 0, sizeof(event.rmmsg));
	if (type != IUCV_PENDING)
		event.vmid[0] = '\0';
	memset(&back, 0xff, sizeof(back));
	iucv_event_decode(image, type, &back);
	ck_assert_int_eq(back.type, event.type);
	ck_assert_uint_eq(back.path, event.path);
	ck_assert_uint_eq(back.flags, event.flags);
	ck_assert_uint_eq(back.msglim, event.msglim);
	ck_assert_str_eq(back.vmid, event.vmid);
	ck_assert_mem_eq(back.ipuser, event.ipuser, sizeof(event.ipuser));
	ck_assert_mem_eq(back.rmmsg, event.rmmsg, sizeof(event.rmmsg));
	ck_assert_uint_eq(back.msgid, event.msgid);
	ck_assert_uint_eq(back.trgcls, event.trgcls);
	ck_assert_uint_eq(back.srccls, event.srccls);
	ck_assert_uint_eq(back.msgtag, event.msgtag);
	ck_assert_uint_eq(back.audit, event.audit);
	ck_assert_uint_eq(back.length, event.length);
	ck_assert_uint_eq(back.answer_length, event.answer_length);
	ck_assert_ptr_null(back.answer);
}

/* A type that is none, of a corrupted image, is what the interruption was. */
TEST(decoded_type)
{
	uint8_t image[IUCV_EVENT_SIZE] = { 0 };

	for (unsigned int type = 0; type < 256; type++) {
		struct iucv_event event;

		image[IPTYPE] = (uint8_t)type;
		iucv_event_decode(image, IUCV_PATH_QUIESCED, &event);
		ck_assert_uint_eq(event.type, type >= 1 && type <= 9 ? type : IUCV_PATH_QUIESCED);
	}
}

/* Members that the type does not have are ignored, whatever a corrupted image has there. */
TEST(decoded_corrupted)
{
	for (enum iucv_type type = IUCV_SEVERED; type <= IUCV_PATH_RESUMED; type++) {
		uint8_t image[IUCV_EVENT_SIZE];
		struct iucv_event event;

		memset(image, 0xff, sizeof(image));
		iucv_event_decode(image, type, &event);
		ck_assert_int_eq(event.type, type);
		ck_assert_uint_eq(event.flags, 0);
		ck_assert_uint_eq(event.msglim, 0);
		ck_assert_str_eq(event.vmid, "");
		ck_assert_uint_eq(event.path, 0xffff);
		ck_assert_uint_eq(event.ipuser[0], 0xff);
	}
}

#define PATH 0x0203
#define MASK 0x02
#define AT(offset) ((offset) + 2u) /* a byte of the list below */
#define WORD(offset) (AT(offset) << 24 | AT((offset) + 1) << 16 | AT((offset) + 2) << 8 | \
		      AT((offset) + 3))

/* The fields that a function takes from its list, in the forms that Linux fills in. */
enum taken {
	USERS = 1,		/* IPVMID, IPTARGET */
	LIMIT = 2,
	DATA_OF_PATH = 4,	/* IPUSER */
	MESSAGE = 8,
	BUFFER = 16,
	IMMEDIATE = 32,		/* IPRMMSG, with IPRMDATA */
	ANSWER = 64,		/* without IPNORPY */
	ADDRESS = 128,		/* of DECLARE BUFFER, without a length */
	ONLY_MASK = 256,
};

static const struct { enum iucv_function function; unsigned int taken; } functions[] = {
	{ IUCV_CONNECT, USERS | LIMIT | DATA_OF_PATH },
	{ IUCV_ACCEPT, LIMIT | DATA_OF_PATH },
	{ IUCV_SEVER, DATA_OF_PATH },
	{ IUCV_QUIESCE, DATA_OF_PATH },
	{ IUCV_RESUME, DATA_OF_PATH },
	{ IUCV_SEND, MESSAGE | BUFFER | IMMEDIATE | ANSWER },
	{ IUCV_REPLY, MESSAGE | BUFFER | IMMEDIATE },
	{ IUCV_RECEIVE, MESSAGE | BUFFER },
	{ IUCV_REJECT, MESSAGE | BUFFER },
	{ IUCV_DECLARE_BUFFER, ADDRESS },
	{ IUCV_SET_MASK, ONLY_MASK },
	{ IUCV_SET_CONTROL_MASK, ONLY_MASK },
};

static void ck_area(const struct iucv_area *area, bool list, uint32_t addr, uint32_t len)
{
	ck_assert(!area->host && area->list == list && !area->ptr);
	ck_assert_uint_eq(area->addr, addr);
	ck_assert_uint_eq(area->len, len);
}

static void ck_areas(const struct iucv_parm *parm, unsigned int taken, uint8_t flags)
{
	static const uint8_t none[8] = { 0 };
	const uint8_t immediate[8] = {
		AT(IPRMMSG), AT(IPRMMSG + 1), AT(IPRMMSG + 2), AT(IPRMMSG + 3),
		AT(IPRMMSG + 4), AT(IPRMMSG + 5), AT(IPRMMSG + 6), AT(IPRMMSG + 7),
	};
	const bool in_list = (taken & IMMEDIATE) && (flags & IPRMDATA);

	ck_assert_mem_eq(parm->rmmsg, in_list ? immediate : none, 8);
	if ((taken & BUFFER) && !in_list)
		ck_area(&parm->buffer, flags & IPBUFLST, WORD(IPBFADR1), WORD(IPBFLN1F));
	else
		ck_area(&parm->buffer, false, taken & ADDRESS ? WORD(IPBFADR1) : 0, 0);
	if ((taken & ANSWER) && !(flags & IPNORPY))
		ck_area(&parm->answer, flags & IPANSLST, WORD(IPBFADR2), WORD(IPBFLN2F));
	else
		ck_area(&parm->answer, false, 0, 0);
}

/* A list full of data: each function takes its own members, all others are 0. */
TEST_EACH(list_decoded, functions)
{
	static const uint8_t flags[] = { 0, IPRMDATA, IPBUFLST, IPANSLST, IPNORPY };
	const unsigned int taken = functions[_i].taken;
	uint8_t image[IUCV_PARM_SIZE], user[16] = { 0 };
	struct iucv_parm parm;

	for (unsigned int i = 0; i < sizeof(image); i++)
		image[i] = (uint8_t)AT(i);
	if (taken & DATA_OF_PATH) {
		put_be64(image + IPVMID, NAME);
		put_be64(image + IPTARGET, NAME);
		memcpy(user, image + IPUSER, sizeof(user));
	}
	for (unsigned int i = 0; i < sizeof(flags); i++) {
		image[IPFLAGS1] = taken & ONLY_MASK ? AT(IPFLAGS1) : flags[i];
		memset(&parm, 0xff, sizeof(parm));
		iucv_decode(functions[_i].function, image, &parm);
		ck_assert_uint_eq(parm.mask, taken & ONLY_MASK ? MASK : 0);
		ck_assert_uint_eq(parm.path, taken & ONLY_MASK ? 0 : PATH);
		ck_assert_uint_eq(parm.flags, taken & ONLY_MASK ? 0 : flags[i]);
		ck_assert_uint_eq(parm.msglim, taken & LIMIT ? WORD(IPMSGLIM) >> 16 : 0);
		ck_assert_str_eq(parm.vmid, taken & USERS ? "ALPHA" : "");
		ck_assert_str_eq(parm.target, taken & USERS ? "ALPHA" : "");
		ck_assert_mem_eq(parm.ipuser, user, sizeof(user));
		ck_assert_uint_eq(parm.msgid, taken & MESSAGE ? WORD(IPMSGID) : 0);
		ck_assert_uint_eq(parm.trgcls, taken & MESSAGE ? WORD(IPTRGCLS) : 0);
		ck_assert_uint_eq(parm.srccls, taken & MESSAGE ? WORD(IPSRCCLS) : 0);
		ck_assert_uint_eq(parm.msgtag, taken & MESSAGE ? WORD(IPMSGTAG) : 0);
		ck_assert_uint_eq(parm.audit | parm.residual | parm.received, 0);
		ck_areas(&parm, taken, flags[i]);
	}
}
