// SPDX-License-Identifier: MIT
/* The machine's console, and its end. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <termios.h>
#include <unistd.h>

#include "agent.h"

void machine_say(const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dprintf(STDERR_FILENO, "zvmlab: %s\n", text);
}

static void set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		machine_say("%s cannot be set to %s: %s", path, value, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* proc(5): the console's level comes first. */
unsigned int machine_console_level(void)
{
	char text[16] = "";
	int fd = open("/proc/sys/kernel/printk", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return (unsigned int)strtoul(text, NULL, 10);
}

/*
 * Nobody can ask for the kernel's log any more.  What it has to report is on the console
 * while that works; a driver's shutdown comes after the end of the SCLP's, and a panic is
 * noticed even then.
 */
static void speak_up(unsigned int flags)
{
	if (machine_console_level() < WARNINGS_SHOW)
		set("/proc/sys/kernel/printk", "5");
	set("/sys/module/printk/parameters/time", "1");
	if (flags & POWER_PANIC_ON_WARN)
		set("/proc/sys/kernel/panic_on_warn", "1");
	if (flags & POWER_PANIC_ON_OOPS)
		set("/proc/sys/kernel/panic_on_oops", "1");
}

void machine_power(enum power what, unsigned int flags)
{
	static const int command[] = {
		[POWER_OFF] = RB_POWER_OFF, [POWER_REBOOT] = RB_AUTOBOOT, [POWER_HALT] = RB_HALT_SYSTEM,
	};

	speak_up(flags);
	tcdrain(STDERR_FILENO);
	sync();
	reboot(command[what]);
	for (;;)
		pause();
}
