# SPDX-License-Identifier: MIT
# zvmlab: see "make help".  V=1 shows commands, W=1 more warnings, D=1 debug,
# C=1 sparse, G=1 coverage, ASAN=1 sanitizers.

PYTHON ?= /usr/bin/python3
BUILD ?= build
CC ?= gcc
AR ?= ar
PKG_CONFIG ?= pkg-config

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
CFLAGS_ALL = -std=gnu11 -g $(OPTIMISE) $(WARNINGS) -MMD -MP -Isim/cp/include -Isim/cp -Isim/control $(CFLAGS)

CP_SRC := $(sort $(wildcard sim/cp/*.c))
CTL_SRC := $(sort $(wildcard sim/control/*.c))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/unit/%)

# Unit tests always run under ASan and UBSan.
UNIT_CFLAGS := $(SANITIZE)
ifeq ($(G),1)
UNIT_CFLAGS += --coverage
endif
CHECK_LIBS = $(shell $(PKG_CONFIG) --libs check jansson)

$(BUILD)/unit/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(CFLAGS_ALL) $(UNIT_CFLAGS) -c -o $@ $<

$(BUILD)/unit/libcp.a: $(CP_SRC:%.c=$(BUILD)/unit/%.o) $(CTL_SRC:%.c=$(BUILD)/unit/%.o)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/unit/test_%: $(BUILD)/unit/tests/unit/test_%.o $(BUILD)/unit/tests/unit/fixture.o $(BUILD)/unit/libcp.a
	$(say) LD $@
	$(Q)$(CC) $(SANITIZE) $(if $(filter 1,$(G)),--coverage) -o $@ $^ $(CHECK_LIBS)

.PHONY: unit
unit: $(UNIT_BIN)
	$(Q)status=0; for t in $(UNIT_BIN); do $$t || status=1; done; exit $$status

.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
