"""Report: a page about an aligned space, with figures: how it was learned and how good it is."""

from muse.report.facts import Facts, ReportConfig, gather_facts
from muse.report.page import WrittenReport, check_page, require_report, write_report
from muse.report.record import supervision_json

__all__ = [
    "Facts",
    "ReportConfig",
    "WrittenReport",
    "check_page",
    "gather_facts",
    "require_report",
    "supervision_json",
    "write_report",
]
