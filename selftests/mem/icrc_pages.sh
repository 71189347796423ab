#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# icrc_pages: the pages with the ICRC fragments that end packets have no mark left when they are
# freed. Since 7.x the kernel itself clears it.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

# Rover marks the pages of ICRC fragments in page->private. Free pages must not have the mark: the
# kernel gives them to other users. On x86-64 that field is at byte 40 of 64, and the reference
# count at byte 52.
marks() {
	python3 - <<-'END_OF_PYTHON'
		import struct, sys
		symbols = {}
		for line in open('/proc/kallsyms'):
		    word = line.split()
		    if word[2] == 'vmemmap_base' or word[2:] == ['trailer_mark', '[rover]']:
		        symbols[word[2]] = int(word[0], 16)
		core = open('/proc/kcore', 'rb')
		head = core.read(64)
		at, size, n = struct.unpack_from('<Q', head, 32)[0], *struct.unpack_from('<HH', head, 54)
		core.seek(at)
		segments = [struct.unpack_from('<IIQQQQ', core.read(size)) for _ in range(n)]
		def read(address, length):
		    for kind, _, offset, start, _, there in segments:
		        if kind == 1 and start <= address < start + there:
		            core.seek(offset + address - start)
		            return core.read(min(length, start + there - address))
		    return b''
		if len(symbols) < 2:
		    print('no symbols of the kernel')
		    sys.exit(4)
		mark = symbols['trailer_mark']
		base = struct.unpack('<Q', read(symbols['vmemmap_base'], 8))[0]
		pages = used = free = 0
		for line in open('/proc/iomem'):
		    if not line.endswith(' : System RAM\n') or line.startswith(' '):
		        continue
		    first, last = (int(x, 16) >> 12 for x in line.split()[0].split('-'))
		    for pfn in range(first, last + 1, 16384):
		        some = read(base + 64 * pfn, 64 * min(16384, last + 1 - pfn))
		        words = memoryview(some[:len(some) // 64 * 64]).cast('Q')
		        private = words[5::8].tolist()
		        pages += len(private)
		        for i, value in enumerate(private):
		            if value == mark:
		                if words[8 * i + 6] >> 32:
		                    used += 1
		                else:
		                    free += 1
		print(f'note: of {pages} pages {used} in use have the mark, and {free} free ones')
		if pages < 10000 or not used:
		    sys.exit('that tells nothing')
		sys.exit(1 if free else 0)
	END_OF_PYTHON
}
clean() {
	# Each packet has an ICRC fragment, and there are 256 in a page.
	perftest send_bw -n 20000 -s 2000
	marks || fail "pages are not clean when they are freed"
}

try "pages of ICRC fragments have no mark left when they are freed" clean
finish
