"""Sequence diagrams: the records of a pod, or of a scheduler, as arrows."""
