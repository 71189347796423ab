# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# trace.sh: rover trace. The tracepoints of a queue pair, or of all, as a ladder: this end at the
# left, the peer at the right. In a trace instance of its own, which ends with the command.

tracing=$root/sys/kernel/tracing
instance=$tracing/instances/rover-$$

start_tracing() {
	local qpn=$1 event
	mkdir "$instance" 2>/dev/null || die "no $tracing: mount -t tracefs tracefs $tracing"
	[[ -d $instance/events/rover ]] ||
		die "the kernel has no tracepoints of rover: is the module loaded?"
	if [[ $qpn ]]; then
		for event in "$instance"/events/rover/rover_*/filter; do
			echo "qpn == $((qpn))" >"$event" || die "QPN is a number, as 17 or 0x11"
		done
	fi
	echo 1 >"$instance/events/rover/enable"
}

end_tracing() { rmdir "$instance" 2>/dev/null; }

trace_main() {
	local option seconds='' file=''
	while getopts r:t: option; do
		case $option in
		r) file=$OPTARG ;;
		t) seconds=$OPTARG ;;
		*) exit 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	if [[ $file ]]; then
		awk -f "$lib/ladder.awk" -v qpn="${1:+$(($1))}" "$file"
		return
	fi
	need_root trace
	trap end_tracing EXIT
	trap 'exit 0' INT TERM
	start_tracing "${1:-}"
	# A reader that is ended lets the ladder print what it has.
	${seconds:+timeout "$seconds"} cat "$instance/trace_pipe" | awk -f "$lib/ladder.awk"
	true
}
