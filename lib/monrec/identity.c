/* SPDX-License-Identifier: MIT */
/* libmonrec: fields that name somebody or something. */
#include "monrec_private.h"

#include <string.h>

static const char *const users[] = {
	"VMDUSER", "OWNER", "LANOWNER", "NICOWNER", "ASCUSRID", "CALUSER", "MDIOUSER",
	"MGSWIEUSER", "USERID", "VMDSVMID", "CRYNOWNQ", "CRYRSERV", "CRYVSERV", NULL,
};
static const char *const volumes[] = {
	"CALVSER", "CPVOLSER", "RDEVSER", "SYSCKVOL", "SYSWMVOL", NULL,
};
static const char *const names[] = {
	"ASCNAME", "LANID", "LANNAME", "LPARNAME", "POOLNAME", "QDISNAME", "SCPNAME", "SCPPLEX",
	"SDFFN", "SDFFT", "SNTNAME", "SYSTMID", "SYSNM", "VL3CPNAM", "VL3MNAME", "VMDGRPN",
	"SWPGROUP", NULL,
};
static const char *const devices[] = {
	"RDEVDEV", "CALRDEVDEV", "FCARDEV", "LANRDD_RDEV", "EDEVFCP1", "EDEVFCP2", "EDEVFCP3", "EDEVFCP4",
	"EDEVFCP5", "EDEVFCP6", "EDEVFCP7", "EDEVFCP8", NULL,
};
static const char *const subchannels[] = { "RDEVSID", "CALRDEVSID", NULL };
static const char *const serials[] = {
	"SYSMSEQC", "PFXIDSER", "NICMAC", "MGNICMAC",
	"EDEVPTH1", "EDEVPTH2", "EDEVPTH3", "EDEVPTH4", "EDEVPTH5", "EDEVPTH6", "EDEVPTH7",
	"EDEVPTH8", "EDEVWPN1", "EDEVWPN2", "EDEVWPN3", "EDEVWPN4", "EDEVWPN5", "EDEVWPN6",
	"EDEVWPN7", "EDEVWPN8", "EDEVLUN1", "EDEVLUN2", "EDEVLUN3", "EDEVLUN4", "EDEVLUN5",
	"EDEVLUN6", "EDEVLUN7", "EDEVLUN8", NULL,
};
static const char *const *const lists[MONREC_IDENTITIES] = {
	[MONREC_ID_USER] = users, [MONREC_ID_VOLUME] = volumes, [MONREC_ID_NAME] = names,
	[MONREC_ID_DEVICE] = devices, [MONREC_ID_SUBCHANNEL] = subchannels, [MONREC_ID_SERIAL] = serials,
};

enum monrec_identity monrec_identity(const struct monrec_field *field)
{
	for (unsigned int identity = MONREC_ID_USER; identity < MONREC_IDENTITIES; identity++)
		for (const char *const *name = lists[identity]; *name; name++)
			if (strcmp(*name, field->name) == 0)
				return (enum monrec_identity)identity;
	return MONREC_ID_NONE;
}
