"""Dialects: what other tools compute under a metric's name, one tool a file.

``NDCG(dialect="rectools") @ 5`` is the metric as that tool defines it; ``dialects`` puts all of
them side by side. A tool is its module, with a tuple ``DIALECTS``, and a line in ``TOOLS``.
"""

from fullrank.metrics.dialects._base import Dialect
from fullrank.metrics.dialects._registry import TOOLS, find_dialect
from fullrank.metrics.dialects._table import DialectRow, dialects

__all__ = ["TOOLS", "Dialect", "DialectRow", "dialects", "find_dialect"]
