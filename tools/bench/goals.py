#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""goals: what rover is to reach, and how near a bench found it."""

import fnmatch

import figures

LARGE = [f"{op} {size}" for op in ("write", "read", "send") for size in ("64K", "256K", "1M", "8M")]
# With 8192 sends under way in all 1024 queue pairs have 8 each, and 16 have 128: so also with as many on each.
MANY = [
    ("", "write 8 qps16", "write 8 qps1024"),
    (", 8 each", "write 8 qps16 depth8", "write 8 qps1024"),
    (", 128 each", "write 8 qps16", "write 8 qps1024 depth128"),
]
SMALL_LATENCY = ["latency write 8", "latency send 8"]


class Bound:
    """At least so much, or at most."""

    def __init__(self, least, goal):
        self.least, self.goal = least, goal
        self.worst = min if least else max
        self.words = f"at {'least' if least else 'most'} {goal:g}"

    def verdict(self, value, noise):
        """Nothing is claimed of what lies nearer to the goal than the noise of the run."""
        if abs(value / self.goal - 1) <= noise:
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
    ]
    if not pair:
        result += [
            ("bandwidth of WRITE from 64K up : the limit", [name for name in LARGE if name.startswith("write")], "bandwidth", ["limit"], at_least(0.8)),
            ("latency of 8 bytes : rxe's", SMALL_LATENCY, "latency", ["rxe"], at_most(0.8 if cell["kernel"] == "6.1" else 0.2)),
            ("latency of 8 bytes : TCP's", SMALL_LATENCY, "latency", ["tcp"], at_most(1)),
        ]
    if not self:
        result.append(("from 64K up at path MTU 1024 : rxe's", [f"{name} mtu1024" for name in LARGE], "bandwidth", ["rxe"], at_least(4 if pair else 6)))
    if pair or self:
        result.append(("NVMe over RDMA : rxe's", ["nvme 4K", "nvme 1M"], "rate", ["rxe"], at_least(3)))
    result += [
        ("messages of 8 bytes a second : rxe's", ["write 8", "send 8", "write 8 qps16"], "rate", ["rxe"], at_least(5)),
        ("processor time per byte of a 1M WRITE : rxe's", ["write 1M"], "cpu_per_byte", ["rxe"], at_most(0.2)),
        ("context switches per message, polling", SMALL_LATENCY, "switches_per_message", [], at_most(0.1)),
    ]
    return result


def found(cell, patterns, figure, against):
    """(value, point) of all points of a goal."""
    for entry in cell["points"]:
        name = entry["setting"]["name"]
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            continue
        if not against and figures.value(entry, "rover", figure) is not None:
            yield figures.value(entry, "rover", figure), name
        for other in against:
            if figure in entry["ratios"].get(other, {}):
                yield entry["ratios"][other][figure]["median"], name


def judge(cell):
    """For each goal the point that is farthest from it."""
    def one(what, bound, value, name):
        return {"goal": what, "bound": bound.words, "value": value, "point": name, "verdict": bound.verdict(value, cell["noise"])}

    for what, patterns, figure, against, bound in goals_of(cell):
        values = list(found(cell, patterns, figure, against))
        if values:
            yield one(what, bound, *bound.worst(values))
    for what, few, many in MANY:
        rates = [figures.value(figures.find(cell, name), "rover", "rate") for name in (few, many)]
        if all(rates):
            yield one(f"messages a second on 1024 QPs : those on 16{what}", at_least(0.8), rates[1] / rates[0], many)
