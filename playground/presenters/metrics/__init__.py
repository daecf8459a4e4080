"""The metrics page: a scheduler's metrics as charts with their tables, and every metric with its series."""

from playground.presenters.metrics.page import present

__all__ = ["present"]
