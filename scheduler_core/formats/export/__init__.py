"""What leaves a world: its objects, its trace as lines of JSON and the check of it by computing it again, spans, digests of attempts."""

from scheduler_core.formats.export.lines_schema import json_schema
from scheduler_core.formats.export.spans import SpanTree, chrome_events, chrome_schema, otlp, spans_of
from scheduler_core.formats.export.tables import (
    Tables,
    as_it_is,
    continuation_of,
    for_kubectl,
    harmless,
    heading,
    objects_of,
    table_csv,
    table_names,
    write_csv,
)
from scheduler_core.formats.export.traces import (
    BROKEN_OFF,
    EDITION,
    LAST_WITH_OLDER,
    Difference,
    ReadLog,
    TraceError,
    check_lines,
    digest,
    export_lines,
    read_log,
    replay_one,
    transitions,
    version_of,
    versions_of,
)

__all__ = ["BROKEN_OFF", "EDITION", "LAST_WITH_OLDER", "Difference", "ReadLog", "SpanTree", "Tables", "TraceError"]
__all__ += ["as_it_is", "check_lines", "chrome_events", "chrome_schema", "continuation_of", "digest", "export_lines"]
__all__ += ["for_kubectl", "harmless", "heading", "json_schema", "objects_of", "otlp", "read_log", "replay_one"]
__all__ += ["spans_of", "table_csv", "table_names", "transitions", "version_of", "versions_of", "write_csv"]
