/* SPDX-License-Identifier: MIT */
/* Commands for the machine itself, which the port carries out. */
#include "ctl_private.h"
#include "ctl_machine.h"

void ctl_set_machine(struct ctl *ctl, const struct ctl_machine *machine, void *opaque)
{
	ctl->machine = machine;
	ctl->machine_opaque = opaque;
}

static json_t *no_machine(struct ctl_call *call)
{
	return ctl_fail(call, "Failed", "this control socket is not the emulator's own: ask the "
			"emulator by its monitor");
}

static json_t *answer(struct ctl_call *call, int result)
{
	if (result == 0)
		return json_object();
	call->error_class = "Failed";
	return NULL;
}

json_t *ctl_machine_pause(struct ctl_call *call)
{
	const struct ctl *ctl = call->ctl;

	if (!ctl->machine)
		return no_machine(call);
	return answer(call, ctl->machine->pause(ctl->machine_opaque, call->err, sizeof(call->err)));
}

json_t *ctl_machine_continue(struct ctl_call *call)
{
	const struct ctl *ctl = call->ctl;

	if (!ctl->machine)
		return no_machine(call);
	return answer(call, ctl->machine->go_on(ctl->machine_opaque, call->err, sizeof(call->err)));
}

json_t *ctl_machine_restore(struct ctl_call *call)
{
	const struct ctl *ctl = call->ctl;
	int result;

	if (!ctl->machine)
		return no_machine(call);
	result = ctl->machine->restore(ctl->machine_opaque, ctl_string(call->args, "file"), call->err,
				       sizeof(call->err));
	if (result == 0 && ctl_bool_or(call->args, "continue", false))
		result = ctl->machine->go_on(ctl->machine_opaque, call->err, sizeof(call->err));
	return answer(call, result);
}

json_t *ctl_machine_pass(struct ctl_call *call)
{
	const struct ctl *ctl = call->ctl;

	if (!ctl->machine)
		return no_machine(call);
	return answer(call, ctl->machine->pass(ctl->machine_opaque,
					       (uint64_t)ctl_int(call->args, "ns"), call->err,
					       sizeof(call->err)));
}

json_t *ctl_query_machine(struct ctl_call *call)
{
	const struct ctl *ctl = call->ctl;

	if (!ctl->machine)
		return json_pack("{s:b}", "asked", false);
	return json_pack("{s:b, s:b, s:o}", "asked", true, "runs",
			 ctl->machine->runs(ctl->machine_opaque), "pass",
			 ctl_json_u64(ctl->machine->left(ctl->machine_opaque)));
}
