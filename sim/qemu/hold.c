/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Holding a CPU at a function of the guest's kernel: the CPU that reaches the function's entry, or
 * the return of one call, stops there, in front of the instruction, until it is released.  The
 * other CPUs, the clocks and CP go on.
 *
 * The translation of an instruction at which a CPU may have to stop calls a helper first; all
 * others are as ever.  So only what was translated of that instruction before is thrown away when
 * a hold begins, and when the CPU that it has released has gone past the instruction.  A return is
 * where the call of the function comes back to, with the stack as it was: the task may have moved to
 * another CPU meanwhile.
 *
 * A CPU that is held is like one that is halted and has nothing to do, so QEMU can stop and
 * reset the machine as usual.  A reset and a restored state end all holds.
 *
 * With -icount the clock jumps over time that all CPUs wait.  While one is held, it does so no faster than
 * the host's goes: half a minute would be over in a moment, and the kernel report a stall.
 *
 * Properties: "hold" is set to {id, address, return, cpu, nth} to begin one, cpu -1 being any, and
 * gives the state of all; "release" is set to the id.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "exec/helper-proto.h"
#include "hw/s390x/zvmlab.h"
#include "qapi/error.h"
#include "qapi/visitor.h"
#include "qemu/main-loop.h"
#include "s390x-internal.h"

#define HOLDS_MAX 16u
#define ANY_CPU -1
/* Of the general registers, by Linux' calling conventions. */
#define RETURN_ADDRESS 14
#define STACK 15

enum step { FREE, TO_ENTRY, TO_RETURN, HELD, RELEASED, STEPS };

/* What is asked for no more has no name. */
static const char *const step_names[STEPS] = {
	[TO_ENTRY] = "armed", [TO_RETURN] = "entered", [HELD] = "held",
};

/* The place is read by translating CPUs, all else with the BQL held. */
static struct hold {
	enum step step;
	int64_t id;
	uint64_t place;		/* the instruction that it is about; 0: none */
	ram_addr_t code;	/* and where that is in storage */
	bool on_return;
	int64_t wanted;		/* CPU, or ANY_CPU */
	uint64_t nth, reached;
	uint64_t stack;		/* of the call that is to return, or that is held */
	unsigned int cpu;	/* which is held */
} holds[HOLDS_MAX];

/* How many have a place; most of the time, translating does not look at them. */
static unsigned int places;

bool zvmlab_may_stop_at(uint64_t place)
{
	if (qatomic_read(&places) == 0)
		return false;
	for (unsigned int i = 0; i < HOLDS_MAX; i++)
		if (qatomic_read(&holds[i].place) == place && place != 0)
			return true;
	return false;
}

/* Of the instruction there, nothing that is translated may stay. */
static void outdate(ram_addr_t code)
{
	tb_invalidate_phys_range(first_cpu, code, code + 1);
}

/* False if the kernel has no storage there.  On that CPU's own thread. */
static bool find_code(CPUS390XState *env, uint64_t address, ram_addr_t *code)
{
	const MachineState *ms = MACHINE(qdev_get_machine());
	target_ulong real;
	uint64_t tec;
	int flags;

	/* In the home space Linux has its kernel. */
	if (mmu_translate(env, address, MMU_DATA_LOAD, PSW_ASC_HOME, &real, &flags, &tec) != 0 ||
	    real >= memory_region_size(ms->ram))
		return false;
	*code = memory_region_get_ram_addr(ms->ram) + real + address % CP_PAGE_SIZE;
	return true;
}

static void wait_for(struct hold *hold, uint64_t place, ram_addr_t code)
{
	hold->code = code;
	qatomic_set(&hold->place, place);
	qatomic_inc(&places);
	/* After that: who translates the page at the moment has it locked, and is waited for. */
	outdate(code);
}

static void wait_for_nothing(struct hold *hold)
{
	if (qatomic_xchg(&hold->place, 0) == 0)
		return;
	qatomic_dec(&places);
	outdate(hold->code);
}

static bool is_asked_for(const struct hold *hold)
{
	return step_names[hold->step] != NULL;
}

static void end_hold(struct hold *hold)
{
	wait_for_nothing(hold);
	*hold = (struct hold){ .step = FREE };
}

/* Has this CPU come to where @hold is to stop it?  The entry of the right call may lead to its return. */
static bool is_due(struct hold *hold, CPUS390XState *env)
{
	const bool wanted = hold->wanted == ANY_CPU || hold->wanted == env->core_id;
	ram_addr_t code;

	if (hold->step == TO_RETURN)
		return env->regs[STACK] == hold->stack;
	if (hold->step != TO_ENTRY || !wanted || ++hold->reached < hold->nth)
		return false;
	hold->stack = env->regs[STACK];
	if (!hold->on_return)
		return true;
	hold->step = TO_RETURN;
	wait_for_nothing(hold);
	if (find_code(env, env->regs[RETURN_ADDRESS], &code))
		wait_for(hold, env->regs[RETURN_ADDRESS], code);
	return false;
}

/* Does a call go on that has been held at @place?  It is the task's, on whichever CPU. */
static bool goes_on(uint64_t place, uint64_t stack)
{
	bool known = false;

	for (unsigned int i = 0; i < HOLDS_MAX; i++)
		if (holds[i].step == RELEASED && holds[i].place == place &&
		    holds[i].stack == stack) {
			end_hold(&holds[i]);
			known = true;
		}
	return known;
}

static bool is_to_stop(CPUS390XState *env, uint64_t place)
{
	bool stops = false;

	/* What others wait for has counted this call already. */
	if (goes_on(place, env->regs[STACK]))
		return false;
	for (unsigned int i = 0; i < HOLDS_MAX; i++) {
		struct hold *hold = &holds[i];

		if (hold->place != place || !is_due(hold, env))
			continue;
		hold->step = HELD;
		hold->cpu = env->core_id;
		stops = true;
	}
	return stops;
}

/* In front of the instruction at @place. */
void HELPER(zvmlab_hold)(CPUS390XState *env, uint64_t place)
{
	CPUState *cs = env_cpu(env);
	bool stops;

	/* A program may have its own code at that address. */
	if (env->psw.mask & PSW_MASK_PSTATE)
		return;
	bql_lock();
	stops = is_to_stop(env, place);
	if (stops) {
		qatomic_set(&zvmlab_cp->stopped[env->core_id], true);
		/* Before anybody can release it, or it would sleep until an interruption. */
		cs->halted = 1;
	}
	bql_unlock();
	if (!stops)
		return;
	cs->exception_index = EXCP_HALTED;
	cpu_loop_exit_restore(cs, GETPC());
}

static bool is_any_stopped(void)
{
	const ZvmlabCp *s = zvmlab_cp;

	for (unsigned int cpu = 0; s && cpu < s->port.config.cpus; cpu++)
		if (qatomic_read(&s->stopped[cpu]))
			return true;
	return false;
}

/* Whoever lets the clock jump looks whenever the main loop has woken. */
static void wake_main_loop(void *unused)
{
}

bool zvmlab_may_jump(int64_t ns)
{
	static QEMUTimer *timer;
	static int64_t since;
	const int64_t now = qemu_clock_get_ns(QEMU_CLOCK_REALTIME);

	if (!is_any_stopped()) {
		since = 0;
		return true;
	}
	if (since == 0)
		since = now;
	if (now - since >= ns) {
		since = now;
		return true;
	}
	if (!timer)
		timer = timer_new_ns(QEMU_CLOCK_REALTIME, wake_main_loop, NULL);
	timer_mod_ns(timer, since + ns);
	return false;
}

static bool is_held(unsigned int cpu)
{
	for (unsigned int i = 0; i < HOLDS_MAX; i++)
		if (holds[i].step == HELD && holds[i].cpu == cpu)
			return true;
	return false;
}

static void let_go(ZvmlabCp *s, unsigned int cpu)
{
	S390CPU *target = s390_cpu_addr2state(cpu);
	CPUState *cs = CPU(target);

	if (!qatomic_read(&s->stopped[cpu]) || is_held(cpu))
		return;
	qatomic_set(&s->stopped[cpu], false);
	if (s390_cpu_get_state(target) == S390_CPU_STATE_OPERATING)
		cs->halted = 0;
	qemu_cpu_kick(cs);
}

static void release(ZvmlabCp *s, struct hold *hold)
{
	if (hold->step == HELD) {
		hold->step = RELEASED;
		let_go(s, hold->cpu);
	} else {
		end_hold(hold);
	}
}

/* What they were about is no more. */
void zvmlab_end_holds(ZvmlabCp *s)
{
	for (unsigned int i = 0; i < HOLDS_MAX; i++)
		if (holds[i].step != FREE)
			end_hold(&holds[i]);
	for (unsigned int cpu = 0; cpu < CP_MAX_CPUS; cpu++)
		let_go(s, cpu);
}

void zvmlab_cpu_is_reset(ZvmlabCp *s, unsigned int cpu)
{
	for (unsigned int i = 0; i < HOLDS_MAX; i++)
		if ((holds[i].step == HELD || holds[i].step == RELEASED) && holds[i].cpu == cpu)
			end_hold(&holds[i]);
	let_go(s, cpu);
}

static struct hold *find_hold(int64_t id)
{
	for (unsigned int i = 0; i < HOLDS_MAX; i++)
		if (is_asked_for(&holds[i]) && holds[i].id == id)
			return &holds[i];
	return NULL;
}

static struct hold *find_free(void)
{
	for (unsigned int i = 0; i < HOLDS_MAX; i++)
		if (holds[i].step == FREE)
			return &holds[i];
	return NULL;
}

/* On a CPU's own thread, for whoever waits for it. */
struct code_wanted {
	uint64_t address;
	ram_addr_t code;
	bool found;
};

static void look_for_code(CPUState *cs, run_on_cpu_data data)
{
	struct code_wanted *wanted = data.host_ptr;

	wanted->found = find_code(&S390_CPU(cs)->env, wanted->address, &wanted->code);
}

static bool check_hold(const ZvmlabCp *s, const struct hold *asked, Error **errp)
{
	const unsigned int cpus = s->port.config.cpus;

	if (cpus == 1)
		error_setg(errp, "zvmlab-cp: the guest has one CPU, and nothing would run while it"
			   " is held");
	else if (asked->wanted < ANY_CPU || asked->wanted >= cpus)
		error_setg(errp, "zvmlab-cp: there is no CPU %" PRId64 " (0 to %u, or -1 for any)",
			   asked->wanted, cpus - 1);
	else if (asked->id < 1 || find_hold(asked->id))
		error_setg(errp, "zvmlab-cp: invalid id of a hold: %" PRId64 " (a positive number"
			   " that no other one has)", asked->id);
	else if (asked->nth < 1)
		error_setg(errp, "zvmlab-cp: a hold is for the first call or a later one");
	else if (!find_free())
		error_setg(errp, "zvmlab-cp: there are %u holds already", HOLDS_MAX);
	else
		return true;
	return false;
}

static bool visit_hold(Visitor *v, const char *name, struct hold *hold, uint64_t *address,
		       Error **errp)
{
	if (!visit_start_struct(v, name, NULL, 0, errp))
		return false;
	const bool read = visit_type_int(v, "id", &hold->id, errp) &&
			  visit_type_uint64(v, "address", address, errp) &&
			  visit_type_bool(v, "return", &hold->on_return, errp) &&
			  visit_type_int(v, "cpu", &hold->wanted, errp) &&
			  visit_type_uint64(v, "nth", &hold->nth, errp) &&
			  visit_check_struct(v, errp);
	visit_end_struct(v, NULL);
	return read;
}

static void set_hold(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	struct code_wanted wanted = { 0 };
	struct hold asked = { 0 }, *hold;
	ZvmlabCp *s = ZVMLAB_CP(obj);

	if (!visit_hold(v, name, &asked, &wanted.address, errp))
		return;
	if (zvmlab_cp != s) {
		error_setg(errp, "zvmlab-cp: the machine is not complete");
		return;
	}
	if (!check_hold(s, &asked, errp))
		return;
	run_on_cpu(first_cpu, look_for_code, RUN_ON_CPU_HOST_PTR(&wanted));
	if (wanted.address % 2 != 0 || !wanted.found) {
		error_setg(errp, "zvmlab-cp: the kernel has no instruction at 0x%" PRIx64,
			   wanted.address);
		return;
	}
	/* Waiting for the CPU has let others in. */
	hold = find_free();
	if (!hold || find_hold(asked.id)) {
		error_setg(errp, "zvmlab-cp: another hold was faster");
		return;
	}
	*hold = asked;
	hold->step = TO_ENTRY;
	wait_for(hold, wanted.address, wanted.code);
}

static bool visit_state(Visitor *v, const struct hold *hold, Error **errp)
{
	int64_t id = hold->id, cpu = hold->step == HELD ? hold->cpu : ANY_CPU;
	char *step = (char *)step_names[hold->step];
	uint64_t reached = hold->reached;

	if (!visit_start_struct(v, NULL, NULL, 0, errp))
		return false;
	const bool told = visit_type_int(v, "id", &id, errp) &&
			  visit_type_str(v, "state", &step, errp) &&
			  visit_type_int(v, "cpu", &cpu, errp) &&
			  visit_type_uint64(v, "reached", &reached, errp);
	visit_end_struct(v, NULL);
	return told;
}

static void get_holds(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	bool told = true;

	if (!visit_start_list(v, name, NULL, 0, errp))
		return;
	for (unsigned int i = 0; told && i < HOLDS_MAX; i++)
		if (is_asked_for(&holds[i]))
			told = visit_state(v, &holds[i], errp);
	visit_end_list(v, NULL);
}

static void set_release(Object *obj, Visitor *v, const char *name, void *opaque, Error **errp)
{
	ZvmlabCp *s = ZVMLAB_CP(obj);
	struct hold *hold;
	int64_t id;

	if (!visit_type_int(v, name, &id, errp))
		return;
	hold = find_hold(id);
	if (!hold)
		error_setg(errp, "zvmlab-cp: there is no hold %" PRId64, id);
	else
		release(s, hold);
}

void zvmlab_add_holds(ObjectClass *oc)
{
	object_class_property_add(oc, "hold", "hold", get_holds, set_hold, NULL, NULL);
	object_class_property_add(oc, "release", "int", NULL, set_release, NULL, NULL);
}
