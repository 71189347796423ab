#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# kill: either program of a transfer is killed at a random moment. The other program ends, no
# resources are left, and the next transfer works.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

# start END CMD...: run CMD in the background, with its process id in a file at END
start() {
	local end=$1
	shift
	at "$end" rm -f "/tmp/victim.$end"
	# shellcheck disable=SC2016 # the shell over there expands this
	run_at "$end" bash -c 'echo $$ >/tmp/victim.$0; exec "$@"' "$end" "$@" >"/tmp/said.$end" 2>&1 </dev/null &
}

# shellcheck disable=SC2016 # the shell over there expands this
strike() { at "$1" bash -c 'until [[ -s /tmp/victim.$0 ]]; do sleep 0.05; done; kill -KILL $(</tmp/victim.$0)' "$1"; }

# Small and large messages use different code: alternate.
size=8

# round TOOL VICTIM SECONDS: kill the program at VICTIM so long after the client has started
round() {
	local tool=$1 victim=$2 moment=$3 server client
	size=$((size == 8 ? 65536 : 8))
	echo "--- $tool -s $size: $victim dies after $moment s"
	next_port
	start b "ib_$tool" -F -p "$port" -d "$DEV_B" -D 60 -s $size
	server=$!
	await_server b "$port" $server
	start a "ib_$tool" -F -p "$port" -d "$DEV_A" -D 60 -s $size "$ADDR_B"
	client=$!
	nap "$moment"
	strike "$victim" || fail "there was nobody left to kill: $(</tmp/said.a) $(</tmp/said.b)"
	if [[ $victim == a ]]; then
		ends_within 5 $client
		# perftest's server polls for SENDs that never arrive. The other servers see the
		# end of the TCP connection, if there was one.
		nap 0.5
		if [[ $tool == send_bw || $(at b ss -Hltn "sport = :$port") ]]; then kill $server 2>/dev/null || true; fi
		ends_within 25 $server
	else
		ends_within 5 $server
		# The client gets no answer: the retries end, and the program gets an error.
		ends_within 40 $client
		((status)) || fail "the client has not noticed: $(</tmp/said.a)"
		((status != 124)) || fail "the client did not end: $(</tmp/said.a)"
	fi
	let_go 10
}

rounds() {
	local tool=$1 victim=$2 n=$3
	while ((n--)); do
		round "$tool" "$victim" "$((SRANDOM % most)).$((SRANDOM % 900 + 100))"
	done
	traffic
}

most=$((2 + slow / 2))
! once || most=2
know_gids
if quick; then
	try "ib_write_bw: the client is killed, the server ends" rounds write_bw a 1
	size=65536 try "ib_read_bw: the server is killed, the client ends" rounds read_bw b 1
	once || size=65536 try "ib_send_bw: the server is killed, the client ends" rounds send_bw b 1
else
	for tool in write_bw read_bw send_bw; do
		try "ib_$tool: the client is killed, the server ends, three times" rounds $tool a 3
		try "ib_$tool: the server is killed, the client ends, three times" rounds $tool b 3
	done
fi

# The kernel has to destroy many objects of a killed program.
kill_holder() {
	hold_objects a --qps 200 --mrs 200 --gid "$(gid_index a "$ADDR_A")"
	[[ $(resources) =~ "$DEV_A: "[^$'\n']*" qp 201 " ]] || fail "not 200 queue pairs and the one of management: $(resources)"
	# The program itself, not the wrapper that forwards signals to it.
	if single; then kill -KILL "$(pgrep -f "^$(program hold_objects) $DEV_A")"; else at a pkill -KILL -x hold_objects; fi
	let_go 20
	traffic
}
try "a program with 200 connected queue pairs and 200 regions is killed" kill_holder
finish
