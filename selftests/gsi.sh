#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gsi: queue pair 1. The connection manager meets its peer through it, and the agent behind it tells the port's counters to whoever
# asks.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"

limit=60

# meet SERVER CLIENT: as `both`, of programs that listen by rdma_cm
meet() {
	local server status=0
	said_a=/tmp/said.a said_b=/tmp/said.b
	# shellcheck disable=SC2086 # words
	run_at b $1 >$said_b 2>&1 </dev/null &
	server=$!
	within 20 listening "${1%% *}"
	# shellcheck disable=SC2086 # words
	at a $2 >$said_a 2>&1 </dev/null || status=$?
	((!status)) || kill $server 2>/dev/null || true
	wait $server || status=$((status ? status : $?))
	echo "a: $2" && show $said_a
	echo "b: $1" && show $said_b
	return $status
}
listening() { [[ $(at b rdma resource show cm_id) =~ "state LISTEN "[^$'\n']*"comm $1 " ]]; }

# ping ADDRESS COUNT SIZE: rping with checked data
ping() {
	next_port
	meet "rping -s -V -C $2 -S $3 -p $port -a $1" "rping -c -V -C $2 -S $3 -p $port -a $1"
	! grep -E 'error|mismatch' $said_a $said_b
}

# Programs of librdmacm that transfer something and say whether it worked. They have a port each.
example() {
	local program=$1 address=$2
	shift 2
	meet "$program -b $address $*" "$program -s $address $*"
	grep -q 'return status 0' $said_a && grep -q 'return status 0' $said_b
}

managed_perftest() {
	local tool=ib_$1
	shift
	next_port
	meet "$tool -F -R -p $port -d $DEV_B $*" "$tool -F -R -p $port -d $DEV_A $* $ADDR_B"
	grep -qE '^ *[0-9]+ +[0-9]+ +[0-9]' $said_a || fail "$tool prints no figures"
}

# A request to the performance management agent behind a GID: device, index of the own GID, GID, attribute, method, port; then
# offset and size of the fields of the answer to be printed, after its status.
ask='
import fcntl, glob, os, struct, sys
dev, index, gid, attr, method, port = sys.argv[1:7]
for path in glob.glob("/sys/class/infiniband_mad/umad*"):
    if open(path + "/ibdev").read().strip() == dev:
        fd = os.open("/dev/infiniband/" + os.path.basename(path), os.O_RDWR)
fcntl.ioctl(fd, 0x1b03)
agent = bytearray(struct.pack("=5I3B3sB", 0, 0, 0, 0, 0, 1, 4, 1, bytes(3), 0) + bytes(1))
fcntl.ioctl(fd, 0xc01c1b01, agent)
to = bytes.fromhex(gid.replace(":", ""))
head = struct.pack("=5I", struct.unpack("=I", agent[:4])[0], 0, 1000, 2, 0)
head += struct.pack("!2IH6B", 1, 0x80010000, 0, 0, 0, 1, int(index), 64, 0) + to + bytes(12)
mad = struct.pack("!4BHHQHHI", 1, 4, 1, int(method), 0, 0, 7, int(attr, 0), 0, 0) + bytes(41)
mad += bytes([int(port)]) + b"\xff\xff"
os.write(fd, head + mad.ljust(256, b"\0"))
answer = os.read(fd, 320)
if struct.unpack("=I", answer[4:8])[0]:
    sys.exit("no answer")
data = answer[64:]
print(struct.unpack("!H", data[4:6])[0], *(int.from_bytes(data[64 + int(at):64 + int(at) + int(size)], "big")
    for at, size in (field.split("+") for field in sys.argv[7:])))'

# pma END ATTRIBUTE METHOD PORT [OFFSET+SIZE...]: a asks END. Over IPv6, for in an answer over IPv4 the core looks for a GID where that
# family has none, and does not find out what it answers.
pma() { at a python3 -c "$ask" "$DEV_A" "$(gid_index a "$ADDR6_A")" "$(gid_text "$(addr6_of "$1")")" "${@:2}"; }

# The agent's packet counters are those of the port, neither lower nor much higher.
answers() {
	local end before after said
	for end in a b; do
		before=$(counter $end tx_packets)
		# PortCountersExtended: packets sent.
		said=$(pma $end 0x1d 1 1 24+8)
		after=$(counter $end tx_packets)
		echo "$end: $said of $before to $after"
		[[ $said == '0 '* ]] && ((${said#* } >= before && ${said#* } <= after)) || fail "this is not what the port has sent"
	done
	# PortCounters with its port, ClassPortInfo with its versions.
	[[ $(pma b 0x12 1 1 1+1) == '0 1' && $(pma b 1 1 0 0+2) == '0 257' ]] || fail "PortCounters or ClassPortInfo"
}

# Status 8: no such method; 12: no such attribute with it; 28: a value that is none.
refuses() {
	local said
	said=$(pma b 0x12 2 1)/$(pma b 0x99 1 1)/$(pma b 0x12 1 2)
	[[ $said == 8/12/28 ]] || fail "the answers are $said, not 8/12/28"
}

# The same numbers for those who look into /sys, which only the initial namespace shows.
in_sys() {
	local dir=/sys/class/infiniband/$DEV_A/ports/1 before said after
	before=$(counter a tx_packets)
	said=$(<"$dir/counters/port_xmit_packets")
	after=$(counter a tx_packets)
	((said && said >= before && said <= after)) || fail "port_xmit_packets: $said, between $before and $after"
}

know_gids
n=30
! quick || n=8
try "rping" ping "$ADDR_B" $n 4000
try "rping over IPv6" ping "$ADDR6_B" $n 60000
try "ucmatose: eight connections" example ucmatose "$ADDR_B" -c 8 -C 10 -S 500
try "ucmatose over IPv6" example ucmatose "$ADDR6_B" -c 2 -C 10 -S 500
try "udaddy: datagrams by rdma_cm" example udaddy "$ADDR_B" -c 4 -C 10 -S 500
try "udaddy over IPv6" example udaddy "$ADDR6_B" -C 10 -S 500
try "ib_write_bw by rdma_cm" managed_perftest write_bw -n 100 -s 65536
try "ib_send_lat of datagrams by rdma_cm" managed_perftest send_lat -c UD -n 100 -s 512
try "the agent tells the port's counters" answers
try "what the agent does not have it says so" refuses
try "the same counters in /sys" in_sys
try "all is given back" let_go 10
finish
