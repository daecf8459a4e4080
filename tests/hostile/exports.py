"""Names and texts that run, divide a header or begin a formula where they come out again."""

from __future__ import annotations

import csv
import io
import zipfile
from urllib.parse import urlencode

from scheduler_core.formats.export import table_names
from tests.hostile.ground import Ground
from tests.hostile.tally import Tally

NAME = "x\"\r\nSet-Cookie: stolen=1;/../../<script>alert(1)</script>=cmd()'é\u202e"
TEXT = '=HYPERLINK("http://evil.example")<img src=x onerror=alert(1)></script><script>alert(2)</script>'
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: "web-2", namespace: default, annotations: {{note: {text}}}}}
spec: {{schedulerName: {text}, containers: [{{name: main, image: {text}}}]}}
"""
FILES = (
    "export.jsonl",
    "replay.html",
    "chrome.json",
    "otlp.json",
    "cluster.yaml",
    "metrics.txt",
    "tables.zip",
    *(f"table.csv?table={name}" for name in table_names()[:2]),  # tables.zip has all of them
    "metrics/incoming.csv",
    "statistics/pending.csv",
)
PAGES = ("", "session", "exports", "objects", "records", "commands", "branches", "statistics", "build/")
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


def walk_exports(ground: Ground, tally: Tally) -> None:
    """Give a session and its objects such names; take everything along that can be taken, and look at its pages."""
    base = ground.rich.studio
    quoted = "'" + TEXT.replace("'", "''") + "'"
    tally.take("rename", ground.visitor.send, f"{base}rename", {"name": NAME})
    tally.take("an object", ground.visitor.send, f"{base}yaml", {"text": POD.format(text=quoted), "create": "1"})
    tally.take("a bookmark", ground.visitor.send, f"{base}bookmarks", {"at": "1", "name": TEXT})
    for name in FILES:
        _take_along(ground, tally, base, name)
    subject = urlencode({"kind": "Pod", "namespace": "default", "name": "web-2"})
    of_pod = (f"yaml?{subject}", f"menu?{subject}", f"act/label?{subject}", "journey/default/web-2")
    for name in (*PAGES, *of_pod):
        tally.take(f"page {name}", ground.visitor.ask, "GET", base + name)


def _take_along(ground: Ground, tally: Tally, base: str, name: str) -> None:
    """A file is saved, not shown; none of its cells is a formula."""
    answer = tally.take(name, ground.visitor.ask, "GET", base + name)
    headers = answer.headers
    disposition, kind = headers.get("Content-Disposition", ""), headers.get("Content-Type", "")
    tally.demand(answer.status == 200, f"{name}: {answer.status}")
    tally.demand(disposition.startswith("attachment") or "text/plain" in kind, f"{name}: {disposition}")
    tally.demand(headers.get("X-Content-Type-Options") == "nosniff", f"{name}: no nosniff")
    tally.demand("Content-Security-Policy" in headers, f"{name}: no policy")
    for text in _tables(name, answer.body):
        cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
        wrong = [cell for cell in cells if cell.startswith(FORMULAS) and not _is_number(cell)]
        tally.demand(not wrong, f"{name}: a formula in a cell: {wrong[:1]}")


def _tables(name: str, body: bytes) -> list[str]:
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return [archive.read(each).decode() for each in archive.namelist()]
    return [body.decode()] if ".csv" in name else []


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
