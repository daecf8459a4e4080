"""The tables of docs/releases.md, made from the tables of releases: `python -m tests.release_tables` writes them."""

from __future__ import annotations

import json
import re
from pathlib import Path

from scheduler_core.apiserver.registry.devices.dropping import TABLE
from scheduler_core.apiserver.schema import table as schema
from scheduler_core.base.releases import API_RULES, DIFFERENCES
from scheduler_core.scheduler.config.gates import gates_of
from tests.architecture_tables import table
from tests.record_tables import replace_tables


def differences() -> str:
    """Every behavior that a newer release brought."""
    rows = [(f"`{each.behavior}`", each.since, each.source, each.text, each.unshown or "yes") for each in DIFFERENCES]
    return table(("behavior", "since", "source", "what differs", "a cluster shows it"), rows)


def rules() -> str:
    """Every rule of the API server that a newer release brought."""
    return table(("rule", "since", "what the rule does"), [(f"`{name}`", *of) for name, of in API_RULES.items()])


def fields() -> str:
    """Every field that a newer release brought or took away."""
    newer = json.loads(Path(schema.__file__).with_name("newer.json").read_text(encoding="utf-8"))["fields"]
    rows = [
        (
            type_.rpartition("/")[2],
            f"`{name}`",
            *(release if new else f"gone in {release}" for release, new in history.items() if new or release != "1.34"),
        )
        for type_, names in sorted(newer.items())
        for name, history in names.items()
    ]
    return table(("type", "field", "since"), [(*row[:2], ", ".join(row[2:])) for row in rows])


def dropped() -> str:
    """Every field of a newer release that is dropped while its gate is off."""
    settings = {gate.setting: name for name, gate in gates_of("1.37.2").items() if gate.setting}
    rows = [
        (
            kind,
            since,
            settings.get(gates, f"its own, which is on from {gates}" if gates else "its own, which is off"),
            _shorten(paths),
        )
        for kind, listed in TABLE["fields"].items()
        for since, gates, paths in listed
        if since
    ]
    return table(("kind", "since", "gate", "fields"), rows)


def _shorten(paths: str) -> str:
    """Return the paths for people: without alternatives, which a table would take for cells."""
    return ", ".join(f"`{re.sub(r'([a-zA-Z]+)([|][a-zA-Z]+)+', _count, path)}`" for path in paths.split())


def _count(found: re.Match[str]) -> str:
    return "{" + found[0].replace("|", ",") + "}"


if __name__ == "__main__":
    replace_tables(
        Path(__file__).resolve().parents[1] / "docs/releases.md", differences(), rules(), fields(), dropped()
    )
