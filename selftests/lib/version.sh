# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# version.sh: select and check the RoCE version. For tests that have sourced lib/net.sh.

# hear CMD...: capture RoCE packets at b's interface while CMD runs, in /tmp/heard, a line for each packet
hear() {
	local dump
	run_at b tcpdump -enls 96 -i "$NDEV_B" >/tmp/tcpdump 2>&1 </dev/null &
	dump=$!
	within 20 grep -q 'listening on' /tmp/tcpdump
	"$@"
	within 5 grep -qE '\.4791: |0x8915' /tmp/tcpdump
	sleep 0.3
	kill $dump
	wait $dump || true
	grep -E '\.4791: |0x8915' /tmp/tcpdump >/tmp/heard
	head -n 3 /tmp/heard
}

# only v1|v2 CMD...: fail unless CMD sends packets of that RoCE version only
only() {
	local other='\.4791: '
	[[ $1 == v1 ]] || other=0x8915
	ROCE=$1 hear "${@:2}"
	[[ ! $(grep "$other" /tmp/heard | head -n 3 | tee /dev/stderr) ]] || fail "RoCE of the other version"
}

# default_mode TEXT: set the default RoCE version of rdma_cm at both ends
default_mode() {
	local end
	modprobe rdma_cm
	for end in a b; do
		# shellcheck disable=SC2016 # the shell over there expands this
		at $end bash -c 'cd /sys/kernel/config/rdma_cm 2>/dev/null || { mount -t configfs configfs /sys/kernel/config && cd /sys/kernel/config/rdma_cm; } || exit
			mkdir -p "$0" && echo "$1" >"$0/ports/1/default_roce_mode" && cat "$0/ports/1/default_roce_mode"' "$(dev_of $end)" "$1" ||
			skip "no configfs for rdma_cm on this kernel"
	done
}

# managed CMD...: run CMD, which connects by rdma_cm, over RoCE v1
managed() {
	at_end default_mode "RoCE v2"
	default_mode "IB/RoCE v1"
	only v1 "$@"
}
