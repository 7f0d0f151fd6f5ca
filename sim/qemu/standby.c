/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands of the service processor (SCLP) for storage of which some is standby: CP's to answer. */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/core/cpu.h"
#include "hw/s390x/sclp.h"
#include "hw/s390x/zvmlab.h"

/* Facilities: read storage element information, assign an increment, attach an element. */
#define HAS_STANDBY 0x0000e00000000000ULL
/* More megabytes than that do not fit into the field of a byte. */
#define MOST_SMALL 128

static struct cp_increments increments(void)
{
	struct cp_port *port = &zvmlab_cp->port;

	return zvmlab_cp ? port->calls->increments(port) : (struct cp_increments){ 0 };
}

bool zvmlab_sclp_knows(uint32_t command)
{
	return cp_sclp_knows(command) && increments().count > 0;
}

void zvmlab_sclp(SCCB *sccb, uint32_t command)
{
	struct cp_port *port = &zvmlab_cp->port;
	const size_t len = be16_to_cpu(sccb->h.length);
	uint8_t block[CP_PAGE_SIZE] = { 0 };

	/* QEMU has checked both. */
	g_assert(len >= sizeof(SCCBHeader) && len <= sizeof(block));
	memcpy(block, sccb, len);
	port->calls->sclp(port, current_cpu ? current_cpu->cpu_index : 0, command, block);
	memcpy(sccb, block, len);
}

void zvmlab_scp_info(ReadInfo *info)
{
	const struct cp_increments has = increments();

	if (has.count == 0)
		return;
	info->facilities |= cpu_to_be64(HAS_STANDBY);
	info->rnmax = cpu_to_be16(has.count);
	info->rnmax2 = 0;
	info->rnsize = has.megabytes <= MOST_SMALL ? has.megabytes : 0;
	info->rnsize2 = has.megabytes <= MOST_SMALL ? 0 : cpu_to_be32(has.megabytes);
}
