"""The statistics page: how a session went up to a step, as charts over virtual time and by plugin, each with its table and CSV."""

from playground.presenters.statistics.page import present

__all__ = ["present"]
