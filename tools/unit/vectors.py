#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
RoCE packets for the tests, made from the layouts alone: the ICRC is zlib's
CRC-32 over a copy whose variant fields are ones.  No code of rover has a part
in them.

  tools/unit/vectors.py header        print them as a C header
  tools/unit/vectors.py seeds DIR     write each to a file, for the fuzzer
  tools/unit/vectors.py judge         compare with scapy's RoCE layer, in KTAP;
                                      of the ICRC of RoCE v1 it knows nothing
"""

import ipaddress
import logging
import os
import struct
import sys
import zlib


def bth(opcode, qpn, psn, pad=0, solicited=False, ackreq=False, fecn=False):
    return struct.pack(">BBHII", opcode, solicited << 7 | 1 << 6 | pad << 4, 0xffff,
                       fecn << 31 | qpn, ackreq << 31 | psn)


def reth(va, rkey, length):
    return struct.pack(">QII", va, rkey, length)


def atometh(va, rkey, swap_add, compare):
    return struct.pack(">QIQQ", va, rkey, swap_add, compare)


def aeth(syndrome, msn):
    return struct.pack(">I", syndrome << 24 | msn)


def pattern(length):
    return bytes((7 * i + i // 256) & 0xff for i in range(length))


def padded(length):
    return pattern(length) + bytes(-length % 4)


def transport_packets():
    """(name, what follows UDP without the ICRC)"""
    va, rkey = 0x7fff12345678, 0xcafe0102
    return [
        ("ack", bth(0x11, 0x17, 0xffffff) + aeth(0x1f, 1)),
        ("nak", bth(0x11, 0xfffffe, 0) + aeth(0x62, 0xffffff)),
        ("send_only_0", bth(0x04, 0x11, 1, ackreq=True)),
        ("send_only_1", bth(0x04, 0x11, 2, pad=3, solicited=True) + padded(1)),
        ("send_last_inv_1022", bth(0x16, 0x11, 3, pad=2, fecn=True)
         + struct.pack(">I", rkey) + padded(1022)),
        ("write_first_256", bth(0x06, 0xabcdef, 4) + reth(va, rkey, 300) + padded(256)),
        ("write_only_imm_7", bth(0x0b, 0x11, 5, pad=1, ackreq=True) + reth(va, rkey, 7)
         + struct.pack(">I", 0x01020304) + padded(7)),
        ("read_request", bth(0x0c, 0x11, 6) + reth(va, rkey, 1 << 31)),
        ("read_response_middle_4096", bth(0x0e, 0x11, 7) + padded(4096)),
        ("compare_swap", bth(0x13, 0x11, 8, ackreq=True) + atometh(va, rkey, 1, 2)),
        ("atomic_ack", bth(0x12, 0x11, 8) + aeth(0, 9) + struct.pack(">Q", 1 << 63)),
    ]


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def packet4(number, transport):
    length = 8 + len(transport) + 4
    source = ipaddress.ip_address("192.168.77.1").packed
    target = ipaddress.ip_address("192.168.77.2").packed
    head = struct.pack(">BBHHHBBH", 0x45, 0x02 | number << 2, 20 + length, 0x1234 + number,
                       0x4000, 64 - number, 17, 0)
    total = checksum(head + source + target)
    head = head[:10] + struct.pack(">H", total) + source + target
    udp = struct.pack(">HHHH", 0xc000 + 37 * number, 4791, length, 0)
    return head + udp + transport


def packet6(number, transport):
    length = 8 + len(transport) + 4
    source = ipaddress.ip_address("fd00::5054:ff:fe12:3401").packed
    target = ipaddress.ip_address("fe80::1").packed
    head = struct.pack(">IHBB", 6 << 28 | (2 + number) << 20 | 0x12345 + number, length, 17,
                       255 - number)
    udp = struct.pack(">HHHH", 0xffff - 41 * number, 4791, length, 0xbeef)
    return head + source + target + udp + transport


def packet_grh(number, transport):
    """RoCE v1: InfiniBand's own header, and no UDP"""
    source = ipaddress.ip_address("::ffff:192.168.77.1").packed
    target = ipaddress.ip_address("fe80::5054:ff:fe12:3402").packed
    head = struct.pack(">IHBB", 6 << 28 | (7 + number) << 20 | 0xfedcb - number,
                       len(transport) + 4, 0x1b, 1 + number)
    return head + source + target + transport


def icrc(packet):
    masked = bytearray(packet)
    bth = 28 if packet[0] >> 4 == 4 else 40 if packet[6] == 0x1b else 48
    if packet[0] >> 4 == 4:
        for at in 1, 8, 10, 11:         # TOS, TTL, checksum
            masked[at] = 0xff
    else:
        masked[0] |= 0x0f               # traffic class, flow label, hop limit
        for at in 1, 2, 3, 7:
            masked[at] = 0xff
    masked[bth + 4] = 0xff              # FECN, BECN, reserved
    if bth != 40:                       # UDP checksum
        masked[bth - 2:bth] = b"\xff\xff"
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


def all_packets():
    for number, (name, transport) in enumerate(transport_packets()):
        for family, make in ("ipv4", packet4), ("ipv6", packet6), ("grh", packet_grh):
            packet = make(number, transport)
            yield f"{family}_{name}", packet + icrc(packet)


def print_header():
    print("/* SPDX-License-Identifier: GPL-2.0 */\n/* Written by vectors.py. */")
    packets = list(all_packets())
    for name, packet in packets:
        print(f"static const u8 vector_{name}[] = {{")
        for at in range(0, len(packet), 16):
            print("\t" + " ".join(f"0x{byte:02x}," for byte in packet[at:at + 16]))
        print("};")
    print("static const struct {\n\tconst char *name;\n\tconst u8 *bytes;\n\tsize_t len;\n"
          "} vectors[] = {")
    for name, packet in packets:
        print(f'\t{{ "{name}", vector_{name}, {len(packet)} }},')
    print("};")


def write_seeds(folder):
    os.makedirs(folder, exist_ok=True)
    for name, packet in all_packets():
        with open(os.path.join(folder, name), "wb") as seed:
            seed.write(packet)


def judge():
    print("KTAP version 1")
    try:
        logging.getLogger("scapy.runtime").setLevel(logging.ERROR)
        from scapy.layers.inet import IP
        from scapy.layers.inet6 import IPv6
        from scapy.contrib.roce import BTH
    except ImportError:
        print("ok 1 scapy computes the same ICRC # SKIP python3-scapy is not installed\n1..1")
        return 0
    packets = [(name, packet) for name, packet in all_packets() if not name.startswith("grh")]
    failed = 0
    for number, (name, packet) in enumerate(packets, 1):
        parsed = (IP if packet[0] >> 4 == 4 else IPv6)(packet)
        parsed[BTH].icrc = None         # to be filled in again
        built = bytes(parsed)
        good = built == packet
        if not good:
            failed += 1
            print(f"# ICRC {packet[-4:].hex()}, of scapy {built[-4:].hex()}")
        print(f"{'ok' if good else 'not ok'} {number} scapy computes the same ICRC: {name}")
    print(f"1..{len(packets)}")
    return failed > 0


def main():
    match sys.argv[1:]:
        case ["header"]:
            print_header()
        case ["seeds", folder]:
            write_seeds(folder)
        case ["judge"]:
            return judge()
        case _:
            sys.exit(__doc__)
    return 0


sys.exit(main())
