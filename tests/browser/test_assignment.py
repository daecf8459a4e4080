"""An assignment in real browsers: a student plays a lesson alone, and the teacher's table shows how far."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, expect

from playground.lessons import lesson_of, play
from tests.browser.lessons import Learner
from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected


def test_an_assignment_is_played_and_its_table_shows_first_tries(
    page: Page, server: PlaygroundServer, new_context: Callable[..., BrowserContext], accessible: Callable[[Page], None]
) -> None:
    page.goto(f"{server.url}/lessons/")
    page.get_by_role("link", name="Assign lessons").click()
    page.get_by_label("Title").fill("Week 1")
    for slug in ("gate", "requests"):
        page.locator(f"input[value={slug}]").check()
    accessible(page)
    page.get_by_role("button", name="Open the assignment").click()
    expect(page.locator("h1")).to_have_text("Week 1")
    student = new_context(reduced_motion="reduce").new_page()
    student.goto(str(page.locator(".way-in div a").get_attribute("href")))
    student.get_by_label("Your name").fill("Ada")
    student.get_by_role("button", name="Join").click()
    accessible(student)
    lesson = lesson_of("gate")
    assert lesson is not None
    student.locator("button[value=gate]").click()
    connected(student)
    learner = Learner(student, lesson, play(lesson), "en")
    if learner.panel.get_attribute("data-card") is None:
        learner._next()
    for number, card in enumerate(lesson.plan.cards, 1):
        learner.stands_at(number)
        if card.question is not None:
            learner.answer(card)
        if number < len(lesson.plan.cards):
            learner.go_on(number, card)
    with student.expect_response(lambda answer: answer.url.endswith("/lesson/done")) as told:
        learner.do_the_task(server.url)
    assert told.value.status == 204
    expect(student.locator("#stage")).to_have_attribute("data-stage", "cluster")
    student.get_by_role("link", name="Back to Week 1").click()
    expect(student.get_by_role("status")).to_contain_text("1 of 2 lessons finished")
    student.set_viewport_size({"width": 390, "height": 844})
    assert student.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    if shots := os.environ.get("SHOTS"):
        student.screenshot(path=f"{shots}/student.png")
    page.reload()
    row = page.locator("table.progress tbody tr").first
    expect(row).to_contain_text("Ada")
    expect(row.locator("td.done")).to_contain_text("0 / 2")  # two tries each, the first one wrong
    accessible(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Results as CSV").click()
    rows = list(csv.DictReader(Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()))
    played = [each for each in rows if each["first answer"]]
    assert [each["right on the first try"] for each in played] == ["no", "no"]
    assert all(each["student"] == "Ada" for each in rows) and len(rows) > len(played)
