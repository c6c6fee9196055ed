"""Samplers of data sets: fewer training rows, chosen so that conclusions hold; one a file."""

from fullrank.subsample._base import Order, Sampler
from fullrank.subsample._importance import Importance, importance
from fullrank.subsample._parse import parse_sampler
from fullrank.subsample._sample import Floor, Subsample, subsample, subsamples
from fullrank.subsample._store import save
from fullrank.subsample.forest_fire import ForestFire
from fullrank.subsample.head_items import HeadItems
from fullrank.subsample.head_users import HeadUsers
from fullrank.subsample.k_core import KCore
from fullrank.subsample.page_rank import PageRank
from fullrank.subsample.propensity import Propensity
from fullrank.subsample.random_interactions import RandomInteractions
from fullrank.subsample.random_items import RandomItems
from fullrank.subsample.random_users import RandomUsers
from fullrank.subsample.random_walk import RandomWalk
from fullrank.subsample.score_stratified import ScoreStratified
from fullrank.subsample.stratified import Stratified
from fullrank.subsample.svp_cf import SVPCF
from fullrank.subsample.svp_cf_prop import SVPCFProp
from fullrank.subsample.temporal import Temporal

REGISTRY = (
    "ForestFire",
    "HeadItems",
    "HeadUsers",
    "KCore",
    "PageRank",
    "RandomInteractions",
    "RandomItems",
    "RandomUsers",
    "RandomWalk",
    "SVPCF",
    "SVPCFProp",
    "ScoreStratified",
    "Stratified",
    "Temporal",
)

__all__ = [
    "SVPCF",
    "Floor",
    "ForestFire",
    "HeadItems",
    "HeadUsers",
    "Importance",
    "KCore",
    "Order",
    "PageRank",
    "Propensity",
    "RandomInteractions",
    "RandomItems",
    "RandomUsers",
    "RandomWalk",
    "SVPCFProp",
    "Sampler",
    "ScoreStratified",
    "Stratified",
    "Subsample",
    "Temporal",
    "importance",
    "parse_sampler",
    "save",
    "subsample",
    "subsamples",
]
