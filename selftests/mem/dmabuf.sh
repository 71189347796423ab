#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dmabuf: regions of dma-bufs, from user memory (udmabuf) and from the system heap, carry data, and
# release the buffer however they end.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=120
info=/sys/kernel/debug/dma_buf/bufinfo
kbuf=$(module_file rover_kbuf || true)

# buffers: the number of dma-bufs on the machine of end a
buffers() { at a sed -n 's/^Total \([0-9]*\) objects.*/\1/p' $info; }
has() { [[ $(buffers) == "$1" ]]; }
needs_makers() { at a test -e /dev/udmabuf -a -e /dev/dma_heap/system || skip "this kernel makes no dma-bufs"; }

# Packets hold copies of a dma-buf: its exporter may give the pages to another user while a packet is in a queue.
copied() {
	needs_makers
	ends=a bad_network delay 100ms
	pair_quietly dmabuf ordinary sent
}

killed() {
	needs_makers
	hold_objects a --dmabufs 4
	has 4 || fail "$(buffers) dma-bufs, not 4"
	kill -KILL "$(pgrep -P "$holder")"
	within 10 has 0
	ends_within 10 "$holder"
}

# rdma link delete releases dma-bufs while the program is still there.
unplugged() {
	needs_makers
	mend
	hold_objects a --dmabufs 4 --qps 2
	promptly at a rdma link delete "$DEV_A"
	within 10 has 0
	ends_within 10 "$holder"
	grep -q '^fatal' "$held" && ((status == 3)) || fail "status $status: $(<"$held")"
	mend
	traffic
}

# The module of the exporter stays loaded as long as the region exists. The program has nothing but the region.
exporter_stays() {
	at a test -e /dev/rover_kbuf || skip "no exporter for tests"
	hold_objects a --dmabufs 4 --kbuf
	refused "in use" at a rmmod rover_kbuf
	exec {hold_input}>&-
	ends_within 10 "$holder"
}

all_gone() {
	needs_makers
	within 10 has 0
}

for end in a b; do at $end modprobe -q udmabuf || true; done
for end in a b; do at $end bash -c "[[ -e /dev/rover_kbuf ]] || insmod '$kbuf'" || true; done
pair_cases dmabuf kinds
pair_cases dmabuf exporter
try "a region keeps the module of the exporter loaded" exporter_stays
for end in a b; do at $end bash -c "[[ ! -e /dev/rover_kbuf ]] || rmmod rover_kbuf"; done
try "packets in flight hold copies of dma-buf pages" copied
try "a killed program releases its dma-bufs" killed
try "rdma link delete releases dma-bufs in use" unplugged
try "no dma-bufs are left" all_gone
finish
