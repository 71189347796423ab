#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# odp: memory on demand. Data arrives while pages are swapped out, shared and written back. Access
# to missing memory ends in the right error. Prefetched pages do not fault.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

limit=120

# look_at: remember the page counters of both ends; since END NAME: the difference
declare -A had
look_at() {
	local end name
	for end in a b; do
		for name in page_faults page_prefetch page_invalidations; do had[$end.$name]=$(counter $end $name); done
	done
}
since() { echo $(($(counter "$1" "$2") - had[$1.$2])); }

# A megabyte at each end, three quarters of which are used. Without prefetch pages fault. A packet
# without a page is counted, and the peer retries after an RNR NAK, which does not count as a loss.
untold() {
	local end faults prefetched drops naks lost
	look_at
	drops=$(counter b rx_drop_page_fault) naks=$(counter b rnr_nak_sent) lost=$(($(counter a packet_seq_err) + $(counter b packet_seq_err)))
	pair_quietly odp_prefetch "$1"
	for end in a b; do
		faults=$(since $end page_faults) prefetched=$(since $end page_prefetch)
		((faults >= 128 && !prefetched)) || fail "$end: $faults faults, $prefetched prefetched"
		(($(since $end page_invalidations) >= 128)) || fail "$end: nothing was taken away in the end"
	done
	(($(counter b rx_drop_page_fault) > drops)) || fail "no drop was counted"
	(($(counter b rnr_nak_sent) > naks)) || fail "nobody was told to send again"
	lost=$(($(counter a packet_seq_err) + $(counter b packet_seq_err) - lost))
	((!lost)) || fail "$lost page faults were taken for losses"
}
told() {
	local end faults prefetched
	look_at
	pair_quietly odp_prefetch "$1"
	for end in a b; do
		faults=$(since $end page_faults) prefetched=$(since $end page_prefetch)
		((!faults && prefetched == 256)) || fail "$end: $faults faults, $prefetched prefetched"
	done
}

# rdma statistic shows the page faults of a region.
shown() {
	local server client text
	next_port
	run_at b ib_write_bw -F --odp -p "$port" -d "$DEV_B" -D 30 >/tmp/said.b 2>&1 </dev/null &
	server=$!
	await_server b "$port" $server
	run_at a ib_write_bw -F --odp -p "$port" -d "$DEV_A" -D 30 "$ADDR_B" >/tmp/said.a 2>&1 </dev/null &
	client=$!
	within 20 has_faulted
	kill $client $server
	let_go 20
}
has_faulted() {
	local text
	text=$(at b rdma statistic show mr)
	echo "$text"
	[[ $text =~ page_faults\ [1-9][0-9]*[[:space:]]+page_invalidations\ [0-9]+[[:space:]]+page_prefetch\ 0 ]]
}

# begin END: an endless transfer, with its process id in a file at END
begin() {
	at "$1" rm -f "/tmp/victim.$1"
	# shellcheck disable=SC2016 # the shell over there expands this
	MEMORY=churn run_at "$1" bash -c 'echo $$ >/tmp/victim.$1; exec "$0" "$1" "$2" endless' "$(program odp_destroy)" "$1" "$port" \
		>"/tmp/said.$1" 2>&1 </dev/null &
}

# Programs are killed during page faults.
killed() {
	local victim server client
	for victim in "$@"; do
		next_port
		look_at
		begin b
		server=$!
		begin a
		client=$!
		within 20 busy
		nap 0.$((SRANDOM % 900 + 100))
		# shellcheck disable=SC2016 # as above
		at "$victim" bash -c 'kill -KILL $(</tmp/victim.$0)' "$victim"
		# The other program ends by an error of its queue pair or of its control connection.
		ends_within 30 $client
		ends_within 30 $server
		let_go 10
	done
	traffic
}
busy() { (($(since a page_faults) > 1000 && $(since b page_faults) > 1000)); }

# Pages are swapped to zram and back.
paged_out() {
	local out dev
	modprobe zram 2>/dev/null || skip "this kernel has no disk in memory"
	dev=$(cat /sys/class/zram-control/hot_add 2>/dev/null) || dev=0
	echo 128M >"/sys/block/zram$dev/disksize"
	mkswap "/dev/zram$dev" >/dev/null
	swapon "/dev/zram$dev"
	at_end swapoff "/dev/zram$dev"
	out=$(awk '$1 == "pswpout" { print $2 }' /proc/vmstat)
	pair_quietly odp_data pages
	quick || MEMORY=churn pair_quietly rc_data brief
	(($(awk '$1 == "pswpout" { print $2 }' /proc/vmstat) > out)) || fail "nothing was put out"
}

# Writers to pages of a frozen file system block. Only 16 threads wait for one program; other programs get their pages. The peers of the
# 40 connections that wait are told to wait longer each time: to 31 ms.
frozen() {
	local disk=/tmp/disk dir=/tmp/frozen server client waiting naks
	modprobe -q loop ext4 2>/dev/null || true
	truncate -s 32M $disk
	mkfs.ext4 -q $disk
	mkdir -p $dir
	mount -o loop $disk $dir 2>/dev/null || skip "this kernel has no file system to freeze"
	at_end umount -l $dir
	truncate -s 160K $dir/file
	at_end thaw $dir
	fsfreeze -f $dir
	next_port
	run_at b "$(program odp_destroy)" b "$port" frozen $dir/file >/tmp/said.b 2>&1 </dev/null &
	server=$!
	run_at a "$(program odp_destroy)" a "$port" frozen $dir/file >/tmp/said.a 2>&1 </dev/null &
	client=$!
	within 20 eval '(($(waiting) >= 16))'
	MEMORY=demand pair_quietly rc_data brief
	waiting=$(waiting)
	((waiting == 16)) || fail "$waiting threads wait for one program"
	naks=$(counter b rnr_nak_sent)
	sleep 1
	naks=$(($(counter b rnr_nak_sent) - naks))
	((naks <= 40 * 100)) || fail "$naks RNR NAKs in a second"
	fsfreeze -u $dir
	wait $client
	wait $server
}
thaw() { fsfreeze -u "$1" 2>/dev/null || true; }
# The number of ODP threads with work.
waiting() { cat /proc/[0-9]*/comm 2>/dev/null | grep -c "+rover_odp" || true; }

n=200
! quick || n=30
! once || n=5
groups="brief sgl atomic mixture" victims="a b a b"
if quick; then groups=brief victims=b; fi
pair_cases odp_data
pair_cases odp_destroy
pair_cases odp_rules
pair_cases odp_prefetch wrong
try "without prefetch each page faults, and faults are counted" untold untold
try "prefetched pages do not fault" told told
if ! quick; then
	try "pages prefetched in the background do not fault" told told-late
	try "prefetch without faults finds resident pages" told present
	try "prefetch without faults leaves absent pages absent" untold absent
fi
# Other programs run with memory on demand while its pages are taken away.
export MEMORY=churn
# shellcheck disable=SC2086 # words
pair_cases rc_data $groups
if ! quick; then
	pair_cases rc_mpe
	pair_cases memory_windows uses
	pair_cases srq_data destroy
	pair_cases xrc_data mesh
fi
unset MEMORY
single && try "pages are swapped out and in" paged_out
single && try "page faults that block on a frozen file system delay no other program" frozen
# shellcheck disable=SC2086 # words
once || try "programs are killed during page faults" killed $victims
# With events: polling takes the processor from the ODP thread.
try "ibv_rc_pingpong -o" pingpong -e -o -n $n -s 8192
try "ibv_rc_pingpong -o -O -P" pingpong -e -o -O -P -n $n -s 8192
if ! quick; then
	try "ibv_rc_pingpong -o -P" pingpong -e -o -P -n $n -s 30000
	try "ib_write_bw --odp" perftest write_bw --odp -n $n -s 65536
	try "ib_read_bw --odp" perftest read_bw --odp -n $n -s 65536 -q 4
	try "ib_send_bw --odp -b" perftest send_bw --odp -n $n -s 65536 -b
	try "ib_atomic_bw --odp" perftest atomic_bw --odp -n $n
	try "ib_send_lat --odp" perftest send_lat --odp -n $n -s 4096
	single && try "rdma statistic show mr" shown
fi
try "no RDMA resources are left" let_go 10
finish
