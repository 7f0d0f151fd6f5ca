/* SPDX-License-Identifier: MIT */
/*
 * kexec KERNEL INITRD COMMAND-LINE: replace the running kernel at once.
 *
 * A kernel image for s390 is loaded from offset X'10000' on and entered there;
 * its parameter area holds the initrd's address and size at X'10408' and
 * X'10410', the command line at X'10480' (Linux: arch/s390 setup.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRY = 0x10000, INITRD_ADDRESS = 0x10408, INITRD_SIZE = 0x10410, COMMAND_LINE = 0x10480 };
enum { COMMAND_LINE_MAX = 895, INITRD_AT = 64 << 20, PAGE = 4096 };

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static unsigned char *read_all(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	unsigned char *data;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		die(path);
	*size = (size_t)st.st_size;
	data = malloc(*size);
	if (!data)
		die("malloc");
	for (size_t at = 0; at < *size;) {
		ssize_t got = read(fd, data + at, *size - at);

		if (got <= 0)
			die(path);
		at += (size_t)got;
	}
	close(fd);
	return data;
}

static size_t pages(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

int main(int argc, char **argv)
{
	struct kexec_segment segment[2];
	unsigned char *kernel, *initrd;
	size_t size, initrd_size;
	uint64_t number;

	if (argc != 4 || strlen(argv[3]) > COMMAND_LINE_MAX) {
		fprintf(stderr, "usage: kexec KERNEL INITRD COMMAND-LINE\n");
		return 2;
	}
	kernel = read_all(argv[1], &size);
	initrd = read_all(argv[2], &initrd_size);
	if (size < COMMAND_LINE + COMMAND_LINE_MAX + 1) {
		errno = EINVAL;
		die(argv[1]);
	}
	number = INITRD_AT;
	memcpy(kernel + INITRD_ADDRESS, &number, sizeof(number));
	number = initrd_size;
	memcpy(kernel + INITRD_SIZE, &number, sizeof(number));
	strcpy((char *)kernel + COMMAND_LINE, argv[3]);
	segment[0] = (struct kexec_segment){ kernel + ENTRY, size - ENTRY, (void *)ENTRY,
					     pages(size - ENTRY) };
	segment[1] = (struct kexec_segment){ initrd, initrd_size, (void *)INITRD_AT,
					     pages(initrd_size) };
	if (syscall(SYS_kexec_load, ENTRY, 2UL, segment, KEXEC_ARCH_S390) < 0)
		die("kexec_load");
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	die("reboot");
	return EXIT_FAILURE;
}
