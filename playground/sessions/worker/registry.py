"""The table from requests to what answers them. Each handler puts itself there: `@answers(Journey)` above the function that answers it.

A handler is a generator that yields between its slices of time and returns the answer (time_sharing.py).
"""

import pkgutil
from collections.abc import Callable
from importlib import import_module, util
from typing import Any, NamedTuple, TypeVar

from playground.sessions.protocol.base import Request
from playground.sessions.worker.time_sharing import Steps

H = TypeVar("H", bound=Callable[..., Steps[Any]])
HANDLERS: "dict[type[Request[Any]], Handler]" = {}
OWN, FEATURES = "playground.sessions.worker", "playground.features"
RUN = (f"{OWN}.__main__", f"{OWN}.process")  # the program itself


class Handler(NamedTuple):
    """`of_worker`: asked of the worker itself; `slow`: takes turns with other slow work from the start; `unhurried`: nobody waits for it;
    `too_much`: the error for more memory than one job may take, empty if the handler needs no such budget.
    """

    work: Callable[..., Steps[Any]]
    of_worker: bool = False
    slow: bool = False
    unhurried: bool = False
    too_much: str = ""


def answers(request: type[Request[Any]], **options: Any) -> Callable[[H], H]:
    """Register a function `(engine, request)` that answers a request of an open session."""

    def register(work: H) -> H:
        if request in HANDLERS:
            raise ValueError(f"{request.__name__} has a second handler, {work.__module__}.{work.__name__}")
        HANDLERS[request] = Handler(work, **options)
        return work

    return register


def answers_as_worker(request: type[Request[Any]], **options: Any) -> Callable[[H], H]:
    """Register a function `(engines, session, request)` that answers a request of the worker itself."""
    return answers(request, of_worker=True, **options)


def load() -> None:
    """Import every module that may hold a handler: those of this package, and `worker.py` of each feature, in the order of their names.

    A worker does so once, when it starts. Features are found by their folders, since sessions import none of them.
    """
    for module in pkgutil.walk_packages(import_module(OWN).__path__, f"{OWN}."):
        if module.name not in RUN:
            import_module(module.name)
    for module in pkgutil.iter_modules(import_module(FEATURES).__path__, f"{FEATURES}."):
        if util.find_spec(f"{module.name}.worker"):
            import_module(f"{module.name}.worker")
