/* SPDX-License-Identifier: MIT */
/* Interruptions that a machine takes without a call, by what lies in its page. */
#define _GNU_SOURCE /* memfd_create */
#include "raw_machine.h"

static struct emulator alice;
static struct raw bob;
static char trace[128];
static uint16_t path;	/* ALICE's end of one to BOB */

static void raw_iucv(uint32_t function)
{
	bob.page->call = (struct member_call){
		.function = MEMBER_IUCV, .amode = 64, .gr = { function, PARM },
	};
	ck_assert(call_raw(&bob));
	ck_assert_uint_eq(bob.page->reply.cc, 0);
}

static void raw_declare(uint32_t buffer)
{
	memset(bob.ram + PARM, 0, 40);
	put_be32(bob.ram + PARM + IPBFADR1, buffer);
	raw_iucv(IUCV_DECLARE_BUFFER);
	memset(bob.ram + PARM, 0, 40);
	bob.ram[PARM + IPMASK] = 0xf8;
	raw_iucv(IUCV_SET_CONTROL_MASK);
}

static void raw_start(void)
{
	char options[512];
	struct hello hello = { { .magic = MEMBER_MAGIC, .ram_size = RAM, .can = CAN_ALL }, "" };
	size_t len;

	snprintf(trace, sizeof(trace), "%s/BOB.jsonl", folder);
	len = (size_t)snprintf(options, sizeof(options), "userid%cBOB%cstorage%c0.4M%ctrace%c%s", 0,
			       0, 0, 0, 0, trace) + 1;
	memcpy(hello.options, options, len);
	raw_log_on(&bob, &hello, sizeof(hello.head) + len);
}

static void start(void)
{
	system_start();
	emulator_init(&alice, "ALICE");
	set(&alice, "class", "ABG");
	ck_assert_int_eq(emulator_start(&alice), 0);
	declare(&alice);
	raw_start();
}

static void stop(void)
{
	close(bob.sock);
	raw_log_off(&bob);
	ck_users(&alice, "BOB", false);
	emulator_end(&alice);
	unlink(trace);
	system_stop();
}

CASE("offers", start, stop);

static void connect_bob(void)
{
	fill_connect(&alice, "BOB");
	ck_iucv(&alice, IUCV_CONNECT);
	path = get_be16(alice.ram + PARM + IPPATHID);
}

/* The process is between two events by the time it has answered the second one. */
static void settle(void)
{
	ck_assert_uint_eq(command(&alice, "QUERY NAMES"), 0);
	ck_assert_uint_eq(command(&alice, "QUERY NAMES"), 0);
}

static uint32_t state(void)
{
	return __atomic_load_n(&bob.page->offer.state, __ATOMIC_ACQUIRE);
}

static bool is_offered(void)
{
	return state() % MEMBER_OFFER_STATES == MEMBER_OFFERED;
}

/* As an emulator does it, at this time. */
static void take_it(uint64_t tod)
{
	uint32_t offered = state();

	ck_assert_uint_eq(offered % MEMBER_OFFER_STATES, MEMBER_OFFERED);
	bob.page->offer.tod = tod;
	ck_assert(__atomic_compare_exchange_n(&bob.page->offer.state, &offered,
					      offered - MEMBER_OFFERED + MEMBER_TAKEN, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

static uint64_t ask(enum member_function function)
{
	bob.page->call = (struct member_call){ .function = function, .amode = 64 };
	ck_assert(call_raw(&bob));
	return bob.page->reply.value;
}

TEST(taken_without_a_call)
{
	static const uint8_t nothing[CP_INTERRUPTION_SIZE];
	const struct member_offer *offer = &bob.page->offer;

	raw_declare(BUFFER);
	ck_assert(!is_offered());
	connect_bob();
	settle();
	ck_assert(is_offered());
	ck_assert_uint_eq(offer->cpu, 0);
	ck_assert_uint_eq(offer->address, BUFFER);
	ck_assert_uint_eq(offer->image[IPTYPE], IUCV_PENDING);
	ck_assert_uint_eq(offer->more, 0);
	take_it(1);
	settle();
	ck_assert(!is_offered());
	ck_assert_uint_eq(ask(MEMBER_PENDING), 0);
	ck_assert_uint_eq(ask(MEMBER_TAKE), 0);
	/* It is the machine that stores it, and need not be told of that. */
	ck_assert_mem_eq(bob.ram + BUFFER, nothing, sizeof(nothing));
	for (uint32_t i = 0; i < bob.page->notices.put; i++)
		ck_assert_uint_ne(bob.page->notices.ring[i % MEMBER_RING].address, BUFFER);
}

/* The next call, whatever it is, finds it taken: no interruption comes twice. */
TEST(taken_before_a_call)
{
	raw_declare(BUFFER);
	connect_bob();
	settle();
	take_it(1);
	ck_assert_uint_eq(ask(MEMBER_TAKE), 0);
}

/* Asked for by a call, it is not there any more to be taken. */
TEST(called_for)
{
	raw_declare(BUFFER);
	connect_bob();
	settle();
	ck_assert(is_offered());
	ck_assert_uint_eq(ask(MEMBER_TAKE), 1);
	ck_assert_uint_eq(bob.ram[BUFFER + IPTYPE], IUCV_PENDING);
	ck_assert(!is_offered());
}

/* Whatever makes it another interruption, or none. */
TEST(withdrawn)
{
	uint32_t offered;

	raw_declare(BUFFER);
	connect_bob();
	settle();
	offered = state();
	ck_assert(is_offered());
	put_be16(parm_zero(&alice) + IPPATHID, path);
	ck_iucv(&alice, IUCV_SEVER);
	settle();
	ck_assert(!is_offered());
	connect_bob();
	settle();
	ck_assert(is_offered());
	ck_assert_uint_ne(state(), offered);
	memset(bob.ram + PARM, 0, 40);
	raw_iucv(IUCV_SET_CONTROL_MASK);
	ck_assert(!is_offered());
	bob.ram[PARM + IPMASK] = 0xf8;
	raw_iucv(IUCV_SET_CONTROL_MASK);
	ck_assert(is_offered());
	raw_iucv(IUCV_RETRIEVE_BUFFER);
	ck_assert(!is_offered());
}

TEST(one_after_the_other)
{
	uint32_t first;

	raw_declare(BUFFER);
	connect_bob();
	connect_bob();
	settle();
	first = state();
	ck_assert_uint_eq(bob.page->offer.more, 1);
	take_it(1);
	settle();
	ck_assert(is_offered());
	ck_assert_uint_gt(state(), first);
	ck_assert_uint_eq(bob.page->offer.more, 0);
	take_it(2);
	ck_assert_uint_eq(ask(MEMBER_PENDING), 0);
}

/* An offer is of an address that no prefix changes. */
TEST(not_in_the_prefix_area)
{
	raw_declare(0x1800);
	bob.page->call.prefix[0] = 0;
	connect_bob();
	settle();
	ck_assert(is_offered());
	bob.page->call = (struct member_call){
		.function = MEMBER_PENDING, .amode = 64, .prefix = { 0x4000 },
	};
	ck_assert(call_raw(&bob));
	ck_assert_uint_eq(bob.page->reply.value, 1);
	ck_assert(!is_offered());
}

/* The buffer lies in two pages. */
TEST(not_in_two_pages)
{
	raw_declare(BUFFER + CP_PAGE_SIZE - 8);
	connect_bob();
	settle();
	ck_assert(!is_offered());
	ck_assert_uint_eq(ask(MEMBER_TAKE), 1);
	ck_assert_uint_eq(bob.ram[BUFFER + CP_PAGE_SIZE - 8 + IPTYPE], IUCV_PENDING);
}

/* Nothing else happens in the system: the trace tells of it all the same, by the machine's clock. */
TEST(told_at_once)
{
	static char text[65536];
	const char *found = NULL;

	raw_declare(BUFFER);
	connect_bob();
	settle();
	take_it(UINT64_C(0xd123456789abc000));
	if (__atomic_load_n(&bob.page->sides.process_waits, __ATOMIC_SEQ_CST))
		ck_assert_int_eq(eventfd_write(bob.fd[MEMBER_CALL], 1), 0);
	for (unsigned int tries = 0; !found; tries++) {
		FILE *file = fopen(trace, "r");

		ck_assert_ptr_nonnull(file);
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
		fclose(file);
		found = strstr(text, "\"interrupt\"");
		ck_assert_uint_lt(tries, LIMIT_MS);
		poll(NULL, 0, 1);
	}
	ck_assert_ptr_nonnull(strstr(text, "d123456789abc000"));
}

/* Whatever a machine makes of its page: it has taken what it was offered, and nothing else. */
TEST(nonsense)
{
	raw_declare(BUFFER);
	connect_bob();
	connect_bob();
	settle();
	memset(&bob.page->offer, 0xff, sizeof(bob.page->offer));
	settle();
	ck_assert(is_offered());
	ck_assert_uint_eq(bob.page->offer.more, 0);
	/* An old one once more, and one that is not there. */
	__atomic_store_n(&bob.page->offer.state, MEMBER_TAKEN, __ATOMIC_SEQ_CST);
	settle();
	ck_assert_uint_eq(ask(MEMBER_PENDING), 0);
	__atomic_store_n(&bob.page->offer.state, state() | MEMBER_TAKEN, __ATOMIC_SEQ_CST);
	settle();
	ck_assert_uint_eq(ask(MEMBER_PENDING), 0);
	ck_assert_uint_eq(ask(MEMBER_TAKE), 0);
}
