"""Joins the meta-data, trains the model that comes with the package, and judges all learners.

`python -m replications.svpcf.ship` reads `replications/svpcf/meta/NAME/` and writes
`src/fullrank/advise/meta/` (the meta-data set, the trained model and its track record) and
`replications/svpcf/advise.md`. Learners whose library is missing keep the numbers of an earlier
call on the same meta-data, so that two environments can fill one table:

    python -m replications.svpcf.ship
    python -m replications.svpcf.ship --learner MLP --learner BPR     # with PyTorch, afterwards
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import polars as pl

from fullrank.advise import Evaluation, MetaData, evaluate, track_record
from fullrank.advise.learners import (
    BPR,
    MLP,
    Boosting,
    Learner,
    Logistic,
    PairBoosting,
    Ridge,
    Trees,
)
from fullrank.advise.meta_data import FILES
from fullrank.advise.record import LEVEL, comparable
from fullrank.advise.shipped import EVALUATION, FOLDER
from replications.svpcf import advise_page
from replications.svpcf.published import published_protocol

HERE = Path(__file__).parent
META = HERE / "meta"
JUDGED = HERE / "advise"
SEED = 1
SHIPPED = Ridge()
"""The plainest learner, not the best of the table: of many, one is the best by luck."""
LEARNERS: Mapping[str, Learner] = {
    "Ridge": SHIPPED,
    "Ridge, ten columns": Ridge(columns=10),
    "Logistic": Logistic((1e-2,)),
    "Boosting": Boosting(Trees(depths=(4,))),
    "PairBoosting": PairBoosting(Trees(depths=(4,))),
}
"""One setting each of the dear ones: to choose takes as many fits as settings and folds."""
NETWORKS: Mapping[str, Learner] = {"MLP": MLP(), "BPR": BPR()}
CHOSEN: Mapping[str, Learner] = {
    "Logistic, chosen": Logistic(),
    "Boosting, chosen": Boosting(),
}
"""Settings chosen by leaving out data sets: hours of one core, and only when asked for."""
DIGITS = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--source", type=Path, default=META, help="folders of meta-data")
    parser.add_argument("--to", type=Path, default=FOLDER, help="the package's folder")
    parser.add_argument("--page", type=Path, default=HERE / "advise.md")
    parser.add_argument("--judged", type=Path, default=JUDGED, help="results of each learner")
    parser.add_argument(
        "--learner",
        action="append",
        choices=[*LEARNERS, *NETWORKS, *CHOSEN],
        help="judge these alone; ship nothing",
    )
    given = parser.parse_args()
    known = {**LEARNERS, **NETWORKS, **CHOSEN}
    meta = joined(given.source)
    if given.learner is None:
        ship(meta, given.to)
    for name in given.learner or LEARNERS:
        judge(meta, name, known[name], given.judged)
        write_page(meta, given, list(known))


def write_page(meta: MetaData, given: argparse.Namespace, names: list[str]) -> None:
    """The page with all learners that were judged so far."""
    if fingerprint(MetaData.load(given.to)) != fingerprint(meta):
        raise SystemExit(f"{given.to} was shipped from other meta-data; leave --learner out first")
    parts = judged(meta, given.judged, names)
    given.page.write_text(advise_page.page(meta, parts, record(given.to)), encoding="utf-8")
    print(f"{given.page}: {len(parts)} learners, {len(meta.names)} data sets")


def joined(source: Path) -> MetaData:
    """All data sets of the study."""
    folders = [folder for folder in sorted(source.iterdir()) if (folder / FILES[0]).is_file()]
    return MetaData.join([MetaData.load(folder) for folder in folders])


def ship(meta: MetaData, to: Path) -> None:
    """Write what comes with the package."""
    meta.save(to)
    started = time.perf_counter()
    SHIPPED.fit(meta.taus, meta.features, SEED, level=LEVEL).save(to)
    (to / "model.safetensors").chmod(0o644)  # written for its owner alone
    fitted = time.perf_counter()
    found = track_record(meta, SHIPPED, SEED)
    number = [name for name, kind in found.groups.schema.items() if kind == pl.Float64]
    found.groups.with_columns(pl.col(number).round(DIGITS)).write_csv(to / EVALUATION)
    ended = time.perf_counter()
    (to / "README.md").write_text(advise_page.readme(meta, SHIPPED), encoding="utf-8")
    print(f"{to}: fitted in {fitted - started:.1f} s, judged in {ended - fitted:.1f} s")


def judge(meta: MetaData, name: str, learner: Learner, to: Path) -> None:
    """Leave each data set out, and follow the published protocol beside; keeps the results."""
    started = time.perf_counter()
    table = comparable(meta.taus)
    found = evaluate(table, meta.features, {name: learner}, SEED)
    published = published_protocol(table, meta.features, learner, SEED)
    folder = to / name.lower().replace(", ", "-").replace(" ", "-")
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    number = [column for column, kind in found.groups.schema.items() if kind == pl.Float64]
    found.groups.with_columns(pl.col(number).round(DIGITS)).write_csv(folder / "groups.csv")
    published.with_columns(pl.col(pl.Float64).round(DIGITS)).write_csv(folder / "published.csv")
    about = {
        "learner": name,
        "settings": str(learner),
        "meta": fingerprint(meta),
        "seconds": round(time.perf_counter() - started, 1),
    }
    (folder / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    print(f"{name}: {about['seconds']} s", flush=True)


def judged(meta: MetaData, source: Path, names: list[str]) -> dict[str, advise_page.Judged]:
    """Results on these meta-data, by learner; those on others are left out."""
    out = {}
    for place in sorted(source.glob("*/about.json")):
        about = json.loads(place.read_text(encoding="utf-8"))
        if about["meta"] != fingerprint(meta):
            print(f"{about['learner']}: judged on other meta-data; judge it again")
            continue
        evaluation = _evaluation(place.parent / "groups.csv")
        published = pl.read_csv(place.parent / "published.csv")
        out[about["learner"]] = advise_page.Judged(evaluation, published, about["settings"])
    return {name: out[name] for name in names if name in out}


def record(to: Path) -> Evaluation:
    """What was shipped of the model's advice."""
    return _evaluation(to / EVALUATION)


def _evaluation(path: Path) -> Evaluation:
    groups = pl.read_csv(path, schema_overrides={"keep": pl.Float64})
    return Evaluation(groups, groups.clear(), skipped=0, unmeasured=0, seed=SEED)


def fingerprint(meta: MetaData) -> str:
    """Of taus and features."""
    text = meta.taus.write_csv() + meta.features.write_csv()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    main()
