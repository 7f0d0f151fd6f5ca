/* SPDX-License-Identifier: MIT */
/* Domain 1: Monitor. */
#include "catalogue_private.h"

static const struct monrec_field mtrepr[] = {
	SEEN(440, 730, EDOMAINS, 20, 1, BITS, ATTRIBUTE, NONE,
	     "domains enabled for events: 40 monitor, 20 scheduler, 10 storage, 08 user, 04 "
	     "processor, 02 I/O, 01 seeks"),
	SEEN(440, 530, CONFIG, 22, 2, UNSIGNED, GAUGE, PAGES, "size of the configuration area"),
};

static const struct monrec_field mtrsus[] = {
	SEEN(530, 730, LOSTRCCT, 20, 4, UNSIGNED, GAUGE, RECORDS,
	     "event records lost while recording was suspended"),
};

static const struct monrec_field mtrsys[] = {
	SEEN(420, 620, HCPCPEPP, 20, 8, BITS, ATTRIBUTE, NONE,
	     "program-product bit map: release level, as DIAGNOSE 0 gives it"),
	SEEN(530, 620, HCPCPEID, 28, 8, TEXT, ATTRIBUTE, NONE, "version"),
	ZPMD(SYSTODST, 36, 8, TOD, ATTRIBUTE, NONE, "last IPL"),
	ZPMD(SYSTERM, 44, 8, TOD, ATTRIBUTE, NONE, "termination"),
	ZPMD(SYSDATE, 52, 8, TEXT, ATTRIBUTE, NONE, "current date"),
	ZPMD(SYSABNCD, 60, 8, TEXT, ATTRIBUTE, NONE, "abend code of the last termination"),
	BARE(SYSZONE, 80, 4), BARE(CALFLGS, 84, 1), BARE(SYSVRFSG, 85, 1), BARE(CALFLG2, 86, 1),
	ZPMD(SYSTMID, 88, 8, TEXT, ATTRIBUTE, NONE, "system identifier"),
	ZPMD(SYSCKVOL, 96, 6, TEXT, ATTRIBUTE, NONE, NULL),
	ZPMD(SYSWMVOL, 102, 6, TEXT, ATTRIBUTE, NONE, NULL),
	ZPMD(SYSMTYPE, 108, 4, TEXT, ATTRIBUTE, NONE, NULL),
	ZPMD(SYSMMODL, 112, 16, TEXT, ATTRIBUTE, NONE, NULL),
	ZPMD(SYSMSEQC, 128, 16, TEXT, ATTRIBUTE, NONE, NULL),
	ZPMD(SYSMPOM, 144, 4, TEXT, ATTRIBUTE, NONE, NULL),
	BARE(LPNUMBER, 148, 2), BARE(CPUCHAR, 150, 1), BARE(CPUCOUNT, 152, 2),
	BARE(CPUCFGCT, 154, 2), BARE(CPUSTNBY, 156, 2), BARE(CPURESVD, 158, 2),
	ZPMD(LPARNAME, 160, 8, TEXT, ATTRIBUTE, NONE, NULL),
	BARE(LPARCAF, 168, 4), BARE(CPUDEDCT, 172, 2), BARE(CPUSHARD, 174, 2),
	BARE(CPUCAPAB, 176, 4), BARE(SCPCAPAB, 180, 4),
};

static const struct monrec_field mtrprp[] = {
	ZPMD(PFXCPUAD, 20, 2, UNSIGNED, ATTRIBUTE, NONE, "address of the real processor"),
	BARE_AS(PFXIDMDL, 22, 2, BYTES), BARE(PFXIDSER, 24, 3), BARE(CALFLAGS, 28, 1),
	BARE(PCCCSU, 29, 1), BARE(PFXIDVER, 30, 1), BARE(PFXTYPE, 31, 1), BARE(CALUDED, 32, 8),
	BARE(PFXCPUTY, 40, 1),
};

static const struct monrec_field mtrmem[] = {
	SEEN(440, 730, RSASTORE, 20, 4, UNSIGNED, GAUGE, BYTES,
	     "size of real storage at initialisation"),
};

static const struct monrec_field mtrspr[] = {
	SEEN(430, 640, INTERVAL, 20, 4, SIGNED, GAUGE, SECONDS, "length of the sample interval"),
	SEEN(530, 640, HFRATE, 24, 4, SIGNED, GAUGE, CENTISECONDS,
	     "time between high-frequency samples"),
	SEEN(530, 640, SDOMAINS, 28, 1, BITS, ATTRIBUTE, NONE,
	     "domains enabled for samples: 80 system, 40 monitor, 10 storage, 08 user, 04 "
	     "processor, 02 I/O; in the byte behind 80 virtual network, 20 application data"),
	SEEN(430, 540, HDOMAINS, 30, 1, BITS, ATTRIBUTE, NONE,
	     "domains enabled for high-frequency samples"),
	SEEN(430, 540, CONFIG, 32, 2, UNSIGNED, GAUGE, PAGES, "size of the configuration area"),
};

static const struct monrec_field mtrscm[] = {
	SEEN(530, 730, CALTOD, 20, 8, TOD, ATTRIBUTE, NONE, "when the command was issued"),
	SEEN(530, 730, CALBYCT, 28, 4, UNSIGNED, GAUGE, BYTES,
	     "length of the command that follows"),
};

static const struct monrec_field mtrddr[] = {
	SEEN(430, 730, PROFILE, 20, 1, TEXT, ATTRIBUTE, NONE,
	     "E: domain of events, S: of samples"),
	SEEN(620, 730, DMNUMBER, 21, 1, UNSIGNED, ATTRIBUTE, NONE, "domain"),
};

static const struct monrec_field mtrusr[] = {
	SEEN(540, 730, VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	SEEN(540, 540, VMDCPUAD, 28, 2, UNSIGNED, ATTRIBUTE, NONE,
	     "address of the virtual processor"),
};

static const struct monrec_field mtrxsg[] = {
	BARE(XSTOTALB, 20, 8), BARE(SYSXTSIZ, 28, 8),
};

static const struct monrec_field mtrccc[] = {
	BARE(CPUCAPAB, 20, 4), BARE(SCPCAPAB, 24, 4),
};

static const struct monrec_field mtrhpp[] = {
	BARE(HPPOOLNM, 20, 2), BARE(HPPTOKEN, 22, 2),
};

static const struct monrec_field mtrmcc[] = {
	SEEN(610, 750, SYSGSTBY, 20, 8, UNSIGNED, GAUGE, BYTES, "standby storage"),
	SEEN(610, 750, SYSGSTRS, 28, 8, UNSIGNED, GAUGE, BYTES, "reserved storage"),
	SEEN(620, 620, RSAGOFFL, 36, 8, UNSIGNED, GAUGE, FRAMES, "offline frames above 2 GiB"),
	SEEN(620, 620, RSAOFFLN, 44, 4, UNSIGNED, GAUGE, FRAMES, "offline frames below 2 GiB"),
};

static const struct monrec_field mtrsrv[] = {
	SEEN(750, 750, SRVOFF, 20, 2, UNSIGNED, ATTRIBUTE, NONE, "offset to the service data"),
};

static const struct monrec_field mtrchc[] = {
	SEEN(740, 750, CHACHPID, 20, 1, UNSIGNED, ATTRIBUTE, NONE, "channel path identifier"),
};

static const struct monrec_field mtrfac[] = {
	SEEN(730, 730, VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID that altered them"),
};

static const struct monrec_layout records[] = {
	RECORD(1, 1, MTREPR, EVENT_CONFIG, "event profile", WHOLE(mtrepr),
	       LENGTHS(L(440, 530, 24), L(710, 730, 52))),
	RECORD(1, 2, MTRECM, EVENT, "MONITOR EVENT command", .variable = true,
	       LENGTHS(L(730, 730, 24))),
	RECORD(1, 3, MTRSUS, EVENT, "end of a suspension", WHOLE(mtrsus),
	       LENGTHS(L(530, 730, 24))),
	RECORD(1, 4, MTRSYS, SAMPLE_CONFIG, "system configuration data", WHOLE(mtrsys),
	       LENGTHS(L(420, 420, 108), L(430, 440, 176), L(510, 530, 184), L(540, 610, 420),
		       L(620, 620, 428))),
	RECORD(1, 5, MTRPRP, SAMPLE_CONFIG, "processor configuration", WHOLE(mtrprp),
	       LENGTHS(Z(44))),
	RECORD(1, 6, MTRDEV, SAMPLE_CONFIG, "device configuration", LENGTHS(L(730, 730, 320))),
	RECORD(1, 7, MTRMEM, SAMPLE_CONFIG, "memory configuration data", FIELDS(mtrmem),
	       LENGTHS(L(440, 440, 100), L(730, 730, 326))),
	RECORD(1, 8, MTRPAG, SAMPLE_CONFIG, NULL),
	RECORD(1, 9, MTRSPR, SAMPLE_CONFIG, "sample profile", WHOLE(mtrspr),
	       LENGTHS(L(430, 540, 36), L(620, 640, 48), L(750, 750, 52))),
	RECORD(1, 10, MTRSCM, SAMPLE, "MONITOR SAMPLE command", WHOLE(mtrscm), .variable = true,
	       LENGTHS(L(530, 730, 32))),
	RECORD(1, 11, MTREND, ANY, "end of an interval", LENGTHS(L(730, 730, 20))),
	RECORD(1, 12, MTRSOS, EVENT, "begin of a suspension", LENGTHS(L(630, 630, 20))),
	RECORD(1, 13, MTREOF, ANY, "end of a frame", LENGTHS(L(730, 730, 20))),
	RECORD(1, 14, MTRDDR, ANY, "domain detail", FIELDS(mtrddr), .variable = true,
	       LENGTHS(L(430, 750, 28))),
	RECORD(1, 15, MTRUSR, SAMPLE_CONFIG, "user logged on", FIELDS(mtrusr),
	       LENGTHS(L(540, 540, 204), L(620, 620, 224), L(730, 730, 348))),
	RECORD(1, 16, MTRSCH, ANY, NULL),
	RECORD(1, 17, MTRXSG, SAMPLE_CONFIG, "expanded storage data", WHOLE(mtrxsg),
	       LENGTHS(Z(36))),
	RECORD(1, 18, MTRCCC, ANY, NULL, WHOLE(mtrccc), LENGTHS(Z(28))),
	RECORD(1, 19, MTRQDC, ANY, "QDIO configuration"),
	RECORD(1, 20, MTRHPP, ANY, NULL, WHOLE(mtrhpp), LENGTHS(Z(24))),
	RECORD(1, 21, MTRMCC, EVENT, "memory configuration change", FIELDS(mtrmcc),
	       LENGTHS(L(610, 610, 36), L(620, 750, 48))),
	RECORD(1, 23, MTRISC, ANY, NULL),
	RECORD(1, 24, MTRILC, SAMPLE_CONFIG, "devices of an ISFC logical link",
	       LENGTHS(L(740, 750, 96))),
	RECORD(1, 25, MTRSSI, ANY, NULL),
	RECORD(1, 28, MTRCPC, ANY, NULL),
	RECORD(1, 29, MTRCPD, ANY, NULL),
	RECORD(1, 31, MTRSRV, SAMPLE_CONFIG, "service applied to CP", FIELDS(mtrsrv),
	       .variable = true, LENGTHS(L(750, 750, 28))),
	RECORD(1, 32, MTRCHC, SAMPLE_CONFIG, "channel path used by emulated devices",
	       FIELDS(mtrchc), LENGTHS(L(740, 750, 24))),
	RECORD(1, 36, MTRAZN, ANY, NULL),
	RECORD(1, 37, MTRFAC, EVENT, "facilities of the system altered", FIELDS(mtrfac),
	       LENGTHS(L(730, 730, 36))),
};

const struct catalogue_domain catalogue_monitor = CATALOGUE_DOMAIN(records);
