/* SPDX-License-Identifier: MIT */
/* hold DEVICE FILE: writes the file's contents to the device, and keeps it open forever. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char data[65536];
	ssize_t len;
	int device, file;

	if (argc != 3)
		return 2;
	device = open(argv[1], O_WRONLY);
	file = open(argv[2], O_RDONLY);
	len = file < 0 ? -1 : read(file, data, sizeof(data));
	if (device < 0 || len < 0 || write(device, data, (size_t)len) != len) {
		perror("hold");
		return 1;
	}
	for (;;)
		pause();
}
