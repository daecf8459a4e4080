"""The statistics page and its CSV, as a visitor asks for them."""

from __future__ import annotations

import csv
import io
import re

import pytest

from tests.playground.workbench.conftest import page_text

HTMX = {"HX-Request": "true"}


@pytest.fixture
def run(visitor):
    """A visitor whose session has run to its end."""
    begun = visitor("cluster:small")
    begun.ask(lambda client: client.walk(200))
    return begun


def rows(response) -> list[list[str]]:
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(io.StringIO(response.content.decode())))


def test_a_new_session_says_that_nothing_was_tried(visitor) -> None:
    assert "No pod has been tried yet" in page_text(visitor("cluster:small").get("statistics"))


def test_a_step_of_the_past_has_the_figures_of_its_time(run) -> None:
    assert rows(run.get("statistics/attempts.csv"))[-1][1:] == ["4", "0", "0", "1.34.1"]
    assert rows(run.get("statistics/attempts.csv", at=1)) == [[]]
    assert "Follow the newest step" in page_text(run.get("statistics", at=1))


def test_each_chart_with_a_table_has_its_numbers_as_csv(run) -> None:
    text = run.get("statistics").content.decode()
    for name in ("use", "stranded", "pending", "attempts", "evaluations", "answers", "times"):
        assert f"/statistics/{name}.csv?at={run.head()}" in text
        head, *lines = rows(run.get(f"statistics/{name}.csv"))
        assert lines
        assert {len(line) for line in lines} == {len(head)}


def test_the_charts_of_the_metrics_page_have_theirs(run) -> None:
    assert rows(run.get("metrics/tries.csv"))[0] == ["bucket", "count", "release"]


@pytest.mark.parametrize("page", ["statistics/nothing.csv", "metrics/nothing.csv"])
def test_a_chart_that_is_not_there_is_not_found(run, page: str) -> None:
    assert run.get(page).status_code == 404


def test_a_page_that_has_seen_the_newest_step_gets_nothing(run) -> None:
    seen = {"seen": run.head()}
    assert run.browser.get(run.url + "statistics", seen, headers=HTMX).status_code == 204
    moved = run.browser.get(run.url + "statistics", {"seen": 1}, headers=HTMX)
    assert b'id="statistics-live"' in moved.content
    assert b"<html" not in moved.content


def test_a_view_link_shows_the_statistics(run) -> None:
    assert run.browser.get(run.view_url + "statistics").status_code == 200


@pytest.fixture
def killed(run):
    """The same, whose only scheduler is killed then."""
    answer = run.post("act/kill-scheduler", kind="Scheduler", name="kube-scheduler")
    assert answer.status_code == 302
    return run


@pytest.mark.parametrize("asked", ["", "kube-scheduler", "nobody"])
@pytest.mark.parametrize("page", ["statistics", "metrics"])
def test_where_no_scheduler_runs_the_page_says_so(killed, page: str, asked: str) -> None:
    answer = killed.get(page, scheduler=asked)
    assert answer.status_code == 200
    assert "No scheduler runs at this step" in page_text(answer)
    assert "No pod has been tried yet" not in page_text(answer)
    assert "its feature gate is off" not in page_text(answer)
    assert page_text(killed.get(page, at=killed.head() - 1)).count("No scheduler runs") == 0


@pytest.mark.parametrize("page", ["statistics", "metrics"])
def test_where_no_scheduler_runs_each_chart_is_an_empty_file(killed, page: str) -> None:
    charts = re.findall(r'id="t-([\w-]+)"', killed.get(page).content.decode())
    assert len(charts) >= 5
    for name in charts:
        assert len(rows(killed.get(f"{page}/{name}.csv"))) == 1


def test_where_no_scheduler_runs_the_text_has_no_metric(killed) -> None:
    assert killed.get("metrics.txt").content == b""
