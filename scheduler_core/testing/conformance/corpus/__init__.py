"""The conformance corpus: what the real kube-scheduler decided, and whether this one decides the same.

A scenario runs through the real framework, cache, snapshot and algorithm; only the queue is bypassed, on purpose: the corpus says which pod
comes next. Its format is described beside the corpus, in README-cycle.md.
"""

from scheduler_core.testing.conformance.corpus.reading import CorpusError, Scenario, read_corpus
from scheduler_core.testing.conformance.corpus.run import Result, Verdict, judge, run_scenario

__all__ = ["CorpusError", "Result", "Scenario", "Verdict", "judge", "read_corpus", "run_scenario"]
