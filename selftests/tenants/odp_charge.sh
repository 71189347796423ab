#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# odp_charge: what the kernel's threads page in for an ODP region is charged to the memory cgroup
# of the program that has it.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

megabytes=1024
! quick || megabytes=256
disk=/tmp/disk.$$ dir=/tmp/sparse.$$ groups=/sys/fs/cgroup tenant=/sys/fs/cgroup/rover.$$

cached() { awk '/^Cached:/ { print $2 }' /proc/meminfo; }

# A file of holes, of which only the page cache is in memory.
sparse() {
	modprobe -q loop ext4 2>/dev/null || true
	truncate -s 64M $disk
	at_end rm -rf $disk $dir
	mkfs.ext4 -q $disk
	mkdir -p $dir
	mount -o loop $disk $dir 2>/dev/null || skip "this kernel has no file system of the test"
	at_end umount -l $dir
	truncate -s ${megabytes}M $dir/file
	echo 3 >/proc/sys/vm/drop_caches
}

charged() {
	local before max
	mountpoint -q $groups || mount -t cgroup2 none $groups || skip "no cgroup v2"
	echo +memory >$groups/cgroup.subtree_control || skip "no memory controller"
	sparse
	mkdir $tenant
	at_end rmdir $tenant
	echo 64M >$tenant/memory.max
	before=$(cached)
	# shellcheck disable=SC2016 # the shell over there expands
	at a bash -c 'echo $$ >"$1/cgroup.procs" && ulimit -l unlimited && exec "$2" a "$3"' charge \
		$tenant "$(program odp_charge)" $dir/file
	before=$(($(cached) - before))
	max=$(awk '$1 == "max" { print $2 }' $tenant/memory.events)
	echo "note: page cache of $before KiB more, the limit was met $max times"
	((before < 96 * 1024)) || fail "$before KiB of page cache beyond a limit of 64 MiB"
	((max)) || fail "the limit was never met: nothing was charged"
}

limit=100
try "pages of a prefetched ODP region are charged to its program" charged
finish
