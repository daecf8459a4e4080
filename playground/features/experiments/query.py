"""The requests of the page of experiments."""

from msgspec import Struct

from playground.sessions.protocol.base import Data, Query, Request
from playground.sessions.protocol.comparing import TraceChecked
from scheduler_core.analysis.experiments import Experiment, Run

FILE = "session.yaml"  # the session's objects, among the files of an experiment


class AskProposal(Query[Data], frozen=True, kw_only=True):
    """The experiment that a step's world suggests, as YAML, and the number of its nodes and pods."""


class ReadExperiment(Request[Experiment], frozen=True, kw_only=True):
    """Read the YAML file of an experiment. What can be read of files is the session's cluster."""

    text: str


class MakeRun(Request[Data], frozen=True, kw_only=True):
    """Make one run. The process does nothing else meanwhile."""

    run: Run


class Parting(Struct, frozen=True):
    """The first attempt that two runs decide otherwise: of each its number, and what was decided; the logs make sessions.

    `at`: the position of its end; "" and the last position where a run has no such attempt.
    """

    number: int
    pods: tuple[str, str]
    nodes: tuple[str, str]
    outcomes: tuple[str, str]
    at: tuple[int, int]
    logs: tuple[TraceChecked, TraceChecked]


class FindParting(Request[Parting | None], frozen=True, kw_only=True):
    """Make two runs and compare their decisions; None where all are alike."""

    first: Run
    other: Run
