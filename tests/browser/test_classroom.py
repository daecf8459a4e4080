"""A classroom in real browsers: a desk, and three students of whom two have phones."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer

PHONE = {"width": 390, "height": 844}
Contexts = Callable[..., BrowserContext]


@pytest.fixture
def desk(page: Page, server: PlaygroundServer) -> Page:
    """A teacher's desk around the first lesson."""
    page.goto(f"{server.url}/lessons/")
    page.locator("[data-lesson=first-placement] button, form:has([value='story:first-placement']) button").first.click()
    expect(page.locator("body[data-connected='1']")).to_be_attached()
    page.locator("#share-open").click()
    page.get_by_role("button", name="Open a classroom").click()
    expect(page.locator("#joined")).to_have_text("Students: 0")
    expect(page.frame_locator("#view").locator("body[data-connected='1']")).to_be_attached()
    return page


def joined(desk: Page, context: BrowserContext, name: str) -> Page:
    """A student who came by the link."""
    student = context.new_page()
    student.goto(str(desk.locator(".way-in a").get_attribute("href")))
    student.get_by_label("Your name").fill(name)
    student.get_by_role("button", name="Join").click()
    expect(student.locator("body[data-connected='1']")).to_be_attached()
    return student


def step_of(page: Page) -> str | None:
    return page.frame_locator("#view").locator("body").get_attribute("data-seen")


def sees(student: Page, step: int) -> None:
    """The student's stage shows a step."""
    expect(student.frame_locator("#view").locator("#panel-transport")).to_contain_text(f"step {step}")


def steps(desk: Page, way: str = "step") -> None:
    view = desk.frame_locator("#view")
    if view.locator("#grain").is_visible():
        view.locator("#grain").select_option("call")
    view.locator(f"#transport [data-act={way}], .transport [data-act={way}]").first.click()


def test_a_poll_with_three_students(desk: Page, new_context: Contexts, accessible: Callable[[Page], None]) -> None:
    ada = joined(desk, new_context(viewport=PHONE), "Ada")
    grace = joined(desk, new_context(viewport=PHONE, color_scheme="dark"), "Grace")
    edsger = joined(desk, new_context(), "")
    expect(desk.locator("#joined")).to_have_text("Students: 3")
    desk.get_by_role("button", name="Which node?").click()
    for student, node in ((ada, "large"), (grace, "small"), (edsger, "medium")):
        expect(student.locator("#poll")).to_contain_text("Which node will pod web-1 get")
        expect(student.frame_locator("#view").locator("#node-large")).to_be_in_viewport()
        student.get_by_label(node, exact=True).check()
        student.get_by_role("button", name="Answer").click()
        expect(student.locator("#poll")).to_contain_text(f"Your answer is saved: {node}")
    expect(desk.locator(".answers caption")).to_have_text("Answers: 3")
    learner = desk.locator("#students-list li").filter(has_text="Ada")
    expect(learner).to_contain_text("✓ answered")
    expect(ada.locator(".answers")).to_have_count(0)
    desk.get_by_role("button", name="Reveal").click()
    expect(ada.locator("#poll")).to_contain_text("That is right.")
    expect(learner).to_contain_text("1 of 1 right")
    expect(grace.locator("#poll")).to_contain_text("That is not right.")
    expect(edsger.locator(".reasons")).to_contain_text("NodeResourcesFit: Insufficient cpu")
    expect(edsger.locator(".reasons")).to_contain_text("another node has a higher score")
    for page in (desk, ada, grace, edsger):
        accessible(page)
    for phone in (ada, grace):
        assert phone.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    with desk.expect_download() as download:
        desk.get_by_role("link", name="Results as CSV").click()
    assert len(download.value.path().read_text().splitlines()) == 4


def test_students_follow_roam_and_come_back(desk: Page, new_context: Contexts) -> None:
    ada = joined(desk, new_context(viewport=PHONE), "Ada")
    steps(desk)
    steps(desk)
    sees(ada, 3)
    steps(desk, "back")
    sees(ada, 2)
    ada.get_by_role("button", name="One step back").click()
    sees(ada, 1)
    expect(ada.locator("#where")).to_contain_text(re.compile(r"step 1 of \d+ on your own"))
    steps(desk)
    sees(ada, 1)
    ada.get_by_role("button", name="Follow the teacher").click()
    sees(ada, 3)


def test_a_students_fork_comes_on_the_screen_of_all(desk: Page, new_context: Contexts) -> None:
    ada, grace = (joined(desk, new_context(), name) for name in ("Ada", "Grace"))
    ada.get_by_role("button", name="My own fork").click()
    expect(ada.locator("#where")).to_contain_text("your own fork")
    ada.frame_locator("#view").locator("#share-open").wait_for()
    desk.get_by_role("button", name="Show to all: Ada").click()
    expect(grace.locator("#where")).to_have_text("On screen: Ada's fork")
    steps(ada)
    sees(grace, 2)
    expect(desk.frame_locator("#view").locator("#panel-transport")).to_contain_text("step 2")
    steps(desk)  # the teacher takes the fork over
    sees(grace, 3)
    desk.get_by_role("button", name="Back to my session").click()
    expect(grace.locator("#where")).to_have_text("You are following the teacher.")
    sees(grace, 1)


def test_a_student_is_removed_and_nobody_else_joins(
    desk: Page, new_context: Contexts, accessible: Callable[[Page], None]
) -> None:
    ada, grace = (joined(desk, new_context(viewport=PHONE), name) for name in ("Ada", "Grace"))
    expect(desk.locator("#students-list li")).to_have_count(2)
    accessible(desk)
    desk.get_by_role("switch", name="Students can join").uncheck()
    desk.get_by_role("button", name="Remove: Ada").click()
    expect(ada.locator("#room-error")).to_have_text("The teacher removed you from the classroom.")
    expect(desk.locator("#joined")).to_have_text("Students: 1")
    ada.reload()
    expect(ada.locator(".note")).to_have_text("The teacher has closed this classroom to new students.")
    expect(grace.locator("#where")).to_have_text("You are following the teacher.")
    desk.reload()
    expect(desk.get_by_role("switch", name="Students can join")).not_to_be_checked()
    desk.get_by_role("switch", name="Students can join").check()
    join = ada.get_by_role("button", name="Join")
    for _attempt in range(50):  # the desk does not wait for the switch to be stored
        ada.reload()
        if join.count():
            break
        ada.wait_for_timeout(200)
    join.click()
    expect(desk.locator("#joined")).to_have_text("Students: 2")


def test_a_hand_stays_up_over_a_lost_page_until_it_is_lowered(desk: Page, new_context: Contexts) -> None:
    ada = joined(desk, new_context(viewport=PHONE), "Ada")
    ada.get_by_role("button", name="Raise hand").press("Enter")
    expect(desk.locator("#hands-list")).to_contain_text("Ada")
    ada.reload()
    expect(ada.get_by_role("button", name="Lower hand")).to_be_visible()
    desk.get_by_role("button", name="Lower: Ada").click()
    expect(desk.locator("#hands")).to_be_hidden()
    expect(ada.get_by_role("button", name="Raise hand")).to_be_visible()


def test_a_room_ends(desk: Page, new_context: Contexts, accessible: Callable[[Page], None]) -> None:
    ada = joined(desk, new_context(viewport=PHONE), "Ada")
    asked: list[str] = []
    desk.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    desk.get_by_role("button", name="End the classroom").click()
    expect(desk.locator("#joined")).to_have_text("The classroom has ended.")
    assert asked == []
    expect(ada.locator("#where")).to_have_text("The classroom has ended.")
    late = new_context(viewport=PHONE).new_page()
    late.goto(ada.url)
    expect(late.locator("main")).to_contain_text("This classroom has ended.")
    accessible(late)


def test_the_desk_is_folded_for_the_projector(
    desk: Page, new_context: Contexts, accessible: Callable[[Page], None]
) -> None:
    desk.set_viewport_size({"width": 1280, "height": 720})
    ada = joined(desk, new_context(viewport=PHONE), "Ada")
    desk.get_by_role("button", name="Fold the desk").press("Enter")
    expect(desk.get_by_text("Students join here")).to_be_hidden()
    expect(desk.locator("#view")).to_have_js_property("offsetWidth", 1280)
    ada.get_by_role("button", name="Raise hand").click()
    strip = desk.get_by_role("button", name="Show the desk")
    expect(strip).to_contain_text("Students: 1 · Raised hands: 1")
    expect(strip).to_be_focused()
    accessible(desk)
    strip.press("Enter")
    expect(desk.get_by_role("button", name="Lower: Ada")).to_be_visible()


def test_a_code_leads_from_the_first_page_into_the_room(
    desk: Page,
    server: PlaygroundServer,
    new_context: Contexts,
    accessible: Callable[[Page], None],
    complaints: Complaints,
) -> None:
    complaints.forgive("404")
    ada = new_context(viewport=PHONE).new_page()
    ada.goto(server.url)
    ada.get_by_role("link", name="Classroom", exact=True).click()
    ada.get_by_label("The code from your teacher").fill("wrong-code")
    ada.get_by_role("button", name="Continue").click()
    expect(ada.get_by_role("alert")).to_contain_text("No classroom has this link or code.")
    expect(ada.get_by_label("The code from your teacher")).to_have_value("WRONGCODE")
    accessible(ada)
    ada.get_by_label("The code from your teacher").fill(desk.locator("#code").inner_text().lower())
    ada.get_by_role("button", name="Continue").click()
    expect(ada.get_by_label("Your name")).to_be_visible()
