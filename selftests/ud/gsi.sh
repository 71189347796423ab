#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gsi: the performance management agent behind queue pair 1 reports the port counters. The test
# rdma_cm covers the connection manager, which uses queue pair 1 too.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

limit=60

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

# pma END ATTRIBUTE METHOD PORT [OFFSET+SIZE...]: a asks END. Over IPv6: for a reply over IPv4 the core does not find the GID.
pma() { at a python3 -c "$ask" "$DEV_A" "$(gid_index a "$ADDR6_A")" "$(gid_text "$(addr6_of "$1")")" "${@:2}"; }

# The packet counter of the agent is that of the port.
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

# Status 8: unknown method; 12: unknown attribute; 28: invalid field.
refuses() {
	local said
	said=$(pma b 0x12 2 1)/$(pma b 0x99 1 1)/$(pma b 0x12 1 2)
	[[ $said == 8/12/28 ]] || fail "the answers are $said, not 8/12/28"
}

# sysfs shows the same numbers, in the initial namespace only.
in_sys() {
	local dir=/sys/class/infiniband/$DEV_A/ports/1 before said after
	before=$(counter a tx_packets)
	said=$(<"$dir/counters/port_xmit_packets")
	after=$(counter a tx_packets)
	((said && said >= before && said <= after)) || fail "port_xmit_packets: $said, between $before and $after"
}

# rdma statistic gives queue pairs counters of their own; the port still counts all packets, also of queue pairs that are gone.
of_bound() {
	local sent=/sys/class/infiniband/$DEV_A/ports/1/counters/port_xmit_packets before
	at a rdma statistic qp set link "$DEV_A/1" auto type on
	before=$(<"$sent")
	perftest write_bw -n 100 -s 65536
	at a rdma statistic qp set link "$DEV_A/1" auto off
	before=$(($(<"$sent") - before))
	((before >= 1600)) || fail "port_xmit_packets counts $before of at least 1600 packets"
}

know_gids
try "the performance management agent reports the port counters" answers
try "unknown methods, attributes and ports get an error status" refuses
try "sysfs shows the same port counters" in_sys
try "port counters include queue pairs bound to counters" of_bound
try "no RDMA resources are left" let_go 10
finish
