"""Traces, in a process of their own."""

from typing import Literal

from msgspec import Struct

from playground.sessions.protocol.base import Data, Request
from playground.sessions.protocol.opening import LogRow

FileForm = Literal["chrome", "otlp", "csv", "zip"]


class TracedLesson(Struct, frozen=True, omit_defaults=True):
    """The lesson of a session as a trace names it; of a variant also what it is one of, and its number. Nothing where there is none."""

    story: str = ""
    origin: str = ""
    variant: str = ""


class OpenTrace(Request[None], frozen=True, kw_only=True):
    """Begin to write a trace of a log; `detail`: the first and the last attempt described node by node. The process has no other one."""

    seed: int
    rows: list[LogRow]
    head: int
    detail: tuple[int, int]
    created: str
    lesson: TracedLesson = TracedLesson()


class TraceLines(Struct, frozen=True):
    """Some lines, and whether they are the last."""

    data: bytes
    done: bool


class NextTraceLines(Request[TraceLines], frozen=True, kw_only=True):
    """Go on with the trace."""


class TraceDifference(Struct, frozen=True):
    """The first line that is not what this engine makes of the commands."""

    line: int
    position: int
    received: Data | None
    expected: Data | None


class TracedCommand(Struct, frozen=True, array_like=True):
    """A command of a trace as a log's payload."""

    at: int
    payload: bytes


class TraceMaker(Struct, frozen=True):
    """A trace's maker from its first line; "" if unknown."""

    engine: str
    kube: str
    created: str


class TraceChecked(Struct, frozen=True):
    """A trace computed again: the log behind it, how many attempts came out the same, up to which position, and what differs.

    `records` of the file were compared; `passed_over` are fields of its commands that are not known here.
    """

    seed: int
    head: int
    commands: list[TracedCommand]
    attempts: int
    position: int
    difference: TraceDifference | None
    maker: TraceMaker
    records: int
    passed_over: list[str]
    lesson: TracedLesson = TracedLesson()


class CheckTrace(Request[TraceChecked], frozen=True, kw_only=True):
    """Compute a trace again; its world may have so many objects."""

    data: bytes
    max_objects: int


class OpenFile(Request[None], frozen=True, kw_only=True):
    """Begin to make a file of a log: `form` is chrome, otlp, csv (one `table`) or zip (all tables). The process has no other one.

    `most`: the bytes that it may have.
    """

    seed: int
    rows: list[LogRow]
    head: int
    form: FileForm
    table: str = ""
    most: int


class FilePart(Struct, frozen=True):
    """The number of steps processed; then the file itself, part after part, and whether that was the last."""

    steps: int
    data: bytes
    done: bool


class NextFilePart(Request[FilePart], frozen=True, kw_only=True):
    """Go on with the file."""
