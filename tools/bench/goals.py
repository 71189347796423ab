#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""goals: what rover is to reach, and how near a bench found it."""

import figures
import points

LARGE = [f"{op} {size}" for op in ("write", "read", "send") for size in ("64K", "256K", "1M", "8M")]
# With 8192 sends under way in all 1024 queue pairs have 8 each, and 16 have 128: so also with as many on each.
MANY = [
    ("", "write 8 qps16", "write 8 qps1024"),
    (", 8 each", "write 8 qps16 depth8", "write 8 qps1024"),
    (", 128 each", "write 8 qps16", "write 8 qps1024 depth128"),
]
SMALL_LATENCY = ["latency write 8", "latency send 8"]
SMALL_POLLING = [*SMALL_LATENCY, "latency read 8", "write 8", "send 8", "read 8"]


class Bound:
    """At least so much, or at most."""

    def __init__(self, least, goal):
        self.least, self.goal = least, goal
        self.worst = min if least else max
        self.words = f"at {'least' if least else 'most'} {goal:g}"

    def verdict(self, runs, noise):
        """Nothing is claimed of what lies nearer to the goal than the noise of the run, or of which some runs reach it and some do not."""
        value = figures.median(runs)
        if abs(value / self.goal - 1) <= noise or min(runs) < self.goal < max(runs):
            return "too near to tell"
        return "reached" if (value > self.goal) == self.least else "not reached"


def at_least(goal):
    return Bound(True, goal)


def at_most(goal):
    return Bound(False, goal)


def goals_of(cell):
    """(what, points, figure, against, bound); without anything to compare with it is the figure itself."""
    pair, self = cell["arrangement"] == "pair", cell["arrangement"] == "self"
    result = [
        ("bandwidth from 64K up : rxe's", LARGE, "bandwidth", ["rxe"], at_least(4 if pair else 6)),
        ("bandwidth from 64K up : TCP's", LARGE, "bandwidth", ["tcp", "iperf3"], at_least(1)),
        ("from 64K up at path MTU 1024 : rxe's", [f"{name} mtu1024" for name in LARGE], "bandwidth", ["rxe"], at_least(4 if pair else 6)),
    ]
    if not pair:
        result += [
            ("bandwidth of WRITE from 64K up : the limit", [name for name in LARGE if name.startswith("write")], "bandwidth", ["limit"], at_least(0.8)),
            ("latency of 8 bytes : rxe's", SMALL_LATENCY, "latency", ["rxe"], at_most(0.8 if cell["kernel"] == "6.1" else 0.2)),
            ("latency of 8 bytes : TCP's", SMALL_LATENCY, "latency", ["tcp"], at_most(1)),
        ]
    if pair or self:
        result.append(("NVMe over RDMA : rxe's", ["nvme 4K", "nvme 1M"], "rate", ["rxe"], at_least(3)))
    result += [(f"{op.upper()}s of 8 bytes a second : rxe's", [f"{op} 8", f"{op} 8 qps16"], "rate", ["rxe"], at_least(5)) for op in ("write", "send", "read")]
    result += [
        ("processor time per byte of a 1M WRITE : rxe's", ["write 1M"], "cpu_per_byte", ["rxe"], at_most(0.2)),
        ("context switches per message of 8 bytes, polling", SMALL_POLLING, "switches_per_message", [], at_most(0.1)),
    ]
    return result


def runs_of(entry, figure, other):
    """All five, or nothing."""
    one = (entry["ratios"].get(other, {}) if other else entry["figures"].get("rover", {})).get(figure)
    return one["runs"] if one and len(one["runs"]) >= points.RUNS else None


def comparable(entry, other):
    """TCP has no path MTU, and the usual tools are there at a few points."""
    return not other or other == "limit" or other in entry["samples"] or "rover" in entry["failures"]


def found(cell, names, figure, against):
    """(runs, point) of each point of a goal that was measured; without runs where it could not be."""
    for name in names:
        entry = figures.find(cell, name)
        for other in (against or [None]) if entry else []:
            if comparable(entry, other):
                yield runs_of(entry, figure, other), name


def many_of(cell, few, many):
    """As found(): the rates on many queue pairs by those on a few, first to first."""
    entries = [figures.find(cell, name) for name in (few, many)]
    if all(entries):
        least, most = (runs_of(entry, "rate", None) for entry in entries)
        yield [other / one for one, other in zip(least, most)] if least and most else None, many


def across(cell, name, figure, base, subject):
    """As found(): a figure at a point by that of a subject at another one, first to first."""
    one, other = figures.find(cell, name), figures.find(cell, base)
    if one and other:
        ours, theirs = runs_of(one, figure, None), other["figures"].get(subject, {}).get(figure)
        whole = ours and theirs and len(theirs["runs"]) >= points.RUNS and all(theirs["runs"])
        yield [run / its for run, its in zip(ours, theirs["runs"])] if whole else None, name


def across_all(cell, pairs, subject="rover"):
    return [one for name, base in pairs for one in across(cell, name, "bandwidth", base, subject)]


LOSSES = {"packets": ((0.1, 0.97), (1, 0.95), (5, 0.85)), "trains": ((0.1, 0.95), (1, 0.8), (5, 0.4))}
LONG = [f"{op} 1M depth64 trains" for op in points.RC]


def network_goals(cell):
    """(what, what was found, bound), as judge() has them."""
    for kind, losses in LOSSES.items():
        for loss, least in losses:
            pairs = [(f"{op} 64K {kind} loss{loss:g}", f"{op} 64K {kind}") for op in points.RC]
            yield f"{kind}, {loss:g} % loss : no loss", across_all(cell, pairs), at_least(least)
    pairs = [(f"{name} rtt2 jitter200", f"{name} rtt2") for name in LONG]
    yield "jitter of 200 us : none", across_all(cell, pairs), at_least(0.95)
    yield "packets sent again because of jitter, of all", list(found(cell, [name for name, _ in pairs], "resent", None)), at_most(0.01)
    paths = [f"rtt{rtt}{loss}" for rtt in (10, 40) for loss in ("", " loss0.1")]
    pairs = [(f"{name} {path}", f"{LONG[0]} {path}") for name in LONG for path in paths]
    yield "round trips of 10 and 40 ms : TCP bbr's", across_all(cell, pairs, "tcp bbr"), at_least(1)
    shared = {queue: [f"write 64K qps{qps} packets {queue}" for qps in (8, 32)] for queue in ("tail", "red")}
    for queue, names in shared.items():
        yield f"many to one, {queue} : the link", list(found(cell, names, "link", None)), at_least(0.95)
        yield f"many to one, {queue}, Jain's index", list(found(cell, names, "jain", None)), at_least(0.97)
    yield "many to one, red, packets dropped", list(found(cell, shared["red"], "drops", None)), at_most(0.5)
    yield "many to one, red, bytes in the queue", list(found(cell, shared["red"], "backlog", None)), at_most(points.RED_MAX)


def judge(cell):
    """For each goal the point that is farthest from it, and of how many. A point that could not be measured is farther than any other."""
    every = [(what, list(found(cell, names, figure, against)), bound) for what, names, figure, against, bound in goals_of(cell)]
    every += [(f"messages a second on 1024 QPs : those on 16{what}", list(many_of(cell, few, many)), at_least(0.8)) for what, few, many in MANY]
    every += network_goals(cell)
    for what, there, bound in every:
        lost = next((name for runs, name in there if not runs), None)
        told = {"goal": what, "bound": bound.words, "points": len(there)}
        if lost:
            yield {**told, "value": None, "point": lost, "verdict": "not measured"}
        elif there:
            runs, name = bound.worst(there, key=lambda one: figures.median(one[0]))
            yield {**told, "value": figures.median(runs), "point": name, "verdict": bound.verdict(runs, cell["noise"])}
