#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What becomes of samples: figures, noise, goals. Prints KTAP; part of make unit."""

import sys

import beside
import figures
import goals
import points

# How fast each is, in messages a second.
RATES = {"rover": 60_000, "rxe": 1_000, "tcp": 20_000, "tcp bbr": 30_000, "iperf3": 20_000, "loop": 80_000}


def sample(point, rate):
    """One run, as the programs would tell it."""
    if point["op"] == "nvme":
        return {"requests_per_second": rate}
    if point["op"] == "memory":
        return {"bytes_per_qp": 10**9 // rate}
    if point["op"] == "connect":
        return {"connections_per_second": rate, "without_qps_per_second": rate}
    cost = {"wall_ns": 10**9, "busy_ns": 2 * 10**9, "switches": 10, "user_ns": 10**8, "system_ns": 10**8, "own_switches": 1, "syscalls": rate}
    told = {"cost_a": cost, "cost_b": cost, **{end: [rate, 10**9] for end in ("sent_a", "sent_b", "got_a", "got_b")}}
    if point["network"]:
        told.update(resent=0.001, jain=0.99, drops=0, marked=5, backlog=50_000)
    if point["ping"]:
        told["delays"] = {"n": 2000, **{key: 10**9 // max(1, rate) for key in ("min", "median", "mean", "p99", "p999", "max")}}
    return told


def takes(name, point):
    if name == "tcp":
        return points.for_tcp(point) or point["op"] == "nvme"
    if name == "tcp bbr":
        return bool(point["network"]) and points.once_for_all(point)
    if name == "iperf3":
        return points.judged(point)
    return name != "loop" or point["op"] == "nvme"


def cell_of(form, arrangement, change=None):
    """A cell in which all goes well, but for what change(point's name, subject) says of its five rates; it may return fewer, or None to fail."""
    cell = {"kernel": "7.2", "arrangement": arrangement, "points": []}
    for point in points.chosen(form, []):
        if not points.possible(point, arrangement):
            continue
        entry = {"setting": point, "samples": {}, "counted": {}, "limit": [{"memcpy": 10**9, "crc": 10**9}] * points.RUNS if points.traffic(point) else []}
        for name, rate in RATES.items():
            if not takes(name, point):
                continue
            rates = change(point["name"], name) if change else ()
            rates = [rate] * points.RUNS if rates == () else rates
            entry["samples"][name] = [{"failure": "it fails"}] if rates is None else [sample(point, one) for one in rates]
        cell["points"].append(entry)
    figures.work_out(cell)
    return cell, {one["goal"]: one for one in goals.judge(cell)}


def at(name, subject, rates):
    """A change of one subject at one point."""
    return lambda where, who: rates if (where, who) == (name, subject) else ()


def every_form():
    """Each form in each arrangement is judged, and every goal is there that has points."""
    for form in ("short", "full"):
        for arrangement in ("single", "self", "pair"):
            _, judged = cell_of(form, arrangement)
            assert not [one for one in judged.values() if one["verdict"] == "not measured"], (form, arrangement)
            assert judged["bandwidth from 64K up : rxe's"]["points"] == (7 if form == "short" else 12)
            assert judged["from 64K up at path MTU 1024 : rxe's"]["points"] == (3 if form == "short" else 12)
            assert all(judged[f"{op}s of 8 bytes a second : rxe's"]["points"] == 2 for op in ("WRITE", "SEND", "READ"))
            assert ("NVMe over RDMA : rxe's" in judged) == (arrangement != "single")


def network():
    """A network is judged by the same path without loss, by TCP bbr, and by its queue."""
    cell, judged = cell_of("network", "single")
    assert len(judged) == 15 and {one["verdict"] for one in judged.values()} == {"reached"}, judged
    assert [one["points"] for one in judged.values()] == [3] * 8 + [12] + [2] * 6, judged
    assert judged["round trips of 10 and 40 ms : TCP bbr's"]["value"] == 2
    assert figures.find(cell, "write 64K packets loss1")["ratios"]["tcp bbr"]["bandwidth"]["claim"] == "better"
    _, judged = cell_of("network", "single", at("read 64K trains loss5", "rover", [6_000] * 5))
    one = judged["trains, 5 % loss : no loss"]
    assert (one["verdict"], one["point"], one["value"]) == ("not reached", "read 64K trains loss5", 0.1), one
    _, judged = cell_of("network", "single", at("read 64K trains", "rover", None))
    assert judged["trains, 5 % loss : no loss"]["verdict"] == "not measured"


def worst_point():
    """A goal is where its farthest point is."""
    _, judged = cell_of("short", "single", at("send 8 qps16", "rover", [4_000] * 5))
    one = judged["SENDs of 8 bytes a second : rxe's"]
    assert (one["verdict"], one["point"], one["value"]) == ("not reached", "send 8 qps16", 4), one
    assert judged["WRITEs of 8 bytes a second : rxe's"]["verdict"] == "reached"


def lost_point():
    """What failed, or was not measured five times, keeps its goal from being reached."""
    for rates in (None, [60_000] * 4):
        for subject in ("rover", "rxe"):
            _, judged = cell_of("full", "single", at("read 1M", subject, rates))
            one = judged["bandwidth from 64K up : rxe's"]
            assert (one["verdict"], one["point"]) == ("not measured", "read 1M"), one
    _, judged = cell_of("full", "single", at("write 8 qps1024", "rover", None))
    assert judged["messages a second on 1024 QPs : those on 16"]["verdict"] == "not measured"


def both_sides():
    """Runs on both sides of a bound say nothing."""
    _, judged = cell_of("short", "single", at("write 8 qps16", "rover", [4_000, 8_000, 8_000, 8_000, 8_000]))
    assert judged["WRITEs of 8 bytes a second : rxe's"]["verdict"] == "too near to tell"


def columns():
    """Several cells stand beside each other, each with its own figures and verdicts."""
    cells = [cell_of("short", arrangement, change)[0] for arrangement, change in (
        ("single", at("send 8 qps16", "rover", [4_000] * 5)), ("pair", at("send 8", "rover", [4_000, 6_000, 4_000, 6_000, 6_000])), ("self", at("send 8", "rover", None)))]
    for cell in cells:
        cell["goals"] = list(goals.judge(cell))
    heads, rows = beside.goals(cells)
    rows = {row[0]: row[1:] for row in rows}
    assert heads[2:] == ["7.2-single", "7.2-pair", "7.2-self"], heads
    assert rows["SENDs of 8 bytes a second : rxe's"] == ["at least 5", "4.00*", "(6.00)", "?"], rows
    assert rows["NVMe over RDMA : rxe's"] == ["at least 3", "", "60.00 ", "60.00 "], rows
    rows = beside.ranges(cells)[1]
    at_send = next(number for number, row in enumerate(rows) if row[0].startswith("SENDs of 8 bytes"))
    assert rows[at_send][1:] == ["60.0", "6.00", ""] and rows[at_send + 1][1:] == ["60.0", "6.00", ""], rows[at_send:at_send + 2]
    assert [row[1:] for row in rows if row[0].startswith("NVMe, 4K")] == [["", "60.0", "60.0"]]


def silence():
    """A run in which nothing arrived has failed."""
    cell, _ = cell_of("short", "single", at("ud 8", "rxe", [1_000, 0, 1_000, 1_000, 1_000]))
    assert figures.find(cell, "ud 8")["failures"] == {"rxe": "nothing arrived"}


def noise():
    """The noise is that of the subjects; the limit is none."""
    def change(where, who):
        return [80, 100, 100, 100, 120]

    cell, _ = cell_of("short", "single", change)
    # Of a ping it is the delay: half of 1/80 - 1/120, by 1/100.
    assert abs(cell["noise"] - 0.2) < 0.01, cell["noise"]


def rare_delays():
    """Less than a thousand have no 99.9 %."""
    cell, _ = cell_of("short", "single")
    entry = figures.find(cell, "latency write 8")
    assert figures.value(entry, "rover", "latency_999")
    for told in entry["samples"]["rover"]:
        told["delays"]["n"] = 999
    figures.work_out(cell)
    assert figures.value(entry, "rover", "latency_999") is None and figures.value(entry, "rover", "latency_99")


def main():
    cases = [every_form, network, worst_point, lost_point, both_sides, columns, silence, noise, rare_delays]
    print(f"KTAP version 1\n1..{len(cases)}")
    failed = 0
    for number, case in enumerate(cases, 1):
        try:
            case()
            print(f"ok {number} {case.__doc__}")
        except (AssertionError, LookupError, TypeError, ZeroDivisionError) as error:
            failed += 1
            print(f"# {type(error).__name__}: {error}\nnot ok {number} {case.__doc__}")
    return failed


if __name__ == "__main__":
    sys.exit(bool(main()))
