"""Every note of a configuration's conversion has a form, and so words in the reader's language."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.template import engines
from django.utils.translation import override

import scheduler_core.formats.configurations as package
from playground.presenters.sentences.lines import describe_migration
from playground.presenters.words import in_english
from scheduler_core.formats.configurations.unknown_plugins import KNOWN

FOLDER = Path(package.__file__).parent
MODULES = sorted(path.relative_to(FOLDER).with_suffix("").as_posix().replace("/", ".") for path in FOLDER.rglob("*.py"))


def list_notes(function: ast.AST, known: Any) -> Iterator[str]:
    """Yield the texts that a function gives to Change, with X for each value."""
    own: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            own.setdefault(node.targets[0].id, []).append(node.value)

    def list_texts(node: ast.expr) -> list[str]:
        if isinstance(node, ast.Constant):
            return [str(node.value)]
        if isinstance(node, ast.IfExp):
            return [*list_texts(node.body), *list_texts(node.orelse)]
        if isinstance(node, ast.JoinedStr):
            texts = [""]
            for part in node.values:
                value = part.value if isinstance(part, ast.FormattedValue) else part
                texts = [text + more for text in texts for more in list_texts(value)]
            return texts
        if isinstance(node, ast.Name) and node.id in own:
            return [text for each in own[node.id] for text in list_texts(each)]
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "_SETTINGS.get":
            return [*known._SETTINGS.values(), *list_texts(node.args[1])]
        value = getattr(known, node.id, None) if isinstance(node, ast.Name) else None
        return [value if isinstance(value, str) else "X"]

    for call in ast.walk(function):
        if isinstance(call, ast.Call) and getattr(call.func, "attr", getattr(call.func, "id", "")) == "Change":
            for argument in call.args[2:]:
                yield from list_texts(argument)


@pytest.mark.parametrize("module", MODULES)
def test_every_note_has_a_form(module: str) -> None:
    tree = ast.parse((FOLDER / f"{module.replace('.', '/')}.py").read_text())
    known = importlib.import_module(f"{package.__name__}.{module}")
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    notes = {note for function in functions for note in list_notes(function, known) if note != "X"}
    assert sorted(note for note in notes if describe_migration(note).get("exact")) == []
    assert {in_english(describe_migration(note)) for note in notes} == notes


def test_every_plugin_that_is_not_here_has_a_form() -> None:
    assert {about for about in KNOWN.values() if describe_migration(about).get("exact")} == set()
    assert in_english(describe_migration(KNOWN["Coscheduling"])) == KNOWN["Coscheduling"]


def test_a_note_is_read_in_chinese() -> None:
    template = engines["django"].from_string(
        "{% load studio playground_words %}{{ note|describe_migration|translated }}"
    )
    with override("zh-hans"):
        assert "重命名" in template.render({"note": "postFilter was renamed to preScore"})
