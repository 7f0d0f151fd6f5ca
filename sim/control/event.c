/* SPDX-License-Identifier: MIT */
/* Events: what each has, and what the CP reports. */
#include <stdio.h>
#include <string.h>

#include "table.h"
#include "trace_file.h"
#include "zvmlab/event.h"
#include "zvmlab/spool.h"

MEMBERS(user_text_data) = {
	STRING("user", 0, U32, "User ID."), STRING("text", 0, U32, "The line."), END,
};
MEMBERS(command_data) = {
	STRING("command", 0, U32, "As given."), INT("rc", 0, U63, "Return code."), END,
};
MEMBERS(segment_data) = {
	STRING("segment", 0, U32, "Name."), STRING("state", 0, U32, "loaded or purged."), END,
};
#define USER_PATH(value, d) \
	{ STRING("user", 0, U32, "User ID."), INT("path", 0, U32, "Path id on its side."), \
	  INT(value, 0, U63, d), END }
MEMBERS(limit_data) = USER_PATH("limit", "Message limit granted.");
MEMBERS(code_data) = USER_PATH("code", "IPUSER byte 0.");
MEMBERS(set_data) = USER_PATH("set", "Number of the set.");
MEMBERS(lost_data) = USER_PATH("lost", "Sets this user has lost so far.");
#define USER_SERVICE(value, d) \
	{ STRING("user", 0, U32, "User ID."), STRING("service", 0, U32, "Service."), \
	  INT("path", 0, U32, "Path id on the user's side."), INT(value, 0, U63, d), END }
MEMBERS(recording_code_data) = USER_SERVICE("code", "IPUSER byte 0.");
MEMBERS(recording_count_data) = USER_SERVICE("count", "Records in its queue.");
MEMBERS(watchdog_data) = {
	STRING("user", 0, U32, "User ID."), STRING("command", 0, U32, "What CP has run."),
	INT("rc", 0, U63, "Return code."), END,
};
MEMBERS(machine_data) = {
	STRING("user", 0, U32, "User ID."),
	STRING("request", 0, U32, "restart, signal-shutdown or logoff."), END,
};
MEMBERS(fault_data) = {
	STRING("point", 0, U32, "Where."), STRING("name", 0, U32, "Partner, service or segment."),
	INT("rule", 0, U63, "Number of the rule."), END,
};
MEMBERS(page_data) = {
	STRING("what", 0, U32, "held, initial, completion, resolved or turns-end."),
	INT("cpu", 0, 0, CP_MAX_CPUS - 1, "Whose."), INT("fault", 0, U63, "Its number, or 0."), END,
};
MEMBERS(spool_data) = {
	STRING("user", 0, U32, "User ID."), STRING("queue", 0, U32, "RDR, PUN, PRT; full: no room."),
	INT("id", 0, 0, SPOOL_MAX_ID, "Number of the file; 0: full."), END,
};
MEMBERS(hmc_data) = {
	STRING("file", 0, U32, "As the guest has named it."),
	STRING("what", 0, U32, "held, or the function that has ended: get, put …"),
	INT("value", 0, U63, "held: the function's code; else the status."), END,
};
MEMBERS(kasan_data) = {
	STRING("call", 0, U32, "CP's, as the trace names it."),
	STRING("access", 0, U32, "What CP did, and the shadow there and around."),
	INT("address", 0, U63, "Its first byte; guest real."), END,
};
MEMBERS(disk_data) = {
	INT("device", 0, U16, "Number of the disk."), STRING("what", 0, U32, "held or ended."),
	INT("request", 0, U63, "Its number."), END,
};
MEMBERS(iucv_data) = {
	NAME("peer", 0, "Whose event."), INT("type", 0, 1, 9, "IPTYPE."),
	INT("path", 0, U16, "IPPATHID."), INT("trgcls", 0, U32, "IPTRGCLS."),
	DATA("data", OPT, 0, CTL_MAX_DATA, "Complete: the reply; of a stream: the message."),
	INT("flags", OPT, U8, "IPFLAGS1; absent with a one-way message of a stream, as what follows."),
	INT("msglim", OPT, U16, "IPMSGLIM."), STRING("vmid", OPT, 0, 8, "IPVMID."),
	DATA("ipuser", OPT, 16, 16, "IPUSER."), INT("msgid", OPT, U32, "IPMSGID."),
	INT("srccls", OPT, U32, "IPSRCCLS."), INT("msgtag", OPT, U32, "IPMSGTAG."),
	INT("audit", OPT, U32, "IPAUDIT."), DATA("rmmsg", OPT, 8, 8, "IPRMMSG, with flag X'80'."),
	INT("length", OPT, U32, "IPBFLN1F."),
	INT("answer-length", OPT, U32, "IPBFLN2F: longest reply; complete: unused of it."), END,
};
MEMBERS(dropped_data) = {
	INT("client", 0, U63, "Number of the connection."), STRING("reason", 0, U32, "Why."), END,
};
MEMBERS(reason_data) = { STRING("reason", 0, U32, "Why."), END };

const struct ctl_event_info ctl_events[] = {
	{ "reset", "The guest was reset.", NULL },
	{ "console", "A line CP writes to a user's console.", user_text_data },
	{ "command", "The guest has given a CP command.", command_data },
	{ "segment", "The guest has loaded or purged a segment.", segment_data },
	{ "monitor-connected", "*MONITOR has accepted a path.", limit_data },
	{ "monitor-severed", "A path of *MONITOR was severed.", code_data },
	{ "monitor-message", "A set was announced.", set_data },
	{ "monitor-replied", "A set was replied to.", set_data },
	{ "monitor-lost", "A set was not delivered.", lost_data },
	{ "recording-connected", "A recording service has accepted a path.", recording_count_data },
	{ "recording-severed", "A path of a recording service was severed.", recording_code_data },
	{ "recording-received", "A user has received a record.", recording_count_data },
	{ "watchdog", "The time bomb of DIAGNOSE X'288' has gone off.", watchdog_data },
	{ "machine", "A CP command asks something of the machine.", machine_data },
	{ "fault", "A fault was carried out.", fault_data },
	{ "page", "The guest met a page that is out, or was told of one.", page_data },
	{ "spool", "A file was put on a queue, or there was no room for one.", spool_data },
	{ "hmc", "A transfer from or to the HMC's drive waits, or has ended.", hmc_data },
	{ "kasan", "CP used storage that the guest's kernel has not got at present.", kasan_data },
	{ "disk", "A request for blocks of a disk waits, or has ended.", disk_data },
	{ "iucv-event", "An interruption for a peer; its owner only.", iucv_data },
	{ "client-dropped", "Another client was dropped.", dropped_data },
	{ "capture-ended", "The capture file cannot be written any more.", reason_data },
	{ "trace-ended", "The trace ends before the machine does.", reason_data },
};
const size_t ctl_event_count = sizeof(ctl_events) / sizeof(ctl_events[0]);

/* Members that the fields of struct cp_event become; NULL: not sent. */
static const struct {
	const char *name, *text, *path, *value;
} keys[CP_EVENT_KINDS] = {
	[CP_EVENT_RESET] = { 0 },
	[CP_EVENT_CONSOLE] = { .name = "user", .text = "text" },
	[CP_EVENT_COMMAND] = { .text = "command", .value = "rc" },
	[CP_EVENT_SEGMENT] = { .name = "segment", .text = "state" },
	[CP_EVENT_MONITOR_CONNECTED] = { .name = "user", .path = "path", .value = "limit" },
	[CP_EVENT_MONITOR_SEVERED] = { .name = "user", .path = "path", .value = "code" },
	[CP_EVENT_MONITOR_MESSAGE] = { .name = "user", .path = "path", .value = "set" },
	[CP_EVENT_MONITOR_REPLIED] = { .name = "user", .path = "path", .value = "set" },
	[CP_EVENT_MONITOR_LOST] = { .name = "user", .path = "path", .value = "lost" },
	[CP_EVENT_PAGE] = { .text = "what", .path = "cpu", .value = "fault" },
	[CP_EVENT_SPOOL] = { .name = "user", .text = "queue", .value = "id" },
	[CP_EVENT_RECORDING_CONNECTED] = { "user", "service", "path", "count" },
	[CP_EVENT_RECORDING_SEVERED] = { "user", "service", "path", "code" },
	[CP_EVENT_RECORDING_RECEIVED] = { "user", "service", "path", "count" },
	[CP_EVENT_WATCHDOG] = { .name = "user", .text = "command", .value = "rc" },
	[CP_EVENT_MACHINE] = { .name = "user", .text = "request" },
	[CP_EVENT_HMC] = { .name = "file", .text = "what", .value = "value" },
	[CP_EVENT_KASAN] = { .name = "call", .text = "access", .value = "address" },
	[CP_EVENT_DISK] = { .text = "what", .path = "device", .value = "request" },
	[CP_EVENT_FAULT] = { .name = "name", .text = "point", .value = "rule" },
};

void ctl_event(struct ctl *ctl, const struct cp_event *event)
{
	json_t *data;

	if (!ctl)
		return;
	if (event->kind == CP_EVENT_MONITOR_MESSAGE)
		ctl_capture_set(ctl, event->value);
	data = json_object();
	if (keys[event->kind].name)
		json_object_set_new(data, keys[event->kind].name,
				    ctl_json_text(event->name, strlen(event->name)));
	if (keys[event->kind].text)
		json_object_set_new(data, keys[event->kind].text,
				    ctl_json_text(event->text, strlen(event->text)));
	if (keys[event->kind].path)
		json_object_set_new(data, keys[event->kind].path, json_integer(event->path));
	if (keys[event->kind].value)
		json_object_set_new(data, keys[event->kind].value, ctl_json_u64(event->value));
	ctl_notify(ctl, NULL, cp_event_name(event->kind), data);
}

void ctl_trace_line(struct ctl *ctl, struct trace_file *file, const char *line, size_t len)
{
	trace_file_line(file, line, len);
	if (!ctl || ctl->trace_ended[0] || !trace_file_ended(file))
		return;
	snprintf(ctl->trace_ended, sizeof(ctl->trace_ended), "%s", trace_file_ended(file));
	ctl_notify(ctl, NULL, "trace-ended", json_pack("{s:s}", "reason", ctl->trace_ended));
}
