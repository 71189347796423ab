# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh: starts the guests and judges them. A guest is silent until proven well: only the line it writes to its verdict
# port, with the token of this run in it, ends in anything but a failure.

status_silent=124
status_splat=86

# The folders and the processes (by end) of this run, for the trap that outlives the function.
run=
out=
declare -A guests=()

# How a guest sees folders of the host: over 9p, or over virtiofs where the kernel has no 9p, as those for clouds. And what it needs
# before it can see the root tree, with what those modules need, in loading order.
choose_shares() {
	shares=9p
	boot_modules=(virtio_pci virtio_console 9pnet_virtio 9p overlay configfs)
	if ! (in_root modprobe -S "$version" -qn 9p); then
		shares=virtiofs
		boot_modules=(virtio_pci virtio_console virtiofs overlay configfs)
	fi
}

# add_share END TAG FOLDER [ro]: let a guest see a folder of the tree. A daemon of virtiofs ends with its guest.
# With file handles it does not keep a file open for each one that the guest has seen.
add_share() {
	local socket=$1.$2.sock readonly=${4:+,readonly=on} options=(--cache auto)
	if [[ $shares == 9p ]]; then
		machine+=(-fsdev "local,id=$2,path=$3,security_model=none,multidevs=remap$readonly" -device "virtio-9p-pci,fsdev=$2,mount_tag=$2")
		return
	fi
	[[ ! $readonly ]] || options=(--cache always --readonly)
	machine+=(-chardev "socket,id=$2,path=/srv/run/$socket" -device "vhost-user-fs-pci,chardev=$2,tag=$2")
	rm -f "$run/$socket"
	in_root "${binds[@]}" timeout -s KILL "$((seconds + grace))" /usr/libexec/virtiofsd --socket-path "/srv/run/$socket" --shared-dir "$3" \
		--sandbox none --inode-file-handles=prefer "${options[@]}" >"$run/$socket.log" 2>&1 &
	disown $!
	within_seconds 10 test -S "$run/$socket" || die "virtiofsd: $(<"$run/$socket.log")"
}

within_seconds() {
	local limit=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < limit)) || return
		sleep 0.05
	done
}

# The two files a kernel is started with are made once: $image and $initramfs, without what is particular to a run.
prepare_boot() {
	image=$cache/boot/$version.vmlinux
	initramfs=$cache/boot/$version-$(key_of "$lab_dir/init" "$lab_dir/on.c" "${boot_modules[*]}").cpio
	[[ -e $image && -e $initramfs ]] || with_lock "$cache/lock/boot" make_boot
}

make_boot() {
	mkdir -p "$cache/boot"
	[[ -e $image ]] || make_image
	[[ -e $initramfs ]] || make_initramfs
}

# The kernel without its wrapping, which takes an emulated processor seconds to undo: 0x1f1 has the sectors of the real-mode part
# before the payload, 0x248 the offset and 0x24c the length of the payload, the last four bytes of which are its unpacked size.
make_image() {
	local packed sectors offset length unpack
	packed=$(kernel_image "$version")
	# The bare kernel's entry (PVH) runs C before KASAN has its shadow, and dies of it.
	if [[ $kernel == debug ]]; then
		cp "$packed" "$image"
		return
	fi
	sectors=$(od -An -tu1 -j $((0x1f1)) -N 1 "$packed")
	offset=$(od -An -tu4 -j $((0x248)) -N 4 "$packed")
	length=$(od -An -tu4 -j $((0x24c)) -N 4 "$packed")
	offset=$(((sectors + 1) * 512 + offset))
	case $(od -An -tx4 -j "$offset" -N 4 "$packed") in
	*fd2fb528) unpack=(zstd -qdc) ;;
	*587a37fd) unpack=(xz -dc) ;;
	# As LZ4, which the kernel undoes quickly by itself (6.1-cloud).
	*) cp "$packed" "$image"; return ;;
	esac
	dd if="$packed" bs=64K iflag=skip_bytes,count_bytes skip="$offset" count=$((length - 4)) status=none |
		(in_root "${unpack[@]}") >"$image.new"
	mv "$image.new" "$image"
}

# stage_modules STAGE VERSION MODULE...: put them and what they need into STAGE/modules, and their names, in loading order, into its list
stage_modules() {
	local stage=$1 version=$2 module path names=()
	shift 2
	while read -r _ path; do
		module=${path##*/}
		module=${module%%.*}
		[[ " ${names[*]} " != *" $module "* ]] || continue
		names+=("$module")
		case $path in
		*.xz) xz -dc "$root/$path" ;;
		*.zst) zstd -qdc "$root/$path" ;;
		*) cat "$root/$path" ;;
		esac >"$stage/modules/$module.ko"
	done < <((in_root modprobe -S "$version" --show-depends -a "$@") | grep '^insmod')
	: >"$stage/modules/list"
	((!${#names[@]})) || printf '%s\n' "${names[@]}" >"$stage/modules/list"
}

make_initramfs() {
	local stage=$run/initramfs name
	mkdir -p "$stage"/{bin,dev,proc,sys,new,tree,repo,rw,modules,lab/bin}
	cp "$root/bin/busybox" "$stage/bin/"
	for name in sh mount echo grep mkdir cp ln insmod poweroff switch_root; do ln -s busybox "$stage/bin/$name"; done
	cp "$lab_dir/init" "$stage/init"
	chmod 755 "$stage/init"
	stage_modules "$stage" "$version" "${boot_modules[@]}"
	(in_root -b "$stage:/srv/run" -r "$lab_dir:/srv/lab" gcc -O2 -static -Wall -Wextra -Wno-missing-field-initializers -o /srv/run/lab/bin/on /srv/lab/on.c)
	(in_root -b "$stage:/srv/run" sh -c 'cd /srv/run && find . | cpio --quiet -o -H newc') >"$initramfs.new"
	rm -rf "$stage"
	mv "$initramfs.new" "$initramfs"
}

# KVM only where it is more than a device node: the flag, and a guest that really comes up. Asked once in the life of the host.
# Where instructions are counted the processor is emulated.
pick_accelerator() {
	local known=$cache/kvm answer boot emulated=(-accel 'tcg,thread=multi')
	((!count)) || emulated=(-accel 'tcg,thread=single' -icount 'shift=0,sleep=off')
	emulated+=(-cpu 'max,-erms,-fsrm')
	accelerator=("${emulated[@]}")
	((!count)) && [[ -w /dev/kvm ]] && grep -qwE 'vmx|svm' /proc/cpuinfo || return 0
	boot=$(cat /proc/sys/kernel/random/boot_id)
	if ! grep -qs "^$boot" "$known"; then
		say "trying KVM"
		answer=no
		accelerator=(-accel kvm -cpu host)
		: >"$run/probe"
		qemu_machine 256 1 "$run/probe.console" rover.probe
		machine+=(-device 'virtserialport,nr=2,chardev=probe' -chardev "file,id=probe,path=/srv/run/probe"
			-initrd "/srv/boot/${initramfs##*/}")
		(in_root "${binds[@]}" timeout -s KILL 20 qemu-system-x86_64 "${machine[@]}") >/dev/null 2>&1 || true
		[[ $(cat "$run/probe") != alive ]] || answer=yes
		echo "$boot $answer" >"$known"
	fi
	accelerator=("${emulated[@]}")
	! grep -qs "^$boot yes" "$known" || accelerator=(-accel kvm -cpu host)
}

# The command line common to all guests, in $machine: MEGABYTES CPUS CONSOLE [KERNEL PARAMETERS]...
# Time limits of the kernel's own watchdogs are raised: an emulated processor may stand still for long without anybody being
# at fault. A task blocked for a minute is what tests look for.
qemu_machine() {
	local megabytes=$1 cpus=$2 console=$3 memory=()
	shift 3
	# The daemons of virtiofs read and write the guest's memory.
	[[ $shares == 9p ]] || memory=(-object "memory-backend-memfd,id=memory,size=${megabytes}M,share=on" -machine memory-backend=memory)
	# In one line: an EFI kernel ignores what is behind a newline.
	local words=(console=ttyS0 loglevel=5 panic=-1 mitigations=off no5lvl tsc=reliable nmi_watchdog=0 log_buf_len=2M random.trust_cpu=on
		rcupdate.rcu_cpu_stall_timeout=120 sysctl.kernel.hung_task_timeout_secs=60 sysctl.kernel.watchdog_thresh=60
		workqueue.watchdog_thresh=0 sysctl.kernel.softlockup_panic=0 audit=0 8250.nr_uarts=1 brd.rd_nr=1)
	machine=(-nodefaults -no-user-config -display none -no-reboot -M "q35,usb=off,smbus=off,sata=off" "${memory[@]}" "${accelerator[@]}" -m "$megabytes" -smp "$cpus"
		-kernel "/srv/boot/${image##*/}"
		-chardev "file,id=console,path=/srv/run/${console##*/}" -serial chardev:console
		-device "virtio-serial-pci,max_ports=4" -device virtio-rng-pci
		-append "${words[*]} $*")
}

# Start the guest of one end in the background.
start_guest() {
	local end=$1 number=1 more=()
	[[ $end == a ]] || number=2
	: >"$run/$end.verdict"
	: >"$run/$end.console"
	((leaks)) || more=(kmemleak=off)
	[[ ! $append ]] || more+=("$append")
	qemu_machine "$megabytes" "$cpus" "$run/$end.console" "${more[@]}"
	machine+=(-initrd "/srv/run/$end.initrd"
		-device 'virtserialport,nr=2,chardev=verdict' -chardev "file,id=verdict,path=/srv/run/$end.verdict")
	add_share "$end" root /srv/root ro
	add_share "$end" rover /srv/repo ro
	add_share "$end" out /srv/out
	if [[ $topology == pair ]]; then
		local net address
		for net in data:77 lab:78; do
			address=server=on
			((number == 1)) || address=server=off,reconnect-ms=50
			machine+=(-netdev "stream,id=${net%:*},$address,addr.type=unix,addr.path=/srv/run/${net%:*}.sock"
				-device "virtio-net-pci,ctrl_vlan=off,netdev=${net%:*},mac=52:54:00:${net#*:}:00:0$number,romfile=")
		done
	fi
	# What the command prints goes to our own standard output without a detour.
	[[ $end == b ]] || machine+=(-add-fd 'fd=3,set=1' -device 'virtserialport,nr=1,chardev=output'
		-chardev 'file,id=output,path=/dev/fdset/1,append=on')
	{
		echo "END=$end TOPOLOGY=$topology KERNEL=$kernel MTU=$mtu ROVER=$rover SECONDS_ALLOWED=$seconds TOKEN=$token"
		printf 'COMMAND=('
		printf '%q ' "${command[@]}"
		echo ')'
	} >"$run/$end.stage/lab/config"
	cp "$lab_dir/session" "$lab_dir/splats" "$run/$end.stage/lab/"
	(in_root -b "$run/$end.stage:/srv/run" sh -c 'cd /srv/run && find . | cpio --quiet -o -H newc') | cat "$initramfs" - >"$run/$end.initrd"
	# The guest ends by itself a little after its command's time; this is for one that no longer can. It is the
	# parent of QEMU, so that the end comes even if this script is killed.
	in_root "${binds[@]}" timeout -s KILL "$((seconds + grace))" qemu-system-x86_64 "${machine[@]}" 3>&1 >"$run/$end.qemu" 2>&1 &
	guests[$end]=$!
}

# come_up END...: wait until their kernels have come up or are gone; those that take too long are ended
come_up() {
	local limit=$((SECONDS + 60)) end
	[[ $kernel != debug ]] || limit=$((SECONDS + 240))
	until booted "$@"; do
		for end; do kill -0 "${guests[$end]}" 2>/dev/null || return 0; done
		((SECONDS < limit)) || { kill "${guests[@]}" 2>/dev/null || true; return 0; }
		sleep 0.5
	done
}

# run_to_the_end END...: start their guests, and wait until they are gone
run_to_the_end() {
	local end
	for end; do start_guest "$end"; done
	come_up "$@"
	# Once one guest is gone without its word there is no use in waiting for the other.
	for _; do
		wait -n || true
		for end; do [[ -s $run/$end.verdict ]] || kill -0 "${guests[$end]}" 2>/dev/null || return 0; done
	done
}

# booted END...: did the kernels get as far as to init?
booted() {
	local end
	for end; do grep -aq '^init: begins' "$run/$end.console" || return 1; done
}

# What a guest's verdict line amounts to, as an exit status.
judge() {
	local end=$1 word status problems
	read -r word status problems < <(sed -n "s/^verdict $token status \([0-9]*\) problems \([0-9]*\)$/said \1 \2/p" "$run/$end.verdict") || true
	if [[ $word != said ]]; then
		printf 'vm: guest %s went silent; the end of its console:\n' "$end" >&2
		tail -n 60 "$run/$end.console" >&2 || true
		cat "$run/$end.qemu" >&2
		return $status_silent
	fi
	if ((status == status_silent)); then
		printf 'vm: the command took too long; the end of the console:\n' >&2
		tail -n 100 "$run/$end.console" >&2
	fi
	((!problems)) || return $status_splat
	return "$status"
}

# Our children are timeout programs; they pass the signal on to QEMU.
end_guests() {
	((!${#guests[@]})) || kill "${guests[@]}" 2>/dev/null || true
	wait
	[[ ! ${SUDO_UID:-} || $out == "$run/out" ]] || chown -R "$SUDO_UID:${SUDO_GID:-}" "$out"
	rm -rf --one-file-system "$run"
}

# At most as many runs at a time as there are processors, on the whole machine: more emulated processors would slow each other down
# until tests exceed their time limits. The lock is on a descriptor that the guests inherit, so it lasts as long as they do.
take_slot() {
	local slot told=
	while :; do
		for ((slot = 0; slot < ${ROVER_SLOTS:-$(nproc)}; slot++)); do
			exec 8>"$cache/lock/slot$slot"
			! flock -n 8 || return 0
		done
		[[ $told ]] || say "waiting for other guests to end"
		told=1
		sleep 1
	done
}

# The folders of runs that were killed before they could clean up; the name starts with the process id.
drop_stale_runs() {
	local path pid
	for path in "$cache"/run/*; do
		pid=${path##*/}
		kill -0 "${pid%%.*}" 2>/dev/null || rm -rf --one-file-system "$path"
	done
}

run_guests() {
	local kernel=newest topology=single cpus='' mtu=4200 megabytes='' seconds=300 rover=1 command grace=180
	local leaks=1 count=0 append='' version image initramfs token end ends=(a) status=0 one machine accelerator binds shares boot_modules
	while [[ ${1:-} == -* ]]; do
		case $1 in
		--kernel) kernel=$2 ;;
		--topology) topology=$2 ;;
		--cpus) cpus=$2 ;;
		--mtu) mtu=$2 ;;
		--mem) megabytes=$2 ;;
		--append) append=$2 ;;
		--timeout) seconds=$2 ;;
		--out) out=$2 ;;
		--no-rover) rover=0; shift; continue ;;
		--no-leaks) leaks=0; shift; continue ;;
		--count) count=1; shift; continue ;;
		--quiet) quiet=1; shift; continue ;;
		--) shift; break ;;
		*) die "run: no option $1" ;;
		esac
		shift 2
	done
	(($#)) || die "run: no command"
	command=("$@")
	[[ $topology == single || $topology == pair ]] || die "no topology $topology"
	prepare "$kernel"
	kernel=$(kernel_named "$kernel")
	version=$(kernel_version "$kernel")
	if [[ $kernel == debug ]]; then
		: "${megabytes:=2048}"
		grace=420
	fi
	: "${megabytes:=1536}"
	((!count)) || [[ ${cpus:=1} == 1 && $topology == single ]] || die "run: only one processor can be counted"
	# Emulated processors that share one of ours starve each other; a pair has those of two guests.
	if [[ ! $cpus ]]; then
		cpus=2
		[[ $topology == single || $(nproc) -ge 4 ]] || cpus=1
	fi
	[[ $rover == 0 ]] || built "$kernel" || build "$kernel"

	mkdir -p "$cache/run"
	drop_stale_runs
	run=$(mktemp -d "$cache/run/$$.XXXXXX")
	trap end_guests EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	[[ $out ]] || out=$run/out
	mkdir -p "$out" "$run/a.stage/lab" "$run/b.stage/lab"
	choose_shares
	prepare_boot
	token=$(head -c 8 /proc/sys/kernel/random/uuid)
	binds=(-r "$root:/srv/root" -r "$repo:/srv/repo" -r "$cache/boot:/srv/boot" -b "$run:/srv/run" -b "$(realpath "$out"):/srv/out")
	[[ $topology == single ]] || ends+=(b)
	take_slot
	pick_accelerator
	run_to_the_end "${ends[@]}"
	# An emulated processor now and then trips over code that another one is patching (int3 in sched_clock_tick), or sleeps for
	# ever since its timer does not go off (6.1): where nothing of ours has run yet it is not ours to find.
	if ! booted "${ends[@]}"; then
		say "a kernel did not come up; once more"
		tail -n 20 "$run"/?.console >&2
		kill "${guests[@]}" 2>/dev/null || true
		wait
		run_to_the_end "${ends[@]}"
	fi
	for end in "${ends[@]}"; do
		one=0
		judge "$end" || one=$?
		# The worst wins: a silent guest, then a complaint, then the command's own status.
		if ((one == status_silent || (one == status_splat && status != status_silent) || !status)); then status=$one; fi
	done
	return "$status"
}
