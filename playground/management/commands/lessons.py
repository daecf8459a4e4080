"""`python manage.py lessons`: the lessons there are; with --check each is played with right and wrong answers."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from playground.lessons import BadLesson, Lesson, problems, read_lessons
from playground.lessons.reading import CONTENT
from playground.management.terminal.tables import table

WRONG = 1


class Command(BaseCommand):
    """Lists lessons by track, or checks them."""

    help = (
        "List the lessons, with track, languages, steps, questions and minutes. --check plays each one to its end with the engine, "
        "answers its questions right and wrong, solves its task, and holds its languages against each other. Exit status: 0 all is "
        "well, 1 a lesson is not, 2 a lesson's files can't be read."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to check, and how to print."""
        parser.add_argument(
            "--check", action="store_true", help="play each one, and say what is wrong with it"
        )
        parser.add_argument("--json", action="store_true", help="for machines")
        parser.add_argument(
            "--from",
            dest="folder",
            type=Path,
            default=CONTENT,
            help="another folder of lessons than the own one",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print them; the exit status says whether all is well."""
        try:
            lessons = read_lessons(options["folder"])
        except BadLesson as error:
            raise CommandError(str(error), returncode=2) from error
        slugs = frozenset(lesson.slug for lesson in lessons)
        wrong = {each.slug: problems(each, slugs) for each in lessons} if options["check"] else {}
        rows = [_row(lesson, not wrong.get(lesson.slug)) for lesson in lessons]
        if options["json"]:
            self.stdout.write(json.dumps({"lessons": rows}, ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join(table(HEADS, [_cells(row) for row in rows])))
        for slug, sentences in wrong.items():
            for sentence in sentences:
                self.stderr.write(f"{slug}: {sentence}")
        if any(wrong.values()):
            sys.exit(WRONG)


HEADS = ("LESSON", "TRACK", "LANGUAGES", "STEPS", "QUESTIONS", "MINUTES", "OK")


def _row(lesson: Lesson, ok: bool) -> dict[str, Any]:
    """A lesson as the command prints it; `steps` are the cards that it is told in."""
    return {
        "slug": lesson.slug,
        "track": lesson.plan.track,
        "languages": list(lesson.words),
        "steps": len(lesson.plan.cards),
        "questions": len(lesson.questions),
        "minutes": lesson.plan.minutes,
        "ok": ok,
    }


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        ",".join(value)
        if isinstance(value, list)
        else ("ok" if value else "no")
        if isinstance(value, bool)
        else str(value)
        for value in row.values()
    ]
