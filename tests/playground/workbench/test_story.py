"""A story's button applies its command once."""

import pytest

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
    assert "That is done already" in page_text(answer)
    assert story.head() == head


def test_what_was_undone_can_be_done_again(story):
    story.post("story/2")
    story.post("undo")
    head = story.head()
    story.post("story/2")
    assert story.head() > head
