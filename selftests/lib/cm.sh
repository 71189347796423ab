# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# cm.sh: programs that connect by rdma_cm, a server at b and a client at a. For tests that have sourced lib/net.sh.

# shellcheck disable=SC2016 # the shell over there expands this
on_udp() { look b 'while read -r _ local _; do [[ $local != *:$1 ]] || exit 0; done < <(cat "$net/udp" "$net/udp6"); exit 1' "$1"; }

# serve HOW PROGRAM OPTION...: start a server at b, its process in $server, and wait until it listens: by rdma_cm (on_cm), at UDP
# (on_udp) or TCP port $port
serve() {
	local how=$1 program=$2
	shift 2
	said_a=/tmp/said.a said_b=/tmp/said.b
	run_at b "$program" "$@" >$said_b 2>&1 </dev/null &
	server=$!
	case $how in
	cm) within 20 on_cm "$program" ;;
	udp) within 20 on_udp "$(printf %04X "$port")" ;;
	tcp) await_server b "$port" $server ;;
	joined) within 20 grep -q joined $said_b ;;
	esac
}

# ask PROGRAM OPTION...: run a client at a; client and server must succeed
ask() {
	local status=0
	at a "$@" >$said_a 2>&1 </dev/null || status=$?
	((!status)) || kill $server 2>/dev/null || true
	wait $server || status=$((status ? status : $?))
	echo "a: $*" && show $said_a
	echo "b:" && show $said_b
	return $status
}

# stop: end a server that does not end by itself
stop() {
	kill $server
	wait $server || true
}

both_say() { grep -qE "$1" $said_a && grep -qE "$1" $said_b; }

rping() {
	next_port
	serve cm rping -s -V -C "$2" -S "$3" -p "$port" -a "$1"
	ask rping -c -V -C "$2" -S "$3" -p "$port" -a "$1"
	! grep -E 'error|mismatch' $said_a $said_b
}

# Programs that have a port of their own and print whether they succeeded.
example() {
	local program=$1 address=$2
	shift 2
	serve cm "$program" -b "$address" "$@"
	ask "$program" -s "$address" "$@"
	both_say 'return status 0'
}

# Both join a group; a sends.
mckey() {
	local group=$1 from=$2 address=$3
	shift 3
	said_a=/tmp/said.a said_b=/tmp/said.b
	# The program waits before it sends or receives: do not buffer its output.
	run_at b stdbuf -oL mckey -m "$group" -b "$address" -C 5 "$@" >$said_b 2>&1 </dev/null &
	server=$!
	within 20 grep -qE 'joined dgid|failure joining' $said_b
	# The kernel's ENOTSUPP, for which libc has no message.
	if grep -q 'failure joining: Unknown error 524' $said_b; then
		wait $server || true
		skip "rdma_cm of this kernel joins no IPv6 group on a RoCE v2 device"
	fi
	ask mckey -m "$group" -b "$from" -s -C 5 "$@"
	both_say 'return status 0'
}
