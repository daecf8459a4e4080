"""Uses of tokens in style sheets: each `var()` is defined, once, with one kind of value, and text on a fill can be read in every theme."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.playground.test_tokens import SURFACES, contrast, tokens

ROOT = Path(__file__).resolve().parents[2]
STATIC = ROOT / "static/playground"
SHEETS = sorted((STATIC / "css").rglob("*.css"))
SCRIPTS = "\n".join(path.read_text() for path in sorted((STATIC / "js").rglob("*.js")))
FROM_SCRIPTS = set(re.findall(r'(?:setProperty\(|property: )"(--[\w-]+)"', SCRIPTS))
USE = re.compile(r"var\((--[\w-]+)")
PRESENTER = "body.studio[data-presenter]"
THEMES = ("light", "dark", "presenter light", "presenter dark")
KINDS = (
    ("color", r"#[0-9a-f]{3,8}|(rgb|hsl|oklch|color-mix|light-dark)\(.*\)|transparent|currentcolor"),
    ("length", r"-?[\d.]+(px|rem|em|ch|vh|dvh|vw|%)|(calc|min|max|clamp)\(.*\)"),
    ("number", r"-?[\d.]+"),
    ("shadow", r"(-?[\d.]+(px)? ?)+ rgb.*"),
    ("font", r".*(serif|mono|Consolas).*"),
)


class Rule(NamedTuple):
    """One rule: its sheet, the at-rules around it, its selector and what it declares."""

    sheet: str
    around: tuple[str, ...]
    selector: str
    declared: tuple[tuple[str, str], ...]


def rules() -> Iterator[Rule]:
    for path in SHEETS:
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
        open_: list[tuple[str, list[tuple[str, str]]]] = []
        for head, end in re.findall(r"([^{};]*)([{};])", text):
            if end == "{":
                open_.append((" ".join(head.split()), []))
                continue
            name, colon, value = head.partition(":")
            if colon and open_:
                open_[-1][1].append((name.strip(), " ".join(value.split())))
            if end == "}":
                selector, declared = open_.pop()
                yield Rule(path.name, tuple(name for name, _ in open_), selector, tuple(declared))


RULES = list(rules())
DEFINITIONS = [(rule, name, value) for rule in RULES for name, value in rule.declared if name.startswith("--")]
USES = [(rule, name) for rule in RULES for _, value in rule.declared for name in USE.findall(value)]


def kind_of(value: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """Return the kinds of a value; those of the other token where it is one."""
    other = re.fullmatch(r"var\((--[\w-]+)\)", value)
    if other is None:
        return {next((kind for kind, form in KINDS if re.fullmatch(form, value, re.I)), f"unknown: {value}")}
    name = other[1]
    values = [each for _, defined, each in DEFINITIONS if defined == name and name not in seen]
    return {kind for each in values for kind in kind_of(each, seen | {name})}


def colors(theme: str) -> dict[str, str]:
    """Return the tokens of a theme; in the presenter those that it replaces are its own."""
    base = theme.removeprefix("presenter ")
    selector = {"presenter light": PRESENTER, "presenter dark": f'[data-theme="dark"] {PRESENTER}'}
    own = [
        (name.removeprefix("--"), value)
        for rule, name, value in DEFINITIONS
        if not rule.around and rule.selector in (PRESENTER, selector.get(theme))
    ]
    return {**tokens("light"), **tokens(base), **(dict(own) if theme != base else {})}


def color_of(value: str, theme: str) -> str | None:
    """Return the color that a value is in a theme; None where it is no token of a color alone."""
    name = re.fullmatch(r"var\(--([\w-]+)\)", value)
    found = colors(theme).get(name[1], "") if name else ""
    return found if found.startswith("#") else None


def test_the_sheets_have_been_read() -> None:
    assert len(RULES) > 1000 and len(DEFINITIONS) > 200 and len(USES) > 1000 and FROM_SCRIPTS


def test_every_token_that_is_used_is_defined() -> None:
    defined = {name for _, name, _ in DEFINITIONS} | FROM_SCRIPTS
    assert [(rule.sheet, rule.selector, name) for rule, name in USES if name not in defined] == []


@pytest.mark.parametrize(
    ("folder", "kind", "form"),
    [
        ("static/playground/js", "js", r'"(--[\w-]+)"'),
        ("playground/presenters", "py", r'"(--[\w-]+)"'),
        ("playground/features", "py", r'"(--[\w-]+)"'),
        ("templates", "html", USE.pattern),
    ],
)
def test_every_token_that_scripts_charts_and_templates_ask_for_is_defined(folder: str, kind: str, form: str) -> None:
    text = "\n".join(path.read_text() for path in sorted((ROOT / folder).rglob(f"*.{kind}")))
    asked = set(re.findall(form, text))
    assert asked and asked <= {name for _, name, _ in DEFINITIONS} | FROM_SCRIPTS


def test_every_token_that_is_defined_is_used() -> None:
    charts = (ROOT / "playground/presenters/charts.py").read_text()
    used = {name for _, name in USES} | {f"--{name}" for name in re.findall(r"\w[\w-]*", SCRIPTS + charts)}
    assert sorted({name for _, name, _ in DEFINITIONS} - used) == []


def test_a_token_is_defined_once_at_a_place() -> None:
    places = Counter((rule.around, rule.selector, name) for rule, name, _ in DEFINITIONS)
    assert [place for place, times in places.items() if times > 1] == []


@pytest.mark.parametrize("name", sorted({name for _, name, _ in DEFINITIONS}))
def test_a_token_has_one_kind_of_value(name: str) -> None:
    kinds = {kind for _, defined, value in DEFINITIONS if defined == name for kind in kind_of(value)}
    assert len(kinds) == 1 and not next(iter(kinds)).startswith("unknown")


@pytest.mark.parametrize("theme", THEMES)
def test_text_on_a_fill_of_the_same_rule_has_a_contrast_of_4_5(theme: str) -> None:
    low = []
    for rule in RULES:
        declared = dict(rule.declared)
        fill = color_of(declared.get("background", declared.get("background-color", "")), theme)
        text = color_of(declared.get("color", ""), theme)
        if fill and text and contrast(text, fill) < 4.5:
            low.append((rule.sheet, rule.selector, round(contrast(text, fill), 2)))
    assert low == []


@pytest.mark.parametrize("theme", THEMES)
def test_text_whose_rule_has_no_fill_has_a_contrast_of_4_5_on_every_surface(theme: str) -> None:
    used = {
        declared["color"]
        for rule in RULES
        if (declared := dict(rule.declared)).keys() & {"color"}
        and not declared.keys() & {"background", "background-color"}
    }
    texts = {value: color for value in used if (color := color_of(value, theme))}
    low = [
        (text, surface, round(contrast(color, colors(theme)[surface]), 2))
        for text, color in sorted(texts.items())
        for surface in SURFACES
        if contrast(color, colors(theme)[surface]) < 4.5
    ]
    assert len(texts) > 8 and low == []


def test_the_dark_presenter_is_the_same_whether_it_is_chosen_or_the_system_s() -> None:
    chosen, system = (
        [
            each
            for rule in RULES
            if rule.sheet == "presenter.css" and rule.selector == selector
            for each in rule.declared
        ]
        for selector in (f'[data-theme="dark"] {PRESENTER}', f':root:not([data-theme="light"]) {PRESENTER}')
    )
    assert chosen and chosen == system
