"""What a newcomer gets wrong: each is refused where it is given, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

import fullrank as fr
from fullrank.core.errors import DataError, SpecError, StoreError
from fullrank.models import BPRMF, IALS
from fullrank.negatives.training import recipe

LOG = {"user_id": [1, 1, 1, 2, 2, 2], "item_id": [10, 11, 12, 11, 12, 13]}


def _split() -> fr.Split:
    return fr.LeaveRandom().split(fr.read(LOG).interactions)


def test_a_split_is_no_training_rows() -> None:
    with pytest.raises(DataError, match=r"EASE.fit takes Interactions, .*got Split"):
        fr.EASE().fit(_split())  # type: ignore[arg-type]


def test_a_monitor_must_be_callable() -> None:
    with pytest.raises(SpecError, match=r"IALS\.fit: monitor must be callable"):
        IALS().fit(_split().train, monitor="ndcg@10")  # type: ignore[arg-type]


def test_early_stop_wants_queries() -> None:
    with pytest.raises(SpecError, match=r"split\.queries\('valid'\); got Interactions"):
        fr.EarlyStop(_split().train)  # type: ignore[arg-type]


def test_load_says_what_a_folder_is(tmp_path: Path) -> None:
    model = IALS(embedding_dim=2, epochs=2)
    model.fit(_split().train, checkpoint=tmp_path / "going").save(tmp_path / "saved")
    with pytest.raises(StoreError, match=r"going is the checkpoint of a training, not a saved"):
        IALS.load(tmp_path / "going")
    (tmp_path / "neither").mkdir()
    with pytest.raises(StoreError, match=r"model\.json: there is none; give the folder that model"):
        IALS.load(tmp_path / "neither")
    with pytest.raises(StoreError, match=r"holds IALS, not EASE; read it with IALS\.load"):
        fr.EASE.load(tmp_path / "saved")


def test_load_refuses_another_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fr.EASE().fit(_split().train).save(tmp_path)
    monkeypatch.setattr(fr.EASE, "version", 99)
    with pytest.raises(StoreError, match=r"holds EASE version \d+, and this one is version 99"):
        fr.EASE.load(tmp_path)


def test_a_checkpoint_names_the_settings_that_differ(tmp_path: Path) -> None:
    rows = _split().train
    IALS(embedding_dim=2, epochs=2).fit(rows, checkpoint=tmp_path)
    with pytest.raises(StoreError, match=r"training \(embedding_dim was 2 and is 3\); give an"):
        IALS(embedding_dim=3, epochs=2).fit(rows, checkpoint=tmp_path)


def test_names_that_live_in_a_package_are_pointed_at() -> None:
    with pytest.raises(AttributeError, match=r"write: from fullrank\.models import BPRMF"):
        _ = fr.BPRMF  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"from fullrank\.models import SASRec"):
        _ = fr.SASRec  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"attribute 'Nothing'$"):
        _ = fr.Nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"optimiser": "adamm"}, r"BPRMF: unknown optimiser 'adamm'; did you mean 'adam'"),
        ({"init": "xavier_unifrom"}, r"BPRMF: unknown init .* did you mean 'xavier_uniform'"),
        ({"objective": "cross_entrop"}, r"did you mean 'cross_entropy'"),
        ({"objective": "listwise"}, r"known: bpr, cross_entropy, hinge, "),
        ({"negatives": "popularity(0.5)"}, r"^BPRMF: negatives 'popularity' takes options by name"),
    ],
)
def test_names_are_spelled_as_documented(settings: dict[str, str], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        BPRMF(**settings)  # type: ignore[arg-type]


def test_a_sampler_without_a_model() -> None:
    with pytest.raises(SpecError, match=r"^the negatives 'popularity' takes options by name only"):
        recipe("popularity(0.5)")
