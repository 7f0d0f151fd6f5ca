/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcg: let whoever starts QEMU say where translated code is to be
 *
 * Translated code contains addresses of itself and of QEMU.  A machine that
 * goes on where another one stood can begin with what that one had
 * translated, if the code is at the same place (translations.c).  The
 * environment's ZVMLAB_CODE_AT is a wish, as mmap() has them: if something
 * else is there, the code is elsewhere.
 */

//@ file: tcg/region.c
//@ for: 10.0
//@ in: static int alloc_code_gen_buffer_anon(
//@ replace: buf = mmap(NULL, size, prot, flags, -1, 0);
    const char *at = getenv("ZVMLAB_CODE_AT");

    buf = mmap(at ? (void *)(uintptr_t)strtoull(at, NULL, 16) : NULL, size,
               prot, flags, -1, 0);
