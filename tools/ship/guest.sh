# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh: machines of the ship tests. A machine is a tree, $suite-END in ship/, that a guest boots
# as a Debian with systemd; the commands of a test get into it through a port (agent). eth0 is an
# Ethernet between the machines a and b, eth1 leads to nothing but make of the host.

# The lab's way of starting guests: qemu_machine, add_share; kernel_image.
for part in kernels guest; do
	# shellcheck source=/dev/null
	. "$ship_dir/../vm/$part.sh"
done

agent_dir=$ship_dir/agent
# Of this run: its folder, and the processes and the ports of the guests by end.
run=
declare -A guests=() asks=() answers=()
# Options of QEMU for a firmware, if any.
firmware=()
# What the last command has printed.
guest_said=
steps=0
# What all guests have in common, for qemu_machine and add_share.
shares=virtiofs seconds=14400 grace=60 count=0

guests_begin() {
	run=$(mktemp -d "$cache/ship/run.XXXXXX")
	trap guests_end EXIT
	trap 'exit 143' INT TERM HUP
}

# Those that a failed test has left, too; they have the trees mounted.
kill_machines() {
	((!${#guests[@]})) || kill "${guests[@]}" 2>/dev/null
	wait
	guests=() firmware=()
}

guests_end() {
	kill_machines
	[[ ! $run ]] || rm -rf --one-file-system "$run"
}

# kernels_in TREE: the kernels that a machine has, oldest first
kernels_in() { (cd "$1/boot" && printf '%s\n' vmlinuz-*) | sed 's/^vmlinuz-//' | sort -V; }

# An initramfs that mounts the root tree and no more.
boot_files() {
	local root=$tree stage=$run/initramfs
	mkdir -p "$stage"/{bin,dev,proc,sys,new,modules}
	cp "$(kernel_image "$version")" "$run/$image" && cp "$cache/root/bin/busybox" "$stage/bin/" &&
		stage_modules "$stage" "$version" virtio_pci virtiofs || return
	cat >"$stage/init" <<-'INIT'
		#!/bin/busybox sh
		/bin/busybox --install -s /bin
		mount -t proc proc /proc
		mount -t devtmpfs dev /dev
		while read -r module; do insmod "/modules/$module.ko"; done </modules/list
		mount -t virtiofs root /new
		mount --move /dev /new/dev
		exec switch_root /new /sbin/init
	INIT
	chmod 755 "$stage/init"
	root=$cache/root
	(in_root -b "$stage:/srv/run" sh -c 'cd /srv/run && find . | cpio --quiet -o -H newc') >"$run/$end.initrd"
	rm -rf "$stage"
}

# prepare_machine END: what a tree needs to be one of the machines
prepare_machine() {
	local end=$1 tree=$cache/ship/$suite-$1 number=1
	[[ $end == a ]] || number=2
	rm -f "$tree/.complete" "$tree/usr/sbin/policy-rc.d"
	# Recommended packages are installed, as on other machines.
	sed -i '/Install-Recommends/d' "$tree"/etc/apt/apt.conf.d/*
	echo "machine-$end" >"$tree/etc/hostname"
	printf '127.0.0.1 localhost machine-%s\n' "$end" >"$tree/etc/hosts"
	printf '[Match]\nName=eth0\n[Network]\nAddress=192.0.2.%d/24\n' $number \
		>"$tree/etc/systemd/network/10-eth0.network"
	printf '[Match]\nName=eth1\n[Network]\nAddress=10.0.2.15/24\n' \
		>"$tree/etc/systemd/network/10-eth1.network"
	# Names as without systemd: eth0 with any firmware.
	ln -sf /dev/null "$tree/etc/systemd/network/99-default.link"
	mkdir -p "$tree/agent/"{bin,steps}
	cp "$agent_dir"/* "$tree/agent/"
	ln -sf ../make "$tree/agent/bin/make"
	echo 'DPkg::Path "/agent/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";' \
		>"$tree/etc/apt/apt.conf.d/80agent"
	cat >"$tree/etc/systemd/system/agent.service" <<-'UNIT'
		[Unit]
		After=systemd-networkd.service
		[Service]
		ExecStart=/agent/agent
		KillMode=process
		[Install]
		WantedBy=multi-user.target
	UNIT
	in_tree "$suite-$end" "${tree_env[@]}" bash -c '
		systemd-machine-id-setup
		# As after a first start.
		/usr/lib/systemd/systemd-update-done
		systemctl -q enable systemd-networkd agent.service
		systemctl -q mask apt-daily{,-upgrade}.timer man-db.timer serial-getty@.service' >&2
}

# make_firmware KEY: UEFI with the key of a file among those that it, and so the kernel, trusts
make_firmware() {
	cp "$1" "$run/key.der"
	# shellcheck disable=SC2016 # the inner shell expands these
	(in_root -b "$run:/srv/run" sh -euc '
		cd /srv/run
		openssl x509 -inform der -in key.der -out key.pem
		virt-fw-vars --input /usr/share/OVMF/OVMF_VARS_4M.fd --output firmware.fd \
			--add-db "$(cat /proc/sys/kernel/random/uuid)" key.pem
	') >"$run/firmware.said" 2>&1 || { guest_said=$run/firmware.said; return 1; }
	firmware=(-drive "if=pflash,format=raw,unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd"
		-drive "if=pflash,format=raw,unit=1,file=/srv/run/firmware.fd")
}

# start_machine END KERNEL [PARAMETER...]: start it, and wait until systemd has started the agent
start_machine() {
	local end=$1 version=$2 image=$1.vmlinuz tree=$cache/ship/$suite-$1 machine accelerator
	local binds=(-b "$run:/srv/run" -r "$run:/srv/boot" -b "$cache/ship/$suite-$1:/srv/$1")
	local number=1 cpus=2 server=server=on name='' asked answered
	shift 2
	[[ $end == a ]] || { number=2 cpus=1 server=server=off,reconnect-ms=50; }
	boot_files || return
	pick_accelerator
	: >"$run/$end.console"
	qemu_machine 2048 $cpus "$run/$end.console" net.ifnames=0 systemd.show_status=no \
		systemd.default_timeout_start_sec=900 systemd.default_device_timeout_sec=900 "$@"
	rm -f "$run/$end.port."*
	mkfifo "$run/$end.port.in" "$run/$end.port.out"
	exec {asked}<>"$run/$end.port.in" {answered}<>"$run/$end.port.out"
	asks[$end]=$asked answers[$end]=$answered
	machine+=("${firmware[@]}" -initrd "/srv/run/$end.initrd"
		-chardev "pipe,id=agent,path=/srv/run/$end.port"
		-device "virtserialport,nr=1,chardev=agent,name=agent"
		-netdev "stream,id=data,$server,addr.type=unix,addr.path=/srv/run/data.sock"
		-device "virtio-net-pci,netdev=data,mac=52:54:00:77:00:0$number,romfile="
		-netdev "user,id=host,restrict=on,guestfwd=tcp:10.0.2.100:9-cmd:chroot /srv/$end /agent/build"
		-device "virtio-net-pci,netdev=host,mac=52:54:00:78:00:0$number,romfile=")
	add_share "$end" root "/srv/$end"
	# For objtool; the guest, which has its own, does not see it.
	in_root "${binds[@]}" -b "/proc:/srv/$end/proc" timeout -s KILL $((seconds + grace)) qemu-system-x86_64 "${machine[@]}" \
		>"$run/$end.qemu" 2>&1 &
	guests[$end]=$!
	read -rt 600 -u "${answers[$end]}" name
	[[ $name == ready ]] && return
	cat "$run/$end.qemu" "$run/$end.console" >"$run/$end.said"
	guest_said=$run/$end.said
	return 1
}

# in_guest LIMIT END COMMANDS: run them in the machine, for LIMIT seconds; what they print is in $guest_said
in_guest() {
	local limit=$1 end=$2 tree=$cache/ship/$suite-$2 name status=
	name=$((++steps))
	echo "$3" >"$tree/agent/steps/$name"
	guest_said=$tree/agent/steps/$name.said
	: >"$guest_said"
	echo "$name $limit" >&"${asks[$end]}"
	until [[ $status == "$name "* ]]; do
		read -rt $((limit + 60)) -u "${answers[$end]}" status && continue
		{ echo "no answer; the console:"; tail -n 20 "$run/$end.console"; } >>"$guest_said"
		return 124
	done
	return "${status#* }"
}

# stop_machine END: let it end as it would by hand
stop_machine() {
	local end=$1 limit=$((SECONDS + 300))
	# The answer comes before the agent is stopped.
	in_guest 60 "$end" '(sleep 1; systemctl poweroff) >/dev/null 2>&1 &' || return
	while kill -0 "${guests[$end]}" 2>/dev/null; do
		if ((SECONDS > limit)); then
			cp "$run/$end.console" "$guest_said"
			kill "${guests[$end]}"
			return 1
		fi
		sleep 1
	done
	unset "guests[$end]"
}
