/* SPDX-License-Identifier: MIT */
/* Domain 6: I/O. */
#include "catalogue_private.h"

static const struct monrec_field iodvon[] = {
	BARE(RDEVTYPE, 20, 1), BARE(RDEVCLAS, 21, 1), BARE(RDEVDVID, 22, 2), BARE(CALMODLN, 24, 1),
	BARE(RDEVLPM, 25, 1),
	ZPMD(RDEVDEV, 26, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
	ZPMD(RDEVSID, 28, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	BARE(RDEVCHPS, 32, 8), BARE(RDEVCUID, 40, 2), BARE(RDEVCUMN, 42, 1), BARE(CALFLAGS, 43, 1),
	BARE(RDCRCUC, 44, 1), BARE(RDCOBRCO, 45, 1), BARE(RDEVSER, 46, 6), BARE(CALRDEVSID, 52, 4),
	BARE(CALRDEVDEV, 56, 2), BARE(RDEVPVFG, 58, 1), BARE(EDEVTYPE, 59, 1),
	BARE(EDEVPTH1, 60, 20), BARE_AS(EDEVFCP1, 82, 2, BYTES), BARE(EDEVWPN1, 84, 8),
	BARE(EDEVLUN1, 92, 8), BARE(EDEVPTH2, 100, 20), BARE_AS(EDEVFCP2, 122, 2, BYTES),
	BARE(EDEVWPN2, 124, 8), BARE(EDEVLUN2, 132, 8), BARE(EDEVPTH3, 140, 20),
	BARE_AS(EDEVFCP3, 162, 2, BYTES), BARE(EDEVWPN3, 164, 8), BARE(EDEVLUN3, 172, 8),
	BARE(EDEVPTH4, 180, 20), BARE_AS(EDEVFCP4, 202, 2, BYTES), BARE(EDEVWPN4, 204, 8),
	BARE(EDEVLUN4, 212, 8), BARE(EDEVPTH5, 220, 20), BARE_AS(EDEVFCP5, 242, 2, BYTES),
	BARE(EDEVWPN5, 244, 8), BARE(EDEVLUN5, 252, 8), BARE(EDEVPTH6, 260, 20),
	BARE_AS(EDEVFCP6, 282, 2, BYTES), BARE(EDEVWPN6, 284, 8), BARE(EDEVLUN6, 292, 8),
	BARE(EDEVPTH7, 300, 20), BARE_AS(EDEVFCP7, 322, 2, BYTES), BARE(EDEVWPN7, 324, 8),
	BARE(EDEVLUN7, 332, 8), BARE(EDEVPTH8, 340, 20), BARE_AS(EDEVFCP8, 362, 2, BYTES),
	BARE(EDEVWPN8, 364, 8), BARE(EDEVLUN8, 372, 8), BARE(PREFPATH, 380, 1),
	BARE(RDEVHPPL, 384, 2),
};

static const struct monrec_field iodvof[] = {
	SEEN(520, 610, RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	SEEN(520, 610, RDEVDEV, 24, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
};

static const struct monrec_field ioddev[] = {
	BARE(RDEVAFLG, 20, 1), BARE(RDEVLPM, 21, 1), BARE(VDEVIOP1, 22, 1), BARE(CALFLAG1, 23, 1),
	ZPMD(RDEVSID, 24, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	BARE(RDEVCHPS, 28, 8), BARE(RDEVSER, 36, 6), BARE(CALUSER, 42, 8), BARE(RDEVLCNT, 50, 2),
	BARE(SCMSSCH, 52, 2), BARE(SCMCOUNT, 54, 2), BARE(SCMCNTIM, 56, 4), BARE(SCMFPTIM, 60, 4),
	BARE(SCMDDTIM, 64, 4), BARE(HFRDEVCT, 68, 4), BARE(HFCTIO, 72, 4), BARE(RDEVCTSR, 76, 4),
	BARE(RDEVRCWH, 80, 4), BARE(RDEVRCWP, 84, 4), BARE(RDEVRTPD, 88, 8), BARE(RDEVCTSI, 96, 4),
	BARE(RDEVCTUI, 100, 4), BARE(RDEVMICT, 104, 4), BARE(RDEVCTRG, 108, 4),
	BARE(RDEVCTRD, 112, 4), BARE(RDEVSKCT, 116, 4), BARE(RDEVSKSM, 120, 4),
	BARE(RDEVWRCT, 124, 4), BARE(RDEVRDCT, 128, 4), BARE(RDEVMCIA, 132, 4),
	BARE(VIUCNTIN, 136, 4), BARE(VIUTIMIN, 140, 4), BARE(VIUCNTLV, 144, 4),
	BARE(VIUTIMLV, 148, 4), BARE(VIUCNTOT, 152, 4), BARE(VIUTIMOT, 156, 4),
	BARE(SCMDATIM, 160, 4), BARE(VIUSTAMP, 164, 8), BARE(VIUSTATE, 172, 1),
	BARE(THRDLYS, 176, 4), BARE(SCMCQTIM, 180, 4), BARE(SCMDBTIM, 184, 4),
	BARE(SCMIRTIM, 188, 4), BARE(SCGSSCH, 192, 4), BARE(SCGCOUNT, 196, 4),
	ZPMD(RDEVDEV, 200, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
	BARE(EDEVTYPE, 204, 1), BARE(PREFPATH, 205, 1), BARE(PAVINELG, 208, 4),
	BARE(PAVUSES, 212, 4), BARE(RDEVPVFG, 216, 1), BARE(RDEVHPPL, 218, 2),
	BARE(PAVSSCH, 220, 4), BARE(PAVCOUNT, 224, 4), BARE(PAVCNTIM, 228, 4),
	BARE(PAVFPTIM, 232, 4), BARE(PAVDDTIM, 236, 4), BARE(PAVCQTIM, 240, 4),
	BARE(PAVDATIM, 244, 4), BARE(PAVDBTIM, 248, 4), BARE(PAVIRTIM, 252, 4),
	BARE(PAVCC3S, 256, 4),
};

static const struct monrec_field iodatd[] = {
	BARE(RDEVTYPE, 20, 1), BARE(RDEVCLAS, 21, 1), BARE(RDEVDVID, 22, 2), BARE(CALMODLN, 24, 1),
	BARE(RDEVLPM, 25, 1),
	ZPMD(RDEVDEV, 26, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
	ZPMD(RDEVSID, 28, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	BARE(RDEVCHPS, 32, 8), BARE(RDEVCUID, 40, 2), BARE(RDEVCUMN, 42, 1), BARE(CALFLAGS, 43, 1),
};

static const struct monrec_field ioddtd[] = {
	ZPMD(RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	ZPMD(RDEVDEV, 24, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
};

static const struct monrec_field iodenb[] = {
	ZPMD(RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
};

static const struct monrec_field ioddsb[] = {
	ZPMD(RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
};

static const struct monrec_field iodsof[] = {
	ZPMD(RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	ZPMD(RDEVDEV, 24, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
};

static const struct monrec_field iodmon[] = {
	SEEN(430, 730, RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	SEEN(430, 730, RDEVDEV, 24, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
};

static const struct monrec_field iodmof[] = {
	SEEN(430, 750, RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	SEEN(430, 750, RDEVDEV, 24, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
	BARE(SCMSSCH, 28, 2), BARE(SCMCOUNT, 30, 2), BARE(SCMCNTIM, 32, 4), BARE(SCMFPTIM, 36, 4),
	BARE(SCMDDTIM, 40, 4), BARE(SCMCQTIM, 44, 4), BARE(SCMDATIM, 48, 4), BARE(SCMDBTIM, 52, 4),
	BARE(SCMIRTIM, 56, 4), BARE(SCGSSCH, 60, 4), BARE(SCGCOUNT, 64, 4),
};

static const struct monrec_field iodddv[] = {
	SEEN(530, 750, RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	SEEN(530, 750, RDEVDEV, 24, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
};

static const struct monrec_field iodmdv[] = {
	SEEN(710, 730, RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	SEEN(710, 730, RDEVDEV, 24, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
	SEEN(710, 720, RDEVPIM, 26, 1, BITS, ATTRIBUTE, NONE, "path installed mask"),
	SEEN(710, 720, RDEVPAM, 27, 1, BITS, ATTRIBUTE, NONE, "path available mask"),
	SEEN(710, 720, RDEVCHPS, 28, 8, BYTES, ATTRIBUTE, NONE,
	     "channel path identifiers of the eight paths"),
};

static const struct monrec_field ioddch[] = {
	BARE(CALCHPID, 20, 1),
};

static const struct monrec_field iodvsf[] = {
	BARE(LANOWNER, 20, 8), BARE(LANNAME, 28, 8), BARE(LANRDD_LANCONT, 36, 8),
	BARE(LANRDD_RDEV, 44, 2), BARE(LANRDD_OSAPORT, 46, 1), BARE(LANMGIPA, 48, 4),
	BARE(MGSWIEUSER, 52, 8), BARE(MGNICMAC, 60, 6), BARE(SWPGROUP, 68, 8),
	BARE(LANRDD_RSN, 76, 1), BARE(VQSTATE, 77, 1), BARE(VQSREAS, 78, 2),
};

static const struct monrec_field iodvsr[] = {
	BARE(LANOWNER, 20, 8), BARE(LANNAME, 28, 8), BARE(LANRDD_LANCONT, 36, 8),
	BARE(LANRDD_RDEV, 44, 2), BARE(LANRDD_OSAPORT, 46, 1), BARE(SWIECAPAB, 48, 4),
	BARE(LANMGIPA, 52, 4), BARE(MGSWIEUSER, 56, 8), BARE(MGNICMAC, 64, 6),
	BARE(SWPGROUP, 72, 8),
};

/* Path n of a SCSI device, 32 bytes. */
#define SCSI_PATH(n, at)                                                                   \
	BARE(PTH##n##ID, at, 2), BARE(PTH##n##STAT, (at) + 2, 1),                          \
	BARE(PTH##n##TIME, (at) + 4, 4), BARE(PTH##n##XRATE, (at) + 8, 4),                 \
	BARE(PTH##n##XFERS, (at) + 12, 4), BARE(PTH##n##BLKSR, (at) + 16, 4),              \
	BARE(PTH##n##BLKSW, (at) + 20, 4), BARE(PTH##n##SEEKO, (at) + 24, 4),              \
	BARE(PTH##n##QDEPTH, (at) + 28, 4)

static const struct monrec_field iodszi[] = {
	ZPMD(RDEVDEV, 20, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
	BARE(DSKSTAT, 24, 1), BARE(DSKTIME, 28, 4), BARE(DSKXRATE, 32, 4), BARE(DSKBLKSZ, 36, 4),
	BARE(DSKXFERS, 40, 4), BARE(DSKBLKSR, 44, 4), BARE(DSKBLKSW, 48, 4),
	BARE(DSKSEEKO, 52, 4), BARE(DSKQDEPTH, 56, 4),
	SCSI_PATH(1, 60), SCSI_PATH(2, 92), SCSI_PATH(3, 124), SCSI_PATH(4, 156),
	SCSI_PATH(5, 188), SCSI_PATH(6, 220), SCSI_PATH(7, 252), SCSI_PATH(8, 284),
};

static const struct monrec_field iodqda[] = {
	ZPMD(RDEVDEV, 20, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
	ZPMD(VMDUSER, 22, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	BARE(VDEVDEV, 30, 2), BARE(QDIOFMT, 32, 2), BARE(QDINPCT, 34, 2), BARE(QDIOUTCT, 36, 2),
	BARE_AS(STATUS, 38, 4, BYTES),
};

static const struct monrec_field iodqds[] = {
	ZPMD(RDEVDEV, 20, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
	BARE(QDIOCSGR, 24, 4), BARE(QDIOCSGW, 28, 4), BARE(QDIOCSGS, 32, 4), BARE(RDEVVSSR, 36, 4),
	BARE(RDEVVSSW, 40, 4), BARE(RDEVVSSS, 44, 4), BARE(BFTOA, 48, 8), BARE(BYTOA, 56, 8),
	BARE(BFFRA, 64, 8), BARE(BYFRA, 72, 8), BARE(RDEVVSIN, 80, 4), BARE(RDEVVSIR, 84, 4),
	BARE(RDEVVSID, 88, 4), BARE(QSBSQBVM, 92, 4), BARE(QSBSQBPV, 96, 4),
	BARE(QSBEQBVM, 100, 4), BARE(QSBEQBPV, 104, 4), BARE(QSBLOCK, 108, 4),
	BARE(QSBFOBX, 112, 4), BARE(QSBOLCK, 116, 4), BARE(QSBSIGWT, 120, 4),
	BARE(QSBSIGRT, 124, 4), BARE(QSBSIGLT, 128, 4), BARE(SUMOFPIN, 132, 4),
	BARE(SUMUNPIN, 136, 4),
};

static const struct monrec_field iodqdd[] = {
	ZPMD(RDEVDEV, 20, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
	BARE(QDIOCSGR, 24, 4), BARE(QDIOCSGW, 28, 4), BARE(QDIOCSGS, 32, 4), BARE(RDEVVSSR, 36, 4),
	BARE(RDEVVSSW, 40, 4), BARE(RDEVVSSS, 44, 4), BARE(BFTOA, 48, 8), BARE(BYTOA, 56, 8),
	BARE(BFFRA, 64, 8), BARE(BYFRA, 72, 8), BARE(RDEVVSIN, 80, 4), BARE(RDEVVSIR, 84, 4),
	BARE(RDEVVSID, 88, 4), BARE(QSBSQBVM, 92, 4), BARE(QSBSQBPV, 96, 4),
	BARE(QSBEQBVM, 100, 4), BARE(QSBEQBPV, 104, 4), BARE(QSBLOCK, 108, 4),
	BARE(QSBFOBX, 112, 4), BARE(QSBOLCK, 116, 4), BARE(QSBSIGWT, 120, 4),
	BARE(QSBSIGRT, 124, 4), BARE(QSBSIGLT, 128, 4), BARE(SUMOFPIN, 132, 4),
	BARE(SUMUNPIN, 136, 4),
};

static const struct monrec_field iodhpp[] = {
	BARE(HPPOOLNM, 20, 2), BARE(HPPTOKEN, 22, 2), BARE(HPPNBASE, 24, 4), BARE(HPPNALIS, 28, 4),
	BARE(HPPTRIES, 32, 4), BARE(HPPFAILS, 36, 4), BARE(HPPMINCT, 40, 4), BARE(HPPMAXCT, 44, 4),
};

static const struct monrec_field iodhpc[] = {
	BARE(HPPOOLNM, 20, 2), BARE(HPPTOKEN, 22, 2),
};

static const struct monrec_field iodlpt[] = {
	BARE(CUIDSSID, 20, 2), BARE(CUIPVOPR_OLD, 22, 1), BARE(CUIPVOPR_NEW, 23, 1),
};

static const struct monrec_field iodfca[] = {
	SEEN(730, 730, FCARDEV, 20, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
};

static const struct monrec_layout records[] = {
	RECORD(6, 1, IODVON, EVENT, "device varied on", WHOLE(iodvon),
	       LENGTHS(Z(388), L(730, 730, 292))),
	RECORD(6, 2, IODVOF, EVENT, "device varied off", WHOLE(iodvof), LENGTHS(L(520, 610, 28))),
	/* Unfinished in zpmd: the fields are there, but its length is not claimed. */
	RECORD(6, 3, IODDEV, SAMPLE, "device activity", FIELDS(ioddev)),
	RECORD(6, 4, IODCAD, ANY, "cached DASD"),
	RECORD(6, 5, IODATD, EVENT, "device attached to the system", WHOLE(iodatd),
	       LENGTHS(L(530, 730, 44))),
	RECORD(6, 6, IODDTD, ANY, NULL, WHOLE(ioddtd), LENGTHS(Z(28))),
	RECORD(6, 7, IODENB, ANY, NULL, WHOLE(iodenb), LENGTHS(Z(24))),
	RECORD(6, 8, IODDSB, ANY, NULL, WHOLE(ioddsb), LENGTHS(Z(24))),
	RECORD(6, 9, IODATS, ANY, NULL),
	RECORD(6, 11, IODSON, ANY, NULL),
	RECORD(6, 12, IODSOF, ANY, NULL, WHOLE(iodsof), LENGTHS(Z(28))),
	RECORD(6, 13, IODMON, EVENT, "subchannel measurement on", WHOLE(iodmon),
	       LENGTHS(L(430, 730, 28))),
	RECORD(6, 14, IODMOF, EVENT, "subchannel measurement off", WHOLE(iodmof),
	       LENGTHS(L(430, 430, 52), L(440, 530, 68), L(740, 750, 76))),
	RECORD(6, 15, IODDDV, EVENT, "device deleted", WHOLE(iodddv), LENGTHS(L(530, 750, 28))),
	RECORD(6, 16, IODMDV, EVENT, "device modified", FIELDS(iodmdv), LENGTHS(L(710, 730, 36))),
	RECORD(6, 17, IODDCH, ANY, NULL, WHOLE(ioddch), LENGTHS(Z(24))),
	RECORD(6, 22, IODVSF, ANY, NULL, WHOLE(iodvsf), LENGTHS(Z(80))),
	RECORD(6, 23, IODVSR, ANY, NULL, WHOLE(iodvsr), LENGTHS(Z(80))),
	RECORD(6, 24, IODSZI, SAMPLE, "SCSI device activity", WHOLE(iodszi),
	       LENGTHS(Z(316), L(730, 730, 396))),
	RECORD(6, 25, IODQDA, ANY, NULL, FIELDS(iodqda)),
	RECORD(6, 26, IODQDS, ANY, NULL, WHOLE(iodqds), LENGTHS(Z(348))),
	RECORD(6, 27, IODQDD, ANY, NULL, WHOLE(iodqdd), LENGTHS(Z(348))),
	RECORD(6, 28, IODHPP, ANY, NULL, WHOLE(iodhpp), LENGTHS(Z(48))),
	RECORD(6, 29, IODHPC, ANY, NULL, WHOLE(iodhpc), LENGTHS(Z(28))),
	RECORD(6, 30, IODLPT, ANY, NULL, WHOLE(iodlpt), LENGTHS(Z(28))),
	RECORD(6, 31, IODMDE, ANY, NULL),
	RECORD(6, 51, IODFCA, EVENT, "FCP device used by emulated devices", FIELDS(iodfca),
	       LENGTHS(L(730, 730, 24))),
};

const struct catalogue_domain catalogue_io = CATALOGUE_DOMAIN(records);
