/* SPDX-License-Identifier: MIT */
/* Domain 4: User. */
#include "catalogue_private.h"

static const struct monrec_field uselon[] = {
	SEEN(430, 640, VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	SEEN(430, 640, VMDCPUAD, 28, 2, UNSIGNED, ATTRIBUTE, NONE,
	     "address of the virtual processor"),
	SEEN(430, 640, VMDMODE, 30, 1, BITS, ATTRIBUTE, NONE, "mode of the guest, as CP has it"),
	SEEN(440, 620, CALSTAT, 31, 1, BITS, ATTRIBUTE, NONE,
	     "80 OPTION SVMSTAT, 40 QUICKDSP, 20 dialled, 10 through SNA"),
};

static const struct monrec_field uselof[] = {
	SEEN(430, 620, VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	SEEN(430, 620, VMDCPUAD, 28, 2, UNSIGNED, ATTRIBUTE, NONE,
	     "address of the virtual processor"),
	SEEN(430, 620, VMDMODE, 30, 1, BITS, ATTRIBUTE, NONE, "mode of the guest, as CP has it"),
	SEEN(540, 620, CALMODE, 31, 1, BITS, ATTRIBUTE, NONE,
	     "architecture of the virtual machine: 40 ESA, 20 XA, 10 370, 08 XC, "
	     "04 z/Architecture entered, 02 not that of the machine"),
};

static const struct monrec_field useact[] = {
	SEEN(610, 620, VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	SEEN(610, 620, VMDCPUAD, 28, 2, UNSIGNED, ATTRIBUTE, NONE,
	     "address of the virtual processor"),
	SEEN(610, 620, VMDMODE, 30, 1, BITS, ATTRIBUTE, NONE, "mode of the guest, as CP has it"),
	SEEN(620, 620, CALMODE, 31, 1, BITS, ATTRIBUTE, NONE,
	     "architecture of the virtual machine: 40 ESA, 20 XA, 10 370, 08 XC, "
	     "04 z/Architecture entered, 02 not that of the machine"),
	SEEN(620, 620, VMDSLIST, 32, 1, BITS, ATTRIBUTE, NONE,
	     "scheduling list that the user is on"),
};

static const struct monrec_field usedfc[] = {
	ZPMD(VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	ZPMD(VMDCPUAD, 28, 2, UNSIGNED, ATTRIBUTE, NONE, "address of the virtual processor"),
	BARE(VMDPUTYP, 32, 1), BARE(VMDCFGEM, 33, 1), BARE(VMDPUST, 34, 1), BARE(OLDPUTYP, 35, 1),
};

static const struct monrec_field usedtc[] = {
	ZPMD(VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	ZPMD(VMDCPUAD, 28, 2, UNSIGNED, ATTRIBUTE, NONE, "address of the virtual processor"),
	BARE(VMDPUTYP, 30, 1),
};

static const struct monrec_field userdc[] = {
	ZPMD(VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	ZPMD(VMDCPUAD, 28, 2, UNSIGNED, ATTRIBUTE, NONE, "address of the virtual processor"),
	BARE(NEWCPUAD, 30, 2), BARE(VMDPUTYP, 32, 1), BARE(NEWPUTYP, 33, 1), BARE(VMDCFGEM, 34, 1),
	BARE(VMDPUST, 35, 1),
};

static const struct monrec_field usetre[] = {
	SEEN(730, 730, VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
};

static const struct monrec_field useate[] = {
	ZPMD(VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	ZPMD(VMDCPUAD, 28, 2, UNSIGNED, ATTRIBUTE, NONE, "address of the virtual processor"),
	BARE(VMDMODE, 30, 1), BARE(CALMODE, 31, 1), BARE_AS(VMDTTIME, 32, 8, UNSIGNED),
	BARE_AS(VMDVTIME, 40, 8, UNSIGNED), BARE(VMDCTPVR, 64, 4), BARE(VMDCTPVL, 68, 4),
	BARE(VMDWSSPR, 72, 4), BARE(VMDCTXBK, 76, 4), BARE(VMDCTFLT, 80, 4), BARE(VMDCTORF, 88, 4),
	BARE(CALCTPGS, 92, 4), BARE(VMDCTPWT, 100, 4), BARE(CALCPPGR, 104, 4),
	BARE(CALCPPGW, 108, 4), BARE(VMDCTSPR, 112, 4), BARE(VMDCTSPW, 116, 4),
	BARE(VMDPGSPL, 120, 4), BARE(VMDVCSCT, 124, 4), BARE(VMDVDSCT, 128, 4),
	BARE(VMDVUSCT, 132, 4), BARE(VMDVTSCT, 136, 4), BARE(VMDVOSCT, 140, 4),
	BARE(CALCPPST, 144, 4), BARE(VMDISEVM, 148, 4), BARE(VMDISTVM, 152, 4),
	BARE(VMDISUVM, 156, 4), BARE(VMDVSEVM, 160, 4), BARE(VMDVSTVM, 164, 4),
	BARE(VMDVSUVM, 168, 4), BARE(VMDX98CT, 172, 4), BARE(CALCPMIG, 176, 4),
	BARE(CALCPXWT, 180, 4), BARE(CALCPXRD, 184, 4), BARE(CALFLAG1, 188, 1),
	BARE(VMDSTYPE, 189, 1), BARE(CALSHARF, 190, 1), BARE(VMDBLKCT, 192, 4),
	BARE(VMDMDCIA, 196, 4), BARE(VMDCOPCT, 200, 4), BARE(VMDCTISO, 204, 4),
	BARE(VMDRELSH, 208, 4), BARE(VMDABSSH, 212, 4), BARE(VMDSSIZE, 216, 4),
	BARE(VMDMXRVP, 220, 4), BARE(VMDACTNO, 224, 8), BARE(VMDGRPN, 232, 8),
	BARE(CALTODON, 240, 8), BARE(VMDVDISK, 248, 4), BARE(VMDMXSHR, 252, 4),
	BARE(ASCDEFSZ, 256, 8), BARE_AS(CALDEFHI, 264, 4, BYTES), BARE_AS(CALDEFLO, 268, 4, BYTES),
	BARE(VMDCTPVG, 272, 4), BARE(VMDMVB2G, 276, 4), BARE(VEBALERT, 280, 4),
	BARE(VEBTVSCT, 284, 4), BARE(VEBSVSCT, 288, 4), BARE(VEBTPIAI, 292, 4),
	BARE(VEBVIRAI, 296, 4), BARE(VEBHDWAI, 300, 4), BARE(VMDCTPVLA, 304, 8),
	BARE(VMDCTSHL, 312, 4), BARE(VMDCTSHLA, 316, 8), BARE(VMDPUTYP, 324, 1),
	BARE(VMDCFGEM, 325, 1), BARE(VMDPUST, 326, 1), BARE_AS(VMDVTMP, 328, 8, UNSIGNED),
	BARE_AS(VMDTTMP, 336, 8, UNSIGNED), BARE_AS(VMDVTMS, 344, 8, UNSIGNED),
	BARE_AS(VMDTTMS, 352, 8, UNSIGNED),
};

static const struct monrec_field useite[] = {
	ZPMD(VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	ZPMD(VMDCPUAD, 28, 2, UNSIGNED, ATTRIBUTE, NONE, "address of the virtual processor"),
	BARE_AS(VMDSLCNT, 30, 2, SIGNED), BARE(VMDSVMFX, 32, 4), BARE(VMDSVMID, 36, 8),
	BARE(VMDSVMWT, 44, 1), BARE(VMDSVMW2, 45, 1), BARE(VMDRDYCM, 46, 1), BARE(CALFLAG1, 47, 1),
	BARE(HFQUCT, 48, 4), BARE(HFDISP0, 52, 4), BARE(HFDISP1, 56, 4), BARE(HFDISP2, 60, 4),
	BARE(HFDISP3, 64, 4), BARE(HFELIG0, 68, 4), BARE(HFELIG1, 72, 4), BARE(HFELIG2, 76, 4),
	BARE(HFELIG3, 80, 4), BARE(HFSTCT, 84, 4), BARE(HFTIDL, 88, 4), BARE(HFTSVM, 92, 4),
	BARE(HFIOWT, 96, 4), BARE(HFCFWT, 100, 4), BARE(HFSIMWT, 104, 4), BARE(HFWTPAG, 108, 4),
	BARE(HFCPUWT, 112, 4), BARE(HFCPURN, 116, 4), BARE(HFESVM, 120, 4), BARE(HFLOAD, 124, 4),
	BARE(HFDORM, 128, 4), BARE_AS(HFDSVM, 132, 4, SIGNED), BARE(HFOTHR, 136, 4),
	BARE(VMDCNTID, 140, 2), BARE(VMDCTIDL, 142, 2), BARE(VMDDFRWK, 144, 4),
	BARE(VMDSTATE, 148, 1), BARE(CALOSTAT, 149, 1), BARE(CALRSTAT, 150, 1),
	BARE(VMDCPRMD_Q0, 152, 2), BARE(VMDCPRMD_Q1, 154, 2), BARE(VMDCPRMD_Q2, 156, 2),
	BARE(VMDCPRMD_Q3, 158, 2), BARE(VMDCWSGD_Q0, 160, 2), BARE(VMDCWSGD_Q1, 162, 2),
	BARE(VMDCWSGD_Q2, 164, 2), BARE(VMDCWSGD_Q3, 166, 2), BARE(VMDCETSD_Q0, 168, 2),
	BARE(VMDCETSD_Q1, 170, 2), BARE(VMDCETSD_Q2, 172, 2), BARE(VMDCETSD_Q3, 174, 2),
	BARE(VMDCIDLD_Q0, 176, 2), BARE(VMDCIDLD_Q1, 178, 2), BARE(VMDCIDLD_Q2, 180, 2),
	BARE(VMDCIDLD_Q3, 182, 2), BARE(HFIOACT, 184, 4), BARE(HFLLIST, 188, 4),
	BARE(HFPGACT, 192, 4), BARE(VMDPUTYP, 196, 1), BARE(VMDCFGEM, 197, 1),
	BARE(VMDPUST, 198, 1),
};

static const struct monrec_field usescp[] = {
	SEEN(730, 750, VMDUSER, 20, 8, TEXT, ATTRIBUTE, NONE, "user ID"),
	SEEN(730, 750, SCPTYPE, 28, 8, TEXT, ATTRIBUTE, NONE, "type of the control program"),
	SEEN(730, 750, SCPNAME, 36, 8, TEXT, ATTRIBUTE, NONE,
	     "control program's name of its system"),
	SEEN(730, 750, SCPPLEX, 44, 8, TEXT, ATTRIBUTE, NONE, "sysplex or cluster"),
	SEEN(730, 750, CALLEVEL, 52, 16, TEXT, ATTRIBUTE, NONE,
	     "level of the control program, short"),
	SEEN(730, 750, SCPLEVEL, 68, 64, TEXT, ATTRIBUTE, NONE, "level of the control program"),
};

static const struct monrec_layout records[] = {
	RECORD(4, 1, USELON, EVENT, "user logged on", FIELDS(uselon),
	       LENGTHS(L(430, 530, 96), L(540, 540, 176), L(620, 730, 180))),
	RECORD(4, 2, USELOF, EVENT, "user logged off", FIELDS(uselof),
	       LENGTHS(L(430, 430, 284), L(540, 540, 444), L(620, 620, 496))),
	RECORD(4, 3, USEACT, SAMPLE, "user activity, per virtual processor", FIELDS(useact),
	       LENGTHS(L(610, 610, 440), L(620, 620, 508))),
	RECORD(4, 4, USEINT, SAMPLE, "user interaction", LENGTHS(L(510, 510, 228))),
	RECORD(4, 5, USEDFC, ANY, "virtual CPU defined", WHOLE(usedfc), LENGTHS(Z(36))),
	RECORD(4, 6, USEDTC, ANY, "virtual CPU detached", WHOLE(usedtc), LENGTHS(Z(32))),
	RECORD(4, 7, USERDC, ANY, NULL, WHOLE(userdc), LENGTHS(Z(36))),
	RECORD(4, 8, USETRE, EVENT, "end of a user's transaction", FIELDS(usetre),
	       LENGTHS(L(730, 730, 60))),
	RECORD(4, 9, USEATE, EVENT, "user activity at the end of a transaction", WHOLE(useate),
	       LENGTHS(Z(360), L(620, 620, 352))),
	RECORD(4, 10, USEITE, EVENT, "user interaction at the end of a transaction",
	       WHOLE(useite), LENGTHS(Z(200))),
	RECORD(4, 13, USECPC, EVENT, "CPU pool change", LENGTHS(L(720, 720, 48))),
	RECORD(4, 14, USESCP, EVENT, "guest's control program identifies itself", FIELDS(usescp),
	       LENGTHS(L(730, 750, 132))),
};

const struct catalogue_domain catalogue_user = CATALOGUE_DOMAIN(records);
