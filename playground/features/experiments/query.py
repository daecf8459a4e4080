"""The requests for the page of experiments."""

from msgspec import Struct

from playground.sessions.protocol.base import Data, Query, Request
from playground.sessions.protocol.comparing import TraceChecked
from scheduler_core.analysis.experiments import Experiment, Run

FILE = "session.yaml"  # the session's objects, among the files of an experiment


class AskProposal(Query[Data], frozen=True, kw_only=True):
    """The experiment that a step's world suggests, as YAML, and the number of its nodes and pods."""


class ReadExperiment(Request[Experiment], frozen=True, kw_only=True):
    """Read the YAML file of an experiment. Files in it refer to the session's cluster."""

    text: str


class MakeRun(Request[Data], frozen=True, kw_only=True):
    """Make one run. The process does no other work meanwhile."""

    run: Run


class Parting(Struct, frozen=True):
    """The first attempt with different decisions in two runs: its number and decision in each. The logs create sessions.

    `at`: the position of its end, or the last position, with "" as decision, if a run has no such attempt.
    """

    number: int
    pods: tuple[str, str]
    nodes: tuple[str, str]
    outcomes: tuple[str, str]
    at: tuple[int, int]
    logs: tuple[TraceChecked, TraceChecked]


class FindParting(Request[Parting | None], frozen=True, kw_only=True):
    """Make two runs and compare their decisions. The answer is None if all are equal."""

    first: Run
    other: Run
