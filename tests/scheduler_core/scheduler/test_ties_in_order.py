"""The choice among nodes that tie since 1.37: the one that Go's heap of all nodes has on top."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.scheduler.core.algorithm.batching import Candidates, first_in_heap


@given(st.sets(st.integers(0, 300), min_size=1), st.integers(1, 40))
def test_the_top_of_a_heap_of_all_nodes_is_found_without_making_it(places: set[int], more: int) -> None:
    totals = np.zeros(max(places) + more, np.int64)
    totals[list(places)] = 7
    names = tuple(str(i) for i in range(len(totals)))
    assert (
        str(first_in_heap(totals == 7, np.array(sorted(places), np.intp))) == Candidates.of(names, (), totals).pop()[0]
    )
