# SPDX-License-Identifier: GPL-2.0
#
# Dispatch only: every target names the script that does the work. The module itself is built by Kbuild, in this folder
# and below. Whatever needs packages installs them, in a tree of its own (tools/vm), and needs root or sudo for it.

KERNEL ?= newest
TOPOLOGY ?= single
BUILT := build/$(KERNEL)/src
VM := tools/vm/vm

# A build on and for this machine, apart from the lab: make module KDIR=/lib/modules/$(uname -r)/build
KDIR ?=
OWN := $(CURDIR)/build/own
PREFIX ?= /usr/local
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=

.DEFAULT_GOAL := help
.PHONY: help demo check check-cloud check-rt nightly bench bench-profile module provider install install-tools deb check-ship check-machine check-provider test pyverbs unit mutants arrows arrows-doc style series series-check lab debug shell clean distclean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo "  KERNEL=newest|debug|a series as 6.12 (newest; make lab lists them)|with a flavour as 6.12-cloud, TOPOLOGY=single|pair (single), T=NAME of one test, KDIR=kernel build folder"

demo: ## two machines, RDMA between them, a table of what it does
	@tools/demo

check: ## everything that has to hold, on all kernels; ends with one line of sums
	@tools/check

# Asked for on the command line or in the environment, and not the defaults above: the bench has its own.
asked = $(if $(filter file,$(origin $(1))),,$($(1)))
BENCH_ENV = KERNEL="$(call asked,KERNEL)" ARRANGEMENT="$(or $(ARRANGEMENT),$(call asked,TOPOLOGY))"

bench: ## rover, rdma_rxe, TCP and the limit, in turn: a table, JSON and plots (BENCH=short|full|network, JSON=FILE)
	@$(BENCH_ENV) BENCH="$(BENCH)" JSON="$(JSON)" tools/bench/bench $(POINTS)

bench-profile: ## where the time of a message goes, in rover and in rdma_rxe (POINT='write 64K')
	@$(BENCH_ENV) tools/bench/bench --profile $(if $(POINT),'$(POINT)')

ifeq ($(KDIR),)
module: ## rover.ko for a kernel of the lab (KERNEL=), or for this machine (KDIR=)
	@$(VM) build --kernel $(KERNEL)
else
module:
	@mkdir -p $(OWN)
	@cp -ru Kbuild drivers include $(OWN)/
	@$(MAKE) -C $(KDIR) M=$(OWN) modules
	@echo "built $(OWN)/drivers/infiniband/sw/rover/rover.ko"
endif

provider: ## librover for this machine, built inside the source of the rdma-core installed here
	@tools/provider/build $(OWN)/provider

install: KDIR := $(or $(KDIR),/lib/modules/$(shell uname -r)/build)
install: ## module, provider and manual pages into this machine (run make module KDIR= and make provider first)
	@$(MAKE) -C $(KDIR) M=$(OWN) modules_install
	@depmod $$(modinfo -F vermagic $(OWN)/drivers/infiniband/sw/rover/rover.ko | cut -d ' ' -f 1)
	@tools/install-provider $(OWN)/provider
	@$(MAKE) -s install-tools
	@install -D -m 644 -t $(DESTDIR)$(MANDIR)/man7 Documentation/man/*.7
	@install -D -m 644 -t $(DESTDIR)$(MANDIR)/man8 Documentation/man/*.8

install-tools: ## the command rover, its manual page, the systemd unit and the udev rule (DESTDIR=, PREFIX=)
	@tools/rover/install "$(DESTDIR)" "$(PREFIX)"

deb: ## Debian packages for each suite, built in a tree of it: build/deb/SUITE (SUITES= for some)
	@tools/ship/deb $(SUITES)

check-ship: ## are they installed, built by DKMS, and purged without a trace? (SUITES= for some)
	@tools/ship/test $(SUITES)

check-machine: ## the packages on running machines: apt, DKMS, restarts, an upgrade, purge (an hour; SUITES= for some)
	@tools/ship/machine $(SUITES)

check-provider: ## librover built against every rdma-core of the archive, and loaded where it has a suite
	@tools/ship/provider

test: ## the tests in a guest: KERNEL=, TOPOLOGY=, T=, APPEND= to the kernel's command line
	@$(VM) build --kernel $(KERNEL)
	@$(VM) chroot -- make -s -C selftests
	$(if $(filter provider,$(T)),@$(VM) suites)
	@$(VM) run --kernel $(KERNEL) --topology $(TOPOLOGY) --append "$(APPEND)" --timeout 900 -- selftests/run.sh $(T)

pyverbs: ## rdma-core's own test suite in a guest: KERNEL=, T= for one module (test_qp)
	@$(VM) build --kernel $(KERNEL)
	@$(VM) run --kernel $(KERNEL) --cpus 1 --timeout 900 -- bash -c 'on a tools/pyverbs/run $$DEV_A $(T)'

unit: ## code without locks and allocation, and the transport over a simulated network, in user space
	@$(VM) chroot -- make -s -C tools/unit run

mutants: ## would the tests notice? wrong changes of the module, one at a time (PATTERNS= for some)
	@KERNEL="$(call asked,KERNEL)" tools/mutants $(PATTERNS)

arrows: ## prove the one-way order, and that the documentation shows it
	@$(VM) build --kernel $(KERNEL)
	@$(VM) chroot -- tools/checkarrows-test
	@$(VM) chroot -- tools/checkarrows --check-doc Documentation/architecture.rst $(BUILT)

arrows-doc: ## draw the graph of Documentation/architecture.rst again
	@$(VM) build --kernel $(KERNEL)
	@$(VM) chroot -- tools/checkarrows --update-doc Documentation/architecture.rst $(BUILT)

style: ## checkpatch, kernel-doc, shellcheck, licenses, lengths
	@$(VM) chroot -- tools/checkstyle

# Who signs the patches: the root tree has no configuration of git.
SIGNER = GIT_COMMITTER_NAME="$$(git config user.name)" GIT_COMMITTER_EMAIL="$$(git config user.email)"

series: ## the driver as patches for the newest kernel's tree, in build/series
	@$(VM) chroot -- env $(SIGNER) tools/series

series-check: ## do they apply, compile and please checkpatch.pl, one by one? (minutes, on the debug kernel's source: for the night)
	@$(VM) prepare --debug
	@$(VM) chroot -- env $(SIGNER) tools/series --build

# What make check leaves out, or shortens, for want of time: on the debug kernel and on the oldest, on the debug kernel, on the kernels
# of both stable releases, between two guests.
NIGHTLY = shortcut inflight netdev_no_sg dmabuf flush mcast crafted packet_memory
NIGHTLY_DEBUG = affinity cc dead_page doorbell ecn errors event_flood gids kernel kill link loopback loss macvlan mw_rereg raw recovery \
	rocev1 smc spoof srq ud xrc
NIGHTLY_STABLE = shortcut provider pyverbs errors uc srq xrc recovery cc longest loopback spoof mcast macvlan loss rocev1 raw manage event_flood odp_charge
NIGHTLY_PAIR = ud uc srq xrc mcast rocev1 raw unplug smc

# The bench has one point at which the guest's memory runs out: only programs of rdma_rxe may be killed.
nightly: series-check ## what is too long for make check: more cases on two kernels, series-check, every rdma-core, mutants
	@$(MAKE) -s debug
	@SPARSE=all tools/check 'build-[0-9]*'
	@$(VM) chroot -- make -s -C selftests
	@for kernel in $$($(VM) kernels | awk 'NR == 1 { print $$1 }') debug; do \
		$(VM) build --kernel $$kernel && \
		$(VM) run --kernel $$kernel --cpus 2 --timeout 3600 -- env CI=1 selftests/run.sh $(NIGHTLY) || exit; \
	done
	@$(VM) run --kernel debug --cpus 2 --timeout 7200 -- env CI=1 QUICK=1 selftests/run.sh $(NIGHTLY_DEBUG)
	@$(VM) suites
	@for kernel in $$($(VM) kernels | awk 'NR <= 2 { print $$1 }'); do \
		$(VM) build --kernel $$kernel && \
		$(VM) run --kernel $$kernel --timeout 3000 -- env CI=1 QUICK=1 selftests/run.sh $(NIGHTLY_STABLE) || exit; \
	done
	@$(VM) run --topology pair --timeout 1200 -- env CI=1 QUICK=1 selftests/run.sh $(NIGHTLY_PAIR)
	@$(MAKE) -s check-cloud
	@$(MAKE) -s check-rt
	@$(MAKE) -s check-provider
	@$(MAKE) -s bench BENCH=full ARRANGEMENT=single POINTS="'write 64K qps1024'"
	@$(MAKE) -s mutants

# What a user of a virtual machine needs to work.
CLOUD = basic rc ud rdma_cm perftest loss unplug
RT = basic rc ud uc srq loss kill unplug

# $(call on_flavour,FLAVOUR,CONDITION,LIMIT,TESTS): on the kernels of this flavour whose series fulfil a condition of awk
define on_flavour
	@$(VM) chroot -- make -s -C selftests
	@for kernel in $$($(VM) kernels | awk '/^[0-9]/ && split($$1, n, ".") && $(2) { print $$1 "-$(1)" }'); do \
		echo "$$kernel:" && $(VM) build --kernel $$kernel && \
		$(VM) run --kernel $$kernel --timeout $(3) -- env CI=1 QUICK=1 selftests/run.sh $(4) || exit; \
	done
endef

check-cloud: ## some tests on Debian's kernels for clouds, which have no rdma_rxe
	$(call on_flavour,cloud,1,900,$(CLOUD))

# From 6.18 on, Debian's kernels lack the option that rover needs: decision 0054.
check-rt: ## some tests on Debian's PREEMPT_RT kernels
	$(call on_flavour,rt,(n[1] < 6 || n[1] == 6 && n[2] < 18),1800,$(RT))

lab: ## make the lab, or see that it is there: root tree, kernels, QEMU
	@$(VM) prepare
	@$(VM) kernels

debug: ## make the debug kernel (ten minutes, once)
	@$(VM) prepare --debug

shell: ## a shell in the root tree, where everything is built
	@$(VM) chroot -- bash

clean: ## remove what was built
	@rm -rf build

distclean: clean ## remove the lab's cache too
	@$(VM) clean
