/* SPDX-License-Identifier: MIT */
/* Words of the protocol for the core's enumerations. */
#include "ctl_private.h"
#include "zvmlab/appldata.h"
#include "zvmlab/dcss.h"
#include "zvmlab/fault.h"
#include "zvmlab/monitor.h"
#include "zvmlab/page.h"
#include "zvmlab/recording.h"
#include "zvmlab/spool.h"

const char *const ctl_fault_points[FAULT_POINTS + 1] = {
#define FAULT_POINT(id, name, kinds, text) [FAULT_##id] = name,
#include "zvmlab/fault_points.def"
#undef FAULT_POINT
};

/* Without FAULT_NONE. */
const char *const ctl_fault_kinds[FAULT_KINDS] = {
#define FAULT_KIND(id, name, min, max, text) [FAULT_##id - 1] = name,
#include "zvmlab/fault_kinds.def"
#undef FAULT_KIND
};

const char *const ctl_functions[IUCV_FUNCTIONS + 1] = {
	[IUCV_QUERY] = "query",
	[IUCV_TEST_MESSAGE] = "test-message",
	[IUCV_RETRIEVE_BUFFER] = "retrieve-buffer",
	[IUCV_DESCRIBE] = "describe",
	[IUCV_SEND] = "send",
	[IUCV_RECEIVE] = "receive",
	[IUCV_REPLY] = "reply",
	[IUCV_TEST_COMPLETION] = "test-completion",
	[IUCV_REJECT] = "reject",
	[IUCV_PURGE] = "purge",
	[IUCV_ACCEPT] = "accept",
	[IUCV_CONNECT] = "connect",
	[IUCV_DECLARE_BUFFER] = "declare-buffer",
	[IUCV_QUIESCE] = "quiesce",
	[IUCV_RESUME] = "resume",
	[IUCV_SEVER] = "sever",
	[IUCV_SET_MASK] = "set-mask",
	[IUCV_SET_CONTROL_MASK] = "set-control-mask",
};

const char *const ctl_spool_queues[] = {
	[SPOOL_RDR] = "RDR", [SPOOL_PUN] = "PUN", [SPOOL_PRT] = "PRT", NULL,
};

const char *const ctl_spool_devices[] = {
	[SPOOL_RDR] = "RDR", [SPOOL_PUN] = "PUN", [SPOOL_PRT] = "PRT", [SPOOL_DUMP] = "DMP", NULL,
};

const char *const ctl_recordings[REC_SERVICES + 1] = {
#define REC_SERVICE(id, service, recording, retriever, limit) [REC_##id] = service,
#include "zvmlab/recording_services.def"
#undef REC_SERVICE
};

const char *const ctl_rec_states[] = {
	[REC_INACTIVE] = "inactive", [REC_ACTIVE] = "active", [REC_PENDING] = "pending", NULL,
};

const char *const ctl_mon_kinds[MON_KINDS + 1] = {
	[MON_SAMPLE_CONFIG] = "sample-config",
	[MON_SAMPLE] = "sample",
	[MON_EVENT_CONFIG] = "event-config",
	[MON_EVENT] = "event",
};

const char *const ctl_page_initial[] = {
	[PAGE_INITIAL_HELD] = "held",
	[PAGE_INITIAL_PENDING] = "pending",
	[PAGE_INITIAL_TAKEN] = "presented",
	NULL,
};

const char *const ctl_page_completion[] = {
	[PAGE_COMPLETION_WAITS] = "waits",
	[PAGE_COMPLETION_PENDING] = "pending",
	[PAGE_COMPLETION_TAKEN] = "presented",
	NULL,
};

const char *const ctl_appldata_kinds[APPLDATA_KINDS + 1] = {
	[APPLDATA_INTERVAL] = "interval",
	[APPLDATA_CONFIG] = "config",
};

const char *const ctl_mon_fates[] = {
	[MON_DELIVERED] = "delivered",
	[MON_LOST_LIMIT] = "lost-limit",
	[MON_LOST_SPACE] = "lost-space",
	[MON_LOST_QUIESCED] = "lost-quiesced",
	[MON_NO_USER] = "no-user",
	NULL,
};

const char *const ctl_path_states[] = {
	[IUCV_PATH_FREE] = "free",	 [IUCV_PATH_CONNECTING] = "connecting",
	[IUCV_PATH_PENDING] = "pending", [IUCV_PATH_OPEN] = "open",
	[IUCV_PATH_SEVERED] = "severed", NULL,
};

const char *const ctl_segment_types[] = {
	[DCSS_SW] = "SW", [DCSS_EW] = "EW", [DCSS_SR] = "SR", [DCSS_ER] = "ER",
	[DCSS_SN] = "SN", [DCSS_EN] = "EN", [DCSS_SC] = "SC", NULL,
};

const char *const ctl_when[] = {
	[FAULT_ALWAYS] = "always",
	[FAULT_NTH] = "nth",
	[FAULT_EVERY] = "every",
	[FAULT_PROBABILITY] = "probability",
	NULL,
};

const char *const ctl_fault_types[] = {
	[FAULT_TYPE_POINT] = "point", [FAULT_TYPE_KIND] = "kind", [FAULT_TYPE_NUMBER] = "number",
	[FAULT_TYPE_NAME] = "name",   [FAULT_TYPE_BYTE] = "byte", [FAULT_TYPE_PATH] = "path",
	[FAULT_TYPE_WHEN] = "when",   NULL,
};

const char *const ctl_issuers[] = { "operator", "guest", NULL };
const char *const ctl_user_kinds[] = { "guest", "service", "peer", NULL };
