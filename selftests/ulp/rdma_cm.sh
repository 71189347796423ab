#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# rdma_cm: all programs of librdmacm and libibverbs, and measuring tools, connect by rdma_cm or TCP,
# over IPv4 and IPv6, and transfer data.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/cm.sh
. "$here/lib/cm.sh"

limit=30

# One server, several clients, some at a time.
rping_many() {
	local clients=() client i
	next_port
	serve cm rping -s -P -p "$port" -a "$1"
	for i in 1 2 3; do
		run_at a rping -c -V -C "$2" -S 1000 -p "$port" -a "$1" >/tmp/said.$i 2>&1 </dev/null &
		clients+=($!)
	done
	for client in "${clients[@]}"; do wait "$client" || fail "a client fails: $(cat /tmp/said.[123]) $(<$said_b)"; done
	at a rping -c -V -C "$2" -p "$port" -a "$1"
	stop
	! grep -hE 'error|mismatch' /tmp/said.[123] | grep -v 'cma event'
}

# rping's own queue pair, not librdmacm's
rping_own() {
	next_port
	serve cm rping -s -q -V -C "$2" -p "$port" -a "$1"
	ask rping -c -q -V -C "$2" -p "$port" -a "$1"
}

# rsockets
stream() {
	local program=$1 address=$2
	shift 2
	next_port
	serve cm "$program" -b "$address" -p "$port" "$@"
	ask "$program" -s "$address" -p "$port" "$@"
	grep -qE '^ *[^ ]+ .*[0-9]' $said_a
	! grep -iE 'error|failed' $said_a $said_b
}

copy() {
	local want got
	next_port
	head -c 300000 /dev/urandom >/tmp/copied.from
	want=$(sha256sum </tmp/copied.from)
	at b rm -f /tmp/copied
	serve cm rcopy -p "$port"
	at a rcopy /tmp/copied.from "$1:/tmp/copied" -p "$port"
	stop
	got=$(at b bash -c 'sha256sum </tmp/copied')
	[[ $want == "$got" ]] || fail "the copy differs: $got, not $want"
}

# The datagram sockets of librdmacm make address handles without a GRH, as InfiniBand has them within a subnet. With RoCE the kernel
# refuses them, whatever the device.
udpong() {
	next_port
	serve udp udpong -b "$1" -p "$port" -C "$2" -S 1000 -T e
	if ! ask udpong -s "$1" -p "$port" -C "$2" -S 1000 -T e; then
		! grep -q 'rconnect: No such file' $said_a || skip "the tool makes address handles for InfiniBand only"
		return 1
	fi
}

cmtime() {
	port=7471
	serve tcp cmtime -b "$1" "${@:3}" -c "$2"
	ask cmtime -s "$1" "${@:3}" -c "$2"
	both_say '^full connect'
}

# perftest that meets by rdma_cm: twice, once to shake hands, then for what it measures. Neither waits until the other one listens
# again, and with datagrams a client that is too quick is told so (error 1: no such service).
managed() {
	local tool=ib_$1 address=$2 tries=0
	shift 2
	[[ $address != *:* ]] || set -- --ipv6 --ipv6-addr "$@"
	until meet "$tool" "$address" "$@"; do
		grep -q 'UNREACHABLE; error: 1\.' $said_a && ((++tries < 5)) || fail "$tool fails"
	done
	grep -qE '^ *[0-9]+ +[0-9]+ +[0-9]' $said_a || fail "$tool prints no figures"
}
meet() {
	next_port
	serve cm "$1" -F -R -p "$port" -d "$DEV_B" "${@:3}"
	ask "$1" -F -R -p "$port" -d "$DEV_A" "${@:3}" "$2"
}

# qperf's server names its port before it listens there: a client that is too quick is refused, which on a busy host happens to
# one in five. Each figure is asked for by itself, so that one refusal does not cost the others.
measure() {
	local address=$1 figure tries
	shift
	next_port
	run_at b qperf -lp "$port" >/tmp/said.b 2>&1 </dev/null &
	server=$!
	await_server b "$port" $server
	for figure; do
		tries=0
		until at a nice -n 19 qperf -lp "$port" -cm 1 -t 1 "$address" "$figure" >/tmp/said.a 2>&1; do
			grep -q 'Event rejected' /tmp/said.a && ((++tries < 20)) || fail "$(cat /tmp/said.a /tmp/said.b)"
		done
		cat /tmp/said.a
		grep -qE '(bw|latency) +=' /tmp/said.a || fail "$figure is not measured"
	done
	stop
}

watch() {
	run_at a ibv_asyncwatch -d "$DEV_A" >/tmp/said.a 2>&1 </dev/null &
	server=$!
	within 20 grep -q 'async event FD' /tmp/said.a
	at a ip link set "$NDEV_A" down
	within 10 grep -q IBV_EVENT_PORT_ERR /tmp/said.a
	at a ip link set "$NDEV_A" up
	within 10 grep -q IBV_EVENT_PORT_ACTIVE /tmp/said.a
	stop
	# IPv6 addresses go with the link.
	at a ip addr add "$ADDR6_A/64" dev "$NDEV_A" nodad
	within 10 eval 'gids a | grep -q "$(gid_text "$ADDR6_A")"'
}

know_gids
n=100
! quick || n=8
for address in "$ADDR_B" "$ADDR6_B"; do
	over=IPv4 from=$ADDR_A group=239.77.2.1 size=4000
	[[ $address != *:* ]] || over=IPv6 from=$ADDR6_A group=ff15::77 size=60000
	try "rping over $over" rping "$address" $n $size
	try "rping over $over: one server, several clients" rping_many "$address" $n
	try "ucmatose over $over: eight connections" example ucmatose "$address" -c 8 -C 10 -S 500
	try "udaddy over $over" example udaddy "$address" -c 4 -C 10 -S 500
	try "mckey over $over" mckey $group "$from" "$address"
	try "rstream over $over" stream rstream "$address" -T v -S 5000 -I $n -C 2
	try "ib_send_lat of datagrams over $over by rdma_cm" managed send_lat "$address" -c UD -n 100 -s 512
	# When there is no time, over one family in one topology and over the other in the other.
	if quick && [[ $over == IPv6 && $TOPOLOGY == single || $over == IPv4 && $TOPOLOGY == pair ]]; then continue; fi
	try "ib_write_bw over $over by rdma_cm" managed write_bw "$address" -n 100 -s 65536
	try "rping over $over, with queue pairs not made by librdmacm" rping_own "$address" $n
	try "riostream over $over" stream riostream "$address" -T v -S 5000 -I $n -C 2
done
family=6 try "ibv_rc_pingpong over IPv6" pingpong -n $n
family=6 try "ibv_ud_pingpong over IPv6" pingpong_by ibv_ud_pingpong -n $n -s 1000
# These know no IPv6.
try "rcopy copies a file" copy "$ADDR_B"
try "cmtime measures connects" cmtime "$ADDR_B" $n -q 0
try "udpong exchanges datagrams" udpong "$ADDR_B" $n
try "qperf measures RC latency and READ bandwidth" measure "$ADDR_B" rc_lat rc_rdma_read_bw
if ! quick; then
	try "ibv_rc_pingpong over IPv4" pingpong -n $n
	try "mckey without multicast loopback" mckey 239.77.2.2 "$ADDR_A" "$ADDR_B" -l
fi
try "ibv_asyncwatch reports port errors" watch
try "no RDMA resources are left" let_go 10
finish
