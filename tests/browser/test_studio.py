"""The studio in a real browser: stepping, looking, keys, several tabs, a lost connection, and what axe says of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, expect

from playground.presenters.look import TABS
from tests.browser.conftest import THOROUGH, Complaints
from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected, lanes, more, position, press_until, shown, start, step, step_is

Accessible = Callable[[Page], None]
NewContext = Callable[..., BrowserContext]
PARTS = "#bar, #points, #rail, #stage, #narrator, #timeline, #panel-stage, #panel-narrator, #panel-inspector"
PLACES = f"""[...document.querySelectorAll("{PARTS}")].map((part) => {{
  const {{ x, y }} = part.getBoundingClientRect();
  return `${{part.id}} ${{Math.round(x)}} ${{Math.round(y)}}`;
}}).join()"""


def test_a_step_shows_which_plugin_ran_and_what_it_decided(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    press_until(page, "NodeResourcesFit refuses 1 of 3 nodes".replace("NodeResourcesFit ", ""))
    expect(page.locator("#point-Filter")).to_have_class(re.compile(r"\bnow\b"))
    expect(page.locator("#node-small")).to_contain_text("Insufficient cpu")
    expect(page.locator("#panel-stage")).to_contain_text("Insufficient cpu")


def test_a_world_without_marks_has_no_row_for_them(page: Page, server: PlaygroundServer) -> None:
    with page.expect_response(lambda answer: "/marks?" in answer.url):
        start(page, server)
    lanes(page)
    expect(page.locator("#marks")).to_have_attribute("data-live", "0")
    expect(page.locator(".marks-row")).to_be_hidden()


def test_the_button_steps_by_plugin_point_and_pod(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    began = position(page)
    step(page, "call")
    step_is(page, began + 1)
    for stage in ("queue", "prefilter"):
        step(page, "plugin")
        expect(page.locator("#stage")).to_have_attribute("data-stage", stage)
    step(page, "point")
    expect(page.locator("#stage")).not_to_have_attribute("data-stage", "prefilter")
    step(page, "pod")
    expect(page.locator(".sentence")).to_contain_text("web-1 is assumed on large")


def test_the_menu_names_version_and_profile_and_leads_to_its_configuration(
    page: Page, server: PlaygroundServer
) -> None:
    start(page, server)
    menu = more(page)
    expect(menu).to_contain_text("kube-scheduler v1.34.1")
    menu.get_by_role("link", name="default-scheduler").click()
    expect(page.locator("#drawer").get_by_role("heading", name="Scheduler configuration")).to_be_visible()


def test_back_and_forward_lead_to_the_same_picture(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    press_until(page, "refuses 1 of 3 nodes")
    here, before = position(page), shown(page)
    page.keyboard.press("ArrowLeft")
    step_is(page, here - 1)
    expect(page.locator("#node-small")).not_to_contain_text("Insufficient cpu")
    page.keyboard.press("ArrowRight")
    step_is(page, here)
    assert shown(page) == before


def test_standing_in_the_past_is_told_and_follow_leads_back(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    press_until(page, "refuses 1 of 3 nodes")
    head = position(page)
    page.keyboard.press("Home")
    step_is(page, 0)
    expect(page.locator("#standing")).to_contain_text("an earlier step")
    page.get_by_role("button", name="Follow").click()
    step_is(page, head)
    expect(page.locator("#standing")).to_be_hidden()


def test_a_reload_shows_the_same_step_tab_and_pod(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    press_until(page, "refuses 1 of 3 nodes")
    here = position(page) - 1
    page.keyboard.press("ArrowLeft")
    step_is(page, here)
    page.locator("#tab-yaml").click()
    page.locator("#queue-active [data-pod='default/web-2']").first.click()
    expect(page.locator(".subject").first).to_contain_text("web-2")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    connected(page)
    step_is(page, here)
    expect(page.locator("#tab-yaml")).to_have_attribute("aria-current", "page")
    expect(page.locator(".subject").first).to_contain_text("web-2")


def test_two_tabs_that_follow_show_the_same(new_context: NewContext, server: PlaygroundServer) -> None:
    context = new_context()
    first = start(context.new_page(), server)
    second = context.new_page()
    second.goto(first.url)
    connected(second)
    press_until(first, "refuses 1 of 3 nodes")
    step_is(second, position(first))
    assert shown(second) == shown(first)
    for panel in ("#panel-transport", "#panel-pipeline", "#panel-timeline"):
        here, there = (tab.locator(panel).text_content() or "" for tab in (first, second))
        assert there.split() == here.split()


def test_one_tab_may_stand_in_the_past_while_the_other_goes_on(
    new_context: NewContext, server: PlaygroundServer
) -> None:
    context = new_context()
    first = start(context.new_page(), server)
    second = context.new_page()
    second.goto(first.url)
    connected(second)
    press_until(first, "precomputes")
    second.keyboard.press("Home")
    step_is(second, 0)
    press_until(first, "refuses 1 of 3 nodes")
    step_is(second, 0)
    expect(second.locator("#scrub-says")).to_have_text(f"0 / {position(first)}")


def test_the_rail_leads_to_any_earlier_step(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    press_until(page, "refuses 1 of 3 nodes")
    page.locator("#scrub").fill("2")
    step_is(page, 2)
    expect(page).to_have_url(re.compile(r"at=2"))


def test_a_segment_of_a_lane_leads_to_the_step_where_it_began(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    press_until(page, "refuses 1 of 3 nodes")
    cycle = lanes(page).locator(".lane svg a", has=page.locator("rect.cycle")).first
    began = int(cycle.get_attribute("data-goto") or -1)
    cycle.focus()
    expect(page.locator("#tip")).to_contain_text("in flight")
    page.keyboard.press("Enter")
    step_is(page, began)


def test_the_question_mark_lists_the_keys(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keys")
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text("to the end of the extension point")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_keys_are_letters_again_while_something_is_written(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    before = position(page)
    page.keyboard.press("/")
    expect(page.locator("#map-q")).to_be_focused()
    page.keyboard.type("small ne")
    expect(page.locator("#map-q")).to_have_value("small ne")
    expect(page.locator(".node:not(.dim)")).to_have_count(0)
    assert position(page) == before


def test_play_goes_on_by_itself_until_it_is_paused(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    before = position(page)
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    beyond = "|".join(str(n) for n in range(before + 3, before + 400))  # several steps may be shown as one
    expect(page.locator("#panel-transport")).to_have_attribute("data-position", re.compile(f"^({beyond})$"))
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_run_goes_to_the_end(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    page.keyboard.press("r")
    expect(page.locator(".sentence")).to_contain_text("Nothing is left to do")
    expect(page.locator("#node-large .chip").first).to_be_visible()


def test_a_pending_pod_is_one_click_from_why(page: Page, server: PlaygroundServer) -> None:
    start(page, server, "story:backoff")
    press_until(page, "is unschedulable")
    page.locator("#rail").get_by_role("link", name="Why?").first.click()
    expect(page.locator("#stage")).to_have_attribute("data-stage", "pending")
    expect(page.locator("#panel-stage")).to_contain_text("Insufficient cpu")


def test_leaving_without_the_edit_link_warns(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    asked: list[str] = []

    def hear(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", hear)
    page.locator("#stage-h").click()
    page.goto("about:blank")
    assert asked == ["beforeunload"]


def test_a_kept_edit_link_lets_leave_in_peace(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    page.locator("#share-open").click()
    page.get_by_role("button", name="I have saved the link").click()
    expect(page.locator("#keep")).to_be_hidden()
    page.keyboard.press("Escape")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.locator("#stage-h").click()
    page.goto("about:blank")
    assert asked == []


def test_a_view_link_says_so_and_changes_nothing(new_context: NewContext, server: PlaygroundServer) -> None:
    owner = start(new_context().new_page(), server)
    link = owner.locator("#view-link").get_attribute("value") or ""
    guest = new_context().new_page()
    assert link.startswith(f"{server.url}/s/")
    guest.goto(link)
    connected(guest)
    expect(guest.locator(".view-only")).to_be_visible()
    expect(guest.locator("#edit-link")).to_have_count(0)
    before = position(guest)
    guest.keyboard.press("ArrowRight")
    expect(guest.locator(".toast")).to_contain_text("only shows the session")
    assert position(owner) == before


def test_a_killed_server_is_told_and_the_page_goes_on_afterwards(
    page: Page, own_server: PlaygroundServer, complaints: object
) -> None:
    complaints.forgive("WebSocket connection to")  # type: ignore[attr-defined]
    complaints.forgive("net::ERR_")  # type: ignore[attr-defined]
    start(page, own_server)
    press_until(page, "refuses 1 of 3 nodes")
    here = position(page)
    own_server.kill()
    expect(page.locator("#offline")).to_be_visible()
    own_server.start()
    expect(page.locator("#offline")).to_be_hidden(timeout=20_000)
    page.keyboard.press("ArrowRight")
    step_is(page, here + 1)


def test_the_studio_steps_without_javascript(new_context: NewContext, server: PlaygroundServer) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(f"{server.url}/lessons/")
    page.locator('button[name=start][value="story:first-placement"]').first.click()
    before = position(page)
    page.locator("#step").click()
    assert position(page) > before
    page.get_by_role("button", name="One step back").click()
    step_is(page, before)


def test_the_theme_can_be_chosen_and_is_kept(new_context: NewContext, server: PlaygroundServer) -> None:
    page = start(new_context(color_scheme="light").new_page(), server)
    more(page).locator("#theme-toggle").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def import_nodes(page: Page, count: int) -> None:
    """A session of `count` nodes through the first page's import."""
    nodes = "---\n".join(
        f"apiVersion: v1\nkind: Node\nmetadata: {{name: n{i:03}, labels: {{rack: r{i % 4}}}}}\n"
        f"status: {{allocatable: {{cpu: '4', memory: 8Gi, pods: '110'}}}}\n"
        for i in range(count)
    )
    page.locator("#import textarea").fill(nodes)
    page.get_by_role("button", name="Show what is Pending").click()
    page.locator("form[action$='import/apply'] button").first.click()


def test_a_large_cluster_is_a_heat_map_that_keys_can_read(page: Page, server: PlaygroundServer) -> None:
    page.goto(server.url)
    import_nodes(page, 60)
    page.wait_for_url("**/s/**")
    page.goto(page.url.partition("?")[0] + "?stage=filter&form=nodes")
    canvas = page.locator("#heat")
    expect(canvas).to_be_visible()
    expect(page.locator(".node")).to_have_count(12)
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#heat-says b")).to_have_text("n004")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-inspector")).to_contain_text("n004")


def test_a_run_until_an_attempt_stops_there_and_says_so(
    page: Page, server: PlaygroundServer, accessible: Accessible
) -> None:
    start(page, server)
    page.keyboard.press("u")
    accessible(page)
    page.get_by_label("the end of attempt number").fill("2")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_have_text("The run stopped: attempt 2 ends.")
    expect(page.locator("#until")).not_to_have_attribute("open", "")
    expect(page.locator(".whose small")).to_have_attribute("title", "cycle 2 of the scheduler")


def test_a_run_until_a_pod_that_is_not_there_is_refused(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    began = position(page)
    page.get_by_text("until…").click()
    page.get_by_label("an attempt ends, of the pod").fill("nobody")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("No pod default/nobody")
    step_is(page, began)


def until_one_waits(page: Page, server: PlaygroundServer) -> None:
    """A session in which a pod waits on Permit."""
    start(page, server, "story:permit-and-bind")
    for _ in range(8):
        if page.locator(".decide").count():
            _answer(page)
            return
        before = position(page)
        page.keyboard.press("Shift+ArrowRight" if before > 10 else "n")
        expect(page.locator("#panel-transport")).not_to_have_attribute("data-position", str(before))
    raise AssertionError("no pod came to wait on Permit")


def _answer(page: Page) -> None:
    """What the lesson asks covers the queues until it is answered."""
    question = page.locator("#panel-story form.question")
    question.locator("button[name=show]").click()
    expect(page.locator("body:not([data-covered])")).to_be_visible()


def test_a_pod_that_waits_on_permit_is_allowed_by_its_button(page: Page, server: PlaygroundServer) -> None:
    until_one_waits(page, server)
    page.locator("#queue-permit").get_by_role("button", name="Allow waits").click()
    expect(page.locator(".decide")).to_have_count(0)
    expect(page.locator("#queue-binding")).to_contain_text("waits")


def test_a_pod_that_waits_on_permit_is_rejected_by_its_button(page: Page, server: PlaygroundServer) -> None:
    until_one_waits(page, server)
    page.locator("#queue-permit").get_by_role("button", name="Reject waits").click()
    expect(page.locator("#queue-permit")).to_be_hidden()


def test_a_decision_that_comes_too_late_is_told(
    new_context: NewContext, server: PlaygroundServer, complaints: Complaints
) -> None:
    complaints.forgive("422")
    page = new_context().new_page()
    until_one_waits(page, server)
    page.evaluate("document.querySelector('#queue-permit .decide [name=pod]').value = 'default/gone'")
    page.locator("#queue-permit").get_by_role("button", name="Allow waits").click()
    expect(page.locator(".toast")).to_contain_text("waits on Permit")


def test_a_view_link_shows_no_buttons_to_decide(new_context: NewContext, server: PlaygroundServer) -> None:
    page = new_context().new_page()
    until_one_waits(page, server)
    view = new_context().new_page()
    view.goto(page.locator("#view-link").input_value())
    connected(view)
    expect(view.locator("#queue-permit")).to_contain_text("waits")
    expect(view.get_by_role("button", name="Allow")).to_have_count(0)


@pytest.mark.parametrize(
    ("scheme", "width"),
    [*product(("light", "dark"), (390, 1280, 1920))] if THOROUGH else [("light", 390), ("dark", 1280), ("light", 1920)],
)
def test_axe_finds_nothing_wrong(
    new_context: NewContext, server: PlaygroundServer, accessible: Accessible, scheme: str, width: int
) -> None:
    page = start(
        new_context(color_scheme=scheme, viewport={"width": width, "height": 844}, reduced_motion="reduce").new_page(),
        server,
    )
    press_until(page, "refuses 1 of 3 nodes")
    accessible(page)
    for name in TABS:
        tab = page.locator(f"#tab-{name}")
        tab.click()
        expect(tab).to_have_attribute("aria-current", "page")
        accessible(page)


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_nothing_is_wider_than_the_screen(new_context: NewContext, server: PlaygroundServer, width: int) -> None:
    page = start(new_context(viewport={"width": width, "height": 844}).new_page(), server)
    press_until(page, "refuses 1 of 3 nodes")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_moves_from_step_to_step_and_back(page: Page, server: PlaygroundServer) -> None:
    start(page, server, "cluster:zones")
    first, places = position(page), set()
    there = [*range(first + 1, first + 20)]
    for number, key in [(n, "ArrowRight") for n in there] + [(n, "ArrowLeft") for n in there[-2::-1]]:
        page.keyboard.press(key)
        step_is(page, number)
        places.add(page.evaluate(PLACES))
    assert len(places) == 1
