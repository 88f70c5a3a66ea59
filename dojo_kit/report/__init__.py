"""Findings as one self-contained HTML file that opens offline."""

from dojo_kit.report.page import Report

__all__ = ["Report"]
