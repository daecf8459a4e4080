"""Capacity: the nodes that would help, and the nodes that can go."""
