/* SPDX-License-Identifier: MIT */
/*
 * Sequences chosen by chance, of the guest, peers, users of *MONITOR, commands and faults.  At
 * every step the CP is saved and another one goes on from the image: what it answers must be the
 * same to the end, and so must what is left when everything that was outstanding is complete.
 */
#include <stdlib.h>

#include "iucv_fields.h"
#include "monitor_fields.h"
#include "state_check.h"
#include "zvmlab/command.h"
#include "zvmlab/fault.h"
#include "zvmlab/monitor.h"

#define STEPS 100u
#define PARM 0x1000u
#define DATA 0x10000u
#define NAME 0x3000u
#define SEGMENT "MONDCSS"
#define PEERS 5u
#define FIRST_MONITOR 3u	/* peers from here on are users of *MONITOR */
#define KNOWN 16u
#define SECOND (UINT64_C(1000000) << 12)

/* Notes about a waiting message or path. */
struct known {
	uint16_t path;
	uint32_t msgid, trgcls;
};

struct end {
	struct iucv_user *user;		/* NULL: the guest */
	char name[9];
	struct known message[KNOWN], pending[KNOWN];
	unsigned int messages, pendings;
};

struct world {
	struct end peer[PEERS], guest;
	uint64_t random;
	unsigned int done[IUCV_FUNCTIONS], delivered, severed;
};

static struct world w;
static char err[256];

static uint32_t chance(uint32_t below)
{
	w.random = w.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(w.random >> 33) % below;
}

static void told(struct end *end, uint8_t type, const struct known *known)
{
	if (type == IUCV_PENDING)
		end->pending[end->pendings++ % KNOWN] = *known;
	else if (type == IUCV_PRIO_PENDING || type == IUCV_MSG_PENDING)
		end->message[end->messages++ % KNOWN] = *known;
	else if (type == IUCV_SEVERED)
		w.severed++;
}

static void peer_event(struct cp *cp, struct iucv_user *user, void *opaque,
		       const struct iucv_event *event)
{
	(void)cp;
	(void)user;
	told(opaque, (uint8_t)event->type,
	     &(struct known){ event->path, event->msgid, event->trgcls });
}

static const struct iucv_user_ops peer_ops = { .event = peer_event };

/* The newest, as a rule; a place that nobody has told of if there is none. */
static const struct known *one_of(const struct known *list, unsigned int count)
{
	static const struct known none;
	const unsigned int have = count < KNOWN ? count : KNOWN;

	return have > 0 ? &list[(count - 1 - (chance(4) ? 0 : chance(have))) % KNOWN] : &none;
}

/* Storage of a peer; what is in it is the same whenever it is looked at. */
static uint8_t *peer_storage(uint32_t at)
{
	static uint8_t storage[512];

	for (unsigned int i = 0; i < sizeof(storage); i++)
		storage[i] = (uint8_t)(i * 7);
	return storage + at;
}

static uint8_t *answer_storage(void)
{
	static uint8_t storage[512];

	return storage;
}

/* The functions that a path and its messages go through; the last ones end something. */
static const uint8_t functions[] = {
	IUCV_CONNECT, IUCV_CONNECT, IUCV_ACCEPT, IUCV_ACCEPT, IUCV_ACCEPT, IUCV_SEND, IUCV_SEND,
	IUCV_SEND, IUCV_SEND, IUCV_SEND, IUCV_RECEIVE, IUCV_RECEIVE, IUCV_RECEIVE, IUCV_REPLY,
	IUCV_REPLY, IUCV_REPLY, IUCV_TEST_COMPLETION, IUCV_REJECT, IUCV_PURGE, IUCV_QUIESCE,
	IUCV_RESUME, IUCV_RESUME, IUCV_SEVER,
};

/* Waiting events usually come first. */
static enum iucv_function some_function(struct end *end)
{
	if (end->pendings > 0 && chance(4) > 0) {
		end->pendings--;
		return IUCV_ACCEPT;
	}
	if (end->messages > 0 && chance(2) > 0)
		return chance(2) ? IUCV_RECEIVE : IUCV_REPLY;
	return functions[chance(sizeof(functions))];
}

static const char *partner(bool guest)
{
	static const char *const of_guest[] = { "PEER0", "PEER1", "*MONITOR", "*MSG" };
	static const char *const of_peer[] = { "LINUX001", "LINUX001", "PEER0", "PEER1" };

	return guest ? of_guest[chance(4)] : of_peer[chance(4)];
}

static uint8_t some_flags(enum iucv_function function)
{
	static const uint8_t sent[] = { 0, IPRMDATA, IPPRTY, IPNORPY, IPRMDATA | IPPRTY };

	if (function == IUCV_CONNECT || function == IUCV_ACCEPT)
		return chance(10) == 0 ? IPQUSCE : IPRMDATA | IPPRTY;
	if (function == IUCV_SEND)
		return sent[chance(5)];
	if (function == IUCV_REPLY)
		return chance(2) == 0 ? IPRMDATA : 0;
	if (function == IUCV_RECEIVE || function == IUCV_REJECT || function == IUCV_PURGE)
		return IPFGMID | IPFGPID;
	return 0;
}

/* Most often a path that can be used. */
static uint16_t some_path(const struct end *end)
{
	const struct iucv_user *user = end->user ? end->user : iucv_user_guest(fx.cp);
	struct iucv_path_info info;
	uint16_t found[8] = { 0 };
	unsigned int open = 0;

	for (uint16_t path = 0; path < 8; path++)
		if (iucv_path_info(user, path, &info) && info.state == IUCV_PATH_OPEN)
			found[open++] = path;
	return open > 0 && chance(16) > 0 ? found[chance(open)] : (uint16_t)chance(4);
}

/* The arguments of a call, whoever makes it. */
static struct iucv_parm some_parm(const struct end *end, enum iucv_function function)
{
	const struct known *message = one_of(end->message, end->messages);
	struct iucv_parm parm = {
		.path = some_path(end), .flags = some_flags(function),
		.msglim = (uint16_t)chance(6), .trgcls = chance(3), .srccls = chance(3),
		.msgtag = chance(1000),
	};

	memset(parm.rmmsg, (int)chance(256), sizeof(parm.rmmsg));
	if (function == IUCV_CONNECT)
		snprintf(parm.vmid, sizeof(parm.vmid), "%s", partner(end == &w.guest));
	if (function == IUCV_ACCEPT)
		parm.path = end->pending[end->pendings % KNOWN].path;
	if (function == IUCV_RECEIVE || function == IUCV_REPLY || function == IUCV_REJECT) {
		parm.path = message->path;
		parm.msgid = message->msgid;
		parm.trgcls = message->trgcls;
	}
	if (strcmp(parm.vmid, "*MONITOR") == 0) {
		memset(parm.ipuser, 0, sizeof(parm.ipuser));
		parm.ipuser[WANTED_VERSION] = 1;
		parm.ipuser[WANTED_DATA] = WANT_BOTH;
		ebcdic_name(parm.ipuser + WANTED_SEGMENT, SEGMENT);
		parm.flags = IPRMDATA;
	}
	return parm;
}

/* A message that is answered is of no more use. */
static void done(struct end *end, enum iucv_function function)
{
	w.done[function]++;
	if (end->messages > 0 && (function == IUCV_REPLY || function == IUCV_REJECT))
		end->messages--;
}

static void peer_calls(struct end *end, enum iucv_function function)
{
	struct iucv_parm parm = some_parm(end, function);

	if (end >= &w.peer[FIRST_MONITOR] && function == IUCV_CONNECT) {
		strcpy(parm.vmid, "*MONITOR");
		parm.flags = IPRMDATA;
		parm.ipuser[WANTED_VERSION] = 1;
		parm.ipuser[WANTED_DATA] = chance(2) ? WANT_BOTH : WANT_SAMPLE;
		ebcdic_name(parm.ipuser + WANTED_SEGMENT, SEGMENT);
		parm.msglim = (uint16_t)(1 + chance(20));
	}
	if (function == IUCV_RECEIVE)
		parm.buffer = (struct iucv_area){ .host = true, .ptr = answer_storage(),
						  .len = 16 + chance(64) };
	else if (function == IUCV_SEND || function == IUCV_REPLY)
		parm.buffer = (struct iucv_area){ .host = true, .ptr = peer_storage(chance(64)),
						  .len = parm.flags & IPRMDATA ? 0 : chance(64) };
	if (function == IUCV_SEND)
		parm.answer = (struct iucv_area){ .host = true, .ptr = answer_storage(),
						  .len = chance(64) };
	if (iucv_call(fx.cp, end->user, function, &parm).cc == 0)
		done(end, function);
}

static void guest_calls(enum iucv_function function)
{
	const struct iucv_parm parm = some_parm(&w.guest, function);
	uint8_t *p = memset(fx_at(PARM, IUCV_PARM_SIZE), 0, IUCV_PARM_SIZE);
	struct cp_result result;

	put_be16(p + IPPATHID, parm.path);
	p[IPFLAGS1] = parm.flags;
	if (function == IUCV_CONNECT || function == IUCV_ACCEPT) {
		put_be16(p + IPMSGLIM, parm.msglim);
		memcpy(p + IPUSER, parm.ipuser, sizeof(parm.ipuser));
		if (function == IUCV_CONNECT)
			ebcdic_name(p + IPVMID, parm.vmid);
	} else if (function != IUCV_SEVER && function != IUCV_QUIESCE && function != IUCV_RESUME) {
		put_be32(p + IPMSGID, parm.msgid);
		put_be32(p + IPTRGCLS, parm.trgcls);
		if (parm.flags & IPRMDATA) {
			memcpy(p + IPRMMSG, parm.rmmsg, sizeof(parm.rmmsg));
		} else {
			put_be32(p + IPBFADR1, DATA + chance(64));
			put_be32(p + IPBFLN1F,
				 chance(64) + (function == IUCV_RECEIVE ? 16 : 0));
		}
		put_be32(p + IPSRCCLS, parm.srccls);
		put_be32(p + IPMSGTAG, parm.msgtag);
		put_be32(p + IPBFADR2, DATA + 0x100);
		put_be32(p + IPBFLN2F, chance(64));
	}
	result = fx_iucv(0, function, PARM);
	if (result.how == CP_CC && result.cc == 0)
		done(&w.guest, function);
}

static void guest_takes(void)
{
	const uint8_t *e = fx_take(0);

	if (e)
		told(&w.guest, e[IPTYPE],
		     &(struct known){ get_be16(e + IPPATHID), get_be32(e + IPMSGID),
				      get_be32(e + IPTRGCLS) });
}

static void monitor_does(void)
{
	static uint8_t data[4096];
	const struct mon_element element = { .type = MCE_SAMPLE, .domains = 1, .data = data,
					     .len = 1 + chance(4096), .phase = chance(4096) };
	enum mon_fate fate = MON_NO_USER;

	memset(data, (int)chance(256), sizeof(data));
	switch (chance(8)) {
	case 0:
		put_be16(data + HEADER_LENGTH, (uint16_t)(HEADER_SIZE + chance(4000)));
		data[HEADER_DOMAIN] = MON_USER;
		monitor_event(fx.cp, MON_USER, data, get_be16(data + HEADER_LENGTH));
		break;
	case 1:
		monitor_tick(fx.cp);
		break;
	case 2:
		fx.tod += chance(90) * SECOND;
		cp_timer(fx.cp);
		break;
	case 3:
		monitor_quiesce(fx.cp, NULL, chance(3) == 0);
		break;
	case 4:
		monitor_repeat(fx.cp, MON_SAMPLE, &element, 1, 1 + chance(4), chance(9), err,
			       sizeof(err));
		break;
	default:
		monitor_deliver(fx.cp, MON_SAMPLE, &element, 1, &fate, err, sizeof(err));
		w.delivered += fate == MON_DELIVERED;
	}
}

static void somebody_commands(void)
{
	static const char *const commands[] = {
		"MONITOR SAMPLE ENABLE ALL", "MONITOR SAMPLE START", "MONITOR EVENT ENABLE ALL",
		"MONITOR EVENT START", "MONITOR SAMPLE INTERVAL 2 MIN", "MONITOR EVENT STOP",
		"SET MSG IUCV", "MSG LINUX001 HELLO", "SMSG LINUX001 HELLO", "TERMINAL LINESIZE 90",
		"SET RUN ON", "QUERY MONITOR", "QUERY NSS", "PURGE NSS NAME " SEGMENT,
	};
	const char *text = commands[chance(sizeof(commands) / sizeof(commands[0]))];

	cpcmd_run(fx.cp, CPCMD_OPERATOR, text, strlen(text));
}

static void guest_asks_for_segment(void)
{
	static const uint8_t subcodes[] = { 0x00, 0x04, 0x08, 0x0c };

	fx_put_name(NAME, SEGMENT);
	fx.gr[2] = NAME;
	fx.gr[3] = subcodes[chance(sizeof(subcodes))];
	fx_diag(2, 3, 0x64);
}

static void fault_is_armed(void)
{
	static const struct { enum fault_point point; enum fault_kind kind; } faults[] = {
		{ FAULT_INTERRUPT, FAULT_DELAY }, { FAULT_INTERRUPT, FAULT_DUPLICATE },
		{ FAULT_INTERRUPT, FAULT_DROP }, { FAULT_MONITOR_MESSAGE, FAULT_DROP },
		{ FAULT_MONITOR_MESSAGE, FAULT_DELAY }, { FAULT_MONITOR_MESSAGE, FAULT_DUPLICATE },
	};
	const unsigned int which = chance(sizeof(faults) / sizeof(faults[0]));
	const struct fault_rule rule = {
		.point = faults[which].point, .kind = faults[which].kind, .path = FAULT_ANY_PATH,
		.when = FAULT_NTH, .n = 1 + chance(3), .times = 1 + chance(2),
		.value = faults[which].kind == FAULT_DELAY ? 1 + chance(3) : 0,
	};

	fault_arm(fx.cp, &rule, err, sizeof(err));
}

static void step(unsigned int number)
{
	struct end *peer = &w.peer[chance(PEERS)];
	const uint32_t what = chance(100);

	/* The first ones make sure that there is something to go on with. */
	if (number < PEERS)
		peer_calls(&w.peer[number], IUCV_CONNECT);
	else if (number % 4 == 1)
		guest_takes();
	else if (number < 2 * PEERS)
		guest_calls(number % 2 ? IUCV_ACCEPT : IUCV_CONNECT);
	else if (what < 36)
		peer_calls(peer, some_function(peer));
	else if (what < 60)
		guest_calls(some_function(&w.guest));
	else if (what < 78)
		guest_takes();
	else if (what < 90)
		monitor_does();
	else if (what < 94)
		somebody_commands();
	else if (what < 97)
		guest_asks_for_segment();
	else if (what < 99) {
		fault_is_armed();
	} else {
		cp_reset(fx.cp);
		fx_declare(0);
	}
}

static void attach_users(void)
{
	for (unsigned int i = 0; i < PEERS; i++) {
		w.peer[i].user = iucv_user_find(fx.cp, w.peer[i].name);
		ck_assert_ptr_nonnull(w.peer[i].user);
		iucv_user_attach(w.peer[i].user, &peer_ops, &w.peer[i]);
	}
	iucv_dispatch(fx.cp);
}

static const char *const options[] = {
	"class", "ABCDEG", "directory", "IUCV ANY PRIORITY;IUCV ALLOW", NULL,
};

static void begin(uint64_t seed)
{
	memset(&w, 0, sizeof(w));
	w.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (unsigned int i = 0; i < PEERS; i++) {
		struct end *end = &w.peer[i];

		snprintf(end->name, sizeof(end->name), "PEER%u", i);
		end->user = iucv_user_create(fx.cp, end->name, 8, &peer_ops, end);
		ck_assert_ptr_nonnull(end->user);
	}
	for (unsigned int i = 0; i < 0x200; i++)
		fx_at(DATA, 0x200)[i] = (uint8_t)(i * 3);
	fx_declare(0);
}

/* The guest's storage is the emulator's to save: as much of it as is used here. */
static void into_a_fresh_cp(void)
{
	static uint8_t storage[DATA + 0x1000];
	const struct fixture before = fx;
	size_t len;
	uint8_t *image = fx_save(&len);

	memcpy(storage, fx.storage, sizeof(storage));
	fx_teardown();
	fx_setup_with(options);
	memcpy(fx.storage, storage, sizeof(storage));
	fx.tod = before.tod;
	memcpy(fx.gr, before.gr, sizeof(fx.gr));
	fx_load(image, len);
	ck_assert_uint_eq(fx.timer, before.timer);
	free(image);
}

/* Everything that waits for an answer gets one; then every path ends. */
static void drain(void)
{
	struct iucv_parm parm;

	fault_disarm(fx.cp, 0);
	for (unsigned int round = 0; round < 200; round++) {
		struct end *end = round % (PEERS + 1) < PEERS ? &w.peer[round % (PEERS + 1)] :
								&w.guest;

		guest_takes();
		if (end->user)
			peer_calls(end, chance(2) ? IUCV_REPLY : IUCV_RECEIVE);
		else
			guest_calls(chance(2) ? IUCV_REPLY : IUCV_RECEIVE);
	}
	monitor_repeat(fx.cp, MON_SAMPLE, NULL, 0, 0, 0, err, sizeof(err));
	monitor_stop(fx.cp, false);
	monitor_stop(fx.cp, true);
	monitor_sever(fx.cp, NULL, 1);
	for (unsigned int i = 0; i < PEERS; i++) {
		parm = (struct iucv_parm){ .flags = IPALL };
		iucv_call(fx.cp, w.peer[i].user, IUCV_SEVER, &parm);
	}
	for (unsigned int i = 0; cp_interrupt_pending(fx.cp, 0) && i < 10000; i++)
		guest_takes();
	put_be16(memset(fx_at(PARM, IUCV_PARM_SIZE), 0, IUCV_PARM_SIZE), 0);
	fx_at(PARM, IPFLAGS1 + 1)[IPFLAGS1] = IPALL;
	fx_iucv(0, IUCV_SEVER, PARM);
}

static uint8_t *image_now(size_t *len)
{
	uint8_t *image = fx_save(len);

	return image;
}

/* The whole sequence; with @saved below STEPS another CP goes on there. */
static void play(uint64_t seed, unsigned int saved, size_t starts[STEPS])
{
	begin(seed);
	for (unsigned int i = 0; i < STEPS; i++) {
		if (i == saved) {
			into_a_fresh_cp();
			fx.trace_len = 0;
		}
		/* Who is attached leaves a record; both sides have it at each step. */
		attach_users();
		if (starts)
			starts[i] = fx.trace_len;
		step(i);
	}
	drain();
}

/* Something must have happened, or nothing has been compared. */
static void ck_worth_it(void)
{
	static const uint8_t used[] = { IUCV_CONNECT, IUCV_ACCEPT, IUCV_SEND, IUCV_RECEIVE,
					IUCV_REPLY };

	for (unsigned int i = 0; i < sizeof(used); i++)
		ck_assert_msg(w.done[used[i]] > 0, "no %s", iucv_function_name(used[i]));
	ck_assert_uint_gt(w.delivered, 0);
}

/* Two CPs are made for each step; fewer than a thousand messages are ever under way. */
static void setup(void)
{
	fx_messages = 1024;
	fx_setup_with(options);
}

CASE("steps", setup, fx_teardown);

/* Sequences in which much comes to pass. */
static const uint64_t seeds[] = { 5, 17, 26, 43, 54 };

TEST_EACH(every_step, seeds)
{
	static size_t starts[STEPS];
	size_t len, expected_len;
	uint8_t *image, *expected;
	char *trace;

	play(seeds[_i], STEPS, starts);
	ck_worth_it();
	expected = image_now(&expected_len);
	trace = strdup(fx.trace);
	ck_assert_ptr_nonnull(trace);
	for (unsigned int saved = 1; saved < STEPS; saved++) {
		size_t skip;

		fx_teardown();
		fx_setup_with(options);
		play(seeds[_i], saved, NULL);
		/* The records of attaching come first on both sides. */
		skip = fx.trace_len - strlen(trace + starts[saved]);
		ck_assert_uint_le(skip, fx.trace_len);
		ck_assert_msg(strcmp(fx.trace + skip, trace + starts[saved]) == 0,
			      "saved at step %u", saved);
		image = image_now(&len);
		ck_assert_msg(len == expected_len, "saved at step %u: %zu bytes, not %zu", saved, len, expected_len);
		ck_assert_msg(memcmp(image, expected, len) == 0, "saved at step %u", saved);
		free(image);
	}
	free(expected);
	free(trace);
}
