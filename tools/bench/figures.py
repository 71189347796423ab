#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""figures: from the samples of a cell to medians, spreads, ratios, and what may be claimed of them."""

from statistics import median

import points

SEC = 10**9
# What is better, for the words of a claim; costs and delays are better when they are less.
MORE_IS_BETTER = ("bandwidth", "rate", "connect_rate", "connect_rate_bare", "jain", "link")
# What a network adds to a sample, as it is.
NETWORK = ("resent", "jain", "drops", "marked", "backlog")


def jain(shares):
    """1 if all shares are the same, 1 / n if one is all."""
    return sum(shares) ** 2 / (len(shares) * sum(share * share for share in shares))


def messages(point, sample):
    """Messages a second, counted where they count: sent and completed, or arrived where sending proves nothing."""
    if point["both"]:
        ends = ("got_a", "got_b") if point["op"] == "ud" else ("sent_a", "sent_b")
    else:
        ends = ("got_b",) if point["op"] == "ud" or sample.get("stream") else ("sent_a",)
    # One way may have stood still, and its window be nothing but the moment in which it moved.
    longest = max(sample[end][1] for end in ends)
    return sum(sample[end][0] for end in ends) / longest * SEC if longest else 0.0


def one_way(point, sample):
    """Messages a second where a ping is two of them, but that of a READ."""
    return messages(point, sample) * (2 if point["ping"] and point["op"] != "read" else 1)


def charged(cell, sample, machine):
    """What the programs of a machine were charged: it was busy for as long at least. 7.2 tells of too much idle time where a processor sleeps often."""
    ends = (machine,) if cell["arrangement"] == "pair" else ("cost_a", "cost_b")
    return sum(sample[end]["user_ns"] + sample[end]["system_ns"] for end in ends)


def costs(cell, point, sample):
    """Processor time and switches for each message. One machine has both ends but between two guests."""
    machines = ("cost_a", "cost_b") if cell["arrangement"] == "pair" else ("cost_a",)
    rate = one_way(point, sample)

    def each(cost_of):
        """A message's part of what all machines spend."""
        return sum(cost_of(machine) / sample[machine]["wall_ns"] for machine in machines) * SEC / rate

    busy = each(lambda machine: max(sample[machine]["busy_ns"], charged(cell, sample, machine)))
    result = {"cpu_per_message": busy, "switches_per_message": each(lambda machine: sample[machine]["switches"])}
    for end in ("a", "b"):
        cost = sample["cost_" + end]
        if cell["arrangement"] == "pair":
            own = cost["busy_ns"]
        else:
            own = cost["user_ns"] + cost["system_ns"]
        result["cpu_per_message_" + end] = own / cost["wall_ns"] * SEC / rate
    if not point["ping"]:
        result["cpu_per_byte"] = busy / point["size"]
    return result


def of_network(point, sample, result):
    """What the network says of a run, and the part of the link that was used."""
    result.update({figure: sample[figure] for figure in NETWORK if figure in sample})
    if point["queue"] and "bandwidth" in result:
        result["link"] = result["bandwidth"] / points.LINK
    return result


def of_sample(cell, point, sample):
    """All figures of one run."""
    result = of_program(cell, point, sample)
    return of_network(point, sample, result) if point["network"] and result else result


def of_program(cell, point, sample):
    """What the program reports, in bytes, messages, nanoseconds, seconds below the fraction bar."""
    if "bytes_per_second" in sample:
        return {"bandwidth": sample["bytes_per_second"]}
    if "connections_per_second" in sample:
        return {"connect_rate": sample["connections_per_second"], "connect_rate_bare": sample["without_qps_per_second"]}
    if "requests_per_second" in sample:
        return {"rate": sample["requests_per_second"], "bandwidth": sample["requests_per_second"] * point["size"]}
    if point["op"] == "memory":
        return {"memory_per_qp": sample["bytes_per_qp"]}
    rate = messages(point, sample)
    if not rate:
        return {}
    result = {"rate": rate}
    if point["ping"]:
        delays = sample["delays"]
        result.update(latency=delays["median"], latency_mean=delays["mean"])
        # Of a hundred the hundredth is no more than the longest.
        result.update({figure: delays[key] for figure, key, least in (("latency_99", "p99", 100), ("latency_999", "p999", 1000)) if delays["n"] >= least})
    else:
        result["bandwidth"] = rate * point["size"]
    result.update(costs(cell, point, sample))
    return result


def system_calls(point, samples):
    """By end, run by run, of those that counted them."""
    result = {}
    for sample in samples:
        rate = one_way(point, sample) if "failure" not in sample else 0
        for end in ("a", "b") if rate else ():
            cost = sample["cost_" + end]
            result.setdefault(f"syscalls_per_message_{end}", []).append(cost["syscalls"] / cost["wall_ns"] * SEC / rate)
    return result


def note_silence(point, samples):
    """A run in which nothing arrived has failed, though its programs did not."""
    for sample in samples:
        if points.traffic(point) and "cost_a" in sample and not messages(point, sample):
            sample["failure"] = "nothing arrived"


def gather(cell, point, samples):
    """Lists of values by figure, in the order of the runs."""
    result = {}
    for sample in samples:
        if "failure" in sample:
            continue
        for figure, value in of_sample(cell, point, sample).items():
            result.setdefault(figure, []).append(value)
    return result


def limit_of(entry):
    """What one sum and one copy leave: the sender's sum goes on at the same time on another processor."""
    limits = [1 / (1 / one["crc"] + 1 / one["memcpy"]) for one in entry["limit"]]
    return {"bandwidth": limits} if limits else {}


def spread(values):
    """The median, and how far from it the runs lie: half of the whole range, relative."""
    middle = median(values)
    return {"median": middle, "low": min(values), "high": max(values), "runs": values,
            "spread": (max(values) - min(values)) / 2 / middle if middle else 0.0}


def ratio(ours, theirs):
    """Run by run, as they were measured one after the other."""
    pairs = [one / other for one, other in zip(ours, theirs) if other]
    return spread(pairs) if pairs else None


def claim(figure, one, noise):
    """A difference counts if every single run shows it, and the median by more than the noise of this bench."""
    runs = one["runs"]
    if len(runs) < 5 or abs(one["median"] - 1) <= noise or min(runs) < 1 < max(runs):
        return "none"
    return "better" if (one["median"] > 1) == (figure in MORE_IS_BETTER) else "worse"


def work_out(cell):
    """Fill in figures, ratios, claims and the noise of a cell, point by point."""
    scatter = []
    for entry in cell["points"]:
        point = entry["setting"]
        for samples in entry["samples"].values():
            note_silence(point, samples)
        lists = {subject: gather(cell, point, samples) for subject, samples in entry["samples"].items()}
        lists["limit"] = limit_of(entry) if not point["ping"] else {}
        entry["failures"] = {subject: next(sample["failure"] for sample in samples if "failure" in sample)
                             for subject, samples in entry["samples"].items() if any("failure" in sample for sample in samples)}
        for subject, samples in entry["counted"].items():
            lists.setdefault(subject, {}).update(system_calls(point, samples))
        entry["lists"] = lists
        entry["figures"] = {subject: {figure: spread(values) for figure, values in mine.items()}
                            for subject, mine in lists.items() if mine}
        # The limit is no subject: what a loop in the kernel scatters says little of those that are.
        scatter += [one["spread"] for subject, mine in entry["figures"].items() if subject != "limit"
                    for figure, one in mine.items() if figure in ("bandwidth", "latency") and len(one["runs"]) > 1]
    cell["noise"] = median(scatter) if scatter else 0.0
    for entry in cell["points"]:
        lists = entry.pop("lists")
        entry["ratios"] = {}
        for other in ("rxe", "tcp", "tcp bbr", "iperf3", "loop", "limit"):
            made = {}
            for figure, values in lists.get("rover", {}).items():
                one = ratio(values, lists.get(other, {}).get(figure, []))
                if one:
                    made[figure] = {**one, "claim": claim(figure, one, cell["noise"])}
            if made:
                entry["ratios"][other] = made
    return cell


def find(cell, name):
    return next((entry for entry in cell["points"] if entry["setting"]["name"] == name), None)


def value(entry, subject, figure):
    """A median, or nothing."""
    one = entry and entry["figures"].get(subject, {}).get(figure)
    return one["median"] if one else None
