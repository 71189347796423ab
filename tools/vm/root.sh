# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# root.sh: the root tree, a Debian 13 made once with mmdebstrap and kept in the cache.

release=trixie

# apt's own index of what this machine uses, since sources come in several notations. LABEL tells the main archive from
# the security one. No mirror is named in this repository.
mirror_of() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' |
		sed -n "s,^$1|\(https\?://.*[^/]\)/*\$,\1,p" | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }'
}

host_packages() {
	local missing=() pair
	for pair in mmdebstrap:mmdebstrap unshare:util-linux flock:util-linux; do
		command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
	done
	[[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || missing+=(debian-archive-keyring)
	[[ $(mirror_of Debian) ]] && ((!${#missing[@]})) && return
	command -v apt-get >/dev/null || die "the lab is made with apt-get and mmdebstrap: it needs a Debian machine"
	say "installing on this machine: ${missing[*]:-the package lists}"
	apt-get -qq update >&2
	((!${#missing[@]})) || apt-get -qq install -y --no-install-recommends "${missing[@]}" >&2
}

# trixie for the tree, its backports for the newest kernel, bookworm for the oldest (older versions: apt prefers trixie's by itself).
# Sources too: the provider is built inside the rdma-core source of the distribution.
sources_list() {
	local main security suite
	main=$(mirror_of Debian)
	security=$(mirror_of Debian-Security)
	[[ $main ]] || die "apt on this machine knows no Debian mirror"
	for suite in $release $release-updates $release-backports bookworm bookworm-updates; do
		echo "deb $main $suite main"
	done
	echo "deb-src $main $release main"
	[[ ! $security ]] || printf "deb $security %s main\n" $release-security bookworm-security
}

wanted_packages() { sed 's/#.*//' "$lab_dir/packages.list" | awk 'NF { print $1 }'; }

# What this machine's apt has been told of the way to the archive, as options of mmdebstrap.
host_apt_options() {
	local name value
	options=()
	for name in Acquire::http::Proxy Acquire::Check-Valid-Until; do
		value=$(apt-config dump $name --format '%v')
		[[ ! $value ]] || options+=(--aptopt="$name \"$value\"")
	done
}

make_root() {
	local new=$cache/root.new options
	host_packages
	say "making the root tree in $root"
	rm -rf --one-file-system "$new"
	host_apt_options
	# Without fsync, documentation, translations: quicker, and a third of the size.
	sources_list >"$cache/sources.list"
	mmdebstrap --quiet --variant=minbase --mode=root \
		--aptopt='Acquire::Languages "none"' --aptopt='APT::Install-Recommends "false"' --aptopt='Dpkg::Use-Pty "0"' \
		--dpkgopt=force-unsafe-io --dpkgopt=path-exclude=/usr/share/man/\* --dpkgopt=path-exclude=/usr/share/locale/\* \
		--dpkgopt=path-exclude=/usr/share/doc/\* "${options[@]}" "$release" "$new" - <"$cache/sources.list" >&2
	# Nothing is ever started by a package's scripts, and the root password is empty, for logins on a console.
	printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"
	chmod 755 "$new/usr/sbin/policy-rc.d"
	mkdir -p "$new/rover" "$new/out" "$new/lab"
	mv "$new" "$root"
}

fill_root() {
	local list
	mapfile -t list < <(wanted_packages)
	say "installing ${#list[@]} packages and what they need into the root tree"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
	(in_root "${clean_env[@]}" apt-get -qq update) >&2
	(in_root "${clean_env[@]}" apt-get -qq install -y --no-install-recommends "${list[@]}") >"$cache/install.log" 2>&1 ||
		{ tail -n 20 "$cache/install.log" >&2; die "package installation failed, see $cache/install.log"; }
	rm -f "$root"/var/cache/apt/archives/*.deb
}

# The stamp lists what is in the tree, so that another checkout with a shorter list does not start anything.
root_ready() { [[ -s $cache/root.stamp ]] && [[ ! $(wanted_packages | grep -vxFf "$cache/root.stamp") ]]; }

prepare_root() {
	root_ready && return
	[[ -d $root ]] || make_root
	fill_root
	wanted_packages >"$cache/root.stamp"
}
