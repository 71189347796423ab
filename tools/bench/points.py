#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""points: what is measured, a point being one setting on which all subjects take turns."""

import fnmatch

KIB, MIB = 1 << 10, 1 << 20
RUNS = 5
WINDOW_MS = 200
WARM_MS = 30
COUNT_MS = 20
MAX_QPS = 1024
# What is no traffic: other tools measure these.
OTHER = ("memory", "connect", "nvme")
# Settings of a point that has none of its own.
PLAIN = {"op": "write", "size": 64 * KIB, "mtu": 4096, "qps": 1, "both": 0, "event": 0, "ping": 0}
# What is between the ends, where that is no memory: "packets" leave one by one, or as "trains"; loss in percent, round trip in ms, jitter
# in us, and a slow link with a queue that drops ("tail") or marks ("red").
NETWORK = {"network": "", "loss": 0, "rtt": 0, "jitter": 0, "queue": ""}
NETWORK_WINDOW_MS = 2000
LINK = 200 * 10**6 // 8
RED_MAX = 90_000


def traffic(point):
    return point["op"] not in OTHER


def depth(point):
    """Sends under way on a queue pair: perftest's 128, as far as 16 MiB and 8192 requests in all go."""
    if point["ping"]:
        return 8
    if point["op"] == "nvme":
        return 32 if point["size"] < MIB else 8
    if not traffic(point):
        return 128
    bytes_each = 16 * MIB // point["qps"] // point["size"]
    return max(4, min(128, 8192 // point["qps"], bytes_each))


def name_of(point):
    """The words that differ from the plain setting, readable and unique: 'write 64K both'."""
    words = ["latency"] if point["ping"] else []
    words += [point["op"], size_name(point["size"])] if traffic(point) or point["op"] == "nvme" else [point["op"]]
    if point["mtu"] != 4096:
        words.append(f"mtu{point['mtu']}")
    if point["qps"] != 1:
        words.append(f"qps{point['qps']}")
    if point["depth"] != depth(point):
        words.append(f"depth{point['depth']}")
    words += [word for word in ("both", "event") if point[word]]
    words += network_words(point)
    return " ".join(words)


def network_words(point):
    if not point["network"]:
        return []
    words = [point["network"]] + [f"{word}{point[word]:g}" for word in ("rtt", "jitter", "loss") if point[word]]
    return words + [point["queue"]] * bool(point["queue"])


def size_name(size):
    for unit, letter in ((MIB, "M"), (KIB, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)


def point(**given):
    made = {**PLAIN, **NETWORK, **given}
    made.setdefault("depth", depth(made))
    return made


def flows(ops, sizes, **given):
    return [point(op=op, size=size, **given) for op in ops for size in sizes]


def pings(ops, sizes, **given):
    return [point(op=op, size=size, ping=1, **given) for op in ops for size in sizes]


def many(op, size, counts, **given):
    return [point(op=op, size=size, qps=count, **given) for count in counts]


def memory():
    """Queue pairs weighed while there is no memory that others gave back: hence first of all."""
    return [point(op="memory", qps=512)]


def connect():
    return [point(op="connect", qps=200)]


def disks():
    """NVMe over RDMA: random reads of 4 KiB, many under way and one after the other, and long ones in order."""
    return flows(["nvme"], [4 * KIB, MIB]) + flows(["nvme"], [4 * KIB], depth=1)


def possible(point, arrangement):
    """Between two guests devices come and go, and with them the memory to weigh; the kernel's own users know no namespace but the first."""
    # cmtime's queue pairs that are none have the same numbers at both ends: on one device, to the CM, they are old connections.
    return {"memory": arrangement != "pair", "nvme": arrangement != "single", "connect": arrangement != "self"}.get(point["op"], True)


def short():
    """What tells most: every goal that perftest's kind of run can show, and enough sizes for a plot."""
    rc = ("write", "read", "send")
    return (
        memory()
        + flows(["write"], [8, 512, 4 * KIB, 64 * KIB, MIB, 8 * MIB])
        + flows(["read", "send"], [64 * KIB, MIB])
        + flows(rc, [64 * KIB], mtu=1024)
        + flows(["write"], [64 * KIB], both=1)
        + flows(["send"], [64 * KIB], event=1)
        + flows(["read", "send", "ud"], [8])
        + flows(["ud"], [4 * KIB])
        + many("write", 8, [16, MAX_QPS])
        + [one for op in ("read", "send") for one in many(op, 8, [16])]
        + many("write", 8, [16], depth=8)
        + pings(["write"], [8, 4 * KIB, 64 * KIB])
        + pings(["read", "send", "ud"], [8])
        + pings(["send"], [8], event=1)
        + connect()
        + disks()
    )


def full():
    """All axes. Not their product: QPs are varied at two sizes, directions at those that fill a pipe, modes at most sizes."""
    rc = ("write", "read", "send")
    sizes = [8, 64, 512, 4 * KIB, 32 * KIB, 64 * KIB, 256 * KIB, MIB, 8 * MIB]
    datagrams = [8, 64, 512, KIB, 4 * KIB]
    large = [4 * KIB, 64 * KIB, MIB, 8 * MIB]
    counts = [4, 16, 64, 256, MAX_QPS]
    return (
        memory()
        + flows(rc, sizes)
        + flows(rc, [*large, 256 * KIB], mtu=1024)
        + flows(rc, large, both=1)
        + flows(rc, [8, *large], event=1)
        + flows(["ud"], datagrams)
        + flows(["ud"], [8, 4 * KIB], event=1)
        + flows(["ud"], [8, 4 * KIB], both=1)
        + flows(["ud"], [8, KIB], mtu=1024)
        + [one for op in rc for one in many(op, 8, counts)]
        # As many under way on each as 1024 queue pairs or 16 have: what differs then is their number.
        + many("write", 8, [16], depth=8)
        + many("write", 8, [MAX_QPS], depth=128)
        + many("write", 64 * KIB, counts)
        + pings(rc, sizes)
        + pings(rc, [8, 64 * KIB], mtu=1024)
        + pings(["read", "send"], [8, 4 * KIB, 64 * KIB], event=1)
        + pings(["ud"], datagrams)
        + pings(["ud"], [8], event=1)
        + connect()
        + disks()
    )


RC = ("write", "read", "send")
LOSSES = (0, 0.1, 1, 5)


def network():
    """What loses, delays, reorders, and is shared."""
    def long(**given):
        return flows(RC, [MIB], depth=64, network="trains", **given)

    return (
        [one for kind in ("packets", "trains") for loss in LOSSES for one in flows(RC, [64 * KIB], network=kind, loss=loss)]
        + long(rtt=2)
        + long(rtt=2, jitter=200)
        + [one for rtt in (10, 40) for loss in (0, 0.1) for one in long(rtt=rtt, loss=loss)]
        + [one for queue in ("tail", "red") for one in many("write", 64 * KIB, [8, 32], network="packets", queue=queue)]
    )


def warm_ms(point):
    """Until windows are open."""
    if not point["network"]:
        return WARM_MS
    return 2000 if point["rtt"] > 2 or point["queue"] else 500


def window_ms(point):
    return NETWORK_WINDOW_MS if point["network"] else WINDOW_MS


FORMS = {"short": short, "full": full, "network": network}


def chosen(form, only):
    """The points of a form whose names match one of some patterns, each once."""
    seen, result = set(), []
    for one in FORMS.get(form, full)():
        name = name_of(one)
        if name in seen or not any(fnmatch.fnmatchcase(name, pattern) for pattern in only or ["*"]):
            continue
        seen.add(name)
        result.append({**one, "name": name})
    return result


def for_tcp(one):
    """Whether a stream of bytes can do something alike."""
    return one["op"] in RC and one["qps"] == 1 and not one["both"] and one["mtu"] == 4096 and once_for_all(one)


def once_for_all(one):
    """On a network what is no rover goes with WRITEs, and is compared with SENDs and READs too."""
    return not one["network"] or one["op"] == "write"


def judged(one):
    """Where the usual tools measure too, to see that this one tells the same."""
    return for_tcp(one) and one["op"] == "write" and not one["ping"] and not one["network"] and one["size"] in (64 * KIB, MIB)
