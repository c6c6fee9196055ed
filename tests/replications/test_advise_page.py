"""What is shipped, and the page about it, from made-up meta-data."""

from __future__ import annotations

from replications.svpcf import advise_page, ship
from replications.svpcf.published import drawn, published_protocol
from tests.advise.meta import meta

from fullrank.advise import MetaData
from fullrank.advise.learners import Fitted, Ridge
from fullrank.advise.record import comparable
from fullrank.advise.shipped import EVALUATION

BASE = meta(n_sets=5)


def test_what_is_shipped_and_the_page_about_it(tmp_path, monkeypatch):
    monkeypatch.setattr(ship, "SHIPPED", Ridge((1.0,)))
    for name in BASE.names:
        BASE.only([name]).save(tmp_path / "from" / name)
    joined = ship.joined(tmp_path / "from")
    ship.ship(joined, tmp_path / "to")
    assert MetaData.load(tmp_path / "to").taus.equals(BASE.taus)
    assert len(Fitted.load(tmp_path / "to").left_out) == 5
    ship.judge(joined, "Ridge", Ridge((1.0,)), tmp_path / "judged")
    parts = ship.judged(joined, tmp_path / "judged", ["Ridge"])
    record = ship.record(tmp_path / "to")
    text = advise_page.page(joined, parts, record)
    assert "| `advised` | 0.0" in text
    assert "- Ridge: better than a random choice" in text
    assert text.count("| 0.5 | 5 | 15 |") == 1
    assert "| w4 | 600 | 60 | 40 |" in (tmp_path / "to" / "README.md").read_text()
    other = meta(n_sets=5, signal=0.1)
    assert ship.judged(other, tmp_path / "judged", ["Ridge"]) == {}  # of other meta-data
    assert (tmp_path / "to" / EVALUATION).read_text().startswith("chooser,data,scenario,metric")


def test_the_published_protocol_tests_cells_of_data_sets_that_were_learnt_from():
    table = comparable(BASE.taus)
    test = drawn(table, 1)
    counts = {
        scenario: own["part"].value_counts(sort=True).sort("part")["count"].to_list()
        for (scenario,), own in test.group_by("scenario")
    }
    assert counts == {"implicit": [10, 5], "explicit": [5]}  # tested and kept for validation
    left = table.join(test, on=["data", "scenario", "metric", "keep"], how="anti")
    assert set(left["data"]) == set(table["data"])
    found = published_protocol(table, BASE.features, Ridge((1.0,)), 1)
    assert len(found) == 0  # four samplers a group are too few, as in the published code
