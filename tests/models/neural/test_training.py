"""The training loop of neural models: checkpoints, threads, averages, and what diverges."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

import fullrank as fr
from fullrank.core.errors import SpecError, TrainingError
from fullrank.models import LightGCN, MultiVAE
from fullrank.testing.recommender import queries_of, small_world, threads


def larger_world():
    """Enough users for several parts a batch."""
    rng = np.random.default_rng(0)
    rows = {"user_id": rng.integers(0, 300, 6000), "item_id": rng.integers(0, 120, 6000)}
    return fr.read(pl.DataFrame(rows).unique()).interactions


def vae(**changes):
    given = {"embedding_dim": 8, "hidden_dim": 16, "epochs": 6, "batch_size": 256, "kl_steps": 10}
    return MultiVAE(**{**given, **changes})


@pytest.mark.parametrize("optimiser", ["adam", "momentum", "adagrad", "rmsprop", "adamw", "sgd"])
def test_a_checkpoint_goes_on_as_if_nothing_had_been(tmp_path, optimiser):
    train = larger_world()
    model = vae(optimiser=optimiser, averaging="ema(decay=0.9)")
    whole = vae(optimiser=optimiser, averaging="ema(decay=0.9)").fit(train, rng=1)

    def stop(epoch, _):
        if epoch == 3:
            raise RuntimeError("killed")
        return False

    with pytest.raises(RuntimeError, match="killed"):
        model.fit(train, rng=1, monitor=stop, checkpoint=tmp_path)
    again = vae(optimiser=optimiser, averaging="ema(decay=0.9)")
    again.fit(train, rng=1, checkpoint=tmp_path)
    assert again.log_.resumed_at == 3
    queries = queries_of(train)
    np.testing.assert_array_equal(again.score(queries), whole.score(queries))
    losses = [[e.loss for e in fitted.log_.epochs] for fitted in (again, whole)]
    assert losses[0] == losses[1]
    assert losses[0][-1] < losses[0][0]


def test_parts_of_a_batch_give_the_same_bits_in_any_threads():
    train, found = larger_world(), []
    for n in (1, 2, 5):
        with threads(n):
            found.append(vae(dropout=0.4).fit(train, rng=1).score(queries_of(train)))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_parameters_updated_apart_have_the_same_bits_and_checkpoints(tmp_path, monkeypatch):
    train, settings = larger_world(), {"reg": 0.01, "l1_reg": 0.001}
    whole = vae(**settings).fit(train, rng=1).score(queries_of(train))
    monkeypatch.setattr("fullrank.models.neural._trainer._LARGE", 100)
    np.testing.assert_array_equal(vae(**settings).fit(train, rng=1).score(queries_of(train)), whole)

    def stop(epoch, _):
        if epoch == 3:
            raise RuntimeError("killed")
        return False

    with pytest.raises(RuntimeError, match="killed"):
        vae(**settings).fit(train, rng=1, monitor=stop, checkpoint=tmp_path)
    monkeypatch.undo()
    again = vae(**settings).fit(train, rng=1, checkpoint=tmp_path)
    assert again.log_.resumed_at == 3
    np.testing.assert_array_equal(again.score(queries_of(train)), whole)


def test_the_best_epoch_is_put_back():
    split = fr.RandomRows(valid=0.2, test=0.1).split(larger_world(), rng=1)
    watch = fr.EarlyStop(split.queries("valid"), "ndcg@10", patience=None)
    fitted = vae().fit(split.train, rng=1, monitor=watch)
    alone = vae(epochs=watch.best_epoch + 1).fit(split.train, rng=1)
    queries = split.queries("test")
    np.testing.assert_array_equal(fitted.score(queries), alone.score(queries))


def test_averages_differ_from_the_last_weights():
    train = small_world()
    plain, ema, mean = (
        vae(averaging=text, batch_size=8).fit(train, rng=1).score(queries_of(train))
        for text in ("none", "ema(decay=0.5)", "mean")
    )
    assert (plain != ema).any()
    assert (ema != mean).any()


def test_a_loss_that_is_no_number_names_the_settings():
    with pytest.raises(TrainingError, match=r"loss became .* in epoch \d+ with learning_rate=1e"):
        vae(learning_rate=1e18, optimiser="sgd", epochs=30).fit(small_world(), rng=1)


def test_a_search_goes_on_after_a_trial_that_diverged(tmp_path):
    from tests.experiment.worlds import run_in

    model = {
        "name": "MultiVAE",
        "settings": {"embedding_dim": 4, "hidden_dim": 8, "epochs": 20, "optimiser": "sgd"},
        "search": {"learning_rate": [1e18, 0.01]},
    }
    tune = {"metric": "ndcg@10", "trials": 2, "sampler": "grid"}
    results = run_in(tmp_path, model=[model], tune=tune, seeds=[1])
    (cell,) = results.cells
    assert cell.about["tuning"]["failed"] == 1
    assert cell.about["settings"]["learning_rate"] == 0.01


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"embedding_dim": -2}, "embedding_dim must be a whole number >= 1, got -2"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"reg": -1.0}, "reg must be >= 0"),
        ({"learning_rate": float("inf")}, "learning_rate must be a finite number"),
        ({"optimiser": "adamm"}, "did you mean 'adam'"),
        ({"optimiser": "adam(beta1=-1.0)"}, "beta1 must be >= 0"),
        ({"init": "xavier"}, "unknown"),
        ({"averaging": "ema(decay=2)"}, "decay= above 0 and at most 1"),
        ({"kl_weight": -1.0}, "kl_weight must be >= 0"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(SpecError, match=message):
        vae(**settings)


def test_lazy_optimisers_train_pairs():
    train = small_world()
    for text in ("sparse_adam", "sgd", "adagrad"):
        fitted = LightGCN(embedding_dim=4, epochs=2, optimiser=text).fit(train, rng=1)
        assert np.isfinite(fitted.score(queries_of(train))).all()
