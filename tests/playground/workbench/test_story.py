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
