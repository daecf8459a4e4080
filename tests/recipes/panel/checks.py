"""The census: what it shows, and what is sent as the world changes."""

from __future__ import annotations

from playground.presenters import Look, present
from playground.presenters.panels import compare, digests
from playground.sessions.web.publisher import render_delta
from scheduler_core.world.commands import ApplyObjects
from tests.playground.presenters.worlds import shown, three_nodes
from tests.scheduler_core.worlds import node


def test_it_counts_nodes_and_pods() -> None:
    cards = shown("census", three_nodes())["cards"]
    assert [(card["title"], card["count"]) for card in cards.values()] == [("Nodes", 3), ("Pods", 1)]


def test_one_card_is_sent_where_one_changed() -> None:
    sim = three_nodes()
    before = digests([present("census", sim, Look())])
    sim.apply(ApplyObjects((node("more"),)))
    after = [present("census", sim, Look())]
    html = render_delta(list(compare(after, digests(after), before)))
    assert html == '<p id="census-node" hx-swap-oob="true">Nodes: <b>4</b></p>'
