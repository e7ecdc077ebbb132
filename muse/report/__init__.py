"""Report: a page about an aligned space: did it work, how good is it, on what evidence, and what next."""

from muse.report.facts import Facts, ReportConfig, direction_of, gather_facts, supervision_json
from muse.report.measured import Gold
from muse.report.next_steps import base_of
from muse.report.page import WrittenReport, check_page, require_report, write_report

__all__ = [
    "Facts",
    "Gold",
    "ReportConfig",
    "WrittenReport",
    "base_of",
    "check_page",
    "direction_of",
    "gather_facts",
    "require_report",
    "supervision_json",
    "write_report",
]
