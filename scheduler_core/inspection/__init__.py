"""Looking closer at a world: attempts seen while they are run again, stranded pods, searches for devices, what a plugin sees on a node."""

from __future__ import annotations

from scheduler_core.framework.explanation import (
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
    Written,
)
from scheduler_core.framework.formula import Expression, Formula, Line, Of, Value
from scheduler_core.inspection.attempt_observer import AttemptObserver, name_of
from scheduler_core.inspection.cycle_state_observer import DRY_RUN, NOMINATED, CycleStateObserver, StateAccess
from scheduler_core.inspection.device_walk import DeviceSearch, device_search, device_step
from scheduler_core.inspection.node_figures import figures
from scheduler_core.inspection.observed_state import CLONED, MISSED, READ, WROTE
from scheduler_core.inspection.one_node import WhyNot, why_not
from scheduler_core.inspection.own_plugins import OnNode, Said, Trial, trial
from scheduler_core.inspection.score_workings import Working, working
from scheduler_core.inspection.stranding import Stranded, Way, stranded

__all__ = [
    "CLONED",
    "DRY_RUN",
    "MISSED",
    "NOMINATED",
    "READ",
    "WROTE",
    "Amount",
    "Aside",
    "AttemptObserver",
    "Bar",
    "Below",
    "Code",
    "CycleStateObserver",
    "DeviceSearch",
    "Expression",
    "Formula",
    "Key",
    "Line",
    "Of",
    "OnNode",
    "Paragraph",
    "Part",
    "Parts",
    "PodName",
    "Row",
    "Said",
    "Source",
    "StateAccess",
    "Stranded",
    "Table",
    "Trial",
    "Value",
    "Way",
    "WhyNot",
    "Words",
    "Working",
    "Written",
    "device_search",
    "device_step",
    "figures",
    "name_of",
    "stranded",
    "trial",
    "why_not",
    "working",
]
