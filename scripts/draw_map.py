"""Draw docs/pictures/map.svg from the imports: `.venv/bin/python -m scripts.draw_map`. tests/test_architecture.py compares the two.

A box is a package at the top of scheduler_core or playground. A line leads from a package down to one that it imports. A line that other
lines imply is left out (the transitive reduction), so the picture changes only when the structure does.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/pictures/map.svg"
PACKAGES = ("playground", "scheduler_core")
LEFT_OUT = {"migrations"}  # they import nothing of ours and nothing imports them
BOX, TALL, ACROSS, DOWN, MARGIN = 118, 30, 134, 74, 24  # pixels: of a box, and from box to box
FILLS = {"playground": "#dcebf9", "scheduler_core": "#e3f1dd"}
Room = tuple[str, str]  # package, name

HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif">
<title>The packages of Scheduler Playground, each above those that it imports</title>
<rect width="100%" height="100%" fill="#ffffff"/>
"""


def find_room(module: str) -> Room | None:
    """Return the package of a dotted name; None for the roots themselves and for what is not ours."""
    package, _, rest = module.partition(".")
    name = rest.partition(".")[0]
    return (package, name) if package in PACKAGES and name and name not in LEFT_OUT else None


def read_imports() -> dict[Room, set[Room]]:
    """Return the packages that each package imports, type-checking imports included."""
    found: dict[Room, set[Room]] = defaultdict(set)
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        room = find_room(".".join(path.relative_to(ROOT).with_suffix("").parts))
        if room is None or room[1] == "__init__":
            continue
        found[room] |= {other for other in _imports(ast.parse(path.read_text())) if other not in (room, None)}
    return {room: {other for other in others if other in found} for room, others in found.items()}


def _imports(tree: ast.Module) -> set[Room]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
    return {room for name in names if (room := find_room(name)) is not None}


def reduce_imports(imports: dict[Room, set[Room]]) -> dict[Room, set[Room]]:
    """Leave out each import that others imply."""
    reached = {room: _reach(imports, room) for room in imports}
    return {
        room: {other for other in others if not any(other in reached[each] for each in others)}
        for room, others in imports.items()
    }


def _reach(imports: dict[Room, set[Room]], room: Room) -> set[Room]:
    """Return all packages below one."""
    found: set[Room] = set()
    ahead = list(imports[room])
    while ahead:
        other = ahead.pop()
        if other not in found:
            found.add(other)
            ahead += imports[other]
    return found


def place(imports: dict[Room, set[Room]]) -> dict[Room, tuple[int, int]]:
    """Return the corner of each box: as high as its longest way down, the core's boxes below all of the playground's."""
    heights: dict[Room, int] = {}

    def height(room: Room) -> int:
        if room not in heights:
            heights[room] = 1 + max((height(other) for other in imports[room]), default=-1)
        return heights[room]

    rows: dict[tuple[str, int], list[Room]] = defaultdict(list)
    for room in sorted(imports):
        rows[room[0], height(room)].append(room)
    order = sorted(rows, key=lambda row: (PACKAGES.index(row[0]), -row[1]))
    widest = max(map(len, rows.values()))
    return {
        room: (MARGIN + (widest - len(rows[row])) * ACROSS // 2 + i * ACROSS, MARGIN + y * DOWN)
        for y, row in enumerate(order)
        for i, room in enumerate(rows[row])
    }


def draw() -> str:
    """Return the picture."""
    imports = reduce_imports(read_imports())
    places = place(imports)
    width = max(x for x, _y in places.values()) + BOX + MARGIN
    height = max(y for _x, y in places.values()) + TALL + MARGIN
    lines = [_line(places[room], places[other]) for room in sorted(imports) for other in sorted(imports[room])]
    boxes = [_box(room, places[room]) for room in sorted(places)]
    return HEAD.format(width=width, height=height) + "\n".join([*lines, *boxes, "</svg>\n"])


def _line(above: tuple[int, int], below: tuple[int, int]) -> str:
    x, y, to_x, to_y = above[0] + BOX // 2, above[1] + TALL, below[0] + BOX // 2, below[1]
    bend = DOWN // 2
    way = f"M{x} {y}C{x} {y + bend} {to_x} {to_y - bend} {to_x} {to_y}"
    return f'<path d="{way}" fill="none" stroke="#8a97a6" stroke-width="1.2"/>'


def _box(room: Room, corner: tuple[int, int]) -> str:
    (package, name), (x, y) = room, corner
    return (
        f'<rect x="{x}" y="{y}" width="{BOX}" height="{TALL}" rx="6" fill="{FILLS[package]}" stroke="#5b6b7b"/>'
        f'<text x="{x + BOX // 2}" y="{y + 20}" font-size="13" text-anchor="middle" fill="#1c2733">{name}</text>'
    )


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(draw())
