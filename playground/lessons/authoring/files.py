"""The files of a lesson as texts: read with lines for errors, and written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import yaml

from playground.lessons.format import LANGUAGES, Lesson, Plan, Task, Words
from playground.lessons.reading import LOADER
from playground.lessons.varying import BadVariation, as_written

# What a condition may look like (conditions.py says what each means): checked before a world is asked, as people write these.

Varying = Annotated[str, msgspec.Meta(pattern=r"^\$\([A-Za-z_]+\)$")]
"""The name of a value that the lesson's variants draw, in place of a number."""
OF_A_POD = ("point", "after", "outcome", "said", "evaluated", "place", "on", "woken")


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plugin at an extension point for whose record a card waits."""

    point: str
    plugin: str


class CardCondition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pod: str | None = None
    attempt: int | Varying = 1
    point: str | None = None
    after: Record | None = None
    outcome: Literal["scheduled", "unschedulable", "error"] | None = None
    evaluated: int | Varying | None = None
    said: str | None = None
    place: str | None = None
    times: int | Varying = 1
    woken: str | None = None
    event: str | None = None
    scheduler: str | None = None
    stage: str | None = None
    exists: str | None = None
    lacks: str | None = None
    position: int | Varying | None = None
    seconds: float | Varying | None = None
    on: str | None = None
    field: list[str | int] | None = None
    value: Any = msgspec.field(default=None, name="is")
    any: list[CardCondition] = []
    all: list[CardCondition] = []

    @property
    def count(self) -> int:
        """The number of conditions in it."""
        return 1 + sum(each.count for each in (*self.any, *self.all))

    def missing(self) -> str:
        """Return a description of the missing part; empty if the condition is complete."""
        words = [word for word in OF_A_POD if getattr(self, word) is not None]
        if words and self.pod is None:
            return f"{words[0]} is about a pod: pod is expected beside it"
        if (self.scheduler is None) != (self.stage is None):
            return "scheduler and stage are expected together"
        if self.field is not None and (len(self.field) < 2 or not all(isinstance(e, str) for e in self.field[:2])):
            return "field is a list: a kind, a name, and the keys down to the value"
        return next((why for each in (*self.any, *self.all) if (why := each.missing())), "")


PLAN = "lesson.yaml"
MOST_CARDS = 60
MOST_VALUES = 50_000
MOST_DIRECTIVES = 10
DEEPEST = 60
MOST_CONDITIONS = 200
T = TypeVar("T")
_UNKNOWN = re.compile(r"unknown field `([^`]+)`")
_DIRECTIVE = re.compile(r"^%", re.MULTILINE)
_STEP = re.compile(r"\.([\w-]+)|\[(\d+)\]|(\[\.\.\.\])")


class LessonFiles(msgspec.Struct, frozen=True):
    """lesson.yaml, and the words by language. A language without words is missing or empty."""

    plan: str
    words: Mapping[str, str]

    @property
    def size(self) -> int:
        """The total size in bytes."""
        return len(self.plan.encode()) + sum(len(text.encode()) for text in self.words.values())

    def by_name(self) -> dict[str, str]:
        """The files of the folder, those that have something in them."""
        named = {f"{language}.yaml": self.words.get(language, "") for language in LANGUAGES}
        return {name: text for name, text in {PLAN: self.plan, **named}.items() if text.strip()}


def files_in(folder: Path) -> LessonFiles:
    """The files of a folder; OSError and UnicodeDecodeError where they can't be read."""
    words = {language: folder / f"{language}.yaml" for language in LANGUAGES}
    return LessonFiles(
        (folder / PLAN).read_text(encoding="utf-8"),
        {language: path.read_text(encoding="utf-8") if path.exists() else "" for language, path in words.items()},
    )


class BadFile(ValueError):
    """An unreadable file, the line (from 1; 0: unknown), and the expected content."""

    def __init__(self, file: str, line: int, why: str) -> None:
        super().__init__(why)
        self.file, self.line, self.why = file, line, why


def read_files(files: LessonFiles) -> Lesson:
    """Return the lesson. Raise BadFile with the received and expected values and the place."""
    plan = _read(PLAN, files.plan, Plan)
    _require_conditions(files.plan, plan)
    words = {
        language: _read(f"{language}.yaml", text, Words)
        for language, text in files.words.items()
        if language in LANGUAGES and text.strip()
    }
    if not words:
        raise BadFile("en.yaml", 0, "a lesson needs words: en.yaml, zh-hans.yaml or both")
    try:
        return as_written(Lesson("own", plan, words))
    except BadVariation as bad:
        raise BadFile(PLAN, line_of(files.plan, f"$.{bad.path}"), str(bad)) from None


def _mapping(name: str, text: str) -> Any:
    loaded = _load_yaml(name, text)
    if not isinstance(loaded, dict):
        raise BadFile(name, 1, f"a mapping is expected, and this is {type(loaded).__name__}")
    return loaded


def _load_yaml(name: str, text: str) -> Any:
    try:
        _require_moderate(text)
        if _size(yaml.compose(text, Loader=LOADER), {}) > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES:,} values, those that aliases repeat counted each time")
        return yaml.load(text, Loader=LOADER)  # noqa: S506 - plain data alone
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise BadFile(name, mark.line + 1 if mark else 0, f"not YAML: {error.problem or error}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadFile(name, 0, f"not YAML that is read here: {error}") from None


def _require_moderate(text: str) -> None:
    """Raise ValueError for a text that overloads libyaml: deep nesting, or too many lines that begin with %."""
    if len(_DIRECTIVE.findall(text)) > MOST_DIRECTIVES:
        raise ValueError(f"more than {MOST_DIRECTIVES} lines begin with %")
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise ValueError(f"it nests deeper than {DEEPEST} levels")


def _size(node: Any, known: dict[int, int]) -> int:
    """Return the number of values in a node, with its aliases expanded; a node within itself counts as too many."""
    if id(node) not in known:
        known[id(node)] = MOST_VALUES + 1
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        items = node.value if isinstance(node, yaml.SequenceNode) else ()
        inside = [*items, *(part for pair in pairs for part in pair)]
        known[id(node)] = 1 + sum(_size(child, known) for child in inside)
    return known[id(node)]


def _read(name: str, text: str, kind: type[T]) -> T:
    return _convert_data(name, text, _mapping(name, text), kind, "$")


def _convert_data(name: str, text: str, data: Any, kind: type[T], at: str) -> T:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        why, _at, inside = str(error).partition(" - at `")
        path = at + inside.rstrip("`").removeprefix("$")
        unknown = _UNKNOWN.search(why)
        line = line_of(text, f"{path}.{unknown[1]}" if unknown else path)
        where = path.removeprefix("$").removeprefix(".")
        raise BadFile(name, line, f"{where}: {why}" if where else why) from None


def _require_conditions(text: str, plan: Plan) -> None:
    """Require valid conditions, and not too many."""
    if not 1 <= len(plan.cards) <= MOST_CARDS:
        raise BadFile(PLAN, line_of(text, "$.cards"), f"cards: {len(plan.cards)} cards; 1 to {MOST_CARDS} are expected")
    conditions: list[tuple[str, Any]] = [
        (f"$.cards[{number}].when", card.when) for number, card in enumerate(plan.cards)
    ]
    if plan.task is not None:
        conditions += _of_task(plan.task)
    count = 0
    for path, condition in conditions:
        when = _convert_data(PLAN, text, condition, CardCondition, path)
        if why := when.missing():
            raise BadFile(PLAN, line_of(text, path), f"{path.removeprefix('$.')}: {why}")
        count += when.count
    if count > MOST_CONDITIONS:
        raise BadFile(PLAN, 0, f"there are {count} conditions; {MOST_CONDITIONS} at most are expected")


def _of_task(task: Task) -> Iterator[tuple[str, Any]]:
    yield "$.task.check", task.check
    for list_name, acts in (("start", task.start), ("solution", task.solution)):
        for number, act in enumerate(acts):
            if act.until is not None:
                yield f"$.task.{list_name}[{number}].until", act.until


def line_of(text: str, path: str) -> int:
    """Return the line (from 1) of a path such as `$.cards[0].when`, as far as it exists; 0 if the text is not YAML."""
    try:
        _require_moderate(text)
        node = yaml.compose(text, Loader=LOADER)
    except (yaml.YAMLError, ValueError):
        return 0
    line = 1
    for match in _STEP.finditer(path):
        following = _child(node, match)
        if following is None:
            return line
        line, node = following
    return line


def _child(node: Any, step: re.Match[str]) -> tuple[int, Any] | None:
    name, index, _any = step.groups()
    if isinstance(node, yaml.MappingNode) and name is not None:
        return next(((key.start_mark.line + 1, value) for key, value in node.value if key.value == name), None)
    if isinstance(node, yaml.SequenceNode) and index is not None and int(index) < len(node.value):
        child = node.value[int(index)]
        return child.start_mark.line + 1, child
    return None
