"""Importance, propensity and the samplers that go by them, against loops over dense scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from tests.subsample.worlds import LOW, rows, world

from fullrank.core.errors import DataError, SpecError, StoreError
from fullrank.kernels.lost_pairs import lost_pairs
from fullrank.models import BPRMF, EASE, MF, BiasOnly, ItemKNN, Recommender
from fullrank.split._queries import make_queries
from fullrank.subsample import Importance, importance, parse_sampler, subsample, subsamples
from fullrank.subsample._difficulty import (
    _pairs,
    _score_and_offset,
    inverse_auc,
    one_negative,
    squared_errors,
)
from fullrank.subsample._proxy import proxy_model
from fullrank.subsample.score_stratified import rounds

TRAIN = world(6, n=400, n_users=40, n_items=30)
EVERYTHING = np.ones(len(TRAIN), bool)
QUERIES = make_queries(TRAIN, history=EVERYTHING, targets=EVERYTHING, repeats="keep")
QUICK = "BPRMF(embedding_dim=4, epochs=3)"


@dataclass(eq=False)
class Steps(Recommender):
    """Scores that an epoch changes: item codes, then their opposite, and all equal."""

    seen: ClassVar[bool] = True

    def _fit(self, train, rng, monitor):
        for epoch, sign in enumerate((1.0, -1.0, 0.0)):
            self.row_ = (sign * np.arange(train.n_items)).astype(np.float32)
            if monitor is not None:
                assert not monitor(epoch, self)

    def _score(self, queries):
        return np.tile(self.row_, (len(queries), 1))


def plain_inverse_auc(model):
    """One number a target: negatives above it, half of those beside it, over all of them."""
    scores = model.score(QUERIES).astype(np.float64)
    out = []
    for q in range(len(QUERIES)):
        mine = QUERIES.targets(q)
        others = np.setdiff1d(np.flatnonzero(model.known_items_), mine)
        for item in mine:
            above = (scores[q, others] > scores[q, item]).sum()
            beside = (scores[q, others] == scores[q, item]).sum()
            out.append((above + beside / 2) / len(others))
    return np.array(out)


@pytest.mark.parametrize(
    "model",
    [BPRMF(embedding_dim=3, epochs=2), EASE(), ItemKNN(), BiasOnly(), Steps()],
    ids=lambda model: type(model).__name__,
)
def test_inverse_auc_is_that_of_dense_scores(model):
    model.fit(TRAIN)
    np.testing.assert_allclose(inverse_auc(model, QUERIES), plain_inverse_auc(model), atol=1e-12)


def test_inverse_auc_by_hand():
    """Ranks 1, 3, 3 (two tied over 3 to 5) and an unranked one among 7: 4 negatives."""
    last = np.iinfo(np.int32).max
    best, worst = np.array([[1, 3, 3, last], [1, 5, 5, last]], np.int32)
    items, targets = np.array([[9, 4, 7, 2], [2, 4, 7, 9]], np.int32)
    out, room, all_of = np.empty(4), np.empty(10), np.array([0, 4])
    lost_pairs(all_of, best, worst, items, np.array([7], np.int32), targets, room, out)
    # Above rank 3 stand one negative and one positive; beside it one negative.
    assert out.tolist() == [1.0, 1.5 / 4, 1.5 / 4, 0.0]
    lost_pairs(all_of, best, worst, items, np.array([3], np.int32), targets, room, out)
    assert out.tolist() == [0.0] * 4, "no negatives"


def test_one_negative_agrees_with_all_on_average():
    model = BPRMF(embedding_dim=3, epochs=3).fit(TRAIN)
    draws = np.mean([one_negative(model, QUERIES, seed) for seed in range(400)], axis=0)
    exact = plain_inverse_auc(model)
    spread = np.sqrt(np.maximum(exact * (1 - exact), 1 / 400) / 400)
    assert (np.abs(draws - exact) < 5 * spread).all()
    assert len(np.unique(one_negative(model, QUERIES, 1))) == 2


def test_importance_is_the_mean_over_epochs():
    model = Steps()
    found = importance(TRAIN, model, keep_epochs=True)
    assert found.about["epochs"] == 3
    plain = []
    for sign in (1, -1, 0):
        model.row_ = (sign * np.arange(TRAIN.n_items)).astype(np.float32)
        plain.append(plain_inverse_auc(model))
    place = {}
    for q, user in enumerate(QUERIES.users):
        for j in range(QUERIES.target_indptr[q], QUERIES.target_indptr[q + 1]):
            place[int(user), int(QUERIES.target_items[j])] = j
    wanted = [np.mean([one[place[pair]] for one in plain]) for pair in pairs(TRAIN)]
    np.testing.assert_allclose(found.values, wanted)
    np.testing.assert_allclose(found.by_epoch.mean(axis=0), wanted, rtol=1e-6)
    assert found.by_epoch.shape == (3, len(TRAIN))
    assert (found.by_epoch[2] == 0.5).all(), "a constant scorer is half wrong"


def pairs(train):
    return list(zip(train.users.tolist(), train.items.tolist()))


@pytest.mark.parametrize("proxy", ["mf(epochs=4)", "bias_only(epochs=4)", "EASE(reg=50)"])
def test_proxies_of_implicit_rows_count_their_epochs(proxy):
    found = importance(TRAIN, proxy)
    assert found.about["epochs"] == (1 if "EASE" in proxy else 4)
    assert ((found.values >= 0) & (found.values <= 1)).all()
    assert found.values.std() > 0.01


def test_explicit_importance_is_the_squared_error():
    found = importance(TRAIN, "bias_only(epochs=1)", scenario="explicit")
    model = BiasOnly(epochs=1).fit(TRAIN)
    row_of = np.searchsorted(QUERIES.users, TRAIN.users)
    predicted = model.predict(QUERIES[row_of], TRAIN.items)
    np.testing.assert_allclose(found.values, (predicted - TRAIN.values) ** 2, atol=1e-5)
    assert found.about["estimator"] == "squared error"
    assert importance(TRAIN, "mf(epochs=2)", scenario="explicit").about["epochs"] == 2


@dataclass(eq=False)
class Rated(BiasOnly):
    """Ratings that are no sum of a score and what the user adds."""

    def predict(self, queries, items):
        return super().predict(queries, items) * (1 + queries.users % 3)


@pytest.mark.parametrize("model", [BiasOnly(), MF(epochs=3), MF(solver="sgd", epochs=3), Rated()])
def test_squared_errors_are_those_of_predictions_row_by_row(model):
    model.fit(TRAIN)
    row_of = np.searchsorted(QUERIES.users, TRAIN.users)
    wanted = (model.predict(QUERIES[row_of], TRAIN.items) - TRAIN.values) ** 2
    found = squared_errors(model, QUERIES, TRAIN, _pairs(TRAIN, QUERIES))
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert (_score_and_offset(model, QUERIES) is None) is isinstance(model, Rated)


def test_the_named_proxies_are_those_of_the_paper():
    mf, bias = proxy_model("mf", "implicit"), proxy_model("bias_only", "implicit")
    assert isinstance(mf, BPRMF)
    assert (mf.embedding_dim, mf.epochs) == (10, 50)
    bias.fit(TRAIN)
    assert (bias.item_factors_[:, :-1] == 0).all(), "factors that start at 0 stay there"
    assert np.corrcoef(bias.item_factors_[:, -1], np.log1p(TRAIN.item_counts))[0, 1] > 0.8
    assert isinstance(proxy_model("mf", "explicit"), MF)
    assert isinstance(proxy_model("bias-only", "explicit"), BiasOnly)


@pytest.mark.parametrize(
    ("text", "scenario", "message"),
    [
        ("mff", "implicit", "unknown proxy 'mff'; did you mean 'mf'"),
        ("EASE", "explicit", "EASE predicts no ratings"),
        ("EASE(regs=2)", "implicit", "no setting 'regs'"),
        ("EASE(3)", "implicit", "by name only"),
    ],
)
def test_proxies_that_will_not_do(text, scenario, message):
    with pytest.raises(SpecError, match=message):
        proxy_model(text, scenario)
    with pytest.raises(SpecError, match=message):
        parse_sampler("SVPCF", {"proxy": text, "scenario": scenario})


def test_importance_in_a_file(tmp_path):
    found = importance(TRAIN, QUICK, keep_epochs=True)
    found.save(tmp_path / "i.npz")
    back = Importance.load(tmp_path / "i.npz", TRAIN)
    assert np.array_equal(back.values, found.values)
    assert np.array_equal(back.by_epoch, found.by_epoch)
    assert back.about == found.about
    with pytest.raises(DataError, match="of 400 other rows than these 600"):
        Importance.load(tmp_path / "i.npz", world())
    with pytest.raises(DataError, match="there is no file"):
        Importance.load(tmp_path / "none.npz")
    (tmp_path / "i.npz").write_bytes((tmp_path / "i.npz").read_bytes()[:200])
    with pytest.raises(StoreError, match="holds no importance"):
        Importance.load(tmp_path / "i.npz")
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(StoreError, match="holds no importance"):
        Importance.load(tmp_path / "a.npy")


@pytest.fixture
def stored(tmp_path):
    """An importance that stands in for a proxy's, with ties."""
    values = np.random.default_rng(3).integers(0, 20, len(TRAIN)) / 20
    Importance(values, TRAIN.fingerprint, {"proxy": "given"}).save(tmp_path / "given.npz")
    return values, str(tmp_path / "given.npz")


def mean_by(codes, values):
    return {code: values[codes == code].mean() for code in np.unique(codes).tolist()}


def test_the_hardest_interactions_stay(stored):
    values, path = stored
    for size, seed in (("exact", 1), ("faithful", 1), ("exact", 2)):
        sampler = parse_sampler("SVPCF", {"importance": path})
        sample = subsample(TRAIN, sampler, 0.3, seed, size=size, floor=LOW)
        gone = np.setdiff1d(np.arange(len(TRAIN)), sample.rows)
        assert len(gone) == 280  # floor(q |T|)
        assert values[gone].max() <= values[sample.rows].min()
    sampler = parse_sampler("SVPCF", {"importance": path, "direction": "easiest"})
    kept = subsample(TRAIN, sampler, 0.3, 1, floor=LOW).rows
    assert values[kept].max() <= np.sort(values)[130]


@pytest.mark.parametrize("unit", ["user", "item"])
def test_the_hardest_users_and_items_stay(stored, unit):
    values, path = stored
    codes = getattr(TRAIN, f"{unit}s")
    means = mean_by(codes, values)
    for strategy in ("SVPCF", "SVPCFProp"):
        sampler = parse_sampler(strategy, {"importance": path, "unit": unit})
        if strategy == "SVPCFProp":
            counts = getattr(TRAIN, f"{unit}_counts")
            means = {c: m * inverse_propensity(counts[c], len(TRAIN)) for c, m in means.items()}
        sample = subsample(TRAIN, sampler, 0.4, 1, size="whole", floor=LOW)
        kept = set(codes[sample.rows].tolist())
        assert min(means[c] for c in kept) >= max(means[c] for c in set(means) - kept) - 1e-12
        gone = len(TRAIN) - len(subsample(TRAIN, sampler, 0.4, 1, size="faithful", floor=LOW).rows)
        assert 240 <= gone < 240 + np.bincount(codes).max()


def inverse_propensity(count, n, a=0.55, b=1.5):
    c = (np.log(n) - 1) * (b + 1) ** a
    return 1 + c * np.exp(-a * np.log(count + b))


@pytest.mark.parametrize(
    ("combine", "of"),
    [
        ("published", max), ("max", max), ("product", lambda u, i: u * i),
        ("sum", lambda u, i: u + i), ("user", lambda u, i: u), ("item", lambda u, i: i),
    ],
)  # fmt: skip
def test_propensities_weigh_interactions(stored, combine, of):
    values, path = stored
    weighed = np.array([
        value * of(
            inverse_propensity(TRAIN.user_counts[user], len(TRAIN)),
            inverse_propensity(TRAIN.item_counts[item], len(TRAIN)),
        )
        for value, (user, item) in zip(values, pairs(TRAIN))
    ])  # fmt: skip
    sampler = parse_sampler("SVPCFProp", {"importance": path, "combine": combine})
    kept = subsample(TRAIN, sampler, 0.25, 1, floor=LOW).rows
    gone = np.setdiff1d(np.arange(len(TRAIN)), kept)
    assert len(kept) == 100
    assert weighed[gone].max() <= weighed[kept].min() + 1e-9


def test_a_byte_that_is_damaged_gives_an_error_of_ours_or_the_same_values(tmp_path):
    """Also within what is compressed, where the fault is neither NumPy's nor the archive's."""
    path = tmp_path / "i.npz"
    values = np.random.default_rng(1).random(len(TRAIN))
    Importance(values, TRAIN.fingerprint, {"proxy": "given"}).save(path)
    whole, refused = path.read_bytes(), 0
    for place in range(0, len(whole), max(len(whole) // 80, 1)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            back = Importance.load(path, TRAIN)
        except (StoreError, DataError):
            refused += 1
        else:
            np.testing.assert_array_equal(back.values, values)
    assert refused > 40


def test_more_strata_than_rows_cost_no_memory():
    scores, draws = np.linspace(0, 1, 7), np.arange(7, dtype=np.uint64)
    assert rounds(scores, draws, 10**15, 0.0).tolist() == [0] * 7
    assert rounds(scores, draws, 2**63 - 1, 0.0).tolist() == [0] * 7


def test_scores_join_in_rounds():
    """Strata 0-1, 1-2, 2-3, 3-4 with 3, 1, 0 and 2 rows, and one set aside."""
    scores = np.array([0.0, 0.1, 0.2, 1.5, 3.5, 4.0, 9.0])
    draws = np.array([2, 0, 1, 0, 1, 0, 0], np.uint64)
    assert rounds(scores, draws, 4, 1 / 7).tolist() == [2, 0, 1, 0, 1, 0, 7]
    assert rounds(np.zeros(3), draws[:3], 4, 0.0).tolist() == [2, 0, 1]


def plain_coverage(scores, strata, cutoff, budget):
    """Algorithm 1 of Zheng et al.: how many rows each stratum gives, as shares of its level."""
    kept = np.sort(scores)[: len(scores) - int(cutoff * len(scores))]
    edges = np.linspace(kept[0], kept[-1], strata + 1)
    sizes = [n for n in np.histogram(kept, edges)[0] if n]
    out = []
    for left in range(len(sizes), 0, -1):
        smallest = sizes.pop(int(np.argmin(sizes)))
        out.append(min(smallest, budget / left))
        budget -= out[-1]
    return sorted(out)


@pytest.mark.parametrize(("keep", "cutoff"), [(0.1, 0.0), (0.4, 0.0), (0.4, 0.3), (0.02, 0.3)])
def test_strata_give_what_the_algorithm_says(stored, keep, cutoff):
    values = np.random.default_rng(5).beta(1, 4, len(TRAIN))
    path = stored[1]
    Importance(values, TRAIN.fingerprint, {}).save(path)
    sampler = parse_sampler("ScoreStratified", {"importance": path, "strata": 7, "cutoff": cutoff})
    kept = values[subsample(TRAIN, sampler, keep, 1, floor=LOW).rows]
    rest = np.sort(values)[: len(values) - int(cutoff * len(values))]
    edges = np.linspace(rest[0], rest[-1], 8)
    found = sorted(n for n, of in zip(*(np.histogram(v, edges)[0] for v in (kept, rest))) if of)
    wanted = plain_coverage(values, 7, cutoff, keep * len(values))
    assert np.abs(np.array(found) - wanted).max() < 1
    assert sum(found) == keep * len(values)


def test_samples_carry_the_importance(tmp_path):
    from fullrank.subsample import save

    some = subsamples(TRAIN, f"SVPCF(proxy={QUICK})", [0.2, 0.5], floor=LOW)
    assert some[0].importance is some[1].importance
    assert some[0].manifest["about"]["epochs"] == 3
    files = save(some[0], tmp_path / "out")
    assert "importance.npz" in files
    again = parse_sampler("SVPCF", {"importance": str(tmp_path / "out" / "importance.npz")})
    assert np.array_equal(subsample(TRAIN, again, 0.2, floor=LOW).rows, some[0].rows)


def test_what_importance_refuses():
    with pytest.raises(SpecError, match="scenario must be one of implicit, explicit"):
        importance(TRAIN, scenario="sequential")
    with pytest.raises(SpecError, match="estimator must be one of"):
        importance(TRAIN, estimator="some")
    with pytest.raises(DataError, match="needs ratings, and the training rows have no"):
        importance(rows([1, 2], [1, 2]), scenario="explicit")
    for settings, message in (
        ({"unit": "users"}, "unit must be one of interaction, user, item"),
        ({"direction": "up"}, "direction must be one of"),
        ({"scenario": "x"}, "scenario must be one of"),
    ):
        with pytest.raises(SpecError, match=message):
            parse_sampler("SVPCF", settings)
    for settings, message in (
        ({"strata": 0}, "strata must be a whole number >= 1"),
        ({"cutoff": 1.0}, "cutoff must be a share"),
    ):
        with pytest.raises(SpecError, match=message):
            parse_sampler("ScoreStratified", settings)
