"""Splits that somebody published: a column, or files."""

from __future__ import annotations

import numpy as np
import pytest

from fullrank.core.errors import DataError, IdTypeError, SpecError, SplitError
from fullrank.split import Given, concat_parts, given_from_files
from fullrank.testing.split import interactions

LOG = {"users": list("aabbcc"), "items": list("xyxyxy"), "values": [1, 2, 3, 4, 5, 5]}


def labelled(labels, **more):
    return interactions(**LOG, split=labels, **more)


def test_labels_decide():
    data = labelled(["train", "test", "train", "valid", "train", "test"])
    assert Given().split(data).part.tolist() == [0, 2, 0, 1, 0, 2]
    numbers = labelled([0, 1, 0, 1, 2, 1])
    split = Given(train=0, test=1, valid=7, left_out=[2]).split(numbers)
    assert split.part.tolist() == [0, 2, 0, 2, -1, 2]


def test_validation_rows_can_be_drawn_from_train():
    data = labelled(["train", "test", "train", "train", "train", "test"])
    split = Given(valid_share=0.5).split(data, rng=4)
    assert split.counts["valid"] == split.counts["train"] == 2
    assert split.recipe["seed"] == 4
    assert (split.part == 2).tolist() == [False, True, False, False, False, True]
    several = {Given(valid_share=0.5).split(data, rng=s).fingerprint for s in range(10)}
    assert len(several) > 1


@pytest.mark.parametrize(
    ("labels", "strategy", "message"),
    [
        (["train", "tset"] * 3, Given(), "holds 'tset' in 3 rows.*did you mean 'test'"),
        (["train", "valid", "test"] * 2, Given(valid_share=0.5), "validation rows .'valid'. alrea"),
        (["train"] * 6, Given(), "test part is empty"),
        (["train", "test"] * 3, Given(column="spit"), "no column 'spit'.*did you mean 'split'"),
    ],
)
def test_labels_that_make_no_split(labels, strategy, message):
    with pytest.raises((SplitError, SpecError), match=message):
        strategy.split(labelled(labels))


def test_settings_that_make_no_split():
    with pytest.raises(SpecError, match="different labels"):
        Given(train="a", test="a")
    with pytest.raises(SpecError, match="valid_share must be a share"):
        Given(valid_share=1)


def test_files_become_one_set_and_a_split(tmp_path):
    (tmp_path / "u.base").write_text(
        "1\t10\t5\t881250949\n1\t11\t3\t881250950\n2\t10\t4\t881250951\n"
    )
    (tmp_path / "u.test").write_text("1\t12\t5\t881250949\n3\t10\t2\t881250999\n")
    data, split = given_from_files(tmp_path / "u.base", tmp_path / "u.test")
    assert data.interactions is split.data
    assert split.data.user_vocab.ids.tolist() == [1, 2, 3]
    assert split.data.item_vocab.ids.tolist() == [10, 11, 12]
    test = sorted(zip(split.test.user_ids, split.test.item_ids, split.test.values))
    assert test == [(1, 12, 5.0), (3, 10, 2.0)]
    assert split.counts["train"] == 3
    split.verify()
    _, drawn = given_from_files(tmp_path / "u.base", tmp_path / "u.test", valid_share=0.4)
    assert drawn.counts["valid"] == 1
    _, three = given_from_files(tmp_path / "u.base", tmp_path / "u.test", tmp_path / "u.test")
    assert three.counts["valid"] == 2


def test_parts_must_be_alike():
    plain = interactions(["a"], ["x"])
    with pytest.raises(DataError, match=r"test rows have the columns \[\] and the first part"):
        concat_parts({"train": interactions(["a"], ["x"], values=[1]), "test": plain})
    with pytest.raises(IdTypeError, match=r"text here .* integer there"):
        concat_parts({"train": plain, "test": interactions([1], ["x"])})
    with pytest.raises(DataError, match="in 'ms' and those of the first part in 's'"):
        concat_parts(
            {
                "train": interactions(["a"], ["x"], times=[1]),
                "test": interactions(["a"], ["x"], times=[1], time_unit="ms"),
            }
        )
    with pytest.raises(SpecError, match="name their parts already"):
        concat_parts({"train": labelled(["train"] * 6)})


def test_ml_100k_fold_one(real_data):
    native = real_data / "ml-100k" / "native"
    _, split = given_from_files(native / "u1.base", native / "u1.test")
    assert (split.counts["train"], split.counts["test"]) == (80_000, 20_000)
    assert (split.data.n_users, split.data.n_items) == (943, 1_682)
    assert len(np.unique(split.test.users)) == 459


@pytest.mark.parametrize(
    ("name", "train", "test"),
    [
        ("gowalla-lightgcn", 810_128, 217_242),
        ("coat", 6_960, 4_640),
        ("yoochoose-100k", 70_278, 13_568),
        ("flixster-monti", 23_556, 2_617),
    ],
)
def test_published_splits(real_data, name, train, test):
    from fullrank.data import read

    data = read(real_data / name / "interactions.parquet").interactions
    split = Given().split(data)
    assert (split.counts["train"], split.counts["test"]) == (train, test)
