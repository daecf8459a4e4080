"""What `make sentences` lists: templates of the presenters, with what is really said."""

from __future__ import annotations

from playground.presenters.words import in_english, message
from tests.scheduler_core.worlds import node, pod, world
from tests.sentences import fill, find_messages, list_templates, listen


def test_sentences_of_a_pod_that_waits_are_filled_with_its_names() -> None:
    filled = fill(listen(world(node("a", cpu="2"), pod("web", cpu="4"))))
    [said] = filled["%(pod)s requests %(wanted)s, but %(node)s has only %(most)s."]
    assert in_english(said) == "web requests 4 cpu, but a has only 2."


def test_every_filling_belongs_to_a_template_that_is_listed() -> None:
    listed = {text for texts in list_templates().values() for text in texts}
    filled = fill(listen(world(node("a", cpu="2"), pod("web", cpu="1"), pod("web-1", cpu="4"))))
    assert {text for text in filled if text.endswith(".")} <= listed


def test_a_template_has_three_fillings_at_most_and_no_two_alike() -> None:
    said = [message("%(n)s pods", n=n) for n in (1, 1, 2, 3, 4)]
    assert [in_english(each) for each in fill(said)["%(n)s pods"]] == ["1 pod", "2 pods", "3 pods"]


def test_a_message_in_a_message_is_found() -> None:
    inner = message("all %(n)s nodes", n=3)
    assert list(find_messages({"a": [message("on %(nodes)s", nodes=inner)]}))[1] == inner
