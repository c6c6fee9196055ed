"""Amazon reviews (McAuley): the versions that papers evaluate on."""

from __future__ import annotations

from fullrank.data.sources._base import SourceInfo

_TERMS = "no licence stated with the data (origin: Amazon reviews collected by McAuley et al.)"
_CITE = (
    "McAuley, J. et al. 2015. Image-based Recommendations on Styles and Substitutes. SIGIR; "
    "He, R. and McAuley, J. 2016. Ups and Downs. WWW."
)
_URL = "https://jmcauley.ucsd.edu/data/amazon/"
_ORDER = "times are an order within the user only; no split by date can be made"

ENTRIES = (
    SourceInfo(
        "amazon-beauty-seq",
        "Amazon Beauty 5-core sequences, as in S3-Rec",
        _TERMS,
        _CITE,
        _URL,
        198_502,
        22_363,
        12_101,
        notes=_ORDER,
    ),
    SourceInfo(
        "amazon-toys-seq",
        "Amazon Toys and Games 5-core sequences, as in S3-Rec",
        _TERMS,
        _CITE,
        _URL,
        167_597,
        19_412,
        11_924,
        notes=_ORDER,
    ),
    SourceInfo(
        "amazon-video-games-seq",
        "Amazon Video Games sequences, as in SASRec",
        _TERMS,
        _CITE + " Kang, W.-C. and McAuley, J. 2018. SASRec. ICDM.",
        _URL,
        287_107,
        31_013,
        23_715,
        notes=_ORDER,
    ),
    SourceInfo(
        "amazon-cds",
        "Amazon CDs and Vinyl, implicit, as in UltraGCN",
        _TERMS,
        _CITE,
        _URL,
        777_426,
        43_169,
        35_648,
    ),
    SourceInfo(
        "amazon-musical-instruments",
        "Amazon Musical Instruments 5-core 2014: ratings with text ids",
        _TERMS,
        _CITE,
        _URL,
        10_261,
        1_429,
        900,
        files=("interactions.parquet", "ratings_Musical_Instruments_5.csv"),
        notes="times have the precision of a day",
    ),
)
