#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ucx_mpi: libraries on top of verbs: UCX, libfabric, Open MPI. Each uses rover's device only, and
# its results are checked.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

limit=120

# UCX ************************************************************************************************************************

# Do not load UCX modules for other hardware. The strong fence needs a vendor driver; with others UCX complains and goes on.
export UCX_MODULES=ib UCX_VFS_ENABLE=n UCX_FENCE_MODE=weak

# ucx TRANSPORTS LIST: one pair of processes runs all of a list of tests, "NAME OPTIONS..." each.
ucx() {
	local transports=$1 list=$2 name command="ucx_perftest -P 0 -v -b"
	next_port
	at b bash -c 'cat >/tmp/ucx.b' <<<"${list//DEVICE/$DEV_B:1}"
	at a bash -c 'cat >/tmp/ucx.a' <<<"${list//DEVICE/$DEV_A:1}"
	both "env UCX_NET_DEVICES=$DEV_B:1 UCX_TLS=$transports $command /tmp/ucx.b -p $port" \
		"env UCX_NET_DEVICES=$DEV_A:1 UCX_TLS=$transports $command /tmp/ucx.a -p $port $ADDR_B"
	! grep -E 'ERROR|WARN' $said_a $said_b
	# The last averages leave out what was reported each second, and may be empty.
	while read -r name _; do
		grep -qE "^\s*$name, *$n(, *([0-9.]+|-?nan|inf))+$" $said_a || fail "$name has no result"
	done <<<"$list"
}

# The transports themselves, in each way they have of sending.
uct_tests() {
	local transport=$1 n=$2 how
	how="-x $transport -d DEVICE -n $n -w 2"
	once || echo "${transport}_am_short -t am_lat -s 8 -D short $how"
	once || echo "${transport}_am_bcopy -t am_bw -s 2000 -D bcopy $how"
	echo "${transport}_am_zcopy -t am_bw -s 3000 -D zcopy $how"
	[[ $transport == rc_verbs ]] || return 0
	once || echo "${transport}_put_short -t put_lat -s 8 -D short $how"
	echo "${transport}_put_zcopy -t put_bw -s 262144 -D zcopy $how"
	echo "${transport}_get_zcopy -t get_bw -s 262144 -D zcopy $how"
	echo "${transport}_fetch_add -t fadd -s 8 $how"
	quick || echo "${transport}_put_bcopy -t put_bw -s 4000 -D bcopy $how"
	quick || echo "${transport}_get_bcopy -t get -s 4000 -D bcopy $how"
	quick || echo "${transport}_compare_swap -t cswap -s 8 $how"
}

# The protocols above them: tags, active messages, memory of the other end, streams.
ucp_tests() {
	local n=$1
	echo "tag_rendezvous -t tag_bw -s 1048576 -n $n -w 1"
	echo "am_bulk -t ucp_am_bw -s 100000 -n $n -w 1"
	echo "put -t ucp_put_bw -s 65536 -n $n -w 1"
	echo "get -t ucp_get -s 65536 -n $n -w 1"
	! quick || return 0
	echo "tag_short -t tag_lat -s 8 -n $n -w 1"
	echo "tag_unexpected -t tag_bw -s 4096 -U -n $n -w 1"
	echo "tag_pieces -t tag_bw -s 100,8000,3,20000 -D iov -n $n -w 1"
	echo "am_short -t ucp_am_lat -s 8 -n $n -w 1"
	echo "fetch_add -t ucp_fadd -s 8 -n $n -w 1"
	echo "compare_swap -t ucp_cswap -s 8 -n $n -w 1"
	echo "stream -t stream_bw -s 30000 -n $n -w 1"
}

# libfabric ******************************************************************************************************************

# fabric PROVIDER ENDPOINT OPTION...: the default sizes, 64 bytes to 1 MiB, with checked data
fabric() {
	local provider=$1 endpoint=$2
	shift 2
	next_port
	both "fi_pingpong -p $provider -d $DEV_B -e $endpoint -c -B $port $*" \
		"fi_pingpong -p $provider -d $DEV_A -e $endpoint -c -P $port $* $ADDR_B"
	(($(grep -cE '^(64|256|1k|4k|64k|1m) ' $said_a) == 6)) || fail "it prints no figures"
}

# Open MPI *******************************************************************************************************************

# The names a and b as hosts, and an agent for mpirun in place of ssh. In topology single both ends
# would have the host name of the machine.
# shellcheck disable=SC2016 # the shell over there expands
prepare_mpi() {
	local end
	[[ -x $(program mpi_collectives) ]] || skip "there is no Open MPI to build the program with"
	for end in $(module_ends); do
		at "$end" bash -c 'grep -qw "$1 a" /etc/hosts || printf "%s a\n%s b\n" "$1" "$2" >>/etc/hosts
			printf "%s\n" "#!/bin/sh" "shift" "export UCX_NET_DEVICES=\$DEV_B:1" \
				"exec on b unshare --uts sh -c \"hostname b; \$*\"" >/tmp/agent
			chmod +x /tmp/agent' hosts "$ADDR_A" "$ADDR_B"
	done
}

# mpi RANKS ELEMENTS...: so many ranks at each end
mpi() {
	local each=$1 right
	shift
	prepare_mpi
	at a env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 UCX_TLS=rc_v,self UCX_NET_DEVICES="$DEV_A:1" \
		mpirun --prtemca plm_ssh_agent /tmp/agent --host "a:$each,b:$each" --bind-to none --mca pml ucx --mca osc ucx \
		--mca mpi_yield_when_idle 1 -x UCX_TLS -x UCX_MODULES -x UCX_VFS_ENABLE -x UCX_FENCE_MODE \
		"$(program mpi_collectives)" "$@" >/tmp/said.mpi 2>&1 || fail "$(tr -d '\0' </tmp/said.mpi)"
	cat /tmp/said.mpi
	right=$(grep -c "^right: .* $((2 * each)) ranks" /tmp/said.mpi)
	((right == 10 * $#)) || fail "$right are right, not $((10 * $#))"
}

know_gids
n=200
! quick || n=5
try "UCX over RC, and the UCX transports" ucx rc_v "$(uct_tests rc_verbs $n && uct_tests ud_verbs $n && ucp_tests $n)"
quick || try "UCX over UD" ucx ud_v "$(ucp_tests $n)"
quick || try "libfabric: message endpoints (verbs)" fabric verbs msg -I $n
# Without shared receives libfabric 2.1 posts one to an endpoint that it has closed, and crashes now and then, on rdma_rxe as well
# (ofiwg/libfabric 697688386).
FI_OFI_RXM_USE_SRX=1 try "libfabric: reliable datagram endpoints (verbs;ofi_rxm)" fabric "verbs;ofi_rxm" rdm -I $n
try "Open MPI: collectives, one rank at each end" mpi 1 100 20000
quick || try "Open MPI: collectives, three ranks at each end" mpi 3 1 5000 30000
try "no RDMA resources are left" let_go 10
finish
