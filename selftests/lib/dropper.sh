# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# dropper.sh: drop, duplicate, hold, delay or mark chosen packets, by the module rover_dropper (selftests/kmod/dropper.c
# describes rules and records). For tests that have sourced lib/net.sh.

dropper_at=/sys/kernel/debug/rover_dropper

# single_packets on|off: both ends send and receive single packets, or trains again
single_packets() {
	local end ndev trains=on gro=off
	[[ $1 != on ]] || trains=off
	for end in a b; do
		ndev=$(ndev_of $end)
		if [[ $1 == on ]]; then
			dropper_gro[$end]=$(at $end ethtool -k "$ndev" | sed -n 's/^generic-receive-offload: \([a-z]*\).*/\1/p')
		else
			gro=${dropper_gro[$end]:-off}
		fi
		at $end ethtool -K "$ndev" gro "$gro" || return
		at $end ethtool -K "$ndev" tx-gso-list $trains tx-udp-segmentation $trains 2>/dev/null ||
			at $end ethtool -K "$ndev" tx-udp-segmentation $trains || return
	done
}
declare -A dropper_gro

# dropper_load: load the module, and send single packets; fails if the module is not built for this kernel
dropper_load() {
	local end kmod
	kmod=$(module_file rover_dropper) || return
	for end in $(module_ends); do
		at "$end" bash -c "[[ -d /sys/module/rover_dropper ]] || insmod '$kmod'" || return
	done
	single_packets on
}

dropper_unload() {
	local end
	single_packets off
	for end in $(module_ends); do at "$end" rmmod rover_dropper; done
}

# shellcheck disable=SC2016 # in what follows the shell over there expands

# dropper END ACTION PACKET NTH PASS [ARG [QPN]]: add a rule for packets that END receives
dropper() { look "$1" 'echo "$2" >"$root$1/rules"' $dropper_at "$2 $(ndev_of "$1") ${*:3}"; }

# dropper_clear: remove rules and records at both ends
dropper_clear() {
	local end
	for end in $(module_ends); do look "$end" 'echo clear >"$root$1/rules"' $dropper_at; done
}

# dropper_rules END, dropper_records END: print the module's rules with their counts, and its records
dropper_rules() { look "$1" 'cat "$root$1/rules"' $dropper_at; }
dropper_records() { look "$1" 'cat "$root$1/log"' $dropper_at; }

# dropper_done END: packets that END's rules were applied to
dropper_done() { dropper_rules "$1" | awk -v ndev="$(ndev_of "$1")" '$2 == ndev { done += $NF } END { print done + 0 }'; }

# dropper_seen END PACKET [PASS]: packets of this name recorded at END, of any pass or of PASS and later ones
dropper_seen() {
	dropper_records "$1" | awk -v ndev="$(ndev_of "$1")" -v packet="$2" -v pass="${3:-0}" \
		'$2 == ndev && $5 == packet && $6 >= pass { n++ } END { print n + 0 }'
}
