/* SPDX-License-Identifier: MIT */
/* Arguments, checked against the tables of table.c. */
#include <stdio.h>
#include <string.h>

#include "ctl_private.h"
#include "smaller.h"

#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@#$_*-+:"

static const struct ctl_member no_members[] = { { .name = NULL } };

/* The position of a value, for messages: "elements[3].data". */
struct place {
	const struct place *in;
	const char *name;	/* or NULL: item @index */
	size_t index;
};

static size_t put_place(const struct place *at, char *text, size_t size)
{
	size_t used = at->in ? put_place(at->in, text, size) : 0;

	if (used >= size)
		return used;
	if (!at->name)
		return used + (size_t)snprintf(text + used, size - used, "[%zu]", at->index);
	return used + (size_t)snprintf(text + used, size - used, "%s%s", at->in ? "." : "",
				       at->name);
}

struct check {
	char *err;
	size_t errlen;
};

static bool wrong(const struct check *check, const struct place *at, const char *what)
{
	char place[128];

	put_place(at, place, sizeof(place));
	snprintf(check->err, check->errlen, "argument \"%s\" %s", place, what);
	return false;
}

static bool check_members(const struct check *check, const struct ctl_member *members,
			  const json_t *value, const struct place *in);
static bool check_value(const struct check *check, const struct ctl_member *member,
			const json_t *value, const struct place *at);

static bool check_int(const struct check *check, const struct ctl_member *member,
		      const json_t *value, const struct place *at)
{
	char what[96];

	if (json_is_integer(value) && json_integer_value(value) >= member->min &&
	    json_integer_value(value) <= member->max)
		return true;
	snprintf(what, sizeof(what), "is not an integer from %lld to %lld", (long long)member->min,
		 (long long)member->max);
	return wrong(check, at, what);
}

static bool check_string(const struct check *check, const struct ctl_member *member,
			 const json_t *value, const struct place *at)
{
	const size_t min = member->type == CTL_FILE ? 1 : (size_t)member->min;
	const size_t max = member->type == CTL_FILE ? CTL_MAX_FILE_NAME : (size_t)member->max;
	char what[96];

	/* The parser refuses zero bytes, so the length is strlen(). */
	if (json_is_string(value) && json_string_length(value) >= min &&
	    json_string_length(value) <= max)
		return true;
	snprintf(what, sizeof(what), "is not a string of %zu to %zu bytes", min, max);
	return wrong(check, at, what);
}

static bool check_name(const struct check *check, const json_t *value, const struct place *at)
{
	const char *text = json_string_value(value);

	if (text && strlen(text) >= 1 && strlen(text) <= 8 &&
	    text[strspn(text, NAME_CHARACTERS)] == '\0')
		return true;
	return wrong(check, at, "is not a name of 1 to 8 characters (letters, digits, @#$_*-+:)");
}

static bool check_data(const struct check *check, const struct ctl_member *member,
		       const json_t *value, const struct place *at)
{
	int64_t size = -1;
	char what[96];

	if (json_is_string(value))
		size = ctl_base64_size(json_string_value(value), json_string_length(value));
	if (size >= member->min && size <= member->max)
		return true;
	snprintf(what, sizeof(what), "is not base64 of %lld to %lld bytes", (long long)member->min,
		 (long long)member->max);
	return wrong(check, at, what);
}

static bool check_enum(const struct check *check, const struct ctl_member *member,
		       const json_t *value, const struct place *at)
{
	const char *text = json_string_value(value);
	char what[256];
	size_t used;

	for (size_t i = 0; text && member->choices[i]; i++)
		if (strcmp(member->choices[i], text) == 0)
			return true;
	used = (size_t)snprintf(what, sizeof(what), "is none of");
	for (size_t i = 0; member->choices[i] && used < sizeof(what); i++)
		used += (size_t)snprintf(what + used, sizeof(what) - used, " %s",
					 member->choices[i]);
	return wrong(check, at, what);
}

static bool check_array(const struct check *check, const struct ctl_member *member,
			const json_t *value, const struct place *at)
{
	const size_t count = json_array_size(value);
	char what[96];

	if (!json_is_array(value) || count < (size_t)member->min || count > (size_t)member->max) {
		snprintf(what, sizeof(what), "is not a list of %lld to %lld items",
			 (long long)member->min, (long long)member->max);
		return wrong(check, at, what);
	}
	for (size_t i = 0; i < count; i++) {
		const struct place item = { .in = at, .index = i };
		const json_t *entry = json_array_get(value, i);

		if (member->members[0].name ?
			    !check_members(check, member->members, entry, &item) :
			    !check_value(check, &member->members[0], entry, &item))
			return false;
	}
	return true;
}

struct ctl_member ctl_plain(const struct ctl_member *member)
{
	struct ctl_member plain = *member;
	const struct input_member *of;

	if (member->type != CTL_OF_INPUT)
		return plain;
	of = input_member(member->input, member->offset);
	plain.min = (int64_t)of->least;
	plain.max = (int64_t)smaller(of->largest, INT64_MAX);
	if (of->type == INPUT_NUMBER || of->type == INPUT_HEX)
		plain.type = of->largest == 1 ? CTL_BOOL : CTL_INT;
	else if (of->type == INPUT_NAME || of->type == INPUT_NAME_OR_ALL)
		plain.type = CTL_NAME;
	else if (of->type == INPUT_TEXT)
		plain.type = CTL_STRING;
	else
		plain.type = CTL_DATA;
	return plain;
}

static bool check_value(const struct check *check, const struct ctl_member *described,
			const json_t *value, const struct place *at)
{
	const struct ctl_member plain = ctl_plain(described), *member = &plain;

	if (json_is_null(value) && (member->flags & CTL_NULLABLE))
		return true;
	switch (member->type) {
	case CTL_INT:
		return check_int(check, member, value, at);
	case CTL_BOOL:
		return json_is_boolean(value) || wrong(check, at, "is neither true nor false");
	case CTL_STRING:
	case CTL_FILE:
		return check_string(check, member, value, at);
	case CTL_NAME:
		return check_name(check, value, at);
	case CTL_DATA:
		return check_data(check, member, value, at);
	case CTL_ENUM:
		return check_enum(check, member, value, at);
	case CTL_OBJECT:
		return check_members(check, member->members, value, at);
	case CTL_ARRAY:
		return check_array(check, member, value, at);
	case CTL_OF_INPUT:
		break;
	}
	assert(false);
	return false;
}

static const struct ctl_member *find_member(const struct ctl_member *members, const char *name)
{
	while (members->name && strcmp(members->name, name) != 0)
		members++;
	return members->name ? members : NULL;
}

static bool check_members(const struct check *check, const struct ctl_member *members,
			  const json_t *value, const struct place *in)
{
	json_t *object = (json_t *)(uintptr_t)value;	/* jansson's iterators are not const */
	const char *key;
	json_t *entry;

	if (!json_is_object(value))
		return wrong(check, in, "is not an object");
	if (!members)
		return true;
	json_object_foreach(object, key, entry) {
		const struct place at = { .in = in, .name = key };
		const struct ctl_member *member = find_member(members, key);

		if (!member)
			return wrong(check, &at, "does not exist");
		if (!check_value(check, member, entry, &at))
			return false;
	}
	for (const struct ctl_member *member = members; member->name; member++) {
		const struct place at = { .in = in, .name = member->name };

		if (!(member->flags & CTL_OPTIONAL) && !json_object_get(value, member->name))
			return wrong(check, &at, "is missing");
	}
	return true;
}

bool ctl_check(const struct ctl_member *members, const json_t *args, char *err, size_t errlen)
{
	const struct check check = { .err = err, .errlen = errlen };

	if (!json_is_object(args)) {
		snprintf(err, errlen, "\"arguments\" is not an object");
		return false;
	}
	return check_members(&check, members ? members : no_members, args, NULL);
}
