/* SPDX-License-Identifier: MIT */
/*
 * External interruptions X'2603', by which several services of CP's tell the guest of something;
 * the subcode says which.  For ports with cp_host.external.
 */
#ifndef ZVMLAB_EXTERNAL_H
#define ZVMLAB_EXTERNAL_H

#include <stdbool.h>
#include <stdint.h>

struct cp;

/** The external-interruption code of them all. */
enum { CP_EXT_CODE = 0x2603 };

/** An external interruption that CP presents itself. */
struct cp_external {
	uint16_t code, subcode;
	uint32_t parameter32;		/**< 32 bits, to lowcore address 128 */
	uint64_t parameter;		/**< 64 bits, to lowcore address 4536 */
};
/** Could CPU @cpu take one, its PSW and CR0 permitting? */
bool cp_external_pending(const struct cp *cp, unsigned int cpu);
/** Take one on @cpu.  Return: false if there is none any more. */
bool cp_external_take(struct cp *cp, unsigned int cpu, struct cp_external *external);

#endif
