"""A lesson whose first question is answered, and a classroom whose question is revealed."""

from __future__ import annotations

from playwright.sync_api import Page

PHONE = {"width": 390, "height": 844}
ANSWERS = (("Ada", "large"), ("Grace", "small"), ("Edsger", "medium"))


def answer(page: Page) -> None:
    """The wrong one, so that the picture has what a lesson says then."""
    page.locator("#panel-story .option").filter(has_text="gpu").click()
    page.get_by_role("button", name="Answer", exact=True).first.click()
    page.locator("#lesson-answer .verdict").wait_for()


def reveal(page: Page) -> None:
    """Three students come, are asked for a node, and each gives another one."""
    page.locator("#share-open").click()
    page.get_by_role("button", name="Open a classroom").click()
    link = str(page.locator(".way-in a").get_attribute("href"))
    page.frame_locator("#view").locator("body[data-connected='1']").wait_for()
    assert page.context.browser is not None
    rooms = [page.context.browser.new_context(viewport=PHONE) for _ in ANSWERS]  # type: ignore[arg-type]
    students = [room.new_page() for room in rooms]
    for student, (name, _node) in zip(students, ANSWERS, strict=True):
        student.goto(link)
        student.get_by_label("Your name").fill(name)
        student.get_by_role("button", name="Join").click()
        student.locator("body[data-connected='1']").wait_for()
    students[0].get_by_role("button", name="Raise hand").click()
    page.get_by_role("button", name="Which node?").click()
    for student, (_name, node) in zip(students, ANSWERS, strict=True):
        student.get_by_label(node, exact=True).check()
        student.get_by_role("button", name="Answer").click()
    page.locator(".answers caption").filter(has_text="Answers: 3").wait_for()
    page.get_by_role("button", name="Reveal").click()
    page.locator(".reasons").first.wait_for()
    page.locator("#joined").filter(has_text="Students: 3").wait_for()
    page.evaluate("document.getElementById('desk-side').scrollTo(0, 0)")
    for room in rooms:
        room.close()
