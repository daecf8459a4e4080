"""Binding by an extender: the first that binds and is interested in the pod decides; where it is ignorable and fails, the next one does.

kube: schedule_one.go (extendersBinding), extender.go (Bind) @ v1.34.1
"""

from scheduler_core.scheduler.core.algorithm import extender_calls
from scheduler_core.scheduler.core.cycles.phases import Extension
from scheduler_core.scheduler.extenders.exchange import Effect, Exchange
from scheduler_core.scheduler.extenders.extender import Extender, Request, Verb
from scheduler_core.scheduler.extenders.results import ExtenderError, read_bind
from scheduler_core.scheduler.framework.node_to_status import PluginStep
from scheduler_core.scheduler.framework.runtime.framework import NodeCycle


def ask(extension: Extension, cycle: NodeCycle, extender: Extender, node: str) -> None:
    """Asks an extender to bind the pod."""
    extender_calls.ask(extension, cycle, extender, Verb.BIND, Request(cycle.pod, node=node))


def says_bound(exchange: Exchange) -> bool:
    """Return True if the extender reports that the pod is bound."""
    try:
        read_bind(exchange)
    except ExtenderError:
        return False
    return True


def take(extension: Extension, cycle: NodeCycle, refusal: str = "") -> PluginStep:
    """Takes the answer in. Status Skip: it failed and is ignorable. `refusal`: the extender could not bind it after all."""
    exchange = extension.current()
    try:
        read_bind(exchange)
        if refusal:
            raise ExtenderError(refusal)
    except ExtenderError as problem:
        ignorable = exchange.extender.ignorable
        effect = Effect(bound=False, ignored=ignorable)
        return extender_calls.take(extension, cycle, effect, str(problem), skipped=ignorable)
    return extender_calls.take(extension, cycle, Effect(bound=True))
