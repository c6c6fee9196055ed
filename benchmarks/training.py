"""Training beside other tools, at MovieLens-20M's shape: `python -m benchmarks.training`.

Every fit runs in a process of its own, with two threads; interactions come from one seed. Peers
run with one BLAS thread where they have threads of their own, with two where they leave the work to
LAPACK. Held-out recall@20 is of 4,000 users, as each tool scores them: implicit and irspack keep
the users' factors of the last epoch, fullrank folds the history in, which is half a step more.
With ``nu = 0`` implicit's recall is higher after few epochs because of where it starts: from
factors in [0, 0.01), IALS from normal ones. IALS started like that has recall 0.2407 after 4 epochs
and 0.2506 after 10 (64 factors), implicit 0.2376 after 4; from its own start 0.2303 and 0.2465. Its
start stays: on MovieLens 100K it is the better one after 4 epochs, and as good after 16.

Peak memory is what a fit adds to the process (libraries loaded, interactions read) and, where the
kernels read it, the matrix.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks._interactions import SHAPE, matrix, recall_at_20, save
from benchmarks._measure import alone
from benchmarks._rows import Row, main
from benchmarks._training import gib, interactions, peer, timed_fit, training_rows

UNOBSERVED, EPOCHS, NEIGHBOURS, RIDGE = 0.1, 10, 100, 500.0
REG = {1.0: 0.003, 0.0: 15.0}
"""By ``nu``: near the best of a coarse grid for either."""
EASE_SHAPE = (6040, 3706, 1_000_000)
"""MovieLens-1M's."""


def ials(folder: str, d: int, epochs: int, nu: float, solver: str) -> dict[str, float]:
    """Median seconds of an epoch, recall, and peak memory beside what can't be avoided.

    That is the matrix (float32, int32) and its transposed pattern, and the factors of both sides.
    """
    from fullrank.models import IALS
    from fullrank.models._pattern import pattern

    data, times = interactions(folder), [0.0]

    def note(*_: Any) -> bool:
        times.append(time.perf_counter())
        return False

    model = IALS(d, REG[nu], UNOBSERVED, nu, epochs, solver=solver)  # type: ignore[arg-type]
    _, extra = timed_fit(data, model, 1, monitor=note)
    X = data.csr("binary")
    with_history = model._solve(pattern(X), model._users_step)
    given = gib((X.nnz, 8), (sum(X.shape), 8))
    least = given + gib((X.nnz, 4), (sum(X.shape), 4 * d))
    seconds = statistics.median(b - a for a, b in pairwise(times[2:]))
    recall = recall_at_20(folder, with_history, model.item_factors_)
    return {"seconds": seconds, "recall": recall, "peak": given + extra, "least": least}


def item_knn(folder: str) -> dict[str, float]:
    """Seconds of a fit; least memory: the matrix, its transposed pattern, the neighbours."""
    from fullrank.models import ItemKNN

    data = interactions(folder)
    model = ItemKNN(neighbours=NEIGHBOURS)
    seconds, extra = timed_fit(data, model, 3)
    X = data.csr("binary")
    given = gib((X.nnz, 8), (sum(X.shape), 8))
    least = given + gib((X.nnz, 4), (2 * model.weights_.nnz, 8))
    return {"seconds": seconds, "peak": given + extra, "least": least}


def ease(folder: str) -> dict[str, float]:
    """Seconds of a fit and of its Gram matrix with LAPACK's inverse; least memory: 12 n²."""
    import numpy as np
    from scipy.linalg.lapack import dpotrf, dpotri

    from fullrank.models import EASE
    from fullrank.models.ease import _gram

    data = interactions(folder)
    seconds, extra = timed_fit(data, EASE(reg=RIDGE), 5)
    X, times = data.csr("binary"), []
    for _ in range(5):
        start = time.perf_counter()
        gram = _gram(X[:, np.flatnonzero(data.item_counts)])
        gram.flat[:: len(gram) + 1] += RIDGE
        dpotri(dpotrf(gram.T, lower=1, overwrite_a=1, clean=0)[0], lower=1, overwrite_c=1)
        times.append(time.perf_counter() - start)
    return {
        "seconds": seconds,
        "lapack": statistics.median(times),
        "peak": extra,
        "least": gib((len(gram) ** 2, 12)),
    }


def pure_svd(folder: str, d: int) -> dict[str, float]:
    """Seconds of a fit, recall and the last singular value.

    Least memory: the matrix, its transposed pattern and ARPACK's basis of ``2 d + 1`` item vectors.
    """
    from fullrank.models import PureSVD

    data = interactions(folder)
    model = PureSVD(d)
    seconds, extra = timed_fit(data, model, 1)
    X = data.csr("binary")
    recall = recall_at_20(folder, X @ model.item_factors_, model.item_factors_)
    given = gib((X.nnz, 8), (sum(X.shape), 8))
    least = given + gib((X.nnz, 4), (X.shape[1] * (2 * d + 1), 8))
    last = float(model.singular_values_[-1])
    return {"seconds": seconds, "recall": recall, "last": last, "peak": given + extra,
            "least": least}  # fmt: skip


def scipy_svd(folder: str, d: int, solver: str) -> dict[str, float]:
    """Seconds of SciPy's ``svds`` in float64, with all BLAS threads."""
    import numpy as np
    from scipy.sparse.linalg import svds

    X = matrix(folder).astype(np.float64)
    start = time.perf_counter()
    _, values, _ = svds(X, k=d, solver=solver, rng=np.random.default_rng(0))
    return {"seconds": time.perf_counter() - start, "last": float(values.min())}


def _ials_rows(folder: str, d: int, epochs: int) -> list[Row]:
    """With irspack's objective (nu = 1) and with implicit's (nu = 0)."""
    settings = (folder, d, epochs)
    one = {f"irspack {solver}": peer("irspack", "ials", *settings, REG[1.0], UNOBSERVED, solver)
           for solver in ("CG", "Cholesky", "iALS++ of 16")}  # fmt: skip
    exact = alone("benchmarks.training:ials", *settings, 1.0, "cholesky")
    one["fullrank Cholesky"] = exact.error or exact.value
    none = {"implicit CG": peer("implicit", "ials", *settings, REG[0.0], UNOBSERVED)}
    out = []
    for nu, peers in ((1.0, one), (0.0, none)):
        ours = alone("benchmarks.training:ials", *settings, nu, "cg")
        out += training_rows(
            f"IALS, an epoch, {d} factors, nu = {nu:g}, {epochs} epochs", ours, peers
        )
    return out


def _svd_rows(folder: str, d: int) -> list[Row]:
    ours = alone("benchmarks.training:pure_svd", folder, d)
    peers: dict[str, Any] = {}
    for solver in ("arpack", "propack"):
        run = alone("benchmarks.training:scipy_svd", folder, d, solver)
        peers[f"SciPy {solver}"] = run.error or run.value
    for n in (5, 20):
        found = peer("irspack", "randomized_svd", folder, d, n, blas=2)
        if isinstance(found, dict):  # a limit of its own kind: not the same vectors
            found = f"{found['seconds']:.1f} s, recall {found['recall']:.4f}, not converged (last "
            found += "singular value too small)"
        peers[f"sklearn randomized, {n} iterations"] = found
    return training_rows(
        f"PureSVD, {d} vectors", ours, peers, goal="at most 1.2× the best that converges"
    )


def rows(quick: bool) -> list[Row]:
    """All models at their shapes."""
    shape, small = ((2000, 900, 60_000), (600, 300, 20_000)) if quick else (SHAPE, EASE_SHAPE)
    epochs = 4 if quick else EPOCHS
    out: list[Row] = []
    with tempfile.TemporaryDirectory() as large, tempfile.TemporaryDirectory() as dense:
        save(Path(large), *shape)
        save(Path(dense), *small)
        for d in (64, 128):
            out += _ials_rows(large, d, epochs)
        knn = {tool: peer(tool, "item_knn", large) for tool in ("implicit", "irspack")}
        ours = alone("benchmarks.training:item_knn", large)
        out += training_rows(f"ItemKNN, cosine, {NEIGHBOURS} neighbours", ours, knn)
        ours = alone("benchmarks.training:ease", dense)
        peers = {"irspack": peer("irspack", "ease", dense, blas=2)}
        limit = {} if ours.error else {"limit": ours.value["lapack"], "limit_name": "LAPACK"}
        goal = "faster than each, at most 1.2× LAPACK and the product"
        out += training_rows(f"EASE, {small[1]:,} items", ours, peers, goal, **limit)
        out += _svd_rows(large, 64)
    return out


if __name__ == "__main__":
    main(rows)
