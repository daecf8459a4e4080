"""The corpus of worlds: a small cluster, things done to it, and what the API must then show, in Kubernetes' own terms.

Its format is described beside the corpus, in README-worlds.md.
"""

from scheduler_core.testing.conformance.worlds.run import NotSupported, run_world

__all__ = ["NotSupported", "run_world"]
