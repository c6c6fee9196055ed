"""Other tools' models and fullrank's, on the same rows: `python -m benchmarks.quality FOLDER`.

FOLDER holds ``interactions.parquet``; rows with a rating of 4 and more are taken. The same training
rows and settings go to both tools, and fullrank ranks the scores of both against the full
catalogue, so that the models alone differ. Five random rows of each user test, for SASRec the last
one. Seeded models are fitted with three seeds; a user's value is the mean over them, and the
standard error has a part from users (of the paired difference) and one from seeds.

``--only MODEL`` and ``--peer PEER`` run some, ``--write`` puts the rows into
``benchmarks/quality.md``. The neural models need PyTorch here: they are left out without it, which
is said.
"""

from __future__ import annotations

import argparse
import importlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import fullrank as fr
from benchmarks._measure import alone
from benchmarks._peers import PeerUnavailableError, python_of
from fullrank import Recommender
from fullrank.models import BPRMF, EASE, IALS, SLIM, ItemKNN
from fullrank.rank import rank

METRICS = ("ndcg@10", "recall@20")
PAGE = Path(__file__).parent / "quality.md"
HEAD = "| data | model | peer | metric | fullrank | peer's | difference | standard error | |"
ENDS = ("<!-- rows -->", "<!-- /rows -->")


@dataclass(frozen=True)
class Case:
    """A model here and its like elsewhere.

    Attributes:
        name: of the model, with its settings.
        tool: whose environment; see ``_peers``.
        peer: ``"module:function"`` of ``benchmarks.peers``.
        arguments: of the function after ``folder, out, seed``.
        model: class, or where a neural one is: ``"module:Name"``.
        settings: of the model.
        seeds: 1 for a model without draws.
        last: the last row tests, for models of sequences.
        note: what differs between the two.
    """

    name: str
    tool: str
    peer: str
    arguments: tuple[Any, ...]
    model: type[Recommender] | str
    settings: dict[str, Any]
    seeds: int = 3
    last: bool = False
    note: str = ""


@dataclass(eq=False)
class Scored(Recommender):
    """Scores that another tool wrote, by the codes of users."""

    table: np.ndarray = field(repr=False)

    thread_safe = True

    def settings(self) -> dict[str, Any]:
        """None that tell it apart."""
        return {}

    def _fit(self, train: Any, rng: Any, monitor: Any) -> None:
        assert self.table.shape == (train.n_users, train.n_items)

    def _score(self, queries: Any) -> np.ndarray:
        return self.table[queries.users]


D, EPOCHS, REG, UNOBSERVED = 64, 15, {1: 0.003, 0: 5.0}, 0.1
BPR = (64, 20, 0.05, 0.01)
GCN = {"embedding_dim": 32, "layers": 2, "epochs": 20, "batch_size": 2048, "learning_rate": 0.01}
VAE = {"embedding_dim": 64, "hidden_dim": 300, "epochs": 50, "kl_steps": 200}
SAS = {"embedding_dim": 32, "epochs": 5, "max_length": 20, "batch_size": 30, "optimiser": "adam",
       "learning_rate": 0.003}  # fmt: skip
"""Rates for few epochs; a batch has about 512 targets in both."""


def linear_cases() -> list[Case]:
    """Models without PyTorch."""
    ials = f"{D} factors, {EPOCHS} epochs"
    settings = {"embedding_dim": D, "epochs": EPOCHS, "unobserved_weight": UNOBSERVED}
    d, epochs, rate, reg = BPR
    bpr = {"embedding_dim": d, "epochs": epochs, "learning_rate": rate, "reg": reg,
           "negatives": "popularity(exponent=1)",
           "init": f"uniform(low={-0.5 / d}, high={0.5 / d})"}  # fmt: skip
    slim = {"l1_reg": 1.0, "l2_reg": 30.0}
    whose = "there the scored item is a neighbour of the history's items, here they are its own"
    return [
        Case(f"IALS, nu = 1, {ials}", "irspack", "quality:irspack_ials",
             (D, EPOCHS, REG[1], UNOBSERVED), IALS, {**settings, "reg": REG[1], "nu": 1.0}),
        Case(f"IALS, nu = 0, {ials}", "implicit", "quality:implicit_ials",
             (D, EPOCHS, REG[0], UNOBSERVED), IALS, {**settings, "reg": REG[0], "nu": 0.0}),
        Case("BPRMF", "implicit", "quality:implicit_bpr", BPR, BPRMF, bpr,
             note="implicit leaves out steps whose negative the user has, fullrank draws again"),
        Case("ItemKNN, cosine, 100", "implicit", "quality:implicit_item_knn", (100, True), ItemKNN,
             {"neighbours": 100}, 1),
        Case("ItemKNN, cosine, 100", "implicit as it is", "quality:implicit_item_knn", (100, False),
             ItemKNN, {"neighbours": 100}, 1, note=whose),
        Case("ItemKNN, cosine, 100", "irspack", "quality:irspack_item_knn", (100, True), ItemKNN,
             {"neighbours": 100}, 1),
        Case("ItemKNN, cosine, 100", "irspack as it is", "quality:irspack_item_knn", (100, False),
             ItemKNN, {"neighbours": 100}, 1, note=whose),
        Case("EASE, reg = 200", "irspack", "quality:irspack_ease", (200.0,), EASE, {"reg": 200.0},
             1),
        Case("SLIM, l1 = 1, l2 = 30", "irspack", "quality:irspack_slim", (1.0, 30.0), SLIM, slim,
             1),
        Case("SLIM, l1 = 1, l2 = 30", "fastslim", "quality:fastslim_slim", (1.0, 30.0), SLIM, slim,
             1),
    ]  # fmt: skip


def neural_cases() -> list[Case]:
    """Models of RecBole, its settings by its own names."""
    vae = {"latent_dimension": 128, "mlp_hidden_size": [300], "dropout_prob": 0.5,
           "anneal_cap": 0.2, "total_anneal_steps": 1000, "train_batch_size": 128,
           "learning_rate": 0.001, "train_neg_sample_args": None}  # fmt: skip
    gcn = {"embedding_size": 32, "n_layers": 2, "reg_weight": 1e-4, "require_pow": True,
           "train_batch_size": 2048, "learning_rate": 0.01}  # fmt: skip
    sas = {"hidden_size": 32, "inner_size": 32, "n_layers": 2, "n_heads": 1,
           "hidden_dropout_prob": 0.2, "attn_dropout_prob": 0.2, "loss_type": "CE",
           "hidden_act": "relu", "train_neg_sample_args": None, "MAX_ITEM_LIST_LENGTH": 20,
           "train_batch_size": 512, "learning_rate": 0.003}  # fmt: skip
    fit, models = "training_recbole:scores", "fullrank.models"
    own = {**GCN, "init": "xavier_uniform"}
    multi_vae = f"{models}:MultiVAE"
    return [
        Case("MultiVAE", "recbole", fit, ("MultiVAE", vae, 50, True), multi_vae, VAE,
             note="z drawn as the paper has it"),
        Case("MultiVAE", "recbole as it is", fit, ("MultiVAE", vae, 50, False), multi_vae, VAE,
             note="RecBole's z is drawn with a hundredth of the paper's deviation"),
        Case("LightGCN", "recbole", fit, ("LightGCN", gcn, 20, False), f"{models}:LightGCN", own),
        Case("SASRec, RecBole's network", "recbole", fit, ("SASRec", sas, 5, False),
             "benchmarks._recbole_sasrec:RecBoleSASRec", SAS, last=True,
             note="windows here, each prefix a row there"),
        Case("SASRec", "recbole", fit, ("SASRec", sas, 5, False), f"{models}:SASRec", SAS,
             last=True, note="the networks differ too: see `_recbole_sasrec.py`"),
    ]  # fmt: skip


def split_of(folder: Path, last: bool) -> Any:
    """Rows from 4 on; five random rows of each user test, or the last one."""
    import polars as pl

    rows = pl.read_parquet(folder / "interactions.parquet").filter(pl.col("rating") >= 4)
    data = fr.read(rows).interactions
    strategy = fr.LeaveLast(valid=0) if last else fr.LeaveRandom(n=5, valid=0, min_train=5)
    return strategy.split(data)


def write_rows(train: Any, folder: str) -> None:
    """Training rows by users and time, for peers."""
    times = train.times if train.times is not None else np.zeros(len(train.users))
    order = np.lexsort((times, train.users))
    np.savez(
        Path(folder) / "rows.npz", users=train.users[order], items=train.items[order],
        shape=(train.n_users, train.n_items),
    )  # fmt: skip


def values(model: Recommender, split: Any) -> np.ndarray:
    """Per query, a column a metric."""
    ranked = rank(model, split.queries("test")).targets
    return np.column_stack([fr.parse(text).per_query(ranked) for text in METRICS])


def model_of(case: Case) -> Recommender:
    """The model here, not fitted."""
    kind: Any = case.model
    if isinstance(case.model, str):
        module, _, name = case.model.partition(":")
        kind = getattr(importlib.import_module(module), name)
    made: Recommender = kind(**case.settings)
    return made


def peer_values(case: Case, split: Any, folder: str, seed: int) -> np.ndarray:
    """What the peer's scores are worth.

    Raises:
        RuntimeError: it failed.
    """
    out = f"{folder}/scores.npy"
    tool = case.tool.split()[0]
    found = alone(
        f"benchmarks.peers.{case.peer}", folder, out, seed, *case.arguments,
        python=python_of(tool), env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    if found.error:
        raise RuntimeError(found.error)
    return values(Scored(np.load(out)).fit(split.train), split)


def lines_of(case: Case, data: str, ours: np.ndarray, theirs: np.ndarray) -> list[str]:
    """Rows of the table; arrays ``[seeds, queries, metrics]``."""
    difference = ours.mean(axis=0) - theirs.mean(axis=0)
    by_users = difference.std(axis=0, ddof=1) ** 2 / len(difference)
    by_seeds = np.zeros(len(METRICS))
    if case.seeds > 1:
        by_seeds = sum(x.mean(axis=1).var(axis=0, ddof=1) / case.seeds for x in (ours, theirs))
    errors = np.sqrt(by_users + by_seeds)
    out = []
    for m, text in enumerate(METRICS):
        mean, error = difference[:, m].mean(), errors[m]
        verdict = "within two" if abs(mean) <= 2 * error else "better" if mean > 0 else "**worse**"
        cells = [data, f"{case.name}", case.tool, text, f"{ours[:, :, m].mean():.4f}",
                 f"{theirs[:, :, m].mean():.4f}", f"{mean:+.4f}", f"{error:.4f}",
                 f"{verdict}; {case.note}" if case.note else verdict]  # fmt: skip
        out.append(f"| {' | '.join(cells)} |")
    return out


def compare(case: Case, folder: Path, known: dict[str, np.ndarray]) -> list[str]:
    """The rows of a case, or one that says why there are none.

    Args:
        case: what to compare.
        folder: of the data.
        known: what peers of this run were worth, so that each is fitted once; added to.
    """
    split = split_of(folder, case.last)
    seeds = range(1, case.seeds + 1)
    with tempfile.TemporaryDirectory() as home:
        write_rows(split.train, home)
        try:
            key = repr((case.tool, case.peer, case.arguments, case.seeds, case.last))
            if key not in known:
                known[key] = np.stack([peer_values(case, split, home, seed) for seed in seeds])
            model = model_of(case)
            ours = np.stack([values(model.fit(split.train, rng=s), split) for s in seeds])
        except (RuntimeError, PeerUnavailableError, ImportError) as error:
            return [f"| {folder.name} | {case.name} | {case.tool} | | | | | | {error} |"]
    return lines_of(case, folder.name, ours, known[key])


def written(page: str, lines: Sequence[str]) -> str:
    """The page with rows put in the place of those of the same data, model and peer."""
    head, _, rest = page.partition(ENDS[0])
    middle, _, tail = rest.partition(ENDS[1])
    kept = [line for line in middle.splitlines() if line.startswith("| ")]
    keys = {tuple(line.split(" | ")[:3]) for line in lines}
    kept = [x for x in kept if tuple(x.split(" | ")[:3]) not in keys and x != HEAD]
    body = "\n".join([HEAD, "|---" * HEAD.count(" |") + "|", *kept, *lines])
    return f"{head}{ENDS[0]}\n{body}\n{ENDS[1]}{tail}"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="with interactions.parquet")
    parser.add_argument("--only", nargs="*", help="names that the models' begin with")
    parser.add_argument("--peer", nargs="*", help="peers as the table has them")
    parser.add_argument("--write", action="store_true", help="put the rows into quality.md")
    given = parser.parse_args()
    print(HEAD)
    known: dict[str, np.ndarray] = {}
    for case in [*linear_cases(), *neural_cases()]:
        if given.only and not case.name.startswith(tuple(given.only)):
            continue
        if given.peer and case.tool not in given.peer:
            continue
        lines = compare(case, given.folder, known)
        print("\n".join(lines), flush=True)
        if given.write:
            PAGE.write_text(written(PAGE.read_text("utf-8"), lines), "utf-8")


if __name__ == "__main__":
    main()
