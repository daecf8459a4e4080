"""Capacity: nodes whose addition helps, and nodes that can be removed."""
