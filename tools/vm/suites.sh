# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# suites.sh: the RDMA user space of other Debian releases, for the provider that is built for theirs. Each is a small tree of
# unpacked packages, /suites/NAME in the root tree and so in every guest, to be entered with chroot.

# The oldest that the provider is for, and the newest.
suites=(bookworm sid)
suite_packages=(bash coreutils findutils grep ibverbs-providers ibverbs-utils libc-bin sed)

suite_ready() { [[ -d $root/suites/$1 && $(cat "$cache/suites/$1" 2>/dev/null) == "${suite_packages[*]}" ]]; }

make_suite() {
	local suite=$1 main new=$root/suites/$1.new options packages
	say "making the user space of $suite in $root/suites/$suite"
	main=$(mirror_of Debian)
	host_apt_options
	packages=$(IFS=,; echo "${suite_packages[*]}")
	rm -rf --one-file-system "$new" "$root/suites/$suite"
	mkdir -p "$root/suites" "$cache/suites"
	mmdebstrap --quiet --variant=extract --mode=root --aptopt='Acquire::Languages "none"' "${options[@]}" \
		--include="$packages" "$suite" "$new" "deb $main $suite main" >&2 || return
	# Unpacked and not installed: what the packages' scripts would have done.
	mkdir -p "$new"/{dev,proc,sys,rover}
	chroot "$new" /sbin/ldconfig || return
	# One vendor's library more is half a second more for each program in a guest.
	rm -f "$new"/etc/libibverbs.d/*
	mv "$new" "$root/suites/$suite"
	echo "${suite_packages[*]}" >"$cache/suites/$suite"
}

# A suite that the archive does not have, or whose packages do not fit each other at the moment, is left out.
prepare_suites() {
	local suite
	for suite in "${suites[@]}"; do
		suite_ready "$suite" || make_suite "$suite" || say "there is no user space of $suite"
	done
}

build_suites() {
	local suite
	for suite in "${suites[@]}"; do
		! suite_ready "$suite" ||
			(in_root -b "$repo:/rover" "${clean_env[@]}" env -C /rover tools/provider/build-suite "/suites/$suite" "build/suites/$suite") >&2
	done
}
