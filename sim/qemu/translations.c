/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translations that a machine begins with.
 *
 * Two thirds of what a start from a checkpoint costs is to translate the guest's code, which is the
 * same each time.  So a file beside the checkpoint has what one guest of it had translated by its first
 * replies: the property "save-translations" writes it, and a restore takes it.
 *
 * Translated code is full of addresses: of QEMU, which is at the same place in each process, and of
 * the buffer that it is in, which has to be where it was (changes/port/code-at.c).  What is of another
 * place, of a host with other instructions, or damaged is not used, and the code is translated as
 * ever.  Each block comes with the instructions that it was made of: one that has others in storage
 * now is left out.
 *
 * A machine with several CPUs has a buffer for each, and which is whose is chance; blocks of counted
 * instructions are others, and so are those that report that they are executed (cover.c).  These begin
 * with nothing.
 */
#include "qemu/osdep.h"
#include "port.h"

#include "hw/s390x/zvmlab.h"
#include "qapi/error.h"

#if QEMU_VERSION_MAJOR == 10
#include "accel/tcg/internal-common.h"
#include "accel/tcg/tb-internal.h"
#include "host/cpuinfo.h"
#include "tcg/tcg.h"
/* It uses what the one before declares. */
#include "tcg/tcg-internal.h"

#define MAGIC UINT64_C(0x5a564d434f444531)	/* "ZVMCODE1" */
#define SUM_PRIME UINT64_C(0x9e3779b97f4a7c15)
/* The buffer is aligned to pages of the host, and begins with QEMU's own code, which is less than one. */
#define PAGE UINT64_C(4096)

/* In the host's byte order.  Behind it: code, struct block of each block, the blocks' instructions. */
struct head {
	uint64_t magic;
	uint64_t at;		/* address of the buffer */
	uint64_t buffer_size;
	uint64_t host;		/* what instructions the host has */
	uint64_t qemu_code;	/* bytes of QEMU's own before the first block */
	uint64_t code;		/* bytes, with those; 16 bytes are the unit */
	uint64_t blocks;
	uint64_t text;		/* bytes of all instructions, and zeros for whole words */
	uint64_t sum;		/* of all else */
};

struct block {
	uint32_t offset;	/* of its TranslationBlock in the code */
	uint32_t unused;
};

QEMU_BUILD_BUG_ON(sizeof(struct head) != 72 || sizeof(struct block) != 8);

static uint64_t add_words(uint64_t sum, const void *data, uint64_t bytes)
{
	const uint64_t *words = data;

	for (uint64_t i = 0; i < bytes / sizeof(*words); i++) {
		sum = (sum ^ words[i]) * SUM_PRIME;
		sum ^= sum >> 32;
	}
	return sum;
}

static uint64_t sum_of(const struct head *head)
{
	return add_words(0, head, offsetof(struct head, sum));
}

static bool is_possible(const ZvmlabCp *s)
{
	return s->port.config.cpus == 1 && !icount_enabled() && !zvmlab_covers() && cpuinfo != 0;
}

/* What this process has, with nothing behind it. */
static struct head head_of(const TCGContext *ctx)
{
	const uint64_t first = (uintptr_t)ctx->code_gen_buffer, at = first & -PAGE;

	return (struct head) {
		.magic = MAGIC, .at = at, .buffer_size = ctx->code_gen_buffer_size,
		.host = cpuinfo, .qemu_code = first - at,
	};
}

/* The instructions that a block is made of; NULL: not in one page of storage, or of several machines. */
static const uint8_t *instructions_of(const ZvmlabCp *s, const TranslationBlock *tb)
{
	const uint64_t ram = memory_region_get_ram_addr(MACHINE(qdev_get_machine())->ram);
	const uint64_t at = tb->page_addr[0] - ram;

	if (tb->page_addr[1] != -1 || tb->page_addr[0] < ram || at >= s->port.ram_size ||
	    s->port.ram_size - at < tb->size || zvmlab_stored_by_others(tb->page_addr[0]))
		return NULL;
	return (const uint8_t *)s->port.ram + at;
}

struct collected {
	const ZvmlabCp *s;
	uint64_t at;
	GArray *blocks;
	GByteArray *text;
};

/* A block that any CPU may take again. */
static gboolean collect(gpointer key, gpointer value, gpointer data)
{
	struct collected *found = data;
	const TranslationBlock *tb = value;
	const uint8_t *text = instructions_of(found->s, tb);
	const struct block block = { .offset = (uintptr_t)tb - found->at };

	if (text && !(tb->cflags & (CF_INVALID | CF_COUNT_MASK))) {
		g_array_append_val(found->blocks, block);
		g_byte_array_append(found->text, text, tb->size);
	}
	return FALSE;
}

static void write_translations(const char *path, struct head *head, const struct collected *found,
			       Error **errp)
{
	static const uint8_t zeros[sizeof(uint64_t)];
	g_autoptr(GByteArray) out = g_byte_array_new();
	g_autoptr(GError) err = NULL;

	g_byte_array_append(found->text, zeros, -found->text->len % sizeof(zeros));
	head->blocks = found->blocks->len;
	head->text = found->text->len;
	g_byte_array_append(out, (const uint8_t *)head, sizeof(*head));
	g_byte_array_append(out, (const uint8_t *)(uintptr_t)head->at, head->code);
	g_byte_array_append(out, (const uint8_t *)found->blocks->data,
			    head->blocks * sizeof(struct block));
	g_byte_array_append(out, found->text->data, head->text);
	head->sum = add_words(sum_of(head), out->data + sizeof(*head), out->len - sizeof(*head));
	memcpy(out->data, head, sizeof(*head));
	if (!g_file_set_contents(path, (const char *)out->data, out->len, &err))
		error_setg(errp, "zvmlab-cp: translations cannot be saved: %s", err->message);
}

static void save_translations(Object *obj, const char *path, Error **errp)
{
	const ZvmlabCp *s = ZVMLAB_CP(obj);
	const TCGContext *ctx = tcg_ctxs[0];
	struct head head = head_of(ctx);
	struct collected found = { .s = s, .at = head.at };

	if (runstate_is_running() || !is_possible(s)) {
		error_setg(errp, "zvmlab-cp: translations are saved of a machine that stands still, has one"
				 " CPU, does not count its instructions, and is not covered");
		return;
	}
	head.code = (uintptr_t)ctx->code_gen_ptr - head.at;
	found.blocks = g_array_new(false, false, sizeof(struct block));
	found.text = g_byte_array_new();
	tcg_tb_foreach(collect, &found);
	write_translations(path, &head, &found, errp);
	g_array_free(found.blocks, true);
	g_byte_array_free(found.text, true);
}

static bool read_at(int fd, void *into, uint64_t bytes, uint64_t offset)
{
	return pread(fd, into, bytes, offset) == (ssize_t)bytes;
}

/* Is it of a process like this one, and as long as it says? */
static bool fits(const struct head *head, const TCGContext *ctx, int fd)
{
	struct head ours = head_of(ctx);
	const uint64_t most = ours.qemu_code + ours.buffer_size;
	struct stat st;

	ours.code = head->code;
	ours.blocks = head->blocks;
	ours.text = head->text;
	ours.sum = head->sum;
	return memcmp(&ours, head, sizeof(ours)) == 0 && fstat(fd, &st) == 0 &&
	       head->code > head->qemu_code && head->code < most / 2 &&
	       head->code % CODE_GEN_ALIGN == 0 && head->blocks < most && head->text < most &&
	       head->text % sizeof(uint64_t) == 0 &&
	       (uint64_t)st.st_size == sizeof(*head) + head->code +
				       head->blocks * sizeof(struct block) + head->text;
}

/* As after its translation: no block jumps to it, and it jumps to none. */
static void make_single(TranslationBlock *tb)
{
	qemu_spin_init(&tb->jmp_lock);
	tb->jmp_list_head = 0;
	for (int i = 0; i < 2; i++) {
		tb->jmp_list_next[i] = 0;
		tb->jmp_dest[i] = 0;
		if (tb->jmp_reset_offset[i] != TB_JMP_OFFSET_INVALID)
			tb_reset_jump(tb, i);
	}
}

/* CPUs find it from now on. */
static void add_block(TranslationBlock *tb)
{
	make_single(tb);
	tb_lock_page0(tb->page_addr[0]);
	tcg_tb_insert(tb);
	if (tb_link_page(tb) != tb)
		tcg_tb_remove(tb);
}

static void add_blocks(const ZvmlabCp *s, const struct head *head, const void *rest)
{
	const struct block *block = rest;
	const uint8_t *text = (const uint8_t *)(block + head->blocks), *end = text + head->text;

	for (uint64_t i = 0; i < head->blocks; i++, block++) {
		TranslationBlock *tb = (void *)(uintptr_t)(head->at + block->offset);
		const uint8_t *now;

		if (block->offset + sizeof(*tb) > head->code || text + tb->size > end)
			return;
		now = instructions_of(s, tb);
		if (now && memcmp(now, text, tb->size) == 0)
			add_block(tb);
		text += tb->size;
	}
}

/* The code of the file is in the buffer, and what follows it is returned; NULL: it is not used. */
static void *read_code(int fd, const struct head *head, TCGContext *ctx)
{
	const uint64_t size = head->blocks * sizeof(struct block) + head->text;
	uint8_t *const buffer = (uint8_t *)(uintptr_t)head->at;
	g_autofree uint8_t *qemu_code = g_memdup2(buffer, head->qemu_code);
	g_autofree uint8_t *rest = g_malloc(size);
	uint64_t sum;

	if (!read_at(fd, rest, size, sizeof(*head) + head->code) ||
	    !read_at(fd, buffer, head->code, sizeof(*head)))
		memset(buffer, 0, head->code);
	sum = add_words(add_words(sum_of(head), buffer, head->code), rest, size);
	if (memcmp(buffer, qemu_code, head->qemu_code) == 0 && sum == head->sum)
		return g_steal_pointer(&rest);
	memcpy(buffer, qemu_code, head->qemu_code);
	return NULL;
}

bool zvmlab_begin_translated(const ZvmlabCp *s, const char *checkpoint)
{
	g_autofree char *path = g_strconcat(checkpoint, ".translations", NULL);
	g_autofree void *rest = NULL;
	TCGContext *ctx = tcg_ctxs[0];
	struct head head;
	int fd;

	if (!is_possible(s) || ctx->code_gen_ptr != ctx->code_gen_buffer)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read_at(fd, &head, sizeof(head), 0) && fits(&head, ctx, fd))
		rest = read_code(fd, &head, ctx);
	close(fd);
	if (!rest)
		return false;
	ctx->code_gen_ptr = (void *)(uintptr_t)(head.at + head.code);
	add_blocks(s, &head, rest);
	return true;
}
#else
/* Its machines translate all that they execute. */
static void save_translations(Object *obj, const char *path, Error **errp)
{
}

bool zvmlab_begin_translated(const ZvmlabCp *s, const char *checkpoint)
{
	return false;
}
#endif

void zvmlab_add_translations(ObjectClass *oc)
{
	object_class_property_add_str(oc, "save-translations", NULL, save_translations);
}
