#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The table of tools/bench/compare: lines of round, module and messages a second in, a line for each module out.

The figure of a round is the median of its samples; a ratio is that of two figures of one round. Two modules are equal if the middle half of
the ratios has 1 in it."""

import sys
from collections import defaultdict
from statistics import median, quantiles


def figures(lines):
    samples = defaultdict(lambda: defaultdict(list))
    for line in lines:
        number, module, rate = line.split()
        samples[module][number].append(float(rate))
    return {module: [median(rates) for rates in rounds.values()] for module, rounds in samples.items()}


def verdict(ratios):
    low, _, high = quantiles(ratios)
    return low, high, "faster" if low > 1 else "slower" if high < 1 else "equal"


def table(rounds):
    first = next(iter(rounds))
    for module, rates in rounds.items():
        line = f"{module:10} {median(rates):10.0f} messages a second ({min(rates):.0f} to {max(rates):.0f})"
        if module != first and len(rates) > 1:
            ratios = [mine / other for mine, other in zip(rates, rounds[first])]
            low, high, words = verdict(ratios)
            line += f"   {median(ratios):.3f} of {first} (half of the rounds {low:.3f} to {high:.3f}): {words}"
        yield line


if __name__ == "__main__":
    print(*table(figures(sys.stdin)), sep="\n")
