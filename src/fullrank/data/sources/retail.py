"""Shops: purchases with times, products, several behaviours."""

from __future__ import annotations

from fullrank.data.sources._base import SideTable, SourceInfo

_RETAIL_TERMS = "CC BY 4.0 (UCI Machine Learning Repository)"
_RETAIL_CITE = (
    "Chen, D. 2012/2019. Online Retail II [Dataset]. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5CG6D; Chen, D., Sain, S. L. and Guo, K. 2012. Data mining for the "
    "online retail industry. Journal of Database Marketing & Customer Strategy Management 19, 3."
)
_RETAIL_URL = "https://archive.ics.uci.edu/dataset/502/online+retail+ii"
_TITLES = SideTable("items", "items.parquet", "item_id")

ENTRIES = (
    SourceInfo(
        "online-retail",
        "Online Retail II, first year, first purchase of each (customer, product): a UK gift shop",
        _RETAIL_TERMS,
        _RETAIL_CITE,
        _RETAIL_URL,
        273_840,
        4_285,
        4_006,
        files=("online_retail.parquet",),
        side=(SideTable("items", "online_retail_items.parquet", "item_id"),),
        notes="comes with fullrank; changed from the original: rows without customer, "
        "cancellations, non-products and repeat purchases are left out; times are of the shop's "
        "local clock; many customers are wholesalers",
        bundled=True,
    ),
    SourceInfo(
        "online-retail-ii",
        "Online Retail II, first year, all purchases: a UK gift shop, 2009-12 to 2010-12",
        _RETAIL_TERMS,
        _RETAIL_CITE,
        _RETAIL_URL,
        406_295,
        4_285,
        4_006,
        side=(_TITLES,),
        notes="132,455 rows repeat an earlier pair; times are of the shop's local clock; many "
        "customers are wholesalers",
    ),
    SourceInfo(
        "complete-journey",
        "Complete Journey: grocery purchases of 2,469 households over a year",
        "unclear (the R package says CC0, the Python package says MIT, and for research and "
        "education only); don't redistribute",
        "84.51°. The Complete Journey.",
        "https://github.com/bradleyboehmke/completejourney",
        1_469_307,
        2_469,
        68_509,
        side=(SideTable("items", "products.parquet", "product_id"),),
        notes="by one of its two publishers simulated on real patterns: use it for scale and "
        "speed, claim nothing on real behaviour; times are of the shop's local clock",
    ),
    SourceInfo(
        "retailrocket-multi",
        "Retailrocket, filtered by CaseRecommender: views, add-to-carts and transactions",
        "CC BY-NC-SA 4.0 (Kaggle)",
        "Retailrocket recommender system dataset. Kaggle.",
        "https://www.kaggle.com/datasets/retailrocket/ecommerce-dataset",
        92_487,
        3_431,
        8_885,
        notes="the column event says view, addtocart or transaction; no times",
    ),
    SourceInfo(
        "steam-200k",
        "Steam purchases of games",
        "no licence stated with the data (origin: Kaggle tamber/steam-video-games)",
        "",
        "https://www.kaggle.com/datasets/tamber/steam-video-games",
        129_511,
        12_393,
        5_155,
        notes="707 repeated pairs, as in the original; no times; hours of play: steam-200k-play",
    ),
    SourceInfo(
        "steam-200k-play",
        "Steam hours of play, in the column hours",
        "no licence stated with the data (origin: Kaggle tamber/steam-video-games)",
        "",
        "https://www.kaggle.com/datasets/tamber/steam-video-games",
        70_489,
        files=("play.parquet",),
        folder="steam-200k",
        notes="no times; the ids are those of steam-200k",
    ),
)
