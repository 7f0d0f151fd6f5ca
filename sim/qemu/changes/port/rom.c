/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hw/core/loader: map kernel and image
 *
 * They are read whole otherwise, and a guest that is restored needs them
 * only if it restarts.
 */

//@ file: hw/core/loader.c
//@ in: ssize_t rom_add_file(
//@ replace 2: if (!g_file_get_contents(rom->path, (gchar **) &rom->data,
    int fd = open(rom->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        rom->mapped_file = g_mapped_file_new_from_fd(fd, true, &gerr);
        close(fd);
    } else {
        g_set_error_literal(&gerr, G_FILE_ERROR, g_file_error_from_errno(errno),
                            strerror(errno));
    }
    if (rom->mapped_file) {
        rom->data = (uint8_t *)g_mapped_file_get_contents(rom->mapped_file);
        size = g_mapped_file_get_length(rom->mapped_file);
    } else {
