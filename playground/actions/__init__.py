"""What can be done to the objects of a world whose cluster is modelled, as one table: for forms, buttons and menus."""

from playground.actions.catalogue import ACTIONS, action, applying, offers
from playground.actions.contract import Action, Field, Offer, Subject, Wrong

__all__ = ["ACTIONS", "Action", "Field", "Offer", "Subject", "Wrong", "action", "applying", "offers"]
