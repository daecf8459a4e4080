"""Terms: each is in the table with its sources, and no label that names one stands on the studio without its tooltip."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.test import Client
from django.utils.text import slugify

from playground.presenters import PANELS, Look, present
from playground.presenters.panel import PanelChange
from playground.presenters.terms import read_terms
from playground.sessions.web.publisher import render_delta
from scheduler_core.scheduler.plugins import ROOMS
from scheduler_core.world.commands import DeleteObjects, Ref
from scheduler_core.world.readonly import CONTROLLER_NAMES, Point
from scheduler_core.world.simulation import Simulation
from tests.playground.preemption_world import objects
from tests.playground.presenters.worlds import node, pod, three_nodes, world

ROOT = Path(__file__).resolve().parents[2]
TERMS = read_terms()
POINTS = {point.value for point in Point}
PLUGINS = {room.name for room in ROOMS}
STAGES = {"cluster", "queue", "filter", "score", "preemption", "binding", "controller"}
# Where a name is no label: a picture's own words, a field's choices, and what is read out or written in a tooltip already.
BESIDE = {"svg", "option", "title", "textarea", "pre"}
BESIDE_CLASSES = {"vh", "point-tip"}
VOID = {"input", "br", "wbr", "hr", "img", "rect", "circle", "use", "line", "path"}


@pytest.mark.parametrize("names", [POINTS, PLUGINS, set(CONTROLLER_NAMES)], ids=["points", "plugins", "controllers"])
def test_every_name_of_kubes_is_a_term(names: set[str]) -> None:
    assert sorted(names - set(TERMS)) == []


def test_terms_are_told_in_a_sentence_or_two() -> None:
    told = {name: len(term.text.split()) for name, term in TERMS.items()}
    assert {name: n for name, n in told.items() if n > 45} == {}
    assert [name for name, term in TERMS.items() if not term.text.endswith(".")] == []
    assert len({slugify(name) for name in TERMS}) == len(TERMS)


def test_what_a_term_names_is_there() -> None:
    """headings.txt lists the headings of the reference documents: document, heading."""
    headings = set((ROOT / "tests" / "headings.txt").read_text().splitlines())
    cited = {f"{source.document} | {source.section}" for term in TERMS.values() for source in term.sources}
    assert sorted(cited - headings) == []
    assert sorted(term.docs for term in TERMS.values() if not (ROOT / term.docs).is_file()) == []


class Labels(HTMLParser):
    """The texts of a page that stand alone in their element, and whether each is a term's label."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.bare: set[str] = set()
        self.terms: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "wbr":
            return
        self._said()
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        self._said()
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def _said(self) -> None:
        name, self.text = "".join(self.text).strip(" \n,×"), []
        if name not in POINTS | PLUGINS | set(CONTROLLER_NAMES) or any(map(_beside, self.open)):
            return
        if any(name == attrs.get("data-term") or _is_point(attrs) for _tag, attrs in self.open):
            self.terms.add(name)
        else:
            place = " > ".join(f"{tag}.{attrs.get('class')}" for tag, attrs in self.open[-3:])
            self.bare.add(f"{name} in {place}")


def _is_point(attrs: dict[str, str | None]) -> bool:
    """The tooltip of a point has its words; a long name is in two parts."""
    return attrs.get("data-of") in POINTS and (attrs.get("aria-describedby") or "").endswith("-tip")


def _beside(element: tuple[str, dict[str, str | None]]) -> bool:
    tag, attrs = element
    return tag in BESIDE or bool(BESIDE_CLASSES & set((attrs.get("class") or "").split()))


def rendered(sim: Simulation, look: Look, names: Iterable[str] = PANELS) -> Iterator[str]:
    for name in names:
        yield render_delta([PanelChange(name, present(name, sim, look), {})])


def worlds() -> Iterator[tuple[Simulation, int]]:
    gated = pod("gated", schedulingGates=[{"name": "g"}])
    yield three_nodes(pod("web-1"), pod("web-2", cpu="2"), gated), 70
    yield world(*objects()), 40
    sim = world(node("one"), pod("sits", nodeName="one"), pod("huge", cpu="64"))
    while not sim.idle:
        sim.advance()
    sim.apply(DeleteObjects((Ref("Pod", "default", "sits"),)))
    yield sim, 12


def test_no_label_of_the_studio_is_without_its_tooltip() -> None:
    labels, seen, html = Labels(), set(), set[str]()
    for sim, most in worlds():
        for _ in range(most):
            seen.add(present("stage", sim, Look()).context["stage"])
            html.update(rendered(sim, Look()), rendered(sim, Look(form="table"), ["stage"]))
            sim.advance()
    for page in html:
        labels.feed(page)
    assert seen >= STAGES
    assert "\n".join(sorted(labels.bare)) == ""
    assert {"NodeResourcesFit", "PrioritySort", "DefaultBinder"} <= labels.terms | PLUGINS


@pytest.mark.parametrize(("language", "words"), [("en", "feasible"), ("zh-hans", "可行")])
def test_tooltips_are_told_in_the_language_of_the_page(client: Client, language: str, words: str) -> None:
    said = client.get("/terms.json", {"language": language}).json()
    assert said["feasible"]["title"] == words
    assert said["Filter"]["sources"]
    assert set(said) == set(TERMS)


def test_all_terms_stand_on_one_page(client: Client) -> None:
    page = client.get("/terms").content.decode()
    assert [name for name in TERMS if f'id="{slugify(name)}"' not in page] == []
