/* SPDX-License-Identifier: MIT */
/* Commands for saved segments. */
#include <stdlib.h>
#include <string.h>

#include "ctl_private.h"
#include "zvmlab/dcss.h"

static json_t *ranges_json(const struct cp_segment_config *config)
{
	json_t *ranges = json_array();

	for (unsigned int i = 0; i < config->ranges; i++)
		json_array_append_new(ranges,
				      json_pack("{s:I, s:I, s:s}", "first-page",
						(json_int_t)config->range[i].first, "last-page",
						(json_int_t)config->range[i].last, "type",
						ctl_segment_types[config->range[i].type]));
	return ranges;
}

json_t *ctl_query_segments(struct ctl_call *call)
{
	json_t *segments = json_array();
	const struct dcss *s;

	for (unsigned int i = 0; (s = dcss_at(call->cp, i)); i++) {
		const char cls[2] = { (char)s->cls, '\0' };

		json_array_append_new(
			segments,
			json_pack("{s:s, s:i, s:s, s:b, s:b, s:I, s:o, s:o, s:b, s:o}", "name",
				  s->config.name, "fileid", s->fileid, "class", cls, "loaded",
				  dcss_loaded(call->cp, s), "exclusive",
				  dcss_exclusive(call->cp, s), "users",
				  (json_int_t)s->users, "start", ctl_json_u64(dcss_start(s)), "end",
				  ctl_json_u64(dcss_end(s)), "restricted", s->config.restricted,
				  "ranges", ranges_json(&s->config)));
	}
	return json_pack("{s:o}", "segments", segments);
}

static const struct dcss *named_segment(struct ctl_call *call)
{
	const struct dcss *segment;
	char name[9];

	ctl_name(call->args, "name", name);
	segment = dcss_find(call->cp, name);
	if (!segment)
		ctl_fail(call, "Failed", "there is no segment %s; query-segments lists them", name);
	return segment;
}

static json_t *outside(struct ctl_call *call, const struct dcss *segment, uint64_t offset,
		       uint64_t len)
{
	return ctl_fail(call, "Failed", "%llu bytes at offset %llu do not lie in segment %s",
			(unsigned long long)len, (unsigned long long)offset, segment->config.name);
}

json_t *ctl_segment_read(struct ctl_call *call)
{
	const uint64_t len = (uint64_t)ctl_int(call->args, "length");
	const uint64_t offset = (uint64_t)ctl_int(call->args, "offset");
	const char *file = ctl_string(call->args, "file");
	const struct dcss *segment;
	json_t *result = NULL;
	void *bytes;

	if (!file && len > CTL_MAX_DATA)
		return ctl_fail(call, "BadArgument", "argument \"length\" is above %u; use "
				"\"file\" for more", CTL_MAX_DATA);
	segment = named_segment(call);
	if (!segment)
		return NULL;
	if (!dcss_covers(call->cp, segment, offset, len))
		return outside(call, segment, offset, len);
	bytes = malloc(len);
	if (!bytes)
		return ctl_fail(call, "Failed", "not enough memory for the segment's bytes");
	dcss_read(call->cp, segment, offset, bytes, len);
	if (!file)
		result = json_pack("{s:o}", "data", ctl_json_data(bytes, (size_t)len));
	else if (ctl_file_write(file, bytes, (size_t)len, call->err, sizeof(call->err)) == 0)
		result = json_object();
	else
		call->error_class = "Failed";
	free(bytes);
	return result;
}

json_t *ctl_segment_write(struct ctl_call *call)
{
	const size_t len = ctl_data_len(call->args, "data");
	const uint64_t offset = (uint64_t)ctl_int(call->args, "offset");
	const struct dcss *segment = named_segment(call);
	uint8_t *data;
	bool stored;

	if (!segment)
		return NULL;
	data = malloc(len + 1);
	if (!data)
		return NULL;
	ctl_data(call->args, "data", data, len);
	stored = dcss_write(call->cp, segment, offset, data, len);
	free(data);
	return stored ? json_object() : outside(call, segment, offset, len);
}

static json_t *whole_segment(struct ctl_call *call,
			     int (*copy)(struct cp *cp, const char *name, const char *path,
					 char *err, size_t errlen))
{
	char name[9];

	ctl_name(call->args, "name", name);
	if (copy(call->cp, name, ctl_string(call->args, "file"), call->err, sizeof(call->err)) == 0)
		return json_object();
	call->error_class = "Failed";
	return NULL;
}

json_t *ctl_segment_load(struct ctl_call *call)
{
	return whole_segment(call, dcss_from_file);
}

json_t *ctl_segment_save(struct ctl_call *call)
{
	return whole_segment(call, dcss_to_file);
}
