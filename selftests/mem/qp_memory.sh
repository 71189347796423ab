#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# qp_memory: an idle, connected queue pair costs at most 8 KiB of kernel memory beyond its rings.
#
# The method: take all memory of the machine that is not free, before and after a program has made its queue pairs, and
# subtract what is known not to be the kernel's (the program's own pages, page cache) and the rings. That counts each way in which
# memory can be had, slab, vmalloc, per-CPU and bare pages, which no list of the kernel's does; and it counts rdma core's own share too.
# Pages on the free lists of the CPUs, which MemFree leaves out, are free; those lists are kept short meanwhile, for they take and
# give tens of MiB as they please. What noise remains, some hundred KiB, is divided by 500.
# What the slab and vmalloc say by themselves is printed beside it.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

many=500
allowed=8192

# Bytes in use that are no program's and no file's. PageTables of the program that maps the rings are not the queue pair's.
snapshot() {
	local name number
	sync
	echo 3 >/proc/sys/vm/drop_caches
	nap 1
	echo 3 >/proc/sys/vm/drop_caches
	used=0
	while IFS=': ' read -r name number _; do
		case $name in
		MemTotal) used=$((used + number)) ;;
		MemFree | Buffers | Cached | SwapCached | AnonPages | PageTables) used=$((used - number)) ;;
		Slab) slab=$((number * 1024)) ;;
		Percpu) percpu=$((number * 1024)) ;;
		esac
	done </proc/meminfo
	# "count" is the length of a processor's list, in pages.
	while IFS=': ' read -r name number; do [[ $name != count ]] || used=$((used - 4 * number)); done </proc/zoneinfo
	used=$((used * 1024))
}

# rings: bytes that it says it has mapped of the device, in $rings
rings() { [[ $(<"$held") =~ rings\ ([0-9]+) ]] && rings=${BASH_REMATCH[1]}; }

cost() {
	local before slab_before percpu_before rings few_rings own
	# Whatever is allocated once is there already: caches, page tables of vmalloc.
	hold_objects a --qps $many --gid "$gid"
	release
	hold_objects a --qps 1 --gid "$gid"
	snapshot
	before=$used slab_before=$slab percpu_before=$percpu
	rings
	few_rings=$rings
	release
	hold_objects a --qps $((many + 1)) --gid "$gid"
	snapshot
	rings
	rings=$((rings - few_rings))
	release
	((rings >= many * 4096)) || fail "$rings bytes of rings for $many queue pairs: what has been measured?"
	own=$(((used - before - rings) / many))
	echo "note: $own bytes each beyond $((rings / many)) bytes of rings; slab $(((slab - slab_before) / many)), per CPU $(((percpu - percpu_before) / many))"
	((own > 256)) || fail "$own bytes each: no queue pair is as small, so this measures nothing"
	((own <= allowed)) || fail "$own bytes each, more than $allowed"
}

# The memory of destroyed queue pairs is freed. The case before had as many of them.
given_back() {
	local before i
	snapshot
	before=$used
	for i in 1 2 3 4; do
		hold_objects a --qps $many --gid "$gid"
		release
	done
	snapshot
	echo "note: $(((used - before) / 1024)) KiB more in use after $((4 * many)) queue pairs have come and gone"
	((used - before < 4 * many * 512)) || fail "$((used - before)) bytes have not come back"
}

gid=$(gid_index a "$ADDR_A")
if [[ ${KERNEL:-} == debug ]]; then
	# KASAN keeps what has been freed for a while, too. Whether all of it is freed is what kmemleak says at the end.
	try "an idle queue pair in RTS costs at most 8 KiB" skip "KASAN and kmemleak take memory of their own for each object"
	finish
fi
echo 1000000 >/proc/sys/vm/percpu_pagelist_high_fraction
try "an idle queue pair in RTS costs at most 8 KiB" cost
try "the memory of destroyed queue pairs is freed" given_back
echo 0 >/proc/sys/vm/percpu_pagelist_high_fraction
finish
