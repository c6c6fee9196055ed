"""Features of many samples as one table, measured or learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fullrank.advise.features import Features
from fullrank.advise.gin import InfoGraph
from fullrank.advise.pieces import Piece, Pieces
from fullrank.core.errors import DataError
from fullrank.core.interactions import Interactions
from fullrank.core.random import RNG, derive, seed_of
from fullrank.split import Split
from fullrank.subsample import Floor, Sampler, Subsample, subsamples

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Measured:
    """Samples of a data set.

    Attributes:
        frame: ``data, scenario`` (if one was given), ``keep, strategy`` and the features, a row a
            sample.
        samples: graph of each row, if graphs were asked for.
        full: graph of all training rows, likewise.
        missing: samples that can't be made of these data, each with the reason.
    """

    frame: pl.DataFrame
    samples: tuple[Piece, ...]
    full: Piece | None
    missing: tuple[str, ...]


def measure(
    data: str,
    train: Interactions | Split,
    strategies: Sequence[str | Sampler] | Mapping[str, str | Sampler],
    keeps: Sequence[float],
    rng: RNG = 0,
    *,
    scenario: str | None = None,
    features: Features | None = None,
    pieces: Pieces | None = None,
    floor: Floor | None = None,
) -> Measured:
    """Draw samples of a data set and measure them.

    Args:
        data: its name in the table.
        train: a split, of which the training rows are sampled, or training rows.
        strategies: samplers, or their texts, which stand in the table; or by the label that does.
        keeps: shares of the rows.
        rng: seed or Generator of samplers and measurements.
        scenario: for the table, where the samples are those of one scenario only.
        features: what is measured; ``Features()`` by default.
        pieces: how graphs are taken; None for none.
        floor: below which a sample is of no use; ``Floor()`` by default.

    Raises:
        SpecError: an unknown strategy or a share out of range.
        DataError: there are no training rows, or no sample can be made.
    """
    import polars as pl

    rows = train.train if isinstance(train, Split) else train
    how, seed = features or Features(), seed_of(rng)
    whole = how.of(rows, derive(seed, "features"))
    out: list[dict[str, object]] = []
    graphs: list[Piece] = []
    missing: list[str] = []
    labelled = strategies if isinstance(strategies, Mapping) else {str(s): s for s in strategies}
    for label, strategy in labelled.items():
        for sample in _samples(rows, strategy, keeps, seed, floor, missing):
            key = {"data": data, **({} if scenario is None else {"scenario": scenario})}
            key |= {"keep": sample.manifest["keep"], "strategy": label}
            out.append({**key, **how.of_sample(sample, whole, derive(seed, "features"))})
            if pieces is not None:
                graphs.append(pieces.of(sample.train, derive(seed, "pieces")))
    if not out:
        raise DataError(
            f"no sample of {data!r} can be made: {missing[0] if missing else 'no size'}"
        )
    full = None if pieces is None else pieces.of(rows, derive(seed, "pieces"))
    return Measured(pl.DataFrame(out), tuple(graphs), full, tuple(missing))


def _samples(
    rows: Interactions,
    strategy: str | Sampler,
    keeps: Sequence[float],
    seed: int,
    floor: Floor | None,
    missing: list[str],
) -> list[Subsample]:
    """Samples of one order where all sizes can be made, else those that can; reasons are noted."""
    try:
        return subsamples(rows, strategy, keeps, seed, floor=floor)
    except DataError as error:
        if len(keeps) == 1:
            missing.append(f"{strategy} at {keeps[0]:g}: {error}")
            return []
    return [one for keep in keeps for one in _samples(rows, strategy, [keep], seed, floor, missing)]


@dataclass(frozen=True, eq=False)
class Embedded:
    """Features of which a part is learnt: called with training data sets, it gives the table.

    What ``evaluate`` takes for features: InfoGraph is trained on the graphs of the data sets that
    may be learnt from, and describes all. Columns ``full.gin.1`` … and ``sample.gin.1`` … stand
    beside those that were measured.

    Attributes:
        parts: of each data set, with graphs.
        settings: of InfoGraph.
        rng: seed of its training.
    """

    parts: Sequence[Measured]
    settings: InfoGraph
    rng: int = 0

    def __post_init__(self) -> None:
        for part in self.parts:
            if part.full is None:
                raise DataError(
                    f"the samples of {part.frame['data'][0]!r} have no graphs to learn from; "
                    "measure them with pieces=Pieces()"
                )

    def __call__(self, names: Sequence[str]) -> pl.DataFrame:
        """The table, learnt from some data sets.

        Args:
            names: of these.

        Raises:
            DataError: one of them is not there.
        """
        import polars as pl

        known = {part.frame["data"][0]: part for part in self.parts}
        unknown = sorted(set(names) - set(known))
        if unknown:
            raise DataError(
                f"there are no graphs of the data set {unknown[0]!r}; there are those of "
                f"{', '.join(sorted(known))}"
            )
        graphs = [graph for name in sorted(names) for graph in _graphs(known[name])]
        encoder = self.settings.fit(graphs, self.rng)
        frames = []
        for part in self.parts:
            full, *samples = (encoder.embed(graph) for graph in _graphs(part))
            learnt = [
                {
                    **{f"full.{name}": value for name, value in full.items()},
                    **{f"sample.{name}": value for name, value in sample.items()},
                }
                for sample in samples
            ]
            frames.append(pl.concat([part.frame, pl.DataFrame(learnt)], how="horizontal"))
        return pl.concat(frames)


def _graphs(part: Measured) -> list[Piece]:
    """The whole log's, then the samples'."""
    return [graph for graph in (part.full, *part.samples) if graph is not None]
