/* SPDX-License-Identifier: MIT */
/* Inputs of the core as a whole: what was called from outside, called again. */
#include <stdlib.h>
#include <string.h>

#include "replay_private.h"
#include "zvmlab/command.h"
#include "zvmlab/dcss.h"
#include "zvmlab/fault.h"
#include "zvmlab/monitor.h"
#include "zvmlab/state.h"

#define REGISTERS 16u

static unsigned int cpu_of(struct replay *r, const json_t *record)
{
	return (unsigned int)replay_number(r, record, "cpu", cp_config_of(r->cp)->cpus - 1);
}

static struct cp_insn insn_of(struct replay *r, const json_t *record, uint64_t *gr)
{
	struct cp_insn insn = {
		.cpu = cpu_of(r, record), .gr = gr,
		.problem = replay_number_or_0(r, record, "problem", 1),
		.amode = (uint8_t)replay_number(r, record, "amode", 64),
	};

	insn.dat = json_object_get(record, "asce") != NULL;
	if (insn.dat)
		insn.asce = replay_hex(r, record, "asce", UINT64_MAX);
	if (insn.amode != 24 && insn.amode != 31 && insn.amode != 64)
		replay_unusable(r, "\"amode\" is not 24, 31 or 64");
	return insn;
}

static void iucv(struct replay *r, const json_t *record)
{
	uint64_t gr[REGISTERS] = {
		replay_hex(r, record, "gr0", UINT64_MAX), replay_hex(r, record, "gr1", UINT64_MAX),
	};
	const struct cp_insn insn = insn_of(r, record, gr);

	if (!r->stopped)
		cp_iucv(r->cp, &insn);
}

static void diagnose(struct replay *r, const json_t *record, const char *code)
{
	const unsigned int r1 = (unsigned int)replay_number(r, record, "r1", REGISTERS - 1);
	const unsigned int r3 = (unsigned int)replay_number(r, record, "r3", REGISTERS - 1);
	uint64_t gr[REGISTERS], number = 0;
	const struct cp_insn insn = insn_of(r, record, gr);

	replay_registers(r, record, gr, REGISTERS);
	if (!replay_parse_hex(code, UINT16_MAX, &number))
		replay_unusable(r, "\"%.16s\" is no code of DIAGNOSE", code);
	if (!r->stopped)
		cp_diagnose(r->cp, &insn, r1, r3, (uint16_t)number);
}

static void stsi(struct replay *r, const json_t *record)
{
	uint64_t gr[REGISTERS] = { 0 };
	const struct cp_insn insn = { .cpu = cpu_of(r, record), .gr = gr, .amode = 64 };
	uint8_t sysib[CP_PAGE_SIZE] = { 0 };

	replay_registers(r, record, gr, 2);
	if (!r->stopped)
		cp_stsi(r->cp, &insn, sysib);
}

static void interrupt(struct replay *r, const json_t *record)
{
	const unsigned int cpu = cpu_of(r, record);

	if (!r->stopped)
		cp_interrupt_take(r->cp, cpu);
}

static void reset(struct replay *r, const json_t *record)
{
	(void)record;
	cp_reset(r->cp);
}

static void reset_cpu(struct replay *r, const json_t *record)
{
	const unsigned int cpu = cpu_of(r, record);

	if (!r->stopped)
		cp_reset_cpu(r->cp, cpu);
}

static void ipl(struct replay *r, const json_t *record)
{
	(void)record;
	cp_ipl(r->cp);
}

static void timer(struct replay *r, const json_t *record)
{
	(void)record;
	cp_timer(r->cp);
}

static void tick(struct replay *r, const json_t *record)
{
	(void)record;
	monitor_tick(r->cp);
}

static void manual(struct replay *r, const json_t *record)
{
	const bool on = replay_number(r, record, "manual", 1);

	if (!r->stopped)
		monitor_set_manual(r->cp, on);
}

static void dispatch(struct replay *r, const json_t *record)
{
	(void)record;
	iucv_dispatch_rest(r->cp);
}

/* Of a command that is too long for CP the record has the beginning, and CP looks at no more. */
static void command(struct replay *r, const json_t *record)
{
	const size_t len = (size_t)replay_number(r, record, "length", SIZE_MAX);
	char issuer[16], text[CPCMD_MAX_COMMAND + 1];
	char user[CP_NAME_LEN + 1], given[CP_CLASSES + 1], classes[CP_CLASSES + 1];

	replay_text(r, record, "issuer", issuer, sizeof(issuer));
	replay_text(r, record, "text", text, sizeof(text));
	if (!r->stopped && strcmp(issuer, "peer") == 0) {
		replay_text(r, record, "user", user, sizeof(user));
		replay_text(r, record, "classes", given, sizeof(given));
		if (!r->stopped && (user[0] == '*' || !cp_config_classes(given, classes)))
			replay_unusable(r, "\"user\" or \"classes\" are those of no peer");
		if (!r->stopped)
			cpcmd_run_peer(r->cp, user, classes, text, len);
	} else if (!r->stopped)
		cpcmd_run(r->cp, strcmp(issuer, "guest") == 0 ? CPCMD_GUEST : CPCMD_OPERATOR, text,
			  len);
}

static void segment_write(struct replay *r, const json_t *record)
{
	const uint64_t offset = replay_hex(r, record, "offset", UINT64_MAX);
	char name[CP_NAME_LEN + 1];
	const struct dcss *segment;
	uint8_t *data;
	size_t len;

	replay_text(r, record, "name", name, sizeof(name));
	data = replay_bytes(r, record, "data", &len);
	segment = dcss_find(r->cp, name);
	if (!r->stopped && segment)
		dcss_write(r->cp, segment, offset, data, len);
	free(data);
}

static void state_load(struct replay *r, const json_t *record)
{
	char err[256];
	size_t len;
	uint8_t *image = replay_bytes(r, record, "image", &len);

	/* A refused image has changed nothing: messages still point to what the peers hold. */
	if (!r->stopped && cp_load(r->cp, image, len, err, sizeof(err)) != -1)
		replay_peers_loaded(r);
	free(image);
}

/* A word that the record leaves out stands for no valid value. */
static unsigned int word(struct replay *r, const json_t *record, const char *name,
			 const char *(*at)(unsigned int), unsigned int count)
{
	char text[64];

	if (!json_object_get(record, name))
		return count;
	replay_text(r, record, name, text, sizeof(text));
	for (unsigned int i = 0; i < count; i++)
		if (strcmp(at(i), text) == 0)
			return i;
	replay_unusable(r, "this version of the CP has no %s \"%s\" for faults", name, text);
	return count;
}

static const char *point_name(unsigned int point)
{
	return fault_point_info[point].name;
}

static const char *kind_name(unsigned int kind)
{
	return fault_kind_info[kind].name;
}

static void rule_name(struct replay *r, const json_t *record, const char *key, char *name)
{
	char text[CP_NAME_LEN + 2] = "";

	if (json_object_get(record, key))
		replay_text(r, record, key, text, sizeof(text));
	memcpy(name, text, CP_NAME_LEN + 1);
}

/* Of the members that the core writes only if they are given, the others are what they were. */
static void rule_field(struct replay *r, const json_t *record, struct fault_rule *rule,
		       enum fault_field field)
{
	const char *name = fault_field_info[field].name;
	uint64_t number = 0;

	switch (fault_field_info[field].type) {
	case FAULT_TYPE_NAME:
		rule_name(r, record, name, fault_name(rule, field));
		return;
	case FAULT_TYPE_POINT:
		number = word(r, record, name, point_name, FAULT_POINTS);
		break;
	case FAULT_TYPE_KIND:
		number = word(r, record, name, kind_name, FAULT_KINDS);
		break;
	case FAULT_TYPE_BYTE:
		number = replay_number_or_0(r, record, name, UINT8_MAX);
		break;
	case FAULT_TYPE_PATH:
		number = replay_hex_or(r, record, name, UINT32_MAX, (uint32_t)FAULT_ANY_PATH);
		break;
	case FAULT_TYPE_NUMBER:
	case FAULT_TYPE_WHEN:
		number = replay_number(r, record, name, UINT32_MAX);
		break;
	}
	fault_set_number(rule, field, (uint32_t)number);
}

static void fault_armed(struct replay *r, const json_t *record)
{
	struct fault_rule rule = fault_rule_new();
	char err[256];

	for (enum fault_field i = 0; i < FAULT_FIELDS; i++)
		rule_field(r, record, &rule, i);
	if (!r->stopped)
		fault_arm(r->cp, &rule, err, sizeof(err));
}

static void fault_disarmed(struct replay *r, const json_t *record)
{
	const int id = (int)replay_number(r, record, "rule", INT32_MAX);

	if (!r->stopped)
		fault_disarm(r->cp, id);
}

static const struct {
	const char *call;
	void (*run)(struct replay *r, const json_t *record);
} inputs[] = {
	{ "interrupt", interrupt },
	{ "stsi", stsi },
	{ "reset", reset },
	{ "reset.cpu", reset_cpu },
	{ "ipl", ipl },
	{ "dispatch", dispatch },
	{ "command", command },
	{ "iucv.logon", replay_logon },
	{ "iucv.logoff", replay_logoff },
	{ "iucv.attach", replay_attach },
	{ "monitor.timer", timer },
	{ "monitor.tick", tick },
	{ "monitor.manual", manual },
	{ "monitor.deliver", replay_deliver },
	{ "monitor.repeat", replay_repeat },
	{ "monitor.message", replay_message },
	{ "monitor.event", replay_event },
	{ "monitor.sever", replay_sever },
	{ "monitor.quiesce", replay_quiesce },
	{ "segment.write", segment_write },
	{ "fault.arm", fault_armed },
	{ "fault.disarm", fault_disarmed },
	{ "state.load", state_load },
};

void replay_input(struct replay *r, const json_t *record)
{
	const char *call = json_string_value(json_object_get(record, "call"));

	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		if (strcmp(call, inputs[i].call) == 0) {
			inputs[i].run(r, record);
			return;
		}
	}
	if (strncmp(call, "diag.", 5) == 0)
		diagnose(r, record, call + 5);
	else if (strncmp(call, "iucv.", 5) == 0 && json_is_null(json_object_get(record, "cpu")))
		replay_call(r, record);
	else if (strncmp(call, "iucv.", 5) == 0)
		iucv(r, record);
	else
		replay_differs(r, "the core writes no record \"%.64s\" now, and nothing from "
			       "outside has that name", call);
}

/* Return: false with the sentence given. */
static bool configure(struct replay *r, const json_t *record, struct cp_config *config)
{
	char text[CP_CONFIG_TEXT_MAX], err[256];

	for (unsigned int i = 0; cp_config_keys[i]; i++) {
		replay_text(r, record, cp_config_keys[i], text, sizeof(text));
		if (!r->stopped && cp_config_set(config, cp_config_keys[i], text, err,
						 sizeof(err)) != 0)
			replay_unusable(r, "%s", err);
	}
	config->max_messages = (uint32_t)replay_number(r, record, "messages", UINT32_MAX);
	/* What files contained follows in the trace. */
	for (unsigned int i = 0; i < config->segments; i++) {
		free(config->segment[i].file);
		config->segment[i].file = NULL;
	}
	if (!r->stopped && !config->trace_full)
		replay_unusable(r, "the trace was made with trace-data=short and has not all that a "
				"replay needs; record it with trace-data=full");
	return !r->stopped;
}

void replay_configuration(struct replay *r, const json_t *record)
{
	const char *call = json_string_value(json_object_get(record, "call"));
	struct cp_config config;
	struct cp_host host;
	char err[256];

	if (strcmp(call, "configuration") != 0) {
		replay_unusable(r, "a trace begins with the configuration, not with \"%.64s\"", call);
		return;
	}
	if (replay_number(r, record, "version", UINT32_MAX) != TRACE_VERSION) {
		replay_unusable(r, "the trace has another version than %u", TRACE_VERSION);
		return;
	}
	cp_config_init(&config);
	if (configure(r, record, &config)) {
		if (!replay_host(r, &host))
			replay_unusable(r, "this machine has no room for the guest's addresses");
		else if (!(r->cp = cp_create(&config, &host, err, sizeof(err))))
			replay_unusable(r, "%s", err);
	}
	cp_config_fini(&config);
}
