/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine at the request of a client of the control socket: what QMP and the properties of
 * -object zvmlab-cp can do as well.  QEMU takes in a command of QMP byte by byte, and a test
 * gives several: a request here costs a tenth.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "ctl_machine.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-misc.h"

/* Return: 0, or -1 with what @err says, which is freed. */
static int result(Error *err, char *text, size_t len)
{
	if (!err)
		return 0;
	g_strlcpy(text, error_get_pretty(err), len);
	error_free(err);
	return -1;
}

/* Between two turns only the client that has the turn may say when the machine goes on. */
static bool check_free(const ZvmlabCp *s, Error **errp)
{
	if (!s->lockstep)
		return true;
	error_setg(errp, "zvmlab-cp: a client and the machine take turns (lockstep)");
	return false;
}

static int request_pause(void *opaque, char *text, size_t len)
{
	const ZvmlabCp *s = opaque;
	Error *err = NULL;

	if (check_free(s, &err))
		qmp_stop(&err);
	return result(err, text, len);
}

static int request_go_on(void *opaque, char *text, size_t len)
{
	const ZvmlabCp *s = opaque;
	Error *err = NULL;

	if (check_free(s, &err))
		qmp_cont(&err);
	return result(err, text, len);
}

static int request_restore(void *opaque, const char *file, char *text, size_t len)
{
	ZvmlabCp *s = opaque;
	Error *err = NULL;

	if (check_free(s, &err)) {
		if (runstate_is_running())
			qmp_stop(&err);
		if (!err)
			zvmlab_restore(s, file, &err);
	}
	return result(err, text, len);
}

static int request_pass(void *opaque, uint64_t ns, char *text, size_t len)
{
	Error *err = NULL;

	zvmlab_pass_time(opaque, ns, &err);
	return result(err, text, len);
}

static bool runs(void *opaque)
{
	return runstate_is_running();
}

static uint64_t left(void *opaque)
{
	return zvmlab_time_to_pass(opaque);
}

static const struct ctl_machine machine = {
	.pause = request_pause, .go_on = request_go_on, .restore = request_restore,
	.pass = request_pass, .runs = runs, .left = left,
};

void zvmlab_take_requests(ZvmlabCp *s)
{
	if (s->port.ctl)
		ctl_set_machine(s->port.ctl, &machine, s);
}
