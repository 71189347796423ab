#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gsi: queue pair 1. The agent behind it tells the port's counters to whoever asks. That the connection manager meets its peer through
# it is for cm.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/lib/net.sh"

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
try "the agent tells the port's counters" answers
try "what the agent does not have it says so" refuses
try "the same counters in /sys" in_sys
try "all is given back" let_go 10
finish
