"""Texts with values in them: what one thing is called, and what several are."""

from __future__ import annotations

import pytest

from playground.presenters import Look, present
from playground.presenters.panels import PanelChange
from playground.presenters.words import in_english, message
from playground.sessions.web.publisher import render_delta
from scheduler_core.base.trace.journal import Place
from tests.playground.presenters.worlds import decided, node, pod, until, world


@pytest.mark.parametrize(
    ("text", "n", "said"),
    [
        ("%(n)s pods are Pending", 1, "1 pod is Pending"),
        ("%(n)s pods are Pending", 11, "11 pods are Pending"),
        ("%(n)s binding cycles run", "1", "1 binding cycle runs"),
        ("refuses %(n)s of %(of)s nodes", 1, "refuses 1 of 3 nodes"),
        ("%(n)s points have nothing to do", 1, "1 point has nothing to do"),
        ("%(n)s runs on a node", 1, "1 runs on a node"),
    ],
)
def test_one_thing_is_in_the_singular_with_its_verb(text: str, n: object, said: str) -> None:
    assert in_english(message(text, n=n, of=3)) == said


def test_kubes_words_keep_their_plural() -> None:
    assert in_english(message("kube: %(said)s", said="0/1 nodes are available", n=1)) == "kube: 0/1 nodes are available"


def test_a_panel_counts_one_node_in_the_singular() -> None:
    sim = until(world(node("only"), pod("web-1")), lambda w: w.journal.place("default/web-1") == Place.IN_FLIGHT)
    until(sim, lambda w: "Filter checks" in str(render_delta([PanelChange("stage", present("stage", w, Look()), {})])))
    assert "Filter checks 1 node <" in str(render_delta([PanelChange("stage", present("stage", sim, Look()), {})]))
    assert until(sim, decided())
