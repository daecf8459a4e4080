"""studio/look.js and studio/links.js: what the viewer looks at, between the declaration, the URL, links and fields."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

import pytest

from playground.presenters.look import FIELDS, Look, Number, OneOf, OneOfNumbers
from tests.browser.modules.conftest import LOOK_FIELDS, Alone

LOOK, LINKS = "studio/look.js", "studio/links.js"
PATCH = "({ patchOf }, data) => patchOf(data)"


def another(name: str) -> Any:
    """A value of a field that is not its default."""
    kind = FIELDS[name].kind
    if isinstance(kind, OneOf):
        return kind.words[-1]
    if isinstance(kind, OneOfNumbers):
        return kind.numbers[-1]
    return 7 if isinstance(kind, Number) else "ns/a & b?"


EVERYTHING = Look(**{name: another(name) for name in FIELDS})


def as_data(look: Look) -> dict[str, Any]:
    return {name: getattr(look, name) for name in FIELDS}


@pytest.mark.parametrize("look", [Look(), EVERYTHING], ids=["default", "everything"])
def test_the_page_and_the_server_read_and_write_the_same_urls(alone: Alone, look: Look) -> None:
    alone.show(LOOK_FIELDS)
    query = look.href() if look.to_query() else ""
    assert alone.call(LOOK, "({ readLook }, query) => readLook(query)", query) == as_data(look)
    assert alone.call(LOOK, "({ writeLook }, look) => writeLook(look)", as_data(look)) == query


@pytest.mark.parametrize(
    "query",
    ["?tab=why", "?node=n1&tab=node", "?tab=why&stage=score", "?tab=scores&pod=a/b", "?node=n1", "?node=n1&pod=a/b"],
)
def test_the_page_and_the_server_read_links_from_before_alike(alone: Alone, query: str) -> None:
    alone.show(LOOK_FIELDS)
    look = Look.from_query(dict(parse_qsl(query[1:])))
    assert alone.call(LOOK, "({ readLook }, query) => readLook(query)", query) == as_data(look)


def test_what_makes_no_sense_in_a_url_is_left_at_its_default(alone: Alone) -> None:
    alone.show(LOOK_FIELDS)
    query = "?page=-3&at=x&dry=1e3&nobody=1&constructor=1"
    assert alone.call(LOOK, "({ readLook }, query) => readLook(query)", query) == as_data(Look())


@pytest.mark.parametrize(
    ("data", "patch"),
    [
        ({"tab": "fix"}, {"tab": "fix", "field": ""}),
        ({"pod": "a/b"}, {"pod": "a/b", "dry": 0, "about": "pod", "stage": "aim"}),
        ({"pod": ""}, {"pod": "", "dry": 0}),
        ({"pod": "a/b", "dry": "3"}, {"pod": "a/b", "dry": 3, "about": "pod", "stage": "aim"}),
        ({"pod": "a/b", "stage": "filter"}, {"pod": "a/b", "dry": 0, "about": "pod", "stage": "filter", "form": ""}),
        ({"node": "n1"}, {"node": "n1", "about": "node", "stage": "aim"}),
        ({"node": "n1", "about": "pod"}, {"node": "n1", "about": "pod", "stage": "aim"}),
        ({"claim": "a/c"}, {"claim": "a/c", "about": "claim", "stage": "aim"}),
        ({"q": "cpu"}, {"q": "cpu", "page": 0}),
        ({"page": "2"}, {"page": 2}),
        ({"span": "0", "start": "", "axis": "time"}, {"span": 0, "start": None, "axis": "time"}),
        ({"goto": "5", "at": "5", "drawer": ""}, None),
    ],
)
def test_a_link_changes_what_it_names_and_what_depends_on_it(
    alone: Alone, data: dict[str, str], patch: dict[str, Any] | None
) -> None:
    alone.show(LOOK_FIELDS)
    assert alone.call(LOOK, PATCH, data) == patch


def test_a_chosen_node_leaves_a_stage_that_shows_nodes_as_it_is(alone: Alone) -> None:
    """One that was aimed at a pod stays what it is; one that follows still follows; another gives way."""
    chosen = "({ patchOf, staying }, aim) => staying(patchOf({ node: 'n1' }), { stage: aim })"
    alone.show(LOOK_FIELDS + '<div id="panel-stage" data-stage="score"></div>')
    assert alone.call(LOOK, chosen, "aim") == {"node": "n1", "about": "node", "stage": "score"}
    assert alone.call(LOOK, chosen, "") == {"node": "n1", "about": "node"}
    alone.show(LOOK_FIELDS + '<div id="panel-stage" data-stage="queue"></div>')
    assert alone.call(LOOK, chosen, "") == {"node": "n1", "about": "node", "stage": "aim"}


def test_a_link_to_a_field_leaves_a_stage_that_follows_or_is_about_the_pod(alone: Alone) -> None:
    alone.show(LOOK_FIELDS + '<div id="panel-stage" data-stage="filter" data-about="a/b"></div>')
    chosen = "({ patchOf, staying }, [pod, stage]) => 'stage' in staying(patchOf({ pod, field: 'spec' }), { stage })"
    looks = [("a/b", "filter"), ("a/b", "aim"), ("a/victim", ""), ("a/victim", "aim")]
    assert [alone.call(LOOK, chosen, list(look)) for look in looks] == [False, False, False, True]


LINKED = (
    LOOK_FIELDS
    + """
<a id="pod" href="#pod" data-pod="a/b">pod</a> <a id="both" href="#both" data-goto="5" data-tab="fix">both</a>
<a id="other" href="#other" data-drawer>other</a> <button id="step" data-act="plugin"><b>step</b></button>
<input id="q" data-look="q"> <input id="no">
<select id="group" data-look="group"><option>a<option>rack</select>"""
)
LISTEN = """({ listenLinks }, open) => {
  const change = (changes) => hear("change", changes) && open;
  const goto = (at) => hear("goto", at) && open;
  listenLinks({ change, goto, actions: { plugin: () => hear("plugin") && open } });
}"""


def test_links_are_followed_without_leaving_the_page(alone: Alone) -> None:
    alone.show(LINKED)
    alone.call(LINKS, LISTEN, True)
    alone.page.click("#pod")
    alone.page.click("#both")
    alone.page.click("#step b")
    assert alone.heard == [
        ["change", {"pod": "a/b", "dry": 0, "about": "pod", "stage": "aim"}],
        ["change", {"tab": "fix", "field": ""}],
        ["goto", 5],
        "plugin",
    ]
    assert alone.do("location.hash") == ""


def test_what_cannot_be_sent_and_what_opens_elsewhere_is_left_to_the_browser(alone: Alone) -> None:
    alone.show(LINKED)
    alone.call(LINKS, LISTEN, False)
    alone.page.click("#both")
    assert (alone.heard, alone.do("location.hash")) == ([["change", {"tab": "fix", "field": ""}]], "#both")
    alone.page.click("#other")
    assert (alone.heard, alone.do("location.hash")) == ([], "#other")
    alone.do("document.addEventListener('click', (event) => event.preventDefault(), { capture: false })")
    alone.page.click("#pod", modifiers=["Control"])
    assert alone.heard == []


def test_fields_change_the_look_a_moment_after_the_last_letter(alone: Alone) -> None:
    alone.show(LINKED)
    alone.call(LINKS, LISTEN, True)
    alone.page.locator("#q").press_sequentially(" cpu ")
    alone.page.fill("#no", "nothing")
    alone.do("tick(100)")
    assert alone.heard == []
    alone.do("tick(200)")
    assert alone.heard == [["change", {"q": "cpu", "page": 0}]]
    alone.page.select_option("#group", "rack")
    assert alone.heard == [["change", {"group": "rack", "page": 0}]]
