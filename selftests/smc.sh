#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# smc: sockets of AF_SMC, whose data the kernel moves by RDMA WRITE into a ring of the peer's (SMC-R). A connection for which SMC finds no
# RDMA device silently goes on as TCP, so every case looks at rover's counters.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"
# shellcheck source=selftests/lib/version.sh
. "$here/lib/version.sh"

connections=8
bytes=400000
! once || connections=3 bytes=150000

at_ends() {
	local end
	for end in a b; do at $end "$@"; done
}

# A new link group for each case: an idle one is kept for ten minutes. Unloading the module ends it, once the last socket is gone.
without_smc() { at "$1" modprobe -qr smc_diag smc; }
unload_smc() {
	local end
	for end in $(module_ends); do within 20 without_smc "$end"; done
}
load_smc() {
	local end
	for end in $(module_ends); do at "$end" modprobe -q smc || skip "this kernel has no SMC"; done
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
	both "$programs/smc_data server $ADDR_B $port $connections $bytes" "$programs/smc_data client $ADDR_B $port $connections $bytes"
	moved=$(($(rdma_bytes) - moved)) writes=$(($(rdma_writes) - writes))
	echo "note: $writes WRITEs, $moved bytes over RDMA"
	((writes >= 2 * connections)) || fail "$writes WRITEs: this was TCP"
	((moved >= 2 * connections * bytes)) || fail "of $((2 * connections * bytes)) bytes $moved went over RDMA"
}

# carry_by v1|v2: the same, and by that version of RoCE alone
carry_by() { if quick; then carry; else only "$1" carry; fi; }

# Physically contiguous rings, whose address SMC takes from the scatterlist; and virtually contiguous ones, many entries each, for which
# it sets an address of its own.
contiguous() {
	fresh
	carry_by v1
}
virtual() {
	fresh
	at_ends sysctl -qw net.smc.smcr_buf_type=1 || skip "this kernel has no such buffers"
	carry
}

# With an Enterprise ID that both ends know there is version 2, over RoCE v2.
version_2() {
	local end
	fresh
	for end in $(module_ends); do at "$end" "$programs/smc_data" eid ROVER; done
	carry_by v2
}

# SMC keeps the device until the last program has closed its socket; then it has to go at once.
pulled() {
	local server client pull input
	fresh
	next_port
	run_at b "$programs/smc_data" server "$ADDR_B" $port $connections $bytes >/tmp/said.b 2>&1 </dev/null &
	server=$!
	await_server b $port $server
	rm -f /tmp/smc.input
	mkfifo /tmp/smc.input
	exec {input}<>/tmp/smc.input
	run_at a "$programs/smc_data" client "$ADDR_B" $port $connections $bytes hold </tmp/smc.input >/tmp/said.a 2>&1 {input}>&- &
	client=$!
	within 20 grep -qE '^(ready|error)' /tmp/said.a
	grep -q '^ready' /tmp/said.a || fail "$(</tmp/said.a)"
	run_at a rdma link delete "$DEV_A" {input}>&- &
	pull=$!
	nap 1
	exec {input}>&-
	wait $client || fail "$(</tmp/said.a)"
	show /tmp/said.a
	ends_within 20 $pull
	((!status)) || fail "the device does not go: $status"
	# SMC does not tell the peer of a link that went with its device: the server may be waiting still.
	kill $server 2>/dev/null || true
	wait $server || true
	mend a
	within 10 has_gid a "$DEV_A" "$(gid_text "$ADDR_A")"
	carry
}

# A link group without connections is no reason to keep the device. Where both ends are one kernel it has two links, and SMC waits
# some seconds for the answer to a message about one of them that is gone.
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
	try "AF_SMC sockets" skip "this kernel has no SMC"
	finish
}
try "data both ways on $connections AF_SMC sockets" contiguous
try "into buffers that are contiguous virtually only" virtual
try "by version 2 of the protocol" version_2
try "the device is deleted under a link group without connections" pulled_idle
try "and under open connections" pulled
try "and all is given back" withdraw
finish
