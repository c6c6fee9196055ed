"""The next settings are a pure function of the finished trials."""

import pytest

from fullrank.core.errors import SpecError
from fullrank.experiment.search import distributions, propose, size_of

SPACE = {
    "reg": {"low": 0.01, "high": 100.0, "log": True},
    "alpha": {"low": -1.0, "high": 1.0},
    "step": {"low": 0.0, "high": 1.0, "step": 0.25},
    "neighbours": {"low": 1, "high": 500, "log": True},
    "dim": {"low": 16, "high": 64, "step": 16},
    "kind": ["cosine", "bm25", "tfidf"],
    "flag": [True, False],
}


def value_of(settings):
    """Higher near alpha = 0.5, so that a sampler that learns has something to find."""
    return 1 - (settings["alpha"] - 0.5) ** 2 + 0.01 * settings["flag"]


def next_settings(done, *, seed=0, sampler="tpe", space=SPACE, number=None):
    return propose(
        distributions(space, "here"),
        done,
        number=len(done) if number is None else number,
        seed=seed,
        sampler=sampler,
        maximise=True,
    )


def trials(n, done=(), **options):
    out = list(done)
    while len(out) < n:
        settings = next_settings(out, **options)
        value = None if settings["kind"] == "tfidf" else value_of(settings)
        out.append({"number": len(out), "settings": settings, "value": value})
    return out


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_a_search_goes_on_as_if_it_had_not_stopped(sampler):
    unbroken = trials(24, sampler=sampler)  # past the ten with which TPE begins
    for k in (0, 1, 5, 10, 11, 17, 23):
        assert trials(24, unbroken[:k], sampler=sampler) == unbroken


def test_draws_are_not_repeated_after_a_restart():
    done = trials(20)
    drawn = [trial["settings"]["alpha"] for trial in done]
    assert len(set(drawn)) == 20


def test_another_seed_draws_others_and_tpe_leaves_random_draws_after_ten():
    assert trials(3, seed=1) != trials(3, seed=2)
    tpe, random = trials(20), trials(20, sampler="random")
    assert tpe[10:] != random[10:]
    late = [trial["settings"]["alpha"] for trial in trials(40)[20:]]
    early = [trial["settings"]["alpha"] for trial in trials(40, sampler="random")[20:]]
    assert sum(abs(x - 0.5) for x in late) < sum(abs(x - 0.5) for x in early)


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_the_first_trial_can_be_given_and_what_the_space_lacks_is_drawn(sampler):
    space = distributions(SPACE, "here")
    how = {"seed": 0, "sampler": sampler, "maximise": True}
    given = {"reg": 1.0, "alpha": 2.0, "step": 0.25, "neighbours": 7, "dim": 48, "kind": "bm25"}
    first = propose(space, [], number=0, first={**given, "unknown": 1}, **how)
    drawn = propose(space, [], number=0, **how)
    assert set(first) == set(SPACE)
    assert {k: first[k] for k in given if k != "alpha"} == {
        k: x for k, x in given.items() if k != "alpha"
    }
    assert -1 <= first["alpha"] <= 1
    done = [{"number": 0, "settings": first, "value": 0.5}]
    second = propose(space, done, number=1, first=given, **how)
    assert second == propose(space, done, number=1, **how)
    assert second["neighbours"] != 7
    assert drawn["neighbours"] != 7


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("reg", 0.001),
        ("reg", float("nan")),
        ("step", 0.3),
        ("neighbours", 7.0),
        ("dim", 40),
        ("kind", "jaccard"),
        ("flag", 1),
        ("dim", True),
    ],
)
def test_a_first_value_outside_the_space_is_drawn(name, value):
    space = distributions(SPACE, "here")
    how = {"number": 0, "seed": 0, "sampler": "random", "maximise": True}
    found = propose(space, [], first={name: value}, **how)[name]
    assert found != value or type(found) is not type(value)
    assert found == propose(space, [], **how)[name]


def test_draws_are_of_their_kind_and_within_their_range():
    for trial in trials(30, sampler="random"):
        drawn = trial["settings"]
        assert 0.01 <= drawn["reg"] <= 100
        assert isinstance(drawn["reg"], float)
        assert -1 <= drawn["alpha"] <= 1
        assert drawn["step"] in (0.0, 0.25, 0.5, 0.75, 1.0)
        assert isinstance(drawn["neighbours"], int)
        assert 1 <= drawn["neighbours"] <= 500
        assert drawn["dim"] in (16, 32, 48, 64)
        assert isinstance(drawn["dim"], int)
        assert drawn["kind"] in SPACE["kind"]
        assert isinstance(drawn["flag"], bool)


def test_log_draws_cover_small_values():
    drawn = [t["settings"]["reg"] for t in trials(60, sampler="random")]
    assert 20 <= sum(x < 1 for x in drawn) <= 40  # half of the range in logs; 1 % of it plainly


def test_a_range_may_end_between_its_steps():
    space = {"x": {"low": 0.1, "high": 0.5, "step": 0.15}, "n": {"low": 1, "high": 9, "step": 3}}
    found = distributions(space, "here")
    assert found["x"].high == pytest.approx(0.4)
    assert found["n"].high == 7


@pytest.mark.parametrize(
    ("space", "size"),
    [
        ({"a": [1, 2, 3], "b": [True, False]}, 6),
        ({"n": {"low": 1, "high": 4}}, 4),
        ({"n": {"low": 16, "high": 64, "step": 16}}, 4),
        ({"x": {"low": 0.0, "high": 1.0, "step": 0.25}}, 5),
        ({"x": {"low": 0.5, "high": 0.5}, "a": [1, 2]}, 2),
        ({"x": {"low": 0.0, "high": 1.0}, "a": [1, 2]}, None),
    ],
)
def test_size_of_a_space(space, size):
    assert size_of(distributions(space, "here")) == size


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ([], "at least one"),
        ([[1, 2]], "plain value"),
        (3, "must be"),
        ({"low": 1}, "both low and high"),
        ({"low": 1, "high": 2, "stp": 1}, "no key 'stp'; did you mean 'step'"),
        ({"low": 2, "high": 1}, "low <= high"),
        ({"low": 0.0, "high": 1.0, "log": True}, "low > 0"),
        ({"low": "1", "high": 2}, "must be numbers"),
        ({"low": True, "high": 2}, "must be numbers"),
        ({"low": 0.0, "high": float("inf")}, "must be numbers"),
        ({"low": float("nan"), "high": 1.0}, "must be numbers"),
        ({"low": 1, "high": 2, "log": "yes"}, "true or false"),
        ({"low": 1, "high": 8, "step": 0}, "step must be a whole number"),
        ({"low": 1, "high": 8, "step": 0.5}, "step must be a whole number"),
        ({"low": 1.0, "high": 8.0, "step": -1.0}, "step must be a number"),
        ({"low": 1, "high": 8, "step": 2, "log": True}, "exclude each other"),
    ],
)
def test_entries_that_are_no_space(entry, message):
    with pytest.raises(SpecError, match=message) as found:
        distributions({"reg": entry}, "model 'EASE'")
    assert "model 'EASE': search.reg" in str(found.value)
