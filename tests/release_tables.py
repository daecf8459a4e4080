"""The table of docs/releases.md, made from the table of differences: `python -m tests.release_tables` writes it."""

from __future__ import annotations

from pathlib import Path

from scheduler_core.base.releases import DIFFERENCES
from tests.architecture_tables import table
from tests.record_tables import replace_tables


def differences() -> str:
    """Every behavior that a newer release brought."""
    rows = [(f"`{each.behavior}`", each.since, each.source, each.text, each.unshown or "yes") for each in DIFFERENCES]
    return table(("behavior", "since", "source", "what differs", "a cluster shows it"), rows)


if __name__ == "__main__":
    replace_tables(Path(__file__).resolve().parents[1] / "docs/releases.md", differences())
