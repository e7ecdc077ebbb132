"""Report: a page about an aligned space, with figures: how it was learned and how good it is."""

from muse.report.facts import Facts, ReportConfig, gather
from muse.report.page import Written, check_out, require, write_report

__all__ = ["Facts", "ReportConfig", "Written", "check_out", "gather", "require", "write_report"]
