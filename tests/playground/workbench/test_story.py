"""A story's button applies its command once."""

import pytest
from django.test import Client

from playground.models import Session
from tests.playground.workbench.conftest import page_text


@pytest.fixture
def story(visitor):
    """The gated pod's story, at the chapter that offers to take the gate away."""
    visitor = visitor("story:gate")
    visitor.post("step", grain="pod")
    return visitor


def test_a_button_pressed_twice_applies_its_command_once(story):
    story.post("story/2")
    head = story.head()
    answer = story.post("story/2")
    assert "This is already done" in page_text(answer)
    assert story.head() == head


def test_what_was_undone_can_be_done_again(story):
    story.post("story/2")
    story.post("undo")
    head = story.head()
    story.post("story/2")
    assert story.head() > head


def test_the_fork_of_a_task_goes_on_until_its_situation_is_there(visitor):
    """The task of “While the pod was in flight” begins with a pod that was tried and is unschedulable."""
    begun = visitor("story:in-flight")
    begun.post("run", until="card", lesson="in-flight", number="2")
    assert begun.post("lesson/task").status_code == 302
    fork = Session.objects.latest("pk")
    shown = Client().get(f"/s/{fork.edit_key}/journey/default/huge")
    assert "Insufficient cpu" in page_text(shown)


def test_the_fork_of_a_task_is_known_in_any_browser_and_so_is_a_fork_of_it(visitor):
    """The studio shows the task alone, with its tools, and hides the fixes until the hint is opened."""
    begun = visitor("story:gate")
    begun.post("run", until="card", lesson="gate", number="4")
    begun.post("lesson/task")
    fork = Session.objects.latest("pk")
    Client().post(f"/s/{fork.edit_key}/fork")
    again = Session.objects.latest("pk")
    Client().post(f"/s/{fork.edit_key}/fork", {"at": str(fork.origin_position - 1)})
    before = Session.objects.latest("pk")
    known = {each.pk: b" data-task" in Client().get(f"/s/{each.edit_key}/").content for each in (fork, again, before)}
    assert known == {fork.pk: True, again.pk: True, before.pk: False}
