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
		.path = (int32_t)ctl_int(args, "path", FAULT_ANY_PATH),
		.when = when ? (enum fault_when)ctl_index(ctl_when, when) : FAULT_ALWAYS,
		.n = (uint32_t)ctl_int(args, "n", 0),
		.times = (uint32_t)ctl_int(args, "times", 0),
		/* The list leaves out FAULT_NONE. */
		.kind = (enum fault_kind)(ctl_index(ctl_fault_kinds, ctl_string(args, "kind")) + 1),
		.value = (uint32_t)ctl_int(args, "value", 0),
		.offset = (uint32_t)ctl_int(args, "offset", 0),
	};
	int id;

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
	const int id = (int)ctl_int(call->args, "rule", 0);
	const int count = fault_disarm(call->cp, id);

	if (id != 0 && count == 0)
		return ctl_fail(call, "Failed", "no fault rule %d is armed; query-faults lists them",
				id);
	return json_pack("{s:i}", "disarmed", count);
}

json_t *ctl_query_faults(struct ctl_call *call)
{
	json_t *rules = json_array();
	struct fault_status s;

	for (unsigned int i = 0; fault_status(call->cp, i, &s); i++) {
		json_t *rule = json_pack(
			"{s:i, s:s, s:s, s:I, s:I, s:s, s:s, s:I, s:I, s:I, s:I}", "rule", s.id,
			"point", fault_point_info[s.rule.point].name, "kind",
			fault_kind_name(s.rule.kind), "value", (json_int_t)s.rule.value, "offset",
			(json_int_t)s.rule.offset, "name", s.rule.name, "when",
			ctl_when[s.rule.when], "n", (json_int_t)s.rule.n, "times",
			(json_int_t)s.rule.times, "matched", (json_int_t)s.matched, "fired",
			(json_int_t)s.fired);

		if (s.rule.path != FAULT_ANY_PATH)
			json_object_set_new(rule, "path", json_integer(s.rule.path));
		json_array_append_new(rules, rule);
	}
	return json_pack("{s:o}", "rules", rules);
}

json_t *ctl_query_fault_points(struct ctl_call *call)
{
	json_t *points = json_array();

	for (unsigned int point = 0; point < FAULT_POINTS; point++) {
		const struct fault_point_info *info = &fault_point_info[point];
		json_t *kinds = json_array();

		for (unsigned int kind = FAULT_CC; kind < FAULT_KINDS; kind++)
			if (info->kinds & FAULT_BIT(kind))
				json_array_append_new(
					kinds, json_string(fault_kind_name((enum fault_kind)kind)));
		json_array_append_new(
			points, json_pack("{s:s, s:s, s:o, s:o}", "point", info->name, "text",
					  info->text, "kinds", kinds, "reached",
					  ctl_json_u64(fault_reached(call->cp,
								     (enum fault_point)point))));
	}
	return json_pack("{s:o}", "points", points);
}
