"""Breakpoints, bookmarks and what changed, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected, lanes, more, nodes, position, run_to_the_end, start, step_is

NewContext = Callable[..., BrowserContext]
HELD = re.compile(r"was hit at step (\d+)")


def toast(page: Page, words: str | re.Pattern[str]) -> str:
    """The message that has these words, once it is shown."""
    note = page.locator(".toast", has_text=words)
    expect(note).to_be_visible()
    return note.inner_text()


def moved_from(page: Page, before: int) -> int:
    """Where the page stands once it stands elsewhere."""
    expect(page.locator("#panel-transport")).not_to_have_attribute("data-position", str(before))
    return position(page)


def set_breakpoint(page: Page, **fields: str) -> None:
    """Set one by the form in the drawer, and close that."""
    more(page).get_by_role("link", name="Breakpoints").click()
    for name, value in fields.items():
        field = page.locator(f"#bp-{name}")
        if name == "cel":
            page.locator("summary", has_text="Advanced").click()
        if name == "point":
            field.select_option(value)
        else:
            field.fill(value)
    page.get_by_role("button", name="Set the breakpoint").click()
    expect(page.locator(".points-list li")).not_to_have_count(0)
    page.locator("[data-drawer-close]").click()
    expect(page.locator("#drawer :focus")).to_have_count(0)  # what is pressed is no longer for the drawer


def bookmark(page: Page) -> None:
    """Set one where the page stands, by the form in the drawer, and close that."""
    more(page).get_by_role("link", name="Breakpoints").click()
    page.get_by_role("button", name="Set one at").click()
    expect(page.locator(".marks-list li")).to_have_count(1)
    page.locator("[data-drawer-close]").click()


def test_a_breakpoint_is_run_back_to_and_forth_and_the_engine_runs_on_at_the_head(
    page: Page, server: PlaygroundServer
) -> None:
    start(page, server)
    began = position(page)
    set_breakpoint(page, plugin="NodeResourcesFit", point="Filter", node="small")
    page.keyboard.press("b")
    toast(page, "Filter NodeResourcesFit")
    first = moved_from(page, began)
    expect(page.locator("#panel-narrator")).to_contain_text("NodeResourcesFit")
    head = run_to_the_end(page)
    page.keyboard.press("Shift+B")
    second = moved_from(page, head)
    assert began < first < second < head
    page.keyboard.press("Shift+B")
    step_is(page, first)
    page.keyboard.press("b")
    step_is(page, second)
    page.keyboard.press("Shift+B")
    step_is(page, first)
    page.keyboard.press("Shift+B")
    toast(page, "Not found in the")
    step_is(page, first)


def test_a_mistake_in_an_expression_is_shown_at_its_character(
    page: Page, server: PlaygroundServer, accessible: Callable[[Page], None], complaints: Complaints
) -> None:
    complaints.forgive("422")
    start(page, server)
    more(page).get_by_role("link", name="Breakpoints").click()
    page.locator("summary", has_text="Advanced").click()
    page.locator("#bp-cel").fill('record.kind == "plugin_ran" &&\n  record.data.nope > 2')
    page.get_by_role("button", name="Set the breakpoint").click()
    wrong = page.locator("#bp-cel-wrong")
    expect(wrong).to_contain_text("line 2, character 15")
    line, caret = wrong.locator("pre").inner_text().split("\n")
    assert line[caret.index("^") :].startswith("nope")
    accessible(page)


def test_break_here_on_a_node_and_back_to_what_last_happened_to_a_pod(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    run_to_the_end(page)
    nodes(page).locator("#node-small a[data-node]").first.click(button="right")
    page.get_by_role("menuitem", name="Breakpoints and navigation").click()
    page.get_by_role("menuitem", name="Break when a plugin refuses this node").click()
    toast(page, "Breakpoint set")
    expect(lanes(page).locator("#marks .held").first).to_be_visible()
    page.locator("#lanes-open").click()
    page.locator(".subject .break-here").first.click()
    page.get_by_role("menuitem", name="Back to the previous move").click()
    toast(page, "queue_moved")
    expect(page.locator("#standing")).to_be_visible()


def test_a_bookmark_stands_on_the_rail_and_leads_back(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    began = position(page)
    page.keyboard.press("n")
    marked = moved_from(page, began)
    bookmark(page)
    flag = page.locator("#flags path.bookmark")
    expect(flag).to_have_count(1)
    head = run_to_the_end(page)
    assert head > marked
    flag.click()
    step_is(page, marked)


def test_the_foot_of_the_inspector_tells_what_each_step_changed(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    page.locator("#changes summary").click()
    run_to_the_end(page)
    page.locator("#changes-since").select_option("0")
    expect(page.locator("#changes-body")).to_contain_text("requested cpu")
    page.locator("#changes").get_by_role("link", name="any two steps").click()
    expect(page.locator("#workbench h1")).to_have_text("What changed")


def test_a_view_link_searches_with_its_own_cursor_and_sets_nothing(
    page: Page, server: PlaygroundServer, new_context: NewContext
) -> None:
    start(page, server)
    set_breakpoint(page, point="Filter")
    head = run_to_the_end(page)
    page.locator("#share-open").click()
    link = page.locator("#view-link").input_value()
    guest = new_context().new_page()
    guest.goto(link)
    connected(guest)
    guest.keyboard.press("Shift+B")
    assert moved_from(guest, head) < head
    toast(guest, HELD)
    step_is(page, head)
    guest.locator(".subject .break-here").first.click()
    expect(guest.get_by_role("menuitem", name="Back to the previous move")).to_be_visible()
    expect(guest.get_by_role("menuitem", name="Break at each attempt")).to_have_count(0)


def test_a_node_is_deleted_from_its_menu_and_its_yaml_opened(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    nodes(page).locator("#node-small a[data-node]").first.click(button="right")
    page.get_by_role("menuitem", name="Edit YAML").click()
    expect(page.locator("#workbench textarea").first).to_have_value(re.compile("name: small"))
    page.keyboard.press("Escape")
    nodes(page).locator("#node-small a[data-node]").first.click(button="right")
    page.get_by_role("menuitem", name="Delete", exact=True).click()
    toast(page, "small deleted.")
    expect(page.locator("#node-small")).to_have_count(0)
