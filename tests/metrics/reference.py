"""Slow, plain definitions: a metric of one order of candidates, and its mean over all orders."""

from __future__ import annotations

import itertools
import math

from fullrank.core.ranked import UNRANKED


def dcg(order, k, gain):
    """Order: the grade at each place, 0 for no target."""
    return sum(gain(g) / math.log2(place + 2) for place, g in enumerate(order[:k]) if g > 0)


GAINS = {
    "exp": lambda g: 2.0**g - 1,
    "linear": lambda g: float(g),
    "binary": lambda g: 1.0,
}


class Order:
    """One order of all candidates of one query, and the formulas as a textbook prints them."""

    def __init__(self, grades, unranked=(), rel=None):
        relevant = (lambda g: g > 0) if rel is None else (lambda g: g >= rel)
        self.grades = [g if g is not None and relevant(g) else 0 for g in grades]
        self.missing = [g for g in unranked if relevant(g)]
        self.idle = len(unranked) - len(self.missing)
        self.places = [p for p, g in enumerate(self.grades, 1) if g > 0]
        self.n = len(self.places) + len(self.missing)

    def hits(self, k):
        return sum(1 for p in self.places if p <= k)

    def precision(self, k):
        return self.hits(k) / k

    def recall(self, k):
        return self.hits(k) / self.n

    def hitrate(self, k):
        return float(self.hits(k) > 0)

    def f1(self, k):
        p, r = self.precision(k), self.recall(k)
        return 2 * p * r / (p + r) if p + r else 0.0

    def mrr(self, k):
        return next((1 / p for p in self.places if p <= k), 0.0)

    def ap_sum(self, k):
        return sum(self.precision(p) for p in self.places if p <= k)

    def map(self, k, denominator="min"):
        return self.ap_sum(k) / (min(self.n, k) if denominator == "min" else self.n)

    def dcg(self, k, gain="exp"):
        return dcg(self.grades, k, GAINS[gain])

    def ndcg(self, k, gain="exp"):
        best = sorted([g for g in self.grades if g > 0] + self.missing, reverse=True)
        return self.dcg(k, gain) / dcg(best, k, GAINS[gain])

    def rbp(self, k, p=0.8):
        return (1 - p) * sum(p ** (place - 1) for place in self.places if place <= k)

    def rprecision(self, k):
        return self.hits(self.n) / self.n

    def auc(self, k):
        others = [p for p, g in enumerate(self.grades, 1) if g == 0]
        if not others:
            return math.nan
        wins = sum(p < other for p in self.places for other in others)
        return wins / (self.n * len(others))

    def meanrank(self, k):
        last = len(self.grades) + len(self.missing) + self.idle
        if len(self.grades) == len(self.places):
            return math.nan
        return (sum(self.places) + last * len(self.missing)) / self.n


def orders(ranked, query):
    """All orders that equal scores leave open: lists of grades (None: no target), and unranked."""
    part = slice(ranked.indptr[query], ranked.indptr[query + 1])
    best, worst, gains = ranked.best[part], ranked.worst[part], ranked.gains[part]
    unranked = [float(g) for b, g in zip(best, gains) if b == UNRANKED]
    places = [None] * int(ranked.n_candidates[query])
    blocks = {}
    for b, w, g in zip(best, worst, gains):
        if b != UNRANKED:
            blocks.setdefault((int(b), int(w)), []).append(float(g))
    arrangements = []
    for (b, w), grades in blocks.items():
        full = grades + [None] * (w - b + 1 - len(grades))
        arrangements.append([(b, order) for order in set(itertools.permutations(full))])
    for choice in itertools.product(*arrangements):
        order = list(places)
        for b, filled in choice:
            order[b - 1 : b - 1 + len(filled)] = filled
        yield order, unranked


def expectation(ranked, query, name, k=None, rel=None, **options):
    """Mean of a metric over all orders, NaN without relevant targets."""
    values = []
    for order, unranked in orders(ranked, query):
        one = Order(order, unranked, rel)
        if one.n == 0:
            return math.nan
        values.append(getattr(one, name)(len(order) + 10 if k is None else k, **options))
    return math.fsum(values) / len(values)
