"""The table of docs/coverage.md of what has no effect, made of the list itself: `python -m tests.coverage_tables` prints it."""

from __future__ import annotations

from scheduler_core.coverage import ENTRIES
from scheduler_core.coverage.no_effect import ANY_CUSTOM
from tests.architecture_tables import table


def without_effect() -> str:
    """One row for each entry of the list."""
    rows = [
        (
            "any custom resource" if entry.kind == ANY_CUSTOM else f"`{entry.kind}`",
            f"`{entry.path}`" if entry.path else "all of it",
            entry.why,
        )
        for entry in ENTRIES
    ]
    return table(("kind", "field", "why"), rows)


if __name__ == "__main__":
    print(without_effect())
