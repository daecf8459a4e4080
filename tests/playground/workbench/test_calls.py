"""The page on which calls of the scheduler are asked to fail or to be slow."""

import pytest

from playground.sessions.protocol.looking import Configuration
from tests.playground.workbench.conftest import page_text

POD = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}"
ASKED = {"pod": "default/web", "call": "bind", "code": "409", "times": "1"}


@pytest.fixture
def begun(visitor):
    visitor = visitor("empty")
    visitor.post("yaml", text=POD, create="")
    return visitor


def faults(begun) -> list[dict]:
    return begun.ask(lambda client: client.ask(Configuration())).faults


def test_a_call_is_asked_to_fail_and_shown_where_the_pod_is(begun):
    answer = begun.browser.post(f"{begun.url}calls", {**ASKED, "latency": "3s"}, follow=True)
    assert [(f["call"], f["pod"], f["code"], f["latency"]) for f in faults(begun)] == [
        ("bind", "default/web", 409, 3_000_000_000)
    ]
    assert "the object has been modified" in page_text(answer)
    studio = page_text(begun.browser.get(f"{begun.url}?pod=default/web&tab=pod"))
    assert "bind 409" in studio


def test_a_bare_name_is_a_pod_of_the_namespace_default(begun):
    begun.post("calls", **{**ASKED, "pod": "web"})
    assert [f["pod"] for f in faults(begun)] == ["default/web"]


def test_it_is_taken_back(begun):
    begun.post("calls", **ASKED)
    begun.post("calls", back="1", pod="default/web", call="bind")
    assert faults(begun) == []


def test_it_is_undone(begun):
    begun.post("calls", **ASKED)
    begun.post("undo")
    assert faults(begun) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pod": ""}, "This field is required"),
        ({"pod": "default/nobody"}, "received 'default/nobody'; expected namespace/name of a pod that exists"),
        ({"code": "418"}, "not one of the available choices"),
        ({"code": "0"}, "Enter a duration"),
        ({"code": "0", "latency": "1s", "after_write": "on"}, "Choose a failing response"),
        ({"latency": "fast"}, "is not a duration"),
        ({"times": "0"}, "greater than or equal to 1"),
        ({"call": "watch"}, "not one of the available choices"),
        ({"back": "1", "call": "status"}, "no fault is injected into the status calls of default/web"),
        ({"back": "1", "call": "watch"}, "one of bind, claims, delete, status, volumes"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_changes(begun, changes, said):
    before = begun.head()
    answer = begun.post("calls", **{**ASKED, **changes})
    assert answer.status_code == 422
    assert said in page_text(answer)
    assert begun.head() == before


def test_a_view_link_sees_the_page_and_changes_nothing(begun):
    begun.post("calls", **ASKED)
    page = begun.browser.get(f"{begun.view_url}calls")
    assert "Remove" not in page_text(page)
    assert begun.browser.post(f"{begun.view_url}calls", ASKED).status_code == 403
