#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# unprivileged: an unprivileged user has the rights to /dev/infiniband that other drivers give, and
# no more. Root runs each refused command too, which proves that the missing privilege is the
# reason.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=60
# User nobody without groups and capabilities, and with the default RLIMIT_MEMLOCK.
nobody=(prlimit --memlock=8388608:8388608 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs)
as=()
at() { on -t $((limit * slow)) "$1" "${as[@]}" "${@:2}"; }
run_at() { exec on -t $((limit * slow)) "$1" "${as[@]}" "${@:2}"; }
root() { (as=() && "$@"); }

# may_not CMD...: at a, it fails with a message that it is not permitted
may_not() {
	local said
	if said=$(at a "$@" 2>&1); then fail "this should have failed: $*"; fi
	[[ $said == *"not permitted"* || $said == *"ermission denied"* ]] || fail "$* fails with \"$said\""
}

who() {
	local said
	# shellcheck disable=SC2016 # the shell over there expands
	said=$(at a bash -c 'echo "of $EUID in ${GROUPS[*]} with $(ulimit -l)"; cat /proc/$$/status')
	[[ $said == "of 65534 in 65534 with 8192"$'\n'* ]] || fail "$said"
	[[ $said =~ CapEff:[[:space:]]*0000000000000000 ]] || fail "$said"
}

links() {
	may_not rdma link add more type rover netdev "$NDEV_A"
	may_not rdma link delete "$DEV_A"
	may_not rdma dev set "$DEV_A" name other
	may_not rdma system set netns exclusive
	may_not rdma statistic qp set link "$DEV_A/1" auto off
	exists a || fail "the device has gone"
}

# Only root can write to the files of the device and the module, and open umad devices.
files() {
	local all
	mapfile -t all < <(root at a find "/sys/class/infiniband/$DEV_A/" /sys/module/rover/ -type f -perm /222)
	((${#all[@]})) || fail "nothing there can be written to by anybody"
	# shellcheck disable=SC2016 # the shell over there expands these
	at a bash -c 'for file; do [[ ! -w $file ]] || { echo "$file can be written to"; exit 1; }; done' files "${all[@]}"
	mapfile -t all < <(root at a find /dev/infiniband/ -name 'umad*' -o -name 'issm*')
	((${#all[@]})) || fail "there is no umad"
	# shellcheck disable=SC2016
	at a bash -c 'for file; do [[ ! -r $file && ! -w $file ]] || { echo "$file can be opened"; exit 1; }; done' files "${all[@]}"
	! at a test -r /sys/kernel/tracing/events/rover || fail "tracepoints can be read"
	may_not modprobe -r rover
}

# Objects of other programs are visible, but not the memory keys.
keys() {
	hold_objects a --qps 1 --mrs 2
	[[ $(root at a rdma resource show mr -dd) == *"rkey 0x"* ]] || fail "root sees no key: $(root at a rdma resource show mr -dd)"
	[[ $(at a rdma resource show mr) == *"$DEV_A"*mrlen* ]] || fail "it sees no region: $(at a rdma resource show mr)"
	[[ $(at a rdma resource show mr -dd) != *"key 0x"* ]] || fail "it sees keys: $(at a rdma resource show mr -dd)"
	release
}

pingpongs() {
	local tool
	local tools=(rc uc ud srq)
	! quick || tools=(uc)
	for tool in "${tools[@]}"; do pingpong_by ibv_${tool}_pingpong -n 20 -s 1024; done
}

listening() { [[ $(root at b rdma resource show cm_id) == *"state LISTEN "*"comm $1 "* ]]; }
# rdma_cm NAME OPTION...: a client of the program at a and a server at b
rdma_cm() {
	local program=$1 server
	shift
	run_at b "$program" "${server_options[@]}" "$@" >/tmp/said.b 2>&1 </dev/null &
	server=$!
	within 20 listening "$program"
	nap 0.1
	at a "$program" "${client_options[@]}" "$@" || fail "$(</tmp/said.b)"
	wait $server || fail "$(</tmp/said.b)"
}
managers() {
	server_options=(-s -a "$ADDR_B") client_options=(-c -a "$ADDR_B")
	rdma_cm rping -C 5 -V
	server_options=() client_options=(-s "$ADDR_B")
	rdma_cm udaddy
}

know_gids
pair_cases unprivileged_verbs
as=("${nobody[@]}")
try "the commands run as nobody, without capabilities" who
pair_cases unprivileged_verbs
try "an unprivileged user cannot change links or devices" links
try "an unprivileged user cannot open umad or write to sysfs" files
try "an unprivileged user does not see the memory keys of others" keys
pair_cases rc_data brief
quick || pair_cases uc_data ways
pair_cases ud_data brief
pair_cases srq_data data
pair_cases xrc_data atomics
pair_cases rc_event
pair_cases mcast data
try "an unprivileged user runs ibv_*_pingpong" pingpongs
try "an unprivileged user runs rping and udaddy" managers
as=()
try "data transfer works afterwards" traffic
finish
