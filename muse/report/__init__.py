"""Report: one page, and its figures, of what a run made and how well it did."""

from muse.report.facts import Facts, ReportConfig, gather_facts
from muse.report.page import WrittenReport, check_page, require_report, write_report

__all__ = [
    "Facts",
    "ReportConfig",
    "WrittenReport",
    "check_page",
    "gather_facts",
    "require_report",
    "write_report",
]
