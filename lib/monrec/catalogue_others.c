/* SPDX-License-Identifier: MIT */
/* The small domains: seeks, virtual network, ISFC, application data, SSI. */
#include "catalogue_private.h"

static const struct monrec_field seksek[] = {
	ZPMD(RDEVSID, 20, 4, UNSIGNED, ATTRIBUTE, NONE, "host's subchannel number"),
	BARE(CALCURCY, 24, 2), BARE(CALSKCYL, 26, 2), BARE(CALSKHD, 28, 2), BARE(CALFLAGS, 30, 1),
	ZPMD(VMDUSER, 32, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	BARE(IORPOSCT, 40, 4), BARE(IORPOSSM, 44, 4), BARE(CALECYL, 48, 2), BARE(VDEVDEV, 50, 2),
	ZPMD(CALUSER, 52, 8, TEXT, ATTRIBUTE, NONE, NULL),
	ZPMD(RDEVDEV, 60, 2, UNSIGNED, ATTRIBUTE, NONE, "device number"),
};

static const struct monrec_field vndses[] = {
	BARE(VDEVSUB, 20, 2),
	ZPMD(OWNER, 24, 8, TEXT, ATTRIBUTE, NONE, NULL),
	BARE(VDEVDEV, 32, 2), BARE(NICBASE, 34, 2), BARE(NICMAC, 36, 6), BARE(NICTRANP, 42, 1),
	BARE(NICTYPE, 43, 1),
	ZPMD(LANID, 44, 16, TEXT, ATTRIBUTE, NONE, NULL),
	BARE(VSWITCH, 60, 1), BARE(NIC_LOCKREQS, 64, 8), BARE(LANDEFER, 72, 8),
	BARE(TXDEFERS, 80, 8), BARE(RXDEFERS, 88, 8), BARE(SESTXBYT, 96, 8),
	BARE(SESRXBYT, 104, 8), BARE(SESTXPKT, 112, 8), BARE(SESTXDSC, 120, 8),
	BARE(SESTXERR, 128, 8), BARE(SESRXPKT, 136, 8), BARE(SESRXDSC, 144, 8),
	BARE(SESRXERR, 152, 8), BARE(SESRXPCI, 160, 8), BARE(SESTXPCI, 168, 8),
	BARE(SWPGROUP, 176, 8), BARE(SWPINTSC, 184, 2), BARE(NIDDVNUM1, 188, 2),
	BARE(VRTPFRME1, 192, 4), BARE(NIDDVNUM2, 196, 2), BARE(VRTPFRME2, 200, 4),
	BARE(NIDDVNUM3, 204, 2), BARE(VRTPFRME3, 208, 4), BARE(NIDDVNUM4, 212, 2),
	BARE(VRTPFRME4, 216, 4), BARE(NIDDVNUM5, 220, 2), BARE(VRTPFRME5, 224, 4),
	BARE(NIDDVNUM6, 228, 2), BARE(VRTPFRME6, 232, 4), BARE(NIDDVNUM7, 236, 2),
	BARE(VRTPFRME7, 240, 4), BARE(NIDDVNUM8, 244, 2), BARE(VRTPFRME8, 248, 4),
	BARE(TXREQS, 252, 8), BARE_AS(TXREQSHI, 260, 4, BYTES), BARE_AS(TXREQSLO, 264, 4, BYTES),
	BARE(RXREQS, 268, 8), BARE_AS(RXREQSHI, 276, 4, BYTES), BARE_AS(RXREQSLO, 280, 4, BYTES),
	BARE(STKREQS, 284, 8), BARE_AS(STKREQHI, 292, 4, BYTES), BARE_AS(STKREQLO, 296, 4, BYTES),
	BARE(STKDEFERS, 300, 8), BARE_AS(STKDEFERSHI, 308, 4, BYTES),
	BARE_AS(STKDEFERSLO, 312, 4, BYTES),
};

static const struct monrec_field vndlsu[] = {
	SEEN(530, 610, LANOWNER, 20, 8, TEXT, ATTRIBUTE, NONE, "owner of the virtual network"),
	ZPMD(LANNAME, 28, 8, TEXT, ATTRIBUTE, NONE, "name of the virtual network"),
	ZPMD(NICOWNER, 36, 8, TEXT, ATTRIBUTE, NONE, "owner of the virtual adapter"),
	ZPMD(NICBASE, 44, 2, UNSIGNED, ATTRIBUTE, NONE, "address of the virtual adapter"),
	ZPMD(NICMGPOR, 48, 4, UNSIGNED, ATTRIBUTE, NONE, "port of the guest's connection"),
	ZPMD(NICMGIFI, 52, 4, UNSIGNED, ATTRIBUTE, NONE,
	     "interface index of the guest's connection"),
};

static const struct monrec_field vndlsd[] = {
	SEEN(530, 640, LANOWNER, 20, 8, TEXT, ATTRIBUTE, NONE, "owner of the virtual network"),
	SEEN(530, 640, LANNAME, 28, 8, TEXT, ATTRIBUTE, NONE, "name of the virtual network"),
	SEEN(530, 640, NICOWNER, 36, 8, TEXT, ATTRIBUTE, NONE, "owner of the virtual adapter"),
	SEEN(530, 640, NICBASE, 44, 2, UNSIGNED, ATTRIBUTE, NONE,
	     "address of the virtual adapter"),
	SEEN(630, 640, NICTYPE, 46, 1, UNSIGNED, ATTRIBUTE, NONE,
	     "type of the adapter: 1 HiperSockets, 2 QDIO"),
	SEEN(630, 640, LANTYPE, 47, 1, UNSIGNED, ATTRIBUTE, NONE,
	     "type of the network: 1 HiperSockets, 2 QDIO"),
	SEEN(530, 540, NICMGPOR, 48, 4, UNSIGNED, ATTRIBUTE, NONE,
	     "port of the guest's connection"),
	SEEN(530, 540, NICMGIFI, 52, 4, UNSIGNED, ATTRIBUTE, NONE,
	     "interface index of the guest's connection"),
};

static const struct monrec_layout seeks[] = {
	RECORD(7, 1, SEKSEK, EVENT, "seeks", WHOLE(seksek), LENGTHS(Z(64))),
};

const struct catalogue_domain catalogue_seeks = CATALOGUE_DOMAIN(seeks);

static const struct monrec_layout network[] = {
	RECORD(8, 1, VNDSES, ANY, "session of a virtual network adapter", WHOLE(vndses),
	       LENGTHS(Z(316))),
	RECORD(8, 2, VNDLSU, EVENT, "link of a virtual network adapter up", WHOLE(vndlsu),
	       LENGTHS(Z(56), L(610, 610, 60))),
	RECORD(8, 3, VNDLSD, EVENT, "link of a virtual network adapter down", WHOLE(vndlsd),
	       LENGTHS(L(530, 540, 56), L(630, 640, 60))),
};

const struct catalogue_domain catalogue_network = CATALOGUE_DOMAIN(network);

static const struct monrec_layout isfc[] = {
	RECORD(9, 1, ISFISC, ANY, NULL),
	RECORD(9, 2, ISFISA, ANY, NULL),
};

const struct catalogue_domain catalogue_isfc = CATALOGUE_DOMAIN(isfc);

#define APPLICATION_PRODUCT                                                                \
	ZPMD(MDGPROD, 32, 16, BYTES, ATTRIBUTE, NONE,                                      \
	     "product ID: number, function, record, version, release, modification level"), \
	BARE(STATUS, 48, 1)

static const struct monrec_field apledt[] = {
	SEEN(530, 710, CALDATOF, 20, 2, SIGNED, ATTRIBUTE, NONE,
	     "offset of the application's data in the record"),
	SEEN(530, 710, CALDATLN, 22, 2, SIGNED, GAUGE, BYTES,
	     "length of the application's data"),
	ZPMD(USERID, 24, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	APPLICATION_PRODUCT,
};

static const struct monrec_field aplsdt[] = {
	ZPMD(CALDATOF, 20, 2, SIGNED, ATTRIBUTE, NONE,
	     "offset of the application's data in the record"),
	ZPMD(CALDATLN, 22, 2, SIGNED, GAUGE, BYTES, "length of the application's data"),
	ZPMD(USERID, 24, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	APPLICATION_PRODUCT,
};

static const struct monrec_layout appldata[] = {
	RECORD(10, 1, APLEDT, EVENT, "application data: an event, or the end of its monitoring",
	       WHOLE(apledt), .variable = true, LENGTHS(L(530, 720, 52))),
	RECORD(10, 2, APLSDT, SAMPLE, "application data", WHOLE(aplsdt), .variable = true,
	       LENGTHS(L(440, 640, 52))),
};

const struct catalogue_domain catalogue_appldata = CATALOGUE_DOMAIN(appldata);

static const struct monrec_layout ssi[] = {
	RECORD(11, 1, SSISCS, ANY, NULL),
	RECORD(11, 2, SSISMI, ANY, NULL),
	RECORD(11, 3, SSISCH, ANY, NULL),
	RECORD(11, 4, SSISLT, ANY, NULL),
};

const struct catalogue_domain catalogue_ssi = CATALOGUE_DOMAIN(ssi);
