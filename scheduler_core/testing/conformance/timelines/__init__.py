"""Timelines: what the real kube-scheduler's queue did over time, and whether this one does the same.

A timeline runs in a Simulation whose API calls take the time that the corpus' calls took, and whose scheduling cycles begin when the
timeline says so. Its format is described beside the corpus, in README-queue.md.
"""

from scheduler_core.testing.conformance.timelines.entities import is_of_entities, run_entities
from scheduler_core.testing.conformance.timelines.run import run_timeline, unknown_operation

__all__ = ["is_of_entities", "run_entities", "run_timeline", "unknown_operation"]
