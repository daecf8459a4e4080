"""The definition of an action on an object: its kinds, its fields, and its command.

One table (catalogue.py) serves the forms, the inspector's buttons, and all other menus. Nothing here imports Django: titles and notes are
marked for the catalogs and translated at display.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from playground.common.catalogs import read_yaml
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, PatchObject, Ref, merge_patch

Values = Mapping[str, Any]
Type = Literal["text", "number", "flag", "choice", "quantity", "seconds", "pairs", "labels", "sizes"]
"""How a field is filled in. `seconds`: a duration, in ns; `labels`: pairs to set, names to take away; `sizes`: name=quantity."""


def gettext_noop(text: str) -> str:
    return text


class Subject(Struct, frozen=True):
    """An object for an action, and the user's inputs. `now` is virtual time (ns), `time` the same in kube's format.

    `free` is the next free name of its kind, `classes` are the PriorityClasses with their values, and `used` are the keys and values of
    taints and labels on objects of its kind.
    """

    kind: str
    namespace: str
    name: str
    manifest: dict[str, Any]
    kubelet_runs: bool = True
    now: int = 0
    time: str = ""
    nodes: list[str] = []
    programs: list[dict[str, Any]] = []
    usage: list[dict[str, Any]] = []
    draining: bool = False
    free: str = ""
    classes: list[tuple[str, int]] = []
    used: dict[str, list[str]] = {}

    @property
    def key(self) -> str:
        """The name that commands use for the object."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def ref(self) -> Ref:
        return Ref(self.kind, self.namespace, self.name)

    def part(self, *path: str) -> Any:
        """Return the value at a path of the manifest; None if a part is missing."""
        value: Any = self.manifest
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        return value


Choices = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Field:
    """One input of an action. `choices` of a text are suggestions; `initial` and `choices` depend on the object."""

    name: str
    type: Type
    label: str
    help: str = ""
    required: bool = False
    initial: Callable[[Subject], Any] = lambda subject: None
    choices: Callable[[Subject], Choices] = lambda subject: ()
    least: int = 0
    most: int = 2**31 - 1


class Wrong(ValueError):
    """An input error that prevents a command; the message belongs to a field, "" for all of them."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field, self.text = field, text


@dataclass(frozen=True)
class Action:
    """An action. `name` is its part of the address, `title` its button, `done` its confirmation; %(name)s is the object's name.

    `asked` is the confirmation of a dry run (field `dry_run`). `letter` selects it in a menu, where actions with a letter come first.
    `icon` is its picture there (templates/playground/icons.html).
    """

    name: str
    kinds: tuple[str, ...]
    title: str
    note: str
    done: str
    make: Callable[[Subject, Values], Command]
    fields: tuple[Field, ...] = ()
    applies: Callable[[Subject], bool] = lambda subject: True
    danger: bool = False
    asked: str = ""
    letter: str = ""
    icon: str = ""

    @property
    def together(self) -> Callable[[Sequence[Subject], Values], Command] | None:
        """The function that makes one command for many objects, or None."""
        return getattr(self.make, "together", None)

    def said(self, values: Values) -> str:
        """Return the text to show after the action with these values."""
        return self.asked if self.asked and values.get("dry_run") else self.done


class Code(NamedTuple):
    """The part of an action that actions.yaml can't express. `initial` and `choices` are by the names of its fields."""

    make: Callable[[Subject, Values], Command]
    applies: Callable[[Subject], bool] | None = None
    initial: Mapping[str, Callable[[Subject], Any]] = {}
    choices: Mapping[str, Callable[[Subject], Choices]] = {}


def read_actions(code: Mapping[str, Code]) -> tuple[Action, ...]:
    """Return all actions of actions.yaml in order, each with its code by name. Patches have no code."""
    words = read_yaml(Path(__file__).with_name("actions.yaml"))
    assert code.keys() == {name for name, given in words.items() if "patch" not in given}
    return tuple(_read_action(name, dict(given), code.get(name)) for name, given in words.items())


def _read_action(name: str, words: dict[str, Any], code: Code | None) -> Action:
    patch, applies = words.pop("patch", None), _read_condition(words.pop("applies", ""))
    code = code or Code(lambda subject, values: PatchObject(subject.ref, patch))
    return Action(
        words.pop("address", name),
        tuple(words.pop("kinds")),
        make=code.make,
        fields=tuple(_read_field(each, dict(given), code) for each, given in words.pop("fields", {}).items()),
        applies=code.applies or applies,
        **words,
    )


def _read_condition(text: str) -> Callable[[Subject], bool]:
    """Return the condition of a text: `spec.paused` holds if the object has the field; `not spec.paused` if not; "" always."""
    path, wanted = text.removeprefix("not ").split("."), not text.startswith("not ")
    return lambda subject: not text or bool(subject.part(*path)) is wanted


def _read_field(name: str, given: dict[str, Any], code: Code) -> Field:
    initial, path = given.pop("initial", None), given.pop("path", "").split(".")
    choices = [(value, label or value) for value, label in given.pop("choices", {}).items()]
    return Field(
        name,
        initial=code.initial.get(name) or (lambda subject: subject.part(*path) if path != [""] else initial),
        choices=code.choices.get(name) or (lambda subject: choices),
        **{"label" if part == "exact" else part: value for part, value in given.items()},
    )


@dataclass(frozen=True, slots=True)
class Offer:
    """An action that applies to an object now. `form`: it needs input first."""

    name: str
    title: str
    note: str
    form: bool
    danger: bool


# Commands that can be made of one object and of many at once; of many they are one command, so that one Undo takes it back.

Patch = Mapping[str, Any]


@dataclass(frozen=True)
class Patching:
    """A merge patch of an object."""

    patch: Callable[[Subject, Values], Patch]

    def __call__(self, subject: Subject, values: Values) -> PatchObject:
        return PatchObject(subject.ref, self.patch(subject, values))

    def together(self, subjects: Sequence[Subject], values: Values) -> ApplyObjects:
        """All of them as they are then."""
        return ApplyObjects(tuple(merge_patch(each.manifest, self.patch(each, values)) for each in subjects))


@dataclass(frozen=True)
class Deletion:
    """An object is deleted; `options` are the other fields of the command."""

    options: Callable[[Values], Mapping[str, Any]] = lambda values: {}

    def __call__(self, subject: Subject, values: Values) -> DeleteObjects:
        return self.together([subject], values)

    def together(self, subjects: Sequence[Subject], values: Values) -> DeleteObjects:
        return DeleteObjects(tuple(each.ref for each in subjects), **self.options(values))


# The pods of a workload: what it makes them of.

_MADE = ("pod-template-hash", "controller-revision-hash", "pod-template-generation")


def template(subject: Subject) -> Any:
    """Return the object's pod: the pod itself, or the pod template."""
    return subject.manifest if subject.kind == "Pod" else subject.part("spec", "template") or {}


def containers(subject: Subject) -> list[dict[str, Any]]:
    """Return the pod's regular containers."""
    return [dict(each) for each in (template(subject).get("spec") or {}).get("containers") or ()]


def labels(subject: Subject, between: str = ", ") -> str:
    """Return the pods' labels without those that controllers add."""
    given = (template(subject).get("metadata") or {}).get("labels") or {}
    return between.join(f"{key}={value}" for key, value in given.items() if key not in _MADE)
