# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# debug.sh: the debug kernel, built from the distribution's source of the newest kernel with debug.config and nothing else. It lies
# in the root tree like any source package, ready to build modules against.

debug_suffix=-rover-debug

debug_key() { key_of "$lab_dir/debug.config"; }
debug_ready() {
	[[ $(cat "$cache/kernels/debug" 2>/dev/null) == "$(newest_series)".* && $(cat "$cache/debug.stamp" 2>/dev/null) == "$(debug_key)" ]]
}

prepare_debug() {
	debug_ready && return
	rm -f "$cache/debug.stamp" "$cache/kernels/debug"
	say "building the debug kernel: ten minutes or more, log in $cache/debug.log"
	(in_root -r "$lab_dir:/srv/lab" "${clean_env[@]}" SERIES="$(newest_series)" SUFFIX=$debug_suffix CCACHE_DISABLE=1 nice -n 19 bash -euo pipefail -c "$(declare -f compile_debug); compile_debug") \
		>"$cache/debug.log" 2>&1 || { tail -n 30 "$cache/debug.log" >&2; die "the debug kernel did not build"; }
	# What guests were started with is of an older build of the same version.
	rm -f "$cache"/boot/*"$debug_suffix"*
	cat "$root/usr/src/linux-debug/include/config/kernel.release" >"$cache/kernels/debug"
	debug_key >"$cache/debug.stamp"
}

# Runs inside the root tree. A source tree of the same version is used again, so that a change of debug.config costs only what it touches.
compile_debug() {
	local source version lost tree=/usr/src/linux-debug
	version=$(apt-cache policy "linux-source-$SERIES" | sed -n 's/^ *Candidate: //p')
	if [[ $(cat $tree/.source 2>/dev/null) != "$version" ]]; then
		rm -rf $tree /usr/src/rover-debs
		mkdir -p $tree /usr/src/rover-debs
		cd /usr/src/rover-debs || return
		apt-get -qq -o APT::Sandbox::User=root download "linux-source-$SERIES=$version"
		source=$(dpkg-deb --fsys-tarfile ./*.deb | tar -t | grep '\.tar\.xz$')
		dpkg-deb --fsys-tarfile ./*.deb | tar -xO "$source" | tar -xJ --strip-components=1 -C $tree
		rm -rf /usr/src/rover-debs
		echo "$version" >$tree/.source
	fi
	cd $tree || return
	{
		cat /srv/lab/debug.config
		echo "CONFIG_LOCALVERSION=\"$SUFFIX\""
	} >.wanted
	KCONFIG_ALLCONFIG=.wanted make -s allnoconfig
	lost=$(grep -E '^(# )?CONFIG_' .wanted | grep -vxFf .config || true)
	if [[ $lost ]]; then
		printf 'kconfig did not take:\n%s\n' "$lost"
		return 1
	fi
	[[ ! ${ONLY_CONFIG:-} ]] || return 0
	make -s -j"$(nproc)" bzImage modules
	rm -rf "/lib/modules/"*"$SUFFIX"
	make -s INSTALL_MOD_PATH=/usr modules_install
	install -m 644 arch/x86/boot/bzImage "/boot/vmlinuz-$(cat include/config/kernel.release)"
}
