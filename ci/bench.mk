# SPDX-License-Identifier: MIT
# Benchmarks.

BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/%,$(tests/bench.MAIN))
$(foreach bench,$(BENCH_BIN),$(eval $(call program,$(bench),tests/bench/$(notdir $(bench)).c,tests/bench,plain)))

# The kernel is that of those benchmarks that have one only.
BENCH := $(HARNESS) tests/bench/bench.py --build $(BUILD) --kernel $(KERNEL) $(PAIRS:%=--pairs %) \
	$(if $(STRICT),--strict)

.PHONY: bench
bench: setup-bench $(BENCH_BIN) $(BUILD)/monread ## measure: run the benchmarks, as ratios within one run; PAIRS=9: so often, STRICT=1: fail if a budget is missed
	$(Q)$(BENCH)

.PHONY: bench-driver
bench-driver: setup-bench $(BENCH_BIN) ##+ measure: benchmark only our driver against upstream's
	$(Q)$(BENCH) --part pairs --part instructions

.PHONY: bench-records
bench-records: setup-bench $(BUILD)/bench_records ##+ measure: benchmark only the model: monitor records a second
	$(Q)$(BENCH) --part records

.PHONY: bench-command
bench-command: setup-bench ##+ measure: benchmark only what a command costs beside its guest, in CPU time
	$(Q)$(BENCH) --part command

.PHONY: bench-loop
bench-loop: setup-bench ##+ measure: benchmark only what each test in a guest pays: start, put-back, warm guest, requests
	$(Q)$(BENCH) --part loop

.PHONY: bench-export
bench-export: setup-bench $(BUILD)/monread ##+ measure: benchmark only monread export: 1,000 users, scraped by Prometheus
	$(Q)$(BENCH) --part export

.PHONY: bench-recording
bench-recording: setup-bench $(BUILD)/monread ##+ measure: benchmark only monread --tables of a week: seven files, and one
	$(Q)$(BENCH) --part recording

.PHONY: bench-tools
bench-tools: setup-bench ##+ measure: benchmark only taskmon and dmmon against the bare interfaces
	$(Q)$(BENCH) --part dmstats --part taskstats

.PHONY: bench-qemu
bench-qemu: setup-bench ##+ measure: benchmark only our QEMU against Debian's: boot, system calls, processes
	$(Q)$(BENCH) --part qemu

.PHONY: bench-qemu-changes
bench-qemu-changes: setup-bench ##+ measure: benchmark what each of the changes that make our QEMU faster is worth
	$(Q)$(BENCH) --part changes

.PHONY: bench-shards
bench-shards: setup-bench ##+ measure: benchmark only a sweep in two shards: what it takes against one in one piece
	$(Q)$(BENCH) --part shards

.PHONY: bench-emulators
bench-emulators: setup-bench ##+ measure: benchmark only the two emulators against each other
	$(Q)$(BENCH) --part emulators

.PHONY: bench-system
bench-system: setup-bench $(BUILD)/bench_iucv ##+ measure: benchmark only guests of a system: messages between them, round trips, starts
	$(Q)$(BENCH) --part system

.PHONY: bench-ring
bench-ring: setup-bench ##+ measure: benchmark only a system of 64 guests: start, memory, a token that goes round
	$(Q)$(BENCH) --part ring
