"""What a test set tells about systems beyond their scores, as one page that opens offline."""

from latimer.reports.contents import Report, SystemReport
from latimer.reports.page import make_page

__all__ = ["Report", "SystemReport", "make_page"]
