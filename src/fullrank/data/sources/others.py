"""Check-ins, music, books, films and articles; and two sets that hold no interactions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from fullrank.data.sources._base import SideTable, SourceInfo

_NONE = "no licence stated with the data"
_MONTI = "Monti, F., Bronstein, M. and Bresson, X. 2017. Geometric Matrix Completion. NIPS."
_MONTI_URL = "https://github.com/fmonti/mgcnn"
_SPLIT = "the column split holds the published train and test parts"


def _coat_features(path: Path) -> pl.DataFrame:
    """One 0/1 column a feature, named by the map beside the matrix; the id is the line, from 0."""
    key = "user_id" if path.name.startswith("user") else "item_id"
    labels = path.with_name(path.stem + "_map.txt").read_text(encoding="utf-8").splitlines()
    matrix = np.loadtxt(path, dtype=np.int8, ndmin=2)
    columns = {key: np.arange(len(matrix))}
    names = [label.strip() for label in labels if label.strip()]
    return pl.DataFrame(columns | dict(zip(names, matrix.T, strict=True)))


ENTRIES = (
    SourceInfo(
        "gowalla-lightgcn",
        "Gowalla check-ins (10-core) with the split of NGCF and LightGCN",
        _NONE + " (origin: SNAP)",
        "Cho, E., Myers, S. A. and Leskovec, J. 2011. Friendship and Mobility. KDD; He, X. et al. "
        "2020. LightGCN. SIGIR.",
        "https://snap.stanford.edu/data/loc-gowalla.html",
        1_027_370,
        29_858,
        40_981,
        notes=_SPLIT + "; no times",
    ),
    SourceInfo(
        "lastfm-2k",
        "Last.fm listening counts (HetRec 2011), in the column weight",
        "HetRec 2011 / GroupLens: non-commercial research use with citation",
        "Cantador, I., Brusilovsky, P. and Kuflik, T. 2011. HetRec 2011. RecSys.",
        "https://grouplens.org/datasets/hetrec-2011/",
        92_834,
        1_892,
        17_632,
        files=("user_artists.dat", "interactions.parquet"),
        notes="weight is the number of plays and no grade; no times",
    ),
    SourceInfo(
        "coat",
        "Coat shopping: self-selected training ratings, and a test set of random items",
        _NONE + "; published for research",
        "Schnabel, T. et al. 2016. Recommendations as Treatments. ICML.",
        "https://www.cs.cornell.edu/~schnabts/mnar/",
        11_600,
        290,
        300,
        side=(
            SideTable("users", "user_features.ascii", "user_id", make=_coat_features),
            SideTable("items", "item_features.ascii", "item_id", make=_coat_features),
        ),
        notes=_SPLIT + "; propensities of all pairs: propensities.parquet",
    ),
    SourceInfo(
        "filmtrust",
        "FilmTrust: film ratings",
        _NONE + "; research use",
        "Guo, G., Zhang, J. and Yorke-Smith, N. 2013. A Novel Bayesian Similarity Measure. IJCAI.",
        "https://guoguibing.github.io/librec/datasets.html",
        35_497,
        1_508,
        2_071,
        files=("ratings.txt", "interactions.parquet"),
        notes="three repeated pairs; no times",
    ),
    SourceInfo(
        "book-crossing",
        "Book-Crossing, filtered by CaseRecommender: explicit ratings",
        "free for research use with citation",
        "Ziegler, C.-N. et al. 2005. Improving Recommendation Lists Through Topic "
        "Diversification. WWW.",
        "https://github.com/caserec/Datasets-for-Recommender-Systems",
        62_656,
        1_295,
        14_684,
        notes="no times; the implicit history: book-crossing-history",
    ),
    SourceInfo(
        "book-crossing-history",
        "Book-Crossing, filtered by CaseRecommender: the implicit history",
        "free for research use with citation",
        "Ziegler, C.-N. et al. 2005. Improving Recommendation Lists Through Topic "
        "Diversification. WWW.",
        "https://github.com/caserec/Datasets-for-Recommender-Systems",
        272_678,
        files=("history.parquet",),
        folder="book-crossing",
        notes="no times",
    ),
    SourceInfo(
        "citeulike-a",
        "CiteULike-a: articles in personal libraries",
        _NONE,
        "Wang, H., Chen, B. and Li, W.-J. 2013. Collaborative Topic Regression with Social "
        "Regularization for Tag Recommendation. IJCAI.",
        "https://github.com/js05212/citeulike-a",
        204_986,
        5_551,
        16_980,
        notes="no times",
    ),
    SourceInfo(
        "flixster-monti",
        "Flixster 3000 x 3000 with the split of Monti et al.",
        _NONE,
        _MONTI,
        _MONTI_URL,
        26_173,
        2_341,
        2_956,
        notes=_SPLIT + "; no times",
    ),
    SourceInfo(
        "douban-monti",
        "Douban 3000 x 3000 with the split of Monti et al.",
        _NONE,
        _MONTI,
        _MONTI_URL,
        136_891,
        2_999,
        3_000,
        notes=_SPLIT + "; no times",
    ),
    SourceInfo(
        "obd-men",
        "Open Bandit Dataset, campaign men, small sample: two logging policies",
        "CC BY 4.0 (ZOZO, Inc.)",
        "Saito, Y. et al. 2021. Open Bandit Dataset and Pipeline. NeurIPS Datasets and Benchmarks.",
        "https://research.zozo.com/data.html",
        files=("random_men.parquet",),
        instead="it is a log of impressions with propensities and without user ids, for estimates "
        "of a policy's value; load random_men.parquet and bts_men.parquet as frames (polars."
        "read_parquet)",
    ),
    SourceInfo(
        "trec-eval",
        "trec_eval's test suite: qrels, runs and the expected output",
        "US government work (NIST); ir_measures part: Apache-2.0",
        "",
        "https://github.com/usnistgov/trec_eval",
        files=("qrels.test",),
        instead="it holds golden metric values; read native/qrels.test as truth and "
        "native/results.test as recommendations with read_table(path, kind='recommendations')",
    ),
)
