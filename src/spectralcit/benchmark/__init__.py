"""A benchmark for conditional independence tests: suites, a runner that resumes, one store, figures."""

from .metrics import CellSummary, ranking, summarise
from .page import write_report
from .run import Step, Summary, run_suite
from .spec import Cell, Suite
from .store import Record, Store
from .suite_files import list_suites, load_suite

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
