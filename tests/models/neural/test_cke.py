"""CKE: contract, its losses by plain NumPy and finite differences, and a graph with the answer."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from fullrank.core.errors import DataError, SpecError, StoreError
from fullrank.core.interactions import Interactions
from fullrank.core.vocabulary import Vocabulary
from fullrank.models import BPRMF, CKE, IALS, Recommender
from fullrank.models._knowledge import Corrupted, Triples
from fullrank.models.neural._torch import Noise
from fullrank.testing.recommender import RecommenderContract, queries_of, small_world

FOLDER = Path(tempfile.mkdtemp())
"""Of the graph and vectors of the small world and the checkerboard; twins have those of others."""


def _write(path: Path, rows: list[tuple[object, ...]]) -> str:
    path.write_text("head\trelation\ttail\n" + "".join("\t".join(map(str, r)) + "\n" for r in rows))
    return str(path)


GRAPH = _write(
    FOLDER / "kg.tsv",
    [*((f"i{i:02d}", "kind", f"k{i % 3}") for i in range(0, 25, 2)), ("k0", "near", "k1"),
     ("i01", "follows", "i03"), *((i, "parity", ("even", "odd")[i % 2]) for i in range(30))],
)  # fmt: skip
TEXT = str(FOLDER / "text.npz")
np.savez(
    TEXT,
    item_id=np.array([f"i{i:02d}" for i in range(0, 25, 3)] + [str(i) for i in range(30)]),
    vector=np.random.default_rng(0).normal(size=(39, 5)),
)


class TestCKE(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return CKE(triples=GRAPH, embedding_dim=16, relation_dim=8, epochs=30, batch_size=64,
                   learning_rate=0.04)  # fmt: skip


class TestCKEOfVectors(RecommenderContract):
    ties_twins = False

    def make(self) -> Recommender:
        return CKE(text=TEXT, image=TEXT, embedding_dim=16, epochs=60, batch_size=64,
                   learning_rate=0.02, hidden=8)  # fmt: skip


SMALL = {"embedding_dim": 4, "relation_dim": 3, "hidden": 6, "epochs": 1, "batch_size": 32}


def _task(**settings):
    """A task in float64 with weights that are not small, and its first batch."""
    model = CKE(**{**SMALL, "triples": GRAPH, "dropout": 0.0, **settings})
    task = model._task(small_world(), 3)
    model._initialise(task.network, 1)
    task.network.double()
    rng = np.random.default_rng(0)
    with torch.no_grad():
        for parameter in task.network.parameters():
            parameter += torch.from_numpy(rng.normal(0, 0.3, tuple(parameter.shape)))
    return task, next(iter(task.batches(0)))


def _noise() -> Noise:
    return Noise(0, on=torch.device("cpu"))


def test_distance_of_a_triple_by_hand():
    """h = (1, 2), M = ((1, 0, 1), (0, 1, 0)): h M = (1, 2, 1); with r = (1, 0, -1) that is moved to
    (2, 2, 0). t = (2, 1) becomes (2, 1, 2), at distance 0 + 1 + 4; t' = (1, 1) becomes (1, 1, 1),
    at 1 + 1 + 1. The loss is -ln σ(3 - 5) = ln(1 + e²).
    """
    task, _ = _task(embedding_dim=2)
    network = task.network
    with torch.no_grad():
        network.entities[:3] = torch.tensor([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]])
        network.relations[1] = torch.tensor([1.0, 0.0, -1.0])
        network.projections[1] = torch.tensor([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
        found = network.wrong(torch.tensor([[0, 1, 1, 2]]))
    np.testing.assert_allclose(found.numpy(), [np.log1p(np.exp(2.0))], rtol=1e-6)


def _reference(w: dict[str, np.ndarray], batch: dict[str, np.ndarray], known, reg: float) -> float:
    """The loss of a batch, a row and a term at a time."""
    node, linked, seen = known

    def item(i: int) -> np.ndarray:
        return w["items"][i] * seen[i] + (w["entities"][node[i]] if linked[i] else 0.0)

    def far(h: int, r: int, t: int) -> float:
        moved = w["entities"][h] @ w["projections"][r] + w["relations"][r]
        return float(((moved - w["entities"][t] @ w["projections"][r]) ** 2).sum())

    total = 0.0
    for row, u in enumerate(batch["users"]):
        i, j = batch["items"][row], batch["negatives"][row, 0]
        total -= np.log(1 / (1 + np.exp(-(w["users"][u] @ (item(i) - item(j))))))
        h, r, t, other = batch["triples"][row]
        total -= np.log(1 / (1 + np.exp(-(far(h, r, other) - far(h, r, t)))))
        named = [w["users"][u], w["items"][i], w["items"][j], w["relations"][r],
                 w["projections"][r], *(w["entities"][n] for n in (h, t, other))]  # fmt: skip
        named += [w["entities"][node[x]] for x in (i, j) if linked[x]]
        total += reg / 2 * sum((x**2).sum() for x in named)
    return total


def test_loss_is_that_of_a_plain_reference():
    task, batch = _task(reg=0.01)
    w = {k: v.detach().numpy() for k, v in task.network.named_parameters()}
    triples = Triples.read(GRAPH)
    node = triples.of_items(small_world().item_vocab)
    known = np.maximum(node, 0), node >= 0, small_world().item_counts > 0
    plain = {k: v.numpy() for k, v in batch.items()}
    found = float(task.loss(batch, _noise(), ()).detach())
    # BPR and penalties are added up in float32.
    np.testing.assert_allclose(found, _reference(w, plain, known, 0.01), rtol=1e-5)
    assert set(batch["triples"][:, 1].tolist()) == {0, 1, 2, 3}  # every relation took part


@pytest.mark.parametrize("sides", [{}, {"text": TEXT, "image": TEXT}])
def test_gradients_by_finite_differences(sides):
    task, batch = _task(reg=0.01, **sides)
    network, noise = task.network, _noise()
    triples, items = batch["triples"], batch["items"]

    def loss() -> torch.Tensor:
        total = network.wrong(triples).sum() + 0.005 * network.squares_of(triples)
        total = total + network.scores(batch["users"], items[:, None], None, ()).square().sum()
        total = total + 0.005 * network.squares(batch["users"], items[:, None])
        return total + sum(side.missed(items, noise).sum() for side in network.sides.values())

    loss().backward()
    rng = np.random.default_rng(1)
    for name, parameter in network.named_parameters():
        for _ in range(4):
            at = tuple(int(rng.integers(n)) for n in parameter.shape)
            with torch.no_grad():
                values = []
                for step in (1e-5, -2e-5):
                    parameter[at] += step
                    values.append(float(loss()))
                parameter[at] += 1e-5
            np.testing.assert_allclose(
                float(parameter.grad[at]), (values[0] - values[1]) / 2e-5,
                rtol=1e-4, atol=1e-6, err_msg=f"{name}{at}",
            )  # fmt: skip


def test_codes_and_their_loss_are_those_of_the_equations():
    task, batch = _task(triples="", text=TEXT)
    side, items = task.network.sides["text"], batch["items"]
    layers = [(x.weight.detach().numpy(), x.bias.detach().numpy()) for x in side.layers]
    with np.load(TEXT) as held:
        place = {name: row for row, name in enumerate(held["item_id"].tolist())}
        rows = held["vector"] / np.sqrt((held["vector"] ** 2).mean())
    for n, item in enumerate(items.tolist()):
        given = rows[place[f"i{item:02d}"]] if f"i{item:02d}" in place else None
        found = side.missed(items[n : n + 1], _noise()).item()
        code = side.code(items[n : n + 1], None).detach().numpy()[0]
        if given is None:
            assert found == 0
            assert (code == 0).all()
            continue
        x = given
        for depth, (weight, bias) in enumerate(layers):
            x = weight @ x + bias
            if depth == 1:
                np.testing.assert_allclose(code, x, rtol=1e-5, atol=1e-6)
            x = 1 / (1 + np.exp(-x)) if depth % 2 == 0 else x
        np.testing.assert_allclose(found, 0.5 * ((x - given) ** 2).mean(), rtol=1e-5)


def test_dropout_masks_what_the_coder_sees_and_not_what_it_is_compared_with():
    task, _ = _task(triples="", text=TEXT, dropout=0.5)
    side, items = task.network.sides["text"], torch.arange(0, 25, 3)
    noisy, plain = side.code(items, _noise()), side.code(items, None)
    assert not torch.equal(noisy, plain)
    side.dropout = 0.0
    assert torch.equal(side.code(items, _noise()), plain)


def test_each_row_has_a_triple_and_all_triples_come_round():
    task, _ = _task(batch_size=32)
    corrupted, n = Corrupted(Triples.read(GRAPH), 5), len(Triples.read(GRAPH).rows)
    assert task.corrupted is not None
    seen = [batch["triples"].numpy() for epoch in (0, 1) for batch in task.batches(epoch)]
    whole = np.concatenate(seen)
    assert len(whole) == 2 * len(task.rows)
    for turn in range(len(whole) // n):
        part = whole[turn * n : (turn + 1) * n, :3]
        np.testing.assert_array_equal(np.unique(part, axis=0), Triples.read(GRAPH).rows)
    assert len(corrupted.rows) == n


def _clubs(seed: int = 0) -> tuple[Interactions, str, np.ndarray, np.ndarray]:
    """Users like the items of one of 12 entities; most items have few rows, every fifth has none.

    Returns:
        Rows, the file of the graph, the entity of each user and of each item.
    """
    rng = np.random.default_rng(seed)
    n_users, n_items, n_clubs = 240, 300, 12
    of_user, of_item = np.arange(n_users) % n_clubs, rng.integers(0, n_clubs, n_items)
    rows = []
    for user, club in enumerate(of_user):
        mine = np.flatnonzero((of_item == club) & (np.arange(n_items) % 5 > 0))
        rows += [(user, item) for item in rng.choice(mine, 3, replace=False)]
    users, items = np.array(rows, dtype=np.int32).T
    path = FOLDER / f"clubs{seed}.tsv"
    graph = _write(path, [(i, "made by", f"club {c}") for i, c in enumerate(of_item)])
    log = Interactions(
        users, items, Vocabulary.of(list(range(n_users)), "user"),
        Vocabulary.of(list(range(n_items)), "item"),
    )  # fmt: skip
    return log, graph, of_user, of_item


def _own(model: Recommender, log, of_user, of_item, candidates: np.ndarray) -> float:
    """Share of the best 5 of some items, without those that a user has, that are of their club."""
    scores = model.score(queries_of(log))
    scores[log.csr("binary").toarray() > 0] = -np.inf
    scores[:, ~candidates] = -np.inf
    best = np.argsort(-scores, axis=1)[:, :5]
    return float((of_item[best] == of_user[:, None]).mean())


def test_a_graph_that_has_the_answer_helps_and_speaks_for_items_without_rows():
    log, graph, of_user, of_item = _clubs()
    cold = log.item_counts == 0
    assert cold.sum() >= 60
    plain = [BPRMF(embedding_dim=16, epochs=60, reg=reg) for reg in (1e-3, 1e-2, 1e-1)]
    best = max(_own(one.fit(log, rng=1), log, of_user, of_item, ~cold) for one in plain)
    given = {"embedding_dim": 16, "relation_dim": 16, "epochs": 40, "batch_size": 64,
             "learning_rate": 0.03, "reg": 0.01, "kg_weight": 100.0}  # fmt: skip
    mixed = np.random.default_rng(5).permutation(of_item)
    other = _write(FOLDER / "mixed.tsv", [(i, "made by", f"club {c}") for i, c in enumerate(mixed)])
    right, wrong = (CKE(triples=path, **given).fit(log, rng=1) for path in (graph, other))
    warm = [_own(one, log, of_user, of_item, ~cold) for one in (right, wrong)]
    assert warm[0] > max(best, warm[1]) + 0.15, (warm, best)
    # By chance a twelfth would be right.
    unseen = [_own(one, log, of_user, of_item, cold) for one in (right, wrong)]
    assert unseen[0] > 0.25 > 0.12 > unseen[1], unseen


def test_an_item_that_nothing_is_known_of_scores_0():
    model = CKE(
        **SMALL, triples=_write(FOLDER / "few.tsv", [("i00", "is", "x"), ("i03", "is", "y")])
    )
    model.fit(small_world(), rng=0)
    items = model.item_factors()
    assert (items[24] == 0).all()  # neither rows nor triples
    assert (items[:24] != 0).any(axis=1).all()
    assert (CKE(**SMALL, triples=GRAPH).fit(small_world(), rng=0).item_factors()[24] != 0).any()


@pytest.mark.parametrize(
    "given",
    [{"objective": "softmax", "negatives_per_positive": 20}, {"objective": "multinomial"},
     {"objective": "hinge", "negatives": "in_batch", "negatives_per_positive": 5},
     {"objective": "cross_entropy", "negatives": "hardest(uniform, of=3)"},
     {"optimiser": "sparse_adam"}, {"kg_weight": 0.0}, {"reg": 0.0, "vector_weight": 0.0}],
    ids=str,
)  # fmt: skip
def test_any_objective_negatives_and_optimiser_is_learnt_from(given):
    settings = {**SMALL, "epochs": 12, "learning_rate": 0.02, "triples": GRAPH, "text": TEXT}
    model = CKE(**{**settings, **given}).fit(small_world(), rng=0)
    assert model.log_.epochs[-1].loss < model.log_.epochs[0].loss


def test_a_relation_of_one_triple_and_a_graph_smaller_than_a_batch_are_learnt_from():
    path = _write(FOLDER / "one.tsv", [("i00", "is", "x")])
    model = CKE(**{**SMALL, "epochs": 3, "triples": path}).fit(small_world(), rng=0)
    assert np.isfinite(model.item_factors()).all()


def test_a_warm_start_sets_the_offsets():
    source = IALS(embedding_dim=4, epochs=2).fit(small_world(), rng=0)
    model = CKE(**{**SMALL, "learning_rate": 1e-12}, triples=GRAPH).warm_start(source)
    model.fit(small_world(), rng=1)
    np.testing.assert_allclose(
        model.user_factors_[:40], source.query_factors(queries_of(small_world()))[:40], atol=1e-6
    )


def test_a_checkpoint_is_of_the_files_content(tmp_path):
    path = _write(tmp_path / "kg.tsv", [("i00", "is", "x"), ("i03", "is", "y")])
    model = CKE(**SMALL, triples=path)
    model.fit(small_world(), rng=0, checkpoint=tmp_path / "kept")
    model.fit(small_world(), rng=0, checkpoint=tmp_path / "kept")
    _write(tmp_path / "kg.tsv", [("i00", "is", "x"), ("i03", "is", "x"), ("i04", "is", "y")])
    with pytest.raises(StoreError, match="triples was"):
        model.fit(small_world(), rng=0, checkpoint=tmp_path / "kept")


def test_faults_of_files_are_told_with_model_and_file(tmp_path):
    missing = CKE(**SMALL, triples=str(tmp_path / "none.tsv"))
    with pytest.raises(DataError, match=r"CKE: .*none\.tsv: there is no such file"):
        missing.fit(small_world(), rng=0)
    others = _write(tmp_path / "others.tsv", [("a", "is", "b"), ("c", "is", "d")])
    with pytest.raises(DataError, match=r"CKE: .*others\.tsv: none of the 25 items"):
        CKE(**SMALL, triples=others).fit(small_world(), rng=0)
    np.savez(tmp_path / "v.npz", item_id=np.array(["a"]), vector=np.ones((1, 2)))
    with pytest.raises(DataError, match=r"CKE: .*v\.npz: none of the 25 items has a vector"):
        CKE(**SMALL, image=tmp_path / "v.npz").fit(small_world(), rng=0)


def test_without_any_file_it_is_refused():
    with pytest.raises(SpecError, match="file of triples"):
        CKE()


@pytest.mark.parametrize("setting", [{"relation_dim": 0}, {"hidden": True}, {"kg_weight": -1.0},
                                     {"vector_weight": float("nan")}, {"text": 3},
                                     {"dropout": 1.0}])  # fmt: skip
def test_wrong_settings_are_refused_by_name(setting):
    with pytest.raises(SpecError, match=next(iter(setting))):
        CKE(**{"triples": "kg.tsv", **setting})
