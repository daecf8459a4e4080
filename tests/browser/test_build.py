"""Building a cluster by forms and YAML, in a real browser."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer
from tests.browser.studio import more, start_empty

REFUSED = "422"  # Chromium logs the honest status of a form that was refused
FORBIDDEN = "403"


@pytest.fixture
def studio(page: Page, server: PlaygroundServer) -> Page:
    """The studio of an empty session."""
    page.goto(server.url)
    start_empty(page)
    page.wait_for_url("**/s/*/")
    return page


def base(page: Page) -> str:
    """The URL of the page's session."""
    found = re.match(r".*/s/[^/]+/", page.url)
    assert found is not None
    return found[0]


def drawer(page: Page, link: str = "Node") -> Locator:
    """The drawer, opened by a link of the bar or of its menu."""
    made = page.get_by_role("navigation", name="Create").get_by_role("link", name=link, exact=True)
    (made if made.count() else more(page).get_by_role("link", name=link, exact=True)).click()
    opened = page.locator("#drawer")
    expect(opened).to_be_visible()
    return opened


def room(opened: Locator, name: str) -> None:
    """Go to a room of the workbench."""
    opened.get_by_role("navigation", name="Edit the cluster").get_by_role("link", name=name, exact=True).click()


def test_a_cluster_is_built_in_the_drawer_while_the_studio_shows_it(studio: Page) -> None:
    opened = drawer(studio)
    opened.get_by_label("Zones").fill("zone-a, zone-b")
    opened.get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    expect(opened.get_by_text("3 nodes created")).to_be_visible()
    expect(studio.locator("#node-node-3")).to_be_attached()
    room(opened, "Pod")
    opened.get_by_label("Replicas").fill("2")
    opened.get_by_role("button", name=re.compile("^Create .* pods?$")).click()
    expect(opened.get_by_text("2 pods created")).to_be_visible()
    expect(studio.locator("#panel-queues").get_by_text("web-2")).to_be_visible()


def test_the_preview_follows_what_is_typed(studio: Page) -> None:
    studio.goto(base(studio) + "build/nodes")
    studio.locator("summary", has_text="Labels, limit of pods").click()
    studio.get_by_label("Labels", exact=True).fill("disk=ssd")
    expect(studio.locator("#preview")).to_contain_text("disk: ssd")
    studio.get_by_label("CPU").fill("4x")
    expect(studio.locator("#preview")).to_contain_text("“4x” is not a quantity")


def test_a_refused_form_keeps_what_was_typed_and_says_why(studio: Page, complaints: Complaints) -> None:
    complaints.forgive(REFUSED)
    opened = drawer(studio)
    opened.get_by_label("CPU").fill("4x")
    opened.get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    expect(opened.locator(".field-cpu .errors")).to_have_text("“4x” is not a quantity. Write it as 500m or 2")
    expect(opened.get_by_label("CPU")).to_have_value("4x")


def test_the_button_of_a_form_is_in_sight_on_a_phone_and_as_wide_as_its_fields(studio: Page) -> None:
    studio.set_viewport_size({"width": 390, "height": 844})
    studio.locator("a[href*='build/nodes']:visible").click()
    create = studio.locator("#drawer #build-create")
    expect(create).to_be_in_viewport(ratio=1)
    button, fields = create.bounding_box(), studio.locator("#drawer .fields").first.bounding_box()
    assert button is not None
    assert fields is not None
    assert abs(button["width"] - fields["width"]) < 2


def test_undo_and_redo_are_one_click_away(studio: Page) -> None:
    opened = drawer(studio)
    opened.get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    expect(studio.locator("#node-node-1")).to_be_attached()
    opened.get_by_role("button", name="Undo").click()
    expect(studio.locator("#node-node-1")).to_have_count(0)
    opened.get_by_role("button", name="Redo").click()
    expect(studio.locator("#node-node-1")).to_be_attached()


def test_an_error_of_the_editor_stands_at_its_line(studio: Page, complaints: Complaints) -> None:
    complaints.forgive(REFUSED)
    studio.goto(base(studio) + "yaml")
    area = studio.get_by_label("YAML", exact=True)
    area.fill(area.input_value().replace("cpu: 500m", "cpu: 5x"))
    studio.get_by_role("button", name="Create", exact=True).click()
    expect(studio.locator(".gutter .wrong")).to_have_text("12")
    expect(studio.locator(".squiggles")).to_contain_text("is not a quantity")
    mark, line = (
        studio.locator(".squiggles section > div").bounding_box(),
        studio.locator(".gutter .wrong").bounding_box(),
    )
    assert mark is not None
    assert line is not None
    assert abs(mark["y"] - line["y"]) < 2
    expect(area).to_be_focused()


def test_the_editor_indents_with_tab_and_is_left_by_escape_and_tab(studio: Page) -> None:
    studio.goto(base(studio) + "yaml")
    area = studio.get_by_label("YAML", exact=True)
    area.fill("a:\nb: 1")
    area.press("Control+End")
    area.press("Home")
    area.press("Tab")
    expect(area).to_have_value("a:\n  b: 1")
    area.press("Escape")
    area.press("Tab")
    expect(area).not_to_be_focused()


def test_control_enter_saves_and_the_object_can_be_replaced_and_deleted(studio: Page) -> None:
    studio.goto(base(studio) + "yaml")
    area = studio.get_by_label("YAML", exact=True)
    area.press("Control+Enter")
    studio.get_by_role("link", name="my-pod", exact=True).click()
    area.fill(
        area.input_value()
        .replace("    app: x", "")
        .replace("name: my-pod\n", "name: my-pod\n  labels: {tier: front}\n", 1)
    )
    studio.get_by_role("button", name="Replace").click()
    studio.get_by_role("link", name="my-pod", exact=True).click()
    expect(area).to_have_value(re.compile("tier: front"))
    studio.get_by_role("button", name="Delete").click()
    expect(studio.get_by_text("Pod my-pod deleted")).to_be_visible()


def test_what_is_built_while_standing_in_the_past_is_asked_about_and_opens_a_fork(
    studio: Page, complaints: Complaints, accessible: Callable[[Page], None]
) -> None:
    complaints.forgive("409")
    origin = base(studio)
    drawer(studio).get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    expect(studio.locator("#node-node-1")).to_be_attached()
    studio.goto(origin + "?at=0")
    opened = drawer(studio)
    expect(opened.get_by_text("You are viewing step 0")).to_be_visible()
    opened.get_by_label("Name pattern").fill("late-{i}")
    opened.get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    expect(opened.get_by_role("button", name="Go to the newest step")).to_be_visible()
    accessible(studio)
    opened.get_by_role("button", name="Apply in a fork from here").click()
    expect(studio.locator("#node-late-1")).to_be_attached()
    assert base(studio) != origin


def test_what_is_built_while_standing_in_the_past_may_go_to_the_newest_step(
    studio: Page, complaints: Complaints
) -> None:
    complaints.forgive("409")
    origin = base(studio)
    drawer(studio).get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    expect(studio.locator("#node-node-1")).to_be_attached()
    studio.goto(origin + "?at=0")
    drawer(studio).get_by_label("Name pattern").fill("late-{i}")
    studio.locator("#drawer").get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    studio.locator("#drawer").get_by_role("button", name="Go to the newest step").click()
    expect(studio.locator("#node-late-1")).to_be_attached()
    expect(studio.locator("#node-node-1")).to_be_attached()
    assert base(studio) == origin


def test_a_view_link_shows_the_forms_room_without_its_buttons(
    studio: Page, new_context: Callable[..., BrowserContext]
) -> None:
    studio.goto(base(studio) + "session")
    link = studio.get_by_label("View link").input_value()
    friend = new_context().new_page()
    friend.goto(link + "build/nodes")
    expect(friend.get_by_text("This is a view link")).to_be_visible()
    expect(friend.get_by_role("button", name=re.compile("^Create .* nodes?$"))).to_have_count(0)


def test_escape_closes_the_drawer_and_gives_the_keys_back(studio: Page) -> None:
    opened = drawer(studio)
    studio.keyboard.press("Escape")
    expect(opened).to_be_hidden()
    studio.keyboard.press("?")
    expect(studio.locator("#keys-dialog")).to_be_visible()


def test_a_lesson_asks_answers_goes_on_and_back_and_ends_with_a_task(
    page: Page, server: PlaygroundServer, accessible: Callable[[Page], None]
) -> None:
    page.goto(f"{server.url}/lessons/")
    page.get_by_role("button", name="Start the lesson A gated pod").click()
    page.wait_for_url("**/s/*/")
    lesson = page.get_by_role("complementary", name="Lesson")
    expect(lesson).to_contain_text("was created first")
    page.locator("#rail [data-pod='default/job']").first.click()
    expect(lesson.get_by_label("job")).to_be_checked()
    lesson.get_by_role("button", name="Answer", exact=True).click()
    expect(lesson.locator(".verdict.wrong")).to_contain_text("pops pods only from the active queue")
    accessible(page)
    lesson.get_by_role("button", name="Next", exact=True).click()
    expect(lesson).to_contain_text("Act as that controller")
    lesson.get_by_role("button", name="Remove the gate from job").click()
    expect(lesson).to_contain_text("PreEnqueue ran again")
    lesson.get_by_role("button", name="Show the answer").first.click()
    lesson.get_by_role("button", name="Next", exact=True).click()
    expect(lesson.get_by_role("heading", name="Your turn")).to_be_visible()
    lesson.get_by_role("link", name="Back", exact=True).click()
    expect(lesson.get_by_role("heading", name="Your turn")).to_be_hidden()
    lesson.get_by_role("link", name="Next", exact=True).click()
    here = page.url
    lesson.get_by_role("button", name="Try it on a fork").click()
    page.wait_for_function(
        "url => location.pathname !== new URL(url).pathname && !location.search.includes('at=')", arg=here
    )
    expect(page.locator("body")).to_contain_text("later")
    page.goto(f"{server.url}/lessons/")
    expect(page.locator("[data-lesson=gate] .come")).to_have_text("You reached card 4 of 4.")


@pytest.mark.parametrize("path", ["build/nodes", "build/pods", "objects", "yaml", "configuration", "import", "session"])
def test_every_room_is_accessible_and_fits_a_phone(
    page: Page, server: PlaygroundServer, accessible: Callable[[Page], None], path: str
) -> None:
    page.goto(server.url)
    page.get_by_role("button", name="Three nodes", exact=True).click()
    page.wait_for_url("**/s/*/")
    page.goto(base(page) + path)
    accessible(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_room_works_without_javascript(
    server: PlaygroundServer, new_context: Callable[..., BrowserContext]
) -> None:
    page = new_context(java_script_enabled=False).new_page()
    page.goto(server.url)
    start_empty(page)
    page.wait_for_url("**/s/*/")
    page.goto(base(page) + "build/nodes")
    page.locator("summary", has_text="Labels, limit of pods").click()
    page.get_by_label("Labels", exact=True).fill("disk=ssd")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#preview")).to_contain_text("disk: ssd")
    page.get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    expect(page.get_by_text("3 nodes created")).to_be_visible()


def test_nodes_get_devices_and_pods_claim_them(studio: Page) -> None:
    address = base(studio)
    studio.goto(address + "build/nodes")
    studio.get_by_role("button", name=re.compile("^Create .* nodes?$")).click()
    expect(studio.get_by_text("3 nodes created")).to_be_visible()
    room(studio.locator("body"), "Other")
    room(studio.locator("body"), "Devices")
    expect(studio.locator("#preview")).to_contain_text("nvlinkDomain")
    studio.get_by_label("Kind").select_option("nic")
    expect(studio.locator("#preview")).to_contain_text("nic.example.com")
    studio.get_by_label("Devices per node").fill("65")
    expect(studio.locator("#preview")).to_contain_text("at most 64 of these per node")
    studio.get_by_label("Devices per node").fill("2")
    studio.get_by_role("button", name=re.compile("^Create .* objects?$")).click()
    expect(studio.get_by_text("4 objects created")).to_be_visible()
    room(studio.locator("body"), "Claims")
    studio.get_by_label("Device class").fill("nic.example.com")
    studio.get_by_role("button", name=re.compile("^Create .* objects?$")).click()
    expect(studio.get_by_text("2 objects created")).to_be_visible()


def test_what_gives_an_answer_away_is_covered_until_it_is_given(
    page: Page, server: PlaygroundServer, accessible: Callable[[Page], None]
) -> None:
    page.goto(f"{server.url}/lessons/")
    page.get_by_role("button", name="Start the lesson Choosing a victim").click()
    lesson = page.get_by_role("complementary", name="Lesson")
    for card in ("2 / 4", "3 / 4"):
        lesson.get_by_role("button", name="Show the answer").first.click()
        lesson.get_by_role("button", name="Next", exact=True).click()
        expect(lesson.locator("header")).to_contain_text(card)
    expect(page.get_by_role("heading", name="Which pods must urgent preempt?")).to_be_hidden()
    accessible(page)
    lesson.get_by_label("batch-1").check()
    lesson.get_by_role("button", name="Answer", exact=True).click()
    expect(lesson.locator("[data-again]")).to_contain_text("Names that are missing: 1.")
    expect(page.get_by_role("heading", name="Which pods must urgent preempt?")).to_be_hidden()
    lesson.get_by_role("button", name="Try again").click()
    expect(lesson.locator(".verdict.wrong")).to_contain_text("Only batch-2")
    expect(page.get_by_role("heading", name="Which pods must urgent preempt?")).to_be_visible()
    expect(lesson.get_by_role("button", name="Next", exact=True)).to_be_visible()
    lesson.get_by_role("link", name="What the engine recorded: attempt 1 of urgent").click()
    expect(page).to_have_url(re.compile("stage=preemption"))
    page.reload()
    expect(page.get_by_role("heading", name="Which pods must urgent preempt?")).to_be_visible()
