"""A scheduler's calls to extenders: each is recorded, and its answer arrives at its virtual time, or from outside.

The answer of a simulated extender is known at once, and counts after its latency. An answer from outside is a command (AnswerExtender):
until then the world is paused, so that virtual time never has to go back.
"""

from collections.abc import Iterator

from scheduler_core.base.trace.kinds import ExtenderAsked
from scheduler_core.scheduler.core.actions import AdvanceBinding
from scheduler_core.scheduler.core.cycles.phases import Extension
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.extenders.behaviour import answer_of, behaviour_of
from scheduler_core.scheduler.extenders.exchange import Answer, Exchange, within
from scheduler_core.scheduler.extenders.extender import Verb


def send(scheduler: Scheduler, extension: Extension, span: int) -> int | None:
    """Send the open calls. Return the time (ns) until all answers have arrived, or None if one comes from outside."""
    world = scheduler.world
    for exchange in extension.awaited:
        request = exchange.request
        about = len(request.victims) if exchange.verb is Verb.PREEMPT else len(request.nodes)
        facts = ExtenderAsked(
            request.pod.key, exchange.extender.url_prefix, exchange.verb.value, exchange.url, about, request.node
        )
        scheduler.world.record(facts, scheduler.name, span)
        behaviour = behaviour_of(world.behaviours, exchange.extender.url_prefix)
        answer = answer_of(exchange, behaviour)
        if answer is not None:
            extension.answer(exchange.number, answer, world.now + answer.latency)
    return _delay(scheduler, extension)


def _delay(scheduler: Scheduler, extension: Extension) -> int | None:
    if extension.awaited:
        scheduler.world.outside = True
        return None
    answered = max(extension.exchanges[i].answered for i in extension.open)
    return max(answered - scheduler.world.now, 0)


def iterate_awaited_calls(scheduler: Scheduler) -> Iterator[tuple[int, Exchange]]:
    """Yield the calls whose answers come from outside, with the numbers of their attempts."""
    cycle = scheduler.cycle
    if cycle is not None and cycle.extension is not None:
        for exchange in cycle.extension.awaited:
            yield cycle.number, exchange
    for number, binding in scheduler.bindings.items():
        if binding.extension is not None:
            for exchange in binding.extension.awaited:
                yield number, exchange


def answer(scheduler: Scheduler, attempt: int, number: int, answer: Answer) -> bool:
    """Process an answer from outside. Return False if no call waits for it."""
    waiting = [
        exchange for a, exchange in iterate_awaited_calls(scheduler) if (a, exchange.number) == (attempt, number)
    ]
    if not waiting:
        return False
    (exchange,) = waiting
    answer = within(answer, exchange.extender.timeout)
    cycle, binding = scheduler.cycle, scheduler.bindings.get(attempt)
    extension = binding.extension if exchange.verb is Verb.BIND and binding is not None else None
    if extension is None:
        assert cycle is not None and cycle.extension is not None
        extension = cycle.extension
    extension.answer(number, answer, exchange.asked + answer.latency)
    delay = _delay(scheduler, extension)
    if delay is None:
        return True
    if exchange.verb is Verb.BIND:
        world = scheduler.world
        world.agenda.push(world.now + delay, AdvanceBinding(scheduler.name, attempt))
    else:
        scheduler.push_cycle(delay)
    return True
