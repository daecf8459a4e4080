"""The page of sequence diagrams, as a visitor asks for it."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from msgspec import to_builtins

from playground.sessions.web.client import create_session
from scheduler_core.testing.builders import make_node, make_pod
from scheduler_core.world.commands import ApplyObjects, CreateObject
from tests.playground.workbench.conftest import page_text


def test_a_pod_is_drawn_with_links_to_its_steps_and_as_a_table(visitor) -> None:
    begun = visitor()
    commands = [ApplyObjects((make_node("n1").manifest(),)), CreateObject(make_pod("web").manifest())]
    session = async_to_sync(create_session)("s", commands=[to_builtins(command) for command in commands])
    begun.session, begun.url = session, f"/s/{session.edit_key}/"
    begun.ask(lambda client: client.walk(60))
    answer = begun.get("sequence", pod="web")
    markup, text = answer.content.decode(), page_text(answer)
    assert answer.status_code == 200
    assert markup.count('class="message') > 20
    assert f'href="{begun.url}?at=2&amp;pod=default/web"' in markup
    assert " style=" not in markup
    assert "POST binding: web → n1" in text
    assert "NodeAffinity, NodePorts" in text
    assert "NodePorts: Skip" in page_text(begun.get("sequence", pod="default/web", every=1))
    assert "up to step 2" in page_text(begun.get("sequence", pod="web", at=2))
    for page in ("journey/default/web", "cluster?part=replicas"):
        assert "/sequence?" in begun.browser.get(begun.url + page).content.decode()


def test_what_is_not_there_is_said_and_others_are_offered(visitor) -> None:
    begun = visitor()
    assert "No pod has been created" in page_text(begun.get("sequence"))
    missing = begun.get("sequence", pod="nobody")
    assert missing.status_code == 404
    assert "No pod default/nobody existed up to this step" in page_text(missing)
    always = page_text(begun.get("sequence", scheduler="kube-scheduler"))
    assert "already ran before the first step" in always
