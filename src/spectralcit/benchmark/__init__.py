"""A benchmark for conditional independence tests: suites, a runner that resumes, one store, figures."""

from .metrics import CellSummary, ranking, summarise
from .page import write_report
from .run import Step, Summary, run_suite
from .spec import Cell, Suite, list_suites, load_suite
from .store import Record, Store

__all__ = [
    "Cell",
    "CellSummary",
    "Record",
    "Step",
    "Store",
    "Suite",
    "Summary",
    "list_suites",
    "load_suite",
    "ranking",
    "run_suite",
    "summarise",
    "write_report",
]
