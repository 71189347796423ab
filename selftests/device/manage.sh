#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# manage: what an administrator does to devices: rdma cgroup limits, new names, network namespaces,
# rdma monitor.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

limit=60
group=/sys/fs/cgroup/rover_manage

# in_group CMD...: at a, with the group's limits
# shellcheck disable=SC2016 # the shell over there expands this
enter='echo $$ >"$0/cgroup.procs" && exec "$@"'
in_group() { at a bash -c "$enter" $group "$@"; }
used() { at a cat $group/rdma.current; }

make_group() {
	at a bash -c "echo +rdma >/sys/fs/cgroup/cgroup.subtree_control && mkdir $group"
	at_end at a rmdir $group
}

# Objects up to the limit are allowed, more are refused, and freed objects can be allocated again.
limits() {
	local said
	make_group
	# One handle for the device; objects: domain, completion queue, and what follows.
	at a bash -c "echo $DEV_A hca_handle=1 hca_object=7 >$group/rdma.max"
	[[ $(at a cat $group/rdma.max) == *"$DEV_A hca_handle=1 hca_object=7"* ]] || fail "rdma.max says $(at a cat $group/rdma.max)"
	in_group "$(program hold_objects)" "$DEV_A" --qps 3 --mrs 2 --once || fail "what is allowed is refused"
	said=$(in_group "$(program hold_objects)" "$DEV_A" --qps 3 --mrs 3 --once) && fail "an eighth object is made"
	[[ $said == *"reg_mr: "* ]] || fail "it fails elsewhere: $said"
	said=$(in_group "$(program hold_objects)" "$DEV_A" --qps 6 --once) && fail "an eighth object, a queue pair, is made"
	[[ $said == *"create_qp: "* ]] || fail "it fails elsewhere: $said"
	[[ $(used) == *"$DEV_A hca_handle=0 hca_object=0"* ]] || fail "all has ended, but rdma.current says $(used)"
	# While one program has the only handle others get none.
	run_at a bash -c "$enter" $group "$(program hold_objects)" "$DEV_A" --qps 1 < <(exec sleep 100) >/tmp/said.a 2>&1 &
	within 20 grep -q '^ready' /tmp/said.a
	[[ $(used) == *"$DEV_A hca_handle=1 hca_object=3"* ]] || fail "rdma.current says $(used)"
	! in_group "$(program hold_objects)" "$DEV_A" --once || fail "a second handle is given"
	"$(program hold_objects)" "$DEV_A" --once || fail "outside of the group there is no limit"
	kill $!
	wait $! || true
	within 10 eval '[[ $(used) == *"$DEV_A hca_handle=0 hca_object=0"* ]]'
	in_group "$(program hold_objects)" "$DEV_A" --once
}

# The errors of the provider that nobody has to mend are for those who ask for them.
printed() {
	local said log=/tmp/verbs.log
	make_group
	at a bash -c "echo $DEV_A hca_handle=0 >$group/rdma.max"
	said=$(in_group "$(program hold_objects)" "$DEV_A" --once 2>&1 >/dev/null) && fail "the device is opened"
	[[ ! $said ]] || fail "it prints: $said"
	in_group env VERBS_LOG_LEVEL=1 VERBS_LOG_FILE=$log "$(program hold_objects)" "$DEV_A" --once && fail "the device is opened"
	said=$(at a cat $log)
	[[ $said == *"librover: $DEV_A: opening the device: "* ]] || fail "it logs: $said"
}

# rename FROM TO, at a
rename() { at a rdma dev set "$1" name "$2"; }

renamed() {
	local old=$DEV_A
	hold_objects a --qps 2 --gid "$(gid_index a "$ADDR_A")"
	! single || refused "exist" rename "$old" "$DEV_B"
	rename "$old" renamed
	at_end rename renamed "$old"
	gone a "$old" || fail "the old name is still there"
	DEV_A=renamed
	exists a || fail "the new name is not there"
	[[ $(at a rdma link show renamed/1) == *"state ACTIVE"*"netdev $NDEV_A"* ]] || fail "$(at a rdma link show)"
	# The program keeps the device, and others find it by the new name.
	release
	traffic
	counter a tx_packets >/dev/null
	((counted > 0)) || fail "no counters under the new name"
	rename renamed "$old"
	DEV_A=$old
	traffic
}

# told EVENT [NAME]: this is the next event of the monitor
is_told() { [[ $(sed -n "${nth}p" $seen) == *"[$1]"*"${2:-}"* ]]; }
told() {
	nth=$((nth + 1))
	(within 10 is_told "$@") || fail "no $* in $(<$seen)"
}
told_name() { [[ $SERIES == 6.12 ]] || told "$@"; }

# The kernel reports events in the namespace of the device, which is the initial one in shared mode,
# with netdevs of that namespace only. So this runs there. Renames are reported since 6.14.
watched() {
	local watch nth=0
	seen=/tmp/monitor
	[[ $(rdma system show) == *"monitor on"* ]] || skip "this kernel has no rdma monitor"
	stdbuf -oL rdma monitor >$seen 2>&1 &
	watch=$!
	nap 0.5
	ip link add m0 type veth peer name m1
	ip link set m0 up
	rdma link add watched type rover netdev m0
	told REGISTER watched
	told NETDEV_ATTACH m0
	rdma dev set watched name watched2
	told_name RENAME watched2
	ip link set m0 down
	ip link set m0 name m2
	told_name NETDEV_RENAME m2
	rdma link delete watched2
	told UNREGISTER
	rdma link add watched type rover netdev m2
	told REGISTER watched
	told NETDEV_ATTACH m2
	ip link delete m2
	told UNREGISTER
	kill $watch
}

shared() {
	[[ $(rdma system show) == *"netns shared"* ]] || fail "$(rdma system show)"
	# The mode cannot change while there are other namespaces: the two ends, or that of the lab.
	refused "" rdma system set netns exclusive
	ip netns add manage
	refused "" at a rdma dev set "$DEV_A" netns manage
	ip netns delete manage
	[[ $(at a rdma link show) == *"$DEV_A/1 state ACTIVE"* ]] || fail "$(at a rdma link show)"
	traffic
}

# Delete the namespaces of both ends: only then can the mode be changed. See tools/vm/session. NFS
# keeps a namespace for some time after use.
no_ends() {
	local end
	for end in a b; do
		at $end rdma link delete "$(dev_of $end)" || true
		kill -KILL "$(<"/run/lab/$end.pid")"
		rm "/run/lab/$end.pid"
		ip netns delete $end
	done
	within 20 rdma system set netns "$1"
	[[ $(rdma system show) == *"netns $1"* ]] || fail "$(rdma system show)"
}
new_ends() {
	local end
	ip netns add a
	ip netns add b
	for end in a b; do
		on --hold $end
		at $end ip link set lo up
	done
	make_netdevs
}
as_before() {
	no_ends shared
	new_ends
	mend a b
}

# In exclusive mode a device is visible in its own namespace only. Before 7.1 it is created in the
# initial one, and has to be moved.
sees() { [[ $(at "$1" rdma link show) == *"$2/1 "* ]]; }
to_netns() {
	local end=$1 dev
	dev=$(dev_of "$end")
	link_add "$end"
	sees "$end" "$dev" || rdma dev set "$dev" netns "$end"
	arrives "$end"
}
# arrives END: the device is visible at END, and has its GID
arrives() {
	within 10 sees "$1" "$(dev_of "$1")"
	within 10 eval 'gid_index '"$1 $(addr_of "$1")"' >/dev/null 2>&1'
}

exclusive() {
	local end
	single || skip "the lab's own namespace is in the way"
	at_end as_before
	no_ends exclusive
	new_ends
	for end in a b; do to_netns $end; done
	for end in a b; do
		! sees "$(other $end)" "$(dev_of $end)" || fail "$(dev_of $end) is seen at $(other $end)"
		[[ $(rdma link show) != *"$(dev_of $end)"* ]] || fail "$(dev_of $end) is seen in the first namespace"
		! "$(program hold_objects)" "$(dev_of $end)" --once || fail "$(dev_of $end) can be opened in the first namespace"
	done
	traffic
	# rdma_cm looks for devices in its own namespace.
	run_at b rping -s -C 5 -a "$ADDR_B" >/tmp/said.b 2>&1 </dev/null &
	within 20 on_cm rping
	at a rping -c -C 5 -a "$ADDR_B"
	wait $!
	moved
}

# A device is moved while a program uses it: the program gets an event. Its netdev stays.
moved() {
	hold_objects a --qps 3 --mrs 3 --gid "$(gid_index a "$ADDR_A")"
	ip netns add manage
	promptly at a rdma dev set "$DEV_A" netns manage
	ends_within 10 "$holder"
	grep -q '^fatal' "$held" && ((status == 3)) || fail "status $status: $(<"$held")"
	! sees a "$DEV_A" || fail "it is still seen"
	[[ $(ip netns exec manage rdma link show) == *"$DEV_A/1 "* ]] || fail "it is not seen where it went"
	# Move it back by a command, then by deleting the namespace.
	ip netns exec manage rdma dev set "$DEV_A" netns a
	arrives a
	quick || traffic
	at a rdma dev set "$DEV_A" netns manage
	ip netns delete manage
	within 10 eval '[[ $(rdma link show) == *"$DEV_A/1 "* ]]'
	rdma dev set "$DEV_A" netns a
	arrives a
	traffic
}

try "rdma cgroup limits are enforced, and freed objects are uncharged" limits
try "a device that a limit refuses is an error on request only" printed
try "rdma dev set name renames a device in use" renamed
try "rdma monitor reports devices and netdevs" watched
try "in shared netns mode a device cannot be moved" shared
try "in exclusive netns mode devices are moved between namespaces" exclusive
try "data transfer works afterwards" traffic
finish
