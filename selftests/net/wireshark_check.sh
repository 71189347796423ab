#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# wireshark_check: Wireshark dissects each packet of a capture without a complaint, and scapy
# computes the same ICRC. Scapy does not know the ICRC of RoCE v1, which is computed here as the
# standard says. Runs in a guest (wireshark.sh) or in the root tree, and prints KTAP.
#
#	selftests/net/wireshark_check.sh FILE...	each with all operations, over IPv4 and IPv6, and over RoCE v1
# shellcheck source=selftests/lib/ktap.sh
. "$(dirname "$0")/../lib/ktap.sh"

# The fields that tshark prints, one packet a line.
dissected() {
	local total
	tshark -r "$capture" -T fields -E separator=, -E occurrence=a -e frame.protocols -e infiniband.bth.opcode -e ip.len -e ipv6.plen \
		-e udp.srcport -e frame.len >/tmp/wire.txt 2>/tmp/tshark || fail "$(</tmp/tshark)"
	total=$(wc -l </tmp/wire.txt)
	((total > 200)) || fail "only $total packets"
	! grep -vE 'udp:infiniband|ethertype:infiniband' /tmp/wire.txt | head -n 5 | grep . || fail "not all of it is RoCE to tshark"
	awk -F , '$NF > 4200 + 14 { exit 1 }' /tmp/wire.txt || fail "packets longer than the MTU: this has seen trains"
	echo "note: $total packets, opcodes $(cut -d , -f 2 /tmp/wire.txt | sort -n | uniq | tr '\n' ' ')"
	# All opcodes have to be there: RC without SEND with invalidate, and UD.
	for over in udp ethertype; do
		for opcode in {0..20} 100 101; do
			grep -q "^[^,]*$over:infiniband[^,]*,0*$opcode," /tmp/wire.txt || missing+=" $opcode"
		done
		[[ ! ${missing:-} ]] || fail "no packet over $over with opcode$missing"
	done
}

# RoCEv2 sends no UDP checksum, also over IPv6 (RFC 6936 allows it for tunnels), and tshark always
# complains of that. The payload is random: errors of dissectors above InfiniBand do not count.
complaints() {
	local said
	said=$(tshark -r "$capture" -Y '_ws.malformed || _ws.expert.severity >= 0x400000' -T fields -e frame.number -e infiniband.bth.opcode \
		-e frame.protocols -e _ws.expert.message 2>/dev/null |
		awk -F '\t' '$4 != "Illegal checksum value (0)" && $3 !~ /infiniband:[a-ce-z]/' | head -n 10)
	[[ ! $said ]] || fail "$said"
}

# IBTA annex A17: source ports in the dynamic range, no fragments. Annex A16: the InfiniBand header.
headers() {
	local said
	said=$(tshark -r "$capture" -Y 'udp.dstport != 4791 || udp.srcport < 49152 || ip.flags.mf == 1 || ip.frag_offset > 0 ||
		infiniband.bth.p_key != 0xffff || infiniband.bth.tver != 0 || infiniband.grh.ipver != 6 || infiniband.grh.nxthdr != 0x1b' -T fields -e frame.number -e udp.srcport 2>/dev/null | head -n 5)
	[[ ! $said ]] || fail "$said"
}

icrc() {
	# So many packets as scapy checks in a few seconds, from the whole file.
	python3 - "$capture" "$1" <<-'END_OF_PYTHON'
		import sys
		from scapy.config import conf
		conf.ipv6_enabled = True
		from scapy.layers.inet import IP, UDP
		from scapy.layers.inet6 import IPv6
		from scapy.layers.l2 import Ether
		from scapy.utils import RawPcapReader
		from scapy.contrib.roce import BTH, GRH
		from zlib import crc32
		def of_v1(data):
		    # Eight bytes of ones for the local header; traffic class, flow label, hop limit; FECN, BECN, reserved.
		    data = bytearray(data)
		    data[0] |= 0x0f
		    for at in 1, 2, 3, 7, 44:
		        data[at] = 0xff
		    return crc32(b'\xff' * 8 + data).to_bytes(4, 'little')
		frames = [frame for frame, _ in RawPcapReader(sys.argv[1])]
		step = max(1, len(frames) // int(sys.argv[2]))
		seen = {1: 0, 4: 0, 6: 0}
		for number in range(0, len(frames), step):
		    packet = Ether(frames[number])
		    bth = packet[BTH]
		    if GRH in packet:
		        frame, grh = frames[number], packet[GRH]
		        end = 14 + 40 + grh.paylen
		        had, ours = frame[end - 4:end], of_v1(frame[14:end - 4])
		        if len(frame) > max(end, 60) or had != ours:
		            sys.exit(f'frame {number + 1}: {had.hex()} on the wire, not {ours.hex()}, {len(frame)} bytes: {packet.summary()}')
		        seen[1] += 1
		        continue
		    had = bytes(packet)[-4:]
		    # Built again without its ICRC, which scapy then computes.
		    body = bytes(bth)[:-4]
		    ours = bth.compute_icrc(body + bytes(4))
		    if ours != had:
		        sys.exit(f'packet {number + 1}: {had.hex()} on the wire, {ours.hex()} says scapy: {packet.summary()}')
		    seen[6 if IPv6 in packet else 4] += 1
		print(f'note: {seen[4]} packets over IPv4, {seen[6]} over IPv6 and {seen[1]} of RoCE v1')
		sys.exit(0 if seen[4] > 50 and seen[6] > 20 and seen[1] > 50 else 'too few packets')
	END_OF_PYTHON
}

(($#)) || { echo "Bail out! no captures"; exit 1; }
for capture; do
	name=${capture##*/}
	try "$name: tshark dissects all packets as RoCE, with all opcodes in v1 and v2" dissected
	try "$name: tshark reports no malformed packet" complaints
	try "$name: UDP ports, fragment bits, P_Key and version are valid" headers
	try "$name: the ICRC is that of scapy, and of the standard for RoCE v1" icrc 1500
done
finish
