/* SPDX-License-Identifier: MIT */
/* Commands for fault injection. */
#include "ctl_private.h"
#include "zvmlab/fault.h"

json_t *ctl_fault_arm(struct ctl_call *call)
{
	const json_t *args = call->args;
	const char *when = ctl_string(args, "when");
	struct fault_rule rule = {
		.point = (enum fault_point)ctl_index(ctl_fault_points, ctl_string(args, "point")),
		.path = (int32_t)ctl_int_or(args, "path", FAULT_ANY_PATH),
		.type = (uint8_t)ctl_int_or(args, "type", 0),
		.when = when ? (enum fault_when)ctl_index(ctl_when, when) : FAULT_ALWAYS,
		.n = (uint32_t)ctl_int_or(args, "n", 0),
		.times = (uint32_t)ctl_int_or(args, "times", 0),
		/* The list leaves out FAULT_NONE. */
		.kind = (enum fault_kind)(ctl_index(ctl_fault_kinds, ctl_string(args, "kind")) + 1),
		.value = (uint32_t)ctl_int_or(args, "value", 0),
		.offset = (uint32_t)ctl_int_or(args, "offset", 0),
	};
	int id;

	ctl_name(args, "user", rule.user);
	ctl_name(args, "name", rule.name);
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

static json_t *rule_json(const struct fault_status *s)
{
	const struct fault_rule *r = &s->rule;
	json_t *rule = json_pack(
		"{s:i, s:s, s:s, s:I, s:I, s:s, s:s, s:i, s:s, s:I, s:I, s:I, s:I}", "rule", s->id,
		"point", fault_point_info[r->point].name, "kind", fault_kind_info[r->kind].name,
		"value", (json_int_t)r->value, "offset", (json_int_t)r->offset, "user", r->user,
		"name", r->name, "type", r->type, "when", ctl_when[r->when], "n", (json_int_t)r->n,
		"times", (json_int_t)r->times, "matched", (json_int_t)s->matched, "fired",
		(json_int_t)s->fired);

	if (r->path != FAULT_ANY_PATH)
		json_object_set_new(rule, "path", json_integer(r->path));
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

static json_t *point_json(const struct cp *cp, enum fault_point point)
{
	const struct fault_point_info *info = &fault_point_info[point];
	json_t *kinds = json_array(), *values = json_array();

	for (enum fault_kind kind = FAULT_NONE + 1; kind < FAULT_KINDS; kind++) {
		if (!(info->kinds & FAULT_BIT(kind)))
			continue;
		json_array_append_new(kinds, json_string(fault_kind_info[kind].name));
		json_array_append_new(
			values, json_pack("{s:s, s:I, s:I}", "kind", fault_kind_info[kind].name,
					  "min", (json_int_t)fault_kind_info[kind].min, "max",
					  (json_int_t)fault_value_max(point, kind)));
	}
	return json_pack("{s:s, s:s, s:o, s:o, s:o}", "point", info->name, "text", info->text,
			 "kinds", kinds, "values", values, "reached",
			 ctl_json_u64(fault_reached(cp, point)));
}

json_t *ctl_query_fault_points(struct ctl_call *call)
{
	json_t *points = json_array(), *kinds = json_array();

	for (enum fault_point point = 0; point < FAULT_POINTS; point++)
		json_array_append_new(points, point_json(call->cp, point));
	for (enum fault_kind kind = FAULT_NONE + 1; kind < FAULT_KINDS; kind++)
		json_array_append_new(kinds,
				      json_pack("{s:s, s:s}", "kind", fault_kind_info[kind].name,
						"text", fault_kind_info[kind].text));
	return json_pack("{s:o, s:o}", "points", points, "kinds", kinds);
}
