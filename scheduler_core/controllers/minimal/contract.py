"""What a controller is: it answers watch events with timers, and reconciles one object when a timer's turn comes.

It keeps nothing between the two: a timer looks at the store anew, so that an object which has changed or gone meanwhile is left alone.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol

from scheduler_core.api.store import Store
from scheduler_core.api.watch import WatchEvent
from scheduler_core.clock.agenda import URGENT, Action
from scheduler_core.config.settings import WorldSettings


class ControllerAction(Action, frozen=True):
    """A reconcile step. The docstring of a subclass says what it does, that of its `stands` while what."""

    priority: ClassVar[int] = URGENT

    def stands(self, store: Store) -> bool:
        """always"""
        return True

    def run(self, store: Store, now: int) -> None:
        """Carries it out; nothing happens where it no longer stands."""
        raise NotImplementedError


class Timer(NamedTuple):
    """Something to do at a virtual time (ns)."""

    at: int
    action: ControllerAction


class Controller(Protocol):
    """One controller. `name` is what its Kubernetes Events say reports them."""

    @property
    def name(self) -> str: ...

    @property
    def settings(self) -> tuple[str, ...]:
        """The world's settings that it reads."""
        ...

    @property
    def actions(self) -> tuple[type[ControllerAction], ...]: ...

    @property
    def event_reasons(self) -> tuple[str, ...]:
        """The reasons of the Kubernetes Events that it records."""
        ...

    def on_watch(self, store: Store, event: WatchEvent, now: int, settings: WorldSettings) -> list[Timer]:
        """Timers that a change asks for."""
        ...
