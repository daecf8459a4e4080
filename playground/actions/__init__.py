"""What can be done to the objects of a world, as one table: for forms, buttons and menus."""

from playground.actions.catalogue import ACTIONS, action, applying, offers
from playground.actions.contract import Action, Field, Offer, Subject, Wrong
from playground.actions.plugins import KIND as PLUGIN
from playground.actions.schedulers import KIND as SCHEDULER

__all__ = [
    "ACTIONS",
    "PLUGIN",
    "SCHEDULER",
    "Action",
    "Field",
    "Offer",
    "Subject",
    "Wrong",
    "action",
    "applying",
    "offers",
]
