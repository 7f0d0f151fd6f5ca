/* SPDX-License-Identifier: MIT */
/*
 * What each command takes, read from docs/control-schema.json: every member of its arguments at the
 * limits that are told there, beyond them, of other types, and absent.
 */
#include "control_client.h"

static json_t *document;

static void setup(void)
{
	document = json_load_file("docs/control-schema.json", 0, NULL);
	ck_assert_msg(document != NULL, "the top of the tree is where this test is to be run");
}

static void teardown(void)
{
	json_decref(document);
}

CASE("schema", setup, teardown);

TEST(as_documented)
{
	json_t *schema = ctl_schema(ctl_commands, ctl_command_count);

	ck_assert(json_equal(schema, document));
	json_decref(schema);
}

static int64_t number(const json_t *schema, const char *name)
{
	return json_integer_value(json_object_get(schema, name));
}

static bool is_type(const json_t *schema, const char *name)
{
	const json_t *type = json_object_get(schema, "type");

	/* "null", too, makes it a list. */
	if (json_is_array(type))
		type = json_array_get(type, 0);
	return strcmp(json_string_value(type), name) == 0;
}

static json_t *text_of(size_t len)
{
	char *text = malloc(len + 1);
	json_t *value;

	memset(text, 'A', len);
	value = json_stringn(text, len);
	free(text);
	return value;
}

/* Bytes that are 0, in base64. */
static json_t *bytes_of(size_t len)
{
	static const char *const ends[] = { "", "==", "=" };
	const size_t pad = strlen(ends[len % 3]), size = (len + 2) / 3 * 4;
	char *text = malloc(size + 1);
	json_t *value;

	memset(text, 'A', size);
	memcpy(text + size - pad, ends[len % 3], pad);
	value = json_stringn(text, size);
	free(text);
	return value;
}

/* The schema has the length of the text; of how many bytes, it is told here. */
static void data_limits(const json_t *schema, size_t *least, size_t *most)
{
	static const struct {
		const char *text;
		size_t least, most;
	} known[] = {
		{ "IPUSER.", 16, 16 }, { "IPRMMSG, with flag X'80'.", 8, 8 },
		{ "With its header.", 1, 4096 }, { "Of the record.", 1, 16384 },
		{ "Whole blocks of 512 bytes.", 0, 8192 * 512 },
	};
	const char *text = json_string_value(json_object_get(schema, "description"));

	*least = (size_t)number(schema, "minLength") / 4;
	*most = (size_t)number(schema, "maxLength") / 4 * 3;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(text, known[i].text) == 0) {
			*least = known[i].least;
			*most = known[i].most;
		}
}

/* A value that is good: the least one. */
static json_t *good(const json_t *schema)
{
	const json_t *required = json_object_get(schema, "required");
	json_t *value = NULL;
	size_t i;

	if (json_object_get(schema, "enum"))
		return json_incref(json_array_get(json_object_get(schema, "enum"), 0));
	if (is_type(schema, "integer"))
		return json_integer(number(schema, "minimum"));
	if (is_type(schema, "boolean"))
		return json_false();
	if (json_object_get(schema, "contentEncoding")) {
		size_t least, most;

		data_limits(schema, &least, &most);
		return bytes_of(least);
	}
	if (is_type(schema, "string"))
		return text_of((size_t)number(schema, "minLength"));
	if (is_type(schema, "array")) {
		value = json_array();
		for (i = 0; i < (size_t)number(schema, "minItems"); i++)
			json_array_append_new(value, good(json_object_get(schema, "items")));
		return value;
	}
	ck_assert(is_type(schema, "object"));
	value = json_object();
	for (i = 0; i < json_array_size(required); i++) {
		const char *name = json_string_value(json_array_get(required, i));

		json_object_set_new(value, name, good(json_object_get(
					    json_object_get(schema, "properties"), name)));
	}
	return value;
}

/* The place at which a value is tried: a member of the arguments, or deeper. */
struct place {
	const struct ctl_command *command;
	json_t *args;		/* all of them */
	json_t *in;		/* what the value is put into: object (@name) or list (its only item) */
	const char *name;
	unsigned int tried;
};

static void try_it(struct place *place, json_t *value, bool expected)
{
	char said[512] = "";
	bool result;

	if (place->name)
		json_object_set_new(place->in, place->name, value);
	else
		json_array_set_new(place->in, 0, value);
	result = ctl_check(place->command->args, place->args, said, sizeof(said));
	ck_assert_msg(result == expected, "%s, %s: %s", place->command->name,
		      place->name ? place->name : "an item", result ? "was taken" : said);
	ck_assert(result == (said[0] == '\0'));
	place->tried++;
}

static void try_schema(struct place *place, const json_t *schema);

static void try_string(struct place *place, const json_t *schema)
{
	const bool data = json_object_get(schema, "contentEncoding") != NULL;
	json_t *(*make)(size_t len) = data ? bytes_of : text_of;
	size_t min = (size_t)number(schema, "minLength"), max = (size_t)number(schema, "maxLength");

	if (data)
		data_limits(schema, &min, &max);
	try_it(place, make(min), true);
	try_it(place, make(max), true);
	try_it(place, make(max + 1), false);
	if (min > 0)
		try_it(place, make(min - 1), false);
	if (data)
		try_it(place, json_string("A.=="), false);
	try_it(place, json_integer(1), false);
}

static void try_list(struct place *place, const json_t *schema)
{
	const json_t *items = json_object_get(schema, "items");
	const size_t min = (size_t)number(schema, "minItems");
	const size_t max = (size_t)number(schema, "maxItems");
	struct place item = *place;
	json_t *list = json_array();

	ck_assert_uint_le(max, 1000);
	for (size_t i = 0; i <= max + 1; i++) {
		if (i == min || i == max || i + 1 == min || i == max + 1)
			try_it(place, json_deep_copy(list), i >= min && i <= max);
		json_array_append_new(list, good(items));
	}
	json_decref(list);
	try_it(place, json_object(), false);
	list = json_array();
	json_array_append_new(list, good(items));
	try_it(place, list, true);
	item.in = list;
	item.name = NULL;
	try_schema(&item, items);
	place->tried = item.tried;
}

static void try_object(struct place *place, const json_t *schema)
{
	json_t *properties = json_object_get(schema, "properties"), *property, *object;
	const json_t *required = json_object_get(schema, "required");
	const char *name;
	size_t i;

	object = good(schema);
	if (place->in)
		try_it(place, object, true);
	json_object_foreach(properties, name, property) {
		struct place member = *place;

		member.in = place->in ? object : place->args;
		member.name = name;
		try_schema(&member, property);
		json_object_del(member.in, name);
		for (i = 0; i < json_array_size(required); i++)
			if (strcmp(json_string_value(json_array_get(required, i)), name) == 0)
				break;
		/* It is absent now. */
		ck_assert_msg(ctl_check(place->command->args, place->args, err, sizeof(err)) ==
				      (i == json_array_size(required)),
			      "%s without %s", place->command->name, name);
		if (i < json_array_size(required))
			json_object_set_new(member.in, name, good(property));
		place->tried = member.tried;
	}
	if (!place->in) {
		json_decref(object);
		return;
	}
	json_object_set_new(object, "none", json_null());
	ck_assert(!ctl_check(place->command->args, place->args, err, sizeof(err)));
	json_object_del(object, "none");
	try_it(place, json_array(), false);
}

static void try_schema(struct place *place, const json_t *schema)
{
	const json_t *choices = json_object_get(schema, "enum");

	if (choices) {
		for (size_t i = 0; i < json_array_size(choices); i++)
			try_it(place, json_incref(json_array_get(choices, i)), true);
		try_it(place, json_string("none of them"), false);
		try_it(place, json_string(""), false);
		try_it(place, json_integer(0), false);
	} else if (is_type(schema, "integer")) {
		const int64_t min = number(schema, "minimum"), max = number(schema, "maximum");

		try_it(place, json_integer(min), true);
		try_it(place, json_integer(max), true);
		if (min > INT64_MIN)
			try_it(place, json_integer(min - 1), false);
		if (max < INT64_MAX)
			try_it(place, json_integer(max + 1), false);
		try_it(place, json_real((double)min), false);
		try_it(place, json_string("1"), false);
	} else if (is_type(schema, "boolean")) {
		try_it(place, json_true(), true);
		try_it(place, json_false(), true);
		try_it(place, json_integer(0), false);
	} else if (is_type(schema, "string")) {
		try_string(place, schema);
	} else if (is_type(schema, "array")) {
		try_list(place, schema);
	} else {
		try_object(place, schema);
	}
	/* An object's last value is none; what follows needs a good one. */
	try_it(place, json_null(), json_is_array(json_object_get(schema, "type")));
	try_it(place, good(schema), true);
}

TEST_LOOP(arguments, 0, (int)ctl_command_count)
{
	const json_t *entry = json_array_get(json_object_get(document, "commands"), (size_t)_i);
	const json_t *schema = json_object_get(entry, "arguments");
	struct place place = { .command = &ctl_commands[_i] };

	ck_assert_str_eq(place.command->name, json_string_value(json_object_get(entry, "name")));
	place.args = good(schema);
	ck_assert(ctl_check(place.command->args, place.args, err, sizeof(err)));
	try_object(&place, schema);
	ck_assert(ctl_check(place.command->args, place.args, err, sizeof(err)));
	json_object_set_new(place.args, "none", json_null());
	ck_assert(!ctl_check(place.command->args, place.args, err, sizeof(err)));
	json_decref(place.args);
	ck_assert_uint_ge(place.tried, 4 * json_object_size(json_object_get(schema, "properties")));
}

/* Names: which characters, which lengths. */
TEST(characters_of_names)
{
	static const struct ctl_member members[] = { { .name = "name", .type = CTL_NAME },
						     { .name = NULL } };
	json_t *args = json_object();

	for (unsigned int c = 1; c < 128; c++) {
		const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
				    (c >= '0' && c <= '9') || strchr("@#$_*-+:", (int)c);
		char text[9] = "AAAAAAAA";

		text[c % 8] = (char)c;
		json_object_set_new(args, "name", json_string(text));
		ck_assert_msg(ctl_check(members, args, err, sizeof(err)) == letter, "%u", c);
	}
	json_decref(args);
}

static const struct ctl_member leaf[] = {
	{ .name = "n", .type = CTL_INT, .min = -5, .max = 7 }, { .name = NULL },
};
static const struct ctl_member list[] = {
	{ .name = "list", .type = CTL_ARRAY, .max = 20, .members = leaf }, { .name = NULL },
};
static const struct ctl_member top[] = {
	{ .name = "top", .type = CTL_OBJECT, .members = list }, { .name = NULL },
};

/* The place in words; a long name is cut to the room there is. */
TEST(places_in_messages)
{
	char text[512], wanted[512];
	json_t *args = json_pack("{s:{s:[{s:i},{s:i}]}}", "top", "list", "n", -5, "n", 8);
	json_t *second = json_array_get(json_object_get(json_object_get(args, "top"), "list"), 1);

	ck_assert(!ctl_check(top, args, text, sizeof(text)));
	ck_assert_str_eq(text, "argument \"top.list[1].n\" is not an integer from -5 to 7");
	json_object_set_new(second, "n", json_integer(7));
	ck_assert(ctl_check(top, args, text, sizeof(text)));
	for (size_t len = 1; len < 300; len++) {
		char name[300] = "";

		memset(name, 'x', len);
		json_object_set_new(second, name, json_null());
		ck_assert(!ctl_check(top, args, text, sizeof(text)));
		/* 127 characters of the place in all. */
		snprintf(wanted, sizeof(wanted), "argument \"top.list[1].%.*s\" does not exist",
			 len < 115 ? (int)len : 115, name);
		ck_assert_str_eq(text, wanted);
		json_object_del(second, name);
	}
	json_decref(args);
}
