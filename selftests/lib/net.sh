# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# net.sh: helpers of shell tests for the two ends of a network, a and b: run programs with a time limit, run a server and its client,
# read counters and GIDs. END is a or b everywhere. A guest of the lab (tools/vm) has the two ends; on any other machine
# lib/topology.sh makes them.

# The selftests, in the tree or installed.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=selftests/lib/ktap.sh
. "$here/lib/ktap.sh"

# program NAME: the path of a test program. It was built in the folder of its subject, or installed there.
program() {
	local path
	for path in "${OUT:-$here/../build/selftests}"/*/"$1" "$here"/*/"$1"; do
		[[ ! -f $path || ! -x $path ]] || { echo "$path"; return; }
	done
	echo "$here/$1-is-not-built"
}

# module_file NAME: the path of a test module for this kernel
module_file() {
	local path
	for path in "$here/kmod/$1.ko" "$here/../build/$KERNEL/$1.ko"; do
		[[ ! -e $path ]] || { echo "$path"; return; }
	done
	return 1
}

# shellcheck source=selftests/lib/topology.sh
[[ ${DEV_A:-} ]] || . "$here/lib/topology.sh"
# The lab calls a flavour of 6.1 6.1-rt.
SERIES=${KERNEL%%-*}

# Seconds a program may take, and the TCP port of the last server; a case is a subshell, so it is not counted from one to
# the next.
limit=60
next_port() { port=$((19000 + SRANDOM % 9000)); }

dev_of() { if [[ $1 == a ]]; then echo "$DEV_A"; else echo "$DEV_B"; fi; }
ndev_of() { if [[ $1 == a ]]; then echo "$NDEV_A"; else echo "$NDEV_B"; fi; }
addr_of() { if [[ $1 == a ]]; then echo "$ADDR_A"; else echo "$ADDR_B"; fi; }
addr6_of() { if [[ $1 == a ]]; then echo "$ADDR6_A"; else echo "$ADDR6_B"; fi; }
other() { if [[ $1 == a ]]; then echo b; else echo a; fi; }
single() { [[ $TOPOLOGY == single ]]; }

# at END CMD...: like on, with the time limit of the test
at() {
	local end=$1
	shift
	on -t $((limit * slow)) "$end" "$@"
}

# refused TEXT CMD...: CMD fails, and its message contains TEXT
refused() {
	local text=$1 said
	shift
	if said=$("$@" 2>&1); then fail "this should have failed: $*"; fi
	[[ $said == *"$text"* ]] || fail "$* fails with \"$said\", not with \"$text\""
}

# run_at END CMD... &: like at, as a job: $! is the process that forwards signals
run_at() {
	local end=$1
	shift
	exec on -t $((limit * slow)) "$end" "$@"
}

# look END CODE [ARG...]: run CODE (bash) for END, with its files below $root and its network files
# in $net. For an end on this machine no program is started, which is slow on an emulated CPU.
look() {
	local end=$1 code=$2 pid
	shift 2
	if [[ -e /run/lab/$end.pid ]]; then
		read -r pid <"/run/lab/$end.pid"
		(root=/proc/$pid/root net=/proc/$pid/net && eval "$code")
	else
		at "$end" bash -c "root= net=/proc/self/net; $code" look "$@"
	fi
}

# shellcheck disable=SC2016 # in what follows the shell over there expands
exists() { look "$1" '[[ -e $root/sys/class/infiniband/$1 ]]' "${2:-$(dev_of "$1")}"; }
gone() { ! exists "$@"; }

# port_is END FILE TEXT: true if this file of the port in /sys contains TEXT
# shellcheck disable=SC2016
port_is() { look "$1" '[[ $(<"$root/sys/class/infiniband/$1/ports/1/$2") == *"$3"* ]]' "$(dev_of "$1")" "$2" "$3"; }

# shellcheck disable=SC2016
has_link_local() { look "$1" '[[ $(<$net/if_inet6) == *fe80*" $1"* ]]' "${2:-$(ndev_of "$1")}"; }

# A program at b listens by rdma_cm.
on_cm() { [[ $(at b rdma resource show cm_id) =~ "state LISTEN "[^$'\n']*"comm $1 " ]]; }

# The pair of interfaces, with their addresses, where both ends are on one machine and have none.
make_netdevs() {
	local end
	ip link add "$NDEV_A" mtu 4200 netns a type veth peer name "$NDEV_B" mtu 4200 netns b
	for end in a b; do
		at $end ip addr add "$(addr_of $end)/24" dev "$(ndev_of $end)"
		at $end ip addr add "$(addr6_of $end)/64" dev "$(ndev_of $end)" nodad
		at $end ip link set "$(ndev_of $end)" up
	done
	within 10 has_link_local a
	within 10 has_link_local b
}

# gids END [DEVICE]: the table without its empty rows, "INDEX GID TYPE" each
gids() {
	# shellcheck disable=SC2016
	look "$1" 'cd "$root/sys/class/infiniband/$1/ports/1" || exit
		for index in {0..31}; do
			read -r gid <gids/$index || break
			[[ $gid != 0000:0000:0000:0000:0000:0000:0000:0000 ]] || continue
			read -r type <gid_attrs/types/$index
			echo "$index $gid $type"
		done 2>/dev/null' "${2:-$(dev_of "$1")}"
}

# know_gids: cache the GID indices of the usual addresses
know_gids() {
	local end address
	for end in a b; do
		for address in "$(addr_of $end)" "$(addr6_of $end)"; do
			declare -g "gid_${ROCE:-v2}_${end}_${address//[^0-9a-f]/_}=$(gid_index $end "$address")"
		done
	done
}

# gid_text ADDRESS: print an address of the ends as the GID table does
gid_text() {
	local rest=${1##*[.:]}
	case $1 in
	*.*) printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' ${1//./ } ;;
	*) printf '%s:0000:0000:0000:0000:0000:0000:%04x' "${1%%:*}" "0x$rest" ;;
	esac
}

# gid_like END PATTERN [DEVICE]: the index of the first matching GID of RoCE v2 or, with ROCE=v1, v1
gid_like() {
	local index gid type
	while read -r index gid type; do
		# shellcheck disable=SC2053 # a pattern is meant
		[[ $gid != $2 || $type != *"${ROCE:-v2}" ]] || { echo "$index"; return; }
	done < <(gids "$1" "${@:3}")
	echo "no GID $2 of RoCE ${ROCE:-v2} at $1" >&2
	return 1
}

# has_gid END DEVICE PATTERN: true if a GID matches
has_gid() { gid_like "$1" "$3" "$2" >/dev/null 2>&1; }
lacks_gid() { ! has_gid "$@"; }

# gid_index END ADDRESS: the index of the GID of an address. lib/pair.c chooses GIDs in the same way.
gid_index() {
	local known="gid_${ROCE:-v2}_${1}_${2//[^0-9a-f]/_}"
	if [[ ${!known:-} ]]; then echo "${!known}"; else gid_like "$1" "$(gid_text "$2")"; fi
}

# counter END NAME...: their sum, in $counted and on standard output. The core shows them to the initial namespace only, and
# keeps what it has read for ten milliseconds.
counter() {
	local end=$1 name number files=() dir
	dir=/sys/class/infiniband/$(dev_of "$1")/ports/1/hw_counters
	shift
	nap 0.02
	counted=0
	if [[ $TOPOLOGY == pair && $end == b ]]; then
		for name; do files+=("$dir/$name"); done
		for number in $(at b cat "${files[@]}"); do counted=$((counted + number)); done
	else
		for name; do
			read -r number <"$dir/$name"
			counted=$((counted + number))
		done
	fi
	echo $counted
}

# await_server END PORT PROCESS: wait until PORT is listened on at END, or PROCESS (of ours) is gone
await_server() {
	# shellcheck disable=SC2016
	look "$1" 'exec {idle}<> <(:)
		for ((try = 0; try < $2; try++)); do
			for file in tcp tcp6; do
				[[ ! $(<$net/$file) =~ :$1\ [0-9A-F]+:0000\ 0A ]] || exit 0
			done
			[[ $root != /proc/* || -e /proc/$3 ]] || exit 1
			read -rt 0.05 -u $idle || :
		done
		exit 1' "$(printf %04X "$2")" $((400 * slow)) "$3"
}

# both SERVER CLIENT: run two command lines, the server at b and the client at a. Both must succeed. Output in $said_a, $said_b.
# When one of them fails, the other one is ended after a while: it may wait for an answer that does not come.
both() {
	local server client first='' status=0
	said_a=/tmp/said.a said_b=/tmp/said.b
	# shellcheck disable=SC2086 # words
	run_at b $1 >$said_b 2>&1 </dev/null &
	server=$!
	await_server b "$port" $server || status=1
	# shellcheck disable=SC2086 # words
	if ((!status)); then
		run_at a $2 >$said_a 2>&1 </dev/null &
		client=$!
		wait -n -p first $server $client || status=$?
	fi
	if [[ $first == "$server" ]]; then
		((!status)) || (within 5 is_over $client) >/dev/null || kill $client 2>/dev/null || true
		wait $client || status=$((status ? status : $?))
	else
		((!status)) || kill $server 2>/dev/null || true
		wait $server || status=$((status ? status : $?))
	fi
	echo "a: $2" && show $said_a
	echo "b: $1" && show $said_b
	return $status
}

# pingpong_on TOOL DEVICE_A INDEX_A DEVICE_B INDEX_B [OPTION...]: one of the ibv_*_pingpong between the ends
pingpong_on() {
	local tool=$1 dev_a=$2 gid_a=$3 dev_b=$4 gid_b=$5 said
	shift 5
	next_port
	both "$tool -p $port -d $dev_b -g $gid_b $*" "$tool -p $port -d $dev_a -g $gid_a $* $ADDR_B"
	for said in "$(<$said_a)" "$(<$said_b)"; do
		[[ $said != *"invalid data"* ]] || fail "the data is wrong"
		[[ $said == *"bytes in "*" seconds"* ]] || fail "it prints no result"
	done
}

# pingpong_by TOOL [OPTION...]: one of the ibv_*_pingpong on the lab's devices, over IPv4 or, with family=6, IPv6
pingpong_by() {
	local gid_a gid_b own=("$ADDR_A" "$ADDR_B")
	[[ ${family:-4} == 4 ]] || own=("$ADDR6_A" "$ADDR6_B")
	gid_a=$(gid_index a "${own[0]}")
	gid_b=$(gid_index b "${own[1]}")
	pingpong_on "$1" "$DEV_A" "$gid_a" "$DEV_B" "$gid_b" "${@:2}"
}

# pingpong [OPTION...]: ibv_rc_pingpong with checked data
pingpong() { pingpong_by ibv_rc_pingpong -c "$@"; }

# perftest TOOL [OPTION...]: ib_TOOL between the ends; rows of figures in $rows
perftest() {
	local tool=ib_$1
	shift
	next_port
	both "$tool -F -p $port -d $DEV_B $*" "$tool -F -p $port -d $DEV_A $* $ADDR_B"
	rows=$(grep -cE '^ *[0-9]+ +[0-9]+ +([0-9]|inf)' "$said_a") || fail "$tool prints no figures"
	# perftest does not report all errors in its exit status.
	! grep -iE 'failed|error|mismatch|unsupported' "$said_a" "$said_b"
}

# RDMA objects of the devices at both ends. In topology single either end sees both devices.
resources() {
	local end line
	for end in $(module_ends); do at $end rdma resource show; done | while read -r _ line; do
		[[ $line != "$DEV_A: "* && $line != "$DEV_B: "* ]] || echo "$line"
	done
}
# The kernel's management agent has one object of each kind, for queue pair 1.
nothing_held() { [[ ! $(resources) =~ \ ((cq|qp|pd)\ ([2-9]|1[0-9])|(mr|srq)\ [1-9]) ]]; }

# let_go SECONDS: all programs release their objects within that time
let_go() {
	(within "$1" nothing_held) && return
	resources
	at a rdma resource show qp
	ps -eo pid,ppid,stat,wchan:24,args | grep -v '\]$'
	fail "not all is given back"
}

# A small transfer shows that both ends work.
traffic() { pingpong -n 20 -s 8192; }

# link_add END: add the lab's device again
link_add() { at "$1" rdma link add "$(dev_of "$1")" type rover netdev "$(ndev_of "$1")"; }

# mend: load the module, and add the devices that an earlier case has removed
mend() {
	local end
	[[ -d /sys/module/rover ]] || modprobe rover
	for end in a b; do exists $end || link_add $end || true; done
}

# hold_objects END [OPTION...]: run the program of that name in the background, on the device of END or on $holding. Its process
# is $holder, its output is in $held.
hold_objects() {
	local end=$1 pipe=/tmp/hold.$1.$BASHPID input
	shift
	held=/tmp/held.$end
	rm -f "$pipe" "$held"
	touch "$held"
	mkfifo "$pipe"
	exec {input}<>"$pipe"
	run_at "$end" "$(program hold_objects)" "${holding:-$(dev_of "$end")}" "$@" <"$pipe" >"$held" 2>&1 {input}>&- &
	holder=$!
	hold_input=$input
	# It has opened the pipe by now, or has failed.
	within 30 grep -qE '^(ready|error)' "$held"
	rm -f "$pipe"
	grep -q '^ready' "$held" || fail "hold_objects: $(<"$held")"
}

# release: hold_objects destroys its objects and ends, without an error
release() {
	exec {hold_input}>&-
	wait "$holder"
}

# promptly CMD...: CMD succeeds within five seconds, longer on the debug kernel
promptly() {
	timed "$@" || fail "$* fails"
	echo "$* took $ms ms"
	((ms < 5000 * slow)) || fail "$* took $ms ms"
}

is_over() { ! kill -0 "$1" 2>/dev/null; }

# ends_within SECONDS PROCESS: true if the process ends in time; its exit status is in $status
ends_within() {
	within "$1" is_over "$2"
	status=0
	wait "$2" || status=$?
}

# module_ends: the ends that have a module of their own; in topology single they share one
module_ends() { if single; then echo a; else echo a b; fi; }
unload() {
	local end
	for end in $(module_ends); do at "$end" rmmod rover; done
}

if [[ ${own_topology:-} ]]; then
	ktap_at_exit=topology_down
	topology_up || leave "the two ends cannot be set up"
fi
