"""What can be done to the objects of a world, as one table: for forms, buttons and menus."""

from playground.workbench.actions.catalogue import ACTIONS, action, applying, offers
from playground.workbench.actions.contract import Action, Field, Offer, Subject, Wrong
from playground.workbench.actions.workloads import PLUGIN, SCHEDULER

__all__ = ["ACTIONS", "PLUGIN", "SCHEDULER", "Action", "Field", "Offer", "Subject", "Wrong", "action", "applying"]
__all__ += ["offers"]
