"""A fit of a benchmark that Ctrl-C cuts short: an interrupt, and no word that the model has it."""

from __future__ import annotations

import signal

import pytest

import fullrank as fr
from fullrank.experiment.whole import fit_whole
from fullrank.models import IALS

LOG = {"user_id": [1, 1, 1, 2, 2, 2], "item_id": [10, 11, 12, 11, 12, 13]}


def test_a_whole_fit_is_that_of_fit() -> None:
    rows = fr.read(LOG).interactions
    one, other = IALS(embedding_dim=2, epochs=3), IALS(embedding_dim=2, epochs=3)
    fit_whole(one, rows, rng=4)
    other.fit(rows, rng=4)
    assert one.item_factors().tobytes() == other.item_factors().tobytes()


def test_an_interrupt_is_raised_without_a_warning() -> None:
    def interrupt(epoch: int, model: object) -> bool:
        signal.raise_signal(signal.SIGINT)
        return False

    model = IALS(embedding_dim=2, epochs=3)
    with pytest.raises(KeyboardInterrupt):  # warnings are errors here, and none comes before it
        fit_whole(model, fr.read(LOG).interactions, monitor=interrupt)
    assert model.log_.interrupted
    assert len(model.log_.epochs) == 1
