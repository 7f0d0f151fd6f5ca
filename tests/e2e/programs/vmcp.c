/* SPDX-License-Identifier: MIT */
/*
 * vmcp COMMAND [BUFFER]: one CP command through /dev/vmcp.
 *
 * The response goes to stdout; the last line on stderr is
 * "rc=<CP return code> size=<size of the response CP had>".
 * Ioctl numbers: the vmcp device driver's documented interface (type 0x10;
 * 1 GETCODE, 2 SETBUF, 3 GETSIZE, all on int).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define VMCP_GETCODE _IOR(0x10, 1, int)
#define VMCP_SETBUF _IOW(0x10, 2, int)
#define VMCP_GETSIZE _IOR(0x10, 3, int)

static int fail(const char *what)
{
	perror(what);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	int rc = 0, size = 0, buffer = argc > 2 ? atoi(argv[2]) : 0;
	static char response[1 << 20];
	ssize_t got;
	int fd;

	if (argc < 2) {
		fprintf(stderr, "usage: vmcp COMMAND [BUFFER]\n");
		return 2;
	}
	fd = open("/dev/vmcp", O_RDWR);
	if (fd < 0)
		return fail("/dev/vmcp");
	if (buffer && ioctl(fd, VMCP_SETBUF, &buffer) < 0)
		return fail("VMCP_SETBUF");
	if (write(fd, argv[1], strlen(argv[1])) < 0)
		return fail("write");
	if (ioctl(fd, VMCP_GETCODE, &rc) < 0 || ioctl(fd, VMCP_GETSIZE, &size) < 0)
		return fail("ioctl");
	while ((got = read(fd, response, sizeof(response))) > 0)
		if (fwrite(response, 1, (size_t)got, stdout) != (size_t)got)
			return fail("stdout");
	if (got < 0)
		return fail("read");
	fprintf(stderr, "rc=%d size=%d\n", rc, size);
	return EXIT_SUCCESS;
}
