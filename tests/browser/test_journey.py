"""A pod's journey in a real browser: woken by a hint, an event in flight, a binding that fails and is rolled back; lanes and internals."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected, lanes, position, start, step_is

Accessible = Callable[[Page], None]
NewContext = Callable[..., BrowserContext]

NODE = """apiVersion: v1
kind: Node
metadata: {{name: {name}}}
status: {{allocatable: {{cpu: '{cpu}', memory: 8Gi, pods: '110'}}}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: default}}
spec:
  containers:
    - {{name: c, image: app:v1, resources: {{requests: {{cpu: '{cpu}'}}}}}}
"""


def apply(page: Page, *texts: str) -> None:
    """Create objects by the YAML page's form, as somebody who stays on the page would."""
    session = page.url.split("?")[0]
    token = page.locator("[name=csrfmiddlewaretoken]").first.get_attribute("value")
    before = int(page.locator("#panel-transport").get_attribute("data-position") or 0)
    answer = page.request.post(
        session + "yaml",
        form={"csrfmiddlewaretoken": token or "", "text": "---\n".join(texts)},
        headers={"Referer": session},
    )
    assert answer.ok, answer.text()
    step_is(page, before + 1)


def fail_next_binding(page: Page, pod: str) -> None:
    """The next binding of a pod fails with 409, by the studio's own form."""
    session = page.url.split("?")[0]
    token = page.locator("[name=csrfmiddlewaretoken]").first.get_attribute("value")
    before = position(page)
    form: dict[str, Any] = {"csrfmiddlewaretoken": token or "", "call": "bind", "pod": pod, "code": "409", "times": "1"}
    answer = page.request.post(session + "calls", form=form, headers={"Referer": session})
    assert answer.ok, answer.text()
    step_is(page, before + 1)


def step_until(page: Page, element: str, words: str, key: str = "ArrowRight", most: int = 90, pause: float = 0) -> None:
    """Press a key until an element says these words, each time after a pause (ms)."""
    for _ in range(most):
        if words in page.locator(element).inner_text():
            return
        before = position(page)
        page.wait_for_timeout(pause)
        page.keyboard.press(key)
        expect(page.locator("#panel-transport")).not_to_have_attribute("data-position", str(before))
    raise AssertionError(f"{element} never said {words!r}")


def begun(page: Page, server: PlaygroundServer, *texts: str) -> Page:
    """A session of one's own with these objects."""
    start(page, server, "empty")
    apply(page, *texts)
    return page


def journey_of(page: Page, pod: str) -> None:
    """Open the pod's own page."""
    page.goto(page.url.split("?")[0] + f"journey/default/{pod}")


def test_a_hint_wakes_a_pod_and_its_journey_says_which(page: Page, server: PlaygroundServer) -> None:
    begun(page, server, NODE.format(name="small", cpu=1), POD.format(name="big", cpu=4))
    step_until(page, "#queue-unschedulable", "big")
    apply(page, NODE.format(name="large", cpu=8))
    expect(page.locator("#queue-backoff")).to_contain_text("NodeAdd")
    journey_of(page, "big")
    woken = page.locator(".way li.move", has_text="NodeAdd")
    expect(woken).to_contain_text("unschedulable → backoff")
    expect(woken.locator(".plugin")).to_have_text("NodeResourcesFit")
    expect(woken.locator(".hint")).not_to_be_empty()


def test_an_event_in_flight_is_told_with_what_it_meant(page: Page, server: PlaygroundServer) -> None:
    begun(page, server, NODE.format(name="small", cpu=1), POD.format(name="big", cpu=4))
    step_until(page, "#queue-flight", "big")
    apply(page, NODE.format(name="large", cpu=8))
    step_until(page, "#queue-backoff", "big")
    journey_of(page, "big")
    flight = page.locator(".flight li", has_text="NodeAdd")
    expect(flight).to_contain_text("may help")
    expect(flight).to_contain_text("large")
    expect(page.locator(".way")).to_contain_text("An event during the attempt may help the pod.")


def test_a_failed_binding_is_rolled_back_in_reverse_order(page: Page, server: PlaygroundServer) -> None:
    begun(page, server, NODE.format(name="n", cpu=8), POD.format(name="web", cpu=1))
    fail_next_binding(page, "default/web")
    step_until(page, "#queue-backoff", "web")
    expect(page.locator("#lane-default\\/web rect.undone")).to_have_count(1)
    journey_of(page, "web")
    expect(page.locator(".rollback")).to_contain_text("Rolled back, in reverse order")
    reserved = page.locator(".late li", has_text="Reserve").all_inner_texts()
    back = page.locator(".rollback li", has_text="Unreserve").all_inner_texts()
    names = [text.split()[-1] for text in reserved if "Reserve " in text and "Unreserve" not in text]
    assert [text.split()[-1] for text in back] == names[::-1]
    expect(page.locator("#journey-copy")).to_have_value(re.compile("FailedScheduling"))


def test_a_moment_of_the_journey_is_one_click_away(page: Page, server: PlaygroundServer) -> None:
    begun(page, server, NODE.format(name="n", cpu=8), POD.format(name="web", cpu=1))
    step_until(page, "#queue-flight", "web")
    journey_of(page, "web")
    page.locator(".way .try .when").click()
    connected(page)
    expect(page.locator(".sentence")).to_contain_text("The scheduler pops web from the active queue")


def test_the_lanes_show_virtual_time_and_zoom_by_key(page: Page, server: PlaygroundServer) -> None:
    begun(page, server, NODE.format(name="n", cpu=8), POD.format(name="web", cpu=1))
    step_until(page, "#queue-binding", "web")
    lanes(page).get_by_role("link", name="virtual time").click()
    timeline = page.locator("#panel-timeline")
    expect(timeline).to_have_attribute("data-axis", "time")
    whole = int(timeline.get_attribute("data-to") or 0)
    page.locator(".lane-rows").focus()
    page.keyboard.press("w")
    expect(timeline).not_to_have_attribute("data-to", str(whole))
    assert re.search(r"axis=time.*span=\d+", page.url)
    page.get_by_role("link", name="reset").click()
    expect(timeline).to_have_attribute("data-to", str(whole))


def test_a_pod_is_seen_to_travel_from_queue_to_queue(page: Page, server: PlaygroundServer) -> None:
    begun(page, server, NODE.format(name="n", cpu=8), POD.format(name="web", cpu=1))
    page.evaluate(
        """() => {
          window.travelled = [];
          const seen = () => {
            const place = document.querySelector("#queue-active .pod")?.getBoundingClientRect();
            if (place) window.active = [place.x, place.y].map(Math.round);
            requestAnimationFrame(seen);
          };
          seen();
          const animate = Element.prototype.animate;
          Element.prototype.animate = function (frames, options) {
            if (this.classList.contains("travelling")) {
              const { x, y } = this.getBoundingClientRect();
              const start = new DOMMatrix(frames[0].transform);
              const from = [x + start.e, y + start.f].map(Math.round);
              const there = document.querySelector("#queue-flight .pod").getBoundingClientRect();
              window.travelled.push([from, window.active, [x, y], [there.x, there.y]]);
            }
            return animate.call(this, frames, options);
          };
        }"""
    )
    step_until(page, "#queue-flight", "web", pause=250)  # at more than five steps a second nothing moves
    page.wait_for_function("() => window.travelled.length > 0")
    travelled = page.evaluate("window.travelled")
    assert [(begin, end) for begin, active, end, there in travelled if (begin, end) == (active, there)]
    assert all(begin != end for begin, _, end, _ in travelled)


def test_the_internals_tell_who_wrote_and_read_cycle_state(page: Page, server: PlaygroundServer) -> None:
    begun(page, server, NODE.format(name="n", cpu=8), POD.format(name="web", cpu=1))
    step_until(page, "#queue-binding", "web")
    page.locator("#tab-journey").click()
    page.locator("#internals > summary").click()
    internals = page.locator(".internals")
    expect(internals).to_contain_text("web → n")
    fit = page.locator(".state-keys li", has_text="PreFilterNodeResourcesFit")
    expect(fit.locator(".wrote")).to_contain_text("PreFilter · NodeResourcesFit")
    expect(fit.locator(".read").first).to_contain_text("Filter · NodeResourcesFit")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_with_a_journey(
    new_context: NewContext, server: PlaygroundServer, accessible: Accessible, scheme: str
) -> None:
    page = new_context(color_scheme=scheme, reduced_motion="reduce").new_page()
    begun(page, server, NODE.format(name="n", cpu=8), POD.format(name="web", cpu=1))
    fail_next_binding(page, "default/web")
    step_until(page, "#queue-backoff", "web")
    page.locator("#tab-journey").click()
    page.locator("#internals > summary").click()
    expect(page.locator(".state-keys")).to_be_visible()
    accessible(page)
    journey_of(page, "web")
    accessible(page)


def test_a_failed_binding_is_drawn_as_a_sequence_whose_arrows_lead_to_their_steps(
    new_context: NewContext, server: PlaygroundServer, accessible: Accessible
) -> None:
    page = new_context(viewport={"width": 1440, "height": 900}).new_page()
    begun(page, server, NODE.format(name="n", cpu=8), POD.format(name="web", cpu=1))
    fail_next_binding(page, "default/web")
    step_until(page, "#queue-backoff", "web")
    page.goto(page.url.split("?")[0] + "sequence?pod=web")
    answer = page.locator(".diagram a", has_text="Operation cannot be fulfilled")
    expect(answer.locator(".no.back")).to_have_count(1)
    expect(page.locator(".list tr.no").first).to_be_visible()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        accessible(page)
    answer.click()
    connected(page)
    expect(page.locator("#panel-transport")).to_be_visible()
    assert "at=" in page.url
