"""RecBole's training: any of its models on given rows, seconds of an epoch, scores of all users.

RecBole cuts the last row of each user off for test and the one before for validation; each user
gets two rows more than were given, so that it trains on exactly the given ones. It reads rows from
a file that is written here. Its environment has the versions of pandas and SciPy that it was
written for, so that it needs no shims; its TensorBoard log is left out.

Its Multi-VAE draws ``z`` with a standard deviation of 0.01 ``exp(log variance / 2)``, where the
paper has 1: with ``full_noise`` the draw is the paper's.
"""

from __future__ import annotations

import os
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

COMMON = {
    "load_col": {"inter": ["user_id", "item_id", "timestamp"]},
    "eval_args": {
        "split": {"LS": "valid_and_test"}, "order": "TO", "group_by": "user", "mode": "full",
    },
    "show_progress": False, "state": "ERROR", "use_gpu": False, "reproducibility": True,
    "save_dataset": False, "save_dataloaders": False, "worker": 0,
}  # fmt: skip


def _write(folder: Path, users: np.ndarray, items: np.ndarray) -> None:
    """Rows in their order, and two more a user."""
    every = np.unique(users)
    u, i = np.concatenate([users, every, every]), np.append(items, np.resize(items, 2 * len(every)))
    home = folder / "rows"
    home.mkdir()
    lines = ["user_id:token\titem_id:token\ttimestamp:float"]
    lines += [f"{a}\t{b}\t{t}" for t, (a, b) in enumerate(zip(u.tolist(), i.tolist()))]
    (home / "rows.inter").write_text("\n".join(lines) + "\n")


def _patch(model: Any) -> None:
    """Let Multi-VAE draw ``z`` as the paper has it."""
    import torch

    def draw(mean: Any, log_variance: Any) -> Any:
        if not model.training:
            return mean
        return mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)

    model.reparameterize = draw


def _scores(model: Any, dataset: Any, users: np.ndarray, items: np.ndarray, n: int) -> np.ndarray:
    """Of all items for the users of ``dataset``, by the codes of the given rows: float32."""
    import torch
    from recbole.data.interaction import Interaction

    of_user = dataset.token2id("user_id", [str(u) for u in range(n) if u in set(users.tolist())])
    known = np.unique(users)
    names = np.unique(items)
    of_item = dataset.token2id("item_id", [str(i) for i in names])
    out = np.zeros((n, int(items.max()) + 1), np.float32)
    most = dataset.config["MAX_ITEM_LIST_LENGTH"] or 1
    model.eval()
    ids = np.zeros(out.shape[1], np.int64)
    ids[names] = of_item
    with torch.no_grad():
        for start in range(0, len(known), 256):
            part = slice(start, start + 256)
            given = {"user_id": torch.as_tensor(of_user[part])}
            if hasattr(model, "ITEM_SEQ"):
                rows = [ids[items[users == u]][-most:] for u in known[part]]
                given["item_length"] = torch.as_tensor([len(r) for r in rows])
                padded = [np.pad(r, (0, most - len(r))) for r in rows]
                given["item_id_list"] = torch.as_tensor(np.stack(padded))
            found = model.full_sort_predict(Interaction(given)).view(len(known[part]), -1)
            out[known[part][:, None], names] = found.numpy()[:, of_item]
    return out


def fit(
    folder: str, name: str, settings: dict[str, Any], epochs: int, seed: int, out: str,
    full_noise: bool = False,
) -> dict[str, float]:  # fmt: skip
    """Train on ``folder/rows.npz`` (``users``, ``items``, in the order of time, and ``shape``).

    Args:
        folder: with the rows.
        name: of RecBole's model.
        settings: RecBole's, beside ``COMMON``.
        epochs: passes.
        seed: of the start and of draws.
        out: where the scores go, ``[n_users, n_items]``, .npy; nowhere if empty.
        full_noise: draw ``z`` as the paper of Multi-VAE has it.

    Returns:
        Median seconds of an epoch after the first, and processor seconds of one.
    """
    import recbole.trainer.trainer as trainers
    import torch
    from recbole.config import Config
    from recbole.data import create_dataset, data_preparation
    from recbole.utils import get_model, get_trainer, init_seed

    trainers.get_tensorboard = lambda _logger: None  # it would write into the working folder
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    with np.load(Path(folder) / "rows.npz") as z:
        users, items, shape = z["users"], z["items"], tuple(z["shape"])
    with tempfile.TemporaryDirectory() as home:
        _write(Path(home), users, items)
        given = {**COMMON, **settings, "seed": seed, "data_path": home, "epochs": epochs,
                 "checkpoint_dir": home}  # fmt: skip
        config = Config(model=name, dataset="rows", config_dict=given)
        init_seed(seed, True)
        dataset = create_dataset(config)
        train, _, _ = data_preparation(config, dataset)
    model = get_model(config["model"])(config, train.dataset).to(config["device"])
    if full_noise:
        _patch(model)
    trainer = get_trainer(config["MODEL_TYPE"], config["model"])(config, model)
    times, used = [], []
    for epoch in range(epochs):
        before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        trainer._train_epoch(train, epoch, show_progress=False)
        times.append(time.perf_counter() - start)
        after = resource.getrusage(resource.RUSAGE_SELF)
        used.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    if out:
        found = _scores(model, dataset, users, items, shape[0])
        wide = np.zeros(shape, np.float32)
        wide[:, : found.shape[1]] = found
        np.save(out, wide)
    return {"seconds": statistics.median(times[1:] or times),
            "cpu": statistics.median(used[1:] or used)}  # fmt: skip


def scores(
    folder: str, out: str, seed: int, name: str, settings: dict[str, Any], epochs: int,
    full_noise: bool,
) -> None:  # fmt: skip
    """``fit`` with its arguments in the order of ``benchmarks.peers.quality``."""
    fit(folder, name, settings, epochs, seed, out, full_noise)
