"""Two logs side by side: up to where they are one, and the commands that only one of them has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playground.presenters.comparison.alignment import align_sequences
from playground.presenters.words import Message
from playground.sessions.database.listing import LoggedCommand

MOST_COMMANDS = 2000


@dataclass(frozen=True)
class OfOneSide:
    """A command that only one of the two has (0 or 1): where it was applied, what it says, the form it came by."""

    side: int
    at: int
    sentence: Message
    source: str


@dataclass(frozen=True)
class Differing:
    """The commands after the parting that only one of the two has, in order, and how many both have. `cut`: there were too many."""

    rows: list[OfOneSide]
    same: int
    cut: bool


def parting(
    beginning: int,
    other: int,
    ours: Sequence[LoggedCommand],
    theirs: Sequence[LoggedCommand],
    heads: tuple[int, int],
) -> int:
    """The position up to which two histories are one: the engine does the same wherever the commands were the same.

    A world begins with its seed.
    """
    if beginning != other:
        return 0
    for mine, yours in zip(ours, theirs, strict=False):
        if (mine.at, mine.print) != (yours.at, yours.print):
            return min(mine.at, yours.at, *heads)
    shorter = min(len(ours), len(theirs))
    more = [commands[shorter].at for commands in (ours, theirs) if len(commands) > shorter]
    return min(*more, *heads)


def differing(ours: Sequence[LoggedCommand], theirs: Sequence[LoggedCommand]) -> Differing:
    """The commands after the parting, aligned."""
    mine, other = list(ours[:MOST_COMMANDS]), list(theirs[:MOST_COMMANDS])
    both = align_sequences([command.print for command in mine], [command.print for command in other])
    rows: list[OfOneSide] = []
    i = j = 0
    for next_i, next_j in [*both, (len(mine), len(other))]:
        for side, commands in ((0, mine[i:next_i]), (1, other[j:next_j])):
            rows += [OfOneSide(side, command.at, command.sentence, command.source) for command in commands]
        i, j = next_i + 1, next_j + 1
    cut = len(ours) > MOST_COMMANDS or len(theirs) > MOST_COMMANDS
    return Differing(rows, len(both), cut)
