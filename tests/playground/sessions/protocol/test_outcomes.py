"""What attempts came to, kept so that any engine can compare."""

from playground.sessions.protocol.opening import Outcome, difference, pack, unpack

ONE = Outcome(27, "default/a", "scheduled", "n1")
TWO = Outcome(54, "default/b", "unschedulable", "")


def test_outcomes_survive_their_packing() -> None:
    assert unpack(pack([ONE, TWO])) == [ONE, TWO]


def test_the_same_outcomes_do_not_differ_even_where_more_is_known() -> None:
    assert difference([ONE], [ONE, TWO]) is None


def test_the_first_other_outcome_is_told() -> None:
    other = TWO._replace(outcome="scheduled", node="n2", position=50)
    found = difference([ONE, TWO], [ONE, other])
    assert found is not None
    assert (found.attempt, found.position) == (2, 50)
    assert (found.was["outcome"], found.now["node"]) == ("unschedulable", "n2")


def test_an_attempt_that_is_missing_is_told() -> None:
    found = difference([ONE, TWO], [ONE])
    assert found is not None
    assert (found.position, found.now) == (54, None)
