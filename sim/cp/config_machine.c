/* SPDX-License-Identifier: MIT */
/* The machine that CP runs on: TYPE MODEL and operands. */
#include <assert.h>
#include <string.h>

#include "config_parse.h"

/* Whole span, 1 to @most letters and digits, in upper case. */
static bool take_field(struct config_span span, char *out, size_t most)
{
	const size_t len = (size_t)(span.end - span.at);

	assert(span.at <= span.end);
	if (len == 0 || len > most)
		return false;
	for (size_t i = 0; i < len; i++) {
		const char c = span.at[i];

		if (c >= 'a' && c <= 'z')
			out[i] = (char)(c - 'a' + 'A');
		else if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
			out[i] = c;
		else
			return false;
	}
	out[len] = '\0';
	return true;
}

static bool take_type(struct config_span span, char type[5])
{
	uint64_t n;

	return span.end - span.at == 4 && config_number(span, 10, 9999, &n) && n > 0 &&
	       take_field(span, type, 4);
}

/* Take a number in the form of STSI: 16 digits. */
static bool take_sequence(struct config_span span, char sequence[17])
{
	char digits[17];
	uint64_t n;

	if (!take_field(span, digits, 16) || !config_number(span, 16, UINT64_MAX, &n))
		return false;
	memset(sequence, '0', 16);
	memcpy(sequence + 16 - strlen(digits), digits, strlen(digits));
	sequence[16] = '\0';
	return true;
}

static bool manufacturer(struct cp_machine *machine, struct config_span *rest,
			 struct config_problem *problem)
{
	struct config_span word = *rest;

	return (config_word(rest, &word) && take_field(word, machine->manufacturer, 16)) ||
	       config_wrong(problem, word, "a manufacturer of 1 to 16 letters and digits");
}

static bool capacity(struct cp_machine *machine, struct config_span *rest,
		     struct config_problem *problem)
{
	struct config_span word = *rest;

	return (config_word(rest, &word) && take_field(word, machine->capacity, 16)) ||
	       config_wrong(problem, word, "a model capacity of 1 to 16 letters and digits, such "
			    "as 703");
}

static bool sequence(struct cp_machine *machine, struct config_span *rest,
		     struct config_problem *problem)
{
	struct config_span word = *rest;

	return (config_word(rest, &word) && take_sequence(word, machine->sequence)) ||
	       config_wrong(problem, word, "a sequence code of 1 to 16 hexadecimal digits");
}

static bool plant(struct cp_machine *machine, struct config_span *rest,
		  struct config_problem *problem)
{
	struct config_span word = *rest;

	return (config_word(rest, &word) && take_field(word, machine->plant, 4)) ||
	       config_wrong(problem, word, "a plant of 1 to 4 letters and digits, such as 02");
}

static bool capability(struct cp_machine *machine, struct config_span *rest,
		       struct config_problem *problem)
{
	struct config_span word = *rest;
	uint64_t n;

	if (!config_word(rest, &word) || !config_number(word, 10, CP_MAX_CAPABILITY, &n) || n == 0)
		return config_wrong(problem, word, "a CPU capability from 1 to 8388607");
	machine->capability = (uint32_t)n;
	return true;
}

static bool partition(struct cp_machine *machine, struct config_span *rest,
		      struct config_problem *problem)
{
	struct config_span word = *rest;
	uint64_t n;

	if (!config_word(rest, &word) || !config_number(word, 10, CP_MAX_PARTITION, &n) || n == 0)
		return config_wrong(problem, word, "the number of a partition from 1 to 255");
	machine->partition = (uint16_t)n;
	word = *rest;
	return (config_word(rest, &word) &&
		take_field(word, machine->partition_name, CP_NAME_LEN)) ||
	       config_wrong(problem, word, "the partition's name of 1 to 8 letters and digits");
}

static bool shared(struct cp_machine *machine, struct config_span *rest,
		   struct config_problem *problem)
{
	(void)rest;
	(void)problem;
	machine->dedicated = false;
	return true;
}

static bool dedicated(struct cp_machine *machine, struct config_span *rest,
		      struct config_problem *problem)
{
	(void)rest;
	(void)problem;
	machine->dedicated = true;
	return true;
}

static const struct {
	const char *name;
	bool (*take)(struct cp_machine *machine, struct config_span *rest,
		     struct config_problem *problem);
} operands[] = {
	{ "MANUFACTURER", manufacturer }, { "CAPACITY", capacity }, { "SEQUENCE", sequence },
	{ "PLANT", plant }, { "CAPABILITY", capability }, { "LPAR", partition },
	{ "SHARED", shared }, { "DEDICATED", dedicated },
};

static bool take_operand(struct cp_machine *machine, struct config_span word,
			 struct config_span *rest, struct config_problem *problem)
{
	for (size_t i = 0; i < sizeof(operands) / sizeof(operands[0]); i++)
		if (config_is(word, operands[i].name))
			return operands[i].take(machine, rest, problem);
	return config_wrong(problem, word, "MANUFACTURER, CAPACITY, SEQUENCE, PLANT, CAPABILITY, "
			    "LPAR, SHARED or DEDICATED");
}

bool config_machine(struct cp_config *config, struct config_span text,
		    struct config_problem *problem)
{
	/* A z15, whose facilities the emulated CPUs have at most. */
	struct cp_machine machine = {
		.manufacturer = "IBM", .capacity = "703", .sequence = "0000000000065AB8",
		.plant = "02", .capability = 416, .partition = 1, .partition_name = "ZVMLP1",
	};
	struct config_span word = text;

	if (!config_word(&text, &word) || !take_type(word, machine.type))
		return config_wrong(problem, word, "a machine type of 4 digits, such as 8561");
	word = text;
	if (!config_word(&text, &word) || !take_field(word, machine.model, 16))
		return config_wrong(problem, word, "a model of 1 to 16 letters and digits behind "
				    "the type, such as T01");
	while (config_word(&text, &word))
		if (!take_operand(&machine, word, &text, problem))
			return false;
	config->machine = machine;
	return true;
}
