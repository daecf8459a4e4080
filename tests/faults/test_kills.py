"""Nothing that was acknowledged is lost or there twice, whatever is killed; and what counts that would notice."""

from __future__ import annotations

import os
import zlib
from typing import Any

import orjson
import pytest

from tests.faults.clients import Ledger
from tests.faults.kills import Kind, run
from tests.faults.proof import count_faults, is_whole
from tests.faults.viewers import Viewer, count_behind

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
USUAL: list[tuple[int, Kind, int]] = [(10, "postgresql", 2)]
MORE: list[tuple[int, Kind, int]] = [
    (150, "sqlite", 1),
    (150, "sqlite", 3),
    (250, "postgresql", 1),
    (450, "postgresql", 3),
]


@pytest.mark.timeout(7200 if THOROUGH else 300)
@pytest.mark.parametrize(("kills", "kind", "processes"), MORE if THOROUGH else USUAL)
def test_nothing_is_lost_by_kills(kills: int, kind: Kind, processes: int) -> None:
    tally = run(kills, kind, processes, seed=kills, watched=THOROUGH)
    assert tally.is_clean, tally
    assert tally.behind == 0, tally
    assert tally.kills == kills
    assert tally.acknowledged > 2 * kills


def test_who_is_not_shown_where_the_session_is_counts_as_behind() -> None:
    viewers = [Viewer("http://127.0.0.1:9", "key") for _ in range(3)]
    for viewer, shown in zip(viewers, (7, 8, 6), strict=True):
        viewer.shown = shown
    assert count_behind(viewers, 7, seconds=0.05) == 1
    assert count_behind(viewers, 6) == 0


class Kept:
    """A database whose only session has commands that make these pods, one entry each."""

    url = ""

    def __init__(self, *names: str) -> None:
        self.entries = [(number, "command", number - 1, number, packed(name)) for number, name in enumerate(names, 1)]

    def ask(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self.entries


def packed(name: str) -> bytes:
    made = {"kind": "ApplyObjects", "objects": [{"kind": "Pod", "metadata": {"name": name}}]}
    return zlib.compress(orjson.dumps({"command": made, "source": "import"}))


@pytest.mark.parametrize(
    ("kept", "seen", "faults"),
    [
        (("pod-1", "pod-2"), 2, (0, 0)),
        (("pod-1",), 1, (1, 0)),
        (("pod-1", "pod-2", "pod-1"), 3, (0, 1)),
        (("pod-1", "pod-2"), 3, (1, 0)),
        (("pod-1", "pod-2", "pod-3"), 3, (0, 0)),  # it was not acknowledged, and may be there
    ],
)
def test_what_is_lost_or_doubled_is_counted(kept: tuple[str, ...], seen: int, faults: tuple[int, int]) -> None:
    ledger = Ledger()
    for name in ("pod-1", "pod-2"):
        ledger.command("key", name)
    ledger.look("key", seen)
    assert count_faults(Kept(*kept), ledger) == faults


@pytest.mark.parametrize(
    ("change", "whole"), [((2, "command", 1, 2), True), ((3, "command", 1, 2), False), ((2, "command", 2, 3), False)]
)
def test_a_log_with_a_gap_is_not_whole(change: tuple[Any, ...], whole: bool) -> None:
    kept = Kept("pod-1", "pod-2").entries
    assert is_whole([kept[0], (*change, kept[1][4])]) is whole
