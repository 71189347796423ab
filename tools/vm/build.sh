# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh: the module for one kernel, and the user-space provider, both built inside the root tree.

# Kernels share no objects, hence a copy of the sources for each. What has not changed is not touched and not built again; what has is
# dated now, since it may have been edited while an earlier build ran, and would look older than that one's objects.
build() {
	local kernel=$1 version dir
	shift
	version=$(kernel_version "$kernel")
	dir=$repo/build/$kernel
	mkdir -p "$dir"
	with_lock "$dir/.lock" build_module "$kernel" "$version" "$@"
	[[ $kernel != "$(newest_series)" ]] || ln -sfn "$kernel" "$repo/build/newest"
	with_lock "$repo/build/.lock" build_provider
}

# Is what is built for this kernel younger than all it is built from, and for the build of the kernel that is there now?
built() {
	local module=$repo/build/$1/rover.ko
	[[ -e $module && $(head -n 1 "$repo/build/$1/facts") == "$(kernel_version "$1")" && ! $(cd "$repo" && find Kbuild drivers include selftests/kmod tools/provider -type f -newer "$module" -print -quit) ]]
}

build_module() {
	local kernel=$1 version=$2 sources=() source
	shift 2
	for source in drivers include Kbuild selftests/kmod; do [[ ! -e $repo/$source ]] || sources+=("/rover/./$source"); done
	[[ -e $repo/Kbuild ]] || die "there is no $repo/Kbuild to build"
	# The debug kernel records coverage for code built to tell it, and that is rover.
	[[ $kernel != debug ]] || set -- KCOV_INSTRUMENT=y "$@"
	say "building rover.ko for $kernel ($version)"
	# shellcheck disable=SC2016 # the inner shell expands these
	(in_root -b "$repo:/rover" "${clean_env[@]}" bash -euc '
		dir=/rover/build/$1 version=$2 sources=$3
		shift 3
		# Objects at the receiving end are no business of --delete.
		rsync -rlpcR --delete --exclude={"*.o","*.ko","*.a","*.cmd","*.d","*.mod","*.mod.c","Module.symvers","modules.order",".tmp_*"} $sources "$dir/src/"
		# A header that is new may stand before one that was found until now. Neither make nor ccache asks for those that were not
		# there, so both get to know the names of all that are. And how the kernel is configured: the debug one keeps its version.
		(cd "$dir/src" && find . -name "*.h" | sort && cksum <"/lib/modules/$version/build/include/config/auto.conf") >"$dir/headers.now"
		if ! cmp -s "$dir/headers.now" "$dir/headers"; then
			find "$dir/src" -name "*.o" -delete
			mv "$dir/headers.now" "$dir/headers"
		fi
		export CCACHE_EXTRAFILES=$dir/headers
		# No type information for BPF: nobody here reads it, and it takes longer to make than the module.
		make -s -j"$(nproc)" -C "/lib/modules/$version/build" M="$dir/src" W=1 CONFIG_DEBUG_INFO_BTF_MODULES= "$@" modules
		module=$(find "$dir/src" -name rover.ko)
		[[ $module ]] || { echo "the build made no rover.ko" >&2; exit 1; }
		# The modules for tests: no part of rover, and so not of its build.
		tester=selftests/kmod
		make -s -j"$(nproc)" -C "/lib/modules/$version/build" M="$dir/src/$tester" W=1 CONFIG_DEBUG_INFO_BTF_MODULES= "$@" modules
		for name in rover_ktest rover_kbuf rover_dropper; do strip --strip-debug -o "$dir/$name.ko" "$dir/src/$tester/$name.ko"; done

		# The index that lets modprobe find rover by alias, made here as depmod is slow in a guest. Only a change
		# in what the module says about itself asks for a new one.
		facts=$(echo "$version"; modinfo -F alias "$module"; modinfo -F depends "$module"; nm "$module" | grep __ksymtab || true)
		if [[ $facts != "$(cat "$dir/facts" 2>/dev/null)" ]]; then
			index=$(mktemp -d)
			at=$index/lib/modules/$version
			mkdir -p "$at/kernel" "$at/updates" "$dir/modules"
			cp "/lib/modules/$version"/modules.{order,builtin*} "$at/"
			cp "$module" "$at/updates/"
			mount --bind "/lib/modules/$version/kernel" "$at/kernel"
			depmod -b "$index" "$version"
			cp "$at"/modules.{dep,alias,symbols,softdep,devname,builtin}*.bin "$at"/modules.{dep,alias,softdep} "$dir/modules/" 2>/dev/null || true
			umount "$at/kernel"
			rm -rf "$index"
			echo "$facts" >"$dir/facts"
		fi
		mkdir -p "$dir/modules/updates"
		strip --strip-debug -o "$dir/modules/updates/rover.ko" "$module"
		cp "$module" "$dir/rover.ko"
	' build "$kernel" "$version" "${sources[*]}" "$@") >&2
}

build_provider() {
	if [[ ! -x $repo/tools/provider/build ]]; then
		say "no tools/provider/build yet: no provider"
		return
	fi
	(in_root -b "$repo:/rover" "${clean_env[@]}" env -C /rover tools/provider/build build/provider) >&2
}
