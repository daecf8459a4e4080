"""Experiments: worlds under variants of the scheduler, each with several seeds. Every run is a row of measures, equal on all machines."""

from scheduler_core.analysis.experiments.figures import (
    COLORS,
    SUMMARIZED,
    Figure,
    compare_pairs,
    list_figures,
    summarize,
)
from scheduler_core.analysis.experiments.plan import Experiment, Run, list_runs, read_experiment
from scheduler_core.analysis.experiments.runs import Recording, find_parting, make_run, record_run

__all__ = [
    "COLORS",
    "SUMMARIZED",
    "Experiment",
    "Figure",
    "Recording",
    "Run",
    "compare_pairs",
    "find_parting",
    "list_figures",
    "list_runs",
]
__all__ += ["make_run", "read_experiment", "record_run", "summarize"]
