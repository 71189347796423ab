#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# smc: AF_SMC sockets. The kernel moves their data by RDMA WRITE into a ring of the peer (SMC-R).
# SMC falls back to TCP silently, so each case reads rover's counters.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/version.sh
. "$here/lib/version.sh"

connections=8
bytes=400000
! once || connections=3 bytes=150000

at_ends() {
	local end
	for end in a b; do at $end "$@"; done
}

# A new link group for each case: an idle one is kept for ten minutes, and unloading the module ends it.
without_smc() { at "$1" modprobe -qr smc_diag smc; }
# The sockets of a killed program keep the module until SMC, which tests links, finds that the peer's is gone.
unload_smc() {
	local end
	for end in $(module_ends); do within 60 without_smc "$end"; done
}
load_smc() {
	local end
	for end in $(module_ends); do at "$end" modprobe -q smc || skip "this kernel has no SMC"; done
	# Not every 30 s
	at_ends sysctl -qw net.smc.smcr_testlink_time=5 || true
}
fresh() {
	unload_smc
	load_smc
}

# rdma_bytes, rdma_writes: what has arrived at both devices
rdma_bytes() { echo $(($(counter a rx_bytes) + $(counter b rx_bytes))); }
rdma_writes() { echo $(($(counter a rx_write_requests) + $(counter b rx_write_requests))); }

# Data in both directions at once, on several connections, and all of it by RDMA WRITE.
carry() {
	local moved writes
	moved=$(rdma_bytes) writes=$(rdma_writes)
	next_port
	both "$(program smc_data) server $ADDR_B $port $connections $bytes" "$(program smc_data) client $ADDR_B $port $connections $bytes"
	moved=$(($(rdma_bytes) - moved)) writes=$(($(rdma_writes) - writes))
	echo "note: $writes WRITEs, $moved bytes over RDMA"
	((writes >= 2 * connections)) || fail "$writes WRITEs: this was TCP"
	((moved >= 2 * connections * bytes)) || fail "of $((2 * connections * bytes)) bytes $moved went over RDMA"
}

# carry_by v1|v2: the same, and by that version of RoCE alone
carry_by() { if quick; then carry; else only "$1" carry; fi; }

# Rings in contiguous pages, with the address in the scatterlist; and in virtually contiguous pages,
# with an address that SMC sets.
contiguous() {
	fresh
	carry_by v1
}
virtual() {
	fresh
	at_ends sysctl -qw net.smc.smcr_buf_type=1 || skip "this kernel has no such buffers"
	carry
}

# With the same Enterprise ID at both ends SMC uses version 2, over RoCE v2.
version_2() {
	local end
	fresh
	for end in $(module_ends); do at "$end" "$(program smc_data)" eid ROVER; done
	carry_by v2
}

# no_links: SMC has no queue pair left, so it has terminated its link groups
no_links() {
	local end
	for end in $(module_ends); do ! at "$end" rdma resource show qp | grep -F '[smc]' >/dev/null || return 1; done
}

# SMC keeps the device until the last socket is closed. Then it is deleted at once.
#
# Both programs keep their sockets until SMC has terminated their link groups. SMC never releases a socket that is closed
# meanwhile, nor its reference to the module (Documentation/interop.rst).
pulled() {
	local server client pull input
	fresh
	next_port
	rm -f /tmp/smc.input
	mkfifo /tmp/smc.input
	exec {input}<>/tmp/smc.input
	run_at b "$(program smc_data)" server "$ADDR_B" $port $connections $bytes hold >/tmp/said.b 2>&1 </tmp/smc.input {input}>&- &
	server=$!
	await_server b $port $server
	run_at a "$(program smc_data)" client "$ADDR_B" $port $connections $bytes hold >/tmp/said.a 2>&1 </tmp/smc.input {input}>&- &
	client=$!
	within 20 grep -qE '^(ready|error)' /tmp/said.a
	grep -q '^ready' /tmp/said.a || fail "$(</tmp/said.a)"
	run_at a rdma link delete "$DEV_A" {input}>&- &
	pull=$!
	# SMC does not report a deleted link to the peer, which finds out when it tests the link.
	within 60 no_links
	exec {input}>&-
	wait $client || fail "$(</tmp/said.a)"
	wait $server || fail "$(</tmp/said.b)"
	show /tmp/said.a
	show /tmp/said.b
	ends_within 20 $pull
	((!status)) || fail "the device does not go: $status"
	mend a
	within 10 has_gid a "$DEV_A" "$(gid_text "$ADDR_A")"
	carry
}

# An idle link group does not keep the device. With both ends in one kernel it has two links, and
# SMC waits some seconds for a reply about the deleted one.
pulled_idle() {
	fresh
	carry
	timed at b rdma link delete "$DEV_B"
	echo "note: the device is gone after $ms ms"
	((ms < 20000 * slow)) || fail "it took $ms ms"
	mend b
	within 10 has_gid b "$DEV_B" "$(gid_text "$ADDR_B")"
	carry
}

withdraw() {
	unload_smc
	let_go 10
}

at_ends modprobe -qn smc >/dev/null 2>&1 || {
	try "data both ways on AF_SMC sockets" skip "this kernel has no SMC"
	finish
}
try "data both ways on $connections AF_SMC sockets" contiguous
try "data both ways with virtually contiguous buffers" virtual
try "data both ways with SMC version 2" version_2
try "the device is deleted under an idle link group" pulled_idle
try "the device is deleted under open connections" pulled
try "SMC is unloaded, no RDMA resources are left" withdraw
finish
