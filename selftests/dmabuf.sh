#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dmabuf: memory that comes as a dma-buf, of a program or of the kernel's heap, is registered, carries data, and is given back
# whoever goes first.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"

limit=120
info=/sys/kernel/debug/dma_buf/bufinfo
kbuf=$(cd "$here/.." && pwd -P)/build/$KERNEL/rover_kbuf.ko

# Those that end a's machine has now.
buffers() { at a sed -n 's/^Total \([0-9]*\) objects.*/\1/p' $info; }
has() { [[ $(buffers) == "$1" ]]; }
needs_makers() { at a test -e /dev/udmabuf -a -e /dev/dma_heap/system || skip "this kernel makes no dma-bufs"; }

# What is sent of a buffer is a copy: no packet in some queue holds pages that the exporter may have given to somebody else.
copied() {
	needs_makers
	ends=a bad_network delay 100ms
	pair_quietly dmabuf ordinary sent
}

killed() {
	needs_makers
	hold a --dmabufs 4
	has 4 || fail "$(buffers) dma-bufs, not 4"
	kill -KILL "$(pgrep -P "$holder")"
	within 10 has 0
	ends_within 10 "$holder"
}

# The device goes, and lets go of them, while the program is still there.
unplugged() {
	needs_makers
	mend
	hold a --dmabufs 4 --qps 2
	promptly at a rdma link delete "$DEV_A"
	within 10 has 0
	ends_within 10 "$holder"
	grep -q '^fatal' "$held" && ((status == 3)) || fail "status $status: $(<"$held")"
	mend
	traffic
}

# The module that exports cannot go before the region does. The program keeps a region alone.
exporter_stays() {
	at a test -e /dev/rover_kbuf || skip "no exporter for tests"
	hold a --dmabufs 4 --kbuf
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
try "an exporter stays as long as its buffers" exporter_stays
for end in a b; do at $end bash -c "[[ ! -e /dev/rover_kbuf ]] || rmmod rover_kbuf"; done
try "packets hold none of its pages" copied
try "a program that holds some is killed" killed
try "rdma link delete lets go of them" unplugged
try "none is left" all_gone
finish
