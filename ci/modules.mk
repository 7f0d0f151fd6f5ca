# SPDX-License-Identifier: MIT
# What each folder of C says of itself, read by make.  A module is a folder with a module.mk of lines
# "KEY := WORDS", where files and folders are named as seen from there:
#   SOURCES    its .c files, as names or patterns
#   MAIN       those of them that have a main(), or that programs name: what is linked with the module leaves them out
#   INCLUDES   its folders of headers for those that use it; its own sources see the module's folder as well
#   USES       modules whose headers its sources include, and which it is linked with
#   INSIDE     modules whose own headers they include, too (for tests)
#   PACKAGES   libraries by their names for pkg-config
#   LIBRARIES  libraries by their names for the linker
#   WRAP.NAME  functions for which the test NAME.c has functions of its own (the linker's --wrap)
# harness/zvmlab/builder/module_mk.py reads the same files and refuses the same mistakes.

MODULE_TOPS := $(wildcard driver guest lib sim tests tools)
MODULES := $(patsubst %/module.mk,%,$(sort $(shell find $(MODULE_TOPS) -name module.mk)))

# A name with ".." would find headers that USES does not show.
HASH := \#
MODULE_UP := $(shell grep -rn --include='*.[ch]' '^[[:blank:]]*$(HASH)[[:blank:]]*include[[:blank:]]*["<][^">]*\.\.' \
	$(MODULE_TOPS) | sed -n '1s/^\([^:]*:[0-9]*\):.*/\1/p')
$(if $(MODULE_UP),$(error $(MODULE_UP): $(HASH)include with ".."; name the folder in USES of module.mk instead))

# Files and folders of module $1's key $2; each word must be there.
module_at = $(patsubst %/.,%,$(foreach word,$3,$(or $(wildcard $1/$(word)),$(error $1/module.mk: $2 names $(word), which does not exist))))
# Modules of its key $2.
module_known = $(foreach word,$3,$(or $(filter $(word),$(MODULES)),$(error $1/module.mk: $2 names $(word), which has no module.mk)))

# MODULE.SOURCES and so on; module-of.FILE for each source.
define module_read
SOURCES :=
MAIN :=
INCLUDES :=
USES :=
INSIDE :=
PACKAGES :=
LIBRARIES :=
include $1/module.mk
$1.SOURCES := $$(sort $$(call module_at,$1,SOURCES,$$(SOURCES)))
$1.MAIN := $$(sort $$(call module_at,$1,MAIN,$$(MAIN)))
$1.PARTS := $$(filter-out $$($1.MAIN),$$($1.SOURCES))
$1.INCLUDES := $$(call module_at,$1,INCLUDES,$$(INCLUDES))
$1.USES := $$(call module_known,$1,USES,$$(USES))
$1.INSIDE := $$(call module_known,$1,INSIDE,$$(INSIDE))
$1.PACKAGES := $$(PACKAGES)
$1.LIBRARIES := $$(LIBRARIES)
$$(foreach source,$$($1.SOURCES),$$(eval module-of.$$(source) := $1))
endef
$(foreach module,$(MODULES),$(eval $(call module_read,$(module))))
WRAPPERS := $(patsubst WRAP.%,%,$(filter WRAP.%,$(.VARIABLES)))
$(foreach name,$(WRAPPERS),$(if $(filter %/$(name).c,$(foreach module,$(MODULES),$($(module).MAIN))),,$(error WRAP.$(name): MAIN of no module.mk has $(name).c)))

# Module $1 and all that it uses, however far down; $2 is the way to it.
module_walk = $(if $(filter $1,$2),$(error $1/module.mk: USES has a cycle: $(strip $2 $1)))$1 $(foreach used,$($1.USES),$(call module_walk,$(used),$2 $1))
$(foreach module,$(MODULES),$(eval $(module).ALL := $(sort $(call module_walk,$(module),))))

# Options for a source file: the folders that its module's files see, and its packages' own.
module_cppflags = $(call module_flags,$(or $(module-of.$1),$(error $1 is in SOURCES of no module.mk)))
module_flags = $(addprefix -I,$1 $($1.INCLUDES) $(foreach used,$($1.USES),$($(used).INCLUDES)) $($1.INSIDE)) $(call module_cflags,$1)
# Asked once for each module.
module_cflags = $(if $(filter undefined,$(origin $1.CFLAGS)),$(eval $1.CFLAGS := $(call PACKAGE_CFLAGS,$($1.PACKAGES))))$($1.CFLAGS)
# Cross builds give both on the command line.
PACKAGE_CFLAGS = $(if $1,$(shell $(PKG_CONFIG) --cflags $1))
PACKAGE_LIBS = $(if $1,$(shell $(PKG_CONFIG) --libs $1))

# Modules that a program of module $1 is linked with, as archives below $(BUILD)/$2; their libraries.
module_archives = $(foreach module,$($1.ALL),$(if $($(module).PARTS),$(BUILD)/$2/$(module).a))
module_libs = $(call PACKAGE_LIBS,$(sort $(foreach module,$($1.ALL),$($(module).PACKAGES)))) \
	$(addprefix -l,$(sort $(foreach module,$($1.ALL),$($(module).LIBRARIES))))
