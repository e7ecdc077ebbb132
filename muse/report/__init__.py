"""Report: one page, and its figures, of what a run made and how well it did."""

from muse.report.facts import Facts, ReportConfig, gather
from muse.report.page import Written, check_out, require, write_report

__all__ = ["Facts", "ReportConfig", "Written", "check_out", "gather", "require", "write_report"]
