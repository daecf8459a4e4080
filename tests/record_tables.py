"""The tables of docs/trace.md, made from the classes of records: `python -m tests.record_tables` prints them."""

from __future__ import annotations

from scheduler_core.base.trace.kinds import CLASSES
from scheduler_core.base.trace.schema import description, fields_of
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


if __name__ == "__main__":
    print(f"{kinds()}\n\n{fields()}")
