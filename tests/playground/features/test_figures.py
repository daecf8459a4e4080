"""Interactive figures: their numbers are the engine's, in both languages, for all that their controls allow."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from playground.features.figures.figures import FIGURES, draw
from playground.lessons import LANGUAGES, lesson_of, read_lessons
from playground.lessons.figures import Control, read_figures
from playground.lessons.reading import read_documents

ROOT = Path(__file__).resolve().parents[3]
# Headings that only introduce others, which are sections.
GROUPS = {
    "scheduling, preemption and eviction", "pod disruption", "topology spread constraint examples", "limitations of preemption",
    "troubleshooting", "best practices",
}  # fmt: skip


def plain(heading: str) -> str:
    return heading.lower().replace(" the ", " ").replace("-", " ")


def ends_of(control: Control) -> list[tuple[str, Any]]:
    chosen: list[int | str] = list(control.among) or [control.least, control.value, control.most]
    return [(control.name, value) for value in dict.fromkeys(chosen)]


def rows_of(name: str, **values: int | str) -> list[list[str]]:
    return [[cell.text for cell in row] for row in draw(name, "en", tuple(values.items())).rows]


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_something_for_all_ends_of_its_controls(name: str) -> None:
    figure = read_figures()[name]
    assert 1 <= len(figure.controls) <= 2
    assert set(figure.words["en"]) == set(figure.words["zh-hans"])
    for values in product(*map(ends_of, figure.controls)):
        pictures = [draw(name, language, values) for language in LANGUAGES]
        assert all(picture.caption and picture.rows for picture in pictures)
        assert len(pictures[0].marks) == len(pictures[1].marks)
        assert all(len(row) == len(pictures[0].heads) == len(pictures[1].heads) for row in pictures[0].rows)
        assert all(-1 <= mark.y <= 101 and mark.h <= 101 for mark in pictures[0].marks if mark.kind != "path")


def test_the_figures_are_those_of_the_table() -> None:
    assert list(read_figures()) == list(FIGURES)


def test_the_numbers_are_what_kube_scheduler_computes() -> None:
    assert [row[1] for row in rows_of("backoff")] == ["1 s", "2 s", "4 s", "8 s", "10 s", "10 s", "10 s", "10 s"]
    assert dict(rows_of("sampling"))["5,000"] == "500"
    assert [row[2] for row in rows_of("skew", skew=2, c=2)] == ["skew 3", "skew 1", "skew 2"]
    assert [row[1][-1] for row in rows_of("skew", skew=1, c=2)] == ["d", "t", "d"]  # refused, next, refused
    assert [row[0] for row in rows_of("weights", disk=1, zone=50)] == ["a: 1", "b: 98", "c: 100", "d: 0"]
    assert draw("victims", "en").caption.startswith("Node b is nominated")
    assert draw("victims", "en", (("budget", "2"),)).caption.startswith("Node c is nominated")
    assert "Never two leaders" in draw("leases", "en", (("rate", "1"),)).caption
    assert "Both lead" in draw("leases", "en", (("rate", "2"),)).caption
    assert "no pod is bound" in draw("gang", "en", (("quorum", 3), ("nodes", 1))).caption


def test_a_value_that_a_control_does_not_have_is_refused_in_words(client: Client) -> None:
    answer = client.get(reverse("figure", args=["skew"]), {"skew": "99"})
    assert answer.status_code == 400
    assert "Expected: 1 – 4" in answer.content.decode()
    assert client.get(reverse("figure", args=["nope"])).status_code == 404


def test_another_sites_page_may_frame_a_figure_alone_and_gets_no_cookie(client: Client) -> None:
    framed = client.get(reverse("figure-embed", args=["skew"]), {"lang": "zh-hans", "skew": "3"})
    assert "frame-ancestors *" in framed.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in framed.headers
    assert not framed.cookies
    assert "上限 4" in framed.content.decode()
    assert client.get(reverse("figure", args=["skew"])).headers["X-Frame-Options"] == "DENY"


def test_a_script_gets_the_picture_alone(client: Client) -> None:
    page = client.get(reverse("figure", args=["skew"]), headers={"hx-request": "true"}).content.decode()
    assert "<html" not in page
    assert 'id="value-skew"' in page


def test_each_section_of_a_document_has_a_lesson_or_a_figure(client: Client) -> None:
    for document in read_documents():
        for section in document["sections"]:
            played = [*section.get("lessons", ()), *section.get("figures", ())]
            assert played, section["en"]
            assert all(lesson_of(slug) for slug in section.get("lessons", ()))
            assert set(section.get("figures", ())) <= set(FIGURES)
    page = client.get(reverse("by-document")).content.decode()
    assert reverse("figure", args=["thresholds"]) in page


def test_each_heading_of_the_documentation_is_a_document_a_section_or_a_heading_of_sections() -> None:
    lines = (ROOT / "tests" / "headings.txt").read_text().splitlines()
    headings = [line.partition(" | ")[2] for line in lines if line.startswith("Scheduling, Preemption and")]
    sections = [section for document in read_documents() for section in document["sections"]]
    named = [document["title"]["en"] for document in read_documents()] + [section["en"] for section in sections]
    known = {*map(plain, named), *(plain(section.get("anchor", "")) for section in sections), *GROUPS}
    assert len(headings) > 100
    assert [each for each in headings if plain(re.sub(r"^\d+ - ", "", each)) not in known] == []


def test_each_lesson_names_what_it_plays_and_the_lesson_that_follows(client: Client) -> None:
    played = {slug for document in read_documents() for slug in document["lessons"]}
    sections = [each for document in read_documents() for each in document["sections"]]
    played |= {slug for each in sections for slug in each.get("lessons", ())}
    assert {lesson.slug for lesson in read_lessons()} <= played
    page = client.get(reverse("lesson", args=["weights"])).content.decode()
    assert "#node-affinity-weight" in page
    assert "Next lesson" in page


def test_each_figure_is_used_by_a_lesson_and_by_a_section() -> None:
    used = {card.figure for lesson in read_lessons() for card in lesson.plan.cards if card.figure}
    assert used == set(FIGURES)
    placed = {
        name for document in read_documents() for each in document["sections"] for name in each.get("figures", ())
    }
    assert placed == set(FIGURES)


def test_a_lesson_is_a_file_with_its_questions_and_their_answers(client: Client) -> None:
    answer = client.get(reverse("lesson-file", args=["weights"]))
    text = answer.content.decode()
    assert answer.headers["Content-Disposition"] == 'attachment; filename="weights.html"'
    assert text.count("<fieldset>") == 3
    assert '<data value="3">' in text
    assert "src=" not in text
    assert "Your number is too high." in text
    assert "http-equiv=" in text
    assert not answer.cookies


def test_the_evidence_in_the_file_includes_what_pods_refer_to(client: Client) -> None:
    text = client.get(reverse("lesson-file", args=["volume-zone"])).content.decode()
    heads = {tuple(re.sub(r"<[^>]+>", " ", head).split()) for head in re.findall(r"<h2>(.*?)</h2>", text, re.DOTALL)}
    assert {("Pod", "db"), ("PersistentVolumeClaim", "data"), ("PersistentVolume", "files-b")} <= heads


def test_a_wrong_node_gets_the_engines_hint_in_the_file_too(client: Client) -> None:
    text = client.get(reverse("lesson-file", args=["taints"])).content.decode()
    hints = re.findall(r'<p data-given="([\w-]+)" hidden>\s*(.*?)\s*</p>', text)
    assert any(name == "gpu" and "untolerated taint" in hint for name, hint in hints), hints
