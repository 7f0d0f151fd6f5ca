# SPDX-License-Identifier: MIT
# zvmlab: "make help" lists the targets and switches.

PYTHON ?= /usr/bin/python3
BUILD ?= build
# CC and AR are a user's, or make's own: cc and ar.
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config
# Where it is installed, nothing is compiled twice, in another clone neither.
CCACHE := $(shell command -v ccache)
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib

# In one place; ci/version.py finds what differs.
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"$$/\1/p' harness/zvmlab/base/version.py)

# The guest of "make demo" and the data sets it reads.
KERNEL ?= bookworm
# The same, if somebody has chosen it.
CHOSEN = $(if $(filter file,$(origin KERNEL)),,$(KERNEL))
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
STRICT_CFLAGS := -Werror
endif
OPTIMISE := -O2
ifeq ($(D),1)
OPTIMISE := -O0 -g3
endif
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
include ci/modules.mk
DEBUG_INFO := -g
CFLAGS_ALL = -std=gnu11 $(DEBUG_INFO) $(OPTIMISE) $(WARNINGS) -MMD -MP $(call module_cppflags,$<) $(CPPFLAGS) $(CFLAGS)

REPLAY := $(BUILD)/zvmlab-replay
SYSTEM := $(BUILD)/zvmlab-system
TOOLS := $(addprefix $(BUILD)/,dmmon taskmon monread)
SERVER := $(BUILD)/unit/ctl_server

HARNESS := PYTHONPATH=$(CURDIR)/harness $(PYTHON)
# Compiled Python is kept beside what else is built: each worker would compile all tests again.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(abspath $(BUILD))/pycache
PYTEST := $(HARNESS) -m pytest -p zvmlab.pytest_plugin

ifneq ($(CCACHE),)
ifeq ($(origin CCACHE_DIR),undefined)
export CCACHE_DIR := $(shell $(HARNESS) -m zvmlab.base.cache compiled)
endif
export CCACHE_BASEDIR := $(CURDIR)
CCACHE := $(if $(CCACHE_DIR),$(CCACHE))
endif

# Unit tests run under ASan and UBSan, but for coverage, and are compiled quickly; what is shipped is
# checked for warnings of the optimiser by "make objects".  Other programs have sanitizers with ASAN=1.
UNIT_CFLAGS := -Og $(SANITIZE) -ffile-prefix-map=$(CURDIR)=.
# The result of a test must not depend on whether CI compiled it: a warning in a test is an error always.
# CI sees those of all else in "make objects".
$(BUILD)/unit/tests/%.o: UNIT_CFLAGS += -Werror
# Nor on who compiled it: these name folders to compilers, linkers and loaders.
UNSET := env -u CPATH -u C_INCLUDE_PATH -u CPLUS_INCLUDE_PATH -u LIBRARY_PATH -u COMPILER_PATH -u GCC_EXEC_PREFIX \
	-u GCC_COMPARE_DEBUG -u DEPENDENCIES_OUTPUT -u SUNPRO_DEPENDENCIES -u LDEMULATION -u LD_RUN_PATH -u LD_LIBRARY_PATH -u LD_PRELOAD
# LLVM's linker takes half of the time, where it is installed.
UNIT_LINKER := $(if $(shell command -v ld.lld),-fuse-ld=lld)
# Sanitizers name functions and lines with that; variables, as a debugger shows them, are in D=1.
$(BUILD)/unit/%.o: DEBUG_INFO := $(if $(filter 1,$(G)),-g0,-g1)
ifeq ($(G),1)
# What is counted is what the source says, not what optimiser and sanitizers make of it.
OPTIMISE := -O0
SANITIZE :=
# Threads count, too: sums of lost counts do not agree, and gcovr refuses what gcov makes of them.
UNIT_CFLAGS := --coverage -fprofile-update=atomic
endif
# No folder of this machine is in what is built; and another clone can take it from ccache.
PLAIN_CFLAGS := $(if $(filter 1,$(ASAN)),$(SANITIZE)) -ffile-prefix-map=$(CURDIR)=.

.PHONY: all
all: lib ##+ use: build the core and the control layer for this machine

# What `make lint` looks at: every object that needs no emulator's headers (ci/layers.toml).
OBJECTS := $(foreach module,$(filter-out tests/% sim/qemu sim/hercules,$(MODULES)),$($(module).SOURCES:%.c=$(BUILD)/plain/%.o))
$(BUILD)/plain/guest/agent/%.o: CPPFLAGS += -D_GNU_SOURCE -pthread
.PHONY: objects
objects: $(OBJECTS)

.PHONY: lib
lib: $(BUILD)/plain/sim/cp.a $(BUILD)/plain/sim/control.a

$(BUILD)/unit/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
ifeq ($(C),1)
	$(Q)sparse -Wno-decl $(call module_cppflags,$<) $<
endif
	$(Q)$(UNSET) $(CCACHE) $(CC) $(CFLAGS_ALL) $(UNIT_CFLAGS) -c -o $@ $<

$(BUILD)/plain/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
ifeq ($(C),1)
	$(Q)sparse -Wno-decl $(call module_cppflags,$<) $<
endif
	$(Q)$(CCACHE) $(CC) $(CFLAGS_ALL) $(PLAIN_CFLAGS) $(STRICT_CFLAGS) -c -o $@ $<

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
LINK_CHECKED = $(UNSET) $(CC) $(UNIT_LINKER) $(SANITIZE) $(WRAPPED:%=-Wl,--wrap=%) $(if $(filter 1,$(G)),--coverage) -o $@ $(LINKED)

# Program $1 of source $2: linked with what its module $3 is linked with, compiled in way $4.
define program
$1: $(BUILD)/$4/$(2:.c=.o) $(call module_archives,$3,$4)
$1: LINKED_AS := $3
endef

include ci/fuzz.mk ci/unit.mk ci/bench.mk ci/install.mk

$(eval $(call program,$(SERVER),tests/harness/ctl_server.c,tests/harness,unit))
# The tools of the objects that unit tests are linked with.
CHECKED_TOOLS := $(TOOLS:$(BUILD)/%=$(BUILD)/unit/%)
$(foreach tool,$(notdir $(TOOLS)),$(eval $(call program,$(BUILD)/unit/$(tool),tools/$(tool)/main.c,tools/$(tool),unit)))
# With what spares LeakSanitizer the sanitizers' own variables: half of a short program's CPU time.
$(SERVER) $(CHECKED_TOOLS): $(BUILD)/unit/tests/harness/leaks_at_end.o $(BUILD)/unit/tests/unit/main/leaks.o
$(SERVER) $(CHECKED_TOOLS):
	$(say) LD $@
	$(Q)$(LINK_CHECKED)

.PHONY: replay
replay: $(REPLAY)

.PHONY: system
system: $(SYSTEM) ##+ use: build the process that has CP for several guests, for this machine

.PHONY: tools
tools: $(TOOLS) $(BUILD)/locale ## use: build dmmon, taskmon and monread for this machine

$(eval $(call program,$(REPLAY),sim/replay/main.c,sim/replay,plain))
$(eval $(call program,$(SYSTEM),sim/system/main.c,sim/system,plain))
$(foreach tool,$(TOOLS),$(eval $(call program,$(tool),tools/$(notdir $(tool))/main.c,tools/$(notdir $(tool)),plain)))
$(REPLAY) $(SYSTEM) $(TOOLS) $(BENCH_BIN):
	$(say) LD $@
	$(Q)$(CC) $(PLAIN_CFLAGS) $(LDFLAGS) -o $@ $(LINKED)

.PHONY: help
help: ## use: list the targets; ALL=1: also those that few need
	@for group in use test measure package develop; do \
		echo "$$group:"; \
		sed -n "s/^\([a-z0-9-]*\):.*##$(if $(ALL),+\?) $$group: \(.*\)/\1|\2/p" $(MAKEFILE_LIST) | \
			while IFS='|' read -r target text; do printf '  %-16s %s\n' "$$target" "$$text"; done; \
	done
	@echo "variables: KERNEL=bookworm|trixie|sid|debug|PATH|TREE  DRIVER=upstream|zvmlab|PATH  BACKEND=qemu|hercules  REPRESENTATIVE=hercules  CPUS=n  SETS=n  KERNELS='…'  JOBS=n  TESTS='…'  FROM='REPORT…'  SHARD=I/N  ROUNDS=n  LOAD=n  SUITES='…'  SECONDS=n  PAIRS=n  STRICT=1  FULL=1  AGAIN=1  N=n  SEED=n  BASE=BRANCH  FOLDER=DIR  ZVMLAB_CACHE=DIR"
	@echo "switches:  V=1 show commands  W=1 more warnings  D=1 debug  C=1 sparse  G=1 coverage  ASAN=1 sanitizers"

.PHONY: setup
setup: ## use: list and install the missing Debian packages, for all targets
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
demo: ## use: boot a guest, read monitor data sets in it, and compare every byte
	$(Q)ci/setup.sh run build $(filter hercules,$(BACKEND))
	$(Q)./zvmlab demo --backend $(BACKEND) --kernel $(KERNEL) --driver $(DRIVER) --cpus $(CPUS) --sets $(SETS)

.PHONY: prepare
prepare: setup-check ##+ develop: build QEMU and fetch the guest kernels into the cache
	$(Q)for b in $(BACKEND) $(REPRESENTATIVE); do ./zvmlab build --backend $$b || exit; done
	$(Q)./zvmlab fetch $(KERNELS)

.PHONY: check
check: $(if $(TESTS),check-$(if $(filter affected,$(TESTS)),affected,some),check-all) ## test: show every requirement: core, harness, guests; TESTS='-k overflow', or --lf: only these; TESTS=affected: what differs from BASE

# Where the time of a run goes, a line for each step.
TIMES ?= $(BUILD)/times
timed = +$(Q)ci/timed.sh $(TIMES) $(1) $(MAKE) --no-print-directory $(2)
.PHONY: check-all
check-all: setup-check
	$(if $(filter file,$(origin TIMES)),$(Q)rm -f $(TIMES))
	$(Q)$(MAKE) --no-print-directory check-names
	$(call timed,unit,unit)
	$(call timed,harness,check-harness)
	$(call timed,guests,check-e2e)
	$(if $(filter file,$(origin TIMES)),$(Q)ci/timed.sh $(TIMES))

# How much runs: what tests/speeds.toml takes, or with FULL=1 all; tests that are named, wherever they can.
SPEED := $(if $(FULL),--full,$(if $(TESTS),,--short))

# What pytest is told of guests.
GUESTS := -n $(JOBS) --dist loadgroup $(KERNELS:%=--kernel %) $(DRIVERS:%=--driver %) \
	$(BACKEND:%=--backend %) $(REPRESENTATIVE:%=--representative %) $(SPEED) $(SHARD:%=--shard %)
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

.PHONY: check-affected
check-affected: setup-check
	+$(Q)$(HARNESS) ci/affected.py $(BASE:%=--base %) --make $(MAKE) --build $(BUILD) --jobs $(JOBS)

.PHONY: check-full
check-full: ## test: all tests on all kernels, with both drivers, in both emulators, and what takes long
	$(Q)$(MAKE) --no-print-directory check KERNELS="$(KERNELS) sid" FULL=1

# One kernel and one driver are enough: a test costs about the same on all of them.
.PHONY: costs
ifneq ($(FROM),)
costs: ; $(Q)$(HARNESS) -m zvmlab.pytest_plugin.costs tests/speeds.toml $(FROM)
else
costs: setup-check prepare $(SERVER) ##+ develop: write tests/costs.toml anew, the CPU time of tests, by which "make check" chooses; TESTS=FILE… for some, FROM="build/report/junit.xml…": from reports of runs
	-$(Q)ZVMLAB_CTL_SERVER=$(CURDIR)/$(SERVER) $(PYTEST) -n $(JOBS) --dist loadgroup --full --write-costs \
		--kernel $(firstword $(KERNELS)) --driver $(firstword $(DRIVERS)) --backend $(BACKEND) $(TESTS)
endif

# $(1): folders of tests.  Those folders, unless TESTS names files; and what else TESTS says.
tests-of = $(if $(filter tests/%,$(TESTS)),,$(1)) $(TESTS)

# What tests would else build one after the other, while others wait (monread_tool.py, host_agent.py,
# hostbuild.py, test_monrec.py).
HOST_BUILDS := from zvmlab.base.progress import Progress; from zvmlab.cli import top; from zvmlab.cp import replay; \
	from zvmlab.fabricate import model; from zvmlab.mondata import monrec; \
	[build(Progress()) for build in (replay.program, model.library, monrec.library, top.program)]
.PHONY: tested
tested:
	$(Q)$(MAKE) --no-print-directory -j $(JOBS) BUILD=build $(CHECKED_TOOLS:$(BUILD)/%=build/%) monrec build/man
	$(Q)$(MAKE) --no-print-directory -j $(JOBS) -s -C guest/agent BUILD=$(CURDIR)/build/agent native asan
	$(Q)$(HARNESS) -c '$(HOST_BUILDS)'

.PHONY: check-harness
check-harness: setup-check $(SERVER) $(if $(TESTS),,tested) ## test: tests of the harness, without guests; TESTS=FILE… for some of them
	$(Q)ZVMLAB_CTL_SERVER=$(CURDIR)/$(SERVER) $(if $(TESTS),,ZVMLAB_TOOLS=$(CURDIR)/build/unit) \
		$(PYTEST) -n $(JOBS) --dist loadfile $(SPEED) \
		$(if $(TESTS),,--junitxml $(BUILD)/report/harness.xml) \
		$(call tests-of,tests/harness tests/mutants tests/docs tests/linux_coverage tests/kvm_unit_tests)

.PHONY: check-e2e
check-e2e: setup-check prepare ## test: tests in guests; TESTS='-k overflow' for some of them, SHARD=2/8 for a share
	$(Q)$(PYTEST) $(GUESTS) --durations 10 $(if $(TESTS),,--requirements) $(REPORT) \
		$(call tests-of,tests/e2e)

.PHONY: check-qemu-next
check-qemu-next: ##+ test: build the next version of QEMU, sid's, and test guests in it; TESTS, KERNELS as usual
	$(Q)ZVMLAB_QEMU_VERSION=11.1 $(MAKE) --no-print-directory check-e2e BACKEND=qemu \
		TESTS="$(or $(TESTS),tests/e2e)"

.PHONY: check-stress
check-stress: setup-check prepare ##+ test: run random halves of the tests in guests beside busy programs, in random order; ROUNDS=n, SEED=n, LOAD=n
	$(Q)$(HARNESS) tests/stress.py $(SEED:%=--seed %) $(ROUNDS:%=--rounds %) $(LOAD:%=--load %) -- \
		$(PYTHON) -m pytest -p zvmlab.pytest_plugin $(GUESTS) tests/e2e

# A test that this kernel leaves leaking, or with lockdep turned off, fails.
.PHONY: check-debug
check-debug: setup-check ## test: test guests on the debug kernel: KASAN, lockdep, kmemleak, UBSAN, failing allocations; KERNEL=source:7.2:debug
	$(Q)./zvmlab build
	$(Q)./zvmlab fetch $(or $(CHOSEN),debug)
	$(Q)$(PYTEST) -n $(JOBS) --dist loadgroup --durations 10 --kernel $(or $(CHOSEN),debug) \
		$(DRIVER:%=--driver %) $(if $(FULL),--full) $(SHARD:%=--shard %) \
		$(call tests-of,tests/e2e tests/debug)

# Only tests in guests count lines of Linux; the report of an earlier "make check" says on which
# kernels the requirements were shown.  Each share of the tests (SHARD) has a folder, so that one that
# was interrupted is run again alone; the page and the map are of all that are there.
COUNTING = $(if $(CHOSEN),$(CHOSEN):coverage,coverage)
LINUX_COUNTS = $(BUILD)/linux-counts/$(subst :,-,$(subst /,-,$(COUNTING)))
LINUX_SHARE = $(LINUX_COUNTS)/$(if $(SHARD),$(subst /,-of-,$(SHARD)),all)
.PHONY: linux-coverage
linux-coverage: setup-check ##+ measure: write build/report/coverage-of-linux.md and guest/linux_map.json: which lines of Linux' z/VM code the tests run; KERNEL=source:7.2, FULL=1, SHARD=2/8 adds a share, TESTS=FILE… renews these in the map
	$(Q)./zvmlab build
	$(Q)./zvmlab fetch $(COUNTING)
	$(Q)rm -rf $(if $(SHARD),$(LINUX_COUNTS)/all $(LINUX_SHARE),$(LINUX_COUNTS))
	-$(Q)$(PYTEST) -n $(JOBS) --dist loadgroup --kernel $(COUNTING) --driver upstream $(SPEED) $(SHARD:%=--shard %) \
		--coverage $(LINUX_SHARE) $(call tests-of,tests/e2e)
	$(Q)$(HARNESS) tests/linux_coverage/linux_coverage.py --counts $(LINUX_COUNTS)/* \
		--map guest/linux_map.json $(if $(TESTS),--keep) --report $(BUILD)/report/report.json --output $(BUILD)/report/coverage-of-linux.md

.PHONY: check-docs
check-docs: setup ##+ test: run every command that the documents show; PAGES="README.md docs/trace.md": only theirs
	$(Q)$(HARNESS) tests/docs/check_docs.py --build $(BUILD) $(PAGES)

.PHONY: compile-commands
compile-commands: ##+ develop: write compile_commands.json, for clangd and others
	@mkdir -p $(BUILD)
	$(Q)$(MAKE) -nB V=1 CCACHE= UNSET= all unit-programs tools | $(PYTHON) ci/compile_commands.py >$(BUILD)/compile_commands.json.part
	$(Q)mv $(BUILD)/compile_commands.json.part compile_commands.json

.PHONY: lint
lint: setup-lint ## test: sparse, cppcheck, shellcheck, codespell, black, mypy, REUSE
	$(Q)PYTHON=$(PYTHON) ci/lint.sh

.PHONY: lint-driver
lint-driver: setup-lint ##+ test: check driver/ with the kernel's tools: W=1, sparse, kernel-doc, checkpatch, coccinelle
	$(Q)$(HARNESS) -m zvmlab.builder.driverlint

.PHONY: qemu-patches
qemu-patches: ##+ package: write our changes of QEMU as patch files: build/qemu-patches; QEMU=DIR: for this source only
	$(Q)$(HARNESS) -B sim/qemu/patches.py $(BUILD)/qemu-patches \
		$(if $(QEMU),"$(QEMU)",$$($(HARNESS) -m zvmlab.builder.qemubuild --sources))

.PHONY: linux-patches
linux-patches: ##+ package: write our corrections of Linux as patch files: build/linux-patches; TREE="DIR|source:7.2…", AUTHOR="NAME <MAIL>"
	$(Q)$(HARNESS) -B corrections/linux_patches.py $(BUILD)/linux-patches $(if $(AUTHOR),--author "$(AUTHOR)") $(or $(TREE),source:7.2)

# The tests of the files that docs/defects.md names for Linux, and any calls of its parts in any order.
CORRECTED_TESTS = $(or $(TESTS),$$(sed '/^## In QEMU/q' docs/defects.md | grep -oE 'tests/e2e/test_\w+\.py' | sort -u) \
	$(wildcard tests/e2e/test_*_model.py) tests/e2e/test_af_iucv_pairs.py)
CORRECTED_LINUX := $(BUILD)/corrected-linux
# The modules' paths are in a list with colons.
CORRECTED_MODULES = $(CORRECTED_LINUX)/$(subst /,-,$(subst :,-,$(CHOSEN)))

.PHONY: check-corrections
check-corrections: ##+ test: build TREE with our corrections of Linux, and run the tests of what they correct: TREE="DIR|source:7.2…", or KERNEL=bookworm|source:7.2:debug… for its modules alone; TESTS
ifneq ($(CHOSEN),)
	$(Q)options=$$($(HARNESS) -B corrections/corrected_modules.py $(CORRECTED_MODULES) $(CHOSEN)) && \
		ZVMLAB_REPLACED_MODULES=$$(cat $(CORRECTED_MODULES)/replaced) \
		$(PYTEST) -n $(JOBS) --dist loadgroup $$options --driver upstream $(CORRECTED_TESTS)
else
	$(Q)options=$$($(HARNESS) -B corrections/corrected.py $(CORRECTED_LINUX) $(or $(TREE),source:7.2)) && \
		$(PYTEST) -n $(JOBS) --dist loadgroup $$options --driver upstream $(CORRECTED_TESTS)
endif

.PHONY: kvm-unit-tests
kvm-unit-tests: ##+ test: run kvm-unit-tests in Debian's QEMU and in ours, and compare: SOURCE=DIR, TEST="NAME…"
	$(Q)$(HARNESS) -B tests/kvm_unit_tests/kvm_unit_tests.py --source "$(SOURCE)" --build $(BUILD)/kvm-unit-tests $(TEST)

.PHONY: check-dashboards
check-dashboards: ##+ test: judge the dashboards by the types that Grafana publishes; npm fetches them
	$(Q)$(HARNESS) tests/dashboards/check_dashboards.py

.PHONY: draw-dashboard
draw-dashboard: tools ##+ develop: draw the pictures of the dashboards anew, with Grafana's components, which npm fetches; 7 minutes
	$(Q)PYTHONPATH=$(CURDIR)/harness:$(CURDIR)/tests/e2e $(PYTHON) tests/dashboards/draw_dashboard.py \
		--monread $(BUILD)/monread

.PHONY: clean
clean: ## develop: remove what was built in the tree
	$(Q)rm -rf $(BUILD)

.PHONY: distclean
distclean: clean ##+ develop: remove also the cache: built QEMU, fetched kernels
	$(Q)$(HARNESS) -m zvmlab.base.cache remove

# A thousand files that say which object needs which headers; what these targets compile, another make does.
COMPILES_NOTHING := check check-all check-some check-affected check-names check-e2e check-full prepare setup-check
ifneq ($(filter-out $(COMPILES_NOTHING),$(or $(MAKECMDGOALS),all)),)
# The copies of the tree that mutants are made in have their own.
-include $(shell find $(BUILD) \( -path $(BUILD)/mutants -o -path $(BUILD)/docs \) -prune -o -type f -name '*.d' -print 2>/dev/null)
endif
