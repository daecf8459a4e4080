"""Inspection of a world: attempts observed in a replay, stranded pods, searches for devices, each plugin's view of a node."""

from scheduler_core.analysis.inspection.attempt_observer import (
    CLONED,
    DRY_RUN,
    MISSED,
    NOMINATED,
    READ,
    WROTE,
    AttemptObserver,
    CycleStateObserver,
    StateAccess,
    name_of,
)
from scheduler_core.analysis.inspection.one_node import WhyNot, why_not
from scheduler_core.analysis.inspection.own_plugins import trial
from scheduler_core.analysis.inspection.score_workings import DeviceSearch, device_search, device_step, figures, working
from scheduler_core.analysis.inspection.stranding import Stranding, find_stranding
from scheduler_core.scheduler.core.algorithm.search import feasible_nodes_to_find
from scheduler_core.scheduler.framework.explanation import (
    Amount,
    Aside,
    Bar,
    Below,
    Code,
    Key,
    Paragraph,
    Part,
    Parts,
    PodName,
    Row,
    Source,
    Table,
    Words,
    WrittenValue,
)
from scheduler_core.scheduler.framework.formula import Expression, Formula, Line, Of, Value

__all__ = ["CLONED", "DRY_RUN", "MISSED", "NOMINATED", "READ", "WROTE", "Amount", "Aside", "AttemptObserver", "Bar"]
__all__ += ["Below", "Code", "CycleStateObserver", "DeviceSearch", "Expression", "Formula", "Key", "Line", "Of"]
__all__ += ["Paragraph", "Part", "Parts", "PodName", "Row", "Source", "StateAccess", "Stranding", "Table", "Value"]
__all__ += ["WhyNot", "Words", "WrittenValue", "device_search", "device_step", "feasible_nodes_to_find", "figures"]
__all__ += ["find_stranding", "name_of", "trial", "why_not", "working"]
