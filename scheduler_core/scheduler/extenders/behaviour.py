"""The simulation of an extender: the user's definition of the server at its urlPrefix.

Without a definition, connections are refused. docs/extenders.md has the kinds.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from scheduler_core.scheduler.extenders.exchange import Answer, Exchange, refuse_connection, within
from scheduler_core.scheduler.extenders.results import answer_from_rules
from scheduler_core.scheduler.extenders.written import Latency, WrittenServer, answer_from_expressions

MAX_RULES = 200


class RecordedServer(msgspec.Struct, frozen=True, tag_field="type", tag="recorded", forbid_unknown_fields=True):
    """A server that answers by rules (see results.py)."""

    rules: Annotated[tuple[Mapping[str, Any], ...], msgspec.Meta(max_length=MAX_RULES)] = ()
    latency: Latency = 5_000_000


class Remote(msgspec.Struct, frozen=True, tag_field="type", tag="http", forbid_unknown_fields=True):
    """The real server: its answers come from outside, and are written to the log."""


class RefusedConnection(msgspec.Struct, frozen=True, tag_field="type", tag="nobody", forbid_unknown_fields=True):
    """The connection is refused."""


Behaviour = RecordedServer | WrittenServer | Remote | RefusedConnection
Behaviours = tuple[tuple[str, Behaviour], ...]
"""By urlPrefix, in its order."""

NOBODY = RefusedConnection()


def behaviour_of(behaviours: Behaviours, url_prefix: str) -> Behaviour:
    """Return the behavior of the server at an urlPrefix."""
    return dict(behaviours).get(url_prefix, NOBODY) if behaviours else NOBODY


def answer_of(exchange: Exchange, behaviour: Behaviour) -> Answer | None:
    """Return the answer for the scheduler's client, or None if it comes from outside."""
    if isinstance(behaviour, Remote):
        return None
    if isinstance(behaviour, RecordedServer):
        answer = answer_from_rules(exchange, behaviour.rules, behaviour.latency)
    elif isinstance(behaviour, WrittenServer):
        answer = answer_from_expressions(exchange, behaviour)
    else:
        answer = refuse_connection(exchange.url)
    return within(answer, exchange.extender.timeout)
