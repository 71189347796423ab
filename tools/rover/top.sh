# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# top.sh: rover top. Rates of a device, its queue pairs, and what it drops and why.

# The counters of a device: name and value, one a line, with the time in seconds first.
sample() {
	local file
	printf 'time %s\n' "${EPOCHREALTIME/,/.}"
	for file in "$ib/$1"/ports/1/hw_counters/*; do
		value "$file"
		echo "${file##*/} $REPLY"
	done
}

# The difference of two samples as a table.
rates() {
	awk '
	function rate(name) { return (now[name] - then[name]) / seconds }
	function row(title, tx, rx) { printf "%-16s %14.0f %14.0f\n", title, rate(tx), rate(rx) }
	function list(title, names,	n, i, name, said) {
		n = split(names, name, " ")
		for (i = 1; i <= n; i++)
			said = said sprintf("  %s %.0f", label[name[i]] ? label[name[i]] : name[i], rate(name[i]))
		printf "%-16s%s\n", title, said
	}
	FNR == 1 { file++ }
	file == 1 { then[$1] = $2; next }
	{ now[$1] = $2; order[n++] = $1 }
	END {
		seconds = now["time"] - then["time"]
		if (seconds <= 0)
			seconds = 1
		printf "%-16s %14s %14s\n", "each second", "sent", "received"
		row("packets", "tx_packets", "rx_packets")
		row("trains", "tx_trains", "rx_trains")
		printf "%-16s %14.1f %14.1f\n", "MiB", rate("tx_bytes") / 1048576, rate("rx_bytes") / 1048576
		label["rx_send_requests"] = "SEND"; label["rx_write_requests"] = "WRITE"
		label["rx_read_requests"] = "READ"; label["rx_atomic_requests"] = "atomic"
		label["rx_flush_requests"] = "FLUSH"
		list("requests in", "rx_send_requests rx_write_requests rx_read_requests " \
			"rx_atomic_requests rx_flush_requests")
		label["tx_retransmitted_packets"] = "resent"; label["tx_lost_packets"] = "lost"
		label["rx_early_packets"] = "early"; label["local_ack_timeout_err"] = "timeouts"
		label["rnr_nak_retry_err"] = "RNR NAKs"; label["rp_cnp_handled"] = "CNPs"
		list("recovery", "tx_retransmitted_packets tx_lost_packets rx_early_packets " \
			"local_ack_timeout_err rnr_nak_retry_err rp_cnp_handled")
		label["cq_events"] = "events"
		list("calls", "doorbells cq_events page_faults")
		print "drops"
		for (i = 0; i < n; i++) {
			name = order[i]
			if (name !~ /_drop_|^out_of_buffer$|^rx_icrc_encapsulated$/ || !now[name])
				continue
			printf "  %-28s %10.0f each second %14.0f in all\n", name, rate(name), now[name]
			dropped = 1
		}
		if (!dropped)
			print "  none"
	}' "$1" "$2"
}

queue_pairs() {
	local said
	said=$(rdma resource show qp link "$1/1" 2>/dev/null | sed -E 's/^link [^ ]+ //; /type GSI/d')
	echo "queue pairs: $(grep -c . <<<"$said")"
	[[ ! $said ]] || sed 's/^/  /' <<<"$said" | head -n 20
}

show_rates() {
	local name=$1
	port_state "$name"
	echo "$name on $(netdev_of "$name"), $REPLY"
	rates "$scratch/$name" "$scratch/$name.new"
	queue_pairs "$name"
	echo
}

top_main() {
	local interval=1 times=0 option names name round=0 scratch
	while getopts i:n: option; do
		case $option in
		i) interval=$OPTARG ;;
		n) times=$OPTARG ;;
		*) exit 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	names=("$@")
	(($#)) || mapfile -t names < <(rover_devices)
	((${#names[@]})) || die "there is no rover device: rover status"
	for name in "${names[@]}"; do is_rover "$name" || die "$name is no rover device"; done
	scratch=$(mktemp -d)
	# shellcheck disable=SC2064 # the name of now
	trap "rm -rf '$scratch'" EXIT
	for name in "${names[@]}"; do sample "$name" >"$scratch/$name"; done
	while ((!times || round++ < times)); do
		sleep "$interval"
		for name in "${names[@]}"; do sample "$name" >"$scratch/$name.new"; done
		[[ ! -t 1 ]] || printf '\033[H\033[J'
		for name in "${names[@]}"; do
			show_rates "$name"
			mv "$scratch/$name.new" "$scratch/$name"
		done
	done
}
