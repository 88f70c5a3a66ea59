"""Findings as one self-contained HTML file that opens offline."""

from dojo_kit.analysis.families import worst_family
from dojo_kit.report.page import Report
from dojo_kit.report.scored_runs import write_report

__all__ = ["Report", "worst_family", "write_report"]
