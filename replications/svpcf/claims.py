"""The paper's claims, each with what was found here and whether it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import median

from replications.svpcf import numbers, parts
from replications.svpcf.numbers import Found, Gap, gap
from replications.svpcf.tables import RANDOM, markdown, signed

HOLDS, NOT, OPEN = "holds", "does not hold", "can't be told"
HARDEST, HEAD, USERS = "rows, SVP mf", "users, head", parts.BASELINE
GRAPH = ("graph, centrality", "graph, random walk", "graph, forest fire")
ALPHA = 1 - numbers.LEVEL
SHORTER = 5.8
"""Times that training at 10 % is shorter, as recalled from the paper and not verified."""

NOISE = 2.0
"""Times of samples of one size that differ by more tell of the machine's load."""


@dataclass(frozen=True)
class Claim:
    """A claim.

    Attributes:
        text: what the paper says, in our words.
        verdict: ``HOLDS``, ``NOT`` or ``OPEN``.
        numbers: why.
    """

    text: str
    verdict: str
    numbers: str


def sign_of(found: Gap) -> int:
    """1 or -1 where the interval lies on one side of 0, else 0."""
    if isnan(found.low):
        return 0
    return 1 if found.low > 0 else -1 if found.high < 0 else 0


def place(means: Mapping[str, float], label: str) -> str:
    """Place of a sampler among those that there are."""
    order = sorted(means, key=lambda name: -means[name])
    return f"{order.index(label) + 1} of {len(order)}" if label in means else "not run"


def warm(sets: Sequence[Found], label: str, base: str = RANDOM) -> str:
    """The difference over those users whom each sample leaves a row, in words."""
    found = gap(numbers.differences(sets, label, base, warm=True))
    unit, _, kind = base.partition(", ")
    return f"among warm users less {kind} {unit} {found}"


def hardest(sets: Sequence[Found]) -> Claim:
    """Hardest rows are the best on average."""
    means = numbers.means(sets)
    better = [
        other
        for other, found in numbers.against(sets, HARDEST).items()
        if found.adjusted < ALPHA and found.value > 0
    ]
    found = gap(numbers.differences(sets, HARDEST, RANDOM))
    first = bool(means) and place(means, HARDEST).startswith("1 ")
    verdict = NOT if better else HOLDS if first and sign_of(found) > 0 else OPEN
    told = f"place {place(means, HARDEST)}; less random rows {found}, {found.n} data sets; "
    told += f"better by more than chance (Holm): {', '.join(better) or 'none'}"
    told += f"; {warm(sets, HARDEST)}, {warm(sets, HARDEST, USERS)}"
    return Claim("Hardest rows (SVP with MF) keep the ranking best on average", verdict, told)


def head(sets: Sequence[Found]) -> Claim:
    """Head users are the worst."""
    means = numbers.means(sets)
    gaps = numbers.against(sets, HEAD)
    worse = [o for o, found in gaps.items() if found.adjusted < ALPHA and found.value < 0]
    last = bool(means) and min(means, key=lambda name: means[name]) == HEAD
    above = [o for o, found in gaps.items() if found.adjusted < ALPHA and found.value > 0]
    plain = gap(numbers.differences(sets, HEAD, RANDOM))
    verdict = NOT if worse or sign_of(plain) > 0 else HOLDS if last and above else OPEN
    told = f"place {place(means, HEAD)}; less random rows "
    told += f"{plain}; less random users "
    told += f"{gap(numbers.differences(sets, HEAD, USERS))}; worse than it by more than chance: "
    told += f"{', '.join(worse) or 'none'}; {warm(sets, HEAD)}"
    return Claim("Head users keep it worst", verdict, told)


def graphs(sets: Sequence[Found]) -> Claim:
    """Graph samplers are good on small sparse sets."""
    text = "Graph samplers are good on small sparse data sets"
    if len(sets) < 4:
        return Claim(text, OPEN, "too few data sets")
    middle = median(one.rows_a_user for one in sets)
    halves = {
        "sparser": [one for one in sets if one.rows_a_user <= middle],
        "denser": [one for one in sets if one.rows_a_user > middle],
    }
    found = {
        name: [gap([_graph(one, base) for one in half]) for base in (RANDOM, USERS)]
        for name, half in halves.items()
    }
    sparse = found["sparser"]
    signs = [sign_of(one) for one in sparse]
    verdict = HOLDS if signs == [1, 1] else NOT if signs[0] < 0 else OPEN
    told = "; ".join(
        f"{name} half (training rows a user {'up to' if name == 'sparser' else 'above'} "
        f"{middle:.0f}): mean of the three less random rows {pair[0]}, less random users {pair[1]}"
        for name, pair in found.items()
    )
    return Claim(text, verdict, told)


def _graph(one: Found, base: str) -> float:
    values = [one.psi(label, one.shared) for label in (*GRAPH, base)]
    known = [value for value in values if value is not None]
    return sum(known[:-1]) / len(GRAPH) - known[-1]


def propensity(sets: Sequence[Found]) -> Claim:
    """Propensities help where users are sampled, not where rows are."""
    by = {}
    for unit in ("users", "rows"):
        pairs = [
            numbers.differences(sets, f"{unit}, SVP-Prop {proxy}", f"{unit}, SVP {proxy}")
            for proxy in ("mf", "bias_only")
        ]
        by[unit] = gap([sum(both) / 2 for both in zip(*pairs, strict=True)])
    signs = sign_of(by["users"]), sign_of(by["rows"])
    verdict = HOLDS if signs[0] > 0 and signs[1] <= 0 else NOT if signs[0] < 0 else OPEN
    told = "; ".join(
        f"{unit} with less without, mean of both proxies: {g}" for unit, g in by.items()
    )
    return Claim("Propensities help sampling of users, not of rows", verdict, told)


def random_users(sets: Sequence[Found]) -> Claim:
    """Random users are a strong plain baseline."""
    means = numbers.means(sets)
    found = gap(numbers.differences(sets, USERS, RANDOM))
    verdict = {1: HOLDS, 0: OPEN, -1: NOT}[sign_of(found)]
    told = f"less random rows {found}, {found.n} data sets; place {place(means, USERS)}"
    better = [
        other
        for other, g in numbers.against(sets, USERS).items()
        if g.adjusted < ALPHA and g.value > 0
    ]
    told += f"; better than it by more than chance: {', '.join(better) or 'none'}"
    told += f"; {warm(sets, USERS)}"
    return Claim("Random users are a strong plain baseline", verdict, told)


def shorter(sets: Sequence[Found], paper: Sequence[Found]) -> Claim:
    """Training at 10 % is 5.8 times shorter."""
    text = f"Training at 10 % is {SHORTER} times shorter (as recalled, unverified)"
    told, found = [], {}
    spread = 1.0
    for name, some in (("cheap models", sets), ("the paper's algorithms", paper)):
        rows = [row for row in numbers.shares(some) if row["keep"] == 0.1]
        alone, both = _times(rows, "study"), _times(rows, "both")
        if not alone:
            continue
        found[name] = sum(alone.values()) / len(alone)
        spread = max(alone.values()) / min(alone.values())
        span = f"{min(alone.values()):.1f} to {max(alone.values()):.1f}"
        told.append(f"{name}: {found[name]:.1f} times, samplers' mean ({span})")
        if HARDEST in both:
            told.append(f"with its proxy {HARDEST} {both[HARDEST]:.1f} times")
    own = found.get("the paper's algorithms")
    verdict = OPEN if own is None else HOLDS if own >= SHORTER * 0.9 else NOT
    if own is not None and spread > NOISE:  # more than samples of one size differ by
        verdict = OPEN
        told.append("wall times on a shared machine: samples of one size differ too much to tell")
    return Claim(text, verdict, "; ".join(told) or "not measured")


def _times(rows: Sequence[Mapping[str, object]], column: str) -> dict[str, float]:
    """By sampler how many times shorter it is; those that are not known are left out."""
    known = [row for row in rows if row[column] is not None]
    return {str(row["sampler"]): 1 / float(str(row[column])) for row in known}


def genie() -> Claim:
    """Data-genie's gain."""
    text = "Data-genie chooses samplers better than any fixed one"
    return Claim(text, OPEN, "judged apart, by data sets left out: [advise.md](advise.md)")


def table(sets: Sequence[Found], paper: Sequence[Found]) -> str:
    """All claims; over data sets, and by the paper's own algorithms where these were run."""
    found = [
        hardest(sets), head(sets), graphs(sets), propensity(sets), random_users(sets),
        shorter(sets, paper), genie(),
    ]  # fmt: skip
    return markdown(
        ["claim", "", "found"], [[c.text, f"**{c.verdict}**", c.numbers] for c in found]
    )


def own(paper: Sequence[Found]) -> str:
    """Psi by sampler with the paper's algorithms."""
    rows = []
    for one in paper:
        for label in one.terms.samplers:
            cells = [signed(one.terms.value(label, "tau").value)]
            for key in ("explicit", "implicit", "sequential"):
                places = [p for p in one.terms.common if p.scenario == key]
                cells.append(signed(one.terms.value(label, "tau", places).value))
            for keep in numbers.SHARED:
                places = [p for p in one.terms.common if p.keep == keep]
                cells.append(signed(one.terms.value(label, "tau", places).value))
            rows.append([label, *cells])
    heads = ["sampler", "Psi", "explicit", "implicit", "sequential"]
    return markdown([*heads, *(f"{100 * keep:g} %" for keep in numbers.SHARED)], rows)
