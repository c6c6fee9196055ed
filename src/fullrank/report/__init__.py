"""Tables, charts and sentences that show what a benchmark found; the only place that rounds."""

from fullrank.report.tables import FORMATS, leaderboard_table, long_table
from fullrank.report.text import summary_text

__all__ = ["FORMATS", "leaderboard_table", "long_table", "summary_text"]
