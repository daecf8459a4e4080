"""Lessons: a world, cards that come as it is stepped, questions whose keys the engine computes, a task on a fork of one's own.

A lesson is a folder of `content`: `lesson.yaml` holds what happens, `en.yaml` and `zh-hans.yaml` the words (docs/lessons.md).
`read_lessons` reads them all, `play` plays one with the engine that it is given, `problems` says what is wrong with it.
"""

from playground.lessons.checking import problems
from playground.lessons.format import LANGUAGES, TRACKS, Card, Lesson, Question
from playground.lessons.judging import judge
from playground.lessons.play import Playthrough, find_playthrough, list_reached_cards, play
from playground.lessons.reading import BadLesson, beginning, command_of, lesson_of, read_lesson, read_lessons
from playground.lessons.texts import fill_placeholders

__all__ = ["LANGUAGES", "TRACKS", "BadLesson", "Card", "Lesson", "Playthrough", "Question", "beginning"]
__all__ += ["command_of", "fill_placeholders", "find_playthrough", "judge", "lesson_of", "list_reached_cards", "play"]
__all__ += ["problems", "read_lesson", "read_lessons"]
