# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# topology.sh: the two ends of a network, on a machine that is no guest of the lab. lib/net.sh sources this if DEV_A is not set. The ends
# are the network namespaces a and b, joined by a veth pair, with a rover device each: what tools/vm/session makes in a guest.
# The end of the test removes them, and the module if the test has loaded it.

own_topology=yes

# leave WORDS: skip the whole test
leave() {
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	exit 4
}

topology_down() {
	local end
	for end in a b; do
		[[ -e /run/lab/$end.pid ]] || continue
		on "$end" rdma link delete "rover_$end" 2>/dev/null
		kill -KILL "$(<"/run/lab/$end.pid")"
		rm -f "/run/lab/$end.pid"
	done
	for end in a b; do ip netns delete $end 2>/dev/null; done
	rm -f /run/lab/selftest
	[[ ! ${rover_loaded:-} ]] || modprobe -r rover
}

topology_up() {
	local end
	mkdir -p /run/lab
	touch /run/lab/selftest
	for end in a b; do
		ip netns add $end || return
		ip netns exec $end sysctl -qw net.ipv6.conf.{all,default}.accept_dad=0 net.ipv6.conf.{all,default}.dad_transmits=0
	done
	for end in a b; do
		on --hold $end && at $end ip link set lo up || return
	done
	(make_netdevs) || return
	for end in a b; do link_add $end || return; done
	for end in a b; do (within 10 gid_index $end "$(addr6_of $end)") >/dev/null 2>&1 || return; done
}

# The program `on` enters the namespaces of an end. It is built, and installed, beside the test programs.
for PATH in "${OUT:-$here/../build/selftests}/lib:$PATH" "$here/lib:$PATH"; do
	! command -v on >/dev/null || break
done
command -v on >/dev/null || leave "the program \"on\" is not built: make -C selftests"
((!EUID)) || leave "this needs root"
# Remove the ends of a test that was killed.
[[ ! -e /run/lab/selftest ]] || topology_down
[[ ! -e /run/netns/a && ! -e /run/netns/b ]] || leave "there are network namespaces a and b already"
if [[ ! -d /sys/module/rover ]]; then
	modprobe rover 2>/dev/null || leave "rover is not loaded, and cannot be"
	rover_loaded=yes
fi
# Modules of verbs, rdma_cm and veth, which are not all loaded automatically.
modprobe -qa ib_uverbs rdma_ucm ib_umad veth || true

export NDEV_A=eth_a NDEV_B=eth_b DEV_A=rover_a DEV_B=rover_b TOPOLOGY=single
export ADDR_A=10.77.0.1 ADDR_B=10.77.0.2 ADDR6_A=fd77::1 ADDR6_B=fd77::2
# The series of the kernel, as the lab names it.
KERNEL=${KERNEL:-$(uname -r | grep -oE '^[0-9]+\.[0-9]+')}
export KERNEL PATH
