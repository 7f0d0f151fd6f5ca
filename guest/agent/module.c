// SPDX-License-Identifier: MIT
/* Kernel modules: INSMOD, RMMOD, with what the kernel logged meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

int module_load(const char *path, const char *params, int flags)
{
	int error = 0, fd = own_open(path, O_RDONLY, 0);

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, params, flags))
		error = errno;
	close(fd);
	return error;
}

enum status handle_insmod(struct agent *agent, struct worker *worker, struct rd *in, struct wr *out)
{
	char *path = rd_string(in), *params = rd_string(in);
	int flags = (int)rd_u32(in), log;
	enum status status = ST_OK;

	(void)agent;
	(void)worker;
	if (!rd_done(in) || !path || !params) {
		status = refuse(out, ST_MALFORMED, "INSMOD needs a file, parameters and flags");
	} else {
		log = klog_mark();
		wr_u32(out, (uint32_t)module_load(path, params, flags));
		klog_since(log, out);
	}
	free(path);
	free(params);
	return status;
}

enum status handle_rmmod(struct agent *agent, struct worker *worker, struct rd *in, struct wr *out)
{
	char *name = rd_string(in);
	unsigned int flags = rd_u32(in);
	enum status status = ST_OK;
	int log;

	(void)agent;
	(void)worker;
	if (!rd_done(in) || !name) {
		status = refuse(out, ST_MALFORMED, "RMMOD needs a name and flags");
	} else {
		log = klog_mark();
		wr_u32(out, syscall(SYS_delete_module, name, flags) ? (uint32_t)errno : 0);
		klog_since(log, out);
	}
	free(name);
	return status;
}
