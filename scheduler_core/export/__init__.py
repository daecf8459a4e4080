"""What leaves a world: its trace as lines of JSON, the check of such a trace by computing it again, and digests of attempts."""

from __future__ import annotations

from scheduler_core.export.digests import digest
from scheduler_core.export.traces import BROKEN_OFF, TraceError, check_lines, export_lines, read_log

__all__ = ["BROKEN_OFF", "TraceError", "check_lines", "digest", "export_lines", "read_log"]
