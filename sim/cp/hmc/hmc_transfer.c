/* SPDX-License-Identifier: MIT */
/* Requests of the guest's: carried out, and told of. */

#include "hmc_private.h"
#include "bytes.h"
#include "zvmlab/event.h"
#include "zvmlab/fault.h"
#include "zvmlab/storage.h"
#include "zvmlab/trace.h"

/* The fields of the parameter list that CP stores when a transfer ends (struct diag_ftp_ldfpl). */
enum {
	LIST_TRANSFERRED = 32,	/* 8 */
	LIST_SIZE_OF_FILE = 40,	/* 8 */
	LIST_FAILING = 48,	/* 8: address */
	LIST_STORED = 24,	/* of these three */
};

static const char *const names[HMC_FUNCTIONS] = {
	[HMC_NOOP] = "noop", [HMC_GET] = "get", [HMC_PUT] = "put", [HMC_APPEND] = "append",
	[HMC_DIR] = "dir", [HMC_NLIST] = "nlist", [HMC_DELETE] = "delete",
};

/* How a transfer has ended so far. */
struct outcome {
	enum hmc_status status;
	uint64_t transferred, size, failing;
};

/* From @offset on, of @size bytes, as many as the guest has room for. */
static void deliver(struct cp *cp, const uint8_t *data, uint64_t size, struct outcome *o,
		    const struct fault_action *fault)
{
	const struct hmc_request *r = &cp->hmc->request;
	uint64_t len = r->offset < size ? size - r->offset : 0;
	uint8_t byte;

	if (len > r->length)
		len = r->length;
	if (fault->kind == FAULT_LIMIT && len > fault->value)
		len = fault->value;
	o->size = size;
	if (len > 0 && storage_write(cp, r->cpu, r->buffer, data + r->offset, len) != 0) {
		o->status = HMC_PROGRAM;
		o->failing = r->buffer;
		return;
	}
	o->transferred = len;
	if (fault->kind != FAULT_CORRUPT || fault->offset >= len)
		return;
	byte = data[r->offset + fault->offset] ^ (uint8_t)fault->value;
	(void)storage_write(cp, r->cpu, r->buffer + fault->offset, &byte, 1);
}

static void list(struct cp *cp, const char *name, struct outcome *o,
		 const struct fault_action *fault)
{
	bool known;
	const size_t len = hmc_list(cp->hmc, name, cp->hmc->request.function == HMC_NLIST, &known);

	if (!known)
		o->status = HMC_FAILED;
	else
		deliver(cp, (const uint8_t *)cp->hmc->listing, len, o, fault);
}

static void take(struct cp *cp, const char *name, struct outcome *o,
		 const struct fault_action *fault)
{
	const struct hmc_request *r = &cp->hmc->request;
	const struct hmc_file *file = hmc_lookup(cp->hmc, name);
	const uint64_t offset = r->function == HMC_PUT ? r->offset : file ? file->len : 0;
	uint64_t len = r->length;

	if (fault->kind == FAULT_LIMIT && len > fault->value)
		len = fault->value;
	o->status = hmc_store(cp, name, offset, NULL, r, len);
	if (o->status == HMC_PROGRAM)
		o->failing = r->buffer;
	if (o->status != HMC_OK)
		return;
	o->transferred = len;
	o->size = offset + len;
}

static bool writes(enum hmc_function function)
{
	return function == HMC_PUT || function == HMC_APPEND || function == HMC_DELETE;
}

static void transfer(struct cp *cp, struct outcome *o, const struct fault_action *fault)
{
	struct hmc *hmc = cp->hmc;
	char name[HMC_MAX_NAME + 1];
	struct hmc_file *file;

	if (fault->kind == FAULT_RC) {
		o->status = (enum hmc_status)(fault->value & 0xff);
		return;
	}
	o->status = HMC_FAILED;
	if (hmc->room == 0 || !hmc_name(hmc->request.name, name))
		return;
	o->status = writes(hmc->request.function) && hmc->read_only ? HMC_NOT_ALLOWED : HMC_OK;
	if (o->status != HMC_OK || hmc->request.function == HMC_NOOP)
		return;
	file = hmc_lookup(hmc, name);
	if (hmc->request.function == HMC_DIR || hmc->request.function == HMC_NLIST)
		list(cp, name, o, fault);
	else if (hmc->request.function == HMC_PUT || hmc->request.function == HMC_APPEND)
		take(cp, name, o, fault);
	else if (!file)
		o->status = HMC_FAILED;
	else if (hmc->request.function == HMC_GET)
		deliver(cp, hmc->data + file->at, file->len, o, fault);
	else
		hmc_forget(hmc, file);
}

/* The list may be gone by now; then only the status tells of it. */
static void store_list(struct cp *cp, struct outcome *o)
{
	const struct hmc_request *r = &cp->hmc->request;
	uint8_t fields[LIST_STORED];

	put_be64(fields, o->transferred);
	put_be64(fields + (LIST_SIZE_OF_FILE - LIST_TRANSFERRED), o->size);
	put_be64(fields + (LIST_FAILING - LIST_TRANSFERRED), o->failing);
	if (storage_write(cp, r->cpu, r->list + LIST_TRANSFERRED, fields, sizeof(fields)) != 0)
		o->status = HMC_PROGRAM;
}

static void tell(struct cp *cp, const char *what, uint64_t value)
{
	cp_notify(cp, &(struct cp_event){ .kind = CP_EVENT_HMC, .name = cp->hmc->request.name,
					  .text = what, .value = value });
}

void hmc_run(struct cp *cp)
{
	const struct fault_action fault = fault_of_guest(cp, FAULT_HMC_TRANSFER, "");
	struct hmc *hmc = cp->hmc;
	struct outcome o = { .status = HMC_OK };
	struct fault_action told;

	transfer(cp, &o, &fault);
	store_list(cp, &o);
	hmc->waits = false;
	hmc->status = (uint8_t)o.status;
	trace_number(cp, "status", o.status);
	trace_number(cp, "transferred", o.transferred);
	tell(cp, names[hmc->request.function], o.status);
	told = fault_of_guest(cp, FAULT_HMC_COMPLETION, "");
	hmc->pending = told.kind == FAULT_DROP ? 0 : told.kind == FAULT_DUPLICATE ? 2 : 1;
	if (hmc->pending > 0)
		cp_external_kick(cp);
}

enum hmc_code hmc_start(struct cp *cp, const struct hmc_request *request)
{
	struct hmc *hmc = cp->hmc;

	assert(request->cpu < cp->config.cpus && request->function < HMC_FUNCTIONS);
	if (hmc->waits || hmc->pending > 0)
		return HMC_BUSY;
	hmc->request = *request;
	hmc->requests++;
	hmc->waits = true;
	if (hmc->hold)
		tell(cp, "held", request->function);
	else
		hmc_run(cp);
	return HMC_STARTED;
}

bool hmc_complete(struct cp *cp)
{
	const bool waits = cp->hmc->waits;

	TRACE_INPUT(cp, hmc_complete);
	if (waits)
		hmc_run(cp);
	trace_end(cp);
	return waits;
}
