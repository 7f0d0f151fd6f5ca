/* SPDX-License-Identifier: MIT */
/*
 * What records of samples and configurations show of the model.
 *
 * Fields are named as the catalogue has them; of many it knows offset and length
 * alone, and that they mean what their names say is our choice (docs/fabricate.md).
 * Records without any field in a row are there for their number: one a processor,
 * one a user.
 */
#include "model_rows.h"

#define CPU_FIELDS CPU(PFXCPUAD, address), CPU(PFXCPUTY, type)

static const struct binding sytsyp[] = {
	CPU_FIELDS, CPU(PLSDIAGT, diagnose), CPU(PLSPRVIS, simulated), CPU(PLSEXTNX, externals),
	CPU(PLSEXTNC, sigp), CPU(PLSCTSS, starts), CPU(PLSPIOPR, page_reads),
	CPU(PLSPIOPW, page_writes),
};
static const struct binding sytprp[] = {
	CPU_FIELDS, CPU(PFXPRBTM, emulation), CPU(PFXUTIME, user_time), CPU(PFXTMSYS, system_time),
	CPU(PFXTOTWT, wait), CPU(PFXRUNCI, dispatches),
};
static const struct binding sytrsg[] = {
	SYSTEM(RSAPGABL, pageable), SYSTEM(RSAAVAIL, available),
};
static const struct binding of_cpu[] = { CPU_FIELDS };
static const struct binding sytasg[] = {
	SYSTEM(CALSLTA1, slots_free), SYSTEM(CALSLTI1, slots_used),
};
static const struct binding sytusr[] = {
	SYSTEM(SYSUSRS, users), SYSTEM(SRMCDORM, dormant_users),
};
static const struct binding sytuwt[] = {
	SYSTEM(CALTIDL, idle), SYSTEM(CALIOWT, io_wait), SYSTEM(CALWTPAG, page_wait),
	SYSTEM(CALCPUWT, cpu_wait), SYSTEM(CALCPURN, running), SYSTEM(CALOTHR, dormant),
	SYSTEM(CALQDISP, active_users), SYSTEM(SRMCELIG, eligible_users),
};
static const struct binding sytscp[] = { CPU_FIELDS, CPU(PLSDSPCN, dispatches) };
static const struct binding sytcug[] = {
	SYSTEM(LCUTNPAR, partition_number), SYSTEM(LCUTPCCT, cpu_count),
	SYSTEM(LPNUMBER, partition_number), SYSTEM(CPUCOUNT, cpu_count),
	SYSTEM(CPUCFGCT, cpu_online), SYSTEM(CPUSTNBY, cpu_standby), SYSTEM(LPARNAME, partition),
	SYSTEM(CPUSHARD, cpu_count),
};
static const struct binding sytsyg[] = {
	SYSTEM(XCTMSACT, elapsed), SYSTEM(CPUCOUNT, cpu_count), SYSTEM(CPUCFGCT, cpu_online),
	SYSTEM(CPUSTNBY, cpu_standby),
};
static const struct binding storsg[] = { SYSTEM(RSAAVLLT, available) };
static const struct binding storsp[] = {
	CPU_FIELDS, CPU(PLSPGDRD, page_reads), CPU(PLSPGDWT, page_writes),
};
static const struct binding stoasp[] = {
	DEVICE(CALVSER, volume), DEVICE(RDEVDEV, number), DEVICE(RDEVSID, subchannel),
	DEVICE(CALPAGE, slots), DEVICE(EXPCTUSI, slots_used), DEVICE(EXPCTPRD, page_reads),
	DEVICE(EXPCTPWR, page_writes), DEVICE(SCMSSCH, starts), DEVICE(SCGSSCH, starts),
};
static const struct binding of_user[] = { USER(VMDUSER, name), USER(VMDCPUAD, address) };
static const struct binding useact[] = {
	USER(VMDUSER, name), USER(VMDCPUAD, address), OF_PAGE(VMDTTIME, total_time),
	OF_PAGE(VMDVTIME, virtual_time), OF_PAGE(VMDCTPVR, resident), OF_PAGE(CALCTPGS, slots),
	OF_PAGE(CALCPPGR, page_reads), OF_PAGE(CALCPPGW, page_writes), OF_PAGE(VMDVDSCT, starts),
	OF_PAGE(VMDRELSH, share), OF_PAGE(CALTODON, logon), OF_PAGE(VMDPUTYP, type),
};
static const struct binding useint[] = {
	OF_PAGE(VMDUSER, name), OF_PAGE(VMDCPUAD, address), OF_PAGE(HFQUCT, samples),
	OF_PAGE(HFSTCT, samples), OF_PAGE(HFTIDL, idle), OF_PAGE(HFIOWT, io_wait),
	OF_PAGE(HFWTPAG, page_wait), OF_PAGE(HFCPUWT, cpu_wait), OF_PAGE(HFCPURN, running),
	OF_PAGE(HFDORM, dormant), OF_PAGE(VMDPUTYP, type),
};
static const struct binding prcprp[] = { CPU_FIELDS, CPU(HFCOUNT, samples) };
static const struct binding prcdia[] = {
	CPU(PFXCPUAD, address), CPU(PLSDGX08, dg08), CPU(PLSDGX0C, dg0c), CPU(PLSDGX44, dg44),
	CPU(PLSDGX9C, dg9c), CPU(PLSDG258, dg258), CPU(PLSTOTDI, diagnose),
};
static const struct binding ioddev[] = {
	DEVICE(RDEVLPM, available), DEVICE(RDEVSID, subchannel), DEVICE(RDEVCHPS, chpids),
	DEVICE(RDEVSER, volume), DEVICE(SCMSSCH, starts), DEVICE(SCMCOUNT, starts),
	DEVICE(SCMCNTIM, connect), DEVICE(SCMFPTIM, pending), DEVICE(SCMDDTIM, disconnect),
	DEVICE(SCGSSCH, starts), DEVICE(SCGCOUNT, starts), DEVICE(RDEVDEV, number),
};
static const struct binding iodszi[] = {
	DEVICE(RDEVDEV, number), DEVICE(DSKBLKSZ, block_size), DEVICE(DSKXFERS, starts),
	DEVICE(DSKBLKSR, blocks_read), DEVICE(DSKBLKSW, blocks_written),
};
static const struct binding iodqds[] = {
	DEVICE(RDEVDEV, number), DEVICE(BFTOA, buffers_out), DEVICE(BYTOA, bytes_out),
	DEVICE(BFFRA, buffers_in), DEVICE(BYFRA, bytes_in),
};
static const struct binding vndses[] = {
	USER(OWNER, name), USER(NICBASE, adapter), USER(NICMAC, mac), USER(LANID, lan),
	USER(VSWITCH, switched),
	USER(SESTXBYT, bytes_out), USER(SESRXBYT, bytes_in), USER(SESTXPKT, packets_out),
	USER(SESRXPKT, packets_in),
};
/* Behind the fixed part of 52 bytes: the application's own data. */
static const struct binding aplsdt[] = {
	AT_8(52, user, name), AT_8(60, user, total_time), AT_8(68, user, starts),
	AT_8(76, user, bytes_out), AT_8(84, user, bytes_in),
};
#define APPLICATION_DATA 40
#define IODDEV_LENGTH 260	/* to the end of the fields; no source tells it */

static const struct row sample[] = {
	ROW(0, 1, EACH_CPU, IS_ON, sytsyp),
	ROW(0, 2, EACH_CPU, IS_ON, sytprp),
	ROW_SYSTEM(0, 3, sytrsg),
	ROW(0, 4, EACH_CPU, IS_ON, of_cpu),
	ROW_SYSTEM(0, 6, sytasg),
	ROW_SYSTEM(0, 8, sytusr),
	ROW(0, 11, EACH_CPU, IS_ON, of_cpu),
	ROW_SYSTEM(0, 12, sytuwt),
	ROW(0, 13, EACH_CPU, IS_ON, sytscp),
	ROW_SYSTEM(0, 15, sytcug),
	ROW_SYSTEM(0, 19, sytsyg),
	ROW_SYSTEM(3, 1, storsg),
	ROW(3, 2, EACH_CPU, IS_ON, storsp),
	ROW(3, 4, EACH_DEVICE, IS_ON | IS_PAGING, stoasp),
	ROW(4, 3, EACH_PROCESSOR, IS_ON, useact),
	ROW(4, 4, EACH_PROCESSOR, IS_ON, useint),
	ROW(5, 3, EACH_CPU, IS_ON, prcprp),
	ROW(5, 12, EACH_CPU, IS_ON, prcdia),
	ROW_MORE(6, 3, EACH_DEVICE, IS_ON, IODDEV_LENGTH, ioddev),
	ROW(6, 24, EACH_DEVICE, IS_ON | IS_SCSI, iodszi),
	ROW(6, 26, EACH_DEVICE, IS_ON | IS_OSA, iodqds),
	ROW(8, 1, EACH_USER, IS_ON | HAS_NETWORK, vndses),
	ROW_MORE(10, 2, EACH_USER, IS_ON | HAS_APPLICATION, APPLICATION_DATA, aplsdt),
};
const struct rows rows_sample = { sample, COUNT(sample) };

static const struct binding mtrsys[] = {
	SYSTEM(SYSTODST, ipl), SYSTEM(SYSTMID, name),
	SYSTEM(SYSMTYPE, machine), SYSTEM(LPNUMBER, partition_number), SYSTEM(CPUCOUNT, cpu_count),
	SYSTEM(CPUCFGCT, cpu_online), SYSTEM(CPUSTNBY, cpu_standby), SYSTEM(LPARNAME, partition),
	SYSTEM(CPUSHARD, cpu_count),
};
static const struct binding mtrmem[] = { SYSTEM(RSASTORE, bytes) };
/* SDOMAINS and EDOMAINS go on in the byte behind them. */
static const struct binding mtrspr[] = {
	SYSTEM(INTERVAL, interval), SYSTEM(HFRATE, rate), AT(28, 2, system, sample_domains),
	SYSTEM(CONFIG, sample_config),
};
static const struct binding mtrepr[] = {
	AT(20, 2, system, event_domains), SYSTEM(CONFIG, event_config),
};
static const struct binding mtrddr[] = { SYSTEM(PROFILE, profile), SYSTEM(DMNUMBER, domain) };

static const struct row sample_config[] = {
	ROW_SYSTEM(1, 4, mtrsys),
	ROW(1, 5, EACH_CPU, IS_ON, of_cpu),
	ROW_SYSTEM(1, 7, mtrmem),
	ROW_SYSTEM(1, 9, mtrspr),
	ROW(1, 14, EACH_DOMAIN, 0, mtrddr),
	ROW(1, 15, EACH_PROCESSOR, IS_ON, of_user),
};
const struct rows rows_sample_config = { sample_config, COUNT(sample_config) };

static const struct row event_config[] = {
	ROW_SYSTEM(1, 1, mtrepr),
	/* Anything but 0 here: of events. */
	ROW(1, 14, EACH_DOMAIN, IS_ON, mtrddr),
};
const struct rows rows_event_config = { event_config, COUNT(event_config) };
