"""A deterministic model of kube-scheduler v1.34.1 and of the cluster around it.

What people need who write Python is here (docs/notebooks.md), and read when it is asked for: the rooms below know nothing of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scheduler_core.notebook import (
        Answer,
        Attempt,
        Cluster,
        Comparison,
        ScoreTable,
        Session,
        compare,
        load,
        make_node,
        make_pod,
    )

__all__ = ["ENGINE_VERSION", "KUBE_VERSION", "Answer", "Attempt", "Cluster", "Comparison", "ScoreTable", "Session"]
__all__ += ["compare", "load", "make_node", "make_pod"]

KUBE_VERSION = "v1.34.1"
ENGINE_VERSION = "2"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("scheduler_core.notebook"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
