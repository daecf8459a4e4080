"""What leaves a world: its objects, its trace as lines of JSON with the check of it by computing it again, and digests of attempts."""

from __future__ import annotations

from scheduler_core.export.digests import digest
from scheduler_core.export.objects import as_it_is, continuation_of, for_kubectl, heading, objects_of
from scheduler_core.export.traces import BROKEN_OFF, TraceError, check_lines, export_lines, read_log

__all__ = [
    "BROKEN_OFF",
    "TraceError",
    "as_it_is",
    "check_lines",
    "continuation_of",
    "digest",
    "export_lines",
    "for_kubectl",
    "heading",
    "objects_of",
    "read_log",
]
