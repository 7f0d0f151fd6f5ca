/* SPDX-License-Identifier: MIT */
/* The command processor: life cycle, table of commands, privilege classes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "command_private.h"
#include "smaller.h"
#include "text.h"
#include "zvmlab/event.h"
#include "zvmlab/input.h"
#include "zvmlab/iucv.h"
#include "zvmlab/state.h"

static const struct cpcmd_word commands[] = {
#define CP_COMMAND(name, min, classes, function) { name, min, classes, function },
#include "words.def"
	{ NULL, 0, NULL, NULL },
};

static int cpcmd_init(struct cp *cp, char *err, size_t errlen)
{
	struct cpcmd *command = calloc(1, sizeof(*command));
	char *text = malloc(CPCMD_MAX_RESPONSE);

	if (!command || !text) {
		snprintf(err, errlen, "not enough memory for the command processor");
		free(command);
		free(text);
		return -1;
	}
	command->response.text = text;
	command->response.capacity = CPCMD_MAX_RESPONSE;
	cpcmd_terminal_init(cp, command);
	assert(!cp->command);
	cp->command = command;
	return 0;
}

static void cpcmd_fini(struct cp *cp)
{
	if (cp->command)
		free(cp->command->response.text);
	free(cp->command);
	cp->command = NULL;
}

static void cpcmd_reset(struct cp *cp)
{
	clock_note_ipl(cp);
}

static void cpcmd_state(struct cp *cp, struct state *state)
{
	struct cpcmd *command = cp->command;

	state_tag(state, "CCMD");
	state_u64(state, &cp->logon_tod);
	state_bool(state, &command->run);
	state_bool(state, &command->ends);
	state_u64(state, &command->forced_at);
	state_name(state, command->forced_by);
	for (unsigned int i = 0; i < TERM_SETTINGS; i++)
		state_u16(state, &command->term[i]);
	state_require(state, cpcmd_terminal_valid(command));
	if (state->failed) {
		cpcmd_terminal_init(cp, command);
		command->ends = false;
		command->forced_at = 0;
	}
	if (state->loading)
		cpcmd_arm_force(cp);
}

static void cpcmd_state_system(struct cp *cp, struct state *state)
{
	state_tag(state, "CSYS");
	state_u64(state, &cp->system->ipl_tod);
	for (unsigned int i = 0; i < CP_MAX_SEGMENTS; i++) {
		struct cpcmd_file *file = &cp->system->filed[i];

		state_u16(state, &file->id);
		state_u64(state, &file->tod);
		state_name(state, file->origin);
	}
}

static int cpcmd_init_system(struct cp_system *system, char *err, size_t errlen)
{
	system->filed = calloc(CP_MAX_SEGMENTS, sizeof(*system->filed));
	if (system->filed)
		return 0;
	snprintf(err, errlen, "not enough memory for the files of segments");
	return -1;
}

static void cpcmd_fini_system(struct cp_system *system)
{
	free(system->filed);
	system->filed = NULL;
}

/* The lines of @text, which has no NUL but the one at its end; none behind a LOGOFF. */
static void run_lines(const struct cpcmd_args *issuer, char *text)
{
	struct cp *cp = issuer->cp;
	struct cpcmd_response *response = &cp->command->response;

	for (char *line = text; line && !cp->command->logged_off;) {
		char *end = strchr(line, '\n');
		int rc;

		if (end)
			*end++ = '\0';
		rc = cpcmd_run_line(issuer, line);
		assert(rc >= 0);
		if (rc != 0)
			response->rc = rc;
		if (issuer->issuer == CPCMD_GUEST) {
			text_printable(line, strlen(line));
			cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_COMMAND, .name = "",
							  .text = line, .value = (uint64_t)rc });
		}
		line = end;
	}
}

static void trace_command(const struct cpcmd_args *issuer, const char *text, size_t len)
{
	static const char *const names[] = { "guest", "operator", "peer" };
	const bool peer = issuer->issuer == CPCMD_PEER;

	TRACE_INPUT(issuer->cp, command, .issuer = names[issuer->issuer],
		    .user = peer ? issuer->userid : NULL, .classes = peer ? issuer->classes : NULL,
		    .text = text, .length = len);
}

static const struct cpcmd_response *run(const struct cpcmd_args *issuer, const char *text,
					size_t len)
{
	struct cp *cp = issuer->cp;
	struct cpcmd_response *response = &cp->command->response;
	const size_t kept = smaller(len, CPCMD_MAX_COMMAND);
	char copy[CPCMD_MAX_COMMAND + 1];

	assert(issuer->userid && issuer->classes && (text || len == 0));
	response->len = 0;
	response->rc = 0;
	cp->command->truncated = false;
	cp->command->logged_off = false;
	for (size_t i = 0; i < kept; i++)
		copy[i] = text[i] != '\0' ? text[i] : ' ';
	copy[kept] = '\0';
	/* Inside DIAGNOSE X'08' these are fields of its record. */
	trace_command(issuer, copy, len);
	clock_note_ipl(cp);
	if (len <= CPCMD_MAX_COMMAND)
		run_lines(issuer, copy);
	else
		response->rc = cpcmd_message(cp, "CMD", CPCMD_BAD_OPERAND, 'E',
					     "Operand missing or invalid - the command is longer "
					     "than %u characters", CPCMD_MAX_COMMAND);
	trace_number(cp, "rc", (uint64_t)response->rc);
	trace_bytes(cp, "response", response->text, response->len);
	trace_end(cp);
	/* The guest's command is part of an instruction, which does this at its end. */
	if (issuer->issuer != CPCMD_GUEST)
		iucv_dispatch(cp);
	assert(response->len <= response->capacity && response->rc >= 0);
	return response;
}

const struct cpcmd_response *cpcmd_run(struct cp *cp, enum cpcmd_issuer issuer, const char *text,
				       size_t len)
{
	const bool operator = issuer == CPCMD_OPERATOR;
	const struct cpcmd_args args = {
		.cp = cp, .commands = commands, .issuer = issuer,
		.userid = operator ? CP_OPERATOR_ID : cp->config.userid,
		.classes = operator ? CPCMD_ALL_CLASSES : cp->config.classes,
	};

	assert(issuer == CPCMD_GUEST || operator);
	return run(&args, text, len);
}

const struct cpcmd_response *cpcmd_run_peer(struct cp *cp, const char *userid,
					    const char *classes, const char *text, size_t len)
{
	const struct cpcmd_args args = {
		.cp = cp, .commands = commands, .issuer = CPCMD_PEER, .userid = userid,
		.classes = classes,
	};

	assert(userid[0] != '*' && strlen(userid) <= CP_NAME_LEN);
	return run(&args, text, len);
}

const struct cp_part cpcmd_part = {
	.init_system = cpcmd_init_system,
	.fini_system = cpcmd_fini_system,
	.init = cpcmd_init,
	.fini = cpcmd_fini,
	.reset = cpcmd_reset,
	.system_timer = cpcmd_force_timer,
	.logon = cpcmd_logon,
	.logoff = cpcmd_logged_off,
	.state_system = cpcmd_state_system,
	.state = cpcmd_state,
};
