# SPDX-License-Identifier: MIT
# What is installed and packaged: catalogues, man pages, libmonrec, tools, Debian packages.

MONREC_HEADERS := lib/monrec/monrec.h lib/monrec/monrec_application.h lib/monrec/monrec_catalogue.h
MONREC_LIB := $(addprefix $(BUILD)/libmonrec,.a .so.0)
# With what of lib/base it has in it.
MONREC_OBJ := $(patsubst %.c,$(BUILD)/shared/%.o,$(foreach module,$(lib/monrec.ALL),$($(module).PARTS)))

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
translations: ##+ develop: bring new English texts of help and pages into po/, and say what is to be translated there
	$(Q)ci/setup.sh run build check lint
	$(Q)$(HARNESS) ci/translations.py --update --build $(BUILD)

.PHONY: monrec
monrec: $(MONREC_LIB) ##+ use: build libmonrec, static and shared, for programs that read monitor data

# Only what the headers declare can be seen from without.
$(BUILD)/shared/%.o: %.c
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CCACHE) $(CC) $(CFLAGS_ALL) $(PLAIN_CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(BUILD)/libmonrec.so.0: $(MONREC_OBJ) lib/monrec/monrec.map
	$(say) LD $@
	$(Q)$(CC) $(PLAIN_CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,defs \
		-Wl,--version-script=lib/monrec/monrec.map -o $@ $(MONREC_OBJ)

$(BUILD)/libmonrec.a: $(MONREC_OBJ)
	$(say) AR $@
	$(Q)$(LD) -r -o $(BUILD)/libmonrec.o $^ && $(OBJCOPY) --localize-hidden $(BUILD)/libmonrec.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/libmonrec.o

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
	docs/control-schema.json ci/packages.txt $(wildcard ci/*.mk)
.PHONY: install
install: $(BUILD)/locale $(BUILD)/man ## use: install zvmlab to PREFIX (below DESTDIR, if set)
	$(Q)mkdir -p $(DESTDIR)$(PREFIX)/lib/zvmlab $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	$(Q)$(INSTALLED) | xargs cp -r --parents -t $(DESTDIR)$(PREFIX)/lib/zvmlab
	$(Q)ln -sf ../lib/zvmlab/zvmlab $(DESTDIR)$(PREFIX)/bin/zvmlab
	$(Q)install -m 644 docs/zvmlab.1 $(DESTDIR)$(PREFIX)/share/man/man1/zvmlab.1
	$(Q)install -D -m 644 docs/zvmlab-system.5 $(DESTDIR)$(PREFIX)/share/man/man5/zvmlab-system.5
	$(call install-translations,zvmlab,zvmlab.1)
	$(call install-completion,zvmlab)

.PHONY: install-tools
install-tools: $(TOOLS) install-units $(BUILD)/locale $(BUILD)/man ## use: install dmmon, monread and taskmon with man pages, and taskmon's systemd units
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
install-units: ##+ use: install taskmon's systemd units alone
	$(Q)mkdir -p $(DESTDIR)$(UNITDIR)
	$(foreach unit,$(UNITS),$(call install-unit,$(unit)))

.PHONY: install-monrec
install-monrec: $(MONREC_LIB) $(BUILD)/man ##+ use: install libmonrec, its headers, its man page and its pkg-config file
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
deb: ## package: build Debian packages into build/deb, and check them with lintian
	$(Q)ci/setup.sh run build deb
	$(Q)$(HARNESS) ci/deb.py --build $(BUILD)

# As root: it makes a minimal Debian below the cache, and changes its root to it.  What "make deb"
# has built is not built again, because root has another cache.
.PHONY: check-deb
check-deb: ##+ package: install what "make deb" has built in a minimal Debian without compilers, and test it there
	$(Q)ci/setup.sh run deb hosts
	$(Q)$(HARNESS) tests/hosts/check_deb.py --packages $(BUILD)/deb

# As root, for the same reason.
.PHONY: check-hosts
check-hosts: ##+ package: run "make demo" and "make check" in a minimal Debian 12, 13 and sid; SUITES="trixie": only there
	$(Q)ci/setup.sh run hosts
	$(Q)$(HARNESS) tests/hosts/check_hosts.py --build $(BUILD) $(SUITES:%=--suite %) $(if $(TESTS),--tests='$(TESTS)')

# As root: it makes networks, hosts in them and a cluster, and removes them at the end.
.PHONY: check-recipes
check-recipes: ##+ package: run the recipes for several machines: GNU parallel, Slurm; a host fails, and nothing is lost
	$(Q)ci/setup.sh run build recipes
	$(Q)./zvmlab build
	$(Q)./zvmlab fetch bookworm
	$(Q)$(HARNESS) tests/recipes/check_recipes.py
