# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# kernels.sh: the distribution's kernels with their headers, unpacked into the root tree. Unpacked and not installed: an
# installation would make an initramfs that nobody boots and run hooks that nobody needs.
#
# Which kernels is a rule and not a list: the kernel of each suite in sources_list() (root.sh), and the series before the newest while
# the archive has both. $cache/series holds what the rule gave last, oldest first.

# Modules that no virtual machine without a screen or a disk asks for; without them a kernel takes a fifth of the space, and
# depmod a fifth of the time.
unwanted_modules=(sound drivers/{accel,ata,bluetooth,comedi,counter,edac,extcon,firewire,gnss,gpu,hid,hwmon,i2c,i3c,iio,input,isdn}
	drivers/{leds,mailbox,media,message,mfd,mmc,mtd,nfc,ntb,parport,pcmcia,phy,pinctrl,platform,pwm,rapidio,regulator,rtc}
	drivers/{soundwire,spi,ssb,staging,thunderbolt,usb,video,w1,watchdog}
	drivers/net/{arcnet,can,dsa,ethernet,fddi,hamradio,ieee802154,plip,usb,wan,wireless,wwan}
	drivers/infiniband/hw net/{bluetooth,ieee802154,mac80211,nfc,wireless} fs/{bcachefs,btrfs,ceph,gfs2,jfs,ocfs2,xfs})

# Debian's other builds of a kernel, by KERNEL=SERIES-FLAVOUR. They are installed when one is asked for, and no check asks for all.
flavours=(cloud rt)

# The full version of kernel K, as uname -r says it.
kernel_version() {
	[[ -s $cache/kernels/$1 ]] || die "kernel $1 is not prepared"
	cat "$cache/kernels/$1"
}

# archive_kernels SERIES [FLAVOUR]: the versions of a series ([0-9.]+ for any) that have both an image and headers, oldest first: either
# may be late in the archive.
archive_kernels() {
	local arch=${2:+$2-}amd64
	(in_root apt-cache search --names-only "^linux-(image|headers)-$1\.[^ ]*-$arch\$") |
		sed -nE "s/^linux-(image|headers)-([0-9.]+(\+deb[0-9]+|-[0-9]+)(\+[^ -]*)?-$arch) .*/\2/p" | sort -V | uniq -d
}

# resolve_kernel K: its newest version; K is a series, or one with a flavour
resolve_kernel() {
	local series=${1%%-*}
	archive_kernels "${series//./\\.}" "$(cut -s -d- -f2 <<<"$1")" | tail -n 1
}

# The rule. Whatever a suite calls its kernel but has no headers for waits until it has.
archive_series() {
	local complete
	complete=$(archive_kernels '[0-9.]+' | sed -nE 's/^([0-9]+\.[0-9]+)\..*/\1/p' | uniq)
	{
		(in_root apt-cache madison linux-image-amd64) | sed -nE 's/^[^|]*\| *([0-9]+\.[0-9]+)\..*/\1/p'
		tail -n 2 <<<"$complete"
	} | sort -Vu | grep -xF "$complete"
}

known_series() { cat "$cache/series" 2>/dev/null || true; }
newest_series() { known_series | tail -n 1; }

# vm prepare asks the archive, once a day, and nobody else does: kernels do not change under a check that runs. Without an answer
# those that are here go on serving.
series_fresh() { [[ -s $cache/series ]] && [[ ! ${ask_archive:-} || $(find "$cache/series" -mmin -1440) ]]; }

find_series() {
	local found line
	series_fresh && return
	if [[ ! -s $cache/series ]] || (in_root "${clean_env[@]}" apt-get -qq -o APT::Update::Error-Mode=any update) >&2; then
		found=$(archive_series)
	else
		say "the archive does not answer: no newer kernels than before"
	fi
	: "${found:=$(known_series)}"
	[[ $found ]] || die "the archive has no kernel with headers"
	for line in $(known_series); do grep -qxF "$line" <<<"$found" || say "kernel $line has left the archive"; done
	for line in $found; do known_series | grep -qxF "$line" || say "kernel $line is new here"; done
	mkdir -p "$cache"
	echo "$found" >"$cache/series.new"
	mv "$cache/series.new" "$cache/series"
}

# What KERNEL= and --kernel may say, as the name of one kernel: a series or newest, with or without a flavour, or debug.
kernel_named() {
	local name=$1 flavour
	[[ $name != newest* ]] || name=$(newest_series)${name#newest}
	flavour=${name#"${name%%-*}"}
	[[ $name == debug ]] || { grep -qxF "${name%%-*}" "$cache/series" && [[ ! $flavour || " ${flavours[*]/#/-} " == *" $flavour "* ]]; } ||
		die "no kernel $1: newest, debug, $(known_series | paste -sd' '), or one of these with ${flavours[*]/#/-}"
	echo "$name"
}

# All linux-* packages that the given ones need; of alternatives, the first.
kernel_closure() {
	local todo=("$@") seen=' ' name
	while ((${#todo[@]})); do
		name=${todo[0]}
		todo=("${todo[@]:1}")
		[[ $seen != *" $name "* ]] || continue
		seen+="$name "
		mapfile -t -O "${#todo[@]}" todo < <((in_root apt-cache show --no-all-versions "$name") |
			sed -n 's/^Depends: //p' | tr ',' '\n' | sed -nE 's/^ *(linux-(base|binary|modules|image|headers|kbuild|compiler)-[^ |]*).*/\1/p')
	done
	# shellcheck disable=SC2086 # one word each
	printf '%s\n' $seen
}

install_kernel() {
	local kernel=$1 version=$2 debs=/var/cache/rover-debs unpacked=$cache/kernels.unpacked list exclude deb
	mapfile -t list < <(kernel_closure "linux-image-$version" "linux-headers-$version")
	say "kernel $kernel: $version (${#list[@]} packages)"
	rm -rf "$root$debs"
	mkdir -p "$root$debs" "$unpacked"
	(in_root "${clean_env[@]}" env -C "$debs" apt-get -qq -o APT::Sandbox::User=root download "${list[@]}") >&2
	exclude=()
	for deb in "${unwanted_modules[@]}"; do exclude+=(--exclude="*/lib/modules/*/kernel/$deb"); done
	for deb in "$root$debs"/*.deb; do
		# Flavours share packages, and a build may be reading what is there.
		[[ ! -e $unpacked/${deb##*/} ]] || continue
		# The tree's /lib is a link to /usr/lib, and has to remain one though older packages carry a folder.
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x -C "$root" --keep-directory-symlink --exclude='./usr/share/doc' --exclude='./usr/share/lintian' "${exclude[@]}"
		touch "$unpacked/${deb##*/}"
	done
	rm -rf "${root:?}$debs"
	# Unpacked once here instead of in every guest, where it takes ten times as long.
	find "$root/usr/lib/modules/$version" -name '*.ko.xz' -exec xz -d {} +
	[[ -e $(kernel_image "$version") ]] || die "no image of $version in ${list[*]}"
	(in_root depmod "$version") >&2
	echo "$version" >"$cache/kernels/$kernel"
}

# Newer packages have the image beside the modules, older ones in /boot.
kernel_image() {
	local path
	for path in "$root/boot/vmlinuz-$1" "$root/usr/lib/modules/$1/vmlinuz"; do
		[[ ! -e $path ]] || { echo "$path"; return; }
	done
	echo "$root/boot/vmlinuz-$1"
}

kernels_ready() {
	local kernel
	series_fresh || return
	for kernel in $(known_series); do [[ -s $cache/kernels/$kernel ]] || return; done
}

# A newer build of a series takes the place of an older one, whose files stay: guests may be running from them.
prepare_kernels() {
	local kernel version
	mkdir -p "$cache/kernels"
	find_series
	for kernel in $(known_series); do
		version=$(resolve_kernel "$kernel")
		[[ $version ]] || [[ -s $cache/kernels/$kernel ]] || die "the archive has no kernel $kernel with headers"
		[[ ! $version || $(cat "$cache/kernels/$kernel" 2>/dev/null) == "$version" ]] || install_kernel "$kernel" "$version"
	done
}

# A flavour is looked for once a day.
flavour_ready() { [[ $(find "$cache/kernels/$1" -mmin -1440 2>/dev/null) ]]; }

prepare_flavour() {
	local version
	flavour_ready "$1" && return
	version=$(resolve_kernel "$1")
	[[ $version ]] || [[ -s $cache/kernels/$1 ]] || die "the archive has no kernel $1 with headers"
	if [[ $version && $(cat "$cache/kernels/$1" 2>/dev/null) != "$version" ]]; then
		install_kernel "$1" "$version"
	else
		touch "$cache/kernels/$1"
	fi
}

# One a line, oldest first, the debug kernel last, without flavours.
list_kernels() {
	local kernel
	for kernel in $(known_series) debug; do
		[[ ! -s $cache/kernels/$kernel ]] || printf '%-6s %s\n' "$kernel" "$(cat "$cache/kernels/$kernel")"
	done
}
