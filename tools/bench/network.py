#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""network: what is between the ends at a point that asks for it: loss, delay, a queue; and what that did."""

import json
import threading
import time

import points

# A queue of netem that is never full; bytes of the slow link's queue without marks, and of that behind RED.
NETEM_PACKETS = 100_000
TAIL_BYTES = 256_000
RED_BYTES = 1_000_000
RED = f"red limit {RED_BYTES} min 30000 max {points.RED_MAX} avpkt 4154 burst 20 bandwidth 200mbit probability 0.1 ecn"
# By ethtool: the name to set, and the name that is shown.
OFFLOADS = {"tx-gso-list": "tx-gso-list", "gso": "generic-segmentation-offload", "tso": "tcp-segmentation-offload", "gro": "generic-receive-offload"}
LOOKS = 3


class Wire:
    """The netdevs of two ends, the first of which sends."""

    def __init__(self, *ends):
        self.ends = ends
        self.whole = [self.offloads(end) for end in ends]
        self.now = None
        for end in ends:
            end.shell("modprobe", "-a", "sch_netem", "sch_tbf", "sch_red")

    @staticmethod
    def offloads(end):
        shown = dict(line.strip().split(": ", 1) for line in end.shell("ethtool", "-k", end.netdev).splitlines() if ": " in line)
        return {name: shown[long].split()[0] for name, long in OFFLOADS.items() if long in shown}

    def offload(self, end, wanted):
        end.shell("ethtool", "-K", end.netdev, *(word for pair in wanted.items() for word in pair))

    def apply(self, point):
        wanted = [point[key] for key in points.NETWORK]
        if wanted == self.now:
            return
        self.now = None
        for end, whole in zip(self.ends, self.whole):
            self.offload(end, dict.fromkeys(whole, "off") if point["network"] == "packets" else whole)
            self.delete(end)
            if point["network"] and not point["queue"]:
                self.netem(end, point)
        if point["queue"]:
            self.link(self.ends[0], point["queue"])
        self.now = wanted

    @staticmethod
    def delete(end):
        if "root" in end.shell("bash", "-c", f"tc qdisc show dev {end.netdev} | grep -v noqueue || :"):
            end.shell("tc", "qdisc", "del", "dev", end.netdev, "root")

    @staticmethod
    def netem(end, point):
        words = ["limit", str(NETEM_PACKETS)]
        if point["rtt"]:
            words += ["delay", f"{point['rtt'] / 2:g}ms"] + [f"{point['jitter']}us"] * bool(point["jitter"])
        if point["loss"]:
            words += ["loss", f"{point['loss']:g}%"]
        end.shell("tc", "qdisc", "replace", "dev", end.netdev, "root", "netem", *words)

    @staticmethod
    def link(end, queue):
        end.shell("tc", "qdisc", "replace", "dev", end.netdev, "root", "handle", "1:", "tbf", "rate", f"{8 * points.LINK}", "burst", "64k",
                  "limit", str(TAIL_BYTES if queue == "tail" else RED_BYTES))
        if queue == "red":
            end.shell("tc", "qdisc", "replace", "dev", end.netdev, "parent", "1:1", "handle", "10:", *RED.split())

    def queue(self):
        """Of the slow link's queue: the most that one of its qdiscs says. A qdisc passes on what the one below it drops."""
        said = json.loads(self.ends[0].shell("tc", "-s", "-j", "qdisc", "show", "dev", self.ends[0].netdev))
        return {name: max(qdisc.get(key, 0) for qdisc in said) for name, key in (("drops", "drops"), ("marked", "marked"), ("backlog", "backlog"))}


class Look(threading.Thread):
    """Reads a queue a few times while something else runs."""

    def __init__(self, wire, point):
        super().__init__()
        self.wire, self.most = wire, 0
        self.began, self.every = time.monotonic() + points.warm_ms(point) / 1000, points.window_ms(point) / 1000 / LOOKS

    def run(self):
        for number in range(LOOKS):
            time.sleep(max(0, self.began + number * self.every - time.monotonic()))
            self.most = max(self.most, self.wire.queue()["backlog"])


def counted(devices):
    """Packets that rover's devices have sent, and those sent again. Only the first namespace is shown them."""
    result = []
    for name in ("tx_packets", "tx_retransmitted_packets"):
        result.append(0)
        for device in devices:
            with open(f"/sys/class/infiniband/{device}/ports/1/hw_counters/{name}", encoding="ascii") as file:
                result[-1] += int(file.read())
    return result


def observed(wire, point, devices, take):
    """A sample, with what the network says of it. The devices are rover's, or there are none."""
    before, queue, look = counted(devices), None, None
    if point["queue"]:
        queue, look = wire.queue(), Look(wire, point)
        look.start()
    sample = take()
    if look:
        look.join()
        after = wire.queue()
        sample.update({name: after[name] - queue[name] for name in ("drops", "marked")}, backlog=look.most)
    sent, again = (now - then for now, then in zip(counted(devices), before))
    if sent:
        sample["resent"] = again / sent
    return sample
