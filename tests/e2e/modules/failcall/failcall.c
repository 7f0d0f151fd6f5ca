// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lets one call of a kernel's function fail, also in a kernel that has no
 * fault injection: the function returns at once, with a result of the test's.
 */
#include <linux/atomic.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

static char *function = "";
module_param(function, charp, 0);
MODULE_PARM_DESC(function, "whose call fails");

static char *caller = "";
module_param(caller, charp, 0);
MODULE_PARM_DESC(caller, "the module whose calls count; empty: anybody's");

static unsigned int nth = 1;
module_param(nth, uint, 0);
MODULE_PARM_DESC(nth, "which of these calls");

static long result;
module_param(result, long, 0);
MODULE_PARM_DESC(result, "what it returns");

static unsigned int failed;
module_param(failed, uint, 0444);
MODULE_PARM_DESC(failed, "how many calls have failed");

static atomic_t calls;

static int fail_call(struct kprobe *probe, struct pt_regs *regs)
{
	char place[KSYM_SYMBOL_LEN], module[MODULE_NAME_LEN + 3];

	sprint_symbol(place, regs->gprs[14]);
	snprintf(module, sizeof(module), "[%s]", caller);
	if (*caller && !strstr(place, module))
		return 0;
	if (atomic_inc_return(&calls) != nth)
		return 0;
	failed++;
	regs->gprs[2] = result;
	regs->psw.addr = regs->gprs[14];
	return 1;
}
NOKPROBE_SYMBOL(fail_call);

static struct kprobe probe = { .pre_handler = fail_call };

static int __init failcall_init(void)
{
	probe.symbol_name = function;
	return register_kprobe(&probe);
}
module_init(failcall_init);

static void __exit failcall_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(failcall_exit);

MODULE_DESCRIPTION("Lets one call of a function fail");
MODULE_LICENSE("GPL");
