"""Tables, charts and sentences that show what a benchmark found; the only place that rounds."""

from fullrank.report.analysis import analysis_text, write_analysis
from fullrank.report.efficiency import efficiency_figure, write_efficiency
from fullrank.report.files import print_summary, write_table
from fullrank.report.html import render_report, write_report
from fullrank.report.psi import psi_text, write_psi
from fullrank.report.tables import FORMATS, leaderboard_table, long_table
from fullrank.report.text import summary_text

__all__ = [
    "FORMATS",
    "analysis_text",
    "efficiency_figure",
    "leaderboard_table",
    "long_table",
    "print_summary",
    "psi_text",
    "render_report",
    "summary_text",
    "write_analysis",
    "write_efficiency",
    "write_psi",
    "write_report",
    "write_table",
]
