"""A benchmark for conditional independence tests: suites, a runner that resumes, one store, figures."""

from .metrics import CellSummary, ranking, summarise
from .page import write_report
from .record import Record
from .run import Step, Summary, run_suite
from .runner import Runner
from .store import Store
from .suite import Cell, Suite, list_suites, load_suite

__all__ = [
    "Cell",
    "CellSummary",
    "Record",
    "Runner",
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
