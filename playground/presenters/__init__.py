"""The data that each panel shows: pure functions from a state to plain data, tested without Django.

panels.py names the panels. It is imported on demand, because a command in a terminal needs a few sentences and no panel.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playground.presenters.look import Look
    from playground.presenters.panel import AnyPanel
    from playground.presenters.panels import PANELS, present
    from playground.presenters.stage.aim import aim_look, past_of

__all__ = ["PANELS", "AnyPanel", "Look", "aim_look", "past_of", "present"]

_PLACES = {"Look": "look", "AnyPanel": "panel", "aim_look": "stage.aim", "past_of": "stage.aim"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES.get(name, 'panels')}"), name)
