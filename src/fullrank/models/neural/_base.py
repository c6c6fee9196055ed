"""What neural models share: settings of training, the fit, and saving."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fullrank.core.errors import SpecError
from fullrank.core.interactions import Interactions
from fullrank.core.queries import Queries
from fullrank.core.random import RNG, derive, seed_of
from fullrank.models._base import Monitor, Recommender
from fullrank.models._init import initialiser, start
from fullrank.models._optimiser import optimiser
from fullrank.models._training import about
from fullrank.models._training import train as run_epochs
from fullrank.models.neural._average import Average, read_average
from fullrank.models.neural._task import Task
from fullrank.models.neural._torch import torch
from fullrank.models.neural._trainer import Trainer
from fullrank.models.neural._weights import Weighted

_WHOLE = ("embedding_dim", "epochs", "batch_size")
_SHARES = ("dropout",)
_AMOUNTS = ("reg", "l1_reg")
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(eq=False)
class Neural(Recommender):
    """Base of the models that PyTorch trains.

    Subclasses say what their defaults are, build a ``Task`` (network, batches, loss), and
    ``_publish`` what scoring needs. Training runs in float32 on the CPU, on a GPU where there is
    one (its products partly in bfloat16, so that results there are close and not the same). On
    one machine a fit on the CPU gives the same bits for any number of threads.

    Attributes:
        embedding_dim: size of the vectors of users, items or sequences.
        epochs: passes over the training rows.
        batch_size: rows a step.
        learning_rate: of the optimiser, > 0.
        optimiser: ``sgd``, ``momentum(momentum=0.9)``, ``adagrad``, ``rmsprop``, ``adam``,
            ``adamw(weight_decay=0.01)`` or ``sparse_adam``.
        reg: L2 penalty; each model says on what.
        l1_reg: L1 penalty on all weights, added to the mean loss.
        dropout: share of entries dropped in training; each model says where.
        init: ``default`` (each model says), ``uniform(low=0, high=1)``, ``normal(std=0.01)``,
            ``xavier_uniform`` or ``xavier_normal``, for all matrices; biases start at 0.
        averaging: ``none``, ``mean`` or ``ema(decay=0.999)`` of the weights over steps.
    """

    embedding_dim: int = 64
    epochs: int = 50
    batch_size: int = 1024
    learning_rate: float = 0.001
    optimiser: str = "adam"
    reg: float = 0.0
    l1_reg: float = 0.0
    dropout: float = 0.0
    init: str = "default"
    averaging: str = "none"

    seeded: ClassVar[bool] = True
    reg_in_loss: ClassVar[bool] = False
    """The task's loss holds the L2 penalty itself (on the rows of a batch only)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        name = type(self).__name__
        for key in _WHOLE:
            _whole(name, key, getattr(self, key))
        for key in _SHARES:
            if not 0 <= getattr(self, key) < 1:
                raise SpecError(
                    f"{name}: {key} must be at least 0 and below 1, got {getattr(self, key)!r}"
                )
        for key in _AMOUNTS:
            if not 0 <= getattr(self, key) < _LARGEST:
                raise SpecError(
                    f"{name}: {key} must be >= 0 and within float32, got {getattr(self, key)!r}"
                )
        if not 0 < self.learning_rate < _LARGEST:
            raise SpecError(
                f"{name}: learning_rate must be > 0 and within float32, got {self.learning_rate!r}"
            )
        optimiser(self.optimiser, name)
        if self.init.strip().lower() != "default":
            initialiser(self.init, name)
        read_average(self.averaging, name)

    @abstractmethod
    def _task(self, train: Interactions, seed: int) -> Task:
        """Network, batches and loss for some training rows."""

    @abstractmethod
    def _publish(self, task: Task) -> None:
        """Set the fitted attributes from the task's weights."""

    def _fit(self, train: Interactions, rng: RNG, monitor: Monitor | None) -> None:
        seed, name = seed_of(rng), type(self).__name__
        task = self._task(train, derive(seed, "batches"))
        self._initialise(task.network, derive(seed, "weights"))
        decay = read_average(self.averaging, name)
        average = None if decay is None else Average(decay)
        trainer = Trainer(
            task,
            optimiser(self.optimiser, name),
            rate=self.learning_rate,
            reg=0.0 if self.reg_in_loss else self.reg,
            l1_reg=self.l1_reg,
            average=average,
            seed=derive(seed, "noise"),
        )

        def publish() -> None:
            task.network.eval()
            with torch.no_grad():
                if average is None:
                    self._publish(task)
                else:
                    with average.used(trainer.params):
                        self._publish(task)

        run_epochs(
            self, self.epochs, trainer.epoch,
            publish=publish, state=trainer.state, restore=trainer.restore,
            about=lambda: {**about(self, train, seed), **self._about()},
        )  # fmt: skip

    def _about(self) -> dict[str, Any]:
        """What else a checkpoint must agree in."""
        return {}

    def _initialise(self, network: torch.nn.Module, seed: int) -> None:
        """Draw start weights: ``init`` for matrices, or what the network's ``starts`` says.

        ``starts(name, parameter)`` gives the text of an initialiser, or None to leave a parameter
        as the network made it. Vectors (biases, scales) are left in any case.
        """
        starts: Any = getattr(network, "starts", lambda *_: "xavier_normal")
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if parameter.dim() < 2:
                    continue
                text = starts(name, parameter)
                if text is not None and self.init.strip().lower() != "default":
                    text = self.init
                if text is not None:
                    shape = tuple(parameter.shape)
                    parameter.copy_(torch.from_numpy(start(text, shape, seed, name)))

    def _reads_sparse(self) -> bool:
        """True if tables get sparse gradients: the optimiser is lazy and there is no penalty."""
        lazy = optimiser(self.optimiser, type(self).__name__).lazy
        return lazy and self.l1_reg == 0 and (self.reg == 0 or self.reg_in_loss)


@dataclass(eq=False)
class Encoder(Weighted, Neural):
    """Base of the models that turn a history into a vector, which is compared with the items'.

    The network has ``encode``, and so has fold-in. Scoring runs it in float64 and rounds to
    float32, so that a query gets the same vector alone and in any block.
    """

    folds_in: ClassVar[bool] = True
    thread_safe: ClassVar[bool] = True
    fitted: ClassVar[tuple[str, ...]] = ("item_factors_",)

    @abstractmethod
    def _network(self, n_items: int) -> torch.nn.Module:
        """A network of these settings, its weights still to come."""

    @abstractmethod
    def _encode(self, network: torch.nn.Module, queries: Queries) -> torch.Tensor:
        """Vectors ``[q, d]`` of histories by the network, in its own precision."""

    @abstractmethod
    def _items(self, network: torch.nn.Module) -> torch.Tensor:
        """Vectors ``[n_items, d]`` that encodings are multiplied by."""

    def _take(self, weights: dict[str, NDArray[Any]]) -> None:
        """Be ready to score with some weights."""
        self.weights_ = weights
        network = self._network(len(self.item_vocab_))
        network.load_state_dict({k: torch.from_numpy(v) for k, v in weights.items()})
        self._scorer = network.double().eval()
        with torch.no_grad():
            items = self._items(self._scorer).numpy().astype(np.float32)
        items[~self.known_items_] = 0.0
        self.item_factors_ = np.ascontiguousarray(items)

    def item_factors(self) -> NDArray[np.float32]:
        """Float32 ``[n_items, d]``; 0 for items without training rows."""
        self._require_fitted()
        return self.item_factors_

    def query_factors(self, queries: Queries) -> NDArray[np.float32]:
        """Encodings of the histories: float32 ``[q, d]``; 0 for an empty one."""
        self.check(queries)
        if len(queries) == 0:
            return np.zeros((0, self.item_factors_.shape[1]), np.float32)
        with torch.no_grad():
            out = self._encode(self._scorer, queries).numpy().astype(np.float32)
        out[~self._speaks(queries)] = 0.0
        return np.ascontiguousarray(out)

    def _speaks(self, queries: Queries) -> NDArray[np.bool_]:
        """Bool ``[q]``: the history holds something the model knows."""
        return np.asarray(queries.history_csr() @ self.known_items_ > 0)


def _whole(model: str, key: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise SpecError(f"{model}: {key} must be a whole number >= 1, got {value!r}")
