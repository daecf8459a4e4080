"""The metrics page and the text form, as a visitor asks for them."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.playground.workbench.conftest import page_text

HTMX = {"HX-Request": "true"}


@pytest.fixture
def run(visitor):
    """A visitor whose session has run to its end."""
    begun = visitor("cluster:small")
    begun.ask(lambda client: client.walk(200))
    return begun


def test_a_new_session_says_that_nothing_was_tried(visitor) -> None:
    assert "No pod has been tried yet" in page_text(visitor("cluster:small").get("metrics"))


def test_the_page_tells_what_was_counted(run) -> None:
    text = page_text(run.get("metrics"))
    assert "pods bound 4 " in text
    assert "scheduler_scheduling_duration_seconds" in text  # a name of older releases


def test_a_step_of_the_past_has_the_figures_of_its_time(run) -> None:
    text = run.get("metrics.txt", at=1).content.decode()
    assert "scheduler_schedule_attempts_total" not in text
    assert "Follow the newest step" in page_text(run.get("metrics", at=1))


def test_the_text_is_what_prometheus_reads(run) -> None:
    response = run.get("metrics.txt")
    assert response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    names = {family.name for family in text_string_to_metric_families(response.content.decode())}
    assert {"scheduler_schedule_attempts", "scheduler_pending_pods"} <= names


def test_a_page_that_has_seen_the_newest_step_gets_nothing(run) -> None:
    seen = {"seen": run.head(), "q": ""}
    assert run.browser.get(run.url + "metrics", seen, headers=HTMX).status_code == 204
    moved = run.browser.get(run.url + "metrics", {"seen": 1}, headers=HTMX)
    assert b'id="metrics-live"' in moved.content
    assert b"<html" not in moved.content


def test_the_filter_gets_the_list_alone(run) -> None:
    wanted = {**HTMX, "HX-Target": "metrics-all"}
    shown = run.browser.get(run.url + "metrics", {"q": "preemption_victims"}, headers=wanted).content.decode()
    assert shown.count('<details class="fieldset metric"') == 1
    assert "metrics-live" not in shown


def test_a_view_link_shows_the_metrics(run) -> None:
    assert run.browser.get(run.view_url + "metrics").status_code == 200


@pytest.mark.parametrize("page", ["metrics", "metrics.txt"])
def test_a_scheduler_that_is_not_there_is_refused(run, page: str) -> None:
    response = run.get(page, scheduler="nobody")
    assert response.status_code == 404
    assert "No scheduler nobody" in page_text(response)
