"""The engine for Python programs: clusters, attempts, and tables of scores, with a display in Jupyter (docs/notebooks.md)."""

from scheduler_core.notebook.attempt import Answer, Attempt
from scheduler_core.notebook.cluster import Cluster, load
from scheduler_core.notebook.comparison import Comparison, compare
from scheduler_core.notebook.scores import ScoreTable
from scheduler_core.notebook.session import Session
from scheduler_core.testing.builders import make_node, make_pod

__all__ = ["Answer", "Attempt", "Cluster", "Comparison", "ScoreTable", "Session", "compare", "load", "make_node"]
__all__ += ["make_pod"]
