#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""beside: what several cells have come to, in tables with a column for each. Heads and rows, as report prints them."""

import figures
import points
from goals import LARGE

MARKS = {"reached": "{:.2f} ", "not reached": "{:.2f}*", "too near to tell": "({:.2f})", "not measured": "?"}
OTHERS = {"rxe": "rxe's", "tcp": "TCP's", "loop": "nvme-loop's"}


def heads(cells):
    return [f"{cell['kernel']}-{cell['arrangement']}" for cell in cells]


def goals(cells):
    """In brackets what is too near to tell, with a star what is missed. The bound is that of the first cell that has one."""
    judged = [{one["goal"]: one for one in cell["goals"]} for cell in cells]
    rows = []
    for what in dict.fromkeys(what for one in judged for what in one):
        there = [one.get(what) for one in judged]
        bound = next(one["bound"] for one in there if one)
        rows.append([what, bound, *(MARKS[one["verdict"]].format(one["value"]) if one else "" for one in there)])
    rows.append(["noise", "", *(f"{cell['noise'] * 100:.0f} %" for cell in cells)])
    return ["", "goal", *heads(cells)], rows


def digits(number):
    """Three of them."""
    return f"{number:.0f}" if number >= 99.5 else f"{number:.1f}" if number >= 9.95 else f"{number:.2f}"


def medians(cell, names, figure, other):
    """Of rover's figures, or of the ratios to another's, at these points; nothing of one that could not be compared."""
    for name in names:
        entry = figures.find(cell, name)
        one = entry and (entry["ratios"].get(other, {}) if other else entry["figures"].get("rover", {})).get(figure)
        if one:
            yield one["median"]


def spans(cells, title, names, figure, unit, others=("rxe", "tcp")):
    """A row of figures and one for each of those it is compared with; from the least to the most where there are several points."""
    for other in (None, *others):
        row = [f"    / {OTHERS[other]}" if other else title]
        for cell in cells:
            found = [one / (1 if other else unit) for one in medians(cell, names, figure, other)]
            shown = dict.fromkeys(digits(one) for one in (min(found), max(found))) if found else ()
            row.append("-".join(shown))
        if any(row[1:]):
            yield row


def ranges(cells):
    """Absolute figures, and below each how many times that is another's."""
    rows = []
    for op in ("write", "read", "send"):
        large = [name for name in LARGE if name.startswith(op)]
        rows += spans(cells, f"{op.upper()} from 64K up, MiB/s", large, "bandwidth", points.MIB)
        rows += spans(cells, "  at path MTU 1024", [f"{name} mtu1024" for name in large], "bandwidth", points.MIB, ["rxe"])
        rows += spans(cells, f"{op.upper()}s of 8 bytes, thousands a second", [f"{op} 8"], "rate", 1000)
        rows += spans(cells, "  on 16 queue pairs", [f"{op} 8 qps16"], "rate", 1000, ["rxe"])
        rows += spans(cells, "  one by one, us", [f"latency {op} 8"], "latency", 1000)
    rows += spans(cells, "NVMe, 4K, thousands a second", ["nvme 4K"], "rate", 1000, ["rxe", "tcp", "loop"])
    rows += spans(cells, "  one by one", ["nvme 4K depth1"], "rate", 1000)
    rows += spans(cells, "NVMe, 1M, MiB/s", ["nvme 1M"], "bandwidth", points.MIB)
    return ["", *heads(cells)], rows
