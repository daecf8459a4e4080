"""A configuration as people have it, in a real browser: looked at, turned into v1, applied."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Complaints
from tests.browser.server import PlaygroundServer

OLD = """\
apiVersion: kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
leaderElection:
  resourceLock: endpointsleases
profiles:
  - schedulerName: default-scheduler
    plugins:
      queueSort:
        enabled:
          - name: NodeResourceTopologyMatch
        disabled:
          - name: "*"
      filter:
        disabled:
          - name: VolumeZone
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy: {type: MostAllocated}
"""


@pytest.fixture
def configuration(page: Page, server: PlaygroundServer) -> Page:
    """The page Configuration of a session with a small cluster."""
    page.goto(server.url)
    page.locator("button[name='start'][value='cluster:small']").first.click()
    page.wait_for_url("**/s/*/**")
    page.goto(f"{page.url.partition('?')[0]}configuration")
    return page


def test_a_v1beta2_configuration_is_turned_into_v1_and_applied(
    configuration: Page, accessible: Callable[[Page], None], complaints: Complaints
) -> None:
    complaints.forgive("422")
    editor = configuration.locator(".yaml-form textarea[name='text']")
    editor.fill(OLD)
    configuration.get_by_role("button", name="Apply the configuration").click()
    offer = configuration.get_by_role("region", name="This is a configuration of v1beta2")
    expect(offer.get_by_text("TaintToleration 1 (now 3)")).to_be_visible()
    expect(offer.get_by_text("filters and scores nodes by the resources of their NUMA zones")).to_be_visible()
    expect(offer.locator("ins", has_text="kubescheduler.config.k8s.io/v1")).to_be_visible()
    accessible(configuration)
    offer.get_by_role("button", name="Convert to v1 and apply without these parts").focus()
    configuration.keyboard.press("Enter")
    expect(configuration.get_by_text("Configuration applied. The scheduler restarted.")).to_be_visible()
    expect(configuration.locator(".points s", has_text="VolumeZone").first).to_be_visible()


def test_the_v1_text_goes_into_the_editor(configuration: Page, complaints: Complaints) -> None:
    complaints.forgive("422")
    configuration.locator(".yaml-form textarea[name='text']").fill(OLD)
    configuration.get_by_role("button", name="Apply the configuration").click()
    configuration.get_by_role("button", name="Put the v1 text into the editor").click()
    editor = configuration.locator(".yaml-form textarea[name='text']")
    assert editor.input_value().startswith("apiVersion: kubescheduler.config.k8s.io/v1\n")
