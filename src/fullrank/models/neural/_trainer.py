"""The training loop of all neural models: the same result for any number of threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from fullrank.core.threads import n_threads
from fullrank.models._optimiser import Optimiser
from fullrank.models._training import Stop
from fullrank.models.neural._average import Average
from fullrank.models.neural._task import Batch, Task
from fullrank.models.neural._torch import Noise, Tensor, device, torch

_MOST_PARTS = 16
_LARGE = 2**20
"""Entries of a parameter that is worth a thread of its own when it is updated."""


class Trainer:
    """Steps of an optimiser over the batches of a task.

    PyTorch's threads share one product among them, and its last bits vary with their number; they
    also wait for each other in a busy loop, so that a second job on the machine slows training
    many times over (measured: 10 times). So each thread here runs PyTorch alone: a batch is cut
    into parts of fixed size, threads take parts, and gradients are added up in the order of parts.
    Large parameters have an optimiser each, so that threads share the updates too.
    A GPU gets the whole batch, in bfloat16 where that is exact enough (autocast).

    Args:
        task: what is trained.
        optimiser: with ``rate``.
        rate: learning rate.
        reg: L2 on all parameters: ``reg / 2 |θ|²`` is added to the mean loss.
        l1_reg: L1 on all parameters, added likewise.
        average: of the weights, or None.
        seed: of the noise.
    """

    def __init__(
        self,
        task: Task,
        optimiser: Optimiser,
        *,
        rate: float,
        reg: float = 0.0,
        l1_reg: float = 0.0,
        average: Average | None = None,
        seed: int,
    ) -> None:
        self.task, self.seed, self.device = task, seed, device()
        self.task.network.to(self.device)
        named = dict(task.network.named_parameters())
        self.params, self._names = list(named.values()), list(named)
        self._reg, self._l1, self.average = reg, l1_reg, average
        self._sparse = [name in task.tables for name in named]
        self._shares = [(which, self._made(optimiser, which, rate)) for which in self._cut()]

    def _cut(self) -> list[list[int]]:
        """Places of the parameters that are updated together: large ones alone, the rest."""
        large = [i for i, p in enumerate(self.params) if p.numel() >= _LARGE]
        small = [i for i in range(len(self.params)) if i not in large]
        return [*([i] for i in large), *([small] if small else [])]

    def _made(self, optimiser: Optimiser, which: Sequence[int], rate: float) -> list[Any]:
        dense = [self.params[i] for i in which if not self._sparse[i]]
        return optimiser.make(dense, [self.params[i] for i in which if self._sparse[i]], rate)

    def epoch(self, epoch: int, stop: Stop) -> float:
        """Train one epoch; the mean loss of its rows."""
        self.task.network.train()
        total, rows = 0.0, 0
        threads = 1 if self.device.type == "cuda" else n_threads()
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as (
                pool
            ):
                for number, batch in enumerate(self.task.batches(epoch)):
                    loss, n = self._step(batch, (epoch, number), pool)
                    total, rows = total + loss, rows + n
                    if stop:
                        stop.early = True
                        break
        finally:
            torch.set_num_threads(before)
        return total / max(rows, 1)

    def _step(
        self, batch: Batch, place: tuple[int, int], pool: ThreadPoolExecutor
    ) -> tuple[float, int]:
        n = self.task.weight(batch)
        if n == 0:
            return 0.0, 0
        shared = self.task.shared(Noise(self.seed, *place, -1, on=self.device))
        leaves = tuple(x.detach().requires_grad_() for x in shared)
        wanted = [*self.params, *leaves]

        def part(number: int, rows: Batch) -> tuple[float, Sequence[Tensor | None]]:
            noise = Noise(self.seed, *place, number, on=self.device)
            with torch.autocast("cuda", torch.bfloat16, enabled=self.device.type == "cuda"):
                loss = self.task.loss(rows, noise, leaves)
            grads = torch.autograd.grad(loss / n, wanted, allow_unused=True)
            return float(loss.detach()), grads

        parts = self._parts(batch)
        run: Any = pool.map if len(parts) > 1 else map  # one part: no hand-over to a thread
        found = list(run(part, range(len(parts)), parts))
        self._update([grads for _, grads in found], shared, pool)
        self.task.after_step()
        if self.average is not None:
            self.average.update(self.params)
        return sum(loss for loss, _ in found), n

    def _parts(self, batch: Batch) -> list[Batch]:
        rows = len(next(iter(batch.values())))
        size = max(self.task.part_rows, -(-rows // _MOST_PARTS))
        if self.device.type == "cuda":
            size = rows
        batch = {name: x.to(self.device) for name, x in batch.items()}
        starts = range(0, rows, size)
        return [{name: x[s : s + size] for name, x in batch.items()} for s in starts]

    def _update(
        self, found: Sequence[Sequence[Tensor | None]], shared: tuple[Tensor, ...],
        pool: ThreadPoolExecutor,
    ) -> None:  # fmt: skip
        """Add gradients up in the order of parts, then those through what the parts shared; step.

        Every entry is updated by itself, so that it doesn't matter which thread does it.
        """
        columns = list(zip(*found, strict=True))
        through = self._through(columns[len(self.params) :], shared)

        def update(share: tuple[Sequence[int], Sequence[Any]]) -> None:
            for i in share[0]:
                self.params[i].grad = _sum([*columns[i], through[i]])
                if not self._sparse[i]:
                    self._penalise(self.params[i])
            for optimiser in share[1]:
                optimiser.step()

        run: Any = pool.map if len(self._shares) > 1 else map
        list(run(update, self._shares))

    def _through(
        self, columns: Sequence[Sequence[Tensor | None]], shared: tuple[Tensor, ...]
    ) -> Sequence[Tensor | None]:
        """Gradients of the parameters through what the parts shared."""
        sums = zip(shared, (_sum(column) for column in columns), strict=True)
        given = [(x, grad) for x, grad in sums if grad is not None]
        if not given:
            return [None] * len(self.params)
        outputs, grads = zip(*given, strict=True)
        back = torch.autograd.grad(outputs, self.params, grads, allow_unused=True)
        return list(back)

    def _penalise(self, param: torch.nn.Parameter) -> None:
        """Add the gradient of the penalties on a dense parameter."""
        if not self._reg and not self._l1:
            return
        with torch.no_grad():
            if param.grad is None:
                param.grad = torch.zeros_like(param)
            if self._reg:
                param.grad.add_(param, alpha=self._reg)
            if self._l1:
                param.grad.add_(param.sign(), alpha=self._l1)

    def _named(self) -> Iterator[tuple[Any, list[str]]]:
        """Every optimiser with the names of its parameters."""
        names = {id(p): name for p, name in zip(self.params, self._names, strict=True)}
        for _, optimisers in self._shares:
            for optimiser in optimisers:
                params = (p for group in optimiser.param_groups for p in group["params"])
                yield optimiser, [names[id(p)] for p in params]

    def state(self) -> dict[str, Any]:
        """Arrays to go on from: weights, averages and what the optimisers remember."""
        weights = self.task.network.state_dict()
        out = {f"weights/{name}": _array(x) for name, x in weights.items()}
        for optimiser, names in self._named():
            for j, kept in optimiser.state_dict()["state"].items():
                at = f"optimiser/{names[j]}"
                out |= {f"{at}/{key}": _array(x) for key, x in kept.items() if x is not None}
        if self.average is not None:
            out |= {f"average/{name}": x for name, x in self.average.state().items()}
        return out

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from ``state``."""
        weights = {k[8:]: torch.tensor(v) for k, v in state.items() if k.startswith("weights/")}
        self.task.network.load_state_dict(weights)
        moments: dict[str, dict[str, Tensor]] = {}
        for at, value in state.items():
            if at.startswith("optimiser"):
                _, name, key = at.split("/")
                moments.setdefault(name, {})[key] = torch.tensor(value)
        for optimiser, names in self._named():
            whole = optimiser.state_dict()
            whole["state"] = {j: moments.pop(x) for j, x in enumerate(names) if x in moments}
            optimiser.load_state_dict(whole)
        if moments:
            raise ValueError(f"moments of unknown parameters: {', '.join(sorted(moments))}")
        if self.average is not None:
            named = {k[8:]: v for k, v in state.items() if k.startswith("average/")}
            self.average.restore(named)


def _sum(grads: Sequence[Tensor | None]) -> Tensor | None:
    given = [g for g in grads if g is not None]
    if not given:
        return None
    total = given[0]
    for grad in given[1:]:
        total = total + grad
    return total


def _array(x: Any) -> np.ndarray[Any, Any]:
    return x.detach().cpu().numpy().copy() if isinstance(x, torch.Tensor) else np.asarray(x)
