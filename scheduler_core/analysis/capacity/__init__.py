"""Capacity: nodes to add, and nodes that can be removed. Sums propose, and the engine decides."""

from scheduler_core.analysis.capacity.going import Going, find_going, price_nodes
from scheduler_core.analysis.capacity.helping import Help, find_help, name_owners

__all__ = ["Going", "Help", "find_going", "find_help", "name_owners", "price_nodes"]
