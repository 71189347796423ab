# SPDX-License-Identifier: GPL-2.0
#
# What the folders of the selftests have in common. A Makefile that includes this has set
#
#	TEST_PROGS	the tests, in the order in which they run
#	TEST_GEN_FILES	the programs that tests run, each from the .c file of its name
#	TEST_FILES	what else the tests need
#
# With KSFT the rest is the kernel's lib.mk.

SELFTESTS := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
OUT ?= $(SELFTESTS)/../build/selftests
OUT := $(abspath $(OUT))
OUTPUT ?= $(OUT)/$(notdir $(CURDIR))
COLLECTION ?= $(notdir $(CURDIR))

CFLAGS ?= -O2 -g
CFLAGS += -std=gnu11 -Wall -Wextra -Wno-missing-field-initializers -I$(SELFTESTS) -I$(SELFTESTS)/../include/uapi
LIBRARY := $(OUT)/lib/lib.a
HEADERS := $(wildcard $(SELFTESTS)/lib/*.h) $(SELFTESTS)/kmod/kbuf.h

ifneq ($(KSFT),)
OVERRIDE_TARGETS := 1
# The kernel's runner looks for settings below its own folder only.
export kselftest_override_timeout := $(shell sed -n 's/^timeout=//p' settings)
include $(KSFT)/lib.mk
else
TEST_GEN_FILES := $(addprefix $(OUTPUT)/,$(TEST_GEN_FILES))

all: $(TEST_GEN_FILES)

run_tests: all
	@$(SELFTESTS)/run.sh $(TEST_PROGS)

emit_tests:
	@printf '$(COLLECTION):%s\n' $(TEST_PROGS)

INSTALL_LIST = $(TEST_PROGS) $(TEST_FILES) $(TEST_GEN_FILES) $(wildcard settings)
install: all
	@mkdir -p $(INSTALL_PATH)
	@cp -rp $(INSTALL_LIST) $(INSTALL_PATH)/

clean:
	rm -f $(TEST_GEN_FILES)

.PHONY: all run_tests emit_tests install clean
endif

$(OUTPUT)/%: %.c $(LIBRARY) $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -o $@ $< $(LIBRARY) -libverbs -lpthread

$(LIBRARY): $(wildcard $(SELFTESTS)/lib/*.[ch])
	@+$(MAKE) -C $(SELFTESTS)/lib $@
