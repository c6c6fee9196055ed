"""What is wrong with lists, or looks so: refusals and warnings of ``evaluate``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fullrank.core.brief import count
from fullrank.core.errors import DataError, SpecError
from fullrank.core.ranked import TargetRanks
from fullrank.metrics import Metric
from fullrank.rank._lists import said

MANY_WITHOUT_LIST = 0.2
"""From this share on, users without a list are a fault of the files rather than a finding."""


def check_graded(metrics: Sequence[Metric], grade: str | None) -> None:
    """Refuse a threshold of relevance that no target can reach, as each has gain 1.

    Raises:
        SpecError: with the two ways to name a grade column.
    """
    for metric in metrics:
        rel = getattr(metric, "rel", None)
        if grade is None and rel is not None and rel > 1:
            raise SpecError(
                f"{metric}: rel={rel:g} needs a grade column, as every target has gain 1 without; "
                "name it: --grade COLUMN (in Python grade='COLUMN'), or grade = \"COLUMN\" under "
                "[[data]]"
            )


def check_evaluable(ranked: TargetRanks, recs: Any, train: Any) -> None:
    """Refuse lists that recommend nothing to anybody, and a truth of which nothing is left.

    Raises:
        DataError: with what to do.
    """
    counts = ranked.counts
    if len(ranked.best) == 0:
        raise DataError(
            f"all {counts.get('repeated_targets', 0):,} held-out items are in "
            f"{said('train', train)} too, and what users had before is no target; evaluate "
            "repeats by keep_seen (--keep-seen), or give the training rows from before the truth"
        )
    if not counts.get("longest_list", 1) and not counts.get("removed_seen", 0):
        never = counts.get("never_recommended", 0)
        why = f", as its {never:,} rows are scored -inf" if never else ""
        raise DataError(
            f"{said('recs', recs)} holds no recommendation{why}; check the export (a user without "
            "recommendations counts as zero, but not all of them)"
        )


def warnings_for(ranked: TargetRanks, metrics: Sequence[Metric]) -> list[str]:
    """What looks wrong without being an error."""
    found = (_cut(ranked, metrics), _ungraded(ranked), _without_list(ranked), _no_hit(ranked))
    return [text for texts in found for text in texts]


def _cut(ranked: TargetRanks, metrics: Sequence[Metric]) -> Iterator[str]:
    longest = ranked.counts.get("longest_list", 0)
    above = [str(m) for m in metrics if m.k is not None and m.k > longest]
    alike = longest and longest == ranked.counts.get("shortest_list", 0)
    if ranked.depth is None and alike and above:
        yield (
            f"every list has {longest} items and {', '.join(above)} looks further: if the lists "
            f"were cut, say --depth {longest} and take k up to it"
        )


def _ungraded(ranked: TargetRanks) -> Iterator[str]:
    column = ranked.design.get("ungraded")
    if column is not None:
        rows = count(ranked.counts["rows_rated_0_or_below"], "row")
        yield (
            f"{column!r} is 0 or below in {rows} of "
            "the truth, and every row counts as a hit, as no grade column is named; if that column "
            f"says what is relevant, name it: --grade {column}"
        )


def _without_list(ranked: TargetRanks) -> Iterator[str]:
    without, total = ranked.counts.get("users_without_recommendations", 0), len(ranked)
    if total and without >= MANY_WITHOUT_LIST * total:
        yield (
            f"{without:,} of {count(total, 'user')} of the truth ({without / total:.0%}) without a "
            "list, which counts as zero: check that the lists are complete; leave users out of the "
            "truth who were not to be served"
        )


def _no_hit(ranked: TargetRanks) -> Iterator[str]:
    if len(ranked.best) and not ranked.ranked.any():
        yield (
            "no held-out item is in any list: check that both sides use the same item ids "
            f"(such as {ranked.item_vocab.label(ranked.items[0])} in the truth)"
        )
