"""MovieLens (GroupLens): Harper & Konstan 2015."""

from __future__ import annotations

from fullrank.data.sources._base import SideTable, SourceInfo

_CITE = (
    "Harper, F. M. and Konstan, J. A. 2015. The MovieLens Datasets: History and Context. "
    "ACM TiiS 5, 4, Article 19."
)
_TERMS = (
    "GroupLens: research use with citation; no redistribution without permission; no commercial "
    "use without permission"
)
_URL = "https://grouplens.org/datasets/movielens/"
_GENRES_100K = (
    "unknown", "action", "adventure", "animation", "children", "comedy", "crime", "documentary",
    "drama", "fantasy", "film_noir", "horror", "musical", "mystery", "romance", "sci_fi",
    "thriller", "war", "western",
)  # fmt: skip
_ITEMS_100K = SideTable(
    "items",
    "u.item",
    "item_id",
    ("item_id", "title", "release_date", "video_release_date", "imdb_url", *_GENRES_100K),
    {"separator": "|", "encoding": "latin-1", "quote": ""},
)
_USERS_100K = SideTable(
    "users",
    "u.user",
    "user_id",
    ("user_id", "age", "gender", "occupation", "zip_code"),
    {"separator": "|", "quote": ""},
)
_ITEMS_1M = SideTable(
    "items",
    "movies.dat",
    "item_id",
    ("item_id", "title", "genres"),
    {"separator": "::", "encoding": "latin-1"},
)
_USERS_1M = SideTable(
    "users",
    "users.dat",
    "user_id",
    ("user_id", "gender", "age", "occupation", "zip_code"),
    {"separator": "::", "encoding": "latin-1"},
)

ENTRIES = (
    SourceInfo(
        "ml-100k",
        "MovieLens 100K: film ratings, 1997-1998",
        _TERMS,
        _CITE,
        _URL + "100k/",
        100_000,
        943,
        1_682,
        files=("u.data", "interactions.parquet", "ml-100k.inter"),
        side=(_USERS_100K, _ITEMS_100K),
    ),
    SourceInfo(
        "ml-1m",
        "MovieLens 1M: film ratings, 2000-2003",
        _TERMS,
        _CITE,
        _URL + "1m/",
        1_000_209,
        6_040,
        3_706,
        files=("ratings.dat", "interactions.parquet"),
        side=(_USERS_1M, _ITEMS_1M),
        notes="two thirds of the rows share their time with another row of the same user; "
        "a copy as interactions.parquet may lack a third of the times",
    ),
    SourceInfo(
        "ml-1m-pos4",
        "MovieLens 1M, ratings of 4 and 5 only",
        _TERMS,
        _CITE,
        _URL + "1m/",
        575_281,
        6_038,
        3_533,
    ),
    SourceInfo(
        "ml-1m-sample100k",
        "MovieLens 1M, 100,000 ratings drawn at random",
        _TERMS,
        _CITE,
        _URL + "1m/",
        100_000,
        5_958,
        3_312,
        files=("ratings.dat", "interactions.parquet"),
        notes="a sample of ratings: histories have gaps",
    ),
    SourceInfo(
        "ml-latest-small",
        "MovieLens latest-small (2018): film ratings, 1996-2018",
        "GroupLens: research use with citation; redistribution only under the same terms; no "
        "commercial use without permission",
        _CITE,
        _URL + "latest/",
        100_836,
        610,
        9_724,
        files=("ratings.csv", "interactions.parquet"),
        side=(SideTable("items", "movies.csv", "movieId"),),
    ),
    SourceInfo(
        "ml-1m-ncf",
        "NCF's leave-one-out test lists on MovieLens 1M",
        _TERMS,
        "He, X. et al. 2017. Neural Collaborative Filtering. WWW.",
        "https://github.com/hexiangnan/neural_collaborative_filtering",
        files=("ml-1m.test.rating",),
        instead="it is a test part with 99 sampled negatives a user, for sampled metrics; read its "
        "file native/ml-1m.test.rating by path for the test rows (ids differ from ml-1m: see "
        "item_map.parquet)",
    ),
    SourceInfo(
        "movielens-format-samples",
        "first 10,000 rows of three MovieLens ratings files, for tests of readers",
        _TERMS,
        _CITE,
        _URL,
        files=("ml-1m_sample.dat",),
        instead="it is a set of cut-off files for tests of readers; read one by path, such as "
        "native/ml-10m_sample.dat, or take ml-1m or ml-latest-small",
    ),
)
