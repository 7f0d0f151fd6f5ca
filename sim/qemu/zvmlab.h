/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What QEMU's own files call, in the lines that changes/port inserts.  Without a zvmlab-cp object they leave QEMU as it is, but for zvmlab_diag_code()
 * and zvmlab_sigp(), which mend it.
 */
#ifndef HW_S390X_ZVMLAB_H
#define HW_S390X_ZVMLAB_H

#include "cpu.h"

struct LowCore;	/* s390x-internal.h */

/* External-interruption code and CR0 subclass mask of IUCV. */
#define EXT_IUCV 0x4000
#define CR0_IUCV_SC 0x0000000000000002ULL

/* Could this CPU be presented with an IUCV interruption now, its PSW permitting? */
static inline bool zvmlab_ext_int(const CPUS390XState *env)
{
	return (env->pending_int & INTERRUPT_EXT_IUCV) && (env->cregs[0] & CR0_IUCV_SC);
}

/*
 * Let the CP fill the interruption buffer, and say in @lowcore what interruption it is.  Return:
 * false if another CPU was faster; then there is nothing to present, and @lowcore is unmapped.
 * Called with the BQL held.
 */
bool zvmlab_take_ext_int(CPUS390XState *env, struct LowCore *lowcore);

/* Could this CPU be presented with an interruption of CP's own, its PSW permitting? */
static inline bool zvmlab_own_int(const CPUS390XState *env)
{
	return (env->pending_int & INTERRUPT_EXT_CP) && (env->cregs[0] & CR0_SERVICE_SC);
}

/* Likewise: have the CP say what is stored at the interruption. */
bool zvmlab_take_external(CPUS390XState *env, struct LowCore *lowcore);

/*
 * A CPU is about to get a translation to the page at absolute @addr.  Does not return if the page
 * is out and the instruction has to be executed again; @probe: that is not possible.
 */
void zvmlab_page(CPUS390XState *env, uint64_t addr, bool probe, uintptr_t ra);

/* Is there a hold that a CPU may have to stop for at this virtual address?  Asked when it is translated. */
bool zvmlab_may_stop_at(uint64_t place);

/*
 * How a block reports that it is executed.  An edge is what its first block @leaves in the CPU, or
 * 0 if there was none, XOR what tells that it @arrives at its second one.  These bits of an edge are
 * its offset in @edges, or that of the next free place.
 */
struct zvmlab_cover {
	uint64_t block;		/* its number, not 0 */
	uint8_t *seen;		/* not 0: it is known */
	uint64_t *edges;	/* or NULL: a block that came before does not matter */
	uint64_t leaves, arrives;
};

#define ZVMLAB_EDGE_BITS 18u
#define ZVMLAB_EDGE_OFFSET (((UINT64_C(1) << ZVMLAB_EDGE_BITS) - 1) * sizeof(uint64_t))

/* A block of the kernel at @place is translated.  Return: false if nobody wants it reported. */
bool zvmlab_covered(uint64_t place, struct zvmlab_cover *cover);

/* With -icount, all CPUs wait: may the clock jump by so many ns now?  Asked again when the main loop wakes. */
bool zvmlab_may_jump(int64_t ns);

/* Does this CPU wait, whatever is pending? */
bool zvmlab_held(const CPUS390XState *env);

/* Has CP paged out the page at this absolute address? */
bool zvmlab_page_out(uint64_t addr);

/* Do other processes store into the page at this address of QEMU's storage? */
bool zvmlab_stored_by_others(uint64_t ram_addr);

/*
 * The code of a DIAGNOSE: bits 48 to 63 of its second-operand address.  Of @operand, which
 * QEMU takes for a signed number, the lower 16 bits are the instruction's, base register
 * and displacement.
 */
uint32_t zvmlab_diag_code(const CPUS390XState *env, uint32_t operand);

/*
 * DIAGNOSE.  Makes env->cc_op static in any case.  Return: false if it is
 * QEMU's to execute; does not return if there is a program interruption.
 */
bool zvmlab_diag(CPUS390XState *env, uint32_t r1, uint32_t r3, uint32_t code, uintptr_t ra);

/*
 * STORE SYSTEM INFORMATION with a valid function code and no reserved bits.
 * Return: the condition code, or -1 if it is QEMU's to execute.
 */
int zvmlab_stsi(CPUS390XState *env, uint64_t addr, uintptr_t ra);

/* Facilities that CP has for its guest, in the list of STORE FACILITY LIST. */
void zvmlab_facilities(uint8_t *list);

/*
 * SIGNAL PROCESSOR, called with the BQL held.  Returns if the order is QEMU's to execute at
 * once; else the BQL is released, and the instruction completed before the next one.
 * Return: false if the guest has no such CPU.
 */
bool zvmlab_sigp(CPUS390XState *env, uint8_t order, uint32_t r1, uint32_t r3, uintptr_t ra);

/*
 * SERVICE CALL, with the BQL held: is the command one for standby storage that the guest has?
 * The block, as long as its header says and within a page, gets CP's answer.  Block of READ SCP
 * INFO: what it says of such storage is CP's.
 */
struct SCCB;
struct ReadInfo;
bool zvmlab_sclp_knows(uint32_t command);
void zvmlab_sclp(struct SCCB *sccb, uint32_t command);
void zvmlab_scp_info(struct ReadInfo *info);

/* CIPHER MESSAGE WITH CHAINING, function 67: pseudorandom numbers.  Return: the condition code. */
uint32_t zvmlab_kmc_prng(CPUS390XState *env, uint32_t r1, uint32_t r2, uintptr_t ra);

/* Instructions that the turn of a CPU has with -icount, of @budget at most. */
int64_t zvmlab_turn(const CPUState *cs, int64_t budget);

/* Does the guest have a page at this absolute address? */
bool zvmlab_addressable(uint64_t addr);

/*
 * Does the guest have storage at all of these absolute addresses, and may it store there?
 * For what QEMU does at an absolute address without translating one.
 */
bool zvmlab_reachable(uint64_t addr, uint64_t len, bool store);

/*
 * Withdraw PAGE_WRITE from @flags if the CP write-protects the page at this
 * absolute address.  Return: true if @store is refused.
 */
bool zvmlab_protected(uint64_t addr, bool store, int *flags);

/* A CPU has loaded a PSW whose wait bit is one.  Says on standard error if no interruption ends that. */
void zvmlab_wait(const CPUS390XState *env);

/* A CPU waits from now on, unless something is pending.  By any thread, perhaps without the BQL. */
void zvmlab_halts(void);

/*
 * A CPU has nothing to do, and its thread, which has the BQL, is about to wait.  Return: true if it has
 * to look again whether that is so: it has waited for a moment, or others have had the BQL.
 */
bool zvmlab_waits(CPUState *cs);

/* Its thread, which has the BQL, has nothing to do from now on; it goes on.  By the thread itself. */
void zvmlab_sleeps(CPUState *cs);
void zvmlab_wakes(CPUState *cs);
/* Of QEMU: wait for so many ns, or until somebody wakes the CPU; others have the BQL meanwhile. */
void zvmlab_wait_ns(CPUState *cs, int64_t ns);

/* Has the guest the CPU with this address, if the machine has? */
bool zvmlab_has_cpu(unsigned int address);

/* System reset of any kind; reset of one CPU. */
void zvmlab_reset(void);
void zvmlab_reset_cpu(const CPUS390XState *env);

#endif
