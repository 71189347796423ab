#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dead_page: a program has ODP regions of a file whose pages never come. That program, the device and
# other programs go on.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"
# shellcheck source=selftests/lib/pair.sh
. "$here/lib/pair.sh"

folder=/tmp/dead.$$ file=/tmp/file.$$
export DEAD=$folder/dead

serve() {
	modprobe fuse 2>/dev/null
	[[ -e /dev/fuse ]] || return
	mkdir -p $folder
	touch /tmp/dead.said
	python3 "$(dirname "$0")/dead_file.py" $folder $((64 << 20)) >/tmp/dead.said 2>&1 </dev/null &
	server=$!
	within 20 grep -q ready /tmp/dead.said
}

# With the server all requests end: an error instead of a page.
end_server() {
	kill $server
	wait $server 2>/dev/null || true
	umount -l $folder
	rmdir $folder
	rm -f $file
}

# The kernel has few threads that wait for the pages of one program: 4 for advice, 16 for packets.
few_threads() {
	local threads
	threads=$(ps -eo wchan:30,args | grep -c '^request_wait_answer .*kworker')
	echo "note: $threads threads wait"
	((threads > 0 && threads <= 20)) || fail "$threads threads wait"
}

# Another program's advice is followed meanwhile.
other() {
	truncate -s 64M $file
	at a "$(program odp_charge)" a $file
}

unlink_in_time() {
	promptly at a rdma link delete "$DEV_A"
	link_add a
}

# Its threads cannot be killed, so the kernel says that the module is in use instead of waiting for them.
unload_refused() {
	timed unload && fail "rmmod works, or has waited"
	((ms < 5000 * slow)) || fail "rmmod took $ms ms"
}

unload_works() {
	within 10 unload
	mend
	traffic
}

if ! serve; then
	try "pages that never come" skip "this kernel has no FUSE"
	finish
fi
pair_cases dead_page advise
try "few threads wait for one program" few_threads
try "advice of another program is followed" other
pair_cases dead_page write
try "rdma link delete does not wait for such a page" unlink_in_time
try "rmmod is refused at once while such a page is awaited" unload_refused
try "data is transferred afterwards" traffic
try "the pages' server ends" end_server
try "rmmod works afterwards" unload_works
finish
