/* SPDX-License-Identifier: MIT */
/* Commands for fault injection. */
#include "ctl_private.h"
#include "zvmlab/fault.h"

/* Take an argument, which was checked against table.c: that has the same fields. */
static void take_field(const json_t *args, struct fault_rule *rule, enum fault_field field)
{
	const char *name = fault_field_info[field].name;
	const char *word = ctl_string(args, name);
	uint32_t number = 0;

	if (!json_object_get(args, name))
		return;
	switch (fault_field_info[field].type) {
	case FAULT_TYPE_NAME:
		ctl_name(args, name, fault_name(rule, field));
		return;
	case FAULT_TYPE_POINT:
		number = ctl_index(ctl_fault_points, word);
		break;
	case FAULT_TYPE_KIND:
		/* The list leaves out FAULT_NONE. */
		number = ctl_index(ctl_fault_kinds, word) + 1;
		break;
	case FAULT_TYPE_WHEN:
		number = ctl_index(ctl_when, word);
		break;
	case FAULT_TYPE_NUMBER:
	case FAULT_TYPE_BYTE:
	case FAULT_TYPE_PATH:
		number = (uint32_t)ctl_int(args, name);
		break;
	}
	fault_set_number(rule, field, number);
}

json_t *ctl_fault_arm(struct ctl_call *call)
{
	struct fault_rule rule = fault_rule_new();
	int id;

	for (enum fault_field i = 0; i < FAULT_FIELDS; i++)
		take_field(call->args, &rule, i);
	id = fault_arm(call->cp, &rule, call->err, sizeof(call->err));
	if (id < 0) {
		call->error_class = "Failed";
		return NULL;
	}
	return json_pack("{s:i}", "rule", id);
}

json_t *ctl_fault_disarm(struct ctl_call *call)
{
	const int id = (int)ctl_int_or(call->args, "rule", 0);
	const int count = fault_disarm(call->cp, id);

	if (id != 0 && count == 0)
		return ctl_fail(call, "Failed", "no fault rule %d is armed; query-faults lists them",
				id);
	return json_pack("{s:i}", "disarmed", count);
}

static json_t *field_json(struct fault_rule *rule, enum fault_field field)
{
	switch (fault_field_info[field].type) {
	case FAULT_TYPE_NAME:
		return json_string(fault_name(rule, field));
	case FAULT_TYPE_POINT:
		return json_string(fault_point_info[rule->point].name);
	case FAULT_TYPE_KIND:
		return json_string(fault_kind_info[rule->kind].name);
	case FAULT_TYPE_WHEN:
		return json_string(ctl_when[fault_number(rule, field)]);
	case FAULT_TYPE_PATH:
		/* No id stands for any path. */
		return fault_absent(rule, field) ? NULL : json_integer(fault_number(rule, field));
	case FAULT_TYPE_NUMBER:
	case FAULT_TYPE_BYTE:
		break;
	}
	return json_integer(fault_number(rule, field));
}

static json_t *rule_json(struct fault_status *s)
{
	json_t *rule = json_pack("{s:i, s:I, s:I}", "rule", s->id, "matched",
				 (json_int_t)s->matched, "fired", (json_int_t)s->fired);

	for (enum fault_field i = 0; i < FAULT_FIELDS; i++) {
		json_t *value = field_json(&s->rule, i);

		if (value)
			json_object_set_new(rule, fault_field_info[i].name, value);
	}
	return rule;
}

json_t *ctl_query_faults(struct ctl_call *call)
{
	json_t *rules = json_array();
	struct fault_status s;

	for (unsigned int i = 0; fault_status(call->cp, i, &s); i++)
		json_array_append_new(rules, rule_json(&s));
	return json_pack("{s:o}", "rules", rules);
}

static json_t *value_json(enum fault_point point, enum fault_kind kind)
{
	const struct fault_kind_info *info = &fault_kind_info[kind];
	const uint32_t offset = kind == FAULT_CORRUPT ? fault_offset_max(point) : 0;

	return json_pack("{s:s, s:I, s:I, s:I}", "kind", info->name, "min", (json_int_t)info->min,
			 "max", (json_int_t)fault_value_max(point, kind), "offset-max",
			 (json_int_t)offset);
}

static json_t *point_json(enum fault_point point)
{
	const struct fault_point_info *info = &fault_point_info[point];
	json_t *kinds = json_array(), *values = json_array();

	for (enum fault_kind kind = FAULT_NONE + 1; kind < FAULT_KINDS; kind++) {
		if (!(info->kinds & FAULT_BIT(kind)))
			continue;
		json_array_append_new(kinds, json_string(fault_kind_info[kind].name));
		json_array_append_new(values, value_json(point, kind));
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "point", info->name, "text", info->text, "kinds",
			 kinds, "values", values);
}

static json_t *kind_json(enum fault_kind kind)
{
	const struct fault_kind_info *info = &fault_kind_info[kind];

	return json_pack("{s:s, s:s, s:I, s:I}", "kind", info->name, "text", info->text, "min",
			 (json_int_t)info->min, "max", (json_int_t)info->max);
}

static json_t *field_info_json(enum fault_field field)
{
	const struct fault_field_info *info = &fault_field_info[field];
	json_t *words = json_pack("{s:s, s:s, s:s, s:b, s:I, s:I}", "field", info->name, "text",
				  info->text, "type", ctl_fault_types[info->type], "filter",
				  info->filter, "min", (json_int_t)info->least, "max",
				  (json_int_t)info->most);

	if (info->only != FAULT_POINTS)
		json_object_set_new(words, "only", json_string(fault_point_info[info->only].name));
	return words;
}

json_t *ctl_fault_tables(void)
{
	json_t *points = json_array(), *kinds = json_array(), *fields = json_array();

	for (enum fault_point point = 0; point < FAULT_POINTS; point++)
		json_array_append_new(points, point_json(point));
	for (enum fault_kind kind = FAULT_NONE + 1; kind < FAULT_KINDS; kind++)
		json_array_append_new(kinds, kind_json(kind));
	for (enum fault_field field = 0; field < FAULT_FIELDS; field++)
		json_array_append_new(fields, field_info_json(field));
	return json_pack("{s:o, s:o, s:o}", "points", points, "kinds", kinds, "fields", fields);
}

json_t *ctl_query_fault_points(struct ctl_call *call)
{
	json_t *tables = ctl_fault_tables();
	json_t *points = json_object_get(tables, "points");

	for (enum fault_point point = 0; point < FAULT_POINTS; point++)
		json_object_set_new(json_array_get(points, point), "reached",
				    ctl_json_u64(fault_reached(call->cp, point)));
	return tables;
}
