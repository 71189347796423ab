#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""plot: curves with their spread on logarithmic axes, as SVG; nothing but text is needed for that."""

import math
import os
from xml.sax.saxutils import escape

import points

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 130, 44, 50
COLORS = {"rover": "#0b6e4f", "rxe": "#c8553d", "tcp": "#33658a", "limit": "#777777", "iperf3": "#86bbd8"}


class Axis:
    """From values to pixels, with round numbers to write at it."""

    def __init__(self, values, begin, end, base):
        self.base, self.begin, self.end = base, begin, end
        self.low = math.floor(math.log(min(values), base) + 1e-9)
        self.high = max(self.low + 1, math.ceil(math.log(max(values), base) - 1e-9))

    def at(self, value):
        part = (math.log(value, self.base) - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self):
        step = max(1, (self.high - self.low) // 10)
        for power in range(self.low, self.high + 1, step):
            yield self.base**power
            if self.base == 10 and self.high - self.low <= 3 and power < self.high:
                yield 2 * 10**power
                yield 5 * 10**power


def number_name(value):
    for unit, letter in ((10**6, "M"), (1000, "k")):
        if value >= unit:
            return f"{value / unit:g}{letter}"
    return f"{value:g}"


def text(x, y, words, anchor="middle", **more):
    attributes = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{attributes}>{escape(words)}</text>'


def frame(x_axis, y_axis, x_name, labels):
    """The axes: title, names, grid."""
    title, subtitle, x_title, y_title = labels
    parts = [text(LEFT, 18, title, "start", font_size=15, font_weight="bold"), text(LEFT, 34, subtitle, "start", fill="#666"),
             text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_title),
             text(16, (TOP + HEIGHT - BOTTOM) / 2, y_title, transform=f"rotate(-90 16 {(TOP + HEIGHT - BOTTOM) / 2})")]
    for value in x_axis.ticks():
        x = x_axis.at(value)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#e4e4e4"/>')
        parts.append(text(x, HEIGHT - BOTTOM + 16, x_name(value)))
    for value in y_axis.ticks():
        y = y_axis.at(value)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e4e4e4"/>')
        parts.append(text(LEFT - 6, y + 4, number_name(value), "end"))
    return parts


def curve(name, dots, x_axis, y_axis, place, dashed):
    """A line through the medians, a bar from the least to the most at each, its name at the right."""
    color = COLORS.get(name.split()[0], "#000")
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    path = " ".join(f"{x_axis.at(x):.1f},{y_axis.at(y):.1f}" for x, y, _, _ in dots)
    parts = [f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"{dash}/>']
    for x, y, low, high in dots:
        at = x_axis.at(x)
        parts.append(f'<line x1="{at:.1f}" y1="{y_axis.at(low):.1f}" x2="{at:.1f}" y2="{y_axis.at(high):.1f}" stroke="{color}" opacity="0.5"/>')
        parts.append(f'<circle cx="{at:.1f}" cy="{y_axis.at(y):.1f}" r="3" fill="{color}"/>')
    y = TOP + 12 + 18 * place
    parts.append(f'<line x1="{WIDTH - RIGHT + 8}" y1="{y - 4}" x2="{WIDTH - RIGHT + 30}" y2="{y - 4}" stroke="{color}" stroke-width="2"{dash}/>')
    parts.append(text(WIDTH - RIGHT + 35, y, name, "start"))
    return parts


def chart(path, series, x_base, x_name, labels):
    """series: a list of (name, [(x, median, low, high)]). Nothing is drawn that is a single dot."""
    series = [(name, [dot for dot in dots if dot[2] > 0]) for name, dots in series]
    series = [(name, dots) for name, dots in series if dots]
    if not any(len(dots) > 1 for _, dots in series):
        return []
    x_axis = Axis([dot[0] for _, dots in series for dot in dots], LEFT, WIDTH - RIGHT, x_base)
    y_axis = Axis([edge for _, dots in series for dot in dots for edge in dot[2:]], HEIGHT - BOTTOM, TOP, 10)
    parts = frame(x_axis, y_axis, x_name, labels)
    for place, (name, dots) in enumerate(series):
        parts += curve(name, dots, x_axis, y_axis, place, " " in name or name == "limit")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
                   f'font-family="DejaVu Sans, sans-serif" font-size="11">\n<!-- SPDX-License-Identifier: GPL-2.0 -->\n<rect width="100%" height="100%" fill="#fff"/>\n')
        file.write("\n".join(parts) + "\n</svg>\n")
    return [path]


def dots_of(cell, subject, figure, unit, wanted, x):
    result = []
    for entry in cell["points"]:
        point, one = entry["setting"], entry["figures"].get(subject, {}).get(figure)
        if one and wanted(point):
            result.append((point[x], one["median"] / unit, one["low"] / unit, one["high"] / unit))
    return sorted(result)


def usual(point, op, ping):
    """The plain curve of an operation: one queue pair, one direction, polling, path MTU 4096."""
    return not point.get("network") and (point["op"], point["ping"], point["qps"], point["mtu"], point["both"], point["event"]) == (op, ping, 1, 4096, 0, 0)


NETWORK_SUBJECTS = ("rover", "rxe", "tcp", "tcp bbr")
# Where a logarithmic axis has no loss at all.
NO_LOSS = 0.01
BAR = 40


def loss_name(value):
    return "0" if value == NO_LOSS else f"{value:g}"


def network_curves(cell, x, op, wanted):
    """What is no rover was measured with WRITEs only."""
    series = []
    for name in NETWORK_SUBJECTS:
        def fits(point, own=op if name == "rover" else "write"):
            return point.get("network") and point["op"] == own and wanted(point)

        series.append((name, dots_of(cell, name, "bandwidth", points.MIB, fits, x)))
    return [(name, dots) for name, dots in series if dots]


def network_series(cell):
    """(file, title, by loss?, curves): by loss for each operation and kind of packets, by round trip for each operation and loss."""
    for op in points.RC:
        for kind in ("packets", "trains"):
            series = network_curves(cell, "loss", op, lambda point, kind=kind: point["network"] == kind and not point["rtt"] and not point["queue"])
            yield f"loss-{op}-{kind}", f"{op.upper()} 64K, {kind}: goodput by loss in %", True, series
        for loss in (0, 0.1):
            series = network_curves(cell, "rtt", op, lambda point, loss=loss: point["rtt"] and point["loss"] == loss and not point["jitter"])
            yield f"trip-{op}-{loss:g}", f"{op.upper()} 1M, {loss:g} % loss: goodput by round trip in ms", False, series


def bar(value, series):
    most = max(dot[1] for _, dots in series for dot in dots)
    return ("#" * max(1, round(BAR * value / most)) if most else "").ljust(BAR)


def draw_network(cell, folder, where):
    made = []
    for file, title, by_loss, series in network_series(cell):
        if by_loss:
            series = [(name, [(x or NO_LOSS, *rest) for x, *rest in dots]) for name, dots in series]
        made += chart(f"{folder}/{file}-{cell['kernel']}.svg", series, 10 if by_loss else 2, loss_name if by_loss else number_name,
                      (title, where, "packets lost each way, %" if by_loss else "round trip, ms", "MiB/s"))
    return made


def draw(cell, folder):
    """All plots of a cell that have something to show; the paths of the SVG files."""
    os.makedirs(folder, exist_ok=True)
    made, where = [], f"{cell['release']}, {cell['arrangement']}, {cell['form']} form, path MTU 4096"
    name = f"{cell['kernel']}-{cell['arrangement']}"
    for op in ("write", "read", "send", "ud"):
        title = {"ud": "UD SEND"}.get(op, op.upper())

        def flow(point, op=op):
            return usual(point, op, 0)

        def ping(point, op=op):
            return usual(point, op, 1)

        def counted(point, op=op):
            return usual({**point, "qps": 1}, op, 0) and point["size"] == 8 and point["depth"] == points.depth(point)

        made += chart(f"{folder}/bandwidth-{op}-{name}.svg",
                      [(subject, dots_of(cell, subject, "bandwidth", points.MIB, flow, "size")) for subject in ("rover", "rxe", "tcp", "limit")],
                      2, points.size_name, (f"{title}: bandwidth", where, "message size, bytes", "MiB/s"))
        made += chart(f"{folder}/latency-{op}-{name}.svg",
                      [(label, dots_of(cell, subject, figure, 1000, ping, "size")) for subject in ("rover", "rxe", "tcp")
                       for label, figure in ((subject, "latency"), (f"{subject} 99 %", "latency_99"))],
                      2, points.size_name, (f"{title}: latency, median and 99 %", where, "message size, bytes", "us"))
        made += chart(f"{folder}/qps-{op}-{name}.svg",
                      [(subject, dots_of(cell, subject, "rate", 1, counted, "qps")) for subject in ("rover", "rxe")],
                      2, number_name, (f"{title} of 8 bytes: message rate", where, "queue pairs", "messages/s"))
    return made + draw_network(cell, folder, where)
