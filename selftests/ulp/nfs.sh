#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nfs: NFS over RDMA, the server at b, the client at a, both of the kernel. Calls and short replies
# are SENDs. Long data is registered by a work request for each call, and the server READs or WRITEs
# it.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/netem.sh
. "$here/lib/netem.sh"
# shellcheck source=selftests/lib/version.sh
. "$here/lib/version.sh"

limit=100
share=/srv/rover-nfs
mnt=/mnt/rover-nfs

# RDMA has no privileged ports: hence "insecure". Without nfsdcld, which stores clients, the server
# has a grace period of 90 seconds.
# shellcheck disable=SC2016 # the shell over there expands
serve() {
	at a modprobe -a nfsv4 rpcrdma || skip "this kernel has no client for NFS over RDMA"
	at b modprobe -a nfsd rpcrdma || skip "this kernel has no server for NFS over RDMA"
	at b bash -ec 'mkdir -p $1 /run/rpc_pipefs /var/lib/nfs/nfsdcld
		mount -t tmpfs -o size=128m,mode=1777 share $1
		mount -t rpc_pipefs pipefs /run/rpc_pipefs
		mount -t nfsd nfsd /proc/fs/nfsd
		echo "$1 *(rw,fsid=0,insecure,no_root_squash,no_subtree_check)" >/etc/exports
		exportfs -ra
		nfsdcld
		rpc.mountd -N 2 -N 3
		rpc.nfsd -N 3 --no-udp --rdma=20049 4
		cat /proc/fs/nfsd/portlist
		[[ $(</proc/fs/nfsd/v4_end_grace) == Y ]]' serve $share
	# The core sleeps for five seconds if a neighbour replies before it waits, which a local one does.
	at a ping -qc 1 "$ADDR_B"
	at a mkdir -p $mnt
}

# The transports are released asynchronously after umount and after the server has stopped, and then the module.
without_rpcrdma() { at "$1" modprobe -qr rpcrdma; }

# shellcheck disable=SC2016
withdraw() {
	at b bash -c 'rpc.nfsd 0
		killall -q rpc.mountd nfsdcld
		exportfs -ua
		umount /run/rpc_pipefs /proc/fs/nfsd
		umount $1' withdraw $share
	within 20 without_rpcrdma a
	within 20 without_rpcrdma b
}

# Since 6.15 a client outside the initial network namespace treats a lost network as permanent, unless told not to.
options=rdma,port=20049,sec=sys
[[ $SERIES == 6.1 || $SERIES == 6.12 ]] || options+=,fatal_neterrors=none

# shellcheck disable=SC2016
mount_it() {
	at a mount -t nfs4 -o $options "$ADDR_B:/" $mnt
	look a 'mounts=$(<"$net/../mounts") && [[ $mounts == *" $1 nfs4 "*proto=rdma* ]]' $mnt || fail "it is not mounted by RDMA"
}
umount_it() { at a umount $mnt; }

# From the first packet to the last.
mounted_for() {
	mount_it
	"$@"
	umount_it
}

# Mount again, to drop the cache of the client.
again() {
	umount_it
	mount_it
}

# sums END FOLDER...: checksums of all files in them
# shellcheck disable=SC2016
sums() {
	local end=$1 top=$mnt
	shift
	[[ $end == a ]] || top=$share
	at "$end" bash -ec 'cd $1
		shopt -s globstar
		for folder in "${@:2}"; do
			for file in "$folder"/**; do [[ ! -f $file ]] || all+=("$file"); done
		done
		sha256sum "${all[@]}"' sums $top "$@"
}

# same FOLDER...: both ends see the same files
same() {
	local mine theirs
	again
	mine=$(sums a "$@") theirs=$(sums b "$@")
	[[ $mine && $mine == "$theirs" ]] || fail "a has"$'\n'"$mine"$'\n'"and b"$'\n'"$theirs"
	at a rm -r "${@/#/$mnt/}"
}

# large SIZE BLOCK [FLAG]: write one file at each end, and read it, in such blocks
# shellcheck disable=SC2016
large() {
	local size=$1 block=$2 flag=${3:-}
	at a bash -ec 'mkdir $1/large
		dd if=/dev/urandom of=$1/large/a bs=$3 count=$(($2 / $3)) ${4:+oflag=$4} conv=fsync status=none' large $mnt "$size" "$block" "$flag"
	at b dd if=/dev/urandom of=$share/large/b bs="$block" count=$((size / block)) status=none
	[[ ! $flag ]] || at a bash -ec 'dd if=$1/large/b bs=$2 iflag=$3 status=none | cmp - $1/large/b' large $mnt "$block" "$flag"
	same large
}

# Lengths around those of pages, packets, and of inline data.
# shellcheck disable=SC2016
odd() {
	at a bash -ec 'mkdir $1/odd
		text=$(head -c 200000 /dev/urandom | base64 -w 0)
		for size in 1 3 511 1000 3900 4000 4095 4096 4097 8191 65535 65537 262145; do
			printf "${text:0:size}" >$1/odd/$size
			printf "$size and this" >>$1/odd/$size
		done' odd $mnt
	same odd
}

# What a build does: unpack, compile side by side, make archives, link, run, install, clean up.
# shellcheck disable=SC2016
build() {
	local units=$1 many=${2:-2}
	at a bash -ec 'rm -rf $1/build
		mkdir -p /tmp/source $1/build
		cd /tmp/source
		for ((i = 0; i < $2; i++)); do
			mkdir -p part$((i % 7))
			{
				echo "#include \"../all.h\""
				for ((k = 0; k < 40; k++)); do echo "static const int table_${i}_$k[] = { $i, $k, $i * $k, $i + $k };"; done
				echo "int part_$i(int x) { return x + table_${i}_$((i % 40))[0]; }"
			} >part$((i % 7))/file$i.c
		done
		{ for ((i = 0; i < $2; i++)); do echo "int part_$i(int x);"; done } >all.h
		{
			echo "#include <stdio.h>"
			echo "#include \"all.h\""
			echo "int main(void) { int x = 0;"
			for ((i = 0; i < $2; i++)); do echo "x = part_$i(x);"; done
			echo "printf(\"%d\\n\", x); return 0; }"
		} >main.c
		printf "%s\n" "SOURCES := \$(wildcard part*/*.c)" "all: main" \
			"%.o: %.c all.h; gcc -O1 -c -o \$@.new \$< && mv \$@.new \$@" \
			"parts.a: \$(SOURCES:.c=.o); ar rc \$@ \$^" \
			"main: main.c parts.a; gcc -o \$@ \$^" \
			"install: main; install -D main bin/main; ln -s bin/main run; ln main main.too" >Makefile
		tar cf - . | tar xf - -C $1/build
		cd $1/build
		make -s -j$3 all
		make -s install
		sum=$(($2 * ($2 - 1) / 2))
		[[ $(./run) == $sum && $(./main.too) == $sum ]]
		find . -name "*.c" -newer main | grep . && exit 1
		rm -r /tmp/source' build $mnt "$units" "$many"
	same build
}

# A listing that is too long for a SEND, and is written to registered memory.
# shellcheck disable=SC2016
listing() {
	local number
	at b bash -ec 'mkdir $1/many; cd $1/many; for ((i = 0; i < $2; i++)); do : >a-rather-long-name-of-a-file-number-$i; done' many $share "$1"
	again
	number=$(at a bash -ec 'cd $1/many
		for name in *; do [[ $name == a-rather-long-name-of-a-file-number-* && $name != "$last" ]]; last=$name n=$((n + 1)); done
		echo $n' many $mnt)
	((number == $1)) || fail "$number names, not $1"
	at a rm -r $mnt/many
}

again_and_again() {
	local n
	for ((n = 0; n < $1; n++)); do
		again
		at a bash -c 'echo $1 >$2/turn; [[ $(<$2/turn) == $1 ]]' turn $n $mnt
	done
}

# The client's device is deleted under a mount. Writes wait, and complete when the device is added again.
pulled() {
	local writer
	at a mkdir $mnt/pulled
	run_at a dd if=/dev/urandom of=$mnt/pulled/file bs=64k count=64 conv=fsync status=none &
	writer=$!
	at a rdma link delete "$DEV_A"
	sleep 1
	link_add a
	wait $writer
	same pulled
}

# A loss at the end of a call is detected by the long timeout of rdma_cm's connections. The short
# form loses packets in the middle of many calls, where the next packet tells.
size=$((8 << 20)) sources=40 turns=10 loss=0.1%
if quick; then size=$((1 << 20)) sources=2 turns=1 loss=2%; fi
know_gids
try "an NFS server with RDMA is started" serve
if ((ktap_failed + ktap_skipped == 0)); then
	once || try "large files over RoCE v1" managed mounted_for large $((256 << 10)) 65536
	try "a share is mounted with proto=rdma" mount_it
	quick || try "large files are written and read" large $size 1048576
	try "large files are written and read with O_DIRECT" large $size 65536 direct
	if ! once; then
		try "files of odd lengths are written and read" odd
		try "a long directory is listed" listing $((turns * 200))
		try "a program is built on the share" build $sources
		try "the share is mounted and unmounted repeatedly" again_and_again $turns
	fi
	try "large files are written and read with $loss loss" lossy $loss large $size 65536
	quick || try "a program is built on the share with $loss loss" lossy $loss build $sources
	once || try "the client's device is deleted under a mount" pulled
	try "the share is unmounted" umount_it
	try "client and server release rpcrdma" withdraw
	try "no RDMA resources are left" let_go 10
fi
finish
