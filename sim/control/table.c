/* SPDX-License-Identifier: MIT */
/* Every command: what it takes, what it returns.  docs/control-schema.json is made from this. */
#include "table.h"
#include "zvmlab/appldata.h"
#include "zvmlab/command.h"
#include "zvmlab/disk.h"
#include "zvmlab/guests.h"
#include "zvmlab/hmc.h"
#include "zvmlab/monitor.h"
#include "zvmlab/page.h"
#include "zvmlab/recording.h"
#include "zvmlab/spool.h"

/* Items of lists that are no objects with known members. */
MEMBERS(any_string) = { STRING(NULL, 0, U32, NULL) };
MEMBERS(any_object) = { OBJECT(NULL, 0, NULL, NULL) };
MEMBERS(any_name) = { NAME(NULL, 0, NULL) };
MEMBERS(any_fault_kind) = { ENUM(NULL, 0, ctl_fault_kinds, NULL) };

MEMBERS(version_returns) = {
	STRING("version", 0, U32, "Version of this emulator's CP."),
	LIST("capabilities", 0, any_string, U32, "What clients may count on."), END,
};
MEMBERS(schema_returns) = {
	LIST("commands", 0, any_object, U32, "name, text, arguments and returns of each."),
	LIST("events", 0, any_object, U32, "name, text and data of each."),
	OBJECT("faults", 0, NULL, "points, kinds and fields of query-fault-points, without reached."), END,
};
MEMBERS(extent) = {
	INT("start", 0, U63, "First byte."), INT("size", 0, U63, "Bytes."), END,
};
MEMBERS(statement) = {
	STRING("name", 0, 1, 8, "User ID, service, ALLOW or ANY."),
	INT("msglimit", 0, U16, "0: not given."), BOOL("priority", 0, "PRIORITY given."), END,
};
MEMBERS(cp_returns) = {
	STRING("userid", 0, 1, 8, "User ID of the guest."),
	STRING("classes", 0, 0, CP_CLASSES, "Privilege classes."),
	STRING("level", 0, 16, 16, "Control-program identifier."),
	STRING("account", 0, 0, 8, "Account number."),
	INT("cpus", 0, 1, CP_MAX_CPUS, "Virtual CPUs."),
	INT("max-paths", 0, 1, CP_MAX_PATHS, "OPTION MAXCONN."),
	BOOL("applmon", 0, "OPTION APPLMON."),
	INT("console", 0, U16, "Device number of the console."),
	STRING("seed", 0, 16, 16, "Hexadecimal."),
	LIST("storage", 0, extent, 1, CP_MAX_EXTENTS, "Extents."),
	LIST("iucv", 0, statement, 0, CP_MAX_DIRECTORY, "IUCV statements of the directory."),
	LIST("namesave", 0, any_name, 0, CP_MAX_DIRECTORY, "NAMESAVE statements."),
	INT("highest-address", 0, U63, "Last byte of all extents and segments."), END,
};
MEMBERS(command_args) = {
	STRING("command", 0, 1, CPCMD_MAX_COMMAND, "Commands are separated by newlines."),
	ENUM("as", OPT, ctl_issuers, "Who gives it; default operator."), END,
};
MEMBERS(command_returns) = {
	STRING("response", 0, U32, "Lines, each ended by a newline."),
	INT("rc", 0, INT32_MIN, INT32_MAX, "0, or the number of CP's message."), END,
};
MEMBERS(storage_args) = {
	INT("address", 0, U63, "Guest absolute."),
	INT("length", 0, 1, CTL_MAX_DATA, "Bytes."), END,
};
MEMBERS(kasan_args) = {
	INT("offset", OPT, U63, "CONFIG_KASAN_SHADOW_OFFSET; absent: not any more."),
	INT("identity", OPT, U63, "Virtual address of real address 0; default 0."), END,
};
MEMBERS(data_returns) = { DATA("data", 0, 0, CTL_MAX_DATA, "The bytes."), END };
MEMBERS(file_args) = { FILE_NAME("file", 0, "On the emulator's machine."), END };
MEMBERS(save_returns) = { INT("bytes", 0, U63, "Length of the file."), END };
MEMBERS(counters_returns) = {
	INT("clients", 0, 1, CTL_MAX_CLIENTS, "Connections to this socket."),
	INT("peers", 0, 0, IUCV_MAX_USERS, "Users besides the guest and the services."),
	INT("requests", 0, U63, "Requests so far, this one included."),
	INT("events", 0, U63, "Events so far."),
	INT("heap", 0, U63, "Bytes that malloc() has given to the whole emulator."),
	INT("heap-free", 0, U63, "Bytes that were freed and that malloc() keeps."),
	INT("stray-calls", 0, U63, "IUCV calls of the guest so far for a path that it has not got."),
	STRING("last-stray", OPT, 0, 32, "The function of the last one."),
	STRING("trace-ended", OPT, 0, 96, "Why the trace has ended, if it has."), END,
};

MEMBERS(create_args) = {
	OF_INPUT("name", 0, logon, user, "User ID, or a service with its * in front."),
	OF_INPUT("max-paths", OPT, logon, paths, "Default 64."),
	BOOL("persistent", OPT, "Stays when the connection ends; default false."),
	STRING("classes", OPT, 1, CP_CLASSES, "Privilege classes; default G."),
	BOOL("stream", OPT, "Events have the data of messages; default false."), END,
};
MEMBERS(create_returns) = {
	NAME("name", 0, "User ID, in upper case."),
	BOOL("adopted", 0, "The peer existed and had no owner."),
	INT("lost", 0, U63, "Events discarded while it had no owner."), END,
};
MEMBERS(peer_args) = { NAME("peer", 0, "A peer of this connection."), END };
MEMBERS(peer_command_args) = {
	NAME("peer", 0, "A peer of this connection, not a service."),
	STRING("command", 0, 1, CPCMD_MAX_COMMAND, "Commands are separated by newlines."), END,
};
MEMBERS(call_args) = {
	NAME("peer", 0, "A peer of this connection."),
	ENUM("function", 0, ctl_functions, "IUCV function."),
	OF_INPUT("path", OPT, iucv_call, path, "IPPATHID."),
	OF_INPUT("flags", OPT, iucv_call, flags, "IPFLAGS1."),
	OF_INPUT("msglim", OPT, iucv_call, msglim, "IPMSGLIM."), NAME("vmid", OPT, "IPVMID."),
	OF_INPUT("target", OPT, iucv_call, target, "IPTARGET."),
	OF_INPUT("ipuser", OPT, iucv_call, ipuser, "IPUSER."),
	OF_INPUT("msgid", OPT, iucv_call, msgid, "IPMSGID."),
	OF_INPUT("trgcls", OPT, iucv_call, trgcls, "IPTRGCLS."),
	OF_INPUT("srccls", OPT, iucv_call, srccls, "IPSRCCLS."),
	OF_INPUT("msgtag", OPT, iucv_call, msgtag, "IPMSGTAG."),
	OF_INPUT("rmmsg", OPT, iucv_call, rmmsg, "IPRMMSG, with flag X'80'."),
	OF_INPUT("mask", OPT, iucv_call, mask, "SET MASK, SET CONTROL MASK."),
	DATA("data", OPT, 0, CTL_MAX_DATA, "The message of SEND, or the reply of REPLY."),
	INT("length", OPT, 0, CTL_MAX_DATA, "RECEIVE: room."),
	INT("answer-length", OPT, 0, CTL_MAX_DATA, "SEND: room for the reply."), END,
};
MEMBERS(call_returns) = {
	INT("cc", 0, 0, 3, "Condition code."), INT("code", 0, U8, "IPRCODE with condition code 1."),
	INT("pgm", 0, U16, "Program-interruption code instead, if not 0."),
	INT("msgid", 0, U32, "IPMSGID."),
	INT("path", OPT, U16, "IPPATHID; absent with SEND whose answer may come later, as up to IPRMMSG."),
	INT("flags", OPT, U8, "IPFLAGS1."), INT("msglim", OPT, U16, "IPMSGLIM."),
	INT("trgcls", OPT, U32, "IPTRGCLS."), INT("srccls", OPT, U32, "IPSRCCLS."),
	INT("msgtag", OPT, U32, "IPMSGTAG."), INT("residual", OPT, U32, "Bytes that did not fit."),
	INT("audit", OPT, U32, "IPAUDIT."), INT("length", OPT, U32, "IPBFLN1F."),
	INT("answer-length", OPT, U32, "IPBFLN2F."), DATA("rmmsg", OPT, 8, 8, "IPRMMSG."),
	INT("room", OPT, 0, IUCV_MAX_MSGLIM, "SEND: what the path takes until its message limit."),
	DATA("data", OPT, 0, CTL_MAX_DATA, "What RECEIVE received, TEST COMPLETION's reply."), END,
};
MEMBERS(user) = {
	NAME("name", 0, "User ID or service."), ENUM("kind", 0, ctl_user_kinds, "service: of CP itself."),
	INT("paths", 0, U32, "Paths that are not free."),
	INT("events-waiting", 0, U32, "Interruptions queued."), END,
};
MEMBERS(users_returns) = { LIST("users", 0, user, 1, IUCV_MAX_USERS, "The guest first."), END };
MEMBERS(paths_args) = {
	NAME("user", 0, "User ID or service."), INT("first", OPT, U16, "Path to begin with."),
	INT("limit", OPT, 1, 4096, "Most paths to list; default 1024."), END,
};
MEMBERS(path) = {
	INT("path", 0, U16, "Path id here."), STRING("partner", 0, 0, 8, "Who is at the other end."),
	INT("partner-path", 0, U16, "Path id there."),
	ENUM("state", 0, ctl_path_states, "State of this end."),
	INT("flags", 0, U8, "IPFLAGS1 of the connection."),
	INT("msglim-send", 0, U16, "Messages this end may have outstanding."),
	INT("msglim-receive", 0, U16, "Messages the partner may have outstanding."),
	INT("sent", 0, U32, "Messages outstanding from here."),
	INT("received", 0, U32, "Messages outstanding from the partner."),
	BOOL("quiesced-here", 0, "By this end."), BOOL("quiesced-there", 0, "By the partner."), END,
};
MEMBERS(paths_returns) = {
	LIST("paths", 0, path, 0, 4096, "Paths that are not free."),
	INT("next", 0, 0, CP_MAX_PATHS, "Path to begin with for the next ones."), END,
};

MEMBERS(declared) = {
	INT("cpu", 0, 0, CP_MAX_CPUS - 1, "Whose."), INT("address", 0, U63, "Guest real."), END,
};
MEMBERS(buffers_returns) = {
	LIST("buffers", 0, declared, 0, CP_MAX_CPUS, "Of CPUs that have declared one."), END,
};

#define DIGEST(n, d) STRING(n, 0, 16, 16, d)
MEMBERS(digests_returns) = {
	DIGEST("users", "User IDs and services."), DIGEST("faults", "Fault rules, with what they counted."),
	DIGEST("segments", "Which there are, and who has loaded them."),
	DIGEST("pages", "Pages that are out, and who waits for them."),
	DIGEST("appldata", "Buffers declared with DIAGNOSE X'DC'."),
	DIGEST("monitor-sample", "MONITOR SAMPLE settings."),
	DIGEST("monitor-event", "MONITOR EVENT settings."),
	DIGEST("monitor-users", "Connected users."), END,
};

MEMBERS(arm_args) = {
#define ARM_POINT(n, ...) ENUM(n, 0, ctl_fault_points, ARM_TEXT(__VA_ARGS__)),
#define ARM_KIND(n, ...) ENUM(n, 0, ctl_fault_kinds, ARM_TEXT(__VA_ARGS__)),
#define ARM_WHEN(n, ...) ENUM(n, OPT, ctl_when, ARM_TEXT(__VA_ARGS__)),
#define ARM_NAME(n, ...) NAME(n, OPT, ARM_TEXT(__VA_ARGS__)),
#define ARM_NUMBER(n, ...) INT(n, OPT, __VA_ARGS__),
#define ARM_BYTE(n, ...) INT(n, OPT, __VA_ARGS__),
#define ARM_PATH(n, ...) INT(n, OPT, __VA_ARGS__),
#define ARM_TEXT(least, most, text) text
#define FAULT_FIELD(member, kept, saved, least, most, text) ARM_##kept(#member, least, most, text)
#include "zvmlab/fault_fields.def"
	END,
};
MEMBERS(arm_returns) = { INT("rule", 0, 1, INT32_MAX, "Number of the rule."), END };
MEMBERS(disarm_args) = { INT("rule", OPT, 1, INT32_MAX, "Number; absent: all."), END };
MEMBERS(disarm_returns) = { INT("disarmed", 0, U16, "Number of rules."), END };
/* The rule as armed, with defaults filled in: an empty name, 0; no path at all. */
MEMBERS(rule) = {
	INT("rule", 0, 1, INT32_MAX, "Number of the rule."),
#define RULE_POINT(n, ...) ENUM(n, 0, ctl_fault_points, ARM_TEXT(__VA_ARGS__)),
#define RULE_KIND(n, ...) ENUM(n, 0, ctl_fault_kinds, ARM_TEXT(__VA_ARGS__)),
#define RULE_WHEN(n, ...) ENUM(n, 0, ctl_when, ARM_TEXT(__VA_ARGS__)),
#define RULE_NAME(n, ...) STRING(n, 0, 0, CP_NAME_LEN, ARM_TEXT(__VA_ARGS__)),
#define RULE_NUMBER(n, ...) INT(n, 0, __VA_ARGS__),
#define RULE_BYTE(n, least, ...) INT(n, 0, 0, __VA_ARGS__),
#define RULE_PATH(n, ...) INT(n, OPT, __VA_ARGS__),
#define FAULT_FIELD(member, kept, saved, least, most, text) RULE_##kept(#member, least, most, text)
#include "zvmlab/fault_fields.def"
	INT("matched", 0, U32, "Calls that matched."),
	INT("fired", 0, U32, "Calls on which it was carried out."), END,
};
MEMBERS(rules_returns) = { LIST("rules", 0, rule, U8, "In the order of arming."), END };
MEMBERS(fault_value) = {
	ENUM("kind", 0, ctl_fault_kinds, "Kind."), INT("min", 0, U32, "Least value."),
	INT("max", 0, U32, "Largest value; both 0: it takes none."),
	INT("offset-max", 0, U32, "Largest offset; 0: it takes none."), END,
};
MEMBERS(point) = {
	ENUM("point", 0, ctl_fault_points, "Name."), STRING("text", 0, U8, "What it is."),
	LIST("kinds", 0, any_fault_kind, U8, "What it can carry out."),
	LIST("values", 0, fault_value, U8, "The same kinds, with the values they take here."),
	INT("reached", OPT, U63, "How often it was reached, without the agent's calls."), END,
};
MEMBERS(fault_kind) = {
	ENUM("kind", 0, ctl_fault_kinds, "Name."), STRING("text", 0, U8, "What it is."),
	INT("min", 0, U32, "Least value."), INT("max", 0, U32, "Largest value at any point; both 0: it takes none."), END,
};
MEMBERS(fault_field) = {
	STRING("field", 0, 1, 16, "Member of a rule."), STRING("text", 0, U8, "What it is."),
	ENUM("type", 0, ctl_fault_types, "What it holds."), BOOL("filter", 0, "Calls are compared with it."),
	INT("min", 0, U32, "Least value; of a name the length."), INT("max", 0, U32, "Largest value."),
	ENUM("only", OPT, ctl_fault_points, "May be given at this point only."), END,
};
MEMBERS(points_returns) = {
	LIST("points", 0, point, U8, "All there are."),
	LIST("kinds", 0, fault_kind, U8, "All there are."),
	LIST("fields", 0, fault_field, U8, "Members of a rule."), END,
};

MEMBERS(fill) = {
	INT("length", 0, 1, CTL_MAX_SET, "Bytes."),
	INT("pattern", OPT, U8, "Every byte."),
	INT("seed", OPT, U63, "SplitMix64 from here, 8 bytes big-endian each."), END,
};
MEMBERS(element) = {
	INT("type", OPT, U8, "MCE byte 0; default by kind."),
	INT("domains", 0, U16, "MCE bytes 1 and 2."), INT("byte3", OPT, U8, "MCE byte 3."),
	DATA("data", OPT, 1, CTL_MAX_DATA, "Records; or else fill."),
	OBJECT("fill", OPT, fill, "Bytes to generate: pattern or seed."),
	INT("phase", OPT, 0, CP_PAGE_SIZE - 1, "Offset in the first frame; default 0."), END,
};
MEMBERS(deliver_args) = {
	ENUM("kind", 0, ctl_mon_kinds, "Area."),
	LIST("elements", 0, element, 1, MON_MAX_MCES, "Control elements with their records."), END,
};
MEMBERS(deliver_returns) = {
	INT("set", 0, U63, "Number of the set."),
	ENUM("fate", 0, ctl_mon_fates, "Best over all users."), END,
};
MEMBERS(raw_args) = {
	ENUM("kind", 0, ctl_mon_kinds, "Kind that the message announces."),
	OF_INPUT("mca-start", 0, monitor_message, start, "First byte of the control area."),
	OF_INPUT("mca-end", 0, monitor_message, end, "Last byte of the control area."), END,
};
MEMBERS(repeat_args) = {
	ENUM("kind", 0, ctl_mon_kinds, "Area."),
	LIST("elements", OPT, element, 0, MON_MAX_MCES, "As for monitor-deliver."),
	INT("outstanding", OPT, 1, MON_MAX_MSGLIM, "Messages kept outstanding; default 1."),
	OF_INPUT("times", 0, monitor_repeat, times, "Messages in all; 0: stop."), END,
};
MEMBERS(manual_args) = {
	OF_INPUT("manual", 0, monitor_manual, manual, "Intervals end by monitor-tick only."), END,
};
MEMBERS(event_args) = {
	INT("domain", 0, 0, MON_DOMAINS - 1, "Domain."),
	DATA("record", 0, 1, CP_PAGE_SIZE, "With its header."), END,
};
MEMBERS(event_returns) = { BOOL("recorded", 0, "Recording is on for it."), END };
MEMBERS(sever_args) = {
	OF_INPUT("user", OPT, monitor_sever, user, "Absent: all users."),
	OF_INPUT("code", 0, monitor_sever, code, "IPUSER byte 0."), END,
};
MEMBERS(sever_returns) = { INT("severed", 0, U16, "Number of paths."), END };
MEMBERS(quiesce_args) = {
	OF_INPUT("user", OPT, monitor_quiesce, user, "Absent: all users."),
	OF_INPUT("quiesced", 0, monitor_quiesce, quiesce, "false: RESUME."), END,
};
MEMBERS(quiesce_returns) = { INT("paths", 0, U16, "Number of paths."), END };
MEMBERS(settings) = {
	BOOL("active", 0, "MONITOR START given."),
	INT("domains", 0, U16, "Bit 0 (X'8000') is domain 0."),
	INT("interval-seconds", 0, U32, "Sample interval."),
	INT("pending-interval-seconds", 0, U32, "From the next START on."),
	INT("rate-hundredths", 0, U32, "High-frequency rate; 0: off."),
	INT("config-pages", 0, U32, "Size of the configuration area."),
	INT("config-limit-seconds", 0, U32, "Limit for its replies."),
	INT("block-pages", 0, U32, "Event block."),
	INT("partition-pages", 0, U32, "Event partition; 0: half of the segment."),
	LIST("appldata-users", 0, any_name, 0, MON_MAX_SELECTED, "Users whose application data are collected."),
	BOOL("appldata-except", 0, "All users but those."), END,
};
MEMBERS(appldata) = {
	STRING("product", 0, 7, 7, "Number of the product, unprintable characters as dots."),
	DATA("product-id", 0, APPLDATA_PRODUCT_SIZE, APPLDATA_PRODUCT_SIZE, "All of the product ID."),
	ENUM("kind", 0, ctl_appldata_kinds, "When CP copies from it."),
	INT("address", 0, U63, "Guest absolute."),
	INT("length", 0, 1, APPLDATA_MAX_LENGTH, "Bytes."),
	INT("records", 0, U63, "Records that CP has written from it."), END,
};
MEMBERS(appldata_returns) = {
	LIST("buffers", 0, appldata, 0, APPLDATA_MAX_BUFFERS, "In the order of their declaration."), END,
};
MEMBERS(mon_user) = {
	NAME("name", 0, "User ID."), INT("path", 0, U16, "Path id on the user's side."),
	BOOL("sample", 0, "Wants sample data."), BOOL("event", 0, "Wants event data."),
	INT("limit", 0, U32, "Message limit."), INT("outstanding", 0, U32, "Sets not replied to."),
	INT("delivered", 0, U63, "Sets."), INT("replied", 0, U63, "Sets."),
	INT("lost", 0, U63, "Sets."), END,
};
MEMBERS(area) = {
	ENUM("kind", 0, ctl_mon_kinds, "Kind of data."), INT("start", 0, U63, "Guest absolute."),
	INT("size", 0, U63, "Bytes."), INT("used", 0, U63, "Bytes."), END,
};
MEMBERS(monitor_returns) = {
	STRING("segment", 0, 0, 8, "Empty: none is chosen yet."),
	OBJECT("sample", 0, settings, "MONITOR SAMPLE settings."),
	OBJECT("event", 0, settings, "MONITOR EVENT settings."),
	LIST("users", 0, mon_user, 0, MON_MAX_USERS, "Connected users."),
	LIST("areas", 0, area, 0, MON_KINDS, "Areas of the segment."), END,
};
MEMBERS(set_args) = { INT("set", 0, 1, INT64_MAX, "Number of the set."), END };
MEMBERS(set_returns) = {
	INT("set", 0, 1, INT64_MAX, "Number of the set."), ENUM("kind", 0, ctl_mon_kinds, "Area."),
	INT("mca-start", 0, U32, "First byte of the control area."),
	INT("mca-end", 0, U32, "Last byte of the control area."),
	INT("waiting", 0, U32, "Users that have not replied."), END,
};
MEMBERS(capture_args) = {
	FILE_NAME("file", OPT | CTL_NULLABLE,
		  "File to replace, with FILE.idx; without it the capture ends."), END,
};
MEMBERS(capture_returns) = {
	INT("sets", 0, U63, "Sets in the capture that ended."), INT("bytes", 0, U63, "Likewise."),
	END,
};

MEMBERS(range) = {
	INT("first-page", 0, U32, "Page number."), INT("last-page", 0, U32, "Page number."),
	ENUM("type", 0, ctl_segment_types, "Of the pages."), END,
};
MEMBERS(segment) = {
	NAME("name", 0, "Segment."), INT("fileid", 0, U16, "Spool file number."),
	STRING("class", 0, 1, 1, "S skeleton, A active, R restricted, P pending purge."),
	BOOL("loaded", 0, "By the guest."), BOOL("exclusive", 0, "By the guest, LOADNSR."),
	INT("users", 0, U32, "The guest and *MONITOR."), INT("start", 0, U63, "First byte."),
	INT("end", 0, U63, "Last byte."), BOOL("restricted", 0, "RSTD."),
	LIST("ranges", 0, range, 1, CP_MAX_RANGES, "Page ranges."), END,
};
MEMBERS(segments_returns) = { LIST("segments", 0, segment, U16, "All defined segments."), END };
MEMBERS(segment_read_args) = {
	NAME("name", 0, "Segment."), INT("offset", 0, U63, "From its first byte."),
	INT("length", 0, 1, UINT32_MAX, "Bytes; without a file at most 6 MiB."),
	FILE_NAME("file", OPT, "File that gets the bytes instead of the answer."), END,
};
MEMBERS(segment_read_returns) = { DATA("data", OPT, 0, CTL_MAX_DATA, "Without a file."), END };
MEMBERS(segment_write_args) = {
	OF_INPUT("name", 0, segment_write, name, "Segment."),
	OF_INPUT("offset", 0, segment_write, offset, "From its first byte."),
	DATA("data", 0, 1, CTL_MAX_DATA, "The bytes."), END,
};
MEMBERS(segment_file_args) = {
	NAME("name", 0, "Segment."), FILE_NAME("file", 0, "All its bytes from start to end."), END,
};

MEMBERS(guest_describe_args) = {
	NAME("name", 0, "User ID."), NAME("group", OPT, "Of access control; default: none."),
	OF_INPUT("cpu-us", OPT, guest_describe, cpu_us, "CPU time, as it is now."),
	OF_INPUT("online-us", OPT, guest_describe, online_us, "Since it logged on, as it is now."),
	OF_INPUT("cpu-percent", OPT, guest_describe, cpu_percent,
		 "How fast its CPU time goes on; 100: one CPU."),
	OF_INPUT("storage-min", OPT, guest_describe, storage_min, "KiB."),
	OF_INPUT("storage-max", OPT, guest_describe, storage_max, "KiB."),
	OF_INPUT("storage-share", OPT, guest_describe, storage_share, "KiB."),
	OF_INPUT("storage-used", OPT, guest_describe, storage_used, "KiB."),
	OF_INPUT("cpus", OPT, guest_describe, cpus, "Virtual CPUs."),
	OF_INPUT("operating", OPT, guest_describe, operating, "Of these not stopped."),
	OF_INPUT("share-max", OPT, guest_describe, share_max, "Largest relative share."),
	OF_INPUT("share", OPT, guest_describe, share, "Relative share."),
	OF_INPUT("capped", OPT, guest_describe, capped, "0 no, 1 soft, 2 hard."),
	BOOL("dedicated", OPT, "Its CPUs."),
	OF_INPUT("cpu-use", OPT, guest_describe, cpu_use, "Samples: it used a CPU."),
	OF_INPUT("cpu-delay", OPT, guest_describe, cpu_delay, "It waited for a CPU."),
	OF_INPUT("page-wait", OPT, guest_describe, page_wait, "It waited for a page."),
	OF_INPUT("idle", OPT, guest_describe, idle, "It was idle."),
	OF_INPUT("other", OPT, guest_describe, other, "Any other state."),
	BOOL("logged-off", OPT, "It is in the user directory only, until XAUTOLOG logs it on."), END,
};
MEMBERS(guest_name_args) = { NAME("name", 0, "User ID."), END };
MEMBERS(any_number) = { INT(NULL, 0, U32, NULL) };
MEMBERS(guest_member) = {
	NAME("name", 0, "User ID."), STRING("group", 0, 0, 8, "Of access control; empty: none."),
	INT("cpu-us", 0, U63, "CPU time."),
	INT("online-us", 0, U63, "Since it logged on."), INT("storage-min", 0, U63, "KiB."),
	INT("storage-max", 0, U63, "KiB."), INT("storage-share", 0, U63, "KiB."),
	INT("storage-used", 0, U63, "KiB."), INT("cpus", 0, 0, CP_MAX_CPUS, "Virtual CPUs."),
	INT("operating", 0, 0, CP_MAX_CPUS, "Of these not stopped."),
	INT("share-max", 0, 0, GUESTS_SHARE_MAX, "Largest relative share."),
	INT("share", 0, 0, GUESTS_SHARE_MAX, "Relative share."),
	INT("capped", 0, 0, 2, "0 no, 1 soft, 2 hard."), BOOL("dedicated", 0, "Its CPUs."),
	LIST("samples", 0, any_number, GUESTS_SAMPLES, GUESTS_SAMPLES,
	     "cpu-use, cpu-delay, page-wait, idle, other, all."), END,
};
MEMBERS(guests_returns) = { LIST("guests", 0, guest_member, U16, "The guest itself first."), END };
MEMBERS(page_out_args) = {
	OF_INPUT("address", 0, page_out, address, "Guest absolute, of a page."),
	INT("pages", OPT, 1, PAGE_MAX_OUT, "How many from there on; default 1."),
	BOOL("hold", OPT, "The CPU that meets one waits for page-release; default false."), END,
};
MEMBERS(page_in_args) = {
	INT("address", 0, U63, "Guest absolute."),
	INT("pages", OPT, 1, UINT32_MAX, "How many from there on; default 1."),
	INT("cpu", OPT, 0, CP_MAX_CPUS - 1, "The CPU that is told; default: any."), END,
};
MEMBERS(page_in_returns) = { INT("completed", 0, U32, "Faults that wait no longer."), END };
MEMBERS(page_release_args) = { OF_INPUT("fault", 0, page_release, fault, "Its number."), END };
MEMBERS(page_thrash_args) = {
	OF_INPUT("faults", 0, page_thrash, faults, "How many; 0: end it, and bring all pages in."),
	OF_INPUT("depth", 0, page_thrash, depth,
		 "Faults that are left waiting; fewer than the tasks that use the pages."), END,
};
MEMBERS(handshake) = {
	INT("cpu", 0, 0, CP_MAX_CPUS - 1, "Whose."), INT("token", 0, U63, "Its real address."),
	STRING("select", 0, 16, 16, "Bits of the PSW, hexadecimal."),
	STRING("compare", 0, 16, 16, "What these must be."), END,
};
MEMBERS(out_page) = {
	INT("address", 0, U63, "Guest absolute."), BOOL("out", 0, "Or it will go out again."),
	BOOL("hold", 0, "As in page-out."), END,
};
MEMBERS(page_fault) = {
	INT("fault", 0, U32, "Its number."), INT("address", 0, U63, "Of the page."),
	STRING("token", 0, 16, 16, "Hexadecimal."), INT("cpu", 0, 0, CP_MAX_CPUS - 1, "Whose."),
	ENUM("initial", 0, ctl_page_initial, "Interruption."),
	ENUM("completion", 0, ctl_page_completion, "Interruption."), END,
};
MEMBERS(pages_returns) = {
	LIST("handshakes", 0, handshake, 0, CP_MAX_CPUS, "CPUs that are to be told."),
	LIST("pages", 0, out_page, 0, PAGE_MAX_OUT, "By address."),
	LIST("faults", 0, page_fault, 0, PAGE_MAX_FAULTS, "Of which not all has been told."),
	INT("initial", 0, U63, "Interruptions presented since the last reset."),
	INT("completion", 0, U63, "Likewise."),
	INT("resolved", 0, U63, "Faults of which the guest was not told."),
	INT("turns", 0, U32, "Faults that page-thrash has still to see."), END,
};
MEMBERS(hmc_drive_args) = {
	OF_INPUT("bytes", 0, hmc_drive, bytes, "Its size; 0: none is assigned."),
	BOOL("read-only", OPT, "For the guest; default false."), END,
};
MEMBERS(hmc_write_args) = {
	OF_INPUT("name", 0, hmc_write, name, "With slashes between directories."),
	DATA("data", 0, 0, CTL_MAX_DATA, "Its contents."), END,
};
MEMBERS(hmc_name_args) = { OF_INPUT("name", 0, hmc_remove, name, "Of a file."), END };
MEMBERS(hmc_read_args) = {
	OF_INPUT("name", 0, hmc_remove, name, "Of a file."),
	INT("offset", OPT, U63, "Default 0."),
	INT("length", OPT, 0, CTL_MAX_DATA, "Bytes at most; default 6 MiB."), END,
};
MEMBERS(hmc_hold_args) = { BOOL("hold", 0, "They wait for hmc-complete."), END };
MEMBERS(hmc_file_member) = {
	STRING("name", 0, 1, HMC_MAX_NAME, "Without slashes at its ends."),
	INT("bytes", 0, U63, "Its length."), END,
};
MEMBERS(hmc_returns) = {
	INT("bytes", 0, U63, "Size of the drive; 0: none is assigned."),
	INT("used", 0, U63, "By its files."), BOOL("read-only", 0, "For the guest."),
	BOOL("hold", 0, "Requests wait."), BOOL("waits", 0, "A request waits for hmc-complete."),
	BOOL("pending", 0, "The guest has not taken the interruption yet."),
	INT("status", 0, U8, "Of the last transfer that has ended."),
	INT("requests", 0, U63, "Of the guest's, so far."),
	LIST("files", 0, hmc_file_member, 0, HMC_MAX_FILES, "By name."), END,
};
MEMBERS(disk_read_args) = {
	OF_INPUT("device", 0, disk_write, device, "Number of the disk."),
	OF_INPUT("block", 0, disk_write, block, "The first, from 0 on."),
	INT("blocks", OPT, 0, DISK_MAX_ACCESS, "Of 512 bytes; default 1."), END,
};
MEMBERS(disk_write_args) = {
	OF_INPUT("device", 0, disk_write, device, "Number of the disk."),
	OF_INPUT("block", 0, disk_write, block, "The first, from 0 on."),
	DATA("data", 0, 0, DISK_MAX_ACCESS * DISK_BLOCK, "Whole blocks of 512 bytes."), END,
};
MEMBERS(disk_hold_args) = { BOOL("hold", 0, "They wait for disk-complete."), END };
MEMBERS(disk_complete_args) = {
	INT("request", OPT, 1, INT32_MAX, "Its number; default: the oldest."), END,
};
MEMBERS(disk_member) = {
	INT("device", 0, U16, "Its number."),
	INT("blocks", 0, 8, CP_MAX_DISK_BLOCKS, "Of 512 bytes."), BOOL("read-only", 0, "For the guest."),
	BOOL("established", 0, "The guest has set up block I/O."),
	INT("block-size", 0, 0, DISK_MAX_BLOCK, "Which it has chosen, or 0."),
	INT("offset", 0, INT64_MIN, INT64_MAX, "Likewise, in such blocks."),
	INT("reads", 0, U63, "Such blocks, so far."), INT("writes", 0, U63, "Likewise."), END,
};
MEMBERS(disk_request_member) = {
	INT("request", 0, 1, INT32_MAX, "Its number."), INT("device", 0, U16, "Of the disk."),
	INT("blocks", 0, 1, DISK_MAX_COUNT, "In its list."),
	BOOL("waits", 0, "For disk-complete; else the guest has still to be told."),
	INT("status", 0, U8, "How it has ended."), END,
};
MEMBERS(disks_returns) = {
	LIST("disks", 0, disk_member, 0, CP_MAX_DISKS, "Of the directory."),
	LIST("requests", 0, disk_request_member, 0, DISK_MAX_REQUESTS, "Of which the guest has not been told."),
	BOOL("hold", 0, "Requests wait."), END,
};
MEMBERS(record_args) = {
	ENUM("service", 0, ctl_recordings, "Service."),
	DATA("record", 0, 1, REC_MAX_RECORD, "Of the record."), END,
};
MEMBERS(record_returns) = {
	INT("queues", 0, 0, REC_MAX_QUEUES, "Queues that are switched on."), END,
};
MEMBERS(recording_sever_args) = {
	ENUM("service", 0, ctl_recordings, "Service."),
	OF_INPUT("user", OPT, recording_sever, user, "Absent: all users."),
	OF_INPUT("code", 0, recording_sever, code, "IPUSER bytes 0 and 8."), END,
};
MEMBERS(recording_quiesce_args) = {
	ENUM("service", 0, ctl_recordings, "Service."),
	OF_INPUT("user", OPT, recording_quiesce, user, "Absent: all users."),
	OF_INPUT("quiesced", 0, recording_quiesce, quiesce, "false: RESUME."), END,
};
MEMBERS(record_queue) = {
	ENUM("service", 0, ctl_recordings, "Service."), NAME("user", 0, "Whose queue."),
	BOOL("on", 0, "Records are put on it."), INT("count", 0, U32, "Records on it."),
	INT("limit", 0, 0, REC_MAX_LIMIT, "RECORDING LIMIT."),
	INT("lost", 0, U63, "Records for which there was no room."),
	ENUM("state", 0, ctl_rec_states, "Of the communication."),
	INT("path", 0, U16, "Path id on the user's side; 0: inactive."), END,
};
MEMBERS(recording_returns) = {
	LIST("queues", 0, record_queue, REC_SERVICES, REC_MAX_QUEUES, "As QUERY RECORDING."), END,
};

MEMBERS(spool_put_args) = {
	OF_INPUT("user", 0, spool_put, user, "Whose queue."),
	ENUM("queue", 0, ctl_spool_queues, "Which of them."),
	NAME("origin", OPT, "Who sends it; default: the user."),
	OF_INPUT("name", OPT, spool_put, name, "Of the file, up to 8 characters."),
	OF_INPUT("type", OPT, spool_put, type, "Likewise."),
	OF_INPUT("class", OPT, spool_put, spool_class, "A to Z, 0 to 9; default A."),
	BOOL("hold", OPT, "User hold; default false."),
	BOOL("system-hold", OPT, "System hold; default false."),
	OF_INPUT("record-length", OPT, spool_put, record_length, "Default 80."),
	DATA("data", 0, 0, SPOOL_MAX_PUT, "Records one after the other, in EBCDIC if it is text."),
	END,
};
MEMBERS(spool_put_returns) = { INT("id", 0, 1, SPOOL_MAX_ID, "Number of the file."), END };
MEMBERS(spool_limits_args) = {
	OF_INPUT("pages", OPT, spool_limits, pages, "Pages of 4 KiB of all files; default: all there are."),
	OF_INPUT("files", OPT, spool_limits, files, "Files of each user; default 9999."), END,
};
MEMBERS(spool_read_args) = {
	NAME("user", 0, "Whose queue."), ENUM("queue", 0, ctl_spool_queues, "Which of them."),
	INT("id", 0, 1, SPOOL_MAX_ID, "Number of the file."),
	INT("first", OPT, U32, "Record to begin with, from 0 on; default 0."), END,
};
MEMBERS(spool_read_returns) = {
	INT("records", 0, U32, "How many there are in the data; 0 behind the last."),
	DATA("data", 0, 0, CTL_MAX_DATA, "Of each as many bytes as the record length says."), END,
};
MEMBERS(spool_member) = {
	NAME("user", 0, "Whose file."), ENUM("queue", 0, ctl_spool_queues, "On which queue."),
	ENUM("device", 0, ctl_spool_devices, "The kind of device that made it."),
	NAME("origin", 0, "Who sent it."), INT("id", 0, 1, SPOOL_MAX_ID, "Its number."),
	STRING("class", 0, 1, 1, "Its class."), STRING("name", 0, 0, 8, "Its name."),
	STRING("type", 0, 0, 8, "Its type."), STRING("form", 0, 0, 8, "Its form."),
	STRING("dist", 0, 0, 8, "Its distribution code."),
	STRING("tag", 0, 0, SPOOL_TAG_LEN, "What TAG said of it."),
	BOOL("open", 0, "A device reads or writes it."), BOOL("hold", 0, "User hold."),
	BOOL("system-hold", 0, "System hold."), INT("records", 0, U32, "How many."),
	INT("record-length", 0, 1, SPOOL_MAX_RECORD, "Of each."),
	INT("pages", 0, 0, SPOOL_PAGES, "Pages of 4 KiB."), INT("copies", 0, 1, 255, "COPY."), END,
};
MEMBERS(spool_returns) = {
	LIST("files", 0, spool_member, 0, SPOOL_MAX_FILES, "In the order of the queues, then those being written."),
	INT("pages", 0, 0, SPOOL_PAGES, "Pages of all files."),
	INT("page-limit", 0, 0, SPOOL_PAGES, "As many may be used; 0: there is no spool."),
	INT("file-limit", 0, 0, SPOOL_MAX_ID, "Files that a user may have."), END,
};

MEMBERS(machine_restore_args) = {
	FILE_NAME("file", 0, "Which the emulator has saved its machine to."),
	BOOL("continue", OPT, "Then let its CPUs run; default false."), END,
};
MEMBERS(machine_pass_args) = {
	INT("ns", 0, U63, "Nanoseconds of the guest's time, of its waiting only."), END,
};
MEMBERS(machine_returns) = {
	BOOL("asked", 0, "The other requests for the machine are answered here; if not, that is all."),
	BOOL("runs", OPT, "Its CPUs run."),
	INT("pass", OPT, U63, "Nanoseconds by which the clocks may still jump."), END,
};

MEMBERS(expire_returns) = { BOOL("expired", 0, "One was set."), END };
MEMBERS(watchdog_returns) = {
	BOOL("active", 0, "It is set."), BOOL("conceal", 0, "CONCEAL was asked for."),
	INT("seconds", 0, U32, "Interval; 0: it is not set."),
	STRING("command", 0, 0, CPCMD_MAX_COMMAND, "What CP will run."), END,
};

const struct ctl_command ctl_commands[] = {
	{ "query-version", "Version and capabilities, as in the greeting.", NULL, version_returns,
	  ctl_query_version },
	{ "query-schema", "This schema.", NULL, schema_returns, ctl_query_schema },
	{ "query-cp", "Identity and configuration of the guest.", NULL, cp_returns, ctl_query_cp },
	{ "query-counters", "Load of the control socket; memory of the emulator.", NULL,
	  counters_returns, ctl_query_counters },
	{ "cp-command", "Give CP commands.", command_args, command_returns, ctl_cp_command },
	{ "storage-read", "Read storage that the guest can read.", storage_args, data_returns,
	  ctl_storage_read },
	{ "kasan-watch", "Hold CP's accesses against the shadow of the guest's kernel.", kasan_args,
	  NULL, ctl_kasan_watch },
	{ "state-save", "Save the CP's state.", file_args, save_returns, ctl_state_save },
	{ "state-load", "Load it; if that fails, nothing changes.", file_args, NULL,
	  ctl_state_load },
	{ "peer-create", "Log on a user ID or service that this connection plays.", create_args,
	  create_returns, ctl_peer_create },
	{ "peer-destroy", "Log it off.", peer_args, NULL, ctl_peer_destroy },
	{ "peer-call", "Call an IUCV function on its behalf.", call_args, call_returns,
	  ctl_peer_call },
	{ "peer-command", "Give CP commands on its behalf.", peer_command_args, command_returns,
	  ctl_peer_command },
	{ "query-users", "Who is logged on.", NULL, users_returns, ctl_query_users },
	{ "query-paths", "Paths of a user.", paths_args, paths_returns, ctl_query_paths },
	{ "query-buffers", "Interruption buffers of the guest's CPUs.", NULL, buffers_returns,
	  ctl_query_buffers },
	{ "query-digests", "Equal to an earlier answer as long as nothing is left behind.", NULL,
	  digests_returns, ctl_query_digests },
	{ "fault-arm", "Arm a fault rule.", arm_args, arm_returns, ctl_fault_arm },
	{ "fault-disarm", "Disarm one rule or all.", disarm_args, disarm_returns,
	  ctl_fault_disarm },
	{ "query-faults", "Rules that are armed.", NULL, rules_returns, ctl_query_faults },
	{ "query-fault-points", "Points where faults can be injected.", NULL, points_returns,
	  ctl_query_fault_points },
	{ "monitor-deliver", "Deliver a data set to all users that want its kind.", deliver_args,
	  deliver_returns, ctl_monitor_deliver },
	{ "monitor-raw", "Announce a control area without storing one.", raw_args,
	  deliver_returns, ctl_monitor_raw },
	{ "monitor-repeat", "Deliver one set again and again, for rates.", repeat_args, NULL,
	  ctl_monitor_repeat },
	{ "monitor-tick", "End the sample interval now.", NULL, NULL, ctl_monitor_tick },
	{ "monitor-manual", "Choose how intervals end.", manual_args, NULL, ctl_monitor_manual },
	{ "monitor-event", "Record an event.", event_args, event_returns, ctl_monitor_event },
	{ "monitor-sever", "Sever the paths of *MONITOR.", sever_args, sever_returns,
	  ctl_monitor_sever },
	{ "monitor-quiesce", "Quiesce the paths of *MONITOR, or resume them.", quiesce_args,
	  quiesce_returns, ctl_monitor_quiesce },
	{ "monitor-capture", "Copy every set that is delivered to a file.", capture_args,
	  capture_returns, ctl_monitor_capture },
	{ "query-monitor", "Settings, users and areas of *MONITOR.", NULL, monitor_returns,
	  ctl_query_monitor },
	{ "query-appldata", "Buffers declared with DIAGNOSE X'DC'.", NULL, appldata_returns,
	  ctl_query_appldata },
	{ "query-set", "A set that is still in the segment.", set_args, set_returns,
	  ctl_query_set },
	{ "watchdog-expire", "The time bomb of DIAGNOSE X'288' goes off now.", NULL,
	  expire_returns, ctl_watchdog_expire },
	{ "query-watchdog", "The time bomb of DIAGNOSE X'288'.", NULL, watchdog_returns,
	  ctl_query_watchdog },
	{ "recording-record", "CP makes a record.", record_args, record_returns,
	  ctl_recording_record },
	{ "recording-sever", "Sever the paths of a recording service.", recording_sever_args,
	  sever_returns, ctl_recording_sever },
	{ "recording-quiesce", "Quiesce the paths of a recording service, or resume them.",
	  recording_quiesce_args, quiesce_returns, ctl_recording_quiesce },
	{ "query-recording", "Queues of records.", NULL, recording_returns, ctl_query_recording },
	{ "spool-put", "Put a file on a queue, as another user would.", spool_put_args,
	  spool_put_returns, ctl_spool_put },
	{ "spool-limits", "Say how much the spool may hold.", spool_limits_args, NULL,
	  ctl_spool_limits },
	{ "spool-read", "Read records of a file on a queue.", spool_read_args,
	  spool_read_returns, ctl_spool_read },
	{ "query-spool", "Files of all users.", NULL, spool_returns, ctl_query_spool },
	{ "query-segments", "Saved segments.", NULL, segments_returns, ctl_query_segments },
	{ "segment-read", "Read a segment's bytes.", segment_read_args, segment_read_returns,
	  ctl_segment_read },
	{ "segment-write", "Write a segment's bytes.", segment_write_args, NULL,
	  ctl_segment_write },
	{ "segment-load", "Fill a segment from a file.", segment_file_args, NULL,
	  ctl_segment_load },
	{ "segment-save", "Copy a segment to a file.", segment_file_args, NULL,
	  ctl_segment_save },
	{ "guest-describe", "Describe a guest that does not run.", guest_describe_args, NULL,
	  ctl_guest_describe },
	{ "guest-forget", "It is logged on no more.", guest_name_args, NULL, ctl_guest_forget },
	{ "query-guests", "What CP says of all users.", NULL, guests_returns, ctl_query_guests },
	{ "page-out", "Page out pages of the guest.", page_out_args, NULL, ctl_page_out },
	{ "page-in", "Bring them in.", page_in_args, page_in_returns, ctl_page_in },
	{ "page-release", "Present an initial interruption that is held.", page_release_args, NULL,
	  ctl_page_release },
	{ "page-thrash", "Let the pages that are out take turns.", page_thrash_args, NULL,
	  ctl_page_thrash },
	{ "hmc-drive", "Assign a drive of the HMC.", hmc_drive_args, NULL, ctl_hmc_drive },
	{ "hmc-write", "Put a file there.", hmc_write_args, NULL, ctl_hmc_write },
	{ "hmc-read", "Read a file.", hmc_read_args, data_returns, ctl_hmc_read },
	{ "hmc-remove", "Remove a file.", hmc_name_args, NULL, ctl_hmc_remove },
	{ "hmc-hold", "Let requests of the guest's wait, or not.", hmc_hold_args, NULL,
	  ctl_hmc_hold },
	{ "hmc-complete", "Carry out the request that waits.", NULL, NULL, ctl_hmc_complete },
	{ "query-hmc", "The drive, its files, and the guest's requests.", NULL, hmc_returns,
	  ctl_query_hmc },
	{ "disk-read", "Read blocks of a virtual disk.", disk_read_args, data_returns,
	  ctl_disk_read },
	{ "disk-write", "Write blocks of one.", disk_write_args, NULL, ctl_disk_write },
	{ "disk-hold", "Let requests of the guest's wait, or not.", disk_hold_args, NULL,
	  ctl_disk_hold },
	{ "disk-complete", "Carry out a request that waits.", disk_complete_args, NULL,
	  ctl_disk_complete },
	{ "query-disks", "Virtual disks, and the guest's requests.", NULL, disks_returns,
	  ctl_query_disks },
	{ "query-pages", "Pages that are out, and who waits for them.", NULL, pages_returns,
	  ctl_query_pages },
	{ "machine-pause", "Stop the CPUs, and the guest's clocks.", NULL, NULL,
	  ctl_machine_pause },
	{ "machine-continue", "Let them run.", NULL, NULL, ctl_machine_continue },
	{ "machine-restore", "Pause the machine, and put it where it was saved.",
	  machine_restore_args, NULL, ctl_machine_restore },
	{ "machine-pass", "Let the guest's clocks jump over time in which all its CPUs wait.",
	  machine_pass_args, NULL, ctl_machine_pass },
	{ "query-machine", "What the machine does.", NULL, machine_returns, ctl_query_machine },
};
const size_t ctl_command_count = sizeof(ctl_commands) / sizeof(ctl_commands[0]);
