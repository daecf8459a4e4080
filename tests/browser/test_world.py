"""A call that fails on demand, a historical queue and a scheduler that is missing, in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer
from tests.browser.studio import connected

POD = "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {%s containers: [{name: c, image: i}]}}"


@pytest.fixture
def studio(page: Page, server: PlaygroundServer) -> Page:
    """The studio of three nodes and four pods."""
    page.goto(server.url)
    page.locator("#release").evaluate("choice => choice.value = '1.34.1'")  # which locks SidecarContainers
    page.get_by_role("button", name="Three nodes", exact=True).click()
    page.wait_for_url("**/s/*/")
    return page


def test_the_next_binding_of_a_pod_fails_and_is_rolled_back(studio: Page, accessible: Callable[[Page], None]) -> None:
    studio.goto(f"{studio.url}?pod=default/web-2&tab=summary")
    connected(studio)
    studio.get_by_role("link", name="Fail or delay the next call, such as its binding").click()
    drawer = studio.locator("#drawer")
    expect(drawer.get_by_label("Pod", exact=True)).to_have_value("default/web-2")
    drawer.get_by_label("Duration").fill("3s")
    drawer.get_by_role("button", name="Inject").click()
    expect(drawer.get_by_role("button", name="Remove")).to_be_visible()
    accessible(studio)
    studio.keyboard.press("Escape")
    expect(studio.locator("#panel-queues").get_by_text("bind 409")).to_be_visible()
    studio.locator("#run").click()
    inspector = studio.locator("#panel-inspector")
    expect(inspector.get_by_text("PodScheduled=True")).to_be_visible()
    inspector.get_by_role("link", name="2nd attempt").click()
    studio.keyboard.press(
        "ArrowLeft"
    )  # just before the attempt that came through: it may have passed too fast to be seen
    expect(inspector.get_by_text("the object has been modified").first).to_be_visible()


def test_a_historical_queue_says_so(studio: Page) -> None:
    studio.goto(f"{studio.url}configuration")
    studio.get_by_label("The scheduling queue").select_option("historical")
    studio.get_by_role("button", name="Change the settings").click()
    expect(studio.get_by_text("The schedulers restarted")).to_be_visible()
    studio.get_by_role("link", name="Open the studio").click()
    expect(studio.locator("#panel-queues").get_by_text("historical: without hints")).to_be_visible()


def test_a_feature_gate_is_turned_off_and_a_locked_one_refused(
    studio: Page, accessible: Callable[[Page], None], complaints: Complaints
) -> None:
    complaints.forgive("422")
    studio.goto(f"{studio.url}configuration")
    expect(studio.get_by_label("SidecarContainers")).to_be_disabled()
    studio.get_by_label("PodLevelResources").uncheck()
    studio.get_by_role("button", name="Change the settings").click()
    expect(studio.get_by_text("The schedulers restarted")).to_be_visible()
    flag = studio.get_by_label("Value of --feature-gates")
    expect(flag).to_have_value("PodLevelResources=false")
    flag.fill("--feature-gates=SidecarContainers=false")
    studio.get_by_role("button", name="Apply these gates").click()
    expect(studio.get_by_text("feature is locked to true")).to_be_visible()
    accessible(studio)


def test_a_pod_of_no_scheduler_leads_to_starting_one(studio: Page) -> None:
    base = studio.url
    studio.goto(f"{base}yaml")
    studio.locator("textarea[name='text']").fill(POD % ("lonely", "schedulerName: batch,"))
    studio.locator("form.yaml-form button").first.click()
    expect(studio.get_by_text("1 object applied")).to_be_visible()
    studio.goto(base)
    studio.get_by_role("link", name="Start a scheduler").first.click()
    drawer = studio.locator("#drawer")
    drawer.get_by_role("button", name="Start the scheduler").click()
    expect(drawer.get_by_text("Scheduler “batch” started.")).to_be_visible()
    expect(studio.locator("#panel-queues").get_by_text("No such scheduler")).to_have_count(0)
