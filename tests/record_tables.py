"""The tables of docs/trace.md, made from the classes of records: `python -m tests.record_tables` writes them into it."""

from __future__ import annotations

import re
from pathlib import Path

from scheduler_core.base.trace.kinds import CLASSES
from scheduler_core.base.trace.records import description, fields_of
from tests.architecture_tables import table


def kinds() -> str:
    """Every kind of record."""
    rows = [(f"`{facts.KIND}`", description(facts), "yes" if facts.DECISION else "") for facts in CLASSES]
    return table(("kind", "what happened", "exported"), rows)


def fields() -> str:
    """Every field of every kind."""
    rows = [
        (f"`{facts.KIND}`", f"`{field.name}`{'?' * field.optional}", field.type, field.description)
        for facts in CLASSES
        for field in fields_of(facts)
    ]
    return table(("kind", "field", "type", "what it holds"), rows)


def write_tables(document: Path) -> None:
    """Write both tables in place of those that the document has."""
    replace_tables(document, kinds(), fields())


def replace_tables(document: Path, *tables: str) -> None:
    """Write tables in place of those with the same heads that the document has."""
    text = document.read_text()
    for made in tables:
        head = re.escape(made.split("\n", 1)[0])
        text, count = re.subn(rf"(?m)^{head}\n(\|.*\n)*", lambda _, made=made: f"{made}\n", text)
        assert count == 1, f"{document} has {count} tables that begin with {head}"
    document.write_text(text)


if __name__ == "__main__":
    write_tables(Path(__file__).resolve().parents[1] / "docs/trace.md")
