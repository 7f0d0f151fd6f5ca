/* SPDX-License-Identifier: MIT */
/* DEFINE CPU, DETACH CPU, and who sees the CPUs that come and go. */
#include "command_check.h"
#include "cp_private.h"
#include "zvmlab/state.h"

#define CPUS "4"
#define FIXED "HCPCPU013E Conflicting option - CPUs come and go only if the directory entry has " \
	      "CPU statements\n"
#define CONFLICT(what) "HCPCPU013E Conflicting option - CPU " what "\n"

static void with_directory(const char *directory)
{
	fx_setup_with((const char *const[]){ "cpus", CPUS, "directory", directory, NULL });
}

static void setup(void)
{
	with_directory("IUCV ALLOW;CPU 00 BASE;CPU 02");
}

static unsigned int lines(const char *command)
{
	const struct cpcmd_response *response = cpcmd_run(fx.cp, CPCMD_GUEST, command,
							  strlen(command));
	unsigned int count = 0;

	ck_assert_int_eq(response->rc, 0);
	for (size_t i = 0; i < response->len; i++)
		count += response->text[i] == '\n';
	return count;
}

CASE("command_cpus", setup, fx_teardown);

TEST(statements)
{
	ck_assert_uint_eq(fx.cpus, 5);
	ck_assert_uint_eq(lines("QUERY VIRTUAL CPUS"), 2);
	ck_guest("CPU ALL QUERY USERID", 0, "LINUX001 AT ZVMLAB\nLINUX001 AT ZVMLAB\n");
	ck_guest("CPU 02 QUERY USERID", 0, "LINUX001 AT ZVMLAB\n");
	ck_guest("CPU 01 QUERY USERID", 3, INVALID("CPU", "01"));
}

TEST(without_statements)
{
	fx_teardown();
	with_directory("IUCV ALLOW");
	ck_assert_uint_eq(fx.cpus, 15);
	ck_guest("DEFINE CPU 1", 13, FIXED);
	ck_guest("DETACH CPU 1", 13, FIXED);
	ck_assert_uint_eq(lines("QUERY VIRTUAL CPUS"), 4);
}

/* "CPU 01 defined" is what public guides show. */
TEST(define)
{
	ck_guest("DEF CPU 1", 0, "CPU 01 defined\n");
	ck_assert_uint_eq(fx.cpus, 7);
	ck_assert_uint_eq(lines("QUERY VIRTUAL CPUS"), 3);
	ck_guest("DEFINE CPU 3 TYPE CP", 0, "CPU 03 defined\n");
	ck_assert_uint_eq(fx.cpus, 15);
	ck_guest("DETACH CPU 1-3", 0, "CPU 01 detached\nCPU 02 detached\nCPU 03 detached\n");
	ck_assert_uint_eq(fx.cpus, 1);
	ck_guest("DEFINE CPU 03 01-2 1", 0, "CPU 01 defined\nCPU 02 defined\nCPU 03 defined\n");
}

/* All of them, or none. */
TEST(define_refused)
{
	ck_guest("DEFINE CPU", 26, MISSING("CPU"));
	ck_guest("DEFINE CPU TYPE CP", 3, INVALID("CPU", "TYPE"));
	ck_guest("DEFINE CPU 1 TYPE", 26, MISSING("CPU"));
	ck_guest("DEFINE CPU 1 TYPE IFL", 3, INVALID("CPU", "IFL"));
	ck_guest("DEFINE CPU 1 TYPE CP 2", 3, EXTRA("CPU", "2"));
	ck_guest("DEFINE CPU 1 AS CPU 3", 3, INVALID("CPU", "AS"));
	ck_guest("DEFINE CPU 40", 3, INVALID("CPU", "40"));
	ck_guest("DEFINE CPU 3-1", 3, INVALID("CPU", "3-1"));
	ck_guest("DEFINE CPU 1-", 3, INVALID("CPU", "1-"));
	ck_guest("DEFINE CPU -1", 3, INVALID("CPU", "-1"));
	ck_guest("DEFINE CPU 1-2-3", 3, INVALID("CPU", "1-2-3"));
	ck_guest("DEFINE CPU 1 4", 13, CONFLICT("04 is more than the emulator's machine has"));
	ck_guest("DEFINE CPU 0-3F", 13, CONFLICT("00 is defined"));
	ck_guest("DEFINE CPU 1-2", 13, CONFLICT("02 is defined"));
	ck_assert_uint_eq(fx.cpus, 5);
}

TEST(detach_refused)
{
	ck_guest("DETACH CPU", 26, MISSING("CPU"));
	ck_guest("DETACH CPU 2 TYPE CP", 3, INVALID("CPU", "TYPE"));
	ck_guest("DETACH CPU 0", 13, CONFLICT("00 is the base"));
	ck_guest("DETACH CPU 1", 13, CONFLICT("01 is not defined"));
	cp_cpu_ordered(fx.cp, 2, 0, CP_ORDER_START);
	ck_guest("DETACH CPU 2", 13, CONFLICT("02 runs; stop it first"));
	ck_assert_uint_eq(fx.cpus, 5);
}

/* It stands still after each of these. */
TEST(detach)
{
	cp_cpu_ordered(fx.cp, 2, 0, CP_ORDER_START);
	cp_cpu_ordered(fx.cp, 2, 2, CP_ORDER_STOP);
	ck_guest("DET CPU 2", 0, "CPU 02 detached\n");
	ck_assert_uint_eq(fx.cpus, 1);
	ck_guest("DEF CPU 2", 0, "CPU 02 defined\n");
	cp_cpu_ordered(fx.cp, 2, 0, CP_ORDER_START);
	cp_reset_cpu(fx.cp, 2);
	ck_guest("DET CPU 2", 0, "CPU 02 detached\n");
	ck_guest("DEF CPU 2", 0, "CPU 02 defined\n");
	cp_cpu_ordered(fx.cp, 2, 0, CP_ORDER_START);
	cp_reset(fx.cp);
	ck_guest("DET CPU 2", 0, "CPU 02 detached\n");
}

/* A saved state brings its CPUs, and the emulator learns of them. */
TEST(saved)
{
	uint8_t *image;
	char err[256];
	size_t len;

	ck_guest("DEF CPU 1", 0, "CPU 01 defined\n");
	cp_cpu_ordered(fx.cp, 1, 0, CP_ORDER_START);
	image = cp_save(fx.cp, &len);
	ck_assert_ptr_nonnull(image);
	cp_reset(fx.cp);
	ck_guest("DETACH CPU 1-2", 0, "CPU 01 detached\nCPU 02 detached\n");
	ck_assert_uint_eq(fx.cpus, 1);
	ck_assert_int_eq(cp_load(fx.cp, image, len, err, sizeof(err)), 0);
	free(image);
	ck_assert_uint_eq(fx.cpus, 7);
	ck_guest("DETACH CPU 1", 13, CONFLICT("01 runs; stop it first"));
}

static const struct {
	const char *directory, *why;
} wrong[] = {
	{ "CPU 01", "lack CPU 00, which is the base" },
	{ "CPU 00;CPU 04", "have a CPU that the machine has not" },
};

TEST_EACH(create_refused, wrong)
{
	char err[256], expected[256];
	struct cp_host host = fx.cp->host;
	struct cp_config config;

	cp_config_init(&config);
	ck_assert_int_eq(cp_config_set(&config, "cpus", CPUS, err, sizeof(err)), 0);
	ck_assert_int_eq(cp_config_set(&config, "directory", wrong[_i].directory, err,
				       sizeof(err)), 0);
	ck_assert_ptr_null(cp_create(NULL, &config, &host, err, sizeof(err)));
	snprintf(expected, sizeof(expected), "the CPU statements of LINUX001's directory entry %s",
		 wrong[_i].why);
	ck_assert_str_eq(err, expected);
	cp_config_fini(&config);
}

TEST(emulator_that_cannot)
{
	struct cp_host host = fx.cp->host;
	char err[256];

	host.cpus = NULL;
	ck_assert_ptr_null(cp_create(NULL, &fx.config, &host, err, sizeof(err)));
	ck_assert_str_eq(err, "the CPU statements of LINUX001's directory entry need an emulator in "
			 "which CPUs come and go; only QEMU is one");
}
