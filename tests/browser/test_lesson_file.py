"""A lesson's file, opened from disk by a browser without a network: wrong answers get their hints, and then the explanation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.server import PlaygroundServer

Accessible = Callable[[Page], None]


@pytest.fixture
def opened(
    page: Page, new_context: Callable[..., BrowserContext], server: PlaygroundServer, tmp_path: Path
) -> Callable[[str], Page]:
    def open_file(slug: str) -> Page:
        file = tmp_path / f"{slug}.html"
        file.write_bytes(page.request.get(f"{server.url}/l/{slug}/lesson.html").body())
        there = new_context(offline=True).new_page()
        there.goto(file.as_uri())
        return there

    return open_file


def answer(form: Locator) -> Locator:
    form.get_by_role("button", name="Answer", exact=True).click()
    return form.locator(".verdict")


def explanation(form: Locator) -> Locator:
    return form.locator("xpath=following-sibling::details[1]")


def test_a_wrong_node_is_explained_by_what_refuses_it(opened: Callable[[str], Page], accessible: Accessible) -> None:
    page = opened("taints")
    form = page.locator("form[data-kind=node]").first
    form.get_by_label("gpu").check()
    said = answer(form)
    expect(said).to_contain_text("Not quite.")
    expect(said).to_contain_text("untolerated taint {dedicated: gpu}")
    expect(explanation(form).locator("p").last).to_be_in_viewport()
    accessible(page)
    form.get_by_label("worker").check()
    expect(answer(form)).to_be_hidden()


def test_a_wrong_number_is_explained_by_the_mistake_and_a_second_one_by_the_answer(
    opened: Callable[[str], Page],
) -> None:
    page = opened("taints")
    form = page.locator("form[data-kind=number]").first
    form.get_by_label("Your number").fill("1")
    expect(answer(form)).to_contain_text("Only resources that are not requested yet are free.")
    expect(explanation(form).locator("p").last).to_be_hidden()
    form.get_by_label("Your number").fill("2")
    expect(answer(form)).to_contain_text("Your number is too high.")
    expect(form.get_by_text("Only resources that are not requested yet are free.")).to_be_hidden()
    expect(explanation(form)).to_contain_text("0")
    expect(explanation(form).locator("p").last).to_be_in_viewport()


def test_two_options_leave_no_second_try(opened: Callable[[str], Page]) -> None:
    page = opened("node-pressure")
    form = page.locator("form[data-kind=yesno]").first
    form.get_by_label("No", exact=True).check()
    expect(answer(form)).to_contain_text("Not quite.")
    expect(explanation(form)).to_contain_text("Yes")
    expect(explanation(form).locator("p").last).to_be_in_viewport()
