"""Field paths as steps: names of fields, indexes of lists."""

from __future__ import annotations

import re

Step = str | int
_STEP = re.compile(r"\[([^\]]*)\]|([^.\[]+)|\.")


def parse_path(path: str) -> tuple[Step, ...]:
    """`spec.containers[0].requests[cpu]` as ("spec", "containers", 0, "requests", "cpu")."""
    steps: list[Step] = []
    for bracket, name in _STEP.findall(path):
        if bracket:
            steps.append(int(bracket) if bracket.isdecimal() else bracket)
        elif name:
            steps.append(name)
    return tuple(steps)
