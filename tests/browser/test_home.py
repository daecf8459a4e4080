"""The first page in a real browser."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from playground import VERSION
from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer


def test_the_first_page_opens(page: Page, server: PlaygroundServer) -> None:
    page.goto(server.url)
    expect(page).to_have_title("Scheduler Playground")
    expect(page.locator(".home-foot")).to_contain_text(f"Version {VERSION}")


def test_the_first_page_is_accessible(page: Page, server: PlaygroundServer, accessible: Callable[[Page], None]) -> None:
    page.goto(server.url)
    accessible(page)


def test_who_comes_with_a_pending_pod_sees_at_once_where_to_go(page: Page, server: PlaygroundServer) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(server.url)
    card = page.get_by_role("region", name="Is your pod Pending?")
    expect(card).to_be_in_viewport(ratio=1)
    expect(card.get_by_role("button", name="Show what is Pending")).to_be_in_viewport(ratio=1)
    for name in ("Learn in 5 minutes", "Clusters to play with"):
        expect(page.get_by_role("heading", name=name)).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollHeight") <= 720
    card.get_by_label("Paste what kubectl prints").fill("{kind: Node, apiVersion: v1, metadata: {name: mine}}")
    card.get_by_role("button", name="Show what is Pending").click()
    expect(page.get_by_role("button", name="Import 1 object")).to_be_in_viewport(ratio=1)


def test_the_picture_moves_until_it_is_paused_and_never_where_that_is_not_wanted(
    page: Page, server: PlaygroundServer
) -> None:
    page.emulate_media(reduced_motion="no-preference")
    page.goto(server.url)
    running = "document.getAnimations().filter((each) => each.playState === 'running').length"
    assert page.evaluate(running) > 4
    page.get_by_role("button", name="Pause the picture").click()
    assert page.evaluate(running) == 0
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    assert page.evaluate("document.getAnimations().length") == 0
    expect(page.locator(".film .won .more")).to_be_visible()
    expect(page.get_by_role("button", name="Pause the picture")).to_be_hidden()


def test_tracks_say_how_far_this_browser_has_come(page: Page, server: PlaygroundServer) -> None:
    page.goto(f"{server.url}/lessons/")
    track = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="First steps"))
    expect(track.locator(".so-far")).to_be_hidden()
    page.evaluate("localStorage.setItem('lessons', JSON.stringify({'first-placement': 99, gate: 1}))")
    page.reload()
    expect(track.locator(".so-far")).to_have_text(re.compile(r"^1 of \d+ done$"))
    expect(page.locator("[data-lesson=gate] .come")).to_contain_text("You reached card 1 of")


def test_on_a_phone_only_the_track_that_one_is_in_is_unfolded(
    page: Page, server: PlaygroundServer, accessible: Callable[[Page], None]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/lessons/")
    expect(page.locator(".track details[open]")).to_have_count(1)
    expect(page.locator("[data-lesson=first-placement]")).to_be_visible()
    accessible(page)
    page.evaluate("localStorage.setItem('lessons', JSON.stringify({gate: 1}))")
    page.reload()
    expect(page.locator("[data-lesson=gate]")).to_be_visible()
    expect(page.locator("[data-lesson=first-placement]")).to_be_hidden()
    page.get_by_role("heading", name="First steps").click()
    expect(page.locator("[data-lesson=first-placement]")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_killed_server_starts_again_on_the_same_port_and_data(
    page: Page, own_server: PlaygroundServer, complaints: Complaints
) -> None:
    complaints.forgive("net::ERR_")
    page.goto(own_server.url)
    own_server.kill()
    own_server.start()
    page.reload()
    expect(page).to_have_title("Scheduler Playground")
