"""Forms, sentences and the list of steps: beside the stage, never over it, and in few requests."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected, run_to_the_end, start, step_is


def box(part: Locator) -> dict[str, Any]:
    found = part.bounding_box()
    assert found is not None
    return dict(found)


def test_a_form_is_beside_the_stage_and_below_the_lesson_with_its_button_in_sight(
    page: Page, server: PlaygroundServer
) -> None:
    scripts: list[str] = []
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server.url}/lessons/")
    page.on("request", lambda request: scripts.append(request.url) if request.resource_type == "script" else None)
    page.locator('button[name=start][value="story:first-placement"]').first.click()
    connected(page)
    assert len(scripts) <= 10
    page.get_by_role("navigation", name="Create").get_by_role("link", name="Node").click()
    form, stage, story = page.locator("#drawer"), page.locator("#stage"), page.locator("#panel-story, .story").first
    button = form.get_by_role("button", name=re.compile("^Create . nodes$"))
    expect(button).to_be_in_viewport()
    expect(story).to_be_in_viewport()
    assert box(form)["x"] >= box(stage)["x"] + box(stage)["width"] - 1
    assert box(form)["y"] >= box(story)["y"] + box(story)["height"] - 1
    assert box(form)["y"] > box(page.locator("#bar"))["height"]
    assert box(form)["x"] + box(form)["width"] <= 1281
    form.get_by_role("link", name=re.compile("^GPU")).click()
    expect(form.get_by_label("Name pattern")).to_have_value("gpu-{i}")
    form.get_by_label("Create and add another").uncheck()
    form.get_by_label("Count").fill("1")
    form.get_by_role("button", name="Create 1 node").click()
    expect(form).to_be_hidden()
    expect(page.locator("#toasts")).to_contain_text("1 node created")


def test_in_a_task_the_pod_is_changed_below_the_goals_without_scrolling(page: Page, server: PlaygroundServer) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{server.url}/l/gate/?card=4")
    page.locator("main form button.primary").first.click()
    connected(page)
    page.get_by_role("button", name="Try it on a fork").click()
    expect(page.locator(".story .goals")).to_contain_text("A scheduling gate still holds the pod")
    connected(page)
    page.locator("#rail [data-pod='default/later']").first.click()
    side = page.locator("#narrator")
    expect(side.locator(".why-events")).to_contain_text("PodUpdatePodSchedulingGatesEliminated")
    assert side.evaluate("(each) => each.scrollWidth - each.clientWidth") <= 1
    page.keyboard.press("a")
    page.get_by_role("menuitem", name="Change the gates").click()
    expect(page.locator("#drawer").get_by_role("button", name="Change the gates")).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("Remove", exact=True)).to_be_in_viewport(ratio=1)


def test_the_palette_completes_a_sentence_and_carries_it_out(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    page.keyboard.press("Control+k")
    field = page.locator("#palette-q")
    field.press_sequentially("taint")
    expect(page.locator("#palette-list [role=option]").first).to_contain_text("Taint …")
    page.keyboard.press("Enter")
    expect(field).to_have_value("taint ")
    expect(page.locator("#palette-list [role=option]").first).to_contain_text("Taint large")
    field.press_sequentially("large nonsense")
    expect(page.locator("#palette-list [role=option]").first).to_contain_text("is not a taint")
    field.fill("taint large a=b:NoSchedule")
    expect(page.locator("#palette-list [role=option]").first).to_have_text(re.compile("^Taint large a=b:NoSchedule"))
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Taint added to large")


def test_the_list_of_steps_leads_to_a_step_and_goes_along(page: Page, server: PlaygroundServer) -> None:
    start(page, server)
    run_to_the_end(page)
    page.keyboard.press("l")
    steps = page.locator("#step-list")
    steps.locator("[data-step] a", has_text="NodeResourcesFit refuses").first.click()
    expect(page.locator(".sentence")).to_contain_text("NodeResourcesFit refuses")
    here = int(steps.locator("[aria-current]").get_attribute("data-step") or 0)
    page.locator("#stage-h").click()
    page.keyboard.press("ArrowRight")
    step_is(page, here + 1)
    expect(steps.locator("[aria-current]")).to_have_attribute("data-step", str(here + 1))


def test_in_a_fork_the_bar_shows_everything_in_full(page: Page, server: PlaygroundServer) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    start(page, server)
    page.keyboard.press("ArrowRight")
    step_is(page, 2)
    page.locator("#more summary").click()
    page.locator("#more").get_by_role("button", name="Fork").click()
    expect(page.locator(".branch-pill")).to_be_visible()
    connected(page)
    expect(page.locator(".readouts .kube")).to_be_in_viewport()
    for part in ("#session-name", ".transport", ".make", ".bar-end"):
        cut = page.locator(part).evaluate("(each) => each.scrollWidth - each.clientWidth")
        assert cut <= 1, part
    boxes = [box(page.locator(part)) for part in (".bar-start", ".make", ".transport", ".bar-end")]
    assert all(left["x"] + left["width"] <= right["x"] + 1 for left, right in pairwise(boxes))


def test_in_the_past_the_name_is_whole_and_at_the_end_no_message_covers_the_lesson(
    page: Page, server: PlaygroundServer
) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    start(page, server)
    name = page.locator("#session-name")
    name.fill("Four nodes with GPUs to claim")
    name.press("Enter")
    head = run_to_the_end(page)
    page.keyboard.press("ArrowRight")
    message = page.locator(".toast")
    expect(message).to_have_text("The simulation has nothing more to do.")
    assert box(message)["x"] + box(message)["width"] <= box(page.locator("#narrator"))["x"]
    assert box(message)["y"] + box(message)["height"] <= box(page.locator("#timeline"))["y"]
    page.locator("#stage-h").click()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#panel-transport")).not_to_have_attribute("data-position", str(head))
    expect(page.locator("#follow-form")).to_be_visible()
    assert name.evaluate("(each) => each.scrollWidth - each.clientWidth") <= 1
