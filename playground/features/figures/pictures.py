"""Pictures as marks in percent of their area. A template writes them as SVG: shapes stretch with the screen, text keeps its size."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

TOP, BASE, LOWEST = 5, 80, 87  # of columns and curves, in percent of the height
LINE = 19  # pixels


class Mark(NamedTuple):
    """A shape. `look` is its class, `side` the anchor of its text, `down` an offset in pixels, `drags` the control that it moves."""

    kind: str
    x: float
    y: float
    w: float = 0
    h: float = 0
    text: str = ""
    look: str = ""
    side: str = "middle"
    down: int = 5
    drags: str = ""


class Cell(NamedTuple):
    text: str
    look: str = ""


class Picture(NamedTuple):
    """A picture. `rows` are a table with the numbers of the marks; without marks, the table is the picture."""

    caption: str
    rows: Sequence[Sequence[Cell]]
    marks: Sequence[Mark] = ()
    heads: Sequence[str] = ()


class Box(NamedTuple):
    """A part of a column."""

    height: float
    text: str = ""
    look: str = ""


class Column(NamedTuple):
    boxes: Sequence[Box]
    name: str
    below: str = ""


class Level(NamedTuple):
    """A line across the picture; its text is at the end, or with `left` at the beginning."""

    at: float
    text: str
    look: str = ""
    left: bool = False


@dataclass(frozen=True)
class Scale:
    """The ranges of the axes, which begin at 0."""

    right: float
    high: float

    def x(self, value: float) -> float:
        return 1 + 98 * value / self.right

    def y(self, value: float) -> float:
        return LOWEST - (LOWEST - TOP) * value / self.high


def make_cells(*texts: object) -> list[Cell]:
    """Return a row of plain cells."""
    return [Cell(str(text)) for text in texts]


def show_columns(caption: str, columns: Sequence[Column], most: float, levels: Iterable[Level], room: float) -> Picture:
    """Draw columns of boxes that grow from the ground to `most`, in `room` percent of the width."""
    unit, width, marks = (BASE - TOP) / most, room / len(columns), []
    for number, column in enumerate(columns):
        left, ground = number * width, float(BASE)
        for box in column.boxes:
            ground -= box.height * unit
            marks.append(Mark("box", left + width / 20, ground, width * 0.9, box.height * unit, box.text, box.look))
        marks.append(Mark("text", left + width / 2, BASE, text=column.name, look="name", down=LINE))
        marks.append(Mark("text", left + width / 2, BASE, text=column.below, look="below", down=2 * LINE))
    marks.append(Mark("line", 0, BASE, 100, look="ground"))
    marks += [mark for level in levels for mark in _draw_level(BASE - level.at * unit, level)]
    texts = [[each.name, ", ".join(box.text for box in each.boxes), each.below] for each in columns]
    rows = [make_cells(*row[: 3 if row[2] else 2]) for row in texts]
    return Picture(caption, rows, marks)


def _draw_level(y: float, level: Level) -> tuple[Mark, Mark]:
    x, side = (0, "start") if level.left else (100, "end")
    text = Mark("text", x, y, text=level.text, look=level.look, side=side, down=-5)
    return Mark("line", 0, y, 100, look=level.look), text


Points = Sequence[tuple[float, float]]


def draw_curves(scale: Scale, curves: Iterable[tuple[Points, str]], levels: Iterable[Level]) -> Iterator[Mark]:
    """Yield lines through points, crossed by levels."""
    for points, look in curves:
        path = " ".join(f"{scale.x(x):.2f},{scale.y(y):.2f}" for x, y in points)
        yield Mark("path", 0, 0, text=path, look=look)
    for level in levels:
        yield from _draw_level(scale.y(level.at), level)


def draw_ground(scale: Scale, ticks: Iterable[float], unit: str) -> Iterator[Mark]:
    """Yield the axis of values from left to right."""
    yield Mark("line", 0, LOWEST, 100, look="ground")
    for at in ticks:
        side = "start" if at == 0 else "end" if at == scale.right else "middle"
        yield Mark("text", scale.x(at), LOWEST, text=f"{at:,g}{unit}", look="below", side=side, down=LINE)


def draw_moment(scale: Scale, at: float, text: str, look: str, top: float) -> Iterator[Mark]:
    """Yield a vertical line with a text above it."""
    yield Mark("rise", scale.x(at), top, h=LOWEST - top, look=look)
    yield Mark("text", scale.x(at), top, text=text, look=look, down=-4)


Lane = tuple[str, Sequence[tuple[float, float, str, str]], Sequence[float]]


def draw_lanes(scale: Scale, lanes: Sequence[Lane], moments: Iterable[Mark]) -> Iterator[Mark]:
    """Yield a lane for each name, with its segments (begin, end, text, look) and dots."""
    room = (LOWEST - 14) / len(lanes)
    tops = [14 + number * room for number in range(len(lanes))]
    yield from (Mark("box", 0, top + 0.32 * room, 100, room * 0.46, look="lane") for top in tops)
    yield from moments
    for top, (name, segments, dots) in zip(tops, lanes, strict=True):
        yield Mark("text", 0, top, text=name, look="name", side="start", down=LINE - 6)
        for begin, end, text, look in segments:
            left, width = scale.x(begin), scale.x(min(end, scale.right)) - scale.x(begin)
            yield Mark("box", left, top + room * 0.32, width, room * 0.46, text, look)
        yield from (Mark("dot", scale.x(at), top + room * 0.88, look="small") for at in dots)
