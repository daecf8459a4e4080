"""`python manage.py lessons`: lists lessons; --check plays each one with right and wrong answers."""

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from playground.lessons import BadLesson, Lesson, play, problems, read_lessons
from playground.lessons.authoring import check, files_in
from playground.lessons.authoring.files import read_files
from playground.lessons.checking import move_to_release
from playground.lessons.proof import find_unshown
from playground.lessons.reading import CONTENT
from playground.lessons.variants import problems_of_variants
from playground.management.errors import PlainCommand
from playground.management.terminal.printing import table
from scheduler_core.scheduler.config import RELEASES

WRONG = 1
UNREAD = 2


class Command(PlainCommand):
    """A command that lists lessons by track, or checks them."""

    help = (
        "List the lessons, with track, languages, steps, questions and minutes. --check plays each one to its end with the engine, "
        "answers its questions right and wrong, solves its task, holds its languages against each other, and proves some variants "
        "where it varies. Exit status: 0 all is well, 1 a lesson is not, 2 a lesson's files can't be read."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="play each one, and say what is wrong with it")
        parser.add_argument(
            "path",
            nargs="?",
            type=Path,
            help="the folder of one lesson of your own, which is held to what the studio asks",
        )
        parser.add_argument("--json", action="store_true", help="for machines")
        parser.add_argument(
            "--release",
            choices=("all", *RELEASES),
            help="with --check: in a world of this release of kube, or of each, where the lesson does not choose it or is about others",
        )
        parser.add_argument(
            "--from", dest="folder", type=Path, default=CONTENT, help="another folder of lessons than the own one"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the lessons. The exit status reports problems."""
        if options["path"] is not None:
            self._own(options["path"], options["json"])
            return
        try:
            lessons = read_lessons(options["folder"])
        except BadLesson as error:
            raise CommandError(str(error), returncode=UNREAD) from error
        slugs = frozenset(lesson.slug for lesson in lessons)
        wrong = {each.slug: _check(each, slugs, options["release"]) for each in lessons} if options["check"] else {}
        rows = [_row(lesson, not wrong.get(lesson.slug)) for lesson in lessons]
        if options["json"]:
            self.stdout.write(json.dumps({"schema": SCHEMA, "lessons": rows}, ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join(table(HEADS, [_cells(row) for row in rows])))
        for slug, sentences in wrong.items():
            for sentence in sentences:
                self.stderr.write(f"{slug}: {sentence}")
        if any(wrong.values()):
            sys.exit(WRONG)

    def _own(self, folder: Path, as_json: bool) -> None:
        """Check and print one lesson of the user's own."""
        try:
            files = files_in(folder)
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{folder}: {error}", returncode=UNREAD) from error
        found = check(files, settings.MAX_OBJECTS)
        lesson = None if found.findings else read_files(files)
        unshown = list(find_unshown(lesson, play(lesson))) if lesson is not None else []
        # The row of a user's own lesson, as far as the lesson could be read.
        row = {
            "slug": folder.resolve().name,
            "track": found.track,
            "languages": list(found.titles),
            "steps": len(found.cards),
            "questions": found.questions,
            "minutes": found.minutes,
            "ok": not found.findings,
        }
        row["ok"] = row["ok"] and not unshown
        if as_json:
            self.stdout.write(json.dumps({"schema": SCHEMA, "lessons": [row]}, ensure_ascii=False, indent=2))
        else:
            self.stdout.write("\n".join(table(HEADS, [_cells(row)])))
        for finding in found.findings:
            line = f":{finding.line}" if finding.line else ""
            self.stderr.write(f"{finding.file}{line}: {finding.text}" if finding.file else finding.text)
        for sentence in unshown:
            self.stderr.write(sentence)
        if found.findings or unshown:
            sys.exit(UNREAD if found.findings and found.findings[0].file else WRONG)


def _check(lesson: Lesson, slugs: frozenset[str], release: str | None) -> list[str]:
    """Return the problems of a lesson as written and of its variants; or in one release, or in each."""
    if release is None:
        return [*problems(lesson, slugs), *problems_of_variants(lesson)]
    found = []
    for each in RELEASES if release == "all" else (release,):
        if (moved := move_to_release(lesson, each)) is not None:
            found += [f"{each}: {what}" for what in problems(moved, slugs)]
    return found


SCHEMA = "lessons/v1"
HEADS = ("LESSON", "TRACK", "LANGUAGES", "STEPS", "QUESTIONS", "MINUTES", "OK")


def _row(lesson: Lesson, ok: bool) -> dict[str, Any]:
    """Return a lesson's data for printing; `steps` is the number of its cards."""
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
