"""The first page in a real browser."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from playground import VERSION
from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer


def test_the_first_page_opens(page: Page, server: PlaygroundServer) -> None:
    page.goto(server.url)
    expect(page).to_have_title("Scheduler Playground")
    expect(page.locator(".home-foot")).to_contain_text(f"Version {VERSION}")


def test_the_first_page_is_accessible(
    page: Page, server: PlaygroundServer, accessible: Callable[[Page], None]
) -> None:
    page.goto(server.url)
    accessible(page)


def test_a_killed_server_starts_again_on_the_same_port_and_data(
    page: Page, own_server: PlaygroundServer, complaints: Complaints
) -> None:
    complaints.forgive("net::ERR_")
    page.goto(own_server.url)
    own_server.kill()
    own_server.start()
    page.reload()
    expect(page).to_have_title("Scheduler Playground")
