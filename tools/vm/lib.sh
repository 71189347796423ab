# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# lib.sh: what all parts of the lab share: messages, places, the way into the root tree.

lab_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
repo=$(cd "$lab_dir/../.." && pwd -P)

cache=${ROVER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rover}
root=$cache/root
quiet=

say() { [[ $quiet ]] || printf 'vm: %s\n' "$*" >&2; }
die() { printf 'vm: error: %s\n' "$*" >&2; exit 1; }

# The tree is made of root's files and entered with chroot: without root the whole program starts again through sudo.
need_root() {
	((EUID)) || return 0
	command -v sudo >/dev/null || die "this needs root (chroot, mmdebstrap), and there is no sudo"
	sudo -n true 2>/dev/null || [[ -t 0 ]] || die "this needs root, and sudo asks for a password with nobody there to type it"
	exec sudo ROVER_CACHE="$cache" PATH="$PATH" "$lab_dir/vm" "$@"
}

# A hash of the given files and words: the key of whatever is made from them.
key_of() {
	local item
	for item; do
		if [[ -f $item ]]; then cat -- "$item"; else printf '%s\n' "$item"; fi
	done | sha256sum | cut -c1-16
}

# in_root [-b HOST:INSIDE]... [-r HOST:INSIDE]... CMD...: run CMD inside the root tree (-r binds read-only). The mounts
# belong to a mount namespace of its own and go with the command; every step is an exec, so that a signal sent to
# the caller's child arrives at CMD.
in_root() {
	# shellcheck disable=SC2016 # the inner shell expands these
	exec unshare --mount --propagation private -- bash -euc '
		root=$1; shift
		mount -t proc proc "$root/proc"
		mount --rbind /sys "$root/sys"
		mount --rbind /dev "$root/dev"
		while [[ ${1:-} == -[br] ]]; do
			host=${2%%:*} inside=$root${2#*:}
			mkdir -p "$inside"
			mount --bind "$host" "$inside"
			[[ $1 == -b ]] || mount -o remount,bind,ro "$inside"
			shift 2
		done
		exec chroot "$root" "$@"
	' in_root "$root" "$@"
}

# The environment of a command inside the tree: nothing of the host's, since paths and locales differ there. What has been compiled
# once, by whichever checkout (all of them are /rover in there), ccache keeps with its warnings.
clean_env=(env -i PATH=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" LC_ALL=C.UTF-8
	DEBIAN_FRONTEND=noninteractive CCACHE_DIR=/var/cache/ccache CCACHE_MAXSIZE=1G)

# with_lock FILE CMD...: run CMD under a lock, so that only one process at a time prepares or builds
with_lock() {
	local file=$1
	shift
	mkdir -p "${file%/*}"
	(
		flock -n 9 || { say "waiting for another vm that holds $file"; flock 9; }
		"$@"
	) 9>"$file"
}
