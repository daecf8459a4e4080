"""The labels' tab: what it shows."""

from __future__ import annotations

from django.template.loader import get_template

from tests.playground.presenters.worlds import pod, shown, three_nodes


def test_it_lists_the_labels_of_the_chosen_pod() -> None:
    sim = three_nodes({**pod("web-1"), "metadata": {"name": "web-1", "labels": {"tier": "front", "app": "web"}}})
    panel = shown("inspector", sim, tab="labels", pod="default/web-1")
    assert panel["context"]["body"] == {"labels": [("app", "web"), ("tier", "front")]}
    html = get_template("inspector.html", using="panels").render({"panel": panel})
    assert '<ul class="labels"><li>app=web</li><li>tier=front</li></ul>' in html
