# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# status.sh: rover status. Prints links and GIDs, then each thing that is wrong by name, with the
# command that mends it. Exit status 1 if something keeps RDMA from working.

# In the order in which things are needed. Each is a function check_NAME.
checks=(module uverbs provider port links firewall memlock)

found=0 problems=0

# finding problem|note NAME TEXT MEND
finding() {
	((found++)) || echo
	[[ $1 != problem ]] || ((problems++))
	printf '%s: %s: %s\n    %s\n' "$1" "$2" "$3" "$4"
}
problem() { finding problem "$@"; }
note() { finding note "$@"; }

declare -A netdevs=() gids=()

show_link() {
	local name=$1 netdev=${netdevs[$1]} state mtu path=- index version address interface
	port_state "$name"
	state=$REPLY
	value "$root/sys/class/net/$netdev/mtu"
	mtu=$REPLY
	[[ ! $mtu ]] || { path_mtu "$mtu" && path=$REPLY; }
	printf '%-15s %-15s %-8s %6s %9s\n' "$name" "${netdev:--}" "${state:--}" "${mtu:--}" "$path"
	while read -r index version address interface; do
		[[ ! $index ]] ||
			printf '  GID %-3s RoCE %-3s %-40s %s\n' "$index" "$version" "$address" "$interface"
	done <<<"${gids[$name]}"
}

show_links() {
	local name
	printf '%-15s %-15s %-8s %6s %9s\n' DEVICE INTERFACE STATE MTU "PATH MTU"
	for name in "${links[@]}"; do
		netdevs[$name]=$(netdev_of "$name")
		gids[$name]=$(gids_of "$name")
		show_link "$name"
	done
}

loaded_module() { [[ -d $root/sys/module/rover ]]; }

wants_signatures() {
	value "$root/sys/module/module/parameters/sig_enforce"
	[[ $REPLY == Y ]] || grep -qsE '\[(integrity|confidentiality)\]' "$root/sys/kernel/security/lockdown"
}

# Is the one who signed the installed module among the keys of the kernel? As far as this user sees.
signer_is_known() {
	local signer
	grep -qs ' asymmetri ' "$root/proc/keys" || return 0
	signer=$(modinfo -F signer rover 2>/dev/null)
	[[ $signer ]] && grep -qsF "asymmetri $signer: " "$root/proc/keys"
}

check_module() {
	local kernel installed loaded
	kernel=$(uname -r)
	installed=$(modinfo -F srcversion rover 2>/dev/null)
	value "$root/sys/module/rover/srcversion"
	loaded=$REPLY
	if loaded_module; then
		[[ ! $installed || ! $loaded || $installed == "$loaded" ]] ||
			problem module-old "the loaded module is not the installed one, which is newer" \
				"rmmod rover, when no program uses it; then add the links again"
	elif [[ ! $installed ]]; then
		problem module-missing "no module for the running kernel, $kernel" \
			"apt install linux-headers-$kernel rover-dkms && dkms autoinstall"
	elif wants_signatures && ! signer_is_known; then
		problem module-unsigned "the kernel takes only modules that are signed with a key it knows" \
			"mokutil --import /var/lib/dkms/mok.pub, and restart: see rover(7), SECURITY"
	fi
}

check_uverbs() {
	local files=("$root"/dev/infiniband/uverbs*)
	((${#links[@]})) || return 0
	if [[ ! -e ${files[0]} ]]; then
		problem uverbs-missing "no /dev/infiniband/uverbs*: programs cannot use the device" \
			"modprobe ib_uverbs"
	elif [[ ! -w ${files[0]} ]]; then
		problem uverbs-access "this user may not open ${files[0]#"$root"}" \
			"chmod 666 ${files[0]#"$root"}, or a udev rule with MODE=\"0666\""
	fi
}

built_by_hand="in rover's source: make provider && sudo tools/install-provider build/own/provider"

# What a librover says that it was built for.
built_for() { grep -aoEm 1 'rover: built for rdma-core [0-9.]+' "$1" | sed 's/.* //;q'; }

check_provider() {
	local verbs file release wanted provider built
	verbs=$(libibverbs)
	if [[ ! $verbs ]]; then
		problem libibverbs-missing "no libibverbs: there are no RDMA programs here" \
			"apt install rdma-core ibverbs-providers"
		return
	fi
	file=$(readlink -f "$verbs")
	release=
	[[ ! $file =~ libibverbs\.so\.1\.[0-9]+\.([0-9.]+)$ ]] || release=${BASH_REMATCH[1]}
	wanted=$(grep -aoE 'rdmav[0-9]+\.so' "$file" | head -n 1)
	provider=${verbs%/*}/libibverbs/librover-$wanted
	if [[ ! $wanted || ! -e $provider ]] ||
		! grep -qsx 'driver rover' "$root"/etc/libibverbs.d/*.driver; then
		problem provider-missing "libibverbs has no provider for rover: programs see no device" \
			"apt install ibverbs-provider-rover, or $built_by_hand"
		return
	fi
	built=$(built_for "$provider")
	[[ $built == "$release" ]] ||
		problem provider-release \
			"the provider is for rdma-core ${built:-of an unknown release}, and $release is installed" \
			"apt install the ibverbs-provider-rover for this release, or $built_by_hand"
}

check_port() {
	local rxe
	((!${#links[@]})) || return 0
	rxe=$(rxe_devices | head -n 1)
	if [[ $rxe ]]; then
		problem port-taken "rdma_rxe has UDP port $udp_port: $rxe" "rdma link delete $rxe"
	elif have ss && [[ $(ss -Hlun "sport = :$udp_port" 2>/dev/null) ]]; then
		problem port-taken "UDP port $udp_port is in use" "ss -lunp 'sport = :$udp_port' tells by what"
	fi
}

# The interfaces that are to have a link at each start: rover-link@.service has been enabled.
configured() {
	local unit
	for unit in "$root"/etc/systemd/system/*.wants/rover-link@*.service; do
		[[ -L $unit || -e $unit ]] || continue
		unit=${unit##*rover-link@}
		printf '%b\n' "${unit%.service}"
	done
}

check_links() {
	local name netdev
	for name in "${links[@]}"; do
		check_link "$name" "${netdevs[$name]}"
		check_counters "$name"
	done
	while read -r netdev; do
		[[ ! -e $root/sys/class/net/$netdev || " ${netdevs[*]} " == *" $netdev "* ]] ||
			problem link-missing "$netdev is to have a device at each start, and has none" \
				"systemctl restart 'rover-link@$netdev' && journalctl -u 'rover-link@$netdev'"
	done < <(configured)
	((${#links[@]})) || ((problems)) ||
		problem no-link "no interface has a rover device" \
			"rdma link add rover0 type rover netdev INTERFACE"
}

check_link() {
	local name=$1 netdev=$2 mtu
	# Else the device is one of another network namespace.
	[[ $netdev && -e $root/sys/class/net/$netdev ]] || return 0
	port_state "$name"
	[[ $REPLY == ACTIVE ]] ||
		problem port-down "the port of $name is down, since $netdev is" "ip link set $netdev up"
	if [[ ! ${gids[$name]} ]]; then
		problem no-gid "$name has no GID: $netdev has no address" \
			"ip address add ADDRESS/24 dev $netdev"
	elif ! grep -qv ' fe80:' <<<"${gids[$name]}"; then
		note link-local "$name has link-local GIDs only: most programs need another" \
			"ip address add ADDRESS/24 dev $netdev"
	fi
	value "$root/sys/class/net/$netdev/mtu"
	mtu=$REPLY
	path_mtu "$mtu"
	if ((REPLY < 1024)); then
		problem mtu-small "the MTU of $netdev, $mtu, allows a path MTU of $REPLY only" \
			"ip link set $netdev mtu 1500"
	elif ((REPLY < 4096)); then
		note mtu-jumbo "the MTU of $netdev, $mtu, allows a path MTU of $REPLY: 4096 is faster" \
			"ip link set $netdev mtu 4200, at both ends, if the network carries it"
	fi
}

# Counters, since the device was added, that tell of the other end or of the way to it:
# name of the finding, counter, text, mend.
counter_findings=(
	"wrong-peer|rx_drop_wrong_peer|packets came in the other RoCE version or from another peer|
		give both programs GIDs of one version and of the connected addresses (-x INDEX)"
	"icrc|rx_icrc_encapsulated|packets came with a wrong ICRC: something alters them|
		look for tunnels, tc and middleboxes between the ends"
	"send-refused|tx_drop_local|packets were refused by the firewall, a queue or the interface|
		nft list ruleset; tc -s qdisc"
	"no-route|tx_drop_no_route|packets had no route|
		ip route get ADDRESS-OF-THE-PEER"
	"foreign|tx_drop_foreign|packets of other programs to UDP port 4791 were dropped|
		only rover may send them: see rover(7), SECURITY"
)

check_counters() {
	local line title counter text mend
	for line in "${counter_findings[@]}"; do
		IFS='|' read -r title counter text mend <<<"${line/$'\n'/}"
		mend=${mend#"${mend%%[![:space:]]*}"}
		value "$ib/$1/ports/1/hw_counters/$counter"
		((REPLY == 0)) || note "$title" "$1: $REPLY $text ($counter)" "$mend"
	done
}

# What a ruleset of nft does to UDP port 4791 coming in: "drop" if a rule names it, "policy" with
# family, table and chain if a chain of the input hook accepts only what it names.
judge_ruleset() {
	awk -v port=$udp_port '
		/^[ \t]*table / { table = $2 " " $3 }
		/^[ \t]*chain / { chain = $2 }
		/hook input/ && /policy drop/ { closed = table " " chain }
		/dport/ && $0 ~ "(^|[^0-9])" port "([^0-9]|$)" {
			if (/drop|reject/) named = 1
			else if (/accept/) open = 1
		}
		END { if (named) print "drop"; else if (closed != "" && !open) print "policy " closed }'
}

ruleset() {
	if have nft && nft list ruleset 2>/dev/null | grep .; then return; fi
	! have iptables-save || iptables-save 2>/dev/null | sed -n \
		-e 's/^:INPUT DROP.*/table ip filter\nchain INPUT\nhook input; policy drop/p' \
		-e 's/^-A INPUT.*--dport \([0-9:]*\).*-j \(.*\)/udp dport \1 \L\2/p'
}

check_firewall() {
	local verdict where
	read -r verdict where < <(ruleset | judge_ruleset)
	case $verdict in
	drop)
		problem firewall "the firewall of this host drops UDP port $udp_port" \
			"nft -a list ruleset, and delete the rule that names the port"
		;;
	policy)
		problem firewall "the firewall drops all it does not name, and UDP port $udp_port is not named" \
			"nft insert rule $where udp dport $udp_port accept"
		;;
	esac
}

# 64 MiB: what perftest and MPI programs register without being asked to.
enough_memory=$((64 << 20))

# Root may lock as much as it likes.
check_memlock() {
	local limit
	((EUID)) || [[ $root ]] || return 0
	limit=$(sed -nE 's/^Max locked memory +([^ ]+).*/\1/p' "$root/proc/self/limits" 2>/dev/null)
	[[ $limit && $limit != unlimited ]] && ((limit < enough_memory)) || return 0
	note memlock-low "this user may lock $((limit >> 10)) KiB, and not register more" \
		"echo '* - memlock unlimited' >/etc/security/limits.d/rdma.conf, and log in again"
}

status_main() {
	local check
	((!$#)) || die "status takes no arguments"
	mapfile -t links < <(rover_devices)
	((!${#links[@]})) || show_links
	for check in "${checks[@]}"; do "check_$check"; done
	((found)) || printf '\nnothing is wrong\n'
	((!problems))
}
