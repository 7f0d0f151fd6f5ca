# SPDX-License-Identifier: MIT
# Fuzz targets: each has its corpus, and is replayed without libFuzzer by the unit tests.

FUZZ := mon_stream trace_replay dm_stats monrec taskstats guest control
FUZZ_BIN := $(FUZZ:%=$(BUILD)/fuzz/%)
FUZZ_REPLAY := $(FUZZ:%=$(BUILD)/unit/replay_%)
FUZZ_CC ?= clang
SECONDS ?= 600

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

# The inputs that a target begins with: an archive of those that were found, beside those that people
# write.  All builds share the folder.
FUZZ_INPUTS := build/inputs
$(foreach target,$(FUZZ),$(eval $(FUZZ_INPUTS)/$(target): \
	tests/fuzz/corpus/$(target).tar.xz $(wildcard tests/fuzz/corpus/$(target)/*)))
$(FUZZ:%=$(FUZZ_INPUTS)/%):
	$(say) UNPACK $@
	$(Q)rm -rf $@ $@.new && mkdir -p $@.new && tar -xJmf $< -C $@.new && \
		for file in $(filter-out $<,$^); do cp $$file $@.new || exit 1; done && mv $@.new $@

$(FUZZ_REPLAY): $(BUILD)/unit/replay_%: | $(FUZZ_INPUTS)/%
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

.PHONY: fuzz-replay
fuzz-replay: $(FUZZ_REPLAY)

RUN_FUZZ = $(HARNESS) tests/fuzz/fuzz.py --build $(BUILD)/fuzz --seconds $(SECONDS) --jobs $(JOBS) \
	$(SHARD:%=--shard %)
.PHONY: fuzz
fuzz: ## measure: run the fuzz targets for SECONDS with JOBS processes
	$(Q)ci/setup.sh build check fuzz
	$(Q)$(RUN_FUZZ) --check $(FUZZ)
	$(Q)$(MAKE) -s --no-print-directory $(FUZZ_BIN)
	$(Q)$(MAKE) -s --no-print-directory fuzz-replay G=1 BUILD=$(BUILD)/fuzz/gcov
	$(Q)$(RUN_FUZZ) $(FUZZ)

.PHONY: fuzz-channel
fuzz-channel: setup-check ##+ test: run channel programs of SEEDS seeds in a guest, from SEED on
	$(Q)ZVMLAB_CHANNEL_SEEDS=$(or $(SEEDS),10000) \
		ZVMLAB_CHANNEL_SEED="$(or $(SEED),$$(od -An -N4 -tu4 /dev/urandom))" \
		$(PYTEST) -s --kernel bookworm tests/e2e/test_channel_programs.py

.PHONY: fuzz-mutants
fuzz-mutants: ##+ test: check that the fuzzer finds deliberate mistakes
	$(Q)ci/setup.sh build check fuzz
	$(Q)$(MAKE) -s --no-print-directory $(BUILD)/fuzz/mon_stream $(FUZZ_INPUTS)/mon_stream
	$(Q)$(HARNESS) tests/fuzz/mutants.py --build $(BUILD)/fuzz

.PHONY: museum
museum: ## measure: bring old bugs of Linux back, one at a time: IDS=…, TIMES=10, KERNEL=…; SUITE=1: does the suite notice? (FRESH=1: ask all again)
	$(Q)ci/setup.sh run build test
	$(Q)./zvmlab museum run $(if $(SUITE),--suite) $(if $(FRESH),--fresh) $(if $(TIMES),-n $(TIMES)) \
		$(if $(filter file,$(origin KERNEL)),,--kernel $(KERNEL)) $(IDS)

.PHONY: mutants
mutants: ## measure: find small changes of the sources that no test notices: N=100 SEED=1 FOLDER=…, or BASE=main; SECONDS=300: begin none after these; LINUX=1: of Linux, RESUME=1: go on
	$(Q)ci/setup.sh build $(if $(LINUX),run test,check)
	$(Q)$(HARNESS) $(if $(LINUX),$(MUTATE_LINUX),$(MUTATE)) --build $(BUILD) \
		$(if $(N),--number $(N)) $(if $(SEED),--seed $(SEED)) $(if $(filter file,$(origin SECONDS)),,--seconds $(SECONDS)) \
		$(FOLDER:%=--folder %)

MUTATE = tests/mutants/mutate.py --jobs $(shell nproc) $(if $(BASE),--base $(BASE))
MUTATE_LINUX = tests/mutants/mutate_linux.py $(if $(RESUME),--resume) $(if $(filter file,$(origin KERNEL)),,--kernel $(KERNEL))
