"""Every field of every form of the site, found on its pages and in the declarations of its forms, with values that it does not expect."""

from __future__ import annotations

import importlib
import pkgutil
from collections import deque
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.forms import Form as Declared

import playground.workbench.forms
from playground.workbench.actions import ACTIONS
from tests.hostile.ground import Ground, Situation
from tests.hostile.places import Form, Page, places, shape
from tests.hostile.tally import Tally
from tests.hostile.values import TEXTS, some

MOST_PAGES = 260  # of one situation
READ = 2  # values that a text of several lines gets in a short walk: those that YAML has another type for come first
SHARE = 10  # a short walk fills every tenth field of a form alone; all of them together in any case
SLOW = (
    "/edit",
    "/make-lesson",
)  # the ends of addresses that play a whole lesson; a short walk fills them once for each button
KINDS_OF_ACTIONS = {"Scheduler": "kube-scheduler", "Plugin": "NodeResourcesFit", "ResourceClaim": "web"}
SCOPED = ("Node", "PersistentVolume", "PriorityClass", "Scheduler", "Plugin")


def walk_forms(ground: Ground, tally: Tally) -> None:
    """Find the forms, then fill each field of each with values, and all of them at once."""
    found: dict[tuple[str, ...], tuple[Situation, Form]] = {}
    seen: set[tuple[str, ...]] = set()
    for situation in ground.situations:
        seen -= {shape(situation.studio), shape(f"{situation.studio}configuration")}
        for form in _crawl(ground, situation, seen, tally):
            found.setdefault(form.kind, (situation, form))
    known = {name for _situation, form in found.values() for name in form.names}
    for name in _declared() - known:
        tally.demand(False, f"the field {name} is on no page that was found")
    for action in ACTIONS:
        names = {"kind", *(field.name for field in action.fields)}
        reached = any(kind[2] == action.name and names <= set(kind) for kind in found)
        tally.demand(reached, f"the action {action.name} has no form that was found")
    for turn, (situation, form) in enumerate(found.values()):
        _fill(ground, situation, form, tally, turn)


def _crawl(ground: Ground, situation: Situation, seen: set[tuple[str, ...]], tally: Tally) -> Iterator[Form]:
    """The forms of the pages that links lead to, one page of each shape that was not seen before."""
    actions = list(_actions(situation))
    waiting, always = deque([*actions, *map(situation.path, places())]), len(actions)
    for number in range(always + MOST_PAGES):
        if not waiting:
            return
        path = waiting.popleft()
        kind = shape(path)
        if number >= always and kind in seen:
            continue
        seen.add(kind)
        answer = tally.take(f"{situation.name}: GET {path}", ground.visitor.ask, "GET", path)
        if "html" in answer.headers.get("Content-Type", ""):
            page = Page(path, answer.text)
            waiting.extend(sorted(page.links))
            yield from page.forms


def _actions(situation: Situation) -> Iterator[str]:
    """The page of each action, on an object of each kind that has it."""
    if "code" in situation.values:
        for action in ACTIONS:
            for kind in action.kinds:
                name = KINDS_OF_ACTIONS.get(kind, "web")
                of = {"kind": kind, "namespace": "" if kind in SCOPED else "default", "name": name}
                yield f"{situation.studio}act/{action.name}?{urlencode(of)}"


def _declared() -> set[str]:
    """The fields of all forms that are declared in playground/workbench/forms."""
    for module in pkgutil.iter_modules(playground.workbench.forms.__path__):
        importlib.import_module(f"playground.workbench.forms.{module.name}")
    return {name for form in _below(Declared) for name in form.base_fields}


def _below(form: Any) -> Iterator[Any]:
    for each in form.__subclasses__():
        yield from _below(each)
        if each.__module__.startswith("playground."):
            yield each


def _fill(ground: Ground, situation: Situation, form: Form, tally: Tally, turn: int) -> None:
    if urlsplit(form.action).netloc or not urlsplit(form.action).path:
        return
    for button, fields in enumerate(form.choices()):
        names = sorted(form.names)
        if not ground.long:
            names = names[turn % SHARE :: SHARE] if button == 0 and not form.action.endswith(SLOW) else []
        for number, name in enumerate(names):
            count = len(TEXTS) if ground.long else READ if name in form.texts else 1
            for value in some(TEXTS, count, turn + number if count == 1 else 0):
                _send(ground, situation, form, {**fields, name: [value]}, f"{name}={value!r:.60}", tally)
        for value in some(TEXTS, len(TEXTS) if ground.long else 1, turn + button):
            filled = {**fields, **{name: [value] for name in form.names - {*dict(form.buttons)}}}
            _send(ground, situation, form, filled, f"all={value!r:.60}", tally)
        situation.keep()


def _send(ground: Ground, situation: Situation, form: Form, fields: dict[str, Any], label: str, tally: Tally) -> None:
    path = situation.now(form.action)
    sent = {name: value for name, value in fields.items() if name != "csrfmiddlewaretoken"}
    label = f"{form.method} {urlsplit(path).path} {label}"
    if form.method == "GET":
        asked = f"{urlsplit(path).path}?{urlencode(sent, doseq=True)[:8000]}"
        tally.take(label, ground.visitor.ask, "GET", asked)
    else:
        tally.take(label, ground.visitor.send, path, sent)
