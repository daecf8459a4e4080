"""Answers about a world: why and why not, fixes, what-if, replay of one attempt, and the status of components."""
