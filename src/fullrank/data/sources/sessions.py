"""Click sessions: the session takes the place of the user."""

from __future__ import annotations

import polars as pl

from fullrank.data.sources._base import SourceInfo


def _day_and_place(frame: pl.DataFrame) -> pl.DataFrame:
    """Day of the session plus milliseconds within it, as one time."""
    day = pl.col("eventdate").str.to_datetime("%Y-%m-%d", time_unit="ms")
    within = pl.duration(milliseconds=pl.col("timeframe"), time_unit="ms")
    return frame.select("session_id", "item_id", timestamp=day + within)


ENTRIES = (
    SourceInfo(
        "yoochoose-100k",
        "YooChoose click sessions (RecSys Challenge 2015), the 100k sample of session-rec",
        "CC BY-NC-ND 4.0 (YOOCHOOSE, RecSys Challenge 2015)",
        "Ben-Shimon, D. et al. 2015. RecSys Challenge 2015 and the YOOCHOOSE Dataset. RecSys; "
        "Ludewig, M. and Jannach, D. 2018. Evaluation of Session-based Recommendation Algorithms. "
        "UMUAI 28.",
        "https://recsys.acm.org/recsys15/challenge/",
        83_846,
        21_210,
        2_933,
        notes="users are sessions; the column split holds the published train and test parts",
    ),
    SourceInfo(
        "diginetica-sample",
        "Diginetica item-view sessions (CIKM Cup 2016), the small sample of SR-GNN",
        "no licence stated with the data (CIKM Cup 2016)",
        "CIKM Cup 2016 Track 2; Wu, S. et al. 2019. Session-based Recommendation with GNN. AAAI.",
        "https://competitions.codalab.org/competitions/11161",
        12_391,
        2_986,
        7_139,
        prepare=_day_and_place,
        notes="users are sessions; a time is the session's day plus the milliseconds within the "
        "session, so that the hour of the day means nothing",
    ),
)
