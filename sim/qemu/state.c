/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine with a CP consists of beside what QEMU saves by itself: the CP, and what
 * QEMU forgets of a machine that it interprets.  It is a section of QEMU's own stream, so it
 * travels with savevm and migration as well as with a checkpoint:
 *
 *     4       number of CPUs; for each of them
 *       1       condition code
 *       1       the CPU timer's end is still to come
 *       4       pending interruptions, the bits of env->pending_int
 *       2       the CPU that has made the external call
 *       31      CPUs that have sent an emergency signal, a bit each
 *     1       a service signal is pending
 *     4       its parameter
 *     1       the guest has used storage keys
 *     1       the CP has seen the guest's load
 *     1       a disabled wait has been reported
 *     8       length of the CP's image (cp_save), which follows; 0: its system has that
 *
 * All of it is checked before any of it is used.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "exec/helper-proto.h"
#include "hw/s390x/s390_flic.h"
#include "hw/s390x/storage-keys.h"
#include "migration/qemu-file.h"
#include "migration/register.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "s390x-internal.h"
#include "tcg/tcg_s390x.h"
#include "zvmlab/state.h"

#define SIGNAL_BYTES (S390_MAX_CPUS / 8)
/* The image is read in such parts: a length that is not true costs no more than what is there. */
#define PART 65536u
/* What a CPU of this port may have pending; the rest is QEMU's for other accelerators. */
#define PENDING_BITS (INTERRUPT_EXT_CLOCK_COMPARATOR | INTERRUPT_EXT_CPU_TIMER | \
		      INTERRUPT_EXTERNAL_CALL | INTERRUPT_EMERGENCY_SIGNAL | \
		      INTERRUPT_RESTART | INTERRUPT_STOP | INTERRUPT_EXT_IUCV | \
		      INTERRUPT_EXT_CP)

struct saved_cpu {
	uint8_t cc, timer;
	uint32_t pending;
	uint16_t caller;
	uint8_t signals[SIGNAL_BYTES];
};

struct saved {
	unsigned int cpus;
	struct saved_cpu cpu[S390_MAX_CPUS];
	uint8_t service, keys, ipled, wait_told;
	uint32_t service_param;
	GByteArray *image;
};

static QEMUS390FLICState *flic(void)
{
	return s390_get_qemu_flic(s390_get_flic());
}

static QEMUS390SKeysState *keys_device(void)
{
	return QEMU_S390_SKEYS(s390_get_skeys_device());
}

const char *zvmlab_state_refused(const ZvmlabCp *s)
{
	if (s->lockstep)
		return "a client and the machine take turns (lockstep)";
	if (flic()->pending & ~FLIC_PENDING_SERVICE)
		return "an interruption of a device is pending";
	for (unsigned int i = 0; i < s->port.config.cpus; i++)
		if (qatomic_read(&s->stopped[i]))
			return "a CPU is held at a function";
	/* Which is CP's to say, and CP comes back after the machine. */
	for (unsigned int i = 0; s->port.system_path && i < s->port.config.cpus; i++)
		if (qatomic_read(&s->held[i]))
			return "a CPU waits for a page";
	return NULL;
}

static void nothing(CPUState *cs, run_on_cpu_data data)
{
}

/* What a CPU's thread has still to do is of the instruction that it has just executed. */
void zvmlab_state_settle(void)
{
	CPUState *cs;

	CPU_FOREACH(cs) {
		run_on_cpu(cs, nothing, RUN_ON_CPU_NULL);
	}
}

static void put_cpu(QEMUFile *f, CPUS390XState *env)
{
	uint8_t signals[SIGNAL_BYTES] = { 0 };

	qemu_put_byte(f, extract64(s390_cpu_get_psw_mask(env), 44, 2));
	qemu_put_byte(f, timer_pending(env->cpu_timer));
	/* Whether the clock comparator's is pending follows from the clock when the CPU goes on. */
	qemu_put_be32(f, env->pending_int & PENDING_BITS & ~INTERRUPT_EXT_CLOCK_COMPARATOR);
	qemu_put_be16(f, env->external_call_addr);
	for (unsigned int i = 0; i < S390_MAX_CPUS; i++)
		if (test_bit(i, env->emergency_signals))
			signals[i / 8] |= 1 << i % 8;
	qemu_put_buffer(f, signals, sizeof(signals));
}

static void save_state(QEMUFile *f, void *opaque)
{
	ZvmlabCp *s = opaque;
	const char *refused = zvmlab_state_refused(s);
	const unsigned int cpus = s->port.config.cpus;
	uint8_t *image = NULL;
	size_t len = 0;

	/* Of a member the process saves it, with that of all others. */
	if (!refused && !s->port.system_path)
		image = s->port.calls->save(&s->port, &len);
	if (refused || (!image && !s->port.system_path)) {
		error_report("zvmlab-cp: the machine cannot be saved now: %s",
			     refused ? refused : "there is not enough memory");
		qemu_file_set_error(f, -EBUSY);
		return;
	}
	qemu_put_be32(f, cpus);
	for (unsigned int i = 0; i < cpus; i++)
		put_cpu(f, &s390_cpu_addr2state(i)->env);
	qemu_put_byte(f, qemu_s390_flic_has_service(flic()));
	qemu_put_be32(f, flic()->service_param);
	qemu_put_byte(f, keys_device()->keydata != NULL);
	qemu_put_byte(f, s->ipled);
	qemu_put_byte(f, s->wait_told);
	qemu_put_be64(f, len);
	qemu_put_buffer(f, image, len);
	free(image);
}

static void get_cpu(QEMUFile *f, struct saved_cpu *c)
{
	c->cc = qemu_get_byte(f);
	c->timer = qemu_get_byte(f);
	c->pending = qemu_get_be32(f);
	c->caller = qemu_get_be16(f);
	qemu_get_buffer(f, c->signals, sizeof(c->signals));
}

static void get_image(QEMUFile *f, GByteArray *image)
{
	uint64_t left = qemu_get_be64(f);

	while (left > 0 && qemu_file_get_error(f) == 0) {
		const size_t part = MIN(left, PART);

		g_byte_array_set_size(image, image->len + part);
		qemu_get_buffer(f, image->data + image->len - part, part);
		left -= part;
		if (image->len > UINT32_MAX / 4)
			qemu_file_set_error(f, -EFBIG);
	}
}

/* What SET FPC would refuse (PoP, ch. 9): reserved bits, rounding modes 4 to 6. */
static bool fpc_valid(uint32_t fpc)
{
	const unsigned int mode = fpc & 7;

	return (fpc & 0x03030088) == 0 && (mode < 4 || mode == 7);
}

static bool cpu_valid(const struct saved *saved, const struct saved_cpu *c)
{
	for (unsigned int i = saved->cpus; i < S390_MAX_CPUS; i++)
		if (c->signals[i / 8] >> i % 8 & 1)
			return false;
	return c->cc <= 3 && c->timer <= 1 && (c->pending & ~PENDING_BITS) == 0 &&
	       c->caller < S390_MAX_CPUS;
}

static bool get_saved(QEMUFile *f, struct saved *saved, unsigned int cpus)
{
	saved->cpus = qemu_get_be32(f);
	if (saved->cpus != cpus)
		return false;
	for (unsigned int i = 0; i < cpus; i++) {
		get_cpu(f, &saved->cpu[i]);
		if (!cpu_valid(saved, &saved->cpu[i]) ||
		    !fpc_valid(s390_cpu_addr2state(i)->env.fpc))
			return false;
	}
	saved->service = qemu_get_byte(f);
	saved->service_param = qemu_get_be32(f);
	saved->keys = qemu_get_byte(f);
	saved->ipled = qemu_get_byte(f);
	saved->wait_told = qemu_get_byte(f);
	get_image(f, saved->image);
	return qemu_file_get_error(f) == 0 && saved->service <= 1 && saved->keys <= 1 &&
	       saved->ipled <= 1 && saved->wait_told <= 1;
}

/* Registers, clocks and halted CPUs are QEMU's part, and there already. */
static void apply_cpu(const struct saved_cpu *c, CPUS390XState *env)
{
	CPUState *cs = env_cpu(env);

	env->cc_op = c->cc;
	env->external_call_addr = c->caller;
	env->pending_int |= c->pending;
	for (unsigned int i = 0; i < S390_MAX_CPUS; i++)
		if (c->signals[i / 8] >> i % 8 & 1)
			set_bit(i, env->emergency_signals);
		else
			clear_bit(i, env->emergency_signals);
	if (c->timer)
		timer_mod(env->cpu_timer, env->cputm);
	else
		timer_del(env->cpu_timer);
	tcg_s390_tod_updated(cs, RUN_ON_CPU_NULL);
	/* The rounding mode that goes with it. */
	helper_sfpc(env, env->fpc);
	if (env->psw.mask & PSW_MASK_PER)
		s390_cpu_recompute_watchpoints(cs);
	if (env->pending_int)
		cpu_interrupt(cs, CPU_INTERRUPT_HARD);
}

/* QEMU begins to keep keys whenever it loads a machine, and looks at them ever after. */
static void forget_keys(void)
{
	g_free(keys_device()->keydata);
	keys_device()->keydata = NULL;
}

static int apply(ZvmlabCp *s, const struct saved *saved)
{
	char err[512];
	int result;

	for (unsigned int i = 0; i < saved->cpus; i++)
		s390_cpu_addr2state(i)->env.pending_int = 0;
	result = 0;
	if (saved->image->len > 0 || !s->port.system_path)
		result = s->port.calls->load(&s->port, saved->image->data, saved->image->len, err,
					     sizeof(err));
	if (result != 0) {
		error_report("zvmlab-cp: %s", err);
		return -EINVAL;
	}
	zvmlab_paging_loaded(s);
	for (unsigned int i = 0; i < saved->cpus; i++)
		apply_cpu(&saved->cpu[i], &s390_cpu_addr2state(i)->env);
	flic()->pending &= ~FLIC_PENDING_SERVICE;
	flic()->service_param = 0;
	if (saved->service)
		s390_get_flic_class(s390_get_flic())->inject_service(s390_get_flic(),
								     saved->service_param);
	if (!saved->keys)
		forget_keys();
	s->ipled = saved->ipled;
	s->wait_told = saved->wait_told;
	return 0;
}

static int load_state(QEMUFile *f, void *opaque, int version_id)
{
	g_autofree struct saved *saved = g_new0(struct saved, 1);
	ZvmlabCp *s = opaque;
	int result = -EINVAL;

	saved->image = g_byte_array_new();
	if (get_saved(f, saved, s->port.config.cpus))
		result = apply(s, saved);
	else
		error_report("zvmlab-cp: the state of the CP is not complete, or of another machine");
	g_byte_array_unref(saved->image);
	return result;
}

static SaveVMHandlers handlers = {
	.save_state = save_state,
	.load_state = load_state,
};

/* It comes after all devices and clocks, because it is registered when the machine is complete. */
void zvmlab_state_register(ZvmlabCp *s)
{
	register_savevm_live("zvmlab-cp", 0, 1, &handlers, s);
}
