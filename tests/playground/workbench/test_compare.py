"""The comparison's page, without JavaScript."""

import re

import pytest

from playground.models import Session
from tests.playground.workbench.conftest import page_text
from tests.playground.workbench.test_build import NODES, PODS


@pytest.fixture
def begun(visitor):
    """A session with a fork at step 1, in which a node more was made."""
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    begun.post("build/pods", **PODS)
    begun.post("build/nodes", **{**NODES, "count": 1, "first": 9, "at": 1, "past": "fork"})
    return begun


@pytest.fixture
def fork(begun):
    return Session.objects.latest("pk")


def test_two_branches_are_shown_side_by_side(begun, fork):
    shown = page_text(begun.get("compare", **{"with": fork.edit_key}))
    assert "share their history up to step 1" in shown
    assert "creates Node node-9" in shown
    assert "creates Pod web-1, web-2" in shown


@pytest.mark.parametrize("way", ["{key}", "http://testserver/s/{key}/", "  /s/{key}/?at=3 "])
def test_the_other_session_is_named_by_key_or_link(begun, fork, way):
    answer = begun.get("compare", **{"with": way.format(key=fork.view_key)})
    assert answer.status_code == 200
    assert fork.edit_key not in answer.content.decode()


def test_a_session_stopped_earlier_is_the_same_up_to_there(begun, fork):
    shown = page_text(begun.get("compare", **{"with": fork.edit_key, "a": 1, "b": 1}))
    assert "Both sides are the same up to step 1. The sessions are identical" in shown


def test_without_another_session_the_branches_are_offered(begun, fork):
    shown = begun.get("compare").content.decode()
    assert f"?with={fork.edit_key}" in shown


@pytest.mark.parametrize("other", ["nobody", "https://elsewhere.example/", "<script>", "x" * 500])
def test_a_link_that_opens_nothing_is_told(begun, other):
    answer = begun.get("compare", **{"with": other})
    assert answer.status_code == 404
    assert "This link matches no session" in page_text(answer)


def test_a_session_is_not_compared_with_itself(begun):
    answer = begun.get("compare", **{"with": begun.session.view_key})
    assert answer.status_code == 400
    assert "the same session" in page_text(answer)


def test_scores_of_a_pod_that_was_never_tried_are_told_to_be_missing(begun, fork):
    shown = page_text(begun.get("compare", **{"with": fork.edit_key, "pod": "default/web-1"}))
    assert "No attempt has scores to show" in shown


def test_both_are_compared_as_far_as_the_one_that_has_run_less(begun):
    begun.post("fork", at=2)
    other, first = Session.objects.latest("pk"), begun.session
    begun.ask(lambda client: client.walk(200))
    far = begun.head()
    begun.session = other
    begun.ask(lambda client: client.walk(45))
    answer = begun.browser.get(f"/s/{other.edit_key}/compare", {"with": first.edit_key})
    assert int(re.search(r"b=(\d+)", answer["Location"])[1]) < far
    shown = page_text(begun.browser.get(f"/s/{other.edit_key}/compare{answer['Location']}"))
    assert "Both are compared up to the same number of attempts" in shown
    assert re.search(r"attempts 1 1 ", shown)


def test_both_are_run_to_the_end_before_they_are_compared(begun, fork):
    answer = begun.post("lockstep/go-on", **{"with": fork.edit_key, "to": "compare"})
    assert "/compare?" in answer.url
    for session in (begun.session, fork):
        session.refresh_from_db()
        assert f"={session.head}" in answer.url.partition("?")[2]
    assert "Run both to the end" in begun.get("compare", **{"with": fork.edit_key}).content.decode()
