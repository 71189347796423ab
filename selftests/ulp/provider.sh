#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# provider: a provider that was built for another release of rdma-core is refused with a message,
# when it is installed and when it is loaded. One that was built for the release works. tools/vm/vm
# suites makes the other releases.
# shellcheck source=selftests/lib/net.sh
. "$(dirname "$0")/../lib/net.sh"

top=$(cd "$here/.." && pwd -P)
lib=usr/lib/x86_64-linux-gnu

# The root tree of a suite; that of the lab itself is "own".
tree_of() { [[ $1 == own ]] || echo "/suites/$1"; }
# Where the provider that was built for it is, and the release of its libibverbs.
built_for() { if [[ $1 == own ]]; then echo "$top/build/provider"; else echo "$top/build/suites/$1"; fi; }
release_of() {
	local file
	file=$(readlink -f "$(tree_of "$1")/$lib/libibverbs.so.1")
	echo "${file##*libibverbs.so.1.*([0-9]).}"
}
shopt -s extglob

# inside END SUITE CMD...: CMD at END, in the tree of SUITE
inside() {
	local end=$1 tree
	tree=$(tree_of "$2")
	shift 2
	# shellcheck disable=SC2016 # the shell over there expands these
	at "$end" unshare --mount bash -c '
		tree=$1
		shift
		[[ $tree ]] || exec "$@"
		for place in dev sys proc rover; do mount --rbind "/$place" "$tree/$place"; done
		exec chroot "$tree" "$@"' inside "$tree" "$@"
}

here_is() {
	[[ -e $(tree_of "$1")/$lib/libibverbs.so.1 && -e $(echo "$(built_for "$1")"/librover-rdmav*.so) ]] ||
		skip "there is no user space of $1, or no provider for it: tools/vm/vm suites"
}

# Put into the tree of SUITE what was built for OTHER, under the name that is looked for there.
force() {
	local tree abi
	tree=$(tree_of "$1")
	abi=$(grep -aoE 'rdmav[0-9]+\.so' "$tree/$lib/libibverbs.so.1" | head -n 1)
	cp "$(built_for "$2")"/librover-rdmav*.so "$tree/$lib/libibverbs/librover-$abi"
	echo "driver rover" >"$tree/etc/libibverbs.d/rover.driver"
}

not_installed() {
	here_is "$1"
	here_is "$2"
	refused "was built for rdma-core $(release_of "$2"), and this machine has rdma-core $(release_of "$1"): run make provider" \
		inside a "$1" /rover/tools/install-provider "$(built_for "$2")"
}

# Opened by a program that uses what differs most. The lab's own provider has to be back afterwards.
not_loaded() {
	local said status=0 words
	here_is "$1"
	here_is "$2"
	at_end force "$1" "$1"
	force "$1" "$2"
	said=$(inside a "$1" ibv_rc_pingpong -N -d "$DEV_A" -g 3 2>&1) || status=$?
	echo "status $status: $said"
	((status && status < 124)) || fail "it has not failed by itself"
	for words in "librover: $DEV_A:" "built for rdma-core $(release_of "$2")" "is $(release_of "$1")" "make provider"; do
		[[ $said == *"$words"* ]] || fail "it does not say \"$words\""
	done
	(($(grep -c librover <<<"$said") == 1)) || fail "it says so more than once"
	inside a "$1" ibv_devices | grep "$DEV_A" || fail "the device is not listed any more"
}

# talk SUITE PROGRAM OPTION...: a pingpong between both ends
talk() {
	local suite=$1 program=$2 port server
	shift 2
	next_port
	inside b "$suite" "$program" -d "$DEV_B" -g "$(gid_index b "$ADDR_B")" -p "$port" "$@" >/tmp/said.b 2>&1 </dev/null &
	server=$!
	await_server b "$port" $server
	inside a "$suite" "$program" -d "$DEV_A" -g "$(gid_index a "$ADDR_A")" -p "$port" "$@" "$ADDR_B"
	wait $server
}

works() {
	here_is "$1"
	inside a "$1" /rover/tools/install-provider "$(built_for "$1")"
	single || inside b "$1" /rover/tools/install-provider "$(built_for "$1")"
	talk "$1" ibv_rc_pingpong -N -n 100
	talk "$1" ibv_rc_pingpong -N -t -n 100
	talk "$1" ibv_xsrq_pingpong -n 100
}

try "Debian 12: a provider for Debian 13 is not installed" not_installed bookworm own
try "Debian 12: a provider for Debian 13 refuses to open a device, with a message" not_loaded bookworm own
try "Debian 12: its own provider is installed, and ibv_rc_pingpong -N works" works bookworm
try "Debian 13: a provider for Debian 12 is not installed" not_installed own bookworm
try "Debian 13: a provider for Debian 12 refuses to open a device, with a message" not_loaded own bookworm
try "Debian 13: its own provider is installed, and ibv_rc_pingpong -N works" works own
if ! once; then
	try "sid: a provider for Debian 13 is not installed" not_installed sid own
	try "sid: its own provider is installed, and ibv_rc_pingpong -N works" works sid
fi
finish
