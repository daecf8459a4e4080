"""Reader of lesson folders."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from playground.common.catalogs import read_yaml
from playground.lessons.format import LANGUAGES, TRACKS, CardAction, Lesson, Plan, Words
from playground.lessons.own import PREFIX, find_handed
from playground.lessons.varying import BadVariation, as_written
from playground.workbench.builder.manifests import node_manifests, pod_manifests
from scheduler_core.world.commands import ApplyObjects, Command, SetConfiguration, SetSettings, command_from_json

CONTENT = Path(__file__).parent / "content"
# libyaml's, ten times as fast, where it is installed: all lessons are read for the first page.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
T = TypeVar("T")


class BadLesson(ValueError):
    """A lesson's file can't be read: which file, and where in it."""


@lru_cache(maxsize=4)
def read_lessons(content: Path = CONTENT) -> tuple[Lesson, ...]:
    """Every lesson of a folder of lessons, by track, each track from its first lesson on."""
    lessons = [read_lesson(path.parent) for path in sorted(content.glob("*/lesson.yaml"))]
    follows = {lesson.plan.next: lesson for lesson in lessons}
    return tuple(sorted(lessons, key=lambda lesson: (TRACKS.index(lesson.plan.track), _before(lesson, follows))))


def _before(lesson: Lesson, follows: Mapping[str, Lesson]) -> int:
    """Return the number of lessons that lead to the lesson."""
    count, passed = 0, {lesson.slug}
    while (earlier := follows.get(lesson.slug)) is not None and earlier.slug not in passed:
        count, lesson = count + 1, earlier
        passed.add(lesson.slug)
    return count


def lesson_of(slug: str) -> Lesson | None:
    """Return the lesson of that name, or None. Includes users' lessons that this process has registered."""
    if slug.startswith(PREFIX):
        own = find_handed(slug)
        return None if own is None else own.lesson
    return next((lesson for lesson in read_lessons() if lesson.slug == slug), None)


@lru_cache(maxsize=1)
def read_documents() -> list[dict[str, Any]]:
    """The documents that lessons play, with their titles, addresses, lessons, and sections."""
    documents, sections = (read_yaml(CONTENT.parent / name) for name in ("documents.yaml", "sections.yaml"))
    return [{**each, "sections": sections.get(each["title"]["en"], [])} for each in documents]


def read_lesson(folder: Path) -> Lesson:
    """Return the lesson of one folder in its languages. Raise BadLesson with the file and the field."""
    plan = _read(folder / "lesson.yaml", Plan)
    words = {
        language: _read(folder / f"{language}.yaml", Words)
        for language in LANGUAGES
        if (folder / f"{language}.yaml").exists()
    }
    try:
        return as_written(Lesson(folder.name, plan, words))
    except BadVariation as error:
        raise BadLesson(f"{folder.name}/lesson.yaml: {error}") from error


def _read(path: Path, kind: type[T]) -> T:
    where = f"{path.parent.name}/{path.name}"
    try:
        return msgspec.convert(yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER), kind)  # noqa: S506 - plain data alone
    except (yaml.YAMLError, msgspec.ValidationError) as error:
        raise BadLesson(f"{where}: {error}") from error


def beginning(plan: Plan) -> tuple[Command, ...]:
    """Return the commands that build a lesson's world."""
    commands: list[Command] = []
    if plan.settings:
        commands.append(SetSettings(dict(plan.settings)))
    if plan.configuration is not None:
        commands.append(SetConfiguration(dict(plan.configuration)))
    commands.append(_apply(CardAction(nodes=plan.nodes, pods=plan.pods, apply=plan.objects)))
    return (*commands, *(command_from_json(dict(each)) for each in plan.commands))


def command_of(act: CardAction) -> Command:
    """Return the command of an action."""
    return command_from_json(dict(act.command)) if act.command is not None else _apply(act)


def _apply(act: CardAction) -> ApplyObjects:
    """Return the command that creates nodes, explicit objects, and pods, in this order."""
    objects = [manifest for wanted in act.nodes for manifest in node_manifests(**wanted)]
    objects += [dict(manifest) for manifest in act.apply]
    return ApplyObjects(tuple(objects + [manifest for wanted in act.pods for manifest in pod_manifests(**wanted)]))
