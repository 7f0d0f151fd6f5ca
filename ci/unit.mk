# SPDX-License-Identifier: MIT
# Unit tests and their coverage; what is built for them.

# tests/unit is laid out as the sources are; the programs lie side by side.
UNIT_SRC := $(foreach module,$(filter tests/unit/%,$(MODULES)),$($(module).MAIN))
UNIT_BIN := $(patsubst %.c,$(BUILD)/unit/%,$(notdir $(UNIT_SRC)))
ifneq ($(words $(UNIT_BIN)),$(words $(sort $(UNIT_BIN))))
$(error two tests have the name $(notdir $(firstword $(foreach one,$(UNIT_BIN),$(if $(word 2,$(filter $(one),$(UNIT_BIN))),$(one))))).c)
endif

$(foreach source,$(UNIT_SRC),$(eval $(call \
	program,$(BUILD)/unit/$(notdir $(source:.c=)),$(source),$(module-of.$(source)),unit)))
$(UNIT_BIN):
	$(say) LD $@
	$(Q)$(LINK_CHECKED)

# What a test lets fail stands in its module.mk (WRAP.NAME).
$(foreach test,$(UNIT_BIN),$(eval $(test): WRAPPED := $(WRAP.$(notdir $(test)))))

# Files of the tree that unit tests read when they run; they find no others.
UNIT_READS := docs/control-schema.json

# One of them, always.
.PHONY: $(UNIT_BIN:%=%.run)
$(UNIT_BIN:%=%.run): %.run: %
	$(Q)$<

# Each program with its own sources, and with the folder of its inputs.
UNIT_PROGRAMS := $(foreach source,$(UNIT_SRC),$(BUILD)/unit/$(notdir $(source:.c=)):$(source)) \
	$(foreach target,$(FUZZ),$(BUILD)/unit/replay_$(target):tests/fuzz/fuzz_$(target).c,tests/fuzz/replay.c=$(FUZZ_INPUTS)/$(target))

# All that they are built with and that stands in no file.
UNIT_OPTIONS = $(CC) $(AR) $(PKG_CONFIG) $(UNIT_LINKER) $(OPTIMISE) $(WARNINGS) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) $(MODULE_TOPS) C=$(C)

# With other options they are built anew; units.py writes the second file, with what is installed.
UNIT_MADE_WITH := $(BUILD)/unit/options
.PHONY: unit-options
unit-options:
$(UNIT_MADE_WITH): unit-options
	@mkdir -p $(@D)
	@printf '%s\n' '$(UNIT_OPTIONS)' | cmp -s - $@ || printf '%s\n' '$(UNIT_OPTIONS)' >$@
$(foreach module,$(MODULES),$($(module).SOURCES:%.c=$(BUILD)/unit/%.o)): $(UNIT_MADE_WITH) $(wildcard $(BUILD)/unit/system)

.PHONY: unit-programs
unit-programs: $(UNIT_BIN) $(FUZZ_REPLAY)

.PHONY: unit
unit: ## test: unit tests of the core, corpora of the fuzz targets (ASan, UBSan); AGAIN=1: also those that passed as they are
	$(Q)$(MAKE) --no-print-directory -j $(JOBS) $(FUZZ:%=$(FUZZ_INPUTS)/%)
	$(Q)$(HARNESS) ci/units.py --jobs $(JOBS) $(if $(AGAIN),--again) $(if $(filter 1,$(G)),--counts $(BUILD)) \
		--make "$(MAKE) --no-print-directory --output-sync=line -j $(JOBS)" --options "$(UNIT_OPTIONS)" --system $(BUILD)/unit/system \
		$(UNIT_READS:%=--reads %) $(UNIT_PROGRAMS)

# An assertion's other side must never be reached, so assert() has no branches here.
# gcovr removes its output file before it writes it: never name /dev/null here.
COVERED_WELL := sim/cp sim/control
COVERED := $(COVERED_WELL) driver lib/base lib/monrec sim/fabricate sim/port sim/record sim/system
GCOVR := gcovr --root . --txt $(REPORTED)/coverage.txt --print-summary --add-tracefile $(REPORTED)/coverage.json
# A job of its that fails can leave it waiting.
GCOVR_SECONDS := 900
.PHONY: coverage coverage-known coverage-measured
coverage: ## measure: coverage of unit tests and corpora: at least 95 % of core and control; AGAIN=1: also if all is as it was
	$(Q)$(MAKE) --no-print-directory coverage-known G=1 BUILD=$(BUILD)/gcov REPORTED=$(BUILD)
# Both with G=1.
coverage-known:
	$(Q)$(MAKE) --no-print-directory -j $(JOBS) $(FUZZ:%=$(FUZZ_INPUTS)/%)
	$(Q)$(HARNESS) ci/coverage.py $(if $(AGAIN),--again) --options "$(UNIT_OPTIONS)" --text $(REPORTED)/coverage.txt \
		--first '$(COVERED_WELL):' --measure "$(MAKE) --no-print-directory coverage-measured" \
		$(UNIT_READS:%=--reads %) $(UNIT_PROGRAMS)
coverage-measured:
	$(Q)find $(BUILD) -name '*.gcda' -delete 2>/dev/null || true
	$(Q)$(MAKE) --no-print-directory unit
	$(Q)timeout $(GCOVR_SECONDS) gcovr -j $(JOBS) --root . --object-directory $(BUILD) $(COVERED:%=--filter '%/') \
		--exclude-unreachable-branches --exclude-branches-by-pattern '.*\b(MON_ASSERT|assert)\(.*' \
		--json $(REPORTED)/coverage.json $(BUILD) || \
		{ echo "gcovr failed, or did not end within $(GCOVR_SECONDS) s" >&2; exit 1; }
	$(Q)echo '$(COVERED_WELL):'
	$(Q)$(GCOVR) $(COVERED_WELL:%=--filter '%/') --fail-under-line 95 --fail-under-branch 95
	$(Q)echo '$(COVERED):'
	$(Q)$(GCOVR) --fail-under-line 95
