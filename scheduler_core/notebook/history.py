"""History: a world with the log of its commands, and a copy of every finished attempt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler_core.base.trace.records import Record
from scheduler_core.formats.export import ReadLog
from scheduler_core.notebook.attempt import Attempt, add_binding, attempt_of
from scheduler_core.world.commands import Command, command_from_json
from scheduler_core.world.readonly import BindingCycleView
from scheduler_core.world.simulation import Grain, Simulation


class History:
    """A world with its history. `log` has the commands' JSON by position, as in a trace; `attempts` has the finished ones by number."""

    def __init__(self, seed: int = 0) -> None:
        self.world = Simulation(seed)
        self.log: dict[int, Mapping[str, Any]] = {}
        self.attempts: dict[int, Attempt] = {}
        self._bindings: dict[int, BindingCycleView] = {}

    def fork(self) -> History:
        """Return an independent copy."""
        other = History.__new__(History)
        other.world = self.world.fork()
        other.log, other.attempts = dict(self.log), dict(self.attempts)
        other._bindings = {}
        other._follow()
        return other

    def apply(self, command: Command) -> list[Record]:
        """Apply a user's command. Raise Refused, without any change, if the command is invalid."""
        position = self.world.position
        records = self.world.apply(command)
        self.log[position] = msgspec.to_builtins(command)
        return self._note(records)

    def advance(self) -> list[Record]:
        """Make one transition and return its records."""
        return self._note(self.world.advance())

    def step(self, grain: Grain) -> list[Record]:
        """Make as many transitions as the grain requires. A fork runs ahead to count them."""
        ahead = self.world.fork()
        ahead.step(grain)
        records: list[Record] = []
        while self.world.position < ahead.position:
            records += self.advance()
        return records

    def go_to(self, trace: ReadLog, position: int) -> None:
        """Replay a trace up to a position."""
        while self.world.position < min(position, trace.head):
            before = self.world.position
            command = trace.log.get(before)
            if command is not None:
                self.apply(command_from_json(command))
            elif not self.advance() and self.world.position == before:
                return

    def _note(self, records: list[Record]) -> list[Record]:
        self._follow()
        for record in records:
            if record.kind == "attempt_ended":
                for scheduler in self.world.schedulers:
                    if scheduler.cycle is not None and scheduler.cycle.number == record.data["attempt"]:
                        self.attempts[scheduler.cycle.number] = attempt_of(scheduler.cycle)
            elif record.kind == "binding_ended":
                self._note_binding(record)
        return records

    def _follow(self) -> None:
        """Keep references to running binding cycles, because the world drops a cycle when it ends."""
        for scheduler in self.world.schedulers:
            self._bindings.update(scheduler.bindings)

    def _note_binding(self, record: Record) -> None:
        for number, binding in list(self._bindings.items()):
            over = not any(number in scheduler.bindings for scheduler in self.world.schedulers)
            if over and binding.pod.key == record.data["pod"] and number in self.attempts:
                outcome = str(record.data["outcome"])
                self.attempts[number] = add_binding(self.attempts[number], binding, outcome, record.t)
                del self._bindings[number]
