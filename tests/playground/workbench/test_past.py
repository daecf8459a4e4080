"""A command for a step that is past is answered with a question that keeps what was sent."""

import pytest

from playground.models import Session
from tests.playground.workbench.conftest import page_text
from tests.playground.workbench.test_build import NODES

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: late, namespace: default}
spec: {containers: [{name: c, image: nginx}]}
"""


@pytest.fixture
def begun(visitor):
    """A session at step 2: nodes at step 0, then settings."""
    begun = visitor("empty")
    begun.post("build/nodes", **NODES)
    begun.post("undo")
    return begun


FORMS = [
    ("build/nodes", {**NODES, "name": "late-{i}"}),
    ("yaml", {"text": POD, "create": ""}),
    ("objects/delete", {"kind": "Node", "name": "node-1"}),
    ("configuration", {"text": "", "default": ""}),
    ("undo", {}),
    ("redo", {}),
    ("permit", {"pod": "default/p", "decision": "allow"}),
    ("fixes/apply", {"command": '{"kind": "Undo"}'}),
]


@pytest.mark.parametrize(("path", "fields"), FORMS, ids=[path for path, _ in FORMS])
def test_a_form_sent_from_the_past_is_asked_about(begun, path, fields):
    answer = begun.post(path, **fields, at=1)
    assert answer.status_code == 409
    assert "You are viewing step 1 of 2" in page_text(answer)
    assert (begun.head(), Session.objects.count()) == (2, 1)


def test_the_question_holds_every_field_that_was_sent(begun):
    answer = begun.post("yaml", text=POD, create="", at=1)
    sent = dict(answer.context["fields"])
    assert sent == {"text": POD, "create": "", "at": "1"}
    assert answer.content.decode().count('name="past"') == 2


def test_the_fork_gets_what_was_sent(begun):
    answer = begun.post("yaml", text=POD, create="", at=1, past="fork")
    fork = Session.objects.latest("pk")
    assert answer["Location"] == f"/s/{fork.edit_key}/"
    assert (fork.head, fork.origin_position, begun.objects("Pod")) == (2, 1, [])


def test_the_newest_step_gets_what_was_sent(begun):
    answer = begun.post("yaml", text=POD, create="", at=1, past="head")
    assert answer["Location"] == begun.url
    assert (begun.objects("Pod"), Session.objects.count()) == (["late"], 1)


def test_a_text_that_is_wrong_in_the_fork_leaves_no_fork(begun):
    answer = begun.post("yaml", text=POD.replace("late", "Late!"), create="", at=1, past="fork")
    assert answer.status_code == 422
    assert Session.objects.filter(deleted=None).count() == 1


def test_what_exists_only_later_may_be_created_in_the_fork(begun):
    begun.post("yaml", text=POD, create="")
    assert begun.post("yaml", text=POD, create="", at=2, past="fork").status_code == 302
    assert Session.objects.latest("pk").origin_position == 2


def test_a_made_up_answer_is_asked_again(begun):
    assert begun.post("undo", at=1, past="whatever").status_code == 409


def test_outside_of_the_drawer_the_studio_learns_that_it_is_a_question(begun):
    answer = begun.browser.post(begun.url + "undo", {"at": 1}, headers={"HX-Request": "true"})
    assert answer["X-Asks"] == "past"


def test_a_view_link_is_not_asked_but_refused(begun):
    assert begun.browser.post(begun.view_url + "undo", {"at": 1}).status_code == 403


@pytest.mark.parametrize("room", ["build/nodes", "import", "configuration"])
def test_the_studio_leads_from_a_past_step_to_rooms_that_know_it(begun, room):
    shown = begun.get("", at=1).content.decode()
    assert f'href="{begun.url}{room}?at=1"' in shown
    assert f'href="{begun.url}{room}"' in begun.get("").content.decode()


def test_the_studio_forks_from_the_past_step_that_is_shown(begun):
    assert 'action="fork"' in (shown := begun.get("", at=1).content.decode())
    assert '<input type="hidden" name="at" value="1" data-standing>' in shown
