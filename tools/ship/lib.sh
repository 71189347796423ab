# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# lib.sh: Debian trees for building and testing packages. They lie in the lab's cache: ship/SUITE
# is a fresh minimal system, ship/SUITE-build is the same with what a build needs. Both are made
# once. The mirror is that of this machine's apt.

ship_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
for part in lib root; do
	# shellcheck source=/dev/null
	. "$ship_dir/../vm/$part.sh"
done
say() { printf 'ship: %s\n' "$*" >&2; }
die() { printf 'ship: error: %s\n' "$*" >&2; exit 1; }

# need_root_of "$0" "$@": trees are entered with chroot
need_root_of() {
	((EUID)) || return 0
	command -v sudo >/dev/null || die "this needs root (chroot, mmdebstrap), and there is no sudo"
	exec sudo ROVER_CACHE="$cache" "$@"
}

# The suites that packages are made for: name, and what their versions end in.
declare -A suite_suffix=([bookworm]=~deb12 [trixie]=~deb13)
all_suites=(bookworm trixie)

version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$repo/debian/changelog")
packages=(ibverbs-provider-rover rover-dkms rover-tools)

build_packages=(build-essential debhelper dh-dkms fakeroot libibverbs-dev lintian python3)

ship_sources() {
	local suite=$1 main security names=("$1") name
	main=$(mirror_of Debian)
	security=$(mirror_of Debian-Security)
	[[ $main ]] || die "apt on this machine knows no Debian mirror"
	[[ $suite == sid ]] || names+=("$suite-updates")
	for name in "${names[@]}"; do
		echo "deb $main $name main"
		echo "deb-src $main $name main"
	done
	[[ $suite == sid || ! $security ]] || echo "deb $security $suite-security main"
}

# in_tree NAME [-b HOST:INSIDE]... CMD...: run CMD inside a tree
in_tree() {
	local root=$cache/ship/$1
	shift
	(in_root -b "$cache/ship/archives:/var/cache/apt/archives" "$@")
}
tree_env=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
	TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive)

# The package lists of a tree, read again after a day.
refresh() {
	local stamp=$cache/ship/$1/var/lib/apt/lists/.refreshed
	[[ ! $(find "$stamp" -mmin -1440 2>/dev/null) ]] || return 0
	in_tree "$1" "${tree_env[@]}" apt-get -qq update >&2
	touch "$stamp"
}

install_in() { in_tree "$1" "${tree_env[@]}" apt-get -qq install -y "${@:2}"; }

make_tree() {
	local suite=$1 tree=$cache/ship/$1 options
	[[ ! -e $tree/.complete ]] || return 0
	say "making a tree of $suite in $tree"
	host_packages
	host_apt_options
	rm -rf --one-file-system "$tree"
	mkdir -p "$cache/ship/archives/partial"
	ship_sources "$suite" >"$cache/ship/$suite.list"
	mmdebstrap --quiet --variant=minbase --mode=root --aptopt='Acquire::Languages "none"' \
		--aptopt='Dpkg::Use-Pty "0"' --aptopt='APT::Install-Recommends "false"' \
		--aptopt='APT::Sandbox::User "root"' --dpkgopt=force-unsafe-io "${options[@]}" \
		"$suite" "$tree" - <"$cache/ship/$suite.list" >&2 || die "there is no tree of $suite"
	cp -L /etc/resolv.conf "$tree/etc/resolv.conf" 2>/dev/null || true
	# Nothing is started by a package's scripts.
	printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
	chmod 755 "$tree/usr/sbin/policy-rc.d"
	touch "$tree/.complete"
}

make_build_tree() {
	local suite=$1 tree=$cache/ship/$1-build
	[[ ! -e $tree/.complete || $(cat "$tree/.complete") != "${build_packages[*]}" ]] || return 0
	make_tree "$suite"
	say "installing what builds packages in $tree"
	rm -rf --one-file-system "$tree"
	cp -a "$cache/ship/$suite" "$tree"
	rm "$tree/.complete"
	refresh "$suite-build"
	install_in "$suite-build" "${build_packages[@]}" >"$cache/ship/$suite-build.log" 2>&1 ||
		die "packages could not be installed: $cache/ship/$suite-build.log"
	echo "${build_packages[*]}" >"$tree/.complete"
}

# Everything of the repository that git knows or would know, as /build/rover in a tree.
copy_sources() {
	local to=$cache/ship/$1/build/rover
	rm -rf "$to"
	mkdir -p "$to"
	(cd "$repo" && git -c safe.directory='*' ls-files -z -co --exclude-standard |
		{ xargs -0 -r ls -d 2>/dev/null || true; } | tar -c --owner=0 --group=0 -T -) | tar -x -C "$to"
}

release_in() {
	local file
	file=$(readlink "$cache/ship/$1"/usr/lib/*/libibverbs.so.1)
	sed -E 's/.*\.so\.1\.[0-9]+\.//' <<<"$file"
}

# The source of a suite's rdma-core: its folder in the build tree is printed.
rdma_source() {
	local tree=$1-build release from
	release=$(release_in "$tree")
	if [[ ! -e $cache/ship/$tree/usr/src/rdma-core-$release/.complete ]]; then
		copy_sources "$tree"
		in_tree "$tree" "${tree_env[@]}" ROVER_PROVIDER_CACHE=/usr/src \
			/build/rover/tools/provider/build --headers /build/headers >&2 ||
			[[ $release == 44.0 ]] || return
	fi
	if [[ ! -e $cache/ship/$tree/usr/src/rdma-core-$release/.complete ]]; then
		make_build_tree trixie || return
		from=$cache/ship/trixie-build$(rdma_source trixie) || return
		"$repo/tools/provider/make-44.0" "$from" "$cache/ship/$tree/usr/src/rdma-core-$release" >&2
	fi
	echo "/usr/src/rdma-core-$release"
}

# Are the packages of a suite younger than what they are made of?
packages_are_new() {
	local deb
	deb=$(ls "$repo/build/deb/$1"/rover-tools_*.deb 2>/dev/null) || return
	[[ ! $(cd "$repo" && find Kbuild drivers include debian tools/provider tools/rover \
		Documentation/man tools/ship/deb -type f -newer "$deb" -print -quit) ]]
}
need_packages() {
	packages_are_new "$1" || "$ship_dir/deb" "$1" >&2 || die "there are no packages of $1"
}

# make_later SUITE FOLDER: the packages once more, as a later version with another module
make_later() {
	local suite=$1 to=$2 deb name
	rm -rf "$to"
	mkdir -p "$to"
	for name in "${packages[@]}"; do
		deb=$(ls "$repo/build/deb/$suite/$name"_*.deb)
		dpkg-deb -R "$deb" "$to/$name"
		sed -i 's/^Version: .*/&+later/' "$to/$name/DEBIAN/control"
		[[ $name != rover-dkms ]] ||
			find "$to/$name/usr/src" -name verbs.h -exec sed -i 's/^\(#define ROVER_VERSION.*\)"$/\1+later"/' {} +
		dpkg-deb --root-owner-group -b "$to/$name" "$to/$name.deb" >/dev/null
		rm -rf "${to:?}/$name"
	done
}
