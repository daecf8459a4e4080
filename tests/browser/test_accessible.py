"""Axe finds nothing wrong with pages that no other test looks at, nor with any stage in any form; the worlds are those of the pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from scripts.pictures import states, worlds
from scripts.pictures.session import Session
from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected
from tests.scheduler_core.worlds import node, pod

Accessible = Callable[[Page], None]
Begin = Callable[..., Session]
# Those that no other test looks at.
PAGES = ("/no-such-page", "/s/no-such-session/")
ROOMS = (
    "build/claims", "build/devices", "calls", "compare", "components", "diff", "gangs", "lockstep", "records", "statistics", "timeline",
)  # fmt: skip
# Looked at on a phone, for nothing may be cut off there.
ALIKE = ("/releases", "/figures/", "/conformance", "/lessons/documents/", "/terms")
ON_A_PHONE = ("capacity", "capacity?part=go", "second-opinion", "upgrade", "experiments", "session")


@pytest.fixture
def begin(new_context: Callable[..., BrowserContext], server: PlaygroundServer) -> Begin:
    making = new_context()
    return lambda start="empty", name="": Session(making, server.url, start, name)


@pytest.fixture
def quiet(new_context: Callable[..., BrowserContext]) -> Page:
    """A tab in which nothing moves, so that no colour is looked at half-way."""
    return new_context(viewport={"width": 1280, "height": 720}, reduced_motion="reduce").new_page()


@pytest.mark.parametrize("world", [states.shop, states.preemption, states.binding, states.controller])
def test_every_stage_in_every_form(
    quiet: Page, begin: Begin, accessible: Accessible, world: Callable[[Begin], Iterator[states.State]]
) -> None:
    for state in world(begin):
        quiet.goto(state.url)
        connected(quiet)
        state.act(quiet)
        accessible(quiet)
        if state.name in ("palette", "presenter", "ladder"):
            continue
        forms = quiet.locator("#panel-stage .forms a").evaluate_all("links => links.map((a) => a.dataset.form)")
        for form in forms[1:]:
            quiet.locator(f"#panel-stage .forms [data-form={form}]").click()
            expect(quiet.locator("#stage")).to_have_attribute("data-form", form)
            accessible(quiet)


def test_every_page(quiet: Page, begin: Begin, accessible: Accessible, complaints: Complaints) -> None:
    complaints.forgive("404")
    session = begin(name="Shop cluster")
    session.apply(*worlds.shop(), worlds.api("api-4"))
    session.run()
    quiet.goto(session.url)
    embedded = re.findall(r"/embed/[\w-]+/", quiet.content())[0]
    for page in [session.server + path for path in (*PAGES, embedded)] + [session.at(room) for room in ROOMS]:
        quiet.goto(page)
        accessible(quiet)
    quiet.set_viewport_size({"width": 390, "height": 844})
    for page in [session.server + path for path in ALIKE] + [session.at(room) for room in (*ROOMS, *ON_A_PHONE)]:
        quiet.goto(page, wait_until="domcontentloaded")
        wide = quiet.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, f"{page} is {wide} pixels wide on a phone"


def test_two_sessions_side_by_side_on_a_screen_and_on_a_phone(
    quiet: Page, begin: Begin, accessible: Accessible
) -> None:
    (state,) = states.lockstep(begin)
    for width in (1280, 390):
        quiet.set_viewport_size({"width": width, "height": 844})
        quiet.goto(state.url)
        for frame in quiet.locator("iframe").all():
            expect(frame.content_frame.locator("body")).to_have_attribute("data-connected", "1")
        accessible(quiet)
        assert quiet.evaluate("document.documentElement.scrollWidth") <= width
    before = quiet.url
    quiet.locator(".lockstep-bar").get_by_text("Step", exact=True).click()
    expect(quiet).not_to_have_url(before)
    frame = quiet.locator("iframe").first.content_frame
    expect(frame.locator("#panel-narrator, .embed-foot .sentence").first).to_contain_text("api-4")


def test_why_a_pod_is_pending(quiet: Page, begin: Begin, accessible: Accessible) -> None:
    """Nodes that nearly have room, a label that no node has, a claim that is not there, a host port that is taken."""
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "none"}}
    port = [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    holders = (pod(f"holder-{name}", nodeName=name, containers=port) for name in "ab")
    waiting = (
        pod("large", cpu="500"),
        pod("elsewhere", nodeSelector={"disk": "none"}),
        pod("stateful", volumes=[volume]),
        pod("port", containers=port),
    )
    session = begin()
    session.apply(node("a"), node("b", cpu="8"), *holders, *waiting)
    session.run()
    for each in waiting:
        quiet.goto(session.at(pod=f"default/{each['metadata']['name']}", tab="summary"))
        connected(quiet)
        expect(quiet.locator("#panel-inspector .why")).to_be_visible()
        accessible(quiet)


def test_a_screen_reader_reads_the_studio_in_its_order(quiet: Page, begin: Begin) -> None:
    """The bar and the points, what is decided, who waits, what is said of it, when."""
    parts = ["bar", "points", "stage", "rail", "narrator", "timeline"]
    quiet.goto(begin("cluster:small").url)
    found = quiet.evaluate(
        "parts => [...document.querySelectorAll(parts.map((id) => `#${id}`).join())].map((part) => part.id)", parts
    )
    assert found == parts
    skips = quiet.locator(".skips a").evaluate_all("links => links.map((a) => a.hash.slice(1))")
    assert skips == [part for part in parts if part in skips]


def test_more_contrast_has_no_quiet_words_and_no_faint_lines(quiet: Page, begin: Begin) -> None:
    quiet.emulate_media(contrast="more")
    quiet.goto(begin("cluster:small").url)
    values = "name => getComputedStyle(document.body).getPropertyValue(name)"
    ink = quiet.evaluate(values, "--ink")
    assert [quiet.evaluate(values, name) for name in ("--mute", "--idle", "--edge", "--line")] == [ink] * 4


def test_forced_colours_outline_what_a_fill_marks_elsewhere(quiet: Page, begin: Begin) -> None:
    session = begin("cluster:small")
    session.until(point="Filter", plugin="NodeResourcesFit")
    quiet.emulate_media(forced_colors="active")
    quiet.goto(session.at())
    connected(quiet)
    now = quiet.locator("#points .point.now > .stop")
    expect(now).to_be_visible()
    expect(now).to_have_css("outline-style", "solid")
