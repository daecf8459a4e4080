"""Variants of lessons: what a seed draws is always the same, has one answer to each question, and is told truly in both languages."""

import os
import re

import pytest

from playground.lessons import LANGUAGES, judge, play, read_lessons
from playground.lessons.checking import wrong_answer
from playground.lessons.conditions import holds
from playground.lessons.format import TRACKS, Question
from playground.lessons.judging import as_text
from playground.lessons.own import document_of, hand
from playground.lessons.play import solve
from playground.lessons.texts import fill_placeholders, placeholders
from playground.lessons.variants import faults, is_same, problems_of_variants, proven
from playground.presenters.look import Look
from playground.presenters.story import present

VARYING = {lesson.slug: lesson for lesson in read_lessons() if lesson.pattern is not None}
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"  # make test-long
# The long set plays every lesson, and more of what a seed can draw; `manage.py lessons --check` proves each of them, too.
SLUGS = sorted(VARYING) if THOROUGH else sorted(VARYING)[::5]
SEEDS = ["7", "42", "99", "1000", "4711"] if THOROUGH else ["7", "4711"]
SEEDS_OF_WORLDS = (2,) if len(SEEDS) == 2 else (2, 3)
MOST_OBJECTS = 1_000


@pytest.fixture(scope="module")
def shown():
    """The variants of all lessons, as learners get them."""
    return {
        (slug, seed): hand(document_of(proven(VARYING[slug], seed, MOST_OBJECTS))[1])
        for slug in SLUGS
        for seed in SEEDS
    }


def test_every_track_has_a_lesson_that_varies():
    assert {lesson.plan.track for lesson in VARYING.values()} == set(TRACKS)
    assert len(VARYING) >= 45


@pytest.mark.parametrize(
    ("kind", "tolerance", "other", "same"),
    [("number", 2, 16.5, True), ("number", 1, 16.5, False), ("yesno", 0, True, False), ("number", 0, 15, True)],
)
def test_an_answer_is_the_same_within_its_tolerance(kind, tolerance, other, same):
    question = Question(kind=kind, answer={}, tolerance=tolerance)
    assert is_same(question, False if kind == "yesno" else 15, other) is same


@pytest.mark.parametrize("slug", SLUGS)
def test_nothing_is_wrong_with_what_a_lesson_varies(slug):
    assert list(problems_of_variants(VARYING[slug])) == []


@pytest.mark.parametrize("slug", SLUGS)
def test_every_variant_that_is_shown_has_one_answer_to_each_question(slug, shown):
    for seed in SEEDS:
        lesson = shown[slug, seed].lesson
        played = play(lesson)
        assert list(faults(lesson, played)) == []
        assert solve(lesson, played.last) == (False, True)
        for other in SEEDS_OF_WORLDS:
            keys = play(lesson, other).keys
            assert all(is_same(question, played.keys[card], keys[card]) for card, question in lesson.questions)
        for card, question in lesson.questions:
            options = played.options[card]
            if question.kind in ("node", "pod", "choice", "yesno"):
                chosen = [name for name in options if judge(question, played.keys[card], (name,)).right]
                assert len(chosen) == 1, (seed, card)


@pytest.mark.parametrize("slug", SLUGS)
def test_right_answers_to_a_variant_are_right_and_wrong_ones_wrong(slug, shown):
    for seed in SEEDS:
        handed = shown[slug, seed]
        for card, question in handed.lesson.questions:
            key = handed.keys[card]
            right = key if isinstance(key, tuple) else (as_text(key),)
            assert judge(question, key, right).right
            assert not judge(question, key, wrong_answer(question, key, handed.options[card])).right


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_variant_says_is_whole_and_has_its_own_values(slug, language, shown):
    for seed in SEEDS:
        handed = shown[slug, seed]
        words = handed.lesson.words[language]
        said = fill_placeholders(" ".join(words.texts()), {**handed.facts, "answer": "one"})
        assert not placeholders(said)
        named = placeholders(" ".join(words.texts())) & set(handed.lesson.drawn)
        assert named, "its words name nothing that varies"
        for name in named:
            assert re.search(rf"(?<![\w.]){re.escape(str(handed.lesson.drawn[name]))}(?!(?!m\b)\w)", said), (seed, name)


@pytest.mark.parametrize("slug", SLUGS)
def test_the_panel_of_a_variant_stands_in_both_languages_and_knows_its_lesson(slug, shown):
    handed = shown[slug, SEEDS[0]]
    end = play(handed.lesson).end
    shown_panel = present(end, Look(), handed.lesson.slug).context
    assert (shown_panel["lesson"], shown_panel["variant"], shown_panel["varies"]) == (slug, SEEDS[0], True)
    for card in [*shown_panel["chapters"], shown_panel["latest"]]:
        assert not any(placeholders(text) for words in card["words"].values() for text in words.values())
    assert holds(handed.lesson.plan.cards[-1].when, end)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_seed_draws_the_same_variant_each_time_and_others_draw_others(slug, shown):
    again = document_of(proven(VARYING[slug], SEEDS[0], MOST_OBJECTS))
    assert again[0] == shown[slug, SEEDS[0]].lesson.slug
    assert len({shown[slug, seed].lesson.slug for seed in SEEDS}) > 1


@pytest.mark.parametrize("slug", SLUGS)
def test_a_variant_has_variants_of_the_same_lesson(slug, shown):
    another = proven(shown[slug, SEEDS[0]].lesson, SEEDS[1], MOST_OBJECTS)
    same = shown[slug, SEEDS[1]]
    assert (another.lesson.drawn, another.keys) == (same.lesson.drawn, same.keys)
    assert another.lesson.origin == same.lesson.origin == slug
