"""The rows of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.hostile import addresses, brought, commands, exports, forms, imports, rights, sockets
from tests.hostile.ground import Ground
from tests.hostile.tally import Tally

ROWS: Mapping[str, Callable[[Ground, Tally], None]] = {
    "commands": commands.walk_commands,
    "methods": addresses.walk_methods,
    "view link": rights.walk_view_link,
    "classroom": rights.walk_classroom,
    "crossing": rights.walk_crossing,
    "sockets": sockets.walk_sockets,
    "exports": exports.walk_exports,
    "traces": brought.walk_traces,
    "lessons": brought.walk_lessons,
    "expressions": brought.walk_expressions,
    "outside": brought.walk_outside,
    "imports": imports.walk_imports,
    "addresses": addresses.walk_addresses,
    "forms": forms.walk_forms,
}


def run(name: str, ground: Ground) -> Tally:
    """Try a row; an exception in the server's log is a fault, too."""
    tally = Tally(name)
    ROWS[name](ground, tally)
    for line in ground.complaints():
        tally.demand(False, f"in the server's log: {line}")
    return tally
