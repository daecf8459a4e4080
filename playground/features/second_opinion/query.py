"""The requests of the page about schedulers from outside."""

from __future__ import annotations

from msgspec import Struct

from playground.sessions.protocol.base import Data, Query


class Preparation(Struct, frozen=True):
    """The schedulers of a world that run, and whether its nodes have kubelets or a stand-in for them."""

    schedulers: list[str]
    kubelets: bool
    release: str


class Prepare(Query[Preparation], frozen=True, kw_only=True):
    """What has to be done to a world before a scheduler from outside works in it."""


class SecondOpinion(Query[Data], frozen=True, kw_only=True):
    """What schedulers from outside did up to a position, beside what ours does from where it was stopped."""

    seconds: float
