# SPDX-License-Identifier: MIT
# zvmlab: "make help" lists the targets and switches.

PYTHON ?= /usr/bin/python3
BUILD ?= build
CC ?= gcc
AR ?= ar
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib

# In one place; ci/version.py finds what differs.
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' harness/zvmlab/base/version.py)

# The guest of "make demo" and the data sets it reads.
KERNEL ?= bookworm
# The monreader of demo and tests: upstream, zvmlab (ours), or a .ko; tests take several.
DRIVER ?= upstream
# "make check" runs the tests of a monreader with both, unless DRIVER is given.
DRIVERS := $(if $(filter file,$(origin DRIVER)),upstream zvmlab,$(DRIVER))
# The emulator of demo and tests: qemu, hercules; tests take both.
BACKEND ?= qemu
# The tests marked representative run in this emulator as well (none: empty); our module for
# Hercules is for x86-64.
REPRESENTATIVE ?= $(if $(filter x86_64,$(shell uname -m)),hercules)
CPUS ?= 1
SETS ?= 20
# Guest kernels of "make check"; "make check-full" adds sid, which moves.  In Hercules
# alone it is the first: what boots there takes ten times as long.
KERNELS ?= bookworm $(if $(filter qemu,$(BACKEND)),trixie)
# Guests wait now and then: two for each processor keep all of them busy.
JOBS ?= $(shell expr 2 \* $$(nproc))

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wimplicit-fallthrough \
	-Wnull-dereference
ifeq ($(W),1)
WARNINGS += -Wconversion -Wsign-conversion -Wcast-align=strict -Wswitch-enum
endif
ifeq ($(CI),true)
WARNINGS += -Werror
endif
OPTIMISE := -O2
ifeq ($(D),1)
OPTIMISE := -O0 -g3
endif
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
include ci/modules.mk
CFLAGS_ALL = -std=gnu11 -g $(OPTIMISE) $(WARNINGS) -MMD -MP $(call module_cppflags,$<) $(CPPFLAGS) $(CFLAGS)

REPLAY := $(BUILD)/zvmlab-replay
TOOLS := $(addprefix $(BUILD)/,dmmon taskmon monread)
MONREC_HEADERS := lib/monrec/monrec.h lib/monrec/monrec_application.h lib/monrec/monrec_catalogue.h
MONREC_LIB := $(addprefix $(BUILD)/libmonrec,.a .so.0)
# With what of lib/base it has in it.
MONREC_OBJ := $(patsubst %.c,$(BUILD)/shared/%.o,$(foreach module,$(lib/monrec.ALL),$($(module).PARTS)))
# tests/unit is laid out as the sources are; the programs lie side by side.
UNIT_SRC := $(foreach module,$(filter tests/unit/%,$(MODULES)),$($(module).MAIN))
UNIT_BIN := $(patsubst %.c,$(BUILD)/unit/%,$(notdir $(UNIT_SRC)))
ifneq ($(words $(UNIT_BIN)),$(words $(sort $(UNIT_BIN))))
$(error two tests have the name $(notdir $(firstword $(foreach one,$(UNIT_BIN),$(if $(word 2,$(filter $(one),$(UNIT_BIN))),$(one))))).c)
endif
BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/%,$(tests/bench.MAIN))
SERVER := $(BUILD)/unit/ctl_server
# Fuzz targets; each has its corpus, and is replayed without libFuzzer by the unit tests.
FUZZ := mon_stream trace_replay dm_stats monrec taskstats guest control
FUZZ_BIN := $(FUZZ:%=$(BUILD)/fuzz/%)
FUZZ_REPLAY := $(FUZZ:%=$(BUILD)/unit/replay_%)
FUZZ_CC ?= clang
SECONDS ?= 600

HARNESS := PYTHONPATH=$(CURDIR)/harness $(PYTHON)
PYTEST := $(HARNESS) -m pytest -p zvmlab.pytest_plugin

# Unit tests run under ASan and UBSan, but for coverage; other programs with ASAN=1.
UNIT_CFLAGS := $(SANITIZE)
ifeq ($(G),1)
# What is counted is what the source says, not what optimiser and sanitizers make of it.
OPTIMISE := -O0
SANITIZE :=
UNIT_CFLAGS := --coverage
endif
PLAIN_CFLAGS := $(if $(filter 1,$(ASAN)),$(SANITIZE))

.PHONY: all
all: lib ## build the core and the control layer for this machine

.PHONY: lib
lib: $(BUILD)/plain/sim/cp.a $(BUILD)/plain/sim/control.a

$(BUILD)/unit/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
ifeq ($(C),1)
	$(Q)sparse -Wno-decl $(call module_cppflags,$<) $<
endif
	$(Q)$(CC) $(CFLAGS_ALL) $(UNIT_CFLAGS) -c -o $@ $<

$(BUILD)/plain/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
ifeq ($(C),1)
	$(Q)sparse -Wno-decl $(call module_cppflags,$<) $<
endif
	$(Q)$(CC) $(CFLAGS_ALL) $(PLAIN_CFLAGS) -c -o $@ $<

# A module as an archive, in each of the ways that it is compiled in.
ARCHIVES := $(foreach way,unit plain fuzz,$(MODULES:%=$(BUILD)/$(way)/%.a))
$(foreach way,unit plain fuzz,$(foreach module,$(MODULES),$(eval \
	$(BUILD)/$(way)/$(module).a: $($(module).PARTS:%.c=$(BUILD)/$(way)/%.o))))
$(ARCHIVES):
	@mkdir -p $(@D)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Objects first; which archive needs which others need not be said once more.
LINKED = $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -Wl,--as-needed $(call module_libs,$(LINKED_AS))
LINK_CHECKED = $(CC) $(SANITIZE) $(WRAPPED:%=-Wl,--wrap=%) $(if $(filter 1,$(G)),--coverage) -o $@ $(LINKED)

# Program $1 of source $2: linked with what its module $3 is linked with, compiled in way $4.
define program
$1: $(BUILD)/$4/$(2:.c=.o) $(call module_archives,$3,$4)
$1: LINKED_AS := $3
endef

$(foreach source,$(UNIT_SRC),$(eval $(call \
	program,$(BUILD)/unit/$(notdir $(source:.c=)),$(source),$(module-of.$(source)),unit)))
$(UNIT_BIN):
	$(say) LD $@
	$(Q)$(LINK_CHECKED)

# What test_failing lets fail.
$(BUILD)/unit/test_failing: WRAPPED := malloc calloc realloc strdup mmap open close fread fwrite fclose \
	fstat lstat chmod socket bind listen epoll_create1 epoll_ctl eventfd read write writev recv send

# Storage that runs out: tests/unit/storage_fails.h.
STORAGE := malloc calloc realloc reallocarray strdup strndup
$(addprefix $(BUILD)/unit/test_,control_request tool_text tool_rows dms_storage export_metrics monread_storage monrec_stream taskmon_storage): \
	WRAPPED := $(STORAGE)

# Timers, signals and what comes of them; no storage for what is in /proc.
$(BUILD)/unit/test_tool_interval: WRAPPED := signal sigprocmask signalfd timerfd_create timerfd_settime poll read
$(BUILD)/unit/test_tool_proc: WRAPPED := $(STORAGE)

# A command line that cannot be read.
$(BUILD)/unit/test_tool_command_line: WRAPPED := argp_parse

# Where a program is, and so its catalogue.
$(BUILD)/unit/test_tool_translate: WRAPPED := $(STORAGE) readlink

# The screen of taskmon top is made in storage, too.
$(BUILD)/unit/test_taskmon_storage: WRAPPED += open_memstream fclose

# Parts of a file that are written and read one by one, and where it has holes.
$(BUILD)/unit/test_cp_machine_file: WRAPPED := pwrite pread lseek ftruncate fstat close malloc

# Paths of options.
$(BUILD)/unit/test_cp_port: WRAPPED := strdup

# A file that becomes shorter.
$(BUILD)/unit/test_control_value: WRAPPED := fstat

# What the kernel is asked for.
$(BUILD)/unit/test_export_address: WRAPPED := socket setsockopt bind listen getsockname

# Sockets that fail or take a part, and the lock.
$(BUILD)/unit/test_export_lines: WRAPPED := $(STORAGE) eventfd send recv pthread_mutex_init \
	pthread_mutex_lock pthread_mutex_unlock pthread_mutex_destroy

# Files that fail or take a part; hashes.
$(BUILD)/unit/test_export_files: WRAPPED := $(STORAGE) crypt_r explicit_bzero fopen open write close asprintf

# A library that writes down what it is asked for.
$(BUILD)/unit/test_export_http: WRAPPED := $(STORAGE) http_library dlopen dlsym dlerror clock_gettime explicit_bzero

# The parts of an exporter, its clock and its thread.
$(BUILD)/unit/test_export_life: WRAPPED := $(STORAGE) http_open http_close http_fd http_timeout_ms http_run http_answered \
	json_lines_open json_lines_close json_lines_file json_lines_poll json_lines_run json_lines_count \
	textfile_write clock_gettime poll eventfd pthread_create pthread_join

# Lines of a trace that are taken in parts.
$(BUILD)/unit/test_trace_file: WRAPPED := writev

# What mutates the inputs of a target; the others leave that to libFuzzer.
FUZZ_MUTATES.trace_replay := tests/fuzz/mutate_lines.c
FUZZ_MUTATES.control := tests/fuzz/mutate_control.c tests/fuzz/mutate_lines.c
$(foreach target,$(FUZZ),$(eval $(call \
	program,$(BUILD)/unit/replay_$(target),tests/fuzz/fuzz_$(target).c,tests/fuzz,unit)))
$(foreach target,$(FUZZ),$(eval $(call \
	program,$(BUILD)/fuzz/$(target),tests/fuzz/fuzz_$(target).c,tests/fuzz,fuzz)))
$(foreach target,$(FUZZ),$(eval $(BUILD)/fuzz/$(target): $(FUZZ_MUTATES.$(target):%.c=$(BUILD)/fuzz/%.o)))

# No input of the control socket's reaches a file of this machine.
$(BUILD)/unit/replay_control $(BUILD)/fuzz/control: WRAPPED := open

$(FUZZ_REPLAY): $(BUILD)/unit/tests/fuzz/replay.o
	$(say) LD $@
	$(Q)$(LINK_CHECKED)

# What libFuzzer is led by: coverage of what is tested, not of the model.
FUZZ_LED := $(foreach module,driver lib/base lib/monrec sim/cp sim/record sim/control sim/replay tools/dmmon tools/taskmon,$($(module).PARTS)) \
	tests/fuzz/machine_read.c
$(FUZZ_LED:%.c=$(BUILD)/fuzz/%.o): FUZZ_CFLAGS := -fsanitize-coverage=inline-8bit-counters,pc-table

$(BUILD)/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(FUZZ_CC) -std=gnu11 -g -O2 -Wall -Wextra -MMD -MP $(call module_cppflags,$<) $(SANITIZE) $(FUZZ_CFLAGS) -c -o $@ $<

$(FUZZ_BIN):
	$(say) LD $@
	$(Q)$(FUZZ_CC) $(SANITIZE) $(WRAPPED:%=-Wl,--wrap=%) -fsanitize=fuzzer -o $@ $(LINKED)

$(eval $(call program,$(SERVER),tests/harness/ctl_server.c,tests/harness,unit))
$(SERVER):
	$(say) LD $@
	$(Q)$(LINK_CHECKED)

.PHONY: replay
replay: $(REPLAY)

.PHONY: tools
tools: $(TOOLS) $(BUILD)/locale ## build dmmon, taskmon and monread for this machine

$(eval $(call program,$(REPLAY),sim/replay/main.c,sim/replay,plain))
$(foreach tool,$(TOOLS),$(eval $(call program,$(tool),tools/$(notdir $(tool))/main.c,tools/$(notdir $(tool)),plain)))
$(foreach bench,$(BENCH_BIN),$(eval $(call program,$(bench),tests/bench/$(notdir $(bench)).c,tests/bench,plain)))
$(REPLAY) $(TOOLS) $(BENCH_BIN):
	$(say) LD $@
	$(Q)$(CC) $(PLAIN_CFLAGS) $(LDFLAGS) -o $@ $(LINKED)

# Help in other languages: a catalogue for each program, of the texts that it has.  Without the
# programs of gettext and po4a it stays English, as pages do.  msggrep warns of \v, which argp needs.
CATALOGUES := zvmlab $(notdir $(TOOLS))
CATALOGUE.zvmlab := zvmlab
$(foreach tool,$(notdir $(TOOLS)),$(eval CATALOGUE.$(tool) := argp tools/$(tool)/* tools/common/* tools/export/*))
$(BUILD)/locale: $(wildcard po/*/help.po)
	$(say) MSGFMT $@
	$(Q)if ! command -v msgfmt >/dev/null; then \
		echo "help stays in English only: install gettext for other languages"; exit; fi; \
	rm -rf $@; for po in $^; do to=$@/$$(basename $${po%/*})/LC_MESSAGES && mkdir -p $$to && \
		{ $(foreach program,$(CATALOGUES),msggrep -o $$to/$(program).po $(CATALOGUE.$(program):%=-N '%') $$po && \
			msgfmt -o $$to/$(program).mo $$to/$(program).po &&) rm $$to/*.po; } 2>$@/said || \
			{ cat $@/said; rm -rf $@; exit 1; }; rm $@/said; done

$(BUILD)/man: po/po4a.cfg $(wildcard po/*/*.po) $(wildcard docs/*.[13]) driver/monreader.4
	$(say) PO4A $@
	$(Q)if ! command -v po4a >/dev/null; then \
		echo "man pages stay in English only: install po4a for other languages"; exit; fi; \
	po4a --quiet --no-update --variable build=$(BUILD) --variable tree=$(BUILD) po/po4a.cfg && touch $@

.PHONY: translations
translations: ## bring new English texts of help and pages into po/, and say what is to be translated there
	$(Q)ci/setup.sh run build check lint
	$(Q)$(HARNESS) ci/translations.py --update --build $(BUILD)

.PHONY: monrec
monrec: $(MONREC_LIB) ## build libmonrec, static and shared, for programs that read monitor data

# Only what the headers declare can be seen from without.
$(BUILD)/shared/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CFLAGS_ALL) $(PLAIN_CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(BUILD)/libmonrec.so.0: $(MONREC_OBJ) lib/monrec/monrec.map
	$(say) LD $@
	$(Q)$(CC) $(PLAIN_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,defs \
		-Wl,--version-script=lib/monrec/monrec.map -o $@ $(MONREC_OBJ)

$(BUILD)/libmonrec.a: $(MONREC_OBJ)
	$(say) AR $@
	$(Q)$(LD) -r -o $(BUILD)/libmonrec.o $^ && $(OBJCOPY) --localize-hidden $(BUILD)/libmonrec.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/libmonrec.o

.PHONY: help
help: ## list the targets
	@echo "Targets:"
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r t d; do \
		printf '%-18s %s\n' "$$t" "$$d"; done
	@echo "Variables: KERNEL=bookworm|trixie|sid|debug|PATH|TREE  DRIVER=upstream|zvmlab|PATH  BACKEND=qemu|hercules  REPRESENTATIVE=hercules  CPUS=n  SETS=n  KERNELS='…'  JOBS=n  TESTS='…'  SHARD=I/N  SUITES='…'  SECONDS=n  PAIRS=n  STRICT=1  N=n  SEED=n  BASE=BRANCH  FOLDER=DIR  ZVMLAB_CACHE=DIR"
	@echo "Switches:  V=1 show commands  W=1 more warnings  D=1 debug  C=1 sparse  G=1 coverage  ASAN=1 sanitizers"

.PHONY: setup
setup: ## list and install the missing Debian packages, for all targets
	$(Q)ci/setup.sh

# What each kind of target needs, and no more.
HERCULES := $(sort $(filter hercules,$(BACKEND) $(REPRESENTATIVE)))
GROUPS.check := run build check $(HERCULES)
GROUPS.lint := run build check hercules lint
GROUPS.bench := run build check hercules bench
.PHONY: setup-check setup-lint setup-bench
setup-check setup-lint setup-bench: setup-%:
	$(Q)ci/setup.sh $(GROUPS.$*)

.PHONY: demo
demo: ## boot a guest, read monitor data sets in it, and compare every byte
	$(Q)ci/setup.sh run build $(filter hercules,$(BACKEND))
	$(Q)./zvmlab demo --backend $(BACKEND) --kernel $(KERNEL) --driver $(DRIVER) --cpus $(CPUS) --sets $(SETS)

# Seconds for a test whose case does not say: with Check's own 4 a busy machine would end some.
export CK_DEFAULT_TIMEOUT := 60

# Each prints its closing line in one piece, however many run at once.
UNIT_RUNS := $(UNIT_BIN:%=%.run) $(FUZZ:%=%.replay)
.PHONY: $(UNIT_RUNS)
$(UNIT_BIN:%=%.run): %.run: %
	$(Q)$<
$(FUZZ:%=%.replay): %.replay: $(BUILD)/unit/replay_%
	$(Q)$< tests/fuzz/corpus/$*

.PHONY: unit
unit: ## unit tests of the core, corpora of the fuzz targets (ASan, UBSan)
	$(Q)$(MAKE) --no-print-directory --output-sync=line -j $(JOBS) $(UNIT_BIN) $(FUZZ_REPLAY)
	$(Q)$(MAKE) --no-print-directory --output-sync=target --keep-going -j $(JOBS) $(UNIT_RUNS)

# An assertion's other side must never be reached, so assert() has no branches here.
# gcovr removes its output file before it writes it: never name /dev/null here.
COVERED_WELL := sim/cp sim/control
COVERED := $(COVERED_WELL) driver lib/base lib/monrec sim/fabricate sim/port sim/record
GCOVR := gcovr --root . --txt $(BUILD)/coverage.txt --print-summary --add-tracefile $(BUILD)/coverage.json
.PHONY: coverage
coverage: ## coverage of unit tests and corpora: at least 95 % of core and control
	$(Q)find $(BUILD)/gcov -name '*.gcda' -delete 2>/dev/null || true
	$(Q)$(MAKE) --no-print-directory unit G=1 BUILD=$(BUILD)/gcov
	$(Q)gcovr --root . --object-directory $(BUILD)/gcov $(COVERED:%=--filter '%/') \
		--exclude-unreachable-branches --exclude-branches-by-pattern '.*\b(MON_ASSERT|assert)\(.*' \
		--json $(BUILD)/coverage.json $(BUILD)/gcov
	$(Q)echo '$(COVERED_WELL):'
	$(Q)$(GCOVR) $(COVERED_WELL:%=--filter '%/') --fail-under-line 95 --fail-under-branch 95
	$(Q)echo '$(COVERED):'
	$(Q)$(GCOVR) --fail-under-line 95

.PHONY: prepare
prepare: setup-check ## build QEMU and fetch the guest kernels into the cache
	$(Q)for b in $(BACKEND) $(REPRESENTATIVE); do ./zvmlab build --backend $$b || exit; done
	$(Q)./zvmlab fetch $(KERNELS)

.PHONY: check
check: $(if $(TESTS),check-some,check-all) ## all tests: core, harness, guests; TESTS='-k overflow', or --lf: only these

.PHONY: check-all
check-all: setup-check
	$(Q)$(MAKE) --no-print-directory check-names
	$(Q)$(MAKE) --no-print-directory unit coverage
	$(Q)$(MAKE) --no-print-directory check-harness
	$(Q)$(MAKE) --no-print-directory check-e2e

# What pytest is told of guests; requirements can be shown by the whole only.
GUESTS := -n $(JOBS) --dist loadgroup $(KERNELS:%=--kernel %) $(DRIVERS:%=--driver %) \
	$(BACKEND:%=--backend %) $(REPRESENTATIVE:%=--representative %) $(if $(FULL),--full) \
	$(SHARD:%=--shard %)
REPORT := --zvmlab-report $(BUILD)/report --junitxml $(BUILD)/report/junit.xml

# A name that cannot be is told before anything is built for the others.
.PHONY: check-names
check-names: setup-check
	$(Q)$(PYTEST) $(GUESTS) --markers >/dev/null

.PHONY: check-some
check-some: setup-check
	$(Q)$(MAKE) --no-print-directory check-names
	$(Q)$(MAKE) --no-print-directory prepare $(SERVER)
	$(Q)ZVMLAB_CTL_SERVER=$(CURDIR)/$(SERVER) $(PYTEST) $(GUESTS) $(REPORT) $(TESTS)

.PHONY: check-full
check-full: ## all tests, also on sid's kernel, and the tests marked full
	$(Q)$(MAKE) --no-print-directory check KERNELS="$(KERNELS) sid" FULL=1

# $(1): folders of tests.  Those folders, unless TESTS names files; and what else TESTS says.
tests-of = $(if $(filter tests/%,$(TESTS)),,$(1)) $(TESTS)

.PHONY: check-harness
check-harness: setup-check $(SERVER) ## tests of the harness, without guests; TESTS=FILE… for some of them
	$(Q)ZVMLAB_CTL_SERVER=$(CURDIR)/$(SERVER) $(PYTEST) -n $(JOBS) \
		$(call tests-of,tests/harness tests/mutants tests/docs tests/linux_coverage tests/kvm_unit_tests)

.PHONY: check-e2e
check-e2e: setup-check prepare ## tests in guests; TESTS='-k overflow' for some of them, SHARD=2/8 for a share
	$(Q)$(PYTEST) $(GUESTS) --durations 10 $(if $(TESTS),,--requirements) $(REPORT) \
		$(call tests-of,tests/e2e)

# A test that this kernel leaves leaking, or with lockdep turned off, fails.
.PHONY: check-debug
check-debug: setup-check ## test guests on the debug kernel: KASAN, lockdep, kmemleak, UBSAN, failing allocations
	$(Q)./zvmlab build
	$(Q)./zvmlab fetch debug
	$(Q)$(PYTEST) -n $(JOBS) --dist loadgroup --durations 10 --kernel debug \
		$(DRIVER:%=--driver %) $(if $(FULL),--full) $(SHARD:%=--shard %) \
		$(call tests-of,tests/e2e tests/debug)

# The page that the run is about, so only what runs in guests; the table of requirements of an
# earlier "make check" says on which kernels they were shown.
.PHONY: linux-coverage
linux-coverage: setup-check ## write docs/coverage-of-linux.md: which lines of Linux' z/VM code the tests run
	$(Q)./zvmlab build
	$(Q)./zvmlab fetch coverage
	$(Q)rm -rf $(BUILD)/linux-lines
	-$(Q)$(PYTEST) -n $(JOBS) --dist loadgroup --kernel coverage --driver upstream --linux-lines $(BUILD)/linux-lines tests/e2e
	$(Q)$(HARNESS) tests/linux_coverage/linux_coverage.py --lines $(BUILD)/linux-lines \
		--report $(BUILD)/report/report.json --output docs/coverage-of-linux.md

.PHONY: fuzz-replay
fuzz-replay: $(FUZZ_REPLAY)

RUN_FUZZ = $(HARNESS) tests/fuzz/fuzz.py --build $(BUILD)/fuzz --seconds $(SECONDS) --jobs $(JOBS) \
	$(SHARD:%=--shard %)
.PHONY: fuzz
fuzz: ## run the fuzz targets for SECONDS with JOBS processes
	$(Q)ci/setup.sh build check fuzz
	$(Q)$(RUN_FUZZ) --check $(FUZZ)
	$(Q)$(MAKE) -s --no-print-directory $(FUZZ_BIN)
	$(Q)$(MAKE) -s --no-print-directory fuzz-replay G=1 BUILD=$(BUILD)/fuzz/gcov
	$(Q)$(RUN_FUZZ) $(FUZZ)

.PHONY: fuzz-mutants
fuzz-mutants: ## check that the fuzzer finds deliberate mistakes
	$(Q)ci/setup.sh build check fuzz
	$(Q)$(MAKE) -s --no-print-directory $(BUILD)/fuzz/mon_stream
	$(Q)$(HARNESS) tests/fuzz/mutants.py --build $(BUILD)/fuzz

.PHONY: mutants
mutants: ## find small changes of the sources that no test notices: N=100 SEED=1 FOLDER=…, or BASE=main
	$(Q)ci/setup.sh build check
	$(Q)$(HARNESS) tests/mutants/mutate.py --build $(BUILD) --jobs $(shell nproc) \
		$(if $(N),--number $(N)) $(if $(SEED),--seed $(SEED)) $(if $(BASE),--base $(BASE)) $(FOLDER:%=--folder %)

.PHONY: check-docs
check-docs: setup ## run every command that the documents show; PAGES="README.md docs/trace.md": only theirs
	$(Q)$(HARNESS) tests/docs/check_docs.py --build $(BUILD) $(PAGES)

.PHONY: compile-commands
compile-commands: ## write compile_commands.json, for clangd and others
	@mkdir -p $(BUILD)
	$(Q)$(MAKE) -nB V=1 all unit tools | $(PYTHON) ci/compile_commands.py >$(BUILD)/compile_commands.json.part
	$(Q)mv $(BUILD)/compile_commands.json.part compile_commands.json

.PHONY: lint
lint: setup-lint ## sparse, cppcheck, shellcheck, codespell, black, mypy, REUSE
	$(Q)PYTHON=$(PYTHON) ci/lint.sh

.PHONY: lint-driver
lint-driver: setup-lint ## check driver/ with the kernel's tools: W=1, sparse, kernel-doc, checkpatch, coccinelle
	$(Q)$(HARNESS) -m zvmlab.build.driverlint

.PHONY: qemu-patches
qemu-patches: ## write our changes of QEMU as patch files: build/qemu-patches; QEMU=DIR: for this source (7.2, 10.0, 10.2, 11.1)
	$(Q)$(HARNESS) -B sim/qemu/patches.py "$(or $(QEMU),$$($(HARNESS) -m zvmlab.build.qemubuild --source))" $(BUILD)/qemu-patches

.PHONY: kvm-unit-tests
kvm-unit-tests: ## run kvm-unit-tests in Debian's QEMU and in ours, and compare: SOURCE=DIR, TEST="NAME…"
	$(Q)$(HARNESS) -B tests/kvm_unit_tests/kvm_unit_tests.py --source "$(SOURCE)" --build $(BUILD)/kvm-unit-tests $(TEST)

# The kernel is that of those benchmarks that have one only.
BENCH := $(HARNESS) tests/bench/bench.py --build $(BUILD) --kernel $(KERNEL) $(PAIRS:%=--pairs %) \
	$(if $(STRICT),--strict)

.PHONY: bench
bench: setup-bench $(BENCH_BIN) $(BUILD)/monread ## run the benchmarks, as ratios within one run; PAIRS=9: so often, STRICT=1: fail if a budget is missed
	$(Q)$(BENCH)

.PHONY: bench-driver
bench-driver: setup-bench $(BENCH_BIN) ## benchmark only our driver against upstream's
	$(Q)$(BENCH) --part pairs --part instructions

.PHONY: bench-records
bench-records: setup-bench $(BUILD)/bench_records ## benchmark only the model: monitor records a second
	$(Q)$(BENCH) --part records

.PHONY: bench-export
bench-export: setup-bench $(BUILD)/monread ## benchmark only monread export: 1,000 users, scraped by Prometheus
	$(Q)$(BENCH) --part export

.PHONY: bench-tools
bench-tools: setup-bench ## benchmark only taskmon and dmmon against the bare interfaces
	$(Q)$(BENCH) --part dmstats --part taskstats

.PHONY: bench-qemu
bench-qemu: setup-bench ## benchmark only our QEMU against Debian's: boot, system calls, processes
	$(Q)$(BENCH) --part qemu

.PHONY: bench-qemu-changes
bench-qemu-changes: setup-bench ## benchmark what each of the changes that make our QEMU faster is worth
	$(Q)$(BENCH) --part changes

.PHONY: bench-shards
bench-shards: setup-bench ## benchmark only a sweep in two shards: what it takes against one in one piece
	$(Q)$(BENCH) --part shards

.PHONY: bench-emulators
bench-emulators: setup-bench ## benchmark only the two emulators against each other
	$(Q)$(BENCH) --part emulators

# $(1): names of commands; $(2): names of pages.  What other languages have of them, if it was built.
define install-translations
$(Q)for file in $(foreach name,$(1),$(BUILD)/locale/*/LC_MESSAGES/$(name).mo) $(foreach page,$(2),$(BUILD)/man/*/man?/$(page)); do \
	if [ -e "$$file" ]; then to=$(DESTDIR)$(PREFIX)/share/$${file#$(BUILD)/} && \
		mkdir -p "$${to%/*}" && install -m 644 "$$file" "$$to" || exit 1; fi; \
done

endef

# $(1): name of a command; $(2): options of "zvmlab completion" for it.
define install-completion
$(Q)for to in bash:bash-completion/completions/$(1) zsh:zsh/site-functions/_$(1) \
		fish:fish/vendor_completions.d/$(1).fish; do \
	file=$(DESTDIR)$(PREFIX)/share/$${to#*:}; mkdir -p $${file%/*} && \
		./zvmlab completion $${to%%:*} $(2) > $$file || exit 1; \
done

endef

# Its files; those of an unpacked source package are all that is there.
INSTALLED = { git ls-files --error-unmatch Makefile >/dev/null 2>&1 && git ls-files $(INSTALLED_FROM) || \
	find $(INSTALLED_FROM) -name __pycache__ -prune -o -type f -print; }
INSTALLED_FROM := Makefile lib sim guest driver tools harness examples zvmlab pyproject.toml LICENSES \
	docs/control-schema.json ci/modules.mk ci/packages.txt
.PHONY: install
install: $(BUILD)/locale $(BUILD)/man ## install zvmlab to PREFIX (below DESTDIR, if set)
	$(Q)mkdir -p $(DESTDIR)$(PREFIX)/lib/zvmlab $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	$(Q)$(INSTALLED) | xargs cp -r --parents -t $(DESTDIR)$(PREFIX)/lib/zvmlab
	$(Q)ln -sf ../lib/zvmlab/zvmlab $(DESTDIR)$(PREFIX)/bin/zvmlab
	$(Q)install -m 644 docs/zvmlab.1 $(DESTDIR)$(PREFIX)/share/man/man1/zvmlab.1
	$(call install-translations,zvmlab,zvmlab.1)
	$(call install-completion,zvmlab)

.PHONY: install-tools
install-tools: $(TOOLS) install-units $(BUILD)/locale $(BUILD)/man ## install dmmon, monread and taskmon with man pages, and taskmon's systemd units
	$(Q)mkdir -p $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	$(Q)install $(TOOLS) $(DESTDIR)$(PREFIX)/bin
	$(Q)install -m 644 $(TOOLS:$(BUILD)/%=docs/%.1) $(DESTDIR)$(PREFIX)/share/man/man1
	$(call install-translations,$(notdir $(TOOLS)),$(TOOLS:$(BUILD)/%=%.1))
	$(foreach tool,$(TOOLS),$(call install-completion,$(notdir $(tool)),--program $(tool)))

# Where systemd looks for units of packages, and of what is installed beside them.
UNITDIR ?= $(PREFIX)/lib/systemd/system
UNITS := taskmon-export taskmon-listen
define install-unit
$(Q)sed -e '/^@HARDENING@$$/{r tools/taskmon/systemd/hardening' -e 'd}' -e 's|@PREFIX@|$(PREFIX)|' \
	tools/taskmon/systemd/$(1).service.in > $(DESTDIR)$(UNITDIR)/$(1).service
$(Q)chmod 644 $(DESTDIR)$(UNITDIR)/$(1).service

endef

.PHONY: install-units
install-units: ## install taskmon's systemd units alone
	$(Q)mkdir -p $(DESTDIR)$(UNITDIR)
	$(foreach unit,$(UNITS),$(call install-unit,$(unit)))

.PHONY: install-monrec
install-monrec: $(MONREC_LIB) $(BUILD)/man ## install libmonrec, its headers, its man page and its pkg-config file
	$(Q)mkdir -p $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(LIBDIR)/pkgconfig \
		$(DESTDIR)$(PREFIX)/share/man/man3
	$(Q)install -m 644 docs/libmonrec.3 $(DESTDIR)$(PREFIX)/share/man/man3
	$(call install-translations,,libmonrec.3)
	$(Q)install -m 644 $(MONREC_HEADERS) $(DESTDIR)$(PREFIX)/include
	$(Q)install -m 644 $(BUILD)/libmonrec.a $(DESTDIR)$(LIBDIR)
	$(Q)install -m 755 $(BUILD)/libmonrec.so.0 $(DESTDIR)$(LIBDIR)
	$(Q)ln -sf libmonrec.so.0 $(DESTDIR)$(LIBDIR)/libmonrec.so
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' lib/monrec/monrec.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/monrec.pc

.PHONY: deb
deb: ## build Debian packages into build/deb, and check them with lintian
	$(Q)ci/setup.sh run build deb
	$(Q)$(HARNESS) ci/deb.py --build $(BUILD)

# As root: it makes a minimal Debian below the cache, and changes its root to it.  What "make deb"
# has built is not built again, because root has another cache.
.PHONY: check-deb
check-deb: ## install what "make deb" has built in a minimal Debian without compilers, and test it there
	$(Q)ci/setup.sh run deb hosts
	$(Q)$(HARNESS) tests/hosts/check_deb.py --packages $(BUILD)/deb

# As root, for the same reason.
.PHONY: check-hosts
check-hosts: ## run "make demo" and "make check" in a minimal Debian 12, 13 and sid; SUITES="trixie": only there
	$(Q)ci/setup.sh run hosts
	$(Q)$(HARNESS) tests/hosts/check_hosts.py --build $(BUILD) $(SUITES:%=--suite %) $(if $(TESTS),--tests='$(TESTS)')

# As root: it makes networks, hosts in them and a cluster, and removes them at the end.
.PHONY: check-recipes
check-recipes: ## run the recipes for several machines: GNU parallel, Slurm; a host fails, and nothing is lost
	$(Q)ci/setup.sh run build recipes
	$(Q)./zvmlab build
	$(Q)./zvmlab fetch bookworm
	$(Q)$(HARNESS) tests/recipes/check_recipes.py

.PHONY: check-dashboards
check-dashboards: ## judge the dashboards by the types that Grafana publishes; npm fetches them
	$(Q)$(HARNESS) tests/dashboards/check_dashboards.py

.PHONY: draw-dashboard
draw-dashboard: tools ## draw the pictures of the dashboards anew, with Grafana's components, which npm fetches; 7 minutes
	$(Q)PYTHONPATH=$(CURDIR)/harness:$(CURDIR)/tests/e2e $(PYTHON) tests/dashboards/draw_dashboard.py \
		--monread $(BUILD)/monread

.PHONY: clean
clean: ## remove what was built in the tree
	$(Q)rm -rf $(BUILD)

.PHONY: distclean
distclean: clean ## remove also the cache: built QEMU, fetched kernels
	$(Q)$(HARNESS) -m zvmlab.base.cache remove

.SECONDARY:
# The copies of the tree that mutants are made in have their own.
-include $(shell find $(BUILD) \( -path $(BUILD)/mutants -o -path $(BUILD)/docs \) -prune -o -type f -name '*.d' -print 2>/dev/null)
