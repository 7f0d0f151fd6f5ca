/* SPDX-License-Identifier: MIT */
/* What the commands of taskmon share. */
#include "taskmon.h"

#include <errno.h>
#include <string.h>

#include "command.h"
#include "delayacct.h"
#include "row.h"

int exit_code_of(int error)
{
	return error == -EPERM || error == -ENOENT ? EXIT_CANNOT_RUN : EXIT_FAILED;
}

int open_kernel(struct kernel *kernel)
{
	int ret = kernel_open(kernel);

	if (!ret)
		return EXIT_PASS;
	complain("%s", kernel_reason(ret));
	return exit_code_of(ret);
}

int open_living(struct living *living, struct kernel *kernel)
{
	int ret = living_open(living, kernel);

	if (!ret)
		return EXIT_PASS;
	complain("%s", kernel_reason(ret));
	return exit_code_of(ret);
}

void warn_delayacct(void)
{
	enum delayacct_state state = delayacct_read();

	if (state != DELAYACCT_SINCE_BOOT)
		complain("%s", delayacct_sentence(state));
}

void show_record(void *context, const struct stats_record *record)
{
	struct show *show = context;

	if (!show->error)
		show->error = row_put(show->writer, record, NULL);
}

int show_end(struct show *show)
{
	if (!show->error)
		show->error = writer_flush(show->writer);
	writer_close(show->writer);
	if (!show->error)
		return EXIT_PASS;
	complain("the output cannot be written: %s", strerror(-show->error));
	return EXIT_FAILED;
}
