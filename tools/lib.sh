# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# lib.sh: what the two commands, tools/check and tools/demo, share.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
logs=$top/build/log
vm=$top/tools/vm/vm

die() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# as_root "$0" "$@": the lab is made with chroot. Once at the start through sudo is better than a question half an hour later.
as_root() {
	((EUID)) || return 0
	command -v sudo >/dev/null || die "this needs root (the lab is made with chroot), and there is no sudo"
	sudo -n true 2>/dev/null || [[ -t 0 ]] ||
		die "this needs root, and sudo asks for a password with nobody there to type it"
	echo "The lab is made with chroot, which needs root: going on through sudo."
	exec sudo ROVER_CACHE="${ROVER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rover}" CI="${CI:-}" "$@"
}

# Seconds as minutes:seconds.
clock() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# run_limited SECONDS CMD...: CMD with a time limit and nothing to read. In the background and waited for, so that a signal
# to us arrives at once; timeout passes it on to everything that CMD has started.
run_limited() {
	local status=0
	timeout -k 20 "$@" </dev/null &
	running=($!)
	wait "${running[0]}" || status=$?
	running=()
	return "$status"
}
running=()
end_running() { ((!${#running[@]})) || kill "${running[@]}" 2>/dev/null; }
pass_signals() {
	trap 'end_running; exit 130' INT
	trap 'end_running; exit 143' TERM HUP
}
pass_signals
