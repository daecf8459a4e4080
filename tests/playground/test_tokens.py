"""Colour tokens: the same names in both themes, and contrast that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SHEET = (Path(__file__).resolve().parents[2] / "static/playground/css/tokens.css").read_text()
BLOCKS = {"light": ":root {", "dark": '[data-theme="dark"] {', "system dark": ':root:not([data-theme="light"]) {'}
TEXT = ("ink", "mute", "now", "ok", "no", "wait", "hold", "out", "idle")
SURFACES = ("panel", "bg", "soft")
ON_TINT = {
    "ok": "ok-soft",
    "no": "no-soft",
    "wait": "wait-soft",
    "hold": "hold-soft",
    "out": "out-soft",
    "idle": "idle-soft",
    "now-ink": "now",
    "tip-ink": "tip",
    "now": "now-soft",
    "m-dark-ink": "m3",
    "m4-ink": "m4",
    "m-light-ink": "m5",
}
MARKS = (
    "edge",
    "ok-mark",
    "no-mark",
    "wait-mark",
    "hold-mark",
    "out-mark",
    "idle-mark",
    "now",
    "use",
    "p1",
    "p2",
    "p3",
    "p4",
    "p5",
    "p6",
    "bar",
)


def tokens(theme: str) -> dict[str, str]:
    body = SHEET.split(BLOCKS[theme], 1)[1].split("}", 1)[0]
    return dict(re.findall(r"--([\w-]+): ([^;]+);", body))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_the_system_being_dark_means_the_same_as_choosing_dark() -> None:
    assert tokens("system dark") == tokens("dark")


def test_every_colour_of_the_light_theme_has_a_dark_one() -> None:
    assert set(tokens("dark")) == set(tokens("light")) - {"r", "sans", "mono", "t1", "t2", "t3", "t4", "t5"}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("text", TEXT)
@pytest.mark.parametrize("surface", SURFACES)
def test_text_has_a_contrast_of_4_5_on_every_surface(theme: str, text: str, surface: str) -> None:
    assert contrast(tokens(theme)[text], tokens(theme)[surface]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("text", "surface"), ON_TINT.items())
def test_text_has_a_contrast_of_4_5_on_its_own_tint(theme: str, text: str, surface: str) -> None:
    assert contrast(tokens(theme)[text], tokens(theme)[surface]) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_has_a_contrast_of_3_on_the_panel(theme: str, mark: str) -> None:
    assert contrast(tokens(theme)[mark], tokens(theme)["panel"]) >= 3
