#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A file whose pages never come.

  dead_file.py FOLDER BYTES	mount a file system with the file "dead" there, until killed

The kernel's FUSE protocol, without a library: reads of the file get no answer.
"""

import ctypes
import os
import stat
import struct
import sys

HEADER = struct.Struct("<IIQQIIIHH")
LOOKUP, FORGET, GETATTR, OPEN, READ, FLUSH, INIT, INTERRUPT = 1, 2, 3, 14, 15, 25, 26, 36
RELEASE = 18
ROOT, FILE = 1, 2
FOPEN_KEEP_CACHE = 2
HOUR = 3600


def attributes(node, size):
    mode = stat.S_IFDIR | 0o755 if node == ROOT else stat.S_IFREG | 0o644
    return struct.pack("<6Q10I", node, 0 if node == ROOT else size, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(opcode, node, body, size):
    """The body of an answer, or an error number; None for no answer."""
    if opcode == INIT:
        return struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 0, 0, 1 << 17, 1, 0, 0, *[0] * 8)
    if opcode == LOOKUP:
        if body.rstrip(b"\0") != b"dead":
            return 2
        return struct.pack("<4Q2I", FILE, 0, HOUR, HOUR, 0, 0) + attributes(FILE, size)
    if opcode == GETATTR:
        return struct.pack("<Q2I", HOUR, 0, 0) + attributes(node, size)
    if opcode == OPEN:
        return struct.pack("<Q2I", 1, FOPEN_KEEP_CACHE, 0)
    if opcode in (FORGET, READ, INTERRUPT):
        return None
    return b"" if opcode in (FLUSH, RELEASE) else 38


def main():
    folder, size = sys.argv[1], int(sys.argv[2])
    device = os.open("/dev/fuse", os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"dead", folder.encode(), b"fuse", 0, options.encode()):
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    print("ready", flush=True)
    while True:
        request = os.read(device, 1 << 18)
        _, opcode, unique, node, *_ = HEADER.unpack_from(request)
        reply = answer(opcode, node, request[HEADER.size:], size)
        if reply is None:
            continue
        error, reply = (-reply, b"") if isinstance(reply, int) else (0, reply)
        os.write(device, struct.pack("<IiQ", 16 + len(reply), error, unique) + reply)


main()
