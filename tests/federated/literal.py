"""The papers' algorithm word by word, in Python lists: slow, and without any of the library's code."""

import numpy as np


class LiteralServer:
    def __init__(self, parameters):
        self.p = [np.float32(v) for v in parameters]
        self.stat = [0] * len(self.p)

    def upload(self, pairs):
        for j, value in pairs:
            self.p[j] = np.float32(self.p[j] + value)
            self.stat[j] += 1


def literal_candidates(before, after, tau, gamma):
    """Steps one and two: threshold, then clamp."""
    pairs = []
    for j, (old, new) in enumerate(zip(before, after, strict=True)):
        update = np.float32(np.float32(new) - np.float32(old))
        if abs(update) > tau:
            pairs.append((j, np.float32(max(-gamma, min(gamma, update)))))
    return pairs


def literal_largest(before, after, tau, gamma, n):
    """Step three of Shokri & Shmatikov: the largest, as many as allowed; magnitudes must differ."""
    pairs = literal_candidates(before, after, tau, float("inf"))
    pairs = sorted(pairs, key=lambda pair: -abs(pair[1]))[:n]
    return sorted((j, np.float32(max(-gamma, min(gamma, value)))) for j, value in pairs)
