"""Plain English, measured: how docstrings begin, how functions are named, and how often a comment says why.

The ceilings only fall, and the floor only rises.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RELATIVE = frozenset(
    [
        "What",
        "Where",
        "Of",
        "How",
        "Whether",
        "Who",
        "Whose",
        "That",
        "Which",
        "When",
        "Why",
        "As",
        "From",
        "With",
        "For",
        "In",
        "On",
        "To",
        "By",
        "Those",
    ]
)
IRREGULAR = frozenset(
    [
        "said",
        "told",
        "kept",
        "made",
        "found",
        "given",
        "taken",
        "seen",
        "known",
        "written",
        "held",
        "left",
        "gone",
        "brought",
        "built",
        "shown",
        "drawn",
        "sent",
        "heard",
        "meant",
        "begun",
        "done",
        "thrown",
        "worn",
        "spread",
        "won",
        "lost",
        "bound",
        "sought",
        "grown",
    ]
)
NO_PARTICIPLES = ("need", "embed", "seed")
MOST_RELATIVE = 0.005  # the share of docstrings that begin with a relative word or a preposition
MOST_PARTICIPLES = 0.025  # the share of functions, without properties, that are named by a participle
FEWEST_COMMENTS = 13  # in 1,000 lines, without those that speak to tools

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def list_definitions() -> Iterator[Definition]:
    for package in ("scheduler_core", "playground"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, Definition):
                    yield node


def is_participle(name: str) -> bool:
    word = name.strip("_").split("_")[0]
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 4 and word not in NO_PARTICIPLES)


def is_property(node: Definition) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)


def test_docstrings_begin_with_a_verb_or_a_noun_phrase() -> None:
    first_words = [text.split()[0].strip("`.,:;") for node in list_definitions() if (text := ast.get_docstring(node))]
    assert len(first_words) > 5_000
    assert sum(word in RELATIVE for word in first_words) / len(first_words) <= MOST_RELATIVE


def test_functions_are_named_by_verbs() -> None:
    names = [
        node.name
        for node in list_definitions()
        if not isinstance(node, ast.ClassDef) and not node.name.startswith("__") and not is_property(node)
    ]
    assert len(names) > 8_000
    assert sum(map(is_participle, names)) / len(names) <= MOST_PARTICIPLES


def test_comments_say_why() -> None:
    lines = comments = 0
    for package in ("scheduler_core", "playground"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text()
            lines += text.count("\n")
            tokens = tokenize.generate_tokens(io.StringIO(text).readline)
            comments += sum(
                t.type == tokenize.COMMENT and not t.string.startswith(("# noqa", "# type:")) for t in tokens
            )
    assert 1000 * comments / lines >= FEWEST_COMMENTS
