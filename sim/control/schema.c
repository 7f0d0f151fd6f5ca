/* SPDX-License-Identifier: MIT */
/* The tables of commands and events as JSON Schema. */
#include "ctl_private.h"

static const struct ctl_member no_members[] = { { .name = NULL } };

static json_t *members_schema(const struct ctl_member *members);

static json_t *string_schema(int64_t min, int64_t max)
{
	return json_pack("{s:s, s:I, s:I}", "type", "string", "minLength", (json_int_t)min,
			 "maxLength", (json_int_t)max);
}

static json_t *data_schema(const struct ctl_member *member)
{
	json_t *schema = string_schema((int64_t)CTL_BASE64_LEN(member->min),
				       (int64_t)CTL_BASE64_LEN(member->max));

	json_object_set_new(schema, "contentEncoding", json_string("base64"));
	return schema;
}

static json_t *enum_schema(const struct ctl_member *member)
{
	json_t *choices = json_array();

	for (size_t i = 0; member->choices[i]; i++)
		json_array_append_new(choices, json_string(member->choices[i]));
	return json_pack("{s:s, s:o}", "type", "string", "enum", choices);
}

static json_t *value_schema(const struct ctl_member *member);

static json_t *array_schema(const struct ctl_member *member)
{
	return json_pack("{s:s, s:I, s:I, s:o}", "type", "array", "minItems",
			 (json_int_t)member->min, "maxItems", (json_int_t)member->max, "items",
			 member->members[0].name ? members_schema(member->members) :
						   value_schema(&member->members[0]));
}

static json_t *plain_schema(const struct ctl_member *described)
{
	const struct ctl_member plain = ctl_plain(described), *member = &plain;

	switch (member->type) {
	case CTL_INT:
		return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum",
				 (json_int_t)member->min, "maximum", (json_int_t)member->max);
	case CTL_BOOL:
		return json_pack("{s:s}", "type", "boolean");
	case CTL_STRING:
		return string_schema(member->min, member->max);
	case CTL_FILE:
		return string_schema(1, CTL_MAX_FILE_NAME);
	case CTL_NAME:
		return string_schema(1, 8);
	case CTL_DATA:
		return data_schema(member);
	case CTL_ENUM:
		return enum_schema(member);
	case CTL_OBJECT:
		return member->members ? members_schema(member->members) :
					 json_pack("{s:s}", "type", "object");
	case CTL_ARRAY:
		return array_schema(member);
	case CTL_OF_INPUT:
		break;
	}
	assert(false);
	return NULL;
}

static json_t *value_schema(const struct ctl_member *member)
{
	json_t *schema = plain_schema(member);

	if (member->text)
		json_object_set_new(schema, "description", json_string(member->text));
	if (member->flags & CTL_NULLABLE)
		json_object_set_new(schema, "type",
				    json_pack("[O, s]", json_object_get(schema, "type"), "null"));
	return schema;
}

static json_t *members_schema(const struct ctl_member *members)
{
	json_t *properties = json_object(), *required = json_array();

	for (const struct ctl_member *m = members; m->name; m++) {
		json_object_set_new(properties, m->name, value_schema(m));
		if (!(m->flags & CTL_OPTIONAL))
			json_array_append_new(required, json_string(m->name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
			 "required", required, "additionalProperties", 0);
}

json_t *ctl_schema(const struct ctl_command *command, size_t count)
{
	json_t *commands = json_array(), *events = json_array();

	for (const struct ctl_command *c = command; c < command + count; c++)
		json_array_append_new(
			commands,
			json_pack("{s:s, s:s, s:o, s:o}", "name", c->name, "text", c->text,
				  "arguments", members_schema(c->args ? c->args : no_members),
				  "returns",
				  members_schema(c->returns ? c->returns : no_members)));
	for (size_t i = 0; i < ctl_event_count; i++) {
		const struct ctl_event_info *e = &ctl_events[i];

		json_array_append_new(
			events, json_pack("{s:s, s:s, s:o}", "name", e->name, "text", e->text,
					  "data", members_schema(e->data ? e->data : no_members)));
	}
	return json_pack("{s:o, s:o, s:o}", "commands", commands, "events", events, "faults",
			 ctl_fault_tables());
}
