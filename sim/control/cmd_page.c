/* SPDX-License-Identifier: MIT */
/* Commands for pages that are out. */
#include <inttypes.h>
#include <stdio.h>

#include "ctl_private.h"
#include "zvmlab/page.h"

json_t *ctl_page_out(struct ctl_call *call)
{
	if (page_out(call->cp, (uint64_t)ctl_int(call->args, "address"),
		     (uint64_t)ctl_int_or(call->args, "pages", 1),
		     ctl_bool_or(call->args, "hold", false), call->err, sizeof(call->err)) == 0)
		return json_object();
	call->error_class = "Failed";
	return NULL;
}

json_t *ctl_page_in(struct ctl_call *call)
{
	const int64_t cpu = ctl_int_or(call->args, "cpu", PAGE_ANY_CPU);
	const unsigned int cpus = cp_config_of(call->cp)->cpus;

	if (cpu != PAGE_ANY_CPU && cpu >= cpus)
		return ctl_fail(call, "Failed", "there is no CPU %d; the guest has %u", (int)cpu,
				cpus);
	return json_pack("{s:i}", "completed",
			 (int)page_in(call->cp, (uint64_t)ctl_int(call->args, "address"),
				      (uint32_t)ctl_int_or(call->args, "pages", 1),
				      (uint16_t)cpu));
}

json_t *ctl_page_release(struct ctl_call *call)
{
	const int64_t fault = ctl_int(call->args, "fault");

	if (page_release(call->cp, (uint32_t)fault))
		return json_object();
	return ctl_fail(call, "Failed", "no initial interruption of a fault %d is held; "
			"query-pages lists the faults", (int)fault);
}

json_t *ctl_page_thrash(struct ctl_call *call)
{
	page_thrash(call->cp, (uint32_t)ctl_int(call->args, "faults"),
		    (uint32_t)ctl_int(call->args, "depth"));
	return json_object();
}

static json_t *hex(uint64_t value)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, value);
	return json_string(text);
}

static json_t *handshakes_json(struct cp *cp)
{
	json_t *list = json_array();

	for (unsigned int cpu = 0; cpu < cp_config_of(cp)->cpus; cpu++) {
		const struct page_handshake *handshake = page_handshake(cp, cpu);

		if (!handshake->established)
			continue;
		json_array_append_new(list, json_pack("{s:i, s:o, s:o, s:o}", "cpu", (int)cpu,
						      "token", ctl_json_u64(handshake->token),
						      "select", hex(handshake->select), "compare",
						      hex(handshake->compare)));
	}
	return list;
}

static json_t *pages_json(struct cp *cp)
{
	json_t *list = json_array();
	const struct page_out *page;

	for (unsigned int i = 0; (page = page_at(cp, i)); i++)
		json_array_append_new(list, json_pack("{s:o, s:b, s:b}", "address",
						      ctl_json_u64(page->addr), "out", page->out,
						      "hold", page->hold));
	return list;
}

static json_t *faults_json(struct cp *cp)
{
	json_t *list = json_array();
	const struct page_fault *fault;

	for (unsigned int i = 0; (fault = page_fault_at(cp, i)); i++)
		json_array_append_new(
			list, json_pack("{s:I, s:o, s:o, s:i, s:s, s:s}", "fault",
					(json_int_t)fault->id, "address",
					ctl_json_u64(fault->addr), "token", hex(fault->token),
					"cpu", (int)fault->cpu, "initial",
					ctl_page_initial[fault->initial], "completion",
					ctl_page_completion[fault->completion]));
	return list;
}

json_t *ctl_query_pages(struct ctl_call *call)
{
	const struct page_counts *counts = page_counts(call->cp);

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "handshakes",
			 handshakes_json(call->cp), "pages", pages_json(call->cp), "faults",
			 faults_json(call->cp), "initial", ctl_json_u64(counts->initial),
			 "completion", ctl_json_u64(counts->completion), "resolved",
			 ctl_json_u64(counts->resolved), "turns",
			 (json_int_t)page_thrashing(call->cp));
}
