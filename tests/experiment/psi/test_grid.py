"""The grid of Psi through the benchmark runner: what is sampled, kept, resumed and missing."""

import numpy as np
import pytest
from tests.experiment.psi.worlds import FUSSY, MODELS, Fussy, content, psi_file, scenario
from tests.experiment.worlds import log, tables

from fullrank.core.errors import DataError, StoreError
from fullrank.experiment.psi import psi, read_psi
from fullrank.experiment.psi.grid import _draw, reference, share
from fullrank.experiment.psi.samples import draw
from fullrank.experiment.psi.shapes import PsiSpec
from fullrank.experiment.run import run
from fullrank.experiment.spec import parse_as, parse_spec
from fullrank.experiment.store import Store
from fullrank.models import EASE, Popularity, PureSVD
from fullrank.rank import rank
from fullrank.split._base import TRAIN


def spec_of(**changes):
    return parse_as(PsiSpec, content(**changes))


def samples_of(folder, sampler, **changes):
    """The full fold, and those of the samples by share kept."""
    psi_file(folder)
    spec = spec_of(sampler=[{"name": sampler}], **changes)
    full = reference(spec, 0, 1, folder)
    store = Store.open(folder / "drawn", create=True)
    return full, draw(store, full, _draw(spec, 0, 0, 1, folder), "s").folds


@pytest.mark.parametrize("sampler", ["RandomInteractions", "HeadUsers", "SVPCF(proxy=EASE)"])
def test_only_training_rows_are_sampled_and_sizes_are_nested(tmp_path, sampler):
    full, folds = samples_of(tmp_path, sampler)
    kept = {keep: fold.split.part == TRAIN for keep, fold in folds.items()}
    assert np.all(kept[0.6] | ~kept[0.3])
    for keep, fold in folds.items():
        assert kept[keep].sum() == pytest.approx(keep * (full.split.part == TRAIN).sum(), abs=1)
        for part in ("valid", "test"):
            assert fold.split.rows(part).fingerprint == full.split.rows(part).fingerprint
        for mine, whole in ((fold.test_queries, full.test_queries),
                            (fold.valid_queries, full.valid_queries)):  # fmt: skip
            assert set(mine.users) <= set(whole.users)
            for user in mine.users:
                at, of = (
                    np.flatnonzero(mine.users == user)[0],
                    np.flatnonzero(whole.users == user)[0],
                )
                assert set(mine.targets(at)) == set(whole.targets(of))
                assert set(mine.history(at)) <= set(whole.history(of))
        assert fold.test_fit_rows.fingerprint == fold.split.train.fingerprint  # no validation rows
        assert fold.protocol_id != full.protocol_id


def test_targets_that_the_full_history_holds_do_not_come_back(tmp_path):
    psi_file(tmp_path)
    twice = log()
    twice.extend(log().sample(200, seed=1)).write_csv(tmp_path / "log.csv")
    spec = spec_of(sampler=[{"name": "RandomInteractions"}])
    full = reference(spec, 0, 1, tmp_path)
    store = Store.open(tmp_path / "drawn", create=True)
    (fold, _) = draw(store, full, _draw(spec, 0, 0, 1, tmp_path), "s").folds.values()
    alone = fold.split.queries("test", fit="train")
    assert len(alone.target_items) > len(full.test_queries.target_items)
    np.testing.assert_array_equal(fold.test_queries.target_items, full.test_queries.target_items)


def test_the_catalogue_is_that_of_the_full_data_unless_asked(tmp_path):
    full, folds = samples_of(tmp_path, "RandomItems", floor={"rows": 20, "users": 5, "items": 5})
    subset = samples_of(
        tmp_path, "RandomItems", floor={"rows": 20, "users": 5, "items": 5}, catalogue="subset"
    )[1][0.3]
    whole = full.catalogue(full.test_fit_rows, full.test_queries)
    assert folds[0.3].catalogue(folds[0.3].test_fit_rows, full.test_queries).size == whole.size
    assert subset.catalogue(subset.test_fit_rows, subset.test_queries).size < whole.size / 2
    assert subset.protocol_id != folds[0.3].protocol_id


def test_items_of_dropped_rows_are_candidates_again_or_masked(tmp_path):
    """Masked, a query has the candidates of the full data; ranks are those among these alone."""
    full, folds = samples_of(tmp_path, "RandomInteractions")
    masked = samples_of(tmp_path, "RandomInteractions", dropped="masked")[1][0.3]
    plain = folds[0.3]
    assert masked.protocol_id != plain.protocol_id
    assert full.catalogue(full.test_fit_rows, full.test_queries).excluded_indptr.size == 0
    for make in (Popularity, lambda: EASE(reg=1.0), lambda: PureSVD(embedding_dim=4)):
        ranked = [
            rank(make().fit(fold.test_fit_rows), fold.test_queries, k=40,
                 catalogue=fold.catalogue(fold.test_fit_rows, fold.test_queries))
            for fold in (full, plain, masked)
        ]  # fmt: skip
        counts = [found.targets.n_candidates for found in ranked]
        np.testing.assert_array_equal(counts[0], counts[2])
        assert np.all(counts[1] >= counts[2])
        assert counts[1].sum() > counts[2].sum()
        for q in range(len(full.test_queries)):
            seen = set(full.test_queries.history(q))
            again, left = (found.top.items[q].tolist() for found in ranked[1:])
            left = [item for item in left if item >= 0]
            assert left == [item for item in again if item >= 0 and item not in seen]
        few = masked.test_queries.history_counts > 2
        part = masked.test_queries[few]
        alone = rank(make().fit(masked.test_fit_rows), part,
                     catalogue=masked.catalogue(masked.test_fit_rows, part)).targets  # fmt: skip
        np.testing.assert_array_equal(alone.best, ranked[2].targets[few].best)
    with pytest.raises(DataError, match=r"made for other queries; call catalogue\.without"):
        rank(make().fit(masked.test_fit_rows), masked.test_queries,
             catalogue=masked.catalogue(masked.test_fit_rows, part))  # fmt: skip


def stable(results):
    """The document without times."""
    found = results.to_dict()
    return {k: v for k, v in found.items() if k not in ("costs", "provenance")}


class StoppedError(Exception):
    pass


def test_a_run_that_is_cut_short_goes_on_and_ends_alike(tmp_path):
    path = psi_file(tmp_path, seeds={"sampler": [1, 2]}, keep=[0.6])
    whole = psi(path, tmp_path / "whole")
    assert len(whole.terms.common) == 2
    assert whole.fresh == (1 + 2 * 2) * (3 + 2)
    assert psi(path, tmp_path / "whole").fresh == 0
    steps = []

    def stop(step):
        steps.append(step)
        if len(steps) % 9 == 0:
            raise StoppedError

    for _ in range(2):
        with pytest.raises(StoppedError):
            psi(path, tmp_path / "cut", progress=stop)
    spec, base, _ = read_psi(path)
    share(spec, base, Store.open(tmp_path / "cut"), (1, 2))  # a helper's work, all of it at last
    again = psi(path, tmp_path / "cut")
    assert again.fresh == 0
    assert tables(tmp_path / "cut") == tables(tmp_path / "whole")
    assert stable(again) == stable(whole)
    assert {step.total for step in steps} == {whole.fresh}


def test_the_full_data_are_the_cells_of_a_benchmark(tmp_path):
    path = psi_file(tmp_path)
    psi(path, tmp_path / "store")
    bench = {
        "metrics": ["ndcg@10"],
        "data": [{"name": "small", "path": "log.csv"}],
        "split": {"strategy": "RandomRows", "valid": 0.2, "test": 0.2, "seed": 1},
        "tune": {"metric": "ndcg@10", "trials": 2, "sampler": "grid", "refit": "train"},
        "model": MODELS,
    }
    assert run(parse_spec(bench), tmp_path / "store", base=tmp_path).fresh == 0


def test_what_can_not_be_had_is_listed_and_leaves_all_samplers(tmp_path):
    models = [*MODELS, FUSSY]
    path = psi_file(tmp_path, keep=[0.6, 0.3, 0.02], scenario=[scenario(model=models)])
    found = psi(path, tmp_path / "store")
    assert [place.keep for place in found.terms.common] == [0.6, 0.6]
    reasons = {(m.place.keep, m.reason) for m in found.terms.missing}
    assert {keep for keep, _ in reasons} == {0.3, 0.02}
    assert "Fussy failed on the sample: 12" in str(reasons)
    assert "a usable sample has at least 50 rows" in str(reasons)
    assert {(row.keep, row.share is None) for row in found.costs} == {
        (1.0, False), (0.6, False), (0.3, True), (0.02, True)}  # fmt: skip
    full = [{**FUSSY, "label": "a"}, *MODELS]
    few = {"strategy": "RandomRows", "valid": 0.4, "test": 0.4}
    small = psi_file(tmp_path, keep=[0.6], scenario=[scenario(model=full, split=few)])
    none = psi(small, tmp_path / "store")
    assert none.terms.common == ()
    assert "a failed on the full data: " in none.terms.missing[0].reason
    assert none.to_dict()["psi"][0]["null"] is None


def test_a_failure_that_is_kept_stands_until_it_is_deleted(tmp_path, monkeypatch):
    tried, fit = [], Fussy._fit

    def counted(self, train, rng, monitor):
        tried.append(len(train))
        fit(self, train, rng, monitor)

    monkeypatch.setattr(Fussy, "_fit", counted)
    path = psi_file(tmp_path, keep=[0.3], scenario=[scenario(model=[*MODELS, FUSSY])])
    first = psi(path, tmp_path / "store")
    assert len(tried) == 3  # the full data, and one sample of each sampler
    again = psi(path, tmp_path / "store")
    assert len(tried) == 3
    assert stable(again) == stable(first)
    assert "12" in first.terms.missing[0].reason
    for kept in (tmp_path / "store" / "failures").iterdir():
        kept.write_text("{}")
    with pytest.raises(StoreError, match="has no error"):
        psi(path, tmp_path / "store")
    for kept in (tmp_path / "store" / "failures").iterdir():
        kept.unlink()
    monkeypatch.setattr(Fussy, "_fit", Popularity._fit)
    mended = psi(path, tmp_path / "store")
    assert (mended.fresh, mended.terms.missing) == (2, ())


def test_explicit_scenarios_rank_by_errors_and_cold_users_stand_apart(tmp_path):
    ratings = scenario("explicit", metrics=["rmse"], tune=None, model=[
        {"name": "BiasOnly"}, {"name": "MF", "settings": {"embedding_dim": 2, "epochs": 3}},
        {"name": "BiasOnly", "label": "stiff", "settings": {"reg_user": 1e6, "reg_item": 1e6}},
    ])  # fmt: skip
    samplers = [{"name": "RandomUsers"}, {"name": "SVPCF(proxy=bias_only)"}]
    seeds = {"training": [1, 2]}
    path = psi_file(tmp_path, sampler=samplers, scenario=[ratings, scenario()], seeds=seeds)
    found = psi(path, tmp_path / "store")
    assert len(found.terms.common) == 6
    assert (found.terms.unit, found.terms.units) == ("training", 2)
    ranked = [t for t in found.terms.terms if t.place.scenario != "explicit"]
    first, second = ([t.values["tau"] for t in ranked if t.repeat.training == n] for n in (1, 2))
    assert first == second  # none of its models draws
    proxies = [d for d in found.grid if d.which.sampler[:3] == "SVP"]
    assert {(d.which.scenario, d.manifest["settings"]["scenario"]) for d in proxies} == {
        ("explicit", "explicit"), ("implicit", "implicit")}  # fmt: skip
    users = [t for t in found.terms.terms if t.sampler == "RandomUsers"]
    assert all(t.warm is not None for t in users)
    assert any(t.warm != t.values["tau"] for t in users)
    full, sampled = (
        next(d for d in found.grid if d.which.scenario == "explicit" and bool(d.which.sampler) == s)
        for s in (False, True)
    )
    assert full.keys.keys() == sampled.keys.keys()
    assert set(full.keys.values()).isdisjoint(sampled.keys.values())


def test_overlapping_intervals_may_tie(tmp_path):
    exact = psi(psi_file(tmp_path), tmp_path / "store")
    tied = psi(psi_file(tmp_path, ties="intervals"), tmp_path / "store")
    assert tied.fresh == 0
    zeros = [sum(int(np.sum(t.sample == 0)) for t in r.terms.terms) for r in (exact, tied)]
    assert zeros[1] > zeros[0] == 0


def test_damaged_samples_are_named(tmp_path):
    path = psi_file(tmp_path)
    psi(path, tmp_path / "store")
    (rows, *_) = (tmp_path / "store" / "samples").glob("*/rows.npz")
    rows.write_bytes(rows.read_bytes()[:200])
    with pytest.raises(StoreError, match="delete the folder and run again"):
        psi(path, tmp_path / "store")
